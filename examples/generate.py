"""Text by generate() of a model with random weights: `tidemark run -- python examples/generate.py config.json`.

`tidemark predict config.json --batch 2 --prompt 256 --generate 16` answers the same question without PyTorch.
"""

import argparse
import pathlib

import torch
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", help="config.json, or its folder")
    parser.add_argument("--batch", type=int, default=2, help="prompts at once")
    parser.add_argument("--prompt", type=int, default=256, help="tokens of a prompt")
    parser.add_argument("--new-tokens", type=int, default=16, help="tokens to generate for each prompt")
    options = parser.parse_args()

    config = AutoConfig.from_pretrained(options.config)
    torch.set_default_dtype(torch.bfloat16)
    model = AutoModelForCausalLM.from_config(config).eval().to("cuda")
    torch.set_default_dtype(torch.float32)
    path = pathlib.Path(options.config)
    folder = path if path.is_dir() else path.parent
    if (folder / "generation_config.json").exists():
        model.generation_config = GenerationConfig.from_pretrained(folder)
    input_ids = torch.full((options.batch, options.prompt), 5).to("cuda")
    attention_mask = torch.ones((options.batch, options.prompt), dtype=torch.long).to("cuda")
    made = model.generate(input_ids=input_ids, attention_mask=attention_mask, max_new_tokens=options.new_tokens, do_sample=False)
    print(f"{made.shape[1] - options.prompt} new tokens, {torch.cuda.max_memory_allocated():,} bytes at the peak")


if __name__ == "__main__":
    main()
