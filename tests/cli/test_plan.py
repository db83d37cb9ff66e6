"""tidemark plan CONFIG: its answers hold in `predict`, its next does not, and one clear error for each mistake."""

import json
import pathlib
import re
import shlex

import pytest
from test_errors import USAGE, refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLAMA = {"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 8192}
BASE = ["config.json", "--batch", "8", "--seq", "512"]


@pytest.fixture
def work(folders):
    (folders / "work" / "config.json").write_text(json.dumps(LLAMA))
    return folders / "work"


def planned(tidemark, *options, code=0):
    done = tidemark("plan", *options, "--json", "plan.json")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def read(work):
    return json.loads((work / "plan.json").read_text())


def test_the_answer_is_what_predict_says(tidemark, work):
    text = planned(tidemark, *BASE, "--gpu", "rtx-3060-12gb", "--memory", "3GiB")
    plan = read(work)
    assert plan["schema"] == "tidemark.plan/1" and 0 < plan["simulated"] <= plan["candidates"]
    command = shlex.split(text.split("the first, alone:")[1].strip())
    assert command[:2] == ["tidemark", "predict"]
    done = tidemark(*command[1:], "--json", "report.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((work / "report.json").read_text())
    first = plan["answers"][0]
    assert (report["peak"]["allocated_bytes"], report["peak"]["reserved_bytes"]) == (first["peak"]["allocated_bytes"], first["peak"]["reserved_bytes"])


@pytest.mark.parametrize("fixed", [("--parallel", "fsdp2", "--fix", "tensor_parallel,data_parallel"), ("--tp-degree", "2", "--fix", "tensor_parallel")], ids=["fsdp2", "tp"])
def test_each_candidate_is_answered_as_predict_answers_it(tidemark, work, fixed):
    text = planned(tidemark, *BASE, "--gpu", "rtx-3060-12gbx2", "--transformers", "5.23.0", *fixed)
    tidemark(*shlex.split(text.split("the first, alone:")[1].strip())[1:], "--all-ranks", "--json", "report.json")
    report, first = json.loads((work / "report.json").read_text()), read(work)["answers"][0]
    assert (report["peak"]["allocated_bytes"], report["peak"]["reserved_bytes"]) == (first["peak"]["allocated_bytes"], first["peak"]["reserved_bytes"])


@pytest.mark.slow("the number of GPUs in a spec, planned")
def test_a_spec_may_say_how_many_cards(tidemark, work):
    (work / "spec.json").write_text(json.dumps({"batch": 8, "seq": 512, "gpu": "rtx-3060-12gbx2"}))
    fixed = ("--fix", "pipeline,context_parallel,tensor_parallel")
    text = planned(tidemark, "config.json", "--spec", "spec.json", "--goal", "least_memory", *fixed)
    command = shlex.split(text.split("the first, alone:")[1].strip())
    assert "--gpus 2" in text and tidemark(*command[1:], "--all-ranks", "--json", "report.json").returncode == 0
    report, first = json.loads((work / "report.json").read_text()), read(work)["answers"][0]
    assert report["peak"]["reserved_bytes"] == first["peak"]["reserved_bytes"]


def test_answers_are_in_order_and_refused_ones_do_not_fit(tidemark, work):
    planned(tidemark, *BASE, "--gpu", "rtx-3060-12gb", "--memory", "3GiB", "--answers", "5")
    plan = read(work)
    seconds = [answer["step_seconds"]["estimate"] for answer in plan["answers"]]
    assert seconds == sorted(seconds) and len(seconds) == 5
    for answer in plan["answers"]:
        assert answer["step_seconds"]["low"] < answer["step_seconds"]["estimate"] < answer["step_seconds"]["high"]
    assert plan["refused"] and all(one["peak"]["device_bytes"] > 3 * 2**30 for one in plan["refused"])


@pytest.mark.parametrize("goal, key", [("least_memory", lambda answer: answer["peak"]["device_bytes"]), ("pareto", lambda answer: answer["step_seconds"]["estimate"])])
def test_goals(tidemark, work, goal, key):
    planned(tidemark, *BASE, "--gpu", "a100-80gb", "--goal", goal)
    answers = read(work)["answers"]
    assert [key(answer) for answer in answers] == sorted(key(answer) for answer in answers)
    if goal == "pareto":
        peaks = [answer["peak"]["device_bytes"] for answer in answers]
        assert len(peaks) > 1 and peaks == sorted(peaks, reverse=True) and len(set(peaks)) == len(peaks)


def test_many_gpus(tidemark, work):
    text = planned(tidemark, *BASE, "--gpu", "a100-80gbx4")
    answer = read(work)["answers"][0]
    assert answer["spec"]["gpus"] == 4 and [row["rank"] for row in answer["ranks"]] == [0, 1, 2, 3]
    assert "4 x NVIDIA A100" in text and "32 samples a step" in text


@pytest.mark.parametrize("size", ["batch", "seq"])
def test_the_largest_fits_and_the_next_does_not(tidemark, work, size):
    options = ["--gpu", "rtx-3060-12gb", "--memory", "4GiB", "--fix", "checkpointing,attention,optimizer_impl,allocator,micro_batch"]
    planned(tidemark, *BASE, *options, "--largest", size)
    largest = read(work)["largest"]
    assert largest["refused"] == largest["value"] + 1
    asked = ["config.json", *options[:4], *(["--seq", "512"] if size == "batch" else ["--batch", "8"])]
    assert tidemark("predict", *asked, f"--{size}", largest["value"]).returncode == 0
    assert tidemark("predict", *asked, f"--{size}", largest["refused"]).returncode == 1


def test_the_command_says_the_largest(tidemark, work):
    text = planned(tidemark, *BASE, "--gpu", "rtx-3060-12gb", "--memory", "4GiB", "--largest", "batch", "--fix", "attention,optimizer_impl,allocator")
    largest, answer = read(work)["largest"]["value"], read(work)["answers"][0]
    assert answer["change"]["batch"] == answer["spec"]["batch"] == largest
    command = shlex.split(text.split("the first, alone:")[1].strip())
    assert tidemark(*command[1:], "--json", "report.json").returncode == 0
    assert json.loads((work / "report.json").read_text())["peak"]["reserved_bytes"] == answer["peak"]["reserved_bytes"]


LLAVA = {
    "model_type": "llava",
    "image_token_index": 200,
    "text_config": {**LLAMA, "num_hidden_layers": 4},
    "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 16, "image_size": 336, "patch_size": 14},
}


@pytest.mark.parametrize("asked, largest, ends", [("--seq 2048", "images", "2048 tokens hold no images of"), ("--images 2", "seq", None)])
def test_too_small_is_no_end_and_too_large_is_said(tidemark, work, asked, largest, ends):
    (work / "config.json").write_text(json.dumps(LLAVA))
    text = planned(tidemark, "config.json", *asked.split(), "--gpu", "rtx-3060-12gb", "--largest", largest, "--fix", "attention,optimizer_impl,allocator")
    found = read(work)["largest"]
    assert found["value"] == 3 if ends else found["value"] > 1152  # of two images
    assert (ends in found["why"] and ends in text) if ends else "why" not in found


def test_largest_image_is_a_side_of_whole_tokens(tidemark, work):
    text = {"hidden_size": 2048, "intermediate_size": 4096, "num_hidden_layers": 2, "num_attention_heads": 16, "num_key_value_heads": 2, "vocab_size": 152000}
    vision = {"hidden_size": 1280, "out_hidden_size": 2048, "patch_size": 14, "spatial_merge_size": 2}
    (work / "config.json").write_text(json.dumps({"model_type": "qwen2_5_vl", "text_config": text, "vision_config": vision}))
    question = ["config.json", "--images", "1", "--lora-target-modules", "q_proj,v_proj", "--freeze", "visual", "--gpu", "rtx-3060-12gb"]
    fixed = ["--fix", "attention,optimizer_impl,allocator,checkpointing,micro_batch"]
    said = planned(tidemark, *question, "--largest", "image_size", *fixed)
    found = read(work)
    side, refused = found["largest"]["value"], found["largest"]["refused"]
    assert side % 28 == 0 and refused == side + 28 and "largest image_size: " in said
    fits = {size: tidemark("predict", *question, "--image-size", str(size)).returncode for size in (side, refused)}
    assert fits == {side: 0, refused: 1}


def test_no_length_is_needed_for_context_parallelism(tidemark, work):
    free = "tensor_parallel,pipeline,offload,reshard,load,bucket_view,checkpointing,attention,optimizer_impl,allocator"
    planned(tidemark, "config.json", "--parallel", "fsdp2", "--gpu", "rtx-3060-12gbx2", "--memory", "4GiB", "--largest", "seq", "--fix", free)
    found = read(work)
    assert found["answers"][0]["spec"]["cp"]["degree"] == 2 and found["largest"]["value"] % 4 == 0


def test_the_layout_says_how_many_gpus_it_takes(tidemark, work):
    planned(tidemark, *BASE, "--tp-degree", "4", "--gpu", "a100-80gbx8", "--fix", "tensor_parallel,pipeline,context_parallel")
    spec = read(work)["answers"][0]["spec"]
    assert spec["gpus"] == 8 and spec["tp"]["degree"] == 4


@pytest.mark.slow("a largest batch that no configuration can be simulated for", keep=["question0", "question2"])
@pytest.mark.parametrize("question", [[], ["--largest", "batch"], ["--goal", "least_memory"]])
def test_what_cannot_be_simulated_is_not_said_not_to_fit(tidemark, work, question):
    (work / "config.json").write_text(json.dumps(LLAVA))
    done = tidemark("plan", "config.json", "--images", "1", "--lora-target-modules", "qproj", "--gpu", "a100-80gb", *question)
    refused(done, USAGE, "nothing in the model is called qproj", "did you mean q_proj?")


def test_nothing_fits(tidemark, work):
    text = planned(tidemark, *BASE, "--gpu", "rtx-3060-12gb", "--memory", "1200MiB", code=1)
    assert text.startswith("nothing fits") and "the least that would do needs" in text and "--allow lora" in text
    plan = read(work)
    assert plan["answers"] == [] and plan["least"]["peak"]["device_bytes"] > 1200 * 2**20
    text = planned(tidemark, *BASE, "--gpu", "rtx-3060-12gb", "--memory", "1200MiB", "--largest", "batch", code=1)
    assert "the least that would do needs" in text and read(work)["least"]["change"]["batch"] == 1
    planned(tidemark, *BASE, "--gpu", "rtx-3060-12gb", "--memory", "1500MiB", "--allow", "lora=16")
    assert read(work)["answers"][0]["change"]["lora"]["r"] == 16


LORA = ["--lora-r", "16", "--lora-target-modules", "q_proj,k_proj,v_proj,o_proj"]


@pytest.mark.slow("full fine-tuning of LLaVA on 24 GB", keep=["1 x 24 GB, LoRA", "8 x 80 GB"])
@pytest.mark.parametrize(
    "cards, options, change, peak_gib",
    [
        ("rtx-4090", [], None, 54),
        ("rtx-4090", LORA, {"grad_accumulation": 16, "optimizer_impl": "fused"}, 22),
        ("rtx-4090x2", [], {"fsdp2": {"offload_policy": "cpu"}, "parallel": "fsdp2"}, 21),
        ("h100-80gbx8", [], {"batch": 2}, 37),
    ],
    ids=["1 x 24 GB", "1 x 24 GB, LoRA", "2 x 24 GB", "8 x 80 GB"],
)
def test_what_finetuning_llava_takes(tidemark, work, cards, options, change, peak_gib):
    """docs/howto/plan.md, "One model, three machines"."""
    spec = {key: value for key, value in json.loads((ROOT / "bench/llava.json").read_text()).items() if key in ("model", "seq", "images")}
    (work / "llava.json").write_text(json.dumps(spec))
    text = planned(tidemark, "--spec", "llava.json", "--samples", "16", "--gpu", cards, *options, code=0 if change else 1)
    plan = read(work)
    found = plan["answers"][0] if change else plan["least"]
    assert round(found["peak"]["device_bytes"] / 2**30) == peak_gib
    assert change is None or change.items() <= found["change"].items()
    assert change or "--allow lora, or another decision that changes the training, may make it fit" in text


GEMMA_3_4B = {
    "model_type": "gemma3_text",
    "architectures": ["Gemma3ForCausalLM"],
    "hidden_size": 2560,
    "intermediate_size": 10240,
    "num_hidden_layers": 34,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262208,
    "sliding_window": 1024,
    "query_pre_attn_scalar": 256,
    "max_position_embeddings": 131072,
    "rope_theta": 1000000.0,
    "rope_local_base_freq": 10000.0,
    "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
    "hidden_activation": "gelu_pytorch_tanh",
    "rms_norm_eps": 1e-06,
    "tie_word_embeddings": True,
    "dtype": "bfloat16",
}


@pytest.mark.parametrize(
    "cards, options, change, peak_gib",
    [
        ("h200", ["--goal", "smallest_change"], {}, 90),
        ("a100-80gb", [], {"batch": 1, "grad_accumulation": 2}, 49),
        ("h100-80gb", [], {"batch": 1, "grad_accumulation": 2}, 49),
        ("a100-40gb", [], {"batch": 1, "checkpointing": "non_reentrant"}, 38),
        ("rtx-4090", [], None, 26),
        ("rtx-4090", ["--largest", "seq", "--batch", "1"], {"seq": 4962, "checkpointing": "non_reentrant"}, 23),
    ],
    ids=["141 GB", "A100 80 GB", "H100 80 GB", "40 GB", "24 GB", "24 GB, shorter"],
)
def test_what_a_frozen_model_costs(tidemark, work, cards, options, change, peak_gib):
    """docs/howto/plan.md, "What a frozen model costs"."""
    (work / "gemma.json").write_text(json.dumps(GEMMA_3_4B))
    batch = [] if "--batch" in options else ["--batch", "2"]
    planned(tidemark, "gemma.json", *batch, "--seq", "5076", "--train-only", "layers.0.input_layernorm", "--gpu", cards, *options, code=1 if change is None else 0)
    plan = read(work)
    found = plan["least"] if change is None else plan["answers"][0]
    assert round(found["peak"]["device_bytes"] / 2**30) == peak_gib
    assert change is None or change.items() <= found["change"].items()


def test_a_card_of_which_no_kernels_were_measured(tidemark, work):
    """That its times are those of cards in general is said; of a card without any speeds it is an error which are missing."""
    general = "times by what cards reach in general, since no kernels of this card were measured"
    card = next(one for one in json.loads((ROOT / "data/gpus.json").read_text())["cards"] if one["key"] == "l40s")
    assert general not in planned(tidemark, *BASE, "--gpu", "l40s")
    (work / "card.json").write_text(json.dumps({**card, "key": "mine", "name": "Mine"}))
    assert general in planned(tidemark, *BASE, "--gpu", "./card.json") and read(work)["answers"][0]["step_seconds"]["of_cards_in_general"]
    (work / "card.json").write_text(json.dumps({key: value for key, value in card.items() if key != "memory_bandwidth_bytes_per_s"}))
    refused(tidemark("plan", *BASE, "--gpu", "./card.json"), USAGE, '"memory_bandwidth_bytes_per_s" is missing')


def test_what_may_fit_is_not_said_to_need_less_than_there_is(tidemark, work):
    (work / "config.json").write_text(json.dumps({**LLAMA, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "vocab_size": 4096}))
    text = planned(tidemark, "config.json", "--seq", "256", "--gpu", "l4x2", "--memory", "600MiB", "--parallel", "ddp", "--fix", "data_parallel,tensor_parallel,pipeline,context_parallel", code=1)
    assert read(work)["least"]["peak"]["device_bytes"] < 600 * 2**20
    assert "has 600 MiB; what needs least may fit, and needs about" in text


def test_the_cheapest(tidemark, work):
    (work / "prices.json").write_text(json.dumps({"h100-80gb": 3.0, "l40s": 1.0, "t4": 0.3}))
    text = planned(tidemark, *BASE, "--cheapest", "h100-80gb,l40s,t4", "--prices", "prices.json")
    plans = read(work)
    costs = [one["price_per_1000_steps"] for one in plans]
    assert len(costs) == 3 and costs == sorted(costs)
    assert text.splitlines()[1].split()[0] == plans[0]["place"]


def test_the_cheapest_of_several_nodes(tidemark, work):
    (work / "prices.json").write_text(json.dumps({"h100-80gb": 3.0}))
    planned(tidemark, *BASE, "--cheapest", "h100-80gbx4", "--prices", "prices.json", "--nodes", 2, "--samples", 64)
    answer = read(work)[0]
    spec = answer["answers"][0]["spec"]
    assert (spec["gpus"], spec["gpus_per_node"], answer["price_per_hour"]) == (8, 4, 24)


@pytest.mark.parametrize(
    "options, says",
    [
        (["--goal", "fast"], "one of fastest"),
        (["--largest", "layers"], "one of batch"),
        (["--fix", "checkpointin"], "did you mean checkpointing?"),
        (["--allow", "lora=many"], "whole number"),
        (["--allow", "lora", "--fix", "lora"], "is allowed, too"),
        (["--goal", "fastest", "--largest", "seq"], "ask one at a time"),
        (["--cheapest", "t4"], "--prices is missing"),
        (["--margin", "p200"], "p200"),
        (["--json", "no/such/plan.json"], "does not exist"),
        (["--samples", "3", "--gpu", "a100-80gbx8", "--fix", "tensor_parallel,pipeline,context_parallel,data_parallel", "--parallel", "ddp"], "3 samples per step are shared by 8 GPUs"),
        (["--nodez", "3"], "did you mean --nodes?"),
    ],
)
def test_mistakes(tidemark, work, options, says):
    gpu = [] if "--gpu" in options else ["--gpu", "a100-80gb"]
    refused(tidemark("plan", *BASE, *gpu, *options), USAGE, says)


def test_a_price_is_missing(tidemark, work):
    (work / "prices.json").write_text('{"t4": 1}')
    refused(tidemark("plan", *BASE, "--cheapest", "l40s", "--prices", "prices.json"), USAGE, "no price of l40s")


@pytest.mark.parametrize("budget, code", [("3GiB", 0), ("card", 0), ("100MiB", 1)])
def test_checkpointing_under_a_budget(tidemark, work, budget, code):
    card = ["--gpu", "rtx-3060-12gb", "--memory", "3GiB", "--optimizer", "sgd"]
    text = planned(tidemark, *BASE, *card, "--checkpointing-under", budget, code=code)
    plan = read(work)
    if code == 1:
        assert plan["answers"] == [] and "with every layer checkpointed the peak is" in text
        return
    answer = plan["answers"][0]
    assert answer["peak"]["device_bytes"] <= 3 * 2**30 and 0 < plan["checkpointing"]["flops_again"] < plan["checkpointing"]["pass_flops"] / 3
    assert set(answer["change"]) <= {"checkpointing", "checkpoint_layers", "checkpoint_save", "checkpoint_save_layers"}
    command = shlex.split(text.split("the first, alone:")[1].strip())
    done = tidemark(*command[1:], "--json", "report.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((work / "report.json").read_text())["peak"]["reserved_bytes"] == answer["peak"]["reserved_bytes"]


@pytest.mark.parametrize(
    "options, says",
    [
        (["--checkpointing-under", "much"], "or card, for what fits on it"),
        (["--checkpointing-under", "card", "--goal", "fastest"], "four questions"),
        (["--checkpointing-under", "card", "--fix", "attention"], "all but the checkpointing stays"),
    ],
)
def test_mistakes_about_checkpointing(tidemark, work, options, says):
    refused(tidemark("plan", *BASE, "--gpu", "l40s", *options), USAGE, says)


def test_layers_that_are_not_there_are_said(tidemark, work):
    options = ["--gpu", "l40s", "--checkpointing", "non_reentrant"]
    refused(tidemark("predict", *BASE, *options, "--checkpoint-layers", "2-8"), USAGE, "checkpoint_layers: the model has no layer 8", "there are 8, counted from 0")
    refused(tidemark("predict", *BASE, *options, "--checkpoint-save", "matmul"), USAGE, "no checkpointed layer runs matmul", "they run mm")


LONG = [*BASE, "--gpu", "a100-80gbx2", "--goal", "least_memory", "--fix", "pipeline,context_parallel,load"]  # some seconds: the smallest of each kind is simulated


def test_a_terminal_shows_how_far_it_is(on_a_terminal, tidemark, work):
    code, text = on_a_terminal("plan", *LONG)
    lines = re.findall(r"([\d,]+) of ([\d,]+) decided, ([\d,]+) simulated", text)
    decided = [int(line[0].replace(",", "")) for line in lines]
    assert code == 0 and lines and decided == sorted(decided) and len({line[1] for line in lines}) == 1
    assert "; so far " in text and text.endswith("\r\x1b[K")  # and takes it away
    short = [*BASE, "--gpu", "a100-80gb"]
    assert on_a_terminal("plan", *short, "--quiet") == (0, "")
    assert tidemark("plan", *short).stderr == ""  # no terminal


def test_quiet_runs_say_nothing(tidemark, work):
    done = tidemark("plan", "--quiet", "--vary", "b=1..2", "--gpu", "t4", "--", "no-such-program", "{b}")
    assert done.returncode != 0 and "there is no option" not in done.stderr and "has no meaning" not in done.stderr
