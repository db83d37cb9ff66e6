#!/usr/bin/env python3
"""Records how large Colossal-AI makes the chunks of many models: tests/golden/gemini_chunks/chunks.txt.gz.

    PYTHONPATH=…/ColossalAI tidemark run --gpu h200 -- python record_gemini_chunks.py OUT

One line per case, by colossalai.zero.gemini.chunk.search_utils.search_chunk_configuration: ranks, search_range_m, min_chunk_size_m, the interval of the search,
the chunk's elements, 1 if it is never cut, and the elements of each parameter in the order of registration."""

import gzip
import io
import random
import sys

import torch
import transformers
from gemini import version
from transformers.initialization import no_init_weights

SEED, CASES = 5, 400
FAMILIES = {
    "llama": [
        {"hidden_size": h, "intermediate_size": f, "num_hidden_layers": n, "num_attention_heads": 32, "num_key_value_heads": k, "vocab_size": v}
        for h, f, n, k, v in ((2048, 5632, 22, 4, 32000), (4096, 11008, 32, 32, 32000), (4096, 14336, 32, 8, 128256), (2048, 8192, 16, 8, 128256))
    ],
    "opt": [
        {"hidden_size": h, "num_hidden_layers": n, "num_attention_heads": a, "ffn_dim": 4 * h, "word_embed_proj_dim": w}
        for h, n, a, w in ((768, 12, 12, 768), (1024, 24, 16, 512), (2048, 24, 32, 2048), (2560, 32, 32, 2560), (4096, 32, 32, 4096))
    ],
    "gpt2": [{"n_embd": h, "n_layer": n, "n_head": a} for h, n, a in ((768, 12, 12), (1024, 24, 16), (1280, 36, 20), (1600, 48, 25))],
    "bloom": [{"hidden_size": 1024, "n_layer": 24, "n_head": 16}],
    "gpt_neox": [{"hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 10240}],
    "bert": [{}],
    "vit": [{}],
}


def of_families():
    """Parameters' elements; tied ones stand once."""
    for model_type, configs in FAMILIES.items():
        for options in configs:
            with torch.device("meta"), no_init_weights():
                config = transformers.AutoConfig.for_model(model_type, **options)
                auto = transformers.AutoModel if model_type in ("bert", "vit") else transformers.AutoModelForCausalLM
                model = auto.from_config(config)
            model.tie_weights()
            yield [parameter.numel() for parameter in model.parameters()]


def at_random(numbers):
    """Few kinds of sizes, as models have them; some with one that is as far from the others as the search leaves out: ten of which one differs."""
    kinds = [int(2 ** numbers.uniform(0, 24)) for _ in range(numbers.randint(1, 5))]
    if numbers.random() < 0.1:
        return [kinds[0]] * 9 + [kinds[0] + kinds[-1]]
    return [numbers.choice(kinds) for _ in range(numbers.randint(1, 300))]


class Sizes(torch.nn.Module):
    """What the search asks of a model."""

    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes

    def parameters(self):
        return [torch.empty(size, device="meta") for size in self.sizes]


def main():
    import torch.distributed as dist
    from colossalai.zero.gemini.chunk.search_utils import search_chunk_configuration
    from torch.testing._internal.distributed.fake_pg import FakeStore

    numbers = random.Random(SEED)
    real = list(of_families())
    cases = [(sizes, *asked) for sizes in real for asked in ((1, 32, 32, 1024), (4, 32, 32, 1024), (8, 16, 64.5, 4096), (6, 100, 1, 768))]
    for _ in range(CASES):
        asked = (numbers.choice((1, 2, 3, 4, 7, 8, 64)), numbers.choice((0, 0.01, 0.05, 1, 8)), numbers.choice((0.0001, 0.0123, 0.05, 0.3, 1, 4)), numbers.choice((1, 7, 128, 768, 1024)))
        if asked[3] < 128 and asked[1] > 1:  # a search of millions of steps
            asked = (*asked[:3], 1024)
        cases.append((at_random(numbers), *asked))
    lines = [f"# colossalai {version()}"]
    for ranks in sorted({case[1] for case in cases}):
        dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())
        for sizes, count, search_range, least, interval in cases:
            if count != ranks:
                continue
            found = search_chunk_configuration(Sizes(sizes), search_range_m=search_range, search_interval=interval, min_chunk_size_m=least)[0][ranks]
            lines.append(f"{ranks} {search_range} {least} {interval} {found['chunk_size']} {int(found['keep_gathered'])} {','.join(map(str, sizes))}")
        dist.destroy_process_group()
    with open(sys.argv[1], "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9, mtime=0, filename="") as packed, io.TextIOWrapper(packed) as text:
        text.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
