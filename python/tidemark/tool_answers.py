"""Answers for programs that ask in a conversation: a verdict, bytes, their interval, assumptions and the next step, as JSON."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from . import core, errors, places, predicting
from .reports import Report


def predict(model, **options):
    """A report in short."""
    return _of_report(_predicted(model, options), options)


def explain(model, *, by="category,module", rows=12, **options):
    """Tensors that are live at the peak: as a text, and by category in bytes."""
    report = _predicted(model, options)
    return {**_of_report(report, options), "text": report.explain(by=by, rows=rows)}


def plan(model, **options):
    """The configurations that a plan has found, each with its change as options of the command."""
    found = predicting.plan(_named(model), **options)
    values, (verdict, *lines) = found.to_dict(), str(found).splitlines()
    answers = [_of_answer(one) for one in values["answers"]]
    first = answers[0]["options"] if answers else ""
    return {
        "verdict": verdict,
        "fits": bool(answers),
        "answers": answers,
        "refused": [_of_answer(one) for one in values["refused"]],
        "not_simulated": values["not_simulated"],
        "assumptions": [line.strip().removeprefix("assumed: ") for line in lines if line.strip().startswith("assumed: ")],
        "next_step": f"Run it with {first or 'no change'}; explain of that says what fills the memory." if answers else _when_nothing_fits(options),
        "text": str(found),
    }


def diff(before, after):
    """Two trainings, or files of what was measured: reports, snapshots of PyTorch, lists of events."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        sides = {name: _side(side, Path(folder, f"{name}.json")) for name, side in (("before", before), ("after", after))}
        done = subprocess.run([places.launcher(), "diff", *(str(path) for path, _ in sides.values()), "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode > 1:
            raise predicting.error_in(done, {})
    values = json.loads(done.stdout)
    grown = next(one["b_bytes"] - one["a_bytes"] for name in ("device", "reserved", "allocated") for one in values["totals"] if one["name"] == name)
    return {
        "verdict": f"after takes {abs(grown):,} bytes {'more' if grown > 0 else 'less'} than before at the peak" if grown else "the peaks are equal",
        **{name: _of_report(report, side) for (name, (_, report)), side in zip(sides.items(), (before, after)) if report is not None},
        "totals": _by_name(values["totals"]),
        "categories": _by_name(values["categories"]),
        "first_difference": (values.get("first_difference") or {}).get("what"),
        "next_step": "explain of the larger one lists the tensors that are live at its peak.",
    }


def _named(model):
    if not model:
        raise errors.Error("usage", "which model?", "model", "a name on the hub, a path, or the content of its config.json")
    return model


def _predicted(model, options):
    return predicting.predict(_named(model), **options)


def _of_report(report, options):
    values = report.to_dict()
    return {
        "verdict": values["verdict"],
        "fits": values["fits"],
        "gpu": {key: values["card"][key] for key in ("key", "name", "total_bytes")},
        "peak": values["peak"],
        "interval": _interval(values),
        "at_peak": {row["name"]: row["bytes"] for row in values["at_peak"]["by_category"]},
        "would_fit": [{"change": one["change"], "options": _words(one["change"]), "device_bytes": one["device_bytes"]} for one in values.get("remedies", [])],
        "assumptions": [one["what"] for one in values["assumptions"]],
        "versions": values["versions"],
        "sources": values["sources"],
        "next_step": _next_step(values, options),
    }


def _interval(values):
    """Bounds of the peak on the device: of its parts that sources disagree on, and of what addresses leave open."""
    peak = values["peak"]
    reserved = (values.get("interval") or {}).get("reserved_bytes") or [peak["reserved_bytes"]] * 2
    parts = [sum(part[f"{end}_bytes"] - part["typical_bytes"] for part in values["device"]) for end in ("low", "high")]
    low, high = (peak["device_bytes"] + bound - peak["reserved_bytes"] + part for bound, part in zip(reserved, parts))
    return {"low_bytes": low, "high_bytes": high}


def _next_step(values, options):
    if values.get("remedies"):
        return f"Ask again with the first change of would_fit: {_words(values['remedies'][0]['change'])}"
    if values["fits"]:
        return "Run it. plan with largest=batch, seq or images says how far it can grow."
    return _when_nothing_fits(options)


def _when_nothing_fits(options):
    if options.get("quantization") or str(options.get("method", "")).endswith("qlora"):
        return "Ask plan with goal=least_memory, name a GPU with more memory, or several GPUs with parallel."
    return 'Ask plan with allow=["lora", "quantization"], or name a GPU with more memory.'


def _of_answer(answer):
    seconds = answer.get("step_seconds") or {}
    return {"change": answer["change"], "options": _words(answer["change"]), "peak": answer["peak"], "step_seconds": {key: seconds[key] for key in ("low", "high") if key in seconds}}


def _words(change):
    """Keys of a spec as options of the command."""
    return core.ask("options", {"spec": change}).strip()


def _by_name(rows):
    return {row["name"]: {"before": row["a_bytes"], "after": row["b_bytes"]} for row in rows}


def _side(side, path):
    """A file for the command, and its report where it is one."""
    if isinstance(side, str):
        text = Path(side).read_bytes() if Path(side).is_file() else b""
        return side, Report.from_text(text.decode()) if text.lstrip().startswith(b"{") else None
    options = dict(side)
    report = _predicted(options.pop("model", None), options)
    path.write_text(report.to_json())
    return path, report
