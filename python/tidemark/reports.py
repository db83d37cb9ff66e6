"""What Tidemark answers: JSON objects whose keys are attributes, which show themselves as text, page, table and picture."""

from __future__ import annotations

import dataclasses
import html
import json
from pathlib import Path

from . import core, errors


class Record:
    """A JSON object whose keys are attributes."""

    def __init__(self, values):
        self._values = values

    def __getattr__(self, name):
        try:
            return _wrapped(self.__dict__["_values"][name])
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._values.items())})"

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    def to_dict(self):
        return self._values


class Report(Record):
    """What a run found: the fields of `tidemark.report/1` as attributes (`peak`, `fits`, `verdict`, `steps`, `at_peak`, `oom`, …).

    `output` is what the program printed, where one ran.  In a notebook the report shows itself as a page; `str(report)` is its verdict.
    """

    def __init__(self, values, output="", page=None, text=None):
        super().__init__(values)
        self.output, self._page, self._text = output, page, text

    @classmethod
    def from_text(cls, text):
        """A report from its JSON, as a text."""
        return cls(json.loads(text), text=text)

    @classmethod
    def from_json(cls, path):
        """A report that `tidemark run --json` or `tidemark predict --json` wrote."""
        return cls.from_text(Path(path).read_text())

    def to_json(self):
        """What `--json` writes, to the byte, of a report that was predicted or read."""
        return self._text if self._text is not None else json.dumps(self._values, indent=2) + "\n"

    def category(self, name):
        """Bytes of one category that are live at the peak: parameters, gradients, optimizer_state, activations, workspace, …"""
        return next((row["bytes"] for row in self._values["at_peak"]["by_category"] if row["name"] == name), 0)

    def __str__(self):
        return self._values.get("verdict") or repr(self)

    def __repr__(self):
        return f"<tidemark.Report: {self}>"

    def text(self):
        """The report for a terminal, as the command prints it."""
        return core.ask("text", {"report": self.to_json()})

    def explain(self, by="category,module,operation", rows=12, layers=False):
        """What is live at the peak, as `tidemark explain` prints it: `by` lists of category, module, operation and line, of `rows` rows each."""
        return json.loads(core.ask("explain", {"report": self.to_json(), "by": by, "rows": rows, "layers": layers}))["text"]

    def to_pandas(self, table="timeline"):
        """A table as a pandas.DataFrame: "timeline" (with a column for each category, where that is known), "steps", "category", "module", "operation" or "line" (what is live at the peak), "ranks"."""
        import pandas

        if table in _AT_PEAK:
            rows = self._values["at_peak"][f"by_{table}"]
        elif table in _TABLES:
            rows = self._values.get(table) or []
        else:
            raise errors.Error("bad_value", f'there is no table "{table}"', "to_pandas", f"one of {', '.join(_TABLES + _AT_PEAK)}")
        frame = pandas.DataFrame.from_records([{key: value for key, value in row.items() if not isinstance(value, (list, dict))} for row in rows])
        if table == "timeline":
            for one in self._values.get("timeline_by_category", []):
                frame[f"{one['name']}_bytes"] = one["bytes"]
        return frame

    def plot(self, ax=None):
        """Memory over the events of the training by matplotlib: what is allocated, by category where that is known, what is reserved, and the card's size.  Returns the axes."""
        if ax is None:
            import matplotlib.pyplot

            ax = matplotlib.pyplot.figure(figsize=(9, 4)).add_subplot()
        events = [point["event"] for point in self._values["timeline"]]
        parts = self._values.get("timeline_by_category", [])
        if parts:
            gib = [[count / 2**30 for count in one["bytes"]] for one in parts]
            ax.stackplot(events, gib, labels=[one["name"].replace("_", " ") for one in parts], step="post", colors=[_COLORS.get(one["name"], "0.7") for one in parts])
        for key, label in (("reserved_bytes", "reserved"), ("allocated_bytes", "allocated")):
            if label == "reserved" or not parts:
                ax.step(events, [point[key] / 2**30 for point in self._values["timeline"]], where="post", label=label, color="0.15" if parts else None)
        ax.axhline(self.card.total_bytes / 2**30, color="0.5", linestyle="--", label=self.card.name)
        ax.set(xlabel="allocations and frees", ylabel="GiB", title=str(self), ylim=(0, None))
        ax.legend(loc="lower right")
        return ax

    def _repr_html_(self):
        if self._page is None:
            try:
                self._page = core.ask("html", {"report": self.to_json()})
            except ValueError:  # of a run whose report is not whole, or without a command
                return f"<p>{html.escape(str(self))}</p>"
        return f'<iframe srcdoc="{html.escape(self._page)}" style="width:100%;height:42em;border:0"></iframe>'


class Plan(Record):
    """What `tidemark plan --json` writes, as attributes (`answers`, `refused`, `candidates`, …); `str(plan)` is what it prints."""

    def __init__(self, values, text="", json_text=None):
        super().__init__(values)
        self._text, self._json = text, json_text

    def to_json(self):
        """What `--json` writes, to the byte."""
        return self._json

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<tidemark.Plan: {self._text.splitlines()[0] if self._text else 'empty'}>"

    def _repr_html_(self):
        return f"<pre>{html.escape(self._text)}</pre>"


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a plan is: `decided` never falls within a stage, and is `candidates` at its end.

    A search is the stage "search"; "order" and "largest" come before it where the largest size is asked for, "least" behind it where nothing fits."""

    stage: str
    decided: int
    candidates: int
    simulated: int
    largest: int | None = None  # that is known to fit
    step_seconds: float | None = None  # estimated, of the best that fits so far
    peak_device_bytes: int | None = None  # likewise


# Those of the page.
_COLORS = {"parameters": "#2563a8", "gradients": "#c26a14", "optimizer_state": "#5f8f3b", "activations": "#8a5cb0", "workspace": "#8a8f96", "communication": "#1b8a8f", "other": "#b9bec5"}
_TABLES = ("timeline", "steps", "ranks")
_AT_PEAK = ("category", "module", "operation", "line")


def _wrapped(value):
    if isinstance(value, dict):
        return Record(value)
    return [_wrapped(item) for item in value] if isinstance(value, list) else value
