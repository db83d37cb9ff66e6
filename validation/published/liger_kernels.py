"""One memory measurement of Liger-Kernel's benchmark suite: forward and backward of one kernel, ten times.

    python liger_kernels.py KERNEL PROVIDER X

What benchmark/scripts/benchmark_KERNEL.py of linkedin/Liger-Kernel does with `mode=full`, in our words: both the provider's and the reference's
modules are made where the script makes both, inputs keep their gradients from one repetition to the next, and the figure is the peak of allocated
memory of a repetition (`_test_memory` in its utils.py).  What differs: parameters are left as they come.  Liger's own kernels are those of its package.
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

REPETITIONS = 10  # _iter of _test_memory
DEVICE = "cuda"
BF16 = torch.bfloat16


def fused_linear_cross_entropy(provider, tokens, hidden=4096, vocabulary=128256):
    from liger_kernel.transformers.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyLoss

    reference = nn.Linear(hidden, vocabulary, bias=False, dtype=BF16).to(DEVICE)
    liger = nn.Linear(hidden, vocabulary, bias=False, dtype=BF16).to(DEVICE)
    plain, fused = nn.CrossEntropyLoss(), LigerFusedLinearCrossEntropyLoss()
    x = torch.randn(tokens, hidden, requires_grad=True, dtype=BF16, device=DEVICE)
    target = torch.randint(vocabulary, (tokens, 1), dtype=torch.long, device=DEVICE).squeeze(1)

    def huggingface():
        logits = reference(x)
        return plain(logits, target)

    return scalar(lambda: fused(liger.weight, x, target) if provider == "liger" else huggingface())


def two_heads(vocabulary, hidden):
    return [nn.Linear(hidden, vocabulary, bias=False, dtype=BF16, device=DEVICE) for _ in range(2)]


def fused_linear_jsd(provider, tokens, hidden=4096, vocabulary=128256, beta=0.5):
    from liger_kernel.transformers.fused_linear_jsd import LigerFusedLinearJSD

    reference, liger = two_heads(vocabulary, hidden), two_heads(vocabulary, hidden)
    fused, kl = LigerFusedLinearJSD(beta, 1.0), nn.KLDivLoss(reduction="batchmean", log_target=True)
    for mine, other in zip(reference, liger):
        mine.weight.data = other.weight.data = torch.rand(vocabulary, hidden, device=DEVICE, dtype=BF16)
    student = torch.rand(tokens, hidden, requires_grad=True, dtype=BF16, device=DEVICE)
    teacher = torch.rand(tokens, hidden, dtype=BF16, device=DEVICE)

    def divergence(log_q, log_p):
        log_p, log_q = log_p.to(torch.float), log_q.to(torch.float)
        log_p, log_q = log_p.view(-1, log_p.size(-1)), log_q.view(-1, log_q.size(-1))
        middle = torch.lerp(torch.exp(log_p), torch.exp(log_q), beta)
        loss = beta * kl(torch.log(middle), log_p) + (1 - beta) * kl(torch.log(middle), log_q)
        return loss.to(BF16)

    def plain():
        student_logits = reference[0](student)
        teacher_logits = reference[1](teacher)
        student_prob = torch.log_softmax(student_logits / 1.0, dim=-1)
        teacher_prob = torch.log_softmax(teacher_logits / 1.0, dim=-1)
        return divergence(student_prob, teacher_prob)

    return scalar(lambda: fused(student, liger[0].weight, teacher, liger[1].weight, None) if provider == "liger" else plain())


def paired_logps(logits, labels, ignore_index, average):
    """Log-probabilities of labels, as the alignment tests of Liger (after TRL) take them."""
    mask = labels != ignore_index
    labels = torch.where(labels == ignore_index, 0, labels)
    per_token = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (per_token * mask).sum(-1) / mask.sum(-1) if average else (per_token * mask).sum(-1)


def simpo_reference(x, weight, target, beta=0.1, gamma=0.5):
    """HFCPOLoss(loss_type="simpo").get_batch_loss_metrics of Liger's test/chunked_loss/test_cpo_loss.py."""
    half = x.shape[0] // 2
    outputs = x @ weight.t()
    all_logits = outputs.float()

    def cross_entropy_loss(logits, labels):
        logits = logits.view(-1, logits.shape[-1])
        labels = labels.view(-1)
        return nn.CrossEntropyLoss(ignore_index=-100)(logits, labels)

    nll = cross_entropy_loss(all_logits[:half], target[:half])
    all_logps = paired_logps(all_logits, target, -100, True)
    logits = all_logps[:half] - all_logps[half:] - gamma / beta
    losses = F.logsigmoid(beta * logits) * 1.0 + F.logsigmoid(-beta * logits) * 0.0
    return nll * 1.0 - losses.mean()


def fused_linear_simpo_loss(provider, batch, sequence=1024, hidden=4096, vocabulary=128256):
    from liger_kernel.chunked_loss.simpo_loss import LigerFusedLinearSimPOFunction

    reference = nn.Linear(hidden, vocabulary, bias=False, dtype=BF16).to(DEVICE)
    liger = nn.Linear(hidden, vocabulary, bias=False, dtype=BF16).to(DEVICE)
    x = torch.randn(batch, sequence, hidden, requires_grad=True, dtype=BF16, device=DEVICE)
    target = torch.randint(vocabulary, (batch, sequence), dtype=torch.long, device=DEVICE)
    return scalar(lambda: LigerFusedLinearSimPOFunction.apply(x, liger.weight, target) if provider == "liger" else simpo_reference(x, reference.weight, target))


def kto_policy(x, weight, bias, target, preferred, ignore_index):
    """concatenated_forward of Liger's test/utils.py HFAlignmentLoss, unpaired and without the likelihood term."""
    outputs = x @ weight.t()
    outputs = outputs + bias
    all_logits = outputs.float()
    all_logps = paired_logps(all_logits, target, ignore_index, True)
    return all_logps[preferred], all_logps[~preferred], all_logits[preferred], all_logits[~preferred], torch.tensor(0.0, device=x.device)


def kto_frozen(x, weight, bias, target, preferred, ignore_index):
    """get_ref_logps of the same."""
    with torch.no_grad():
        logits = x @ weight.t()
        logits = logits + bias
        logps = paired_logps(logits, target, ignore_index, True)
        return logps[preferred], logps[~preferred]


def kto_reference(policy, x, reference, ref_x, target, preferred, kl, ignore_index, beta):
    """HFKTOLoss.get_batch_loss_metrics of Liger's tests."""
    outputs = kto_policy(x, policy.weight, policy.bias, target, preferred, ignore_index)
    chosen, rejected, chosen_logits, rejected_logits, nll = outputs
    ref_chosen, ref_rejected = kto_frozen(ref_x, reference.weight, reference.bias, target, preferred, ignore_index)
    losses = torch.cat((1 - F.sigmoid(beta * (chosen - ref_chosen - kl)), 1 - F.sigmoid(beta * (kl - (rejected - ref_rejected)))), 0)
    loss = nll * 1.0 + losses.mean()
    return loss, (chosen.detach().sum(), rejected.detach().sum(), chosen_logits.detach().sum(), rejected_logits.detach().sum())


def kto_loss(provider, batch, sequence=512, hidden=1024, vocabulary=128256, ignore_index=42, beta=0.1):
    from liger_kernel.chunked_loss import LigerFusedLinearKTOLoss

    heads = [nn.Linear(hidden, vocabulary, bias=True, dtype=BF16).to(DEVICE) for _ in range(4)]
    fused = LigerFusedLinearKTOLoss(ignore_index=ignore_index, beta=beta, use_ref_model=True)
    x = torch.randn(batch, sequence, hidden, device=DEVICE, dtype=BF16)
    target = torch.randint(vocabulary, (batch, sequence), dtype=torch.long, device=DEVICE)
    preferred = torch.randint(2, (batch,), dtype=torch.bool, device=DEVICE)
    kl = torch.randn(1, device=DEVICE, dtype=BF16)
    padded = torch.randperm(batch * sequence)[: torch.randint(1, batch * sequence // 2, (1,)).item()]
    target.view(-1)[padded] = ignore_index
    ref_x = torch.randn(batch, sequence, hidden, device=DEVICE, dtype=BF16)

    def liger():
        policy, reference = heads[2], heads[3]
        return fused(_input=x, lin_weight=policy.weight, target=target, preference_labels=preferred, bias=policy.bias, ref_input=ref_x, ref_weight=reference.weight, ref_bias=reference.bias, kl=kl)[0]

    def plain():
        policy, reference = heads[0], heads[1]
        return kto_reference(policy, x, reference, ref_x, target, preferred, kl, ignore_index, beta)[0]

    return scalar(liger if provider == "liger" else plain)


def mlp(provider, activation, batch, sequence):
    from liger_kernel.transformers.geglu import LigerGEGLUMLP
    from liger_kernel.transformers.swiglu import LigerSwiGLUMLP
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaMLP

    config = LlamaConfig(hidden_size=4096, intermediate_size=11008, hidden_act=activation)
    x = torch.randn(batch, sequence, 4096, device=DEVICE, dtype=BF16, requires_grad=True)
    kind = LlamaMLP if provider == "huggingface" else LigerSwiGLUMLP if activation == "silu" else LigerGEGLUMLP
    layer = kind(config=config).to(DEVICE).to(BF16)

    def full():
        y = layer(x)
        y.backward(torch.randn_like(y), retain_graph=True)

    return full


def geglu(provider, sequence):
    return mlp(provider, "gelu_pytorch_tanh", 8, sequence)


def swiglu(provider, sequence):
    return mlp(provider, "silu", 4, sequence)


class LlamaRMSNorm(nn.Module):
    """The reference of benchmark_rms_norm.py: a norm whose weight stays fp32."""

    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x.to(dtype)


def norm(provider, shape, dtype, liger, reference):
    liger, reference = liger.to(DEVICE), reference.to(DEVICE)
    x = torch.randn(shape, dtype=dtype, device=DEVICE)
    dy = torch.randn_like(x)
    x.requires_grad_(True)

    def full():
        y = (liger if provider == "liger" else reference)(x)
        y.backward(dy, retain_graph=True)

    return full


def rms_norm(provider, width):
    from liger_kernel.transformers.rms_norm import LigerRMSNorm

    return norm(provider, (2048, width), BF16, LigerRMSNorm(hidden_size=width, eps=1e-6), LlamaRMSNorm(width, 1e-6))


def layer_norm(provider, width):
    from liger_kernel.transformers.layer_norm import LigerLayerNorm

    return norm(provider, (4096, width), torch.float32, LigerLayerNorm(hidden_size=width), nn.LayerNorm(width, eps=1e-6))


def group_norm(provider, channels):
    from liger_kernel.transformers.group_norm import LigerGroupNorm

    groups = channels // 4
    return norm(provider, (128, channels, 512), torch.float32, LigerGroupNorm(num_channels=channels, num_groups=groups, eps=1e-6), nn.GroupNorm(num_groups=groups, num_channels=channels, eps=1e-6))


def rope(provider, sequence, hidden=8192, q_heads=32, kv_heads=8):
    from liger_kernel.transformers.rope import liger_rotary_pos_emb
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    width = hidden // q_heads
    rotary = LlamaRotaryEmbedding(width, device=DEVICE)
    q, k = (torch.randn((1, sequence, heads, width), device=DEVICE, requires_grad=True, dtype=BF16).transpose(1, 2) for heads in (q_heads, kv_heads))
    dq, dk = torch.randn_like(q, device=DEVICE, dtype=BF16), torch.randn_like(k, device=DEVICE)
    positions = torch.arange(sequence, device=DEVICE, dtype=torch.long).unsqueeze(0)
    cos, sin = rotary(k, positions)
    rotate = liger_rotary_pos_emb if provider == "liger" else apply_rotary_pos_emb

    def full():
        q_out, k_out = rotate(q, k, cos, sin, positions)
        torch.autograd.grad((q_out, k_out), (q, k), (dq, dk), allow_unused=True, retain_graph=True)

    return full


def embedding(provider, vocabulary, batch=8, sequence=2048, width=4096):
    from liger_kernel.transformers.experimental.embedding import LigerEmbedding

    plain, liger = nn.Embedding(vocabulary, width).to(DEVICE), LigerEmbedding(vocabulary, width).to(DEVICE)
    compiled = torch.compile(plain)
    ids = torch.randint(0, vocabulary, (batch, sequence), device=DEVICE)
    chosen = {"liger": liger, "huggingface": plain, "torch_compile": compiled}[provider]

    def full():
        output = chosen(ids)
        output.backward(torch.randn_like(output))

    return full


def kl_div(provider, vocabulary):
    from liger_kernel.transformers.kl_div import LigerKLDIVLoss

    loss = LigerKLDIVLoss(reduction="batchmean") if provider == "liger" else nn.KLDivLoss(reduction="batchmean")
    x = torch.randn(8 * 2048, vocabulary, requires_grad=True, device=DEVICE).log_softmax(dim=-1)
    target = torch.randn(8 * 2048, vocabulary, device=DEVICE).softmax(dim=-1)
    return scalar(lambda: loss(x, target), retain=True)


def jsd(provider, vocabulary):
    from liger_kernel.transformers.jsd import LigerJSD

    fused, kl = LigerJSD(), nn.KLDivLoss(reduction="batchmean", log_target=True)
    x = torch.randn(4 * 2048, vocabulary, requires_grad=True, device=DEVICE).log_softmax(dim=-1)
    target = torch.randn(4 * 2048, vocabulary, device=DEVICE).log_softmax(dim=-1)

    def plain():
        middle = 0.5 * (torch.exp(x.view(-1, vocabulary)) + torch.exp(target.view(-1, vocabulary)))
        log_middle = torch.log(middle)
        return 0.5 * (kl(log_middle, x) + kl(log_middle, target))

    return scalar(lambda: fused(x, target) if provider == "liger" else plain(), retain=True)


def fused_moe(provider, tokens, experts=128, hidden=2048, width=768, top_k=8):
    """The reference's side: a loop over the experts that were hit."""
    if provider != "huggingface":
        raise SystemExit("fused_moe: only the provider huggingface is written")
    torch.manual_seed(42)
    x = torch.randn(tokens, hidden, dtype=BF16, device=DEVICE, requires_grad=True)
    gate_up = torch.randn(experts, 2 * width, hidden, dtype=BF16, device=DEVICE, requires_grad=True) * 0.02
    down = torch.randn(experts, hidden, width, dtype=BF16, device=DEVICE, requires_grad=True) * 0.02
    logits = torch.randn(tokens, experts, device=DEVICE)
    index = torch.topk(logits, top_k, dim=-1).indices.to(torch.int32)
    weights = torch.softmax(torch.gather(logits, 1, index.long()), dim=-1).to(BF16).requires_grad_(True)

    def forward():
        final = torch.zeros_like(x)
        with torch.no_grad():
            mask = F.one_hot(index.long(), num_classes=experts).permute(2, 1, 0)
            hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for row in hit:
            expert = row[0]
            position, token = torch.where(mask[expert])
            current = x[token]
            gate, up = F.linear(current, gate_up[expert]).chunk(2, dim=-1)
            current = F.silu(gate) * up
            current = F.linear(current, down[expert])
            current = current * weights[token, position, None]
            final.index_add_(0, token, current.to(final.dtype))
        return final

    def full():
        y = forward()
        y.backward(torch.randn_like(y), retain_graph=True)

    return full


def scalar(forward, retain=False):
    def full():
        y = forward()
        y.backward(retain_graph=retain)

    return full


KERNELS = (fused_linear_cross_entropy, fused_linear_jsd, fused_linear_simpo_loss, kto_loss, geglu, swiglu, rms_norm, layer_norm, group_norm, rope, embedding, kl_div, jsd, fused_moe)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", choices=[kernel.__name__ for kernel in KERNELS])
    parser.add_argument("provider", choices=["liger", "huggingface", "torch", "torch_compile"])
    parser.add_argument("x", type=int, help="the value of the benchmark's x axis")
    arguments = parser.parse_args()
    full = next(kernel for kernel in KERNELS if kernel.__name__ == arguments.kernel)(arguments.provider, arguments.x)
    for _ in range(REPETITIONS):
        torch.cuda.memory.reset_peak_memory_stats()
        full()
        print(torch.cuda.max_memory_allocated())


if __name__ == "__main__":
    main()
