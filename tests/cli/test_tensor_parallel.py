"""`tp` of `tidemark predict`: what a plan may say, and what no plan can do."""

import json

import pytest
from test_errors import UNSUPPORTED, USAGE, refused

LLAMA = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512}
OPT = {"model_type": "opt", "hidden_size": 64, "ffn_dim": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 512}
GPT2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 512}
MLP = {"model.layers.*.mlp.gate_proj": "colwise", "model.layers.*.mlp.up_proj": "colwise", "model.layers.*.mlp.down_proj": "rowwise"}


@pytest.fixture
def work(folders):
    return folders / "work"


@pytest.fixture
def predict(tidemark, work):
    """predict(model, tp, more...) -> CompletedProcess; the report is report.json."""

    def run(model, tp, **more):
        spec = {"model": model, "gpu": "h200", "seq": 64, "gpus": tp.get("degree", 1) if tp else 1, **({"tp": tp} if tp else {}), **more}
        (work / "spec.json").write_text(json.dumps(spec))
        return tidemark("predict", "--spec", "spec.json", "--json", "report.json")

    return run


def report(predict, work, *arguments, **more):
    done = predict(*arguments, **more)
    assert done.returncode == 0, done.stderr
    return json.loads((work / "report.json").read_text())


@pytest.mark.parametrize(
    "model, tp, more, code, says",
    [
        (LLAMA, {"degree": 3}, {}, UNSUPPORTED, ["tp.degree", "num_attention_heads = 4"]),
        (LLAMA, {"degree": 4}, {}, UNSUPPORTED, ["tp.degree", "num_key_value_heads = 2"]),
        (LLAMA, {"degree": 3, "plan": {"lm_head": "colwise"}}, {}, UNSUPPORTED, ["lm_head: 512 is not a multiple of 3"]),
        (LLAMA, {"degree": 2}, {"gpus": 3}, USAGE, ["tp.degree", "3 GPUs are not a multiple of 2"]),
        (LLAMA, {"degree": 2}, {"gpus": 4, "parallel": "zero2"}, UNSUPPORTED, ["tp", "set parallel to none, ddp or fsdp2"]),
        (LLAMA, {"degree": 2, "plan": {"model.layer.*.mlp.down_proj": "rowwise"}}, {}, USAGE, ["tp.plan", "no module is called model.layer.*.mlp.down_proj"]),
        (LLAMA, {"degree": 2, "plan": {"lm_head": "colwis"}}, {}, USAGE, ["tp.plan", "lm_head.style", "did you mean colwise?"]),
        (LLAMA, {"degree": 2, "plan": {"lm_head": {"style": "colwise", "output_layouts": "shard(-1)"}}}, {}, UNSUPPORTED, ["tp.plan", "logits that are split"]),
        (LLAMA, {"degree": 2, "plan": {"lm_head": {"style": "colwise", "input_layouts": "shard(x)"}}}, {}, USAGE, ["input_layouts", "is not a placement"]),
        (LLAMA, {"degree": 2, "plan": {"model.layers.*.mlp": "prepare_input"}}, {}, USAGE, ["desired layouts"]),
        (LLAMA, {"degree": 2, "plan": {"model.norm": "colwise"}}, {}, UNSUPPORTED, ["model.norm: it is no nn.Linear or nn.Embedding"]),
        (LLAMA, {"degree": 2, "plan": {"model.layers": "sequence"}}, {}, UNSUPPORTED, ["model.layers: hooks on it are not simulated"]),
        (LLAMA, {"degree": 2, "plan": {"model.layers.*.mlp.up_proj": "colwise"}}, {}, USAGE, ["tp.plan", "colwise, then rowwise"]),
        (LLAMA, {"degree": 2, "plan": {"model.norm": "sequence"}}, {}, USAGE, ["tp.plan", "tokens by all modules in between"]),
        ({**LLAMA, "model_type": "gemma2", "head_dim": 16}, {"degree": 2, "sequence_parallel": True}, {}, UNSUPPORTED, ["tp.plan", "model.embed_tokens", "or one that does more"]),
        (LLAMA, {"degree": 2, "plan": MLP, "sequence_parallel": True}, {}, USAGE, ["tp.sequence_parallel", "leave out one"]),
        (LLAMA, {"degree": 2, "plan": "llama"}, {}, USAGE, ["tp.plan", "expected a map"]),
        (LLAMA, {"degree": 2}, {"max_grad_norm": 1.0}, UNSUPPORTED, ["max_grad_norm", "clip_grad_norm_"]),
        (LLAMA, {"degree": 2}, {"optimizer": "adafactor"}, UNSUPPORTED, ["optimizer", "Adafactor"]),
        (LLAMA, {"degree": 2, "sequence_parallel": True}, {"optimizer": "sgd"}, UNSUPPORTED, ["optimizer", "AdamW and Adam"]),
        (LLAMA, {"degree": 2}, {"dtype": "fp32", "grad_scaler": True, "autocast": "fp16"}, UNSUPPORTED, ["grad_scaler"]),
        (LLAMA, {"degree": 2}, {"lora": {}}, UNSUPPORTED, ["model.layers.0.self_attn.q_proj: it is an adapter now", "name base_layer"]),
        (OPT, {"degree": 2}, {}, UNSUPPORTED, ["tp.plan", "transformers has no plan for opt"]),
        (OPT, {"degree": 2, "plan": {"model.decoder.layers.*.self_attn.q_proj": "colwise"}}, {}, UNSUPPORTED, ["tp.plan", "the attention of opt takes the number of heads from its configuration"]),
        (GPT2, {"degree": 2, "plan": {"transformer.h.*.mlp.c_fc": "colwise"}}, {}, UNSUPPORTED, ["transformer.h.0.mlp.c_fc: it is no nn.Linear"]),
    ],
)
def test_what_it_refuses(predict, model, tp, more, code, says):
    refused(predict(model, tp, **more), code, *says)


def test_the_text_of_a_model_with_images_is_split(predict, work):
    model = {
        "model_type": "llava",
        "text_config": LLAMA,
        "vision_config": {"model_type": "clip_vision_model", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 56, "patch_size": 14},
        "image_token_index": 500,
    }
    ends = [report(predict, work, model, {"degree": degree}, images=1)["steps"][1]["end_allocated_bytes"] for degree in (1, 2)]
    assert ends[0] > ends[1]


def test_the_family_s_own_plan_is_an_assumption(predict, work):
    assert any("base_model_tp_plan" in entry["what"] for entry in report(predict, work, LLAMA, {"degree": 2})["assumptions"])


@pytest.mark.parametrize("options", [{}, {"checkpointing": "non_reentrant"}, {"dtype": "fp32", "autocast": "bf16"}])
def test_one_device_holds_after_each_step_what_a_model_holds_that_is_not_split(predict, work, options):
    split, alone = (report(predict, work, LLAMA, tp, **options)["steps"] for tp in ({"degree": 1}, None))
    assert [step["end_allocated_bytes"] for step in split] == [step["end_allocated_bytes"] for step in alone]


@pytest.mark.parametrize("sequence_parallel", [False, True])
def test_ranks_are_alike(predict, work, sequence_parallel):
    peaks = [report(predict, work, LLAMA, {"degree": 2, "sequence_parallel": sequence_parallel}, rank=rank)["peak"] for rank in (0, 1)]
    assert peaks[0] == peaks[1]


def test_more_devices_hold_less(predict, work):
    model = {**LLAMA, "num_key_value_heads": 4, "intermediate_size": 1024}
    peaks = [report(predict, work, model, {"degree": degree}, batch=4)["steps"][1]["end_allocated_bytes"] for degree in (1, 2, 4)]
    assert peaks[0] > peaks[1] > peaks[2]
