"""tidemark.predict and tidemark.plan: the command's answers, in this process."""

import json
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import tidemark
from tidemark import core

ROOT = Path(__file__).resolve().parents[2]
TEXT = {"seq": 1024, "gpu": "h100-80gb"}
QUESTIONS = {
    "a Llama of 8 billion": ("llama-3.1-8b", {**TEXT, "batch": 1}),
    "checkpointed": ("llama-3.1-8b", {**TEXT, "batch": 8, "checkpointing": "non_reentrant"}),
    "LoRA": ("llama-3.1-8b", {**TEXT, "batch": 4, "lora": {"r": 16, "alpha": 32, "dropout": 0.05}}),
    "LoRA as it is": ("llama-3.1-8b", {**TEXT, "batch": 4, "lora": {}}),
    "more than the card has": ("llama-3.1-8b", {"seq": 512, "gpu": "rtx-4090", "batch": 2}),
    "ZeRO-2": ("tinyllama-1.1b-chat", {**TEXT, "gpus": 8, "parallel": "zero2", "rank": 3}),
    "Adafactor and accumulation": ("tinyllama-1.1b-chat", {**TEXT, "optimizer": "adafactor", "grad_accumulation": 4, "max_grad_norm": 1}),
    "autocast": ("tinyllama-1.1b-chat", {**TEXT, "dtype": "fp32", "autocast": "fp16", "grad_scaler": True}),
    "LLaVA's projector": ("llava-1.5-7b-hf", {**TEXT, "batch": 4, "images": 1, "train_only": ("multi_modal_projector",)}),
    "BERT": ("bert-base-uncased", {"gpu": "t4", "batch": 16, "seq": 128, "dtype": "fp32"}),
    "GPT-2 of another torch": ("gpt2", {"gpu": "l4", "batch": 4, "seq": 512, "torch": "2.12.0"}),
    "a part of a card": ("gpt2", {"gpu": "l40s", "memory": "30GiB", "batch": 8, "seq": 1024}),
}
GRANITE = {"model_type": "granite", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 8, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 49155}
SMALL = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 3200}


def asked_of_command(command, tmp_path, config, options, *words, what="predict"):
    """What `--json` writes."""
    (tmp_path / "spec.json").write_text(json.dumps({**options, "model": config}))
    done = command(what, "--spec", "spec.json", "--json", "answer.json", *words)
    assert done.returncode in (0, 1), done.stderr
    return (tmp_path / "answer.json").read_text()


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_commands_answer_to_the_byte(built, command, tmp_path, hub_configs, name):
    model, options = QUESTIONS[name]
    assert tidemark.predict(hub_configs[model], **options).to_json() == asked_of_command(command, tmp_path, hub_configs[model], options)
    assert core.is_in_process()


def test_generation_config_beside_config_is_read(built, command, tmp_path):
    folder, options = tmp_path / "model", {"gpu": "t4", "batch": 2, "seq": 64, "generate": 4}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(SMALL))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 2, 3], "repetition_penalty": 1.05}))
    assert tidemark.predict(folder, **options).to_json() == asked_of_command(command, tmp_path, str(folder), options)
    assert core.is_in_process()
    (folder / "generation_config.json").write_text(json.dumps({"num_beams": 4}))
    with pytest.raises(tidemark.Error, match="num_beams"):
        tidemark.predict(folder, **options)


NF4 = {"quant_type": "nf4", "use_double_quant": True, "compute_dtype": "bf16"}


@pytest.mark.parametrize(
    "short, long",
    [
        ({"lora": True}, {"lora": {}}),
        ({"lora": False}, {}),
        ({"checkpointing": True}, {"checkpointing": "non_reentrant"}),
        ({"checkpointing": False}, {"checkpointing": "none"}),
        ({"lora": True, "quantization": "nf4"}, {"lora": {}, "quantization": NF4}),
        ({"lora": True, "quantization": "int8"}, {"lora": {}, "quantization": {"load_in_8bit": True}}),
        ({"quantization": False}, {}),
    ],
)
def test_short_forms_of_keys(built, short, long):
    assert tidemark.predict(SMALL, gpu="t4", seq=128, **short).to_json() == tidemark.predict(SMALL, gpu="t4", seq=128, **long).to_json()


def test_nf4_is_what_the_method_qlora_sets(built):
    method = tidemark.predict(SMALL, gpu="t4", seq=128, method="qlora")
    assert tidemark.predict(SMALL, gpu="t4", seq=128, lora={"target_modules": "all-linear"}, quantization="nf4", checkpointing=True).peak == method.peak


def test_a_short_form_that_is_misspelt_is_an_error(built):
    with pytest.raises(tidemark.Error, match="quantization"):
        tidemark.predict(SMALL, gpu="t4", seq=128, lora=True, quantization="nf5")


def test_version_cards_and_models_are_listed(both_ways, command):
    assert tidemark.__version__ == command("version").stdout.split()[-1] == tidemark.predict(SMALL, gpu="t4", seq=8).versions.tidemark
    assert [card["key"] for card in tidemark.gpus()] == [card["key"] for card in json.loads(command("gpus", "--json").stdout)]
    assert tidemark.models() == json.loads(command("models", "--json").stdout)
    assert "Qwen/Qwen2.5-VL-7B-Instruct" in [row["name"] for row in tidemark.models(bundled=True)]


def test_a_captured_family(both_ways, command, tmp_path):
    # What is installed need not be the release that the programs are of, which is said.
    options = {"seq": 256, "batch": 2, "gpu": "h100-80gb", "transformers": "5.17.0", "torch": "2.11.0"}
    assert tidemark.predict(GRANITE, **options).to_json() == asked_of_command(command, tmp_path, GRANITE, options)


def test_ranks_and_margins(both_ways, command, tmp_path):
    options = {"seq": 128, "gpus": 4, "parallel": "fsdp2", "gpu": "h100-80gb"}
    report = tidemark.predict(SMALL, all_ranks=True, margin="p90", **options)
    assert report.to_json() == asked_of_command(command, tmp_path, SMALL, options, "--all-ranks", "--margin", "p90")
    assert len(report.ranks) == 4 and report.margin.quantile == "p90"


def test_without_a_library_the_command_answers(built, monkeypatch, hub_configs):
    model, options = QUESTIONS["LLaVA's projector"]
    here = tidemark.predict(hub_configs[model], **options)
    monkeypatch.setenv("TIDEMARK_CORE", "command")
    assert not core.is_in_process()
    assert tidemark.predict(hub_configs[model], **options).to_json() == here.to_json()


def test_no_library_and_something_else(built, monkeypatch, tmp_path):
    for text in (None, "not a library"):
        path = tmp_path / f"core-{text is None}.so"
        if text:
            path.write_text(text)
        monkeypatch.setenv("TIDEMARK_CORE", str(path))
        with pytest.raises(tidemark.Error, match="no library of Tidemark's"):
            tidemark.predict(SMALL, **TEXT)


def test_paths(built, command, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text(json.dumps(SMALL))
    asked = tidemark.predict(SMALL, **TEXT)
    for path in (tmp_path / "model", str(tmp_path / "model"), tmp_path / "model/config.json"):
        assert tidemark.predict(path, **TEXT).to_json() == asked.to_json()


def test_numbers_that_json_does_not_have(built):
    assert tidemark.predict({**SMALL, "rope_theta": 10000.0, "layer_norm_eps": float("inf")}, **TEXT).fits


def test_a_file_that_is_no_text(built, command, tmp_path):
    (tmp_path / "config.json").write_bytes(b'{"model_type": "ll\xffma"}')
    with pytest.raises(tidemark.Error) as found:
        tidemark.predict(tmp_path / "config.json", **TEXT)
    assert str(found.value) in command("predict", tmp_path / "config.json", "--seq", "1024", "--gpu", "h100-80gb").stderr


def test_a_trainers_own_file(built, command, tmp_path):
    """Which the command reads."""
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    (tmp_path / "training.yaml").write_text("model_name_or_path: config.json\nper_device_train_batch_size: 2\noutput_dir: out\nbf16: true\n")
    report = tidemark.predict(tmp_path / "training.yaml", seq=64, gpu="l4")
    assert command("predict", tmp_path / "training.yaml", "--seq", "64", "--gpu", "l4", "--json", "answer.json").returncode == 0
    assert report.to_json() == (tmp_path / "answer.json").read_text()


def test_a_card_in_a_file(both_ways, command, tmp_path):
    card = json.loads(json.dumps(next(one for one in json.loads((ROOT / "data/gpus.json").read_text())["cards"] if one["key"] == "l4")))
    card["total_bytes"] += 1 << 30
    (tmp_path / "mine.json").write_text(json.dumps(card))
    report = tidemark.predict(SMALL, seq=128, gpu=tmp_path / "mine.json")
    assert report.card.total_bytes == card["total_bytes"]
    assert report.to_json() == asked_of_command(command, tmp_path, SMALL, {"seq": 128, "gpu": str(tmp_path / "mine.json")})


def test_a_name_on_the_hub(built, monkeypatch, tmp_path):
    snapshot = tmp_path / "hub/models--some--model/snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text(json.dumps(SMALL))
    (tmp_path / "hub/models--some--model/refs").mkdir()
    (tmp_path / "hub/models--some--model/refs/main").write_text("abc")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    report = tidemark.predict("some/model", offline=True, **TEXT)
    assert report.peak.to_dict() == tidemark.predict(SMALL, **TEXT).peak.to_dict()
    assert report.sources.model == str(snapshot / "config.json")
    with pytest.raises(tidemark.Error) as found:
        tidemark.predict("some/modle", offline=True, **TEXT)
    assert str(found.value) == "some/modle: no such file or folder, and no model of that name in the Hugging Face cache\n  did you mean some/model?"


ERRORS = {
    "an option": ({"bach": 3}, 'unknown_name: "bach" is not a known key\n  did you mean batch?'),
    "an option of an option": ({"lora": {"rr": 3}}, 'unknown_name: lora: "rr" is not a known key\n  did you mean r?'),
    "a number": ({"batch": 0}, "bad_value: batch: expected a number between 1 and 1048576, found 0"),
    "a name": ({"optimizer": "adamv"}, None),
    "no card": ({"gpu": None}, None),
    "a card": ({"gpu": "h10-80gb"}, None),
    "a margin": ({"margin": "p0"}, None),
    "a product": ({"gpus": 3, "parallel": "ddp", "tp": {"degree": 2}}, None),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_the_commands(both_ways, command, tmp_path, name):
    wrong, text = ERRORS[name]
    with pytest.raises(tidemark.Error) as found:
        tidemark.predict(SMALL, **{**TEXT, **wrong})
    if text:
        assert f"{found.value.code}: {found.value}" == text
    margin = wrong.get("margin")
    keys = {key: value for key, value in {**TEXT, **wrong}.items() if value is not None and key != "margin"}
    (tmp_path / "spec.json").write_text(json.dumps({**keys, "model": SMALL}))
    said = command("predict", "--spec", "spec.json", *(["--margin", margin] if margin else [])).stderr
    assert found.value.message in said and found.value.message
    assert isinstance(found.value, ValueError) and pickle.loads(pickle.dumps(found.value)).hint == found.value.hint


def test_errors_in_a_file_name_its_line(built, command, tmp_path):
    (tmp_path / "config.json").write_text('{\n  "model_type": "llama",\n  "hidden_size": "wide"\n}\n')
    with pytest.raises(tidemark.Error) as found:
        tidemark.predict(tmp_path / "config.json", **TEXT)
    assert command("predict", tmp_path / "config.json", "--seq", "1024", "--gpu", "h100-80gb").stderr == f"tidemark: {found.value}\n"


@pytest.mark.parametrize("config", [3, None, object(), "nowhere.json", {"model_type": "no_such_family"}, {}, ["model_type"]])
def test_nothing_that_a_model_can_be_known_from(built, config):
    with pytest.raises(tidemark.Error):
        tidemark.predict(config, offline=True, **TEXT)


def test_threads_get_equal_answers(built, hub_configs):
    model, options = QUESTIONS["LLaVA's projector"]
    right = tidemark.predict(hub_configs[model], **options).to_json()
    found = []
    threads = [threading.Thread(target=lambda: found.extend(tidemark.predict(hub_configs[model], **options).to_json() for _ in range(4))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 24 and set(found) == {right}


def test_the_interpreter_goes_on_meanwhile(built, hub_configs):
    """While a thread predicts, this one counts: the lock is let go of."""
    options = {**TEXT, "batch": 1, "gpus": 8, "parallel": "zero3", "steps": 40}
    began, ended = threading.Event(), threading.Event()

    def ask():
        question = json.dumps({"spec": {**options, "model": hub_configs["llama-3.1-8b"]}})
        answer = core.answerer()
        began.set()
        try:
            answer("predict", question)
        finally:
            ended.set()

    thread = threading.Thread(target=ask)
    thread.start()
    began.wait()
    start, turns, longest, last = time.monotonic(), 0, 0.0, time.monotonic()
    while not ended.is_set():
        time.sleep(0.0005)
        now = time.monotonic()
        turns, longest, last = turns + 1, max(longest, now - last), now
    thread.join()
    whole = time.monotonic() - start
    assert turns >= 4 and longest < whole / 2, (turns, longest, whole)


def test_threads_are_inside_at_once(built, hub_configs):
    """A short question is answered while a long one still is."""
    began, ended = threading.Event(), threading.Event()
    long = json.dumps({"spec": {**TEXT, "batch": 1, "gpus": 8, "parallel": "zero3", "steps": 40, "model": hub_configs["llama-3.1-8b"]}})
    answer = core.answerer()

    def ask():
        began.set()
        try:
            answer("predict", long)
        finally:
            ended.set()

    short = json.dumps({"spec": {"model": SMALL, "seq": 16, "gpu": "l4"}})
    answer("predict", short)
    thread = threading.Thread(target=ask)
    thread.start()
    began.wait()
    time.sleep(0.01)
    assert answer("predict", short)[1] and not ended.is_set()
    thread.join()


def test_reports_show_themselves(built, tmp_path):
    report = tidemark.predict(SMALL, **TEXT)
    assert str(report) == report.verdict and report.text().startswith(report.verdict)
    assert "by category" in report.explain(by="category") and "<iframe srcdoc=" in report._repr_html_()
    assert report.category("parameters") > 0
    (tmp_path / "r.json").write_text(report.to_json())
    assert tidemark.Report.from_json(tmp_path / "r.json") == report
    with pytest.raises(tidemark.Error, match="modul"):
        report.explain(by="modul")


@pytest.mark.parametrize("table, column", [("timeline", "allocated_bytes"), ("steps", "peak_reserved_bytes"), ("category", "bytes"), ("module", "name"), ("operation", "name")])
def test_tables(built, table, column):
    pytest.importorskip("pandas")
    frame = tidemark.predict(SMALL, **TEXT).to_pandas(table)
    assert len(frame) > 0 and column in frame.columns
    if table == "timeline":
        categories = [name for name in frame.columns if name not in ("event", "allocated_bytes", "reserved_bytes", "step", "phase")]
        assert "activations_bytes" in categories and (frame[categories].sum(axis=1) == frame["allocated_bytes"]).all()


def test_no_such_table(built):
    pytest.importorskip("pandas")
    with pytest.raises(tidemark.Error, match='no table "modules"'):
        tidemark.predict(SMALL, **TEXT).to_pandas("modules")


def test_a_picture(built):
    class Axes:
        def __init__(self):
            self.calls = []

        def __getattr__(self, name):
            return lambda *values, **options: self.calls.append((name, values, options))

    axes = Axes()
    report = tidemark.predict(SMALL, **TEXT)
    assert report.plot(axes) is axes
    drawn = {options["label"]: values for name, values, options in axes.calls if name == "step"}
    assert list(drawn) == ["reserved"] and max(drawn["reserved"][1]) * 2**30 == report.peak.reserved_bytes
    (events, stacked), options = next((values, options) for name, values, options in axes.calls if name == "stackplot")
    assert options["labels"][:4] == ["parameters", "gradients", "optimizer state", "activations"] and len(events) == len(report.timeline)
    assert max(map(sum, zip(*stacked, strict=True))) * 2**30 == report.peak.allocated_bytes
    (line,) = [values[0] for name, values, _ in axes.calls if name == "axhline"]
    assert line * 2**30 == report.card.total_bytes


@pytest.mark.parametrize("wishes", [{}, {"goal": "least_memory", "fix": ["checkpointing"]}, {"largest": "batch"}, {"checkpointing_under": "card", "answers": 1}, {"allow": ["lora=8|16"], "goal": "pareto"}])
def test_plans_are_the_commands(both_ways, command, tmp_path, wishes):
    options = {"seq": 256, "batch": 8, "gpu": "l4"}
    words = [word for key, value in wishes.items() for word in (f"--{key.replace('_', '-')}", ",".join(value) if isinstance(value, list) else value)]
    plan = tidemark.plan(SMALL, **options, **wishes)
    assert plan.to_json() == asked_of_command(command, tmp_path, SMALL, options, *words, what="plan")
    assert str(plan) and repr(plan).startswith("<tidemark.Plan: ")


def test_the_cheapest_card(both_ways, command, tmp_path):
    (tmp_path / "prices.json").write_text('{"l4": 0.7, "h100-80gb": 2.5}')
    plan = tidemark.plan(SMALL, seq=256, batch=8, cheapest={"l4x2": 0.7, "h100-80gb": 2.5})
    words = ("--cheapest", "h100-80gb,l4x2", "--prices", "prices.json")
    assert plan.to_json() == asked_of_command(command, tmp_path, SMALL, {"seq": 256, "batch": 8}, *words, what="plan")


@pytest.mark.parametrize("wishes, stages", [({}, ["search"]), ({"goal": "least_memory"}, ["search"]), ({"largest": "batch"}, ["order", "largest", "search"]), ({"memory": "600MiB"}, ["search", "least"])])
def test_how_far_a_plan_is(built, wishes, stages):
    told, options = [], {"seq": 256, "batch": 8, "gpu": "l4x2", "fix": ["pipeline", "context_parallel", "offload", "attention", "allocator", "optimizer_impl"], **wishes}
    plan = tidemark.plan(SMALL, **options, progress=told.append)
    assert plan.to_json() == tidemark.plan(SMALL, **options).to_json()
    assert list(dict.fromkeys(now.stage for now in told)) == stages
    for stage in stages:
        of_it = [now for now in told if now.stage == stage]
        assert [now.decided for now in of_it] == sorted(now.decided for now in of_it) and len({now.candidates for now in of_it}) == 1
        assert of_it[0].decided == 0 and of_it[-1].decided == of_it[-1].candidates
    if plan.answers:
        assert (told[-1].candidates, told[-1].step_seconds, told[-1].peak_device_bytes) == (plan.candidates, plan.answers[0].step_seconds.estimate, plan.answers[0].peak.device_bytes)
    if "largest" in wishes:
        assert max(now.largest or 0 for now in told) == plan.largest.value


def test_who_is_told_may_end_a_plan(built):
    times = []

    def enough(now):
        times.append(now)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tidemark.plan(SMALL, seq=256, batch=8, gpu="l4x4", progress=enough)
    assert len(times) == 1 and tidemark.plan(SMALL, seq=256, batch=8, gpu="l4").answers


@pytest.mark.parametrize("wrong, text", [({"goal": "best"}, 'goal: "best" is not known'), ({"goal": "pareto", "largest": "seq"}, "four questions"), ({"gaol": "pareto"}, '"gaol" is not a known key')])
def test_wrong_plans(both_ways, wrong, text):
    with pytest.raises(tidemark.Error, match=text):
        tidemark.plan(SMALL, **TEXT, **wrong)


def test_options_are_the_specs(built):
    schema = json.loads((ROOT / "docs/reference/spec.schema.json").read_text())
    assert tidemark.options() == schema["properties"]


def test_the_types_are_current(built):
    sys.path.insert(0, str(ROOT / "tools"))
    import python_stub

    assert python_stub.STUB.read_text() == python_stub.stub(os.environ["TIDEMARK_BIN"]), "run tools/python_stub.py"
    compile(python_stub.STUB.read_text(), "stub", "exec")
    assert (ROOT / "python/tidemark/py.typed").exists()


WITH_TORCH = """
import sys
sys.path.insert(0, {package!r})
import torch, transformers, tidemark
config = transformers.LlamaConfig(hidden_size=512, intermediate_size=1024, num_hidden_layers=4, num_attention_heads=8, vocab_size=3200, pad_token_id=0)
options = dict(batch=2, seq=128, gpu="l4")
with torch.device("meta"):
    model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    classifier = transformers.LlamaForSequenceClassification(config)
folder = sys.argv[1]
model.config.save_pretrained(folder)
of_path = tidemark.predict(folder, **options)
assert tidemark.predict(config, **options).peak == of_path.peak
assert tidemark.predict(model, **options).peak == of_path.peak
heads = [tidemark.predict(one, **options).peak for one in (model, classifier)]
assert heads[1] == tidemark.predict(config, head="sequence_classification", dtype="fp32", **options).peak != heads[0]
eager = transformers.LlamaForCausalLM._from_config(config, attn_implementation="eager", dtype=torch.bfloat16)
assert tidemark.predict(eager, **options).peak == tidemark.predict(config, attn="eager", **options).peak

def refused(module, **changed):
    try:
        tidemark.predict(module, **options, **changed)
    except tidemark.Error as error:
        return str(error)
model.model.embed_tokens.requires_grad_(False)
assert "1 of the module's parameters are not trained, model.embed_tokens.weight first" in refused(model)
assert tidemark.predict(model, freeze=["embed_tokens"], **options).peak == tidemark.predict(config, freeze=["embed_tokens"], **options).peak
assert "does not say what its forward takes" in refused(torch.nn.Linear(2, 2))
classifier.gradient_checkpointing_enable()
assert "layers are checkpointed" in refused(classifier)
x = torch.zeros(2, 2, device="cuda", requires_grad=True)
try:
    raise RuntimeError("two C++ libraries in one process")
except RuntimeError:
    (x @ x).sum().backward()
print("all of it")
"""


@pytest.mark.oracle
def test_configurations_and_modules_beside_torch(built, tmp_path):
    """Where torch is imported: on the virtual GPU, as no NVIDIA library is there."""
    (tmp_path / "program.py").write_text(WITH_TORCH.format(package=str(ROOT / "python")))
    python = os.environ.get("TIDEMARK_PYTHON", sys.executable)
    done = subprocess.run([os.environ["TIDEMARK_BIN"], "run", "--gpu", "h100-80gb", "--quiet", "--keep-going", "--", python, tmp_path / "program.py", tmp_path], capture_output=True, text=True)
    assert "all of it" in done.stdout, done.stdout + done.stderr
