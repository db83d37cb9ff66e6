"""One run of xMem's experiment, as its authors ran it (validation/README.md says where the protocol comes from).

    python train.py MODEL OPTIMIZER BATCH [--zero-grad 0|1|2] [--lengths 128,128,128,128] [--until-first-batch]

What their script does and this one repeats: the model is made on the host from its configuration alone, in fp32; a transformer's
optimizer is made while the parameters are still there, a CNN's after they have moved; four iterations; `batch`, `outputs` and `loss`
live until they are bound again; the key-value cache that `use_cache` brings is part of `outputs`.  What differs: parameters are left
uninitialised, and token ids and pixels are made up.  No byte depends on either.

`--until-first-batch` ends where a CNN has moved and the first batch has not: there their monitor takes the reading that all others are
less (README, "When the measuring began").
"""

import argparse

import torch

ITERATIONS = 4  # their `iterations` is 3, and the loop leaves after index 3
LONGEST = 128  # truncation of a wikitext line
IMAGE = (3, 86, 86)  # CIFAR-10, resized


def t5_small():
    from transformers import T5Config, T5ForConditionalGeneration

    # T5-small is what T5Config describes by default; its own decoder starts with the padding token.
    return T5ForConditionalGeneration, T5Config(decoder_start_token_id=0), 60_506_624


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel, GPT2Config(), 124_439_808


def distilgpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel, GPT2Config(n_layer=6), 81_912_576


def opt_125m():
    from transformers import OPTConfig, OPTForCausalLM

    return OPTForCausalLM, OPTConfig(), 125_239_296


def qwen3_4b():
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=151936,
        hidden_size=2560,
        intermediate_size=9728,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=40960,
        rope_theta=1_000_000.0,
        tie_word_embeddings=True,
        max_window_layers=36,
    )
    return Qwen3ForCausalLM, config, 4_022_468_096


TRANSFORMERS = {"T5-small": t5_small, "openai-community/gpt2": gpt2, "distilbert/distilgpt2": distilgpt2, "facebook/opt-125m": opt_125m, "Qwen/Qwen3-4B": qwen3_4b}
CNNS = {"ConvNeXtTiny": ("convnext_tiny", 28_589_128), "MobileNetV2": ("mobilenet_v2", 3_504_872), "ResNet101": ("resnet101", 44_549_160)}


def make_transformer(name):
    from transformers.modeling_utils import no_init_weights

    kind, config, parameters = TRANSFORMERS[name]()
    with no_init_weights():
        model = kind(config)
    model.tie_weights()
    check_size(model, parameters)
    return model.train()


def make_cnn(name):
    import torchvision

    constructor, parameters = CNNS[name]
    model = getattr(torchvision.models, constructor)(weights=None)
    check_size(model, parameters)
    return model


def make(name):
    return make_cnn(name) if name in CNNS else make_transformer(name)


def check_size(model, expected):
    found = sum(p.numel() for p in model.parameters())
    if found != expected:
        raise SystemExit(f"the model has {found:,} parameters, the published one {expected:,}")


def optimizer_class(name):
    """torch's, but for Adafactor: their loop passes `relative_step`, which the one in transformers alone accepts."""
    if name == "Adafactor":
        from transformers import Adafactor

        return lambda params, lr: Adafactor(params=params, lr=lr, relative_step=False)
    return getattr(torch.optim, name)


def text_batch(batch_size, length):
    """What the collator makes of lines of wikitext: padded to the longest, here to `length`; the other lines are shorter."""
    if batch_size == 1:
        lengths = [length // 2]  # Qwen3: lines were padded to 128 beforehand
    else:
        lengths = [max(1, length - length * row // batch_size) for row in range(batch_size)]
    attention_mask = (torch.arange(length) < torch.tensor(lengths)[:, None]).long()
    input_ids = torch.randint(3, 30000, (batch_size, length)) * attention_mask
    labels = torch.where(attention_mask.bool(), input_ids, -100)
    return {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}


def train_transformer(model, optimizer, batch_size, zero_grad, lengths, device):
    optimizer = optimizer(params=model.parameters(), lr=0.001)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.1)
    model.to(device)
    for index, batch in enumerate(text_batch(batch_size, length) for length in lengths):
        if zero_grad == 0:
            optimizer.zero_grad()
        batch = {key: value.to(device) for key, value in batch.items()}
        outputs = model(**batch)
        if zero_grad == 1:
            optimizer.zero_grad()
        loss = outputs.loss
        loss.backward()
        optimizer.step()
        if zero_grad == 2:
            optimizer.zero_grad()
        if index == ITERATIONS - 1:
            break
        scheduler.step()


def train_cnn(model, optimizer, batch_size, zero_grad, iterations, device):
    model.to(device)
    model.train()
    optimizer = optimizer(params=model.parameters(), lr=0.001)
    criterion = torch.nn.CrossEntropyLoss()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.1)
    for inputs, labels in ((torch.empty(batch_size, *IMAGE), torch.randint(0, 10, (batch_size,))) for _ in range(iterations)):
        if zero_grad == 0:
            optimizer.zero_grad()
        inputs, labels = inputs.to(device), labels.to(device)
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        if zero_grad == 1:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        _, predictions = torch.max(outputs, 1)
        if zero_grad == 2:
            optimizer.zero_grad()
        scheduler.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=[*TRANSFORMERS, *CNNS])
    parser.add_argument("optimizer")
    parser.add_argument("batch", type=int)
    parser.add_argument("--zero-grad", type=int, default=0, choices=(0, 1, 2))
    parser.add_argument("--lengths", default=",".join([str(LONGEST)] * ITERATIONS), help="tokens to the longest line, per iteration")
    parser.add_argument("--until-first-batch", action="store_true", help="end in front of it (CNNs)")
    arguments = parser.parse_args()

    optimizer = optimizer_class(arguments.optimizer)
    torch.cuda.set_per_process_memory_fraction(1.0)  # so that the context is made before the first measurement
    if arguments.model in CNNS:
        iterations = 0 if arguments.until_first_batch else ITERATIONS
        train_cnn(make_cnn(arguments.model), optimizer, arguments.batch, arguments.zero_grad, iterations, "cuda:0")
    else:
        lengths = [int(length) for length in arguments.lengths.split(",")]
        train_transformer(make_transformer(arguments.model), optimizer, arguments.batch, arguments.zero_grad, lengths, "cuda:0")


if __name__ == "__main__":
    main()
