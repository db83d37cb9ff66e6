"""pytest: tests of how much GPU memory a training takes, which need no GPU.

    @pytest.mark.fits("h100-80gb")
    def test_finetuning(gpu_memory):
        report = gpu_memory.predict("config.json", batch=8, seq=4096, lora={"r": 16})   # fails where it does not fit
        gpu_memory.assert_not_raised(report)                                            # fails where it takes more than what is stored

`--gpu-memory-update` stores what is measured, in memory_snapshots/ beside the test's file.
"""

from __future__ import annotations

import json
import re
import warnings

import pytest

_PEAKS = ("allocated_bytes", "reserved_bytes", "device_bytes")


def pytest_addoption(parser):
    parser.getgroup("tidemark").addoption("--gpu-memory-update", action="store_true", help="store the memory that tests measure (tidemark), instead of comparing with what is stored")


def pytest_configure(config):
    config.addinivalue_line("markers", "fits(gpu, **options): what gpu_memory predicts or runs in this test fits on that card (tidemark); other options hold for each of its questions")


@pytest.fixture
def gpu_memory(request):
    """Predicts, and compares with what is stored; see tidemark.pytest_plugin."""
    return GpuMemory(request)


class GpuMemory:
    def __init__(self, request):
        marker = request.node.get_closest_marker("fits")
        self._must_fit = marker is not None
        self._options = {**({"gpu": marker.args[0]} if marker and marker.args else {}), **(marker.kwargs if marker else {})}
        self._node, self._updates = request.node, request.config.getoption("--gpu-memory-update")

    def predict(self, config, **options):
        """tidemark.predict on the card of the mark."""
        from . import predicting

        return self._judged(predicting.predict(config, **{**self._options, **options}))

    def run(self, command=None, **options):
        """tidemark.run on the card of the mark."""
        from . import api

        return self._judged(api.run(command, **{**self._options, **options}))

    def assert_not_raised(self, report, name="", *, by_bytes=0):
        """Fails where a peak of `report` is more than `by_bytes` above the stored one; `name` tells several of one test apart."""
        __tracebackhide__ = True
        path = self._path(name)
        found = _snapshot_of(report)
        if self._updates:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(found, indent=2) + "\n")
            return
        if not path.exists():
            pytest.fail(f"no memory is stored for this test: run pytest once with --gpu-memory-update, and commit {path}", pytrace=False)
        stored = json.loads(path.read_text())
        raised = [key for key in _PEAKS if found["peak"][key] > stored["peak"][key] + by_bytes]
        if raised:
            pytest.fail(_what_was_raised(stored, found, raised, path), pytrace=False)
        if any(found["peak"][key] < stored["peak"][key] for key in _PEAKS):
            warnings.warn(f"less memory than is stored in {path}: --gpu-memory-update stores it", stacklevel=2)

    def _judged(self, report):
        __tracebackhide__ = True
        if self._must_fit and report.fits is not True:
            pytest.fail(f"it does not fit: {report.verdict}\n{_largest(report)}", pytrace=False)
        return report

    def _path(self, name):
        test = re.sub(r"[^\w.-]+", "_", self._node.nodeid.rpartition("::")[2] if not name else f"{self._node.nodeid.rpartition('::')[2]}-{name}").strip("_")
        return self._node.path.parent / "memory_snapshots" / self._node.path.stem / f"{test}.json"


def _snapshot_of(report):
    values = report.to_dict()
    return {"peak": {key: values["peak"][key] for key in _PEAKS}, "by_category": {row["name"]: row["bytes"] for row in values["at_peak"]["by_category"]}}


def _what_was_raised(stored, found, raised, path):
    lines = ["it takes more GPU memory than before:"]
    lines += [f"  {key.removesuffix('_bytes'):<10} {stored['peak'][key]:>17,} -> {found['peak'][key]:>17,}  {_more(stored['peak'][key], found['peak'][key])}" for key in raised]
    grown = {name: bytes - stored["by_category"].get(name, 0) for name, bytes in found["by_category"].items()}
    lines += [f"  of which at the peak {name}: {bytes:+,}" for name, bytes in sorted(grown.items(), key=lambda item: -item[1]) if bytes > 0]
    lines.append(f"if that is meant, store it: --gpu-memory-update ({path})")
    return "\n".join(lines)


def _more(before, after):
    return f"+{after - before:,} bytes" + (f", +{100 * (after - before) / before:.1f} %" if before else "")


def _largest(report):
    rows = report.to_dict()["at_peak"]["by_category"][:4]
    return "\n".join(f"  {row['name']}: {row['bytes']:,} bytes" for row in rows)
