"""PEFT's comparison of methods on MetaMathQA: Llama-3.2-3B in bf16, adapters in fp32, batches of four padded to their longest sample.

    python peft_text.py EXPERIMENT [--longest TOKENS]

What method_comparison/MetaMathQA/run.py of huggingface/peft does at 5d602fdbf with one of configurations.json, in our words.  What differs: weights are made up, and of the
5000 steps nine are made: some of a usual bucket of samples, and those that begin the bucket with the longest batch, which like all that begin one follow an emptied cache.
Decompositions on the card are made up.
Evaluations generate texts of at most 800 tokens, 50 at once, whose keys and values are 4.3 GiB, less than a step's activations, and the cache is emptied after them; they are left
out, all but the loss before training: what that leaves in the cache is there when the first step makes the optimizer's states.
"""

import argparse
import collections
import contextlib
import dataclasses
import json
import math
import pathlib
import statistics
import tempfile

import torch
from peft import get_peft_model, initialize_kv_prefix_from_text
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING
from peft.optimizers import create_lorafa_optimizer
from transformers import AutoModelForCausalLM, get_cosine_schedule_with_warmup

# config.json of meta-llama/Llama-3.2-3B; 3,212,749,824 parameters, as the results say.
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "num_hidden_layers": 28,
    "num_attention_heads": 24,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"},
}
BATCH, LIMIT = 4, 768  # default_training_params.json: batch_size, max_seq_length
SAMPLES, BATCHES = 20000, 20  # max_steps of 4; BUCKET_FACTOR of run.py
MEAN = 209  # "train total tokens" of every result, 4,198,051 of 20,000 samples, one token of each added by the count
LONGEST = 693  # not stated; solved from the row of BEFT alone (README.md)
SVD, QR = collections.namedtuple("SVD", "U S Vh"), collections.namedtuple("QR", "Q R")  # as torch.linalg.svd and qr name what they return
CONFIGURATIONS = pathlib.Path(__file__).with_name("configurations.json")


def bucket_of(longest):
    """Padded lengths of the 20 batches of BucketIterator (utils.py): 80 samples, long to short, whose lengths are the quantiles of a log-normal distribution with the stated mean
    of which `longest` is the largest of all that are drawn."""
    normal = statistics.NormalDist()
    reach = normal.inv_cdf(1 - 0.5 / SAMPLES)
    spread = reach - math.sqrt(reach**2 - 2 * math.log(longest / MEAN))
    ranks = range(0, BATCHES * BATCH, BATCH)  # of the longest sample of each batch
    return [round(MEAN * math.exp(spread * normal.inv_cdf(1 - (rank + 0.5) / (BATCHES * BATCH)) - spread**2 / 2)) for rank in ranks]


def windows_of(longest):
    """Padded lengths of the steps between two `empty_cache()`, which are ten of run.py's, half a bucket: of the first half the longest, of the second the shortest, and of the
    bucket with the longest batch of all the first two."""
    bucket = bucket_of(longest)
    return [bucket[:4], bucket[-3:], [longest, bucket[1]]]


def known_settings(stated, fields):
    """The settings that this release of PEFT has, and the names of those that it has not."""
    wanted = {name: value for name, value in stated.items() if name not in ("peft_type", "peft_version")}
    return {name: value for name, value in wanted.items() if name in fields}, sorted(set(wanted) - set(fields))


def make_up_decompositions():
    """Results of decompositions on the card are made up in their shapes: the virtual GPU does not stand in for cuSOLVER.  Its scratch memory is missing; but for LoRA-FA's optimizer
    (pinv of 32 x 32) it is had only while adapters are made, and is given back with the first emptied cache."""
    real = {name: getattr(torch.linalg, name) for name in ("svd", "qr", "pinv")}

    def svd(matrix, full_matrices=True, **settings):
        if not matrix.is_cuda:
            return real["svd"](matrix, full_matrices=full_matrices, **settings)
        *batch, rows, columns = matrix.shape
        least = min(rows, columns)
        return SVD(matrix.new_empty(*batch, rows, rows if full_matrices else least), matrix.new_empty(*batch, least), matrix.new_empty(*batch, columns if full_matrices else least, columns))

    def qr(matrix, mode="reduced"):
        if not matrix.is_cuda:
            return real["qr"](matrix, mode)
        *batch, rows, columns = matrix.shape
        inner = rows if mode == "complete" else min(rows, columns)
        return QR(matrix.new_empty(*batch, rows, inner), matrix.new_empty(*batch, inner, columns))

    torch.linalg.svd, torch.linalg.qr = svd, qr
    torch.linalg.pinv = lambda matrix, **settings: torch.empty_like(matrix.mT) if matrix.is_cuda else real["pinv"](matrix, **settings)


def adapted(model, experiment):
    stated = experiment["peft_config"]
    if not stated:
        return model
    kind = PEFT_TYPE_TO_CONFIG_MAPPING[stated["peft_type"]]
    settings, unknown = known_settings(stated, {field.name for field in dataclasses.fields(kind)})
    if unknown:
        print("settings that this PEFT does not know:", ", ".join(unknown))
    return get_peft_model(model, kind(**settings), autocast_adapter_dtype=True)


def check_parameters(model, experiment):
    count = model.get_nb_trainable_parameters() if experiment["peft_config"] else (model.num_parameters(),) * 2
    if count != (experiment["trainable"], experiment["total"]):
        raise SystemExit(f"{count} parameters (trainable, all), and the result has {experiment['trainable']}, {experiment['total']}")


def made_model():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "config.json").write_text(json.dumps(MODEL))
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, device_map="cuda")


def made_optimizer(model, experiment):
    settings = experiment["optimizer_kwargs"]
    optimizer = create_lorafa_optimizer(model, **settings) if experiment["optimizer_type"] == "lora-fa" else torch.optim.AdamW(model.parameters(), **settings)
    return optimizer, get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=500, num_training_steps=5000)


@torch.inference_mode()
def loss_before_training(model):
    """calculate_mean_per_token_loss of run.py on one of its 25 batches of Wikipedia, cut at 768 tokens; the adapter is off."""
    with model.disable_adapter() if hasattr(model, "peft_config") else contextlib.nullcontext():
        ids, mask = torch.full((BATCH, LIMIT), 5).to("cuda"), torch.ones(BATCH, LIMIT, dtype=torch.int64).to("cuda")
        logits = model(input_ids=ids, attention_mask=mask).logits
        for logit, target in zip(logits, ids):
            torch.nn.functional.cross_entropy(logit[:-1], target[1:], reduction="none")


def made_batch(length):
    """Samples a token shorter each than the one before, so that there is padding; nothing but the longest's length decides any shape."""
    lengths = [length - number for number in range(BATCH)]
    ids = torch.tensor([[5] * n + [128001] * (length - n) for n in lengths]).to("cuda")
    mask = torch.tensor([[1] * n + [0] * (length - n) for n in lengths]).to("cuda")
    labels = ids.clone()
    for number, n in enumerate(lengths):
        labels[number, n + 1 :] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def train(model, experiment, longest):
    optimizer, scheduler = made_optimizer(model, experiment)
    if experiment["init_kv_cache_prefix"]:
        initialize_kv_prefix_from_text(model, prefix_tokenizer, text=experiment["init_kv_cache_prefix"])
    check_parameters(model, experiment)
    model.eval()
    loss_before_training(model)
    model.train()
    allocates = experiment["peft_config"] and experiment["peft_config"]["peft_type"] in ("ADALORA", "ADAMSS")
    number = 0
    for window in windows_of(longest):
        for length in window:
            number += 1
            batch = made_batch(length)
            tokens = batch["attention_mask"].sum().item()
            optimizer.zero_grad()
            outputs = model(**batch, num_items_in_batch=tokens)  # alive until the next step's are there, the cache of keys and values with them
            outputs.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            if allocates:
                model.base_model.update_and_allocate(number)
        torch.cuda.empty_cache()


def prefix_tokenizer(text, **_):
    """As many tokens as English text of that length has in Llama's vocabulary, about; of them only the first `num_virtual_tokens` are used."""
    return {"input_ids": torch.full((1, len(text) // 4), 5), "attention_mask": torch.ones(1, len(text) // 4, dtype=torch.int64)}


def main():
    experiments = json.loads(CONFIGURATIONS.read_text())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=experiments)
    parser.add_argument("--longest", type=int, default=LONGEST, help="tokens of the longest batch")
    arguments = parser.parse_args()
    torch.nn.Linear(1, 1).to("cuda")  # init_accelerator of utils.py: what is reserved by then is subtracted
    reserved_before = torch.cuda.memory_reserved()
    make_up_decompositions()
    experiment = experiments[arguments.experiment]
    train(adapted(made_model(), experiment), experiment, arguments.longest)
    print("accelerator_memory_max", torch.cuda.max_memory_reserved() - reserved_before)


if __name__ == "__main__":
    main()
