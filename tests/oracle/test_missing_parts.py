"""A part of the extension that an unknown torch does not compile or load costs its feature, and never the run (virtual_gpu/torch_extension)."""

import dataclasses
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import PYTHON, TIDEMARK

pytestmark = pytest.mark.oracle

PROGRAM = """
import gc, os, torch
print("extension", os.environ["TIDEMARK_TORCH_EXTENSION"])
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU(), torch.nn.Linear(512, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    ballast = torch.empty(4 << 20, device="cuda") if step == 1 else None
    model(torch.randn(64, 512, device="cuda")).sum().backward()
    del ballast
    optimizer.step()
    optimizer.zero_grad()
    print("seen", torch.cuda.max_memory_allocated(), torch.cuda.memory_stats()["reserved_bytes.all.peak"])
    if step == 2:
        torch.cuda.reset_peak_memory_stats()
"""
WITHOUT = {
    "assumptions": "the report does not list what had to be assumed",
    "blame": "the report names no operation and no line of the program",
    "events": "the peaks are those of PyTorch's own counters",
    "host_memory": "host memory is not counted",
    "integers": "integers on the card are zeros",
    "replay": "no interval of what addresses in another order would give",
}


@dataclasses.dataclass
class Finished:
    report: dict
    output: str
    errors: str

    @property
    def seen(self):
        """What the program itself was told."""
        return [line for line in self.output.splitlines() if line.startswith("seen")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole"))


def run(folder, **changes):
    (folder / "program.py").write_text(PROGRAM)
    command = [TIDEMARK, "run", "--gpu", "a100-80gb", "--keep-going", "--json", folder / "report.json", "--", PYTHON, folder / "program.py"]
    done = subprocess.run(command, env={**os.environ, "TIDEMARK_EXTENSIONS": "", **changes}, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return Finished(json.loads((folder / "report.json").read_text()), done.stdout, done.stderr)


@pytest.fixture
def run_without(whole, tmp_path):
    """As the launcher leaves things when `part` does not compile (tests/cli/test_errors.py: test_compiler_fails)."""

    def start(part, damage):
        extension = Path(whole.output.split("extension ")[1].splitlines()[0])
        copy = tmp_path / "cache" / "tidemark" / extension.parent.name / extension.name
        shutil.copytree(extension.parent, copy.parent, symlinks=True)
        damage(copy, part)
        return run(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))

    return start


def not_compiled(extension, part):
    (extension / f"{part}.so").unlink()
    with open(extension / f"{part}.without", "a") as file:
        file.write("new.cpp does not compile: new.h:1: error: no such thing\n")


def not_loadable(extension, part):
    (extension / f"{part}.so").write_bytes(b"\x7fELF of another machine")


def check_peaks(one, whole):
    assert {key: one.report["peak"][key] for key in ("allocated_bytes", "reserved_bytes", "step", "phase")} == {key: whole.report["peak"][key] for key in ("allocated_bytes", "reserved_bytes", "step", "phase")}
    assert one.seen == whole.seen and len(one.seen) == 4


@pytest.mark.slow("each part of the extension missing, one at a time; it is compiled for that")
@pytest.mark.parametrize("part", WITHOUT)
def test_what_does_not_compile(run_without, whole, part):
    one = run_without(part, not_compiled)
    check_peaks(one, whole)
    assert f"tidemark: for torch {whole.report['versions']['torch'].split('+')[0]}, new.cpp does not compile: new.h:1: error: no such thing: {WITHOUT[part]}" in one.errors
    assert any(row["what"].startswith(WITHOUT[part]) and "new.cpp does not compile" in row["what"] for row in one.report["assumptions"])


@pytest.mark.slow("parts that do not load")
def test_what_does_not_load(run_without, whole):
    one = run_without("blame", not_loadable)
    check_peaks(one, whole)
    assert WITHOUT["blame"] in one.errors and any(row["what"].startswith(WITHOUT["blame"]) for row in one.report["assumptions"])
    assert [row["name"] for row in one.report["at_peak"]["by_operation"]] == ["(no operation)"]


@pytest.mark.slow("a report by counters alone")
def test_steps_and_phases_from_counters(run_without, whole):
    """The same table: every phase's peak, every step's."""
    one = run_without("events", not_compiled)
    rows = lambda report: [{**step, "phases": [phase for phase in step["phases"] if phase["phase"] != "other"]} for step in report["steps"][:4]]
    assert rows(one.report) == rows(whole.report)
    assert "timeline" not in one.report or not one.report["timeline"]
