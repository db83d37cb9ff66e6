"""validate: corpora of every kind, one clear error for each mistake, runs that fail, bars that are missed.  No torch is needed: the script writes the report."""

import json
import pathlib

import pytest
from test_errors import USAGE, refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 1024}
SPEC = {"model": LLAMA, "batch": 2, "seq": 128}
GIB = 1 << 30


def row(**changes):
    return {"id": "a", "source": "here", "gpu": "t4", "metric": "reserved", "measured_bytes": GIB, "predict": SPEC, "run_reason": "no script", **changes}


@pytest.fixture
def work(folders):
    return folders / "work"


@pytest.fixture
def corpus(work):
    """corpus(rows, bars=[...], predictions=[...]) writes the folder `c`."""

    def write(*rows, predictions=None, **info):
        folder = work / "c"
        folder.mkdir(exist_ok=True)
        (folder / "corpus.json").write_text(json.dumps({"schema": "tidemark.corpus/1", "name": "c", **info}))
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        if predictions:
            (folder / "predictions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in predictions))
        return folder

    return write


def result_of(done, code=0):
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def predicted_reserved(tidemark):
    return json.loads(tidemark("predict", "--spec", "spec.json", "--gpu", "t4", "--json", "-").stdout)["peak"]["reserved_bytes"]


def test_predict_is_compared_with_what_was_measured(tidemark, corpus, work):
    (work / "spec.json").write_text(json.dumps(SPEC))
    reserved = predicted_reserved(tidemark)
    corpus(row(measured_bytes=reserved, out_of_memory=False), row(id="b", measured_bytes=2 * reserved), row(id="left", gpu=None, predict=None, run_reason=None, left_out="no batch size"))
    result = result_of(tidemark("validate", "c", "--engine", "predict", "--json", "-"))
    (engine,) = result["engines"]
    assert [r["error"] for r in engine["rows"]] == [0, -0.5]
    assert engine["all"]["statistics"]["under_predictions"] == 1
    assert [one["reason"] for one in result["left_out"]] == ["no batch size"]


def test_a_missed_bar_is_exit_code_1_and_named(tidemark, corpus):
    bar = {"engine": "predict", "statistic": "median", "limit": 0.1, "at": "most", "why": "we said so"}
    corpus(row(measured_bytes=100 * GIB), bars=[bar])
    done = tidemark("validate", "c")
    assert done.returncode == 1 and "c: predict median <= 10.00 %" in done.stdout and "MISSED  we said so" in done.stdout
    met = {**bar, "limit": 1}
    corpus(row(measured_bytes=100 * GIB), bars=[met])
    assert tidemark("validate", "c").returncode == 0
    assert "bar" not in tidemark("validate", "c", "--only", "a").stdout  # some of the rows say nothing of a bar


def test_stored_answers_are_compared_without_a_run(tidemark, corpus):
    corpus(row(predict=None, predict_reason="old torch", run={"script": "train.py"}, run_reason=None), predictions=[{"id": "a", "reserved_bytes": 2 * GIB}])
    done = tidemark("validate", "c", "--engine", "stored")
    assert done.returncode == 0 and "run, as stored: 1 rows predicted" in done.stdout and "100.00 %" in done.stdout


@pytest.mark.parametrize(
    "line, says",
    [
        ({"mesured_bytes": 1}, 'line 1: "mesured_bytes" is not a known key'),
        ({"gpu": "t5"}, 'line 1: gpu: there is no card "t5"'),
        ({"measured_bytes": "much"}, "line 1: measured_bytes: expected a whole number"),
        ({"metric": "reservd"}, "did you mean reserved?"),
        ({"n_gpus": 2}, "it says 1 GPUs, and the row 2"),
        ({"predict": {**SPEC, "bacth": 3}}, 'predict: "bacth" is not a known key'),
        ({"predict": {**SPEC, "gpu": "h200"}}, "it says the card h200, and the row t4"),
        ({"predict": {"batch": 3}}, "which model?"),
        ({"memory_bytes": 5}, "less than the driver, the CUDA context and libraries take"),
    ],
)
def test_bad_rows_are_refused_with_their_place(tidemark, corpus, line, says):
    corpus(row(**line))
    refused(tidemark("validate", "c"), USAGE, "c/rows.jsonl: line 1", says)


def test_bad_corpora_are_refused(tidemark, corpus, work):
    refused(tidemark("validate", "no-such-folder"), USAGE, "no-such-folder")
    (work / "empty").mkdir()
    refused(tidemark("validate", "empty"), USAGE, "corpus.json")
    (work / "notes.txt").write_text("hello")
    refused(tidemark("validate", "notes.txt"), USAGE, "it is no corpus")
    folder = corpus(row(), row())
    refused(tidemark("validate", "c"), USAGE, 'line 2: the id "a" is given twice')
    (folder / "rows.jsonl").write_text("{")
    refused(tidemark("validate", "c"), USAGE, "rows.jsonl: line 1: it is not JSON: mistake in line 1")
    corpus(row(), predictions=[{"id": "z"}])
    refused(tidemark("validate", "c"), USAGE, 'no row has the id "z"')


@pytest.mark.parametrize(
    "options, says",
    [
        (["--by", "familly"], "did you mean family?"),
        (["--engine", "runn"], "--engine"),
        (["--only", "zzz"], "no row that can be asked"),
        (["--update"], "nothing is run"),
        (["--json", "no/such/v.json"], "does not exist"),
        (["--html", "no/such/v.html"], "does not exist"),
        (["--rivls"], "did you mean --rivals?"),
    ],
)
def test_bad_options_are_refused(tidemark, corpus, options, says):
    corpus(row())
    refused(tidemark("validate", "c", *options), USAGE, says)


def test_what_predict_does_not_support_is_a_reason(tidemark, corpus):
    corpus(row(predict={**SPEC, "labels": False}))
    done = tidemark("validate", "c", "--left-out")
    assert done.returncode == 0 and "c a (predict): labels: " in done.stdout


def test_a_table_is_a_corpus(tidemark, work):
    (work / "config.json").write_text(json.dumps(LLAMA))
    (work / "mine.csv").write_text("metric,gpu,measured_mib,model,batch,seq\nreserved,t4,70,config.json,2,128\nallocated,t4,50.5,config.json,4,128\n")
    result = result_of(tidemark("validate", "mine.csv", "--json", "-", "--engine", "predict"))
    assert [r["id"] for r in result["engines"][0]["rows"]] == ["line 2", "line 3"]
    (work / "mine.csv").write_text("metric,gpu,measured_mib,modle\nreserved,t4,70,config.json\n")
    refused(tidemark("validate", "mine.csv"), USAGE, 'mine.csv: line 1: there is no column "modle"', "did you mean model?")


def test_a_table_can_name_spec_files(tidemark, work):
    (work / "specs").mkdir()
    (work / "specs" / "config.json").write_text(json.dumps(LLAMA))
    (work / "specs" / "small.yaml").write_text("model: config.json\nbatch: 2\nseq: 128\n")
    (work / "mine.csv").write_text("metric,gpu,measured_mib,spec,batch\nreserved,t4,70,specs/small.yaml,\nreserved,t4,70,specs/small.yaml,64\n")
    small, large = result_of(tidemark("validate", "mine.csv", "--json", "-", "--engine", "predict"))["engines"][0]["rows"]
    assert small["predicted_bytes"] < large["predicted_bytes"]


def test_a_card_can_be_a_file_beside_the_rows(tidemark, corpus):
    folder = corpus(row(gpu="my.json"))
    card = next(card for card in json.loads((ROOT / "data" / "gpus.json").read_text())["cards"] if card["key"] == "t4")
    (folder / "my.json").write_text(json.dumps({**card, "total_bytes": 9 * GIB}))
    result = result_of(tidemark("validate", "c", "--engine", "predict", "--json", "-"))
    assert result["engines"][0]["rows"][0]["card_bytes"] == 9 * GIB


def test_reports_are_corpora(tidemark, work):
    (work / "spec.json").write_text(json.dumps(SPEC))
    tidemark("predict", "--spec", "spec.json", "--gpu", "t4", "--json", "report.json")
    result = result_of(tidemark("validate", "report.json", "--spec", "spec.json", "--engine", "predict", "--json", "-"))
    assert [(r["metric"], r["error"]) for r in result["engines"][0]["rows"]] == [("allocated", 0), ("reserved", 0)]
    refused(tidemark("validate", "report.json"), USAGE, "it does not say what was trained", "--spec")


def test_snapshots_are_corpora(tidemark, work):
    snapshot = ROOT / "fuzz" / "corpus" / "torch_snapshot" / "training.pickle"
    (work / "spec.json").write_text(json.dumps({**SPEC, "gpu": "t4"}))
    result = result_of(tidemark("validate", snapshot, "--spec", "spec.json", "--engine", "predict", "--json", "-"))
    assert [r["metric"] for r in result["engines"][0]["rows"]] == ["allocated", "reserved"]
    (work / "spec.json").write_text(json.dumps(SPEC))
    refused(tidemark("validate", snapshot, "--spec", "spec.json"), USAGE, "does not say on which card")


def runnable(**changes):
    return row(predict=None, predict_reason="a program", run={"script": "train.py", "environment": "mine", **changes}, run_reason=None)


@pytest.fixture
def runs(corpus, ready, reporting, work, python):
    """A corpus with one row whose script reports one GiB, and the options that run it."""

    def write(code=0, oom="None", **changes):
        reporting(code=code, oom=oom, allocated=GIB - 512, reserved=GIB)
        corpus(runnable(**changes))
        (work / "train.py").rename(work / "c" / "train.py")
        return ["validate", "c", "--engine", "run", "--python", f"mine={python}"]

    return write


def test_scripts_are_run_and_their_answers_stored(tidemark, runs, work):
    done = tidemark(*runs(), "--update")
    assert done.returncode == 0, done.stderr
    assert "[1/1] a: +0.00 %" in done.stderr and "run: 1 rows predicted" in done.stdout
    (stored,) = map(json.loads, (work / "c" / "predictions.jsonl").read_text().splitlines())
    assert (stored["id"], stored["reserved_bytes"], stored["device_over_start_bytes"], stored["out_of_memory"]) == ("a", GIB, GIB, False)
    assert tidemark("validate", "c", "--engine", "stored").returncode == 0


def test_what_a_program_has_when_the_measuring_begins_is_left_out(tidemark, runs, work):
    assert tidemark(*runs(start_arguments=["--until-first-batch"]), "--update").returncode == 0
    (stored,) = map(json.loads, (work / "c" / "predictions.jsonl").read_text().splitlines())
    assert (stored["reserved_bytes"], stored["in_use_at_start_bytes"], stored["device_over_start_bytes"]) == (GIB, GIB, 0)
    assert (stored["lowest_bytes"], stored["highest_bytes"]) == ({"device_over_start": 0}, {"device_over_start": GIB})


def test_out_of_memory_is_an_answer(tidemark, runs, oom_record):
    result = result_of(tidemark(*runs(code=1, oom=f"json.loads({oom_record!r})"), "--json", "-"))
    assert result["engines"][0]["rows"][0]["predicted_out_of_memory"] is True


def test_a_run_that_fails_is_named_and_exit_code_1(tidemark, runs, work):
    done = tidemark(*runs(code=7))
    assert done.returncode == 1 and "exit code 7" in done.stdout and "run: 0 rows predicted" in done.stdout


def test_what_a_run_needs_is_asked_for_before_the_first(tidemark, runs, corpus, work):
    options = runs()
    refused(tidemark(*options[:4]), USAGE, 'the environment "mine" is not there: TIDEMARK_PYTHON_MINE does not name a Python', "--python mine=PATH")
    corpus(runnable(), environments={"mine": {"python": "MY_PYTHON", "requirements": "torch 2.6.0", "variables": {"PYTHONPATH": "MY_LIBRARIES"}}})
    refused(tidemark(*options), USAGE, "MY_LIBRARIES is not set", "it has torch 2.6.0")
    (work / "c" / "train.py").unlink()
    refused(tidemark(*options), USAGE, "train.py is not there", "run.script")


def test_the_page_is_one_file(tidemark, corpus, work):
    corpus(row())
    assert tidemark("validate", "c", "--html", "v.html").returncode == 0
    page = (work / "v.html").read_text()
    assert '<div id="scatter"></div>' in page and '"engines":[{' in page and "http://" not in page and "https://" not in page


def test_results_follow_the_schema(tidemark, corpus):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "reference" / "validation.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    corpus(row(estimates={"x": 5}), bars=[{"engine": "predict", "statistic": "max", "limit": 0.1}])
    for options in (["validate", "c"], ["validate", ROOT / "validation" / "xmem", "--engine", "stored", "--by", "model,gpu"]):
        jsonschema.Draft202012Validator(schema).validate(json.loads(tidemark(*options, "--json", "-").stdout))


def test_corpora_follow_their_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "reference" / "measurements.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)

    def check(part, value):
        jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{part}"}).validate(value)

    for folder in (path.parent for path in (ROOT / "validation").glob("*/corpus.json")):
        check("corpus", json.loads((folder / "corpus.json").read_text()))
        for part, name in (("row", "rows.jsonl"), ("prediction", "predictions.jsonl")):
            for line in (folder / name).read_text().splitlines() if (folder / name).exists() else []:
                check(part, json.loads(line))
