"""Text that transformers generates grows to the length that the program allows, or to the one that is asked for, whatever token ends it."""

import json

import pytest

pytestmark = pytest.mark.oracle

GENERATE = """
import json, sys, torch
from transformers import LlamaConfig, LlamaForCausalLM

how, end = json.loads(sys.argv[1]), json.loads(sys.argv[2])
model = LlamaForCausalLM(LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, vocab_size=100, eos_token_id=end, pad_token_id=1, bos_token_id=7)).cuda()
prompt = torch.randint(10, 100, (3, 5)).cuda()
tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, **how)
print("tokens", json.dumps(tokens[:, 5:].tolist()))
print("classes", torch.randn(4, 100, device="cuda").argmax(-1).tolist())
"""
FULL = "tokens that are drawn: the first of the vocabulary that ends no text, which so reaches its full length (--generate-length)"


def generate(run_code, how, end, *options):
    done = run_code(GENERATE, json.dumps(how), json.dumps(end), options=("--keep-going", *options))
    lines = dict(line.split(" ", 1) for line in done.output.splitlines() if line.startswith(("tokens", "classes")))
    assert lines["classes"] == "[0, 0, 0, 0]"  # outside of generation nothing is a token
    return json.loads(lines["tokens"]), [row["what"] for row in done.report["assumptions"]]


@pytest.mark.slow("generation lengths, greedy and sampled", keep=["several-sampled"])
@pytest.mark.parametrize("how", [{"do_sample": False}, {"do_sample": True, "top_k": 20}], ids=["greedy", "sampled"])
@pytest.mark.parametrize("end", [0, [0, 2, 3]], ids=["first_token", "several"])
def test_no_token_that_is_drawn_ends_a_text(run_code, how, end):
    tokens, assumed = generate(run_code, how, end)
    assert [len(row) for row in tokens] == [12, 12, 12]
    assert not {token for row in tokens for token in row} & {1, *(end if isinstance(end, list) else [end])}
    assert FULL in assumed


@pytest.mark.slow("a stated end of generation")
@pytest.mark.parametrize("how", [{"do_sample": False}, {"do_sample": True}], ids=["greedy", "sampled"])
def test_the_nth_token_ends_a_text(run_code, how):
    tokens, assumed = generate(run_code, how, [2, 0], "--generate-length", "4")
    assert tokens == [[3, 3, 3, 2]] * 3
    assert "text that is generated ends after 4 tokens (--generate-length)" in assumed


MIXTRAL = """
import torch
from transformers import MixtralConfig, MixtralForCausalLM
model = MixtralForCausalLM(MixtralConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, vocab_size=100, eos_token_id=0, pad_token_id=0, num_local_experts=4)).cuda()
prompt = torch.randint(10, 100, (3, 5)).cuda()
print("shape", list(model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=6).shape))
"""


@pytest.mark.slow("routing is not generation")
def test_routers_of_experts_draw_no_tokens(run_code):
    done = run_code(MIXTRAL, options=("--keep-going",))
    assert "shape [3, 11]" in done.output
    assert {"top-k of float scores: balanced routing", FULL} <= {row["what"] for row in done.report["assumptions"]}
