"""Trainings in which no size depends on integer data: neutral_models.py OUT [CASE …]."""

import sys

import torch
from recording import record
from torch import nn
from torch.utils.checkpoint import checkpoint

B, S, D = 4, 96, 256


class Mlp(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(D), nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D), nn.Dropout(0.1)) for _ in range(depth))

    def forward(self, x, reentrant=None):
        for block in self.blocks:
            x = x + (block(x) if reentrant is None else checkpoint(block, x, use_reentrant=reentrant))
        return x


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, 8, 2 * D, batch_first=True), 3)
        self.head = nn.Linear(D, 100)

    def forward(self, x):
        return self.head(self.layers(x))


def steps(model, make_input, optimizer=None, number=3, dtype=None, autocast=None, clip=False, scaler=None, forward=None, loss_of=None):
    model = model.cuda().train()
    if dtype:
        model.to(dtype)
    optimizer = (optimizer or torch.optim.AdamW)(model.parameters())
    for _ in range(number):
        x = make_input()
        with torch.autocast("cuda", autocast or torch.bfloat16, enabled=autocast is not None):
            out = (forward or model)(x)
            loss = (loss_of or (lambda o: o.float().pow(2).mean()))(out)
        (scaler.scale(loss) if scaler else loss).backward()
        if scaler:
            scaler.unscale_(optimizer)
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def floats(dtype=torch.float32):
    return lambda: torch.randn(B, S, D, device="cuda", dtype=dtype)


def mlp_checkpointed(reentrant):
    model = Mlp()
    steps(model, lambda: torch.randn(B, S, D, device="cuda", requires_grad=True), forward=lambda x: model(x, reentrant))


def grad_scaler():
    """Steps whatever the infinity check says: bare, it says garbage."""
    scaler = torch.amp.GradScaler("cuda")
    scaler._maybe_opt_step = lambda optimizer, state, *args, **kwargs: optimizer.step(*args, **kwargs)
    return scaler


def adam(**options):
    return lambda parameters: torch.optim.Adam(parameters, **options)


def language_model(name, autocast=None, dtype=None, checkpointing=False, masked=True, **config):
    """A decoder of `transformers`, fed with embeddings, and with a float mask: without one it looks for packed sequences in integers."""
    from transformers import AutoConfig, AutoModelForCausalLM

    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(name, vocab_size=512, use_cache=False, **config))
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    mask = torch.zeros(B, 1, S, S, device="cuda", dtype=dtype or torch.float32)
    steps(model, floats(dtype or torch.float32), dtype=dtype, autocast=autocast, clip=True, forward=lambda x: model(inputs_embeds=x, attention_mask=mask if masked else None).logits)


LLAMA = dict(hidden_size=D, intermediate_size=688, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=4)


def hooks():
    model = Mlp(2)
    for p in model.parameters():
        p.register_hook(lambda grad: grad * 0.5)
        p.register_post_accumulate_grad_hook(lambda p: None)
    model.blocks[0].register_full_backward_hook(lambda module, grad_input, grad_output: None)
    model.blocks[1].register_forward_hook(lambda module, args, output: output * 1.0)
    steps(model, floats())


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight, grad.flatten(0, -2).t() @ x.flatten(0, -2)


def custom_function():
    linear = nn.Linear(D, D, bias=False)
    steps(linear, floats(), forward=lambda x: Scaled.apply(x, linear.weight))


def double_backward():
    model = Mlp(2).cuda()
    for _ in range(2):
        x = torch.randn(B, S, D, device="cuda", requires_grad=True)
        (gradient,) = torch.autograd.grad(model(x).pow(2).sum(), x, create_graph=True)
        gradient.pow(2).sum().backward()
        model.zero_grad(set_to_none=True)


def accumulation():
    model, optimizer = Mlp().cuda(), None
    optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
    for step in range(6):
        model(torch.randn(B, S, D, device="cuda")).pow(2).mean().backward()
        if step % 2:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)


def ddp():
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    # find_unused_parameters: otherwise its second step reads bucket numbers, integers, back from the device.
    model = nn.parallel.DistributedDataParallel(Mlp().cuda(), find_unused_parameters=True)
    steps(model, floats(), clip=True)


def side_streams():
    stream, model = torch.cuda.Stream(), Mlp(2).cuda()
    for _ in range(3):
        with torch.cuda.stream(stream):
            x = torch.randn(B, S, D, device="cuda")
        torch.cuda.current_stream().wait_stream(stream)
        x.record_stream(torch.cuda.current_stream())
        model(x).sum().backward()


CASES = {
    "mlp": lambda: steps(Mlp(), floats()),
    "mlp_bf16": lambda: steps(Mlp(), floats(torch.bfloat16), dtype=torch.bfloat16),
    "mlp_checkpointed": lambda: mlp_checkpointed(False),
    "mlp_checkpointed_reentrant": lambda: mlp_checkpointed(True),
    "encoder": lambda: steps(Encoder(), floats(), clip=True),
    "encoder_autocast": lambda: steps(Encoder(), floats(), autocast=torch.bfloat16),
    "encoder_float16_scaler": lambda: steps(Encoder(), floats(), autocast=torch.float16, clip=True, scaler=grad_scaler()),
    "gpt2": lambda: language_model("gpt2", n_embd=D, n_layer=3, n_head=8),
    "gpt2_autocast": lambda: language_model("gpt2", autocast=torch.bfloat16, n_embd=D, n_layer=3, n_head=8),
    "opt": lambda: language_model("opt", masked=False, hidden_size=D, ffn_dim=512, num_hidden_layers=2, num_attention_heads=4, word_embed_proj_dim=D),
    "llama": lambda: language_model("llama", **LLAMA),
    "llama_bf16_checkpointed": lambda: language_model("llama", dtype=torch.bfloat16, checkpointing=True, **LLAMA),
    "adam_for_loop": lambda: steps(Mlp(), floats(), adam(foreach=False)),
    "adam_foreach": lambda: steps(Mlp(), floats(), adam(foreach=True, amsgrad=True)),
    "adam_fused": lambda: steps(Mlp(), floats(), adam(fused=True)),
    "accumulation": accumulation,
    "hooks": hooks,
    "custom_function": custom_function,
    "double_backward": double_backward,
    "side_streams": side_streams,
    "ddp": ddp,
}


if __name__ == "__main__":
    chosen = sys.argv[2:] or list(CASES)
    record({name: CASES[name] for name in chosen}, sys.argv[1])
