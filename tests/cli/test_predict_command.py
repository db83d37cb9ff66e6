"""predict and explain: options, spec files, and one clear error for each mistake.  What is predicted is tested elsewhere."""

import json
import pathlib

import pytest
from test_errors import UNSUPPORTED, USAGE, refused
from test_other_commands import REPORT

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def work(folders):
    (folders / "work" / "config.json").write_text('{"model_type": "no_such_model"}')
    return folders / "work"


def test_model_is_missing(tidemark):
    refused(tidemark("predict", "--gpu", "t4"), USAGE, "CONFIG is missing", "--spec")
    refused(tidemark("predict", "none.json", "--gpu", "t4"), USAGE, "none.json", "No such file")


def test_card_is_missing_or_wrong(tidemark, work):
    refused(tidemark("predict", "config.json"), USAGE, "--gpu is missing")
    refused(tidemark("predict", "config.json", "--gpu", "h100-90gb"), USAGE, "did you mean h100-80gb?")
    refused(tidemark("predict", "config.json", "--gpu", "t4", "--memory", "80G"), USAGE, "GB or GiB")


TWO_LAYERS = {"model_type": "gpt2", "n_layer": 2}


@pytest.mark.parametrize("place, same", [("2xt4", "t4x2"), ("A100-80G", "a100-80gb"), ("h20", "h20-96gb"), ("dgx-spark", "gb10")])
def test_card_by_another_name_gives_same_report(tidemark, work, place, same):
    (work / "config.json").write_text(json.dumps(TWO_LAYERS))
    reports = []
    for name in (place, same):
        done = tidemark("predict", "config.json", "--gpu", name, "--json", "card.json")
        assert done.returncode == 0, done.stderr
        reports.append(json.loads((work / "card.json").read_text()))
    assert reports[0]["peak"] == reports[1]["peak"] and reports[0]["card"] == reports[1]["card"]


def test_gpus_without_parallel_are_data_parallel(tidemark, work):
    (work / "config.json").write_text(json.dumps(TWO_LAYERS))
    done = tidemark("predict", "config.json", "--gpu", "2xt4", "--json", "two.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((work / "two.json").read_text())
    assert report["rank"]["ranks"] == 2
    assert "(DistributedDataParallel), as nothing says how they share it" in report["assumptions"][0]["what"]
    assert tidemark("predict", "config.json", "--gpu", "t4", "--gpus", "2", "--parallel", "ddp", "--json", "said.json").returncode == 0
    assert json.loads((work / "said.json").read_text())["peak"] == report["peak"]


def test_report_has_question_and_trained_parameters(tidemark, work):
    (work / "config.json").write_text(json.dumps({**TWO_LAYERS, "n_embd": 64, "n_head": 2, "vocab_size": 100}))
    done = tidemark("predict", "config.json", "--batch", "3", "--seq", "64", "--lora-r", "4", "--lora-target-modules", "c_attn", "--gpu", "t4", "--json", "q.json")
    assert done.returncode == 0, done.stderr
    training = json.loads((work / "q.json").read_text())["training"]
    assert training["options"] == {"batch": 3, "seq": 64, "lora": {"r": 4, "target_modules": ["c_attn"]}}
    of_block = 64 * 192 + 192 + 64 * 64 + 64 + 64 * 256 + 256 + 256 * 64 + 64 + 4 * 64
    assert training["parameters"] == 100 * 64 + 1024 * 64 + 2 * of_block + 2 * 64
    assert training["trained_parameters"] == 2 * 4 * (64 + 192)
    assert "training: gpt2 --batch 3 --seq 64 --lora-r 4 --lora-target-modules c_attn; 2,048 parameters train, beside " in done.stdout


def test_paged_states_are_no_device_memory(tidemark, work):
    (work / "config.json").write_text(json.dumps({**TWO_LAYERS, "n_embd": 512, "n_head": 8}))
    reports = {}
    for name in ("adamw_8bit", "paged_adamw_8bit"):
        assert tidemark("predict", "config.json", "--optimizer", name, "--gpu", "t4", "--json", "p.json").returncode == 0
        reports[name] = json.loads((work / "p.json").read_text())
    paged = reports["paged_adamw_8bit"]["host"]["managed_bytes"]
    large = 50257 * 512 + 1024 * 512 + 2 * (512 * 1536 + 512 * 512 + 2 * 512 * 2048)
    assert paged == 2 * large and "managed_bytes" not in reports["adamw_8bit"]["host"]
    states = {name: next(row["bytes"] for row in report["at_peak"]["by_category"] if row["name"] == "optimizer_state") for name, report in reports.items()}
    assert states["adamw_8bit"] - states["paged_adamw_8bit"] == paged


def test_sample_without_seq_grows_with_its_images(tidemark, work):
    text = {"hidden_size": 2048, "intermediate_size": 4096, "num_hidden_layers": 2, "num_attention_heads": 16, "num_key_value_heads": 2, "vocab_size": 152000}
    (work / "config.json").write_text(json.dumps({"model_type": "qwen2_5_vl", "text_config": text, "vision_config": {"hidden_size": 1280, "out_hidden_size": 2048}}))
    question = ["predict", "config.json", "--images", "2", "--gpu", "h200", "--lora"]
    done = tidemark(*question, "--json", "grown.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((work / "grown.json").read_text())
    assert "a sample has 2962 tokens, 2450 of images and 512 of text" in report["assumptions"][0]["what"]
    assert tidemark(*question, "--seq", "2962", "--json", "said.json").returncode == 0
    assert json.loads((work / "said.json").read_text())["peak"] == report["peak"]
    refused(tidemark(*question, "--seq", "2048"), USAGE, "2048 tokens hold no images of 2450")


def test_model_is_not_known(tidemark, work):
    done = tidemark("predict", ".", "--gpu", "t4")
    assert done.returncode in (USAGE, UNSUPPORTED)
    assert done.stdout == "" and done.stderr.startswith("tidemark: ")


def test_misfit_names_changes_that_fit(tidemark, work):
    (work / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": 12}))
    question = ["predict", "config.json", "--gpu", "rtx-3060-12gb", "--memory", "6GiB"]
    sizes = {"--batch": "16", "--seq": "1024"}
    done = tidemark(*question, *(word for size in sizes.items() for word in size), "--json", "r.json")
    assert done.returncode == 1, done.stderr
    remedies = json.loads((work / "r.json").read_text())["remedies"]
    assert 1 <= len(remedies) <= 3 and done.stdout.count("  would fit: --") == len(remedies)
    for line, remedy in zip([line for line in done.stdout.splitlines() if "would fit: " in line], remedies):
        options = line.split("would fit: ")[1].rpartition(" (")[0].split()
        same = [word for size in sizes.items() if size[0] not in options for word in size]
        assert tidemark(*question, *same, *options, "--json", "again.json").returncode == 0, options
        assert json.loads((work / "again.json").read_text())["peak"]["device_bytes"] == remedy["device_bytes"]


@pytest.mark.parametrize(
    "config, told",
    [
        ({"model_type": "bert"}, "a sample has 512 tokens, the limit of the model (max_position_embeddings), not 1024"),
        ({"model_type": "clip_text_model"}, "a sample has 77 tokens, the limit of the model (max_position_embeddings), not 1024"),
        ({"model_type": "vit"}, "the model takes images alone, so seq changes nothing"),
    ],
)
def test_seq_that_a_model_cannot_take_is_replaced(tidemark, work, config, told):
    (work / "config.json").write_text(json.dumps(config))
    done = tidemark("predict", "config.json", "--gpu", "rtx-4090", "--seq", "1024", "--json", "long.json")
    assert done.returncode == 0, done.stderr
    assert f"assumed: {told}" in done.stdout
    usual = {"bert": ["--seq", "512"], "clip_text_model": ["--seq", "77"]}.get(config["model_type"], [])
    assert tidemark("predict", "config.json", "--gpu", "rtx-4090", *usual, "--json", "usual.json").returncode == 0
    peaks = [json.loads((work / name).read_text())["peak"] for name in ("long.json", "usual.json")]
    assert peaks[0] == peaks[1]


def test_method_is_named_in_the_report(tidemark, work):
    (work / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    done = tidemark("predict", "config.json", "--gpu", "rtx-4090", "--method", "trl-lora", "--lora-r", "4")
    assert done.returncode == 0, done.stderr
    assert "assumed: method trl-lora sets loop sft_trainer, " in done.stdout
    refused(tidemark("predict", "config.json", "--gpu", "rtx-4090", "--method", "qlroa"), USAGE, "did you mean qlora?")


def test_config_that_is_a_spec_is_read_as_one(tidemark, work):
    (work / "spec.yaml").write_text("model: {model_type: gpt2}\nbatch: 3\nseq: 256\n")
    as_config, as_spec = (tidemark("predict", *words, "--gpu", "h100-80gb", "--json", "-") for words in (["spec.yaml"], ["--spec", "spec.yaml"]))
    assert as_config.returncode == 0, as_config.stderr
    assert as_config.stdout == as_spec.stdout
    (work / "spec.yaml").write_text("model: {model_type: gpt2}\nbatch: 3\nsequence: 256\n")
    refused(tidemark("predict", "spec.yaml", "--gpu", "h100-80gb"), USAGE, "sequence")


@pytest.mark.parametrize("text, says", [("{", "not JSON"), ("[]", "expected a map"), ("{}", '"model_type" is missing'), ('{"model_type": "a", "model_type": "b"}', "given twice")])
def test_config_is_wrong(tidemark, work, text, says):
    (work / "bad.json").write_text(text)
    refused(tidemark("predict", "bad.json", "--gpu", "t4"), USAGE, "bad.json", says)


@pytest.mark.parametrize(
    "options, says",
    [
        (["--bacth", "3"], "did you mean --batch?"),
        (["--batch", "many"], '--batch: expected a whole number, found "many"'),
        (["--batch", "0"], "--batch: expected a number between 1 and 1048576, found 0"),
        (["--batch", "99999999999999999999"], "--batch"),
        (["--batch"], "--batch"),
        (["--batch", "1000000", "--seq", "1000000"], "more than 2^32 tokens"),
        (["--optimizer", "adamx"], "did you mean adamw?"),
        (["--image-size", "3x4x5"], "is not the size of an image"),
        (["--amsgrad", "--optimizer", "sgd"], "sgd has no such option"),
        (["--torch", "latest"], "is not a version"),
        (["--lora-r", "-1"], "--lora-r"),
        (["--json", "no/such/r.json"], "does not exist"),
        (["--events", "no/such/e.txt"], "does not exist"),
        (["--json", "-", "--csv", "-"], "cannot both go to stdout"),
        (["--spec", "none.yaml"], "none.yaml"),
    ],
)
def test_an_option_is_wrong(tidemark, work, options, says):
    refused(tidemark("predict", "config.json", "--gpu", "t4", *options), USAGE, says)


@pytest.mark.parametrize(
    "name, text, says",
    [
        ("s.yaml", "batch: 1\nbacth: 2\n", 's.yaml: line 2: "bacth" is not a known key\n  did you mean batch?'),
        ("s.yaml", "batch: 1\nseq: 2\nbatch: 3\n", 's.yaml: line 3: the key "batch" is given twice\n  it stands in line 1 already'),
        ("s.yaml", "batch: many\n", 's.yaml: line 1: batch: expected a whole number, found "many"'),
        ("s.yaml", "lora:\n  r: 0\n", "s.yaml: line 2: lora.r: expected a number between 1 and 65536, found 0"),
        ("s.yaml", "a: &x [1]\nb: *x\n", "anchors (&name) are not read"),
        ("s.yaml", "a: [1\n", "it is not YAML"),
        ("s.yaml", "- 1\n", "expected a map, found a list"),
        ("s.yaml", "torch: 2.11\n", "write it in quotes"),
        ("s.yaml", "model: none/config.json\n", "No such file"),
        ("s.json", '{"batch": 1,}', "it is not JSON: mistake in line 1"),
        ("s.json", '{"batch": 1, "batch": 2}', 'the key "batch" is given twice'),
        ("s.json", '{"batch": true}', "batch: expected a whole number, found true"),
        ("s.json", "[" * 100, "nested too deeply"),
    ],
)
def test_a_spec_file_is_wrong(tidemark, work, name, text, says):
    (work / name).write_text(text)
    refused(tidemark("predict", "--spec", name, "--gpu", "t4"), USAGE, says)


def test_paths_in_a_spec_file_start_at_its_folder(tidemark, work):
    (work / "specs").mkdir()
    (work / "specs" / "s.yaml").write_text("model: ../config.json\ngpu: t4\n")
    done = tidemark("predict", "--spec", "specs/s.yaml")
    assert "No such file" not in done.stderr
    refused(tidemark("predict", "--spec", "specs/s.yaml", "--gpu", "none.json"), USAGE, "none.json: cannot read")


def test_the_schema_knows_what_the_program_knows():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "reference" / "spec.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in ("full.json", "least.json"):
        validator.validate(json.loads((ROOT / "fuzz" / "corpus" / "spec_json" / name).read_text()))
    for wrong in ({"bacth": 1}, {"batch": 0}, {"optimizer": "adamx"}, {"lora": {"r": 0}}, {"freeze": "a"}):
        assert not validator.is_valid(wrong), wrong


def test_explain_reads_a_report(tidemark, work):
    (work / "r.json").write_text(json.dumps(REPORT))
    done = tidemark("explain", "r.json", "-d", "module,category", "-n", "3")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == REPORT["verdict"]
    assert "  by module: the report does not say" in lines
    assert any("parameters" in line and "1,073,741,824" in line and "100.0 %" in line for line in lines)


@pytest.mark.parametrize("options, says", [(["-d", "modul"], "did you mean module?"), (["-n", "0"], "--rows"), (["--batch", "3"], "it is a report already")])
def test_explain_refuses(tidemark, work, options, says):
    (work / "r.json").write_text(json.dumps(REPORT))
    refused(tidemark("explain", "r.json", *options), USAGE, says)


@pytest.mark.parametrize("command", ["models", "ops"])
def test_lists_are_json_too(tidemark, command):
    listed = json.loads(tidemark(command, "--json").stdout)
    assert len(tidemark(command).stdout.splitlines()) == len(listed) + 1


# A training that runs in milliseconds.
ZERO = ["--gpus", "2", "--parallel", "zero2"]
LLAMA = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 512}
ZERO3 = ["--gpus", "2", "--parallel", "zero3"]
MIXTRAL = {**LLAMA, "model_type": "mixtral", "num_key_value_heads": 2, "num_local_experts": 4}
EP = ["--gpus", "2", "--parallel", "ep"]
GPT2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128, "vocab_size": 512}
BERT = {"model_type": "bert", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 512}
VIT = {"model_type": "vit", "num_hidden_layers": 1}
BNB = {
    "quant_method": "bitsandbytes",
    "load_in_4bit": True,
    "load_in_8bit": False,
    "bnb_4bit_quant_type": "nf4",
    "bnb_4bit_use_double_quant": True,
    "bnb_4bit_compute_dtype": "bfloat16",
    "bnb_4bit_quant_storage": "uint8",
    "llm_int8_skip_modules": None,
    "llm_int8_threshold": 6.0,
}
IN_8BIT = {**BNB, "load_in_4bit": False, "load_in_8bit": True}


@pytest.fixture
def predict(tidemark, work):
    """predict({config}, options...) -> CompletedProcess"""

    def run(config, *options, gpu="h200"):
        (work / "config.json").write_text(json.dumps(config))
        return tidemark("predict", "config.json", "--gpu", gpu, *options)

    return run


def test_a_configuration_of_quantized_weights(predict, work):
    def peak(config, *options):
        done = predict(config, "--lora-r", "4", "--json", "report.json", *options)
        assert done.returncode == 0, done.stderr
        report = json.loads((work / "report.json").read_text())
        return report["peak"], " ".join(row["what"] for row in report["assumptions"])

    nf4 = ["--quantization-quant-type", "nf4", "--quantization-use-double-quant", "--quantization-compute-dtype", "bf16"]
    stored, said = peak({**LLAMA, "quantization_config": BNB})
    assert stored == peak(LLAMA, *nf4)[0] != peak(LLAMA)[0]
    assert "stored quantized by bitsandbytes" in said
    prepared = peak({**LLAMA, "quantization_config": BNB}, "--quantization-prepare")[0]
    assert prepared == peak(LLAMA, *nf4, "--quantization-prepare")[0] != stored
    in_8bit, said = peak({**LLAMA, "quantization_config": IN_8BIT})
    assert in_8bit == peak(LLAMA, "--quantization-load-in-8bit")[0] != stored
    assert "no activation reaches llm_int8_threshold, 6" in said


@pytest.mark.parametrize(
    "config, options, code, says",
    [
        ({"model_type": "lama"}, [], UNSUPPORTED, ["config.json: model_type", "did you mean llama?"]),
        ({**LLAMA, "attention_chunk_size": 64}, [], UNSUPPORTED, ["captured without attention_chunk_size, which is 64"]),
        ({**LLAMA, "quantization_config": {"quant_method": "gptq"}}, [], UNSUPPORTED, ["quantization_config = gptq"]),
        ({**LLAMA, "quantization_config": BNB}, [], USAGE, ["quantization: quantized weights are not trained", "set lora"]),
        ({**LLAMA, "quantization_config": {**BNB, "load_in_8bit": True}}, [], USAGE, ["load_in_4bit", "in 4 bits or in 8"]),
        ({**LLAMA, "quantization_config": {**IN_8BIT, "llm_int8_has_fp16_weight": True}}, [], UNSUPPORTED, ["llm_int8_has_fp16_weight", "stay fp16"]),
        ({**LLAMA, "quantization_config": {**BNB, "bnb_4bit_quant_type": "int4"}}, [], USAGE, ["bnb_4bit_quant_type: expected nf4 or fp4"]),
        ({**LLAMA, "quantization_config": {**BNB, "bnb_4bit_compute_dtype": "int8"}}, [], USAGE, ["bnb_4bit_compute_dtype: expected"]),
        ({**LLAMA, "rope_parameters": {"rope_type": "proportional"}}, [], UNSUPPORTED, ['rope_type is "proportional"']),
        ({**LLAMA, "rope_parameters": {"rope_type": "dynamic"}}, [], UNSUPPORTED, ['rope_type is "dynamic"']),
        ({**LLAMA, "rope_scaling": {"type": "longrope", "short_factor": [1]}}, [], UNSUPPORTED, ['rope_type is "longrope"']),
        ({**LLAMA, "rope_parameters": 3}, [], USAGE, ["rope_parameters", "expected a map"]),
        ({**LLAMA, "num_attention_heads": 7}, [], UNSUPPORTED, ["head_dim % 8 == 0 alone, and head_dim is 9"]),
        ({**LLAMA, "num_key_value_heads": 3}, [], USAGE, ["scaled_dot_product_attention does not take these tensors"]),
        ({**LLAMA, "head_dim": 15}, [], UNSUPPORTED, ["head_dim % 8 == 0 alone, and head_dim is 15"]),
        ({**LLAMA, "attention_dropout": 1}, [], UNSUPPORTED, ["attention_dropout == 0.0 alone"]),
        ({**LLAMA, "hidden_size": 2**62}, [], USAGE, ["hidden_size"]),
        (LLAMA, ["--images", "1"], USAGE, ["images: llama takes none"]),
        (LLAMA, ["--head", "masked_lm"], UNSUPPORTED, ["the program of llama is trained for causal_lm"]),
        (LLAMA, ["--head", "sequence_classification", "--batch", "2"], UNSUPPORTED, ["pad_token_id >= 0 alone"]),
        (LLAMA, [*ZERO, "--dtype", "fp32"], UNSUPPORTED, ["dtype", "set dtype to bf16"]),
        (LLAMA, [*ZERO, "--max-grad-norm", "1"], UNSUPPORTED, ["max_grad_norm", "set zero.gradient_clipping"]),
        (LLAMA, [*ZERO, "--optimizer", "sgd"], UNSUPPORTED, ["optimizer", "AdamW and Adam"]),
        (LLAMA, [*ZERO, "--no-zero-contiguous-gradients", "--zero-overlap-comm"], UNSUPPORTED, ["zero.overlap_comm"]),
        (LLAMA, ["--gpus", "2", "--parallel", "zero4"], USAGE, ["zero4", "zero3"]),
        (LLAMA, [*ZERO, "--zero-sub-group-size", "1000"], UNSUPPORTED, ["zero.sub_group_size", "zero3"]),
        (LLAMA, [*ZERO, "--zero-offload-param", "cpu"], UNSUPPORTED, ["zero.offload_param", "zero3"]),
        (LLAMA, ["--gpus", "2", "--parallel", "zero3", "--no-zero-use-multi-rank-bucket-allreduce"], UNSUPPORTED, ["zero.use_multi_rank_bucket_allreduce", "zero2"]),
        ({**MIXTRAL, "router_jitter_noise": 0.1}, ZERO3, UNSUPPORTED, ["router_jitter_noise == 0.0 alone"]),
        (MIXTRAL, [*ZERO3, "--train-only", "mlp.gate"], UNSUPPORTED, ["freeze", "nothing in front of a sparse block is trained"]),
        ({**LLAMA, "model_type": "olmoe", "num_experts": 4, "num_experts_per_tok": 2}, ZERO3, UNSUPPORTED, ["OlmoeForCausalLM", "zero2 is known with every model"]),
        (LLAMA, ["--gpus", "6", "--parallel", "ddp", "--gpus-per-node", "4"], USAGE, ["gpus_per_node: 6 GPUs are not nodes of 4"]),
        (LLAMA, ["--gpus", "2", "--parallel", "ddp", "--rank", "1", "--all-ranks"], USAGE, ["--all-ranks", "--rank"]),
        (LLAMA, ["--gpus", "2", "--parallel", "ddp", "--events", "e.txt", "--all-ranks"], USAGE, ["--events", "choose one with --rank"]),
        (LLAMA, EP, UNSUPPORTED, ["parallel", "the model has no experts"]),
        (MIXTRAL, ["--gpus", "3", "--parallel", "ep"], USAGE, ["ep.degree", "4 experts cannot be shared evenly by 3 ranks"]),
        (MIXTRAL, [*EP, "--ep-degree", "1"], UNSUPPORTED, ["ep.degree", "as many as there are GPUs"]),
        (MIXTRAL, ["--ep-degree", "2"], USAGE, ["ep", "set parallel to ep"]),
        (MIXTRAL, [*EP, "--experts-implementation", "eager"], UNSUPPORTED, ["experts_implementation", "run one by one"]),
        (MIXTRAL, [*EP, "--max-grad-norm", "1"], UNSUPPORTED, ["max_grad_norm"]),
        (MIXTRAL, [*EP, "--optimizer", "adafactor"], UNSUPPORTED, ["optimizer"]),
        (MIXTRAL, ["--experts-implementation", "sonicmoe"], USAGE, ["experts-implementation", "sonicmoe"]),
        (MIXTRAL, ["--moe-routing", "skewed:2"], USAGE, ["moe_routing", "0 to 1"]),
        (MIXTRAL, ["--lora-target-modules", "all-linear"], UNSUPPORTED, ["lora.target_modules", "q_proj"]),
        ({**MIXTRAL, "num_experts_per_tok": 5}, [], USAGE, ["torch.topk", "topk of 5 of 4"]),
        ({**MIXTRAL, "intermediate_size": 100}, [], USAGE, ["grouped_mm", "multiples of 16"]),
        ({**LLAMA, "model_type": "olmoe", "clip_qkv": 8.0}, [], UNSUPPORTED, ["clip_qkv"]),
        (LLAMA, ["--no-labels"], UNSUPPORTED, ["labels"]),
        (LLAMA, ["--freeze", "model,lm_head"], USAGE, ["freeze: nothing is left to train"]),
        (LLAMA, ["--lora-r", "8", "--lora-target-modules", "no_such"], USAGE, ["lora.target_modules", "nothing in the model is called"]),
        ({"model_type": "bloom"}, ["--attn", "sdpa"], UNSUPPORTED, ["the program of bloom does not hold for attention sdpa"]),
        ({"model_type": "bloom", "slow_but_exact": True, "pretraining_tp": 4}, [], UNSUPPORTED, ["slow_but_exact == false alone"]),
        ({"model_type": "gpt_neo", "num_layers": 12}, [], USAGE, ["attention_types", "it names 24 layers, and there are 12"]),
        ({"model_type": "gpt_bigcode", "add_cross_attention": True}, [], UNSUPPORTED, ["add_cross_attention == false alone"]),
        ({"model_type": "biogpt", "layerdrop": 0.1}, [], UNSUPPORTED, ["layerdrop == 0.0 alone"]),
        (VIT, ["--images", "2"], USAGE, ["images"]),
        (VIT, ["--image-size", "336"], UNSUPPORTED, ["vit takes images of one size"]),
        ({**VIT, "num_labels": 1}, [], UNSUPPORTED, ["num_labels > 1 alone"]),
        ({**VIT, "num_labels": 3, "id2label": {"0": "a", "1": "b"}}, [], USAGE, ["num_labels", "id2label names 2"]),
        ({**VIT, "patch_size": 225}, [], UNSUPPORTED, ["image_size % patch_size == 0 alone"]),
        ({"model_type": "llava", "vision_feature_layer": 99}, ["--images", "1"], UNSUPPORTED, ["vision_feature_layer == -2 alone"]),
        ({"model_type": "llava"}, ["--image-tokens", "576"], USAGE, ["image_tokens", "set images"]),
        ({"model_type": "llava"}, ["--images", "1", "--image-size", "224"], UNSUPPORTED, ["llava takes images of one size"]),
        ({"model_type": "llava"}, ["--images", "1", "--seq", "500"], USAGE, ["seq", "500 tokens", "576"]),
        ({"model_type": "llava", "text_config": {"model_type": 3}}, ["--transformers", "5.17.0"], UNSUPPORTED, ["text_config.model_type"]),
        ({"model_type": "llava", "text_config": {"num_attention_heads": 7}}, ["--transformers", "5.17.0"], UNSUPPORTED, ["text_config.head_dim"]),
        ({"model_type": "siglip"}, ["--images", "2"], USAGE, ["images", "one image per sample"]),
    ],
)
def test_what_the_real_model_refuses(predict, config, options, code, says):
    refused(predict(config, *options), code, *says)


@pytest.mark.parametrize("gpu", ["v100-16gb", "p100-16gb", "gtx-1080-ti"])
def test_a_card_without_kernels(predict, gpu):
    refused(predict(LLAMA, gpu=gpu), UNSUPPORTED, "gpu", "compute capability", "the lowest that it runs on is 7.5")


@pytest.mark.parametrize(
    "config, unread",
    [
        ({**LLAMA, "hiden_size": 64, "use_mrope": False}, "hiden_size, use_mrope"),
        ({"model_type": "clip", "text_config": {"image_size": 224}, "vision_config": {"max_position_embeddings": 77}}, "text_config.image_size, vision_config.max_position_embeddings"),
    ],
)
def test_keys_that_transformers_does_not_read_are_listed(predict, config, unread):
    done = predict(config)
    assert done.returncode == 0 and f"assumed: config.json: transformers does not read {unread}, so it changes nothing" in done.stdout, done.stderr


def test_config_json_is_read_as_python_writes_it(predict):
    """Python has a name where JSON has no number."""
    done = predict({**LLAMA, "time_step_limit": [0.0, float("inf")]})
    assert done.returncode == 0 and "does not read time_step_limit" in done.stdout, done.stderr


def test_labels_come_from_their_names(predict, work):
    peaks = set()
    for labels in ({"num_labels": 2000}, {"id2label": {str(i): f"L{i}" for i in range(2000)}}):
        assert predict({**VIT, **labels}, "--json", "r.json").returncode == 0
        peaks.add(json.loads((work / "r.json").read_text())["peak"]["allocated_bytes"])
    assert len(peaks) == 1


def test_config_json_says_what_the_model_is_trained_for(predict, work):
    peaks = []
    for keys, options in (({"architectures": ["LlamaForSequenceClassification"]}, []), ({}, ["--head", "sequence_classification"]), ({}, [])):
        assert predict({**LLAMA, "pad_token_id": 0, **keys}, *options, "--json", "r.json").returncode == 0
        peaks.append(json.loads((work / "r.json").read_text())["peak"]["allocated_bytes"])
    assert peaks[0] == peaks[1] < peaks[2]


def test_link_decides_what_nccl_takes(predict, work):
    device_bytes = []
    for link in ("pcie", "nvlink"):
        done = predict(LLAMA, "--gpus", "2", "--parallel", "ddp", "--link", link, "--json", "r.json")
        assert done.returncode == 0, done.stderr
        device_bytes.append(json.loads((work / "r.json").read_text())["peak"]["device_bytes"])
    assert device_bytes[0] != device_bytes[1]


def test_every_rank_and_the_one_that_holds_most(predict, work):
    options = ["--gpus", "5", "--parallel", "zero2", "--json", "r.json"]
    config = {**LLAMA, "vocab_size": 20001}
    done = predict(config, *options, "--all-ranks")
    assert done.returncode == 0, done.stderr
    together = json.loads((work / "r.json").read_text())
    alone = []
    for rank in range(5):
        assert predict(config, *options, "--rank", str(rank)).returncode == 0
        report = json.loads((work / "r.json").read_text())
        assert report["rank"] == {"rank": rank, "ranks": 5, "ranks_per_node": 5}
        alone.append(report["peak"])
    assert [row["peak"] for row in together["ranks"]] == alone
    assert len({peak["allocated_bytes"] for peak in alone}) > 1
    assert together["peak"]["reserved_bytes"] == max(peak["reserved_bytes"] for peak in alone)
    assert "pinned" not in done.stdout


def test_it_does_not_fit(predict, work):
    done = predict({**LLAMA, "vocab_size": 100000}, "--batch", "64", "--seq", "2048", "--memory", "4GiB", "--json", "r.json")
    assert done.returncode == 1
    oom = json.loads((work / "r.json").read_text())["oom"]
    assert oom["message"].startswith("CUDA out of memory. Tried to allocate ")
    assert (oom["step"], oom["phase"]) == (1, "forward")
    assert "lm_head" in oom["where"]


def test_windows_goes_on_beyond_the_card(predict, work):
    model, options = {**LLAMA, "vocab_size": 100000}, ("--batch", "64", "--seq", "2048", "--json", "r.json")
    assert predict(model, *options, "--memory", "4000GB").returncode == 0
    whole = json.loads((work / "r.json").read_text())["peak"]
    done = predict(model, *options, "--memory", "4GiB", "--windows")
    report = json.loads((work / "r.json").read_text())
    assert done.returncode == 1 and "Windows keeps in host memory" in report["verdict"] and report["oom"] is None
    assert report["peak"]["allocated_bytes"] == whole["allocated_bytes"] and report["card"]["wddm"] is True
    assert any("the desktop" in one["what"] for one in report["assumptions"])


def test_events_add_up(predict, work):
    assert predict(LLAMA, "--events", "e.txt", "--json", "r.json").returncode == 0
    live = peak = 0
    for line in (work / "e.txt").read_text().splitlines():
        change, op, module = line.split(" ", 2)
        assert change[0] in "+-" and op and module
        live += int(change)
        assert live >= 0
        peak = max(peak, live)
    assert peak == json.loads((work / "r.json").read_text())["peak"]["allocated_bytes"]


def test_tokens_past_the_learned_positions_are_an_assumption(predict):
    """transformers does not check them: on a card the lookup asserts, and what it allocates is the same."""
    done = predict(GPT2, "--seq", "129")
    assert done.returncode == 0, done.stderr
    assert "129 tokens are more than the 128 positions of the model (n_positions)" in done.stdout


def test_no_pattern_takes_long(predict):
    """(m*)*(o*)*… would keep a backtracking matcher busy for ages."""
    done = predict(LLAMA, "--lora-r", "8", "--lora-target-modules", "(m*)*(o*)*(d*)*(e|o|d|m)*x")
    refused(done, USAGE, "lora.target_modules", "no module of the model")
