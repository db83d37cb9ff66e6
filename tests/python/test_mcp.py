"""`tidemark mcp`, asked by the client of the Model Context Protocol's own SDK."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tidemark

anyio = pytest.importorskip("anyio")
mcp = pytest.importorskip("mcp")

TIDEMARK = os.environ.get("TIDEMARK_BIN", str(Path(__file__).resolve().parents[2] / "build/release/apps/cli/tidemark"))
SMALL = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 3200}
LARGE = {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000}
ASKED = {"model": SMALL, "gpu": "t4", "seq": 256}
TOO_LARGE = {"model": LARGE, "gpu": "4090", "seq": 1024}
ANSWERED = {
    "predict": ("predict", ASKED),
    "plan": ("plan", ASKED),
    "explain": ("explain", {**ASKED, "by": "operation", "rows": 3}),
    "diff": ("diff", {"before": ASKED, "after": {**ASKED, "batch": 8, "options": {"loop": "sft_trainer"}}}),
    "too large": ("predict", TOO_LARGE),
}
# {name: (tool, arguments, code, a part of the text)}
MISTAKES = {
    "a key": ("predict", {**ASKED, "bach": 4}, "unknown_name", "did you mean batch?"),
    "no model": ("predict", {"gpu": "t4"}, "usage", "predict needs model"),
    "a type": ("predict", {**ASKED, "batch": "many"}, "bad_value", "batch"),
    "twice": ("predict", {**ASKED, "options": {"seq": 8}}, "usage", "seq: it stands in options, too"),
    "a family": ("predict", {**ASKED, "model": {"model_type": "none_such"}}, "unsupported", "none_such"),
    "no card": ("plan", {"model": SMALL}, "usage", "plan needs model and gpu"),
    "a file": ("diff", {"before": "/no/such/file", "after": ASKED}, "bad_value", "/no/such/file"),
    "a tool": ("forecast", {}, "unknown_name", "one of predict, plan, explain, diff"),
}


@pytest.fixture(scope="module", autouse=True)
def built():
    """The package finds the build."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_BIN", TIDEMARK)
        yield


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """One session of a client: the instructions, the tools, and the result of each call."""
    report = tmp_path_factory.mktemp("mcp") / "report.json"
    report.write_text(tidemark.predict(SMALL, gpu="t4", seq=256).to_json())
    calls = {**ANSWERED, "stored": ("diff", {"before": str(report), "after": ASKED}), **{name: mistake[:2] for name, mistake in MISTAKES.items()}}

    async def run():
        server = mcp.StdioServerParameters(command=TIDEMARK, args=["mcp"], env={**os.environ, "VIRTUAL_ENV": sys.prefix})
        async with mcp.Client(server, read_timeout_seconds=300) as client:
            return client.instructions, (await client.list_tools()).tools, {name: await client.call_tool(*call) for name, call in calls.items()}

    return anyio.run(run)


@pytest.fixture
def values(session):
    """values(name): the JSON that answers a call, as structured content and as text."""

    def read(name):
        result = session[2][name]
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    return read


def test_tools_have_typed_arguments_with_descriptions(session):
    instructions, tools, _ = session
    assert [tool.name for tool in tools] == ["predict", "plan", "explain", "diff"]
    assert instructions.startswith("# GPU memory of a training") and "name: tidemark" not in instructions
    for tool in tools:
        assert tool.description and tool.annotations.read_only_hint and tool.input_schema["additionalProperties"] is False
        assert all(key.keys() & {"type", "enum", "anyOf"} and key["description"] for key in tool.input_schema["properties"].values())
    assert tools[0].input_schema["properties"]["batch"] == tidemark.options()["batch"]


def test_predict_answers_the_reports_bytes(values):
    report, answer = tidemark.predict(SMALL, gpu="t4", seq=256), values("predict")
    assert (answer["verdict"], answer["fits"], answer["peak"]) == (report.verdict, True, report.peak.to_dict())
    assert answer["interval"]["low_bytes"] <= answer["peak"]["device_bytes"] <= answer["interval"]["high_bytes"]
    assert answer["assumptions"] == [one.what for one in report.assumptions]
    assert answer["next_step"].startswith("Run it.")


def test_plan_answers_with_a_change_to_run(values):
    answer = values("plan")
    assert answer["answers"][0]["peak"] == tidemark.plan(SMALL, gpu="t4", seq=256).to_dict()["answers"][0]["peak"]
    assert answer["answers"][0]["options"] in answer["next_step"]


def test_explain_lists_what_is_asked(values):
    assert "by operation" in values("explain")["text"] and values("explain")["peak"] == values("predict")["peak"]


def test_diff_compares_two_trainings(values):
    before, after = tidemark.predict(SMALL, gpu="t4", seq=256), tidemark.predict(SMALL, gpu="t4", seq=256, batch=8, loop="sft_trainer")
    bytes = {"before": before.peak.device_bytes, "after": after.peak.device_bytes}
    assert values("diff")["totals"]["device"] == bytes
    assert f"{bytes['after'] - bytes['before']:,} bytes more" in values("diff")["verdict"]


def test_diff_reads_a_stored_report(values):
    assert values("stored")["verdict"] == "the peaks are equal"


def test_an_answer_that_does_not_fit_names_changes(values):
    answer = values("too large")
    assert answer["fits"] is False and answer["verdict"].startswith("does not fit")
    first = answer["would_fit"][0]
    assert first["options"] in answer["next_step"]
    options = {key: value for key, value in TOO_LARGE.items() if key != "model"}
    assert tidemark.predict(LARGE, **{**options, **first["change"]}).peak.device_bytes == first["device_bytes"]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_error_result(session, name):
    _, _, code, says = MISTAKES[name]
    result = session[2][name]
    assert result.is_error and result.structured_content["error"]["code"] == code
    assert says in result.content[0].text and "Traceback" not in result.content[0].text


def test_the_server_ends_with_its_input():
    done = subprocess.run([TIDEMARK, "mcp"], stdin=subprocess.DEVNULL, env={**os.environ, "VIRTUAL_ENV": sys.prefix}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
