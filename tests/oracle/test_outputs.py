"""The report's other forms, opened by the programs that people open them with: PyTorch's memory viewer, a browser."""

import json
import os
import pickle
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIDEMARK = os.environ.get("TIDEMARK_BIN", os.path.join(ROOT, "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", os.path.join(ROOT, ".venv/bin/python"))

PROGRAM = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model(torch.randn(256, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "train.py").write_text(PROGRAM)
    names = {"json": "r.json", "html": "r.html", "csv": "r.csv", "snapshot": "s.pickle"}
    options = [part for kind, name in names.items() for part in (f"--{kind}", str(folder / name))]
    done = subprocess.run([TIDEMARK, "run", "--gpu", "a100-80gb", "--keep-going", *options, "--", PYTHON, str(folder / "train.py")], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    allocated, reserved = map(int, re.search(r"peak (\d+) (\d+)", done.stdout).groups())
    report = json.loads((folder / "r.json").read_text())
    assert (report["peak"]["allocated_bytes"], report["peak"]["reserved_bytes"]) == (allocated, reserved)
    return folder, report


@pytest.mark.slow("PyTorch's memory viewer reads our snapshot")
def test_snapshot_opens_in_the_memory_viewer(outputs):
    folder, report = outputs
    with open(folder / "s.pickle", "rb") as file:
        snapshot = pickle.load(file)
    # The viewer's module needs nothing of torch, which does not import here if NVIDIA's libraries are missing.
    code = f"""
import importlib.util, pickle
folder = importlib.util.find_spec("torch").submodule_search_locations[0]
spec = importlib.util.spec_from_file_location("viz", folder + "/cuda/_memory_viz.py")
viz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viz)
snapshot = pickle.load(open({str(folder / "s.pickle")!r}, "rb"))
print(len(viz.trace_plot(snapshot)), len(viz.segment_plot(snapshot)), len(viz.segsum(snapshot)), len(viz.trace(snapshot)))
"""
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(int(length) > 100 for length in done.stdout.split())
    live, peak = {}, 0
    for event in snapshot["device_traces"][0]:
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"]
        elif event["action"] == "free_requested":
            live.pop(event["addr"])
        peak = max(peak, sum(live.values()))
    assert peak == report["peak"]["requested_bytes"]


def test_html_renders_in_a_browser(outputs):
    folder, report = outputs
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no chromium")
    profile = folder / "profile"
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
            "--virtual-time-budget=2000",
            "--dump-dom",
            f"file://{folder / 'r.html'}",
        ],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert report["verdict"].split(",")[0] in done.stdout
    assert "<canvas" in done.stdout
    for group in ("parameters", "gradients", "optimizer_state"):
        assert group in done.stdout
    assert not re.search(r"CONSOLE.*(Uncaught|Error)", done.stderr), done.stderr
    assert "http://" not in done.stdout, "the page is to be self-contained"


def test_csv_has_the_peak(outputs):
    folder, report = outputs
    assert str(report["peak"]["allocated_bytes"]) in (folder / "r.csv").read_text()
