"""The configurations of data/models against their index."""

import datetime
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "data/models"
INDEX = json.loads((FOLDER / "index.json").read_text())["configurations"]


def test_the_index_lists_every_file_and_no_other():
    assert {path.name for path in FOLDER.glob("*.json")} - {"index.json"} == INDEX.keys()


def test_a_name_stands_once_whatever_its_case():
    names = [name.lower() for row in INDEX.values() for name in row["names"]]
    assert len(names) == len(set(names)) > 250
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+", name) for name in names)


def test_the_page_says_how_many_names_there_are():
    (said,) = re.findall(r"those of (\d+) names", (ROOT / "docs/howto/hub-models.md").read_text())
    assert int(said) == sum(len(row["names"]) for row in INDEX.values())


def test_every_configuration_has_a_source_and_a_date():
    for file, row in INDEX.items():
        assert re.fullmatch(r"(github\.com/\S+@\w+: \S+|[\w-]+ [\d.]+: \S+|(tests|examples)/\S+).*", row["source"]), file
        assert datetime.date.fromisoformat(row["date"]) >= datetime.date(2026, 11, 29), file


def test_every_configuration_is_one_without_a_path():
    for file in INDEX:
        text = (FOLDER / file).read_text()
        assert json.loads(text)["model_type"], file
        assert not re.search(r'"(/|~|\w:)', text), file


def incomplete(config):
    """Whether a model of several parts has the configuration of its language model alone, as some sources store it."""
    is_multimodal = config.get("architectures", [""])[0].endswith("ForConditionalGeneration") and "text_config" in config
    return is_multimodal and not {"vision_config", "audio_config"} & config.keys()


def test_no_multimodal_configuration_is_incomplete():
    assert [file for file in INDEX if incomplete(json.loads((FOLDER / file).read_text()))] == []
    assert incomplete({"architectures": ["Llama4ForConditionalGeneration"], "text_config": {}})


def test_the_data_stays_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000
