"""Models by their name on the hub, and versions of the active environment: found without a network, and said in the report."""

import json
import os
import re
import sys

import pytest
from test_errors import USAGE, refused

LLAMA = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 512}

# What huggingface_hub raises, by the names that matter; it leaves a file behind when it is asked.
FAKE_HUB = """
import pathlib
class HfHubHTTPError(Exception): pass
class RepositoryNotFoundError(HfHubHTTPError): pass
class GatedRepoError(RepositoryNotFoundError): pass
class EntryNotFoundError(HfHubHTTPError): pass
class LocalEntryNotFoundError(EntryNotFoundError, FileNotFoundError): pass
def hf_hub_download(name, file):
    pathlib.Path(__file__).with_name("asked").write_text(name + " " + file)
    {what}
"""


@pytest.fixture
def cached(folders):
    """cached(name, config): as huggingface_hub lays it down."""

    def make(name, config=LLAMA, cache=folders / "home" / ".cache" / "huggingface" / "hub"):
        model = cache / ("models--" + name.replace("/", "--"))
        (model / "refs").mkdir(parents=True)
        (model / "refs" / "main").write_text("0123abcd")
        (model / "blobs").mkdir()
        (model / "blobs" / "1").write_text(json.dumps(config))
        (model / "snapshots" / "0123abcd").mkdir(parents=True)
        (model / "snapshots" / "0123abcd" / "config.json").symlink_to("../../blobs/1")
        return model / "snapshots" / "0123abcd" / "config.json"

    return make


@pytest.fixture
def fake_hub(folders):
    """fake_hub("raise GatedRepoError('no')"): the huggingface_hub of the active environment; returns the file that says it was asked."""

    def make(what):
        (folders / "env" / "bin").mkdir()
        (folders / "env" / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
        package = folders / "site" / "huggingface_hub"
        package.mkdir()
        (package / "__init__.py").write_text(FAKE_HUB.format(what=what))
        return package / "asked"

    return make


@pytest.fixture
def installed(folders):
    """installed("torch-2.11.0"): an environment that has it."""

    def make(*packages):
        for package in packages:
            (folders / "env" / "lib" / "python3.11" / "site-packages" / f"{package}.dist-info").mkdir(parents=True)

    return make


def report_of(done, work):
    assert done.returncode == 0, done.stderr
    return json.loads((work / "r.json").read_text())


@pytest.fixture
def work(folders):
    return folders / "work"


def test_a_cached_model_is_found_by_its_name(tidemark, cached, work):
    path = cached("meta-llama/Llama-3.1-8B")
    report = report_of(tidemark("predict", "meta-llama/Llama-3.1-8B", "--gpu", "t4", "--json", "r.json"), work)
    assert report["sources"]["model"] == str(path)
    (work / "s.yaml").write_text("model: meta-llama/Llama-3.1-8B\ngpu: t4\n")
    assert report_of(tidemark("predict", "--spec", "s.yaml", "--json", "r.json"), work)["sources"]["model"] == str(path)


@pytest.mark.parametrize("variable, folder", [("HF_HOME", "hf"), ("HF_HUB_CACHE", "hf/hub")])
def test_the_cache_is_where_the_environment_says(tidemark, cached, work, variable, folder):
    path = cached("gpt2", cache=work / "hf" / "hub")
    report = report_of(tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json", **{variable: str(work / folder)}), work)
    assert report["sources"]["model"] == str(path)


def test_a_file_wins_over_a_name(tidemark, cached, work):
    cached("gpt2")
    (work / "gpt2").mkdir()
    (work / "gpt2" / "config.json").write_text(json.dumps(LLAMA))
    assert "model" not in report_of(tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json"), work)["sources"]


@pytest.mark.parametrize("options, changes", [(["--offline"], {}), ([], {"HF_HUB_OFFLINE": "1"}), ([], {"TRANSFORMERS_OFFLINE": "true"})])
def test_offline_nothing_is_asked(tidemark, cached, fake_hub, options, changes):
    cached("org/model-8B")
    asked = fake_hub("raise RuntimeError")
    done = tidemark("predict", "org/model-8b", *options, "--gpu", "t4", **changes)
    refused(done, USAGE, "no model of that name in the Hugging Face cache", "did you mean org/model-8B?")
    assert not asked.exists()


def test_the_hub_is_asked_for_what_is_not_cached(tidemark, fake_hub, work):
    (work / "elsewhere.json").write_text(json.dumps(LLAMA))
    asked = fake_hub(f"return {str(work / 'elsewhere.json')!r}")
    report = report_of(tidemark("predict", "org/model", "--gpu", "t4", "--json", "r.json"), work)
    assert report["sources"]["model"] == str(work / "elsewhere.json")
    assert asked.read_text() == "org/model config.json"


@pytest.mark.parametrize(
    "what, says",
    [
        ("raise GatedRepoError('403')", ["granted access", "hf auth login"]),
        ("raise RepositoryNotFoundError('404')", ["the hub has no such model"]),
        ("raise EntryNotFoundError('404')", ["no config.json"]),
        ("raise LocalEntryNotFoundError('cannot reach the host')", ["the hub was not reached", "cannot reach the host"]),
        ("raise ConnectionError('cannot reach the host')", ["the hub was not reached", "cannot reach the host"]),
    ],
)
def test_why_the_hub_does_not_answer(tidemark, fake_hub, what, says):
    fake_hub(what)
    refused(tidemark("predict", "org/model", "--gpu", "t4"), USAGE, "org/model", *says)


def test_without_huggingface_hub_the_cache_alone_is_asked(tidemark):
    refused(tidemark("predict", "org/model", "--gpu", "t4"), USAGE, "org/model: no such file or folder", "pip install huggingface_hub")


BUNDLED = ("predict", "HuggingFaceTB/SmolLM2-135M", "--gpu", "t4", "--json", "r.json")


def test_a_bundled_model_answers_without_a_network(tidemark, work):
    done = tidemark("predict", "Qwen/Qwen2.5-VL-7B-Instruct", "--gpu", "4090", "--method", "qlora", "--json", "r.json")
    report = report_of(done, work)
    assert report["fits"] and report["sources"]["model"].startswith("bundled, of ")
    assert any(re.fullmatch(r"the configuration of Qwen/Qwen2.5-VL-7B-Instruct is the bundled one of 20\d\d-\d\d-\d\d, not the hub's", one["what"]) for one in report["assumptions"])
    assert "  assumed: the configuration of Qwen/Qwen2.5-VL-7B-Instruct is the bundled one of " in done.stdout


@pytest.mark.parametrize("name", ["SmolLM2-135M", "smollm2-135m", "huggingfacetb/smollm2-135m"])
def test_bundled_names_need_no_owner_and_no_case(tidemark, work, name):
    report = report_of(tidemark("predict", name, *BUNDLED[2:]), work)
    assert report["peak"] == report_of(tidemark(*BUNDLED), work)["peak"]


def test_a_cached_model_wins_over_a_bundled_one(tidemark, cached, work):
    path = cached("HuggingFaceTB/SmolLM2-135M")
    assert report_of(tidemark(*BUNDLED), work)["sources"]["model"] == str(path)


def test_the_hub_wins_over_a_bundled_model(tidemark, fake_hub, work):
    (work / "elsewhere.json").write_text(json.dumps(LLAMA))
    fake_hub(f"return {str(work / 'elsewhere.json')!r}")
    assert report_of(tidemark(*BUNDLED), work)["sources"]["model"] == str(work / "elsewhere.json")


@pytest.mark.parametrize("what", ["raise GatedRepoError('403')", "raise LocalEntryNotFoundError('cannot reach the host')", "raise ConnectionError('cannot reach the host')"])
def test_a_bundled_model_answers_where_the_hub_does_not(tidemark, fake_hub, work, what):
    asked = fake_hub(what)
    assert report_of(tidemark(*BUNDLED), work)["sources"]["model"].startswith("bundled, of ")
    assert asked.exists()


def test_a_misspelt_bundled_name_is_corrected(tidemark):
    refused(tidemark("predict", "HuggingFaceTB/SmolLM2-135N", "--gpu", "t4"), USAGE, "did you mean HuggingFaceTB/SmolLM2-135M?")


def test_bundled_names_are_listed(tidemark):
    rows = json.loads(tidemark("models", "--bundled", "--json").stdout)
    assert {"name": "HuggingFaceTB/SmolLM2-135M", "date": "2026-11-29", "source": "litgpt 0.5.13: litgpt/config.py; tied embeddings by the model's report"} in rows
    assert [line.split()[0] for line in tidemark("models", "--bundled").stdout.splitlines()[1:]] == [row["name"] for row in rows]


def about_versions(report):
    return [one["what"] for one in report["assumptions"] if one["what"].startswith(("torch ", "transformers "))]


def test_versions_are_those_of_the_active_environment(tidemark, cached, installed, work):
    cached("gpt2")
    installed("torch-2.11.0+cu130", "transformers-5.17.0")
    done = tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json")
    report = report_of(done, work)
    assert (report["versions"]["torch"], report["versions"]["transformers"]) == ("2.11.0", "5.17.0")
    assert report["sources"]["torch"] == report["sources"]["transformers"] == f"of {work.parent / 'env'}"
    assert about_versions(report) == []
    assert f"torch 2.11.0 (of {work.parent / 'env'})" in done.stdout


@pytest.mark.parametrize("sees, torch", [("true", "2.11.0"), ("false", "the default")])
def test_an_environment_may_see_the_packages_below(tidemark, cached, installed, folders, work, sees, torch):
    """As in images whose torch is the system's: python3 -m venv --system-site-packages."""
    cached("gpt2")
    installed("transformers-5.17.0")
    (folders / "env" / "pyvenv.cfg").write_text(f"home = {folders / 'below' / 'bin'}\ninclude-system-site-packages = {sees}\nversion = 3.11.2\n")
    for package in ("torch-2.11.0", "transformers-5.0.0"):
        (folders / "below" / "lib" / "python3" / "dist-packages" / f"{package}.dist-info").mkdir(parents=True)
    report = report_of(tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json"), work)
    assert report["versions"]["transformers"] == "5.17.0"
    assert report["versions"]["torch"] == torch if sees == "true" else report["sources"]["torch"] == torch


def test_without_an_environment_the_default_releases_are_followed(tidemark, cached, work):
    cached("gpt2")
    report = report_of(tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json"), work)
    assert report["sources"]["torch"] == report["sources"]["transformers"] == "the default"


@pytest.mark.parametrize("torch, which", [("99.1.0", "the newest"), ("99.1.0.dev20300101+cu990", "the newest"), ("1.13.1", "the nearest")])
def test_an_unknown_release_is_predicted_as_a_known_one_and_says_so(tidemark, cached, installed, work, torch, which):
    cached("gpt2")
    installed(f"torch-{torch}")
    report = report_of(tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json"), work)
    [assumption] = about_versions(report)
    assert assumption == f"torch {torch} has not been compared with predictions: it is taken for {report['versions']['torch']}, {which} that has"


def test_an_option_decides_over_the_environment(tidemark, cached, installed, work):
    cached("gpt2")
    installed("torch-99.1.0", "transformers-99.0.0")
    report = report_of(tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json", "--torch", "2.11.0", "--transformers", "5.17.0"), work)
    assert about_versions(report) == [] and report["versions"]["torch"] == "2.11.0"
    assert not {"torch", "transformers"} & report["sources"].keys()


def test_a_package_that_is_installed_twice_says_nothing(tidemark, cached, installed, work):
    cached("gpt2")
    installed("torch-2.11.0", "torch-2.6.0")
    assert report_of(tidemark("predict", "gpt2", "--gpu", "t4", "--json", "r.json"), work)["sources"]["torch"] == "the default"
