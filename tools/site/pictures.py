#!/usr/bin/env python3
"""Draws the pictures of docs/why-more.md, from reports: `tidemark predict --json` of a Llama of 1.24 B weights, as Llama 3.2 1B has them, on an L40S.

pictures.py [FOLDER]        docs/pictures; TIDEMARK_BIN is the command
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": True,
    "rms_norm_eps": 1e-05,
}
SPEC = {"model": MODEL, "gpu": "l40s", "batch": 4, "seq": 2048, "torch": "2.15.0", "transformers": "5.17.0"}
COLOURS = {"parameters": "#4477aa", "gradients": "#66ccee", "optimizer_state": "#228833", "activations": "#ee6677", "workspace": "#ccbb44", "other": "#bbbbbb"}  # Tol's bright scheme
WIDTH, LEFT, RIGHT = 760, 200, 70
GIB = 1 << 30


def report(**keys):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({**SPEC, **keys}, file)
        file.flush()
        done = subprocess.run([TIDEMARK, "predict", "--spec", file.name, "--quiet", "--json", "-"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


class Picture:
    """Lines of an SVG, on white, so that it reads in the dark too."""

    def __init__(self, height, title):
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        ]

    def box(self, x, y, width, height, colour):
        self.lines.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def text(self, x, y, text, anchor="start"):
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, points, colour, dashes=""):
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5"{dashed} points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')

    def save(self, path):
        path.write_text("\n".join([*self.lines, "</svg>"]) + "\n")


def bars(rows, title):
    """`rows` of (label, [(name, bytes)]); a bar each, as long as its sum."""
    names = list(dict.fromkeys(name for _, parts in rows for name, _ in parts))
    picture = Picture(40 * len(rows) + 40, title)
    scale = (WIDTH - LEFT - RIGHT) / max(sum(bytes for _, bytes in parts) for _, parts in rows)
    for at, (label, parts) in enumerate(rows):
        x, y = LEFT, 10 + 40 * at
        picture.text(LEFT - 10, y + 19, label, "end")
        for name, bytes in parts:
            picture.box(x, y, bytes * scale, 28, COLOURS[name])
            x += bytes * scale
        picture.text(x + 6, y + 19, f"{sum(bytes for _, bytes in parts) / GIB:.1f} GiB")
    x = LEFT
    for name in names if len(names) > 1 else ():
        picture.box(x, 40 * len(rows) + 14, 12, 12, COLOURS[name])
        picture.text(x + 17, 40 * len(rows) + 25, name.replace("_", " "))
        x += 32 + 7.5 * len(name)
    return picture


def at_peak(values):
    """Categories of what is live at the peak, those below a hundredth of it as other."""
    rows = {row["name"]: row["bytes"] for row in values["at_peak"]["by_category"]}
    least = sum(rows.values()) / 100
    kept = {name: rows[name] for name in COLOURS if rows.get(name, 0) >= least and name != "other"}
    return [*kept.items(), ("other", sum(rows.values()) - sum(kept.values()))]


def thinned(points, every=1.5):
    """Of each stretch that is no wider than that the lowest and the highest point, in their order: a line that looks the same."""
    stretches = {}
    for point in points:
        stretches.setdefault(int(point[0] / every), []).append(point)
    kept = []
    for stretch in stretches.values():
        ends = {min(stretch, key=lambda point: point[1]), max(stretch, key=lambda point: point[1])}
        kept += [point for point in stretch if point in ends]
    return list(dict.fromkeys(kept))


def over_time(values):
    points, card = values["timeline"], values["card"]["total_bytes"]
    picture = Picture(300, "Allocated and reserved memory over three steps")
    right, top, bottom = WIDTH - 20, 20, 260
    last = points[-1]["event"]

    def place(event, bytes):
        return 60 + (right - 60) * event / last, bottom - (bottom - top) * bytes / card

    for gib in (0, 10, 20, 30, 40):
        picture.text(52, place(0, gib * GIB)[1] + 4, str(gib), "end")
    picture.text(60, 13, "GiB")
    for key, colour in (("reserved_bytes", "#bbbbbb"), ("allocated_bytes", "#ee6677")):
        picture.line(thinned([place(point["event"], point[key]) for point in points]), colour)
    picture.line([place(0, card), place(last, card)], "#333333", "5 4")
    picture.text(right, top - 6, values["card"]["name"], "end")
    starts = {}
    for point in points:
        starts.setdefault((point["step"], point["phase"]), point["event"])
    for (step, phase), event in starts.items():
        if phase == "forward":
            picture.line([place(event, 0), (place(event, 0)[0], bottom + 8)], "#333333")
            picture.text(place(event, 0)[0] + 3, bottom + 20, f"step {step}")
    picture.text(60, 294, "allocations and frees, in their order; red: allocated, grey: reserved")
    return picture


def main(folder):
    plain, again = report(), report(checkpointing="non_reentrant")
    adapters, longer = report(checkpointing="non_reentrant", lora={"r": 16}), report(checkpointing="non_reentrant", seq=4096)
    weights = next(bytes for name, bytes in at_peak(plain) if name == "parameters")
    rows = [("2 bytes a weight", [("parameters", weights)]), ("as it is", at_peak(plain)), ("layers run again", at_peak(again)), ("run again, LoRA", at_peak(adapters)), ("run again, 4096 tokens", at_peak(longer))]
    bars(rows, "What is live at the peak").save(folder / "at-the-peak.svg")
    over_time(plain).save(folder / "over-time.svg")
    peak = plain["peak"]
    steps = [(name, [("other", peak[f"{name}_bytes"])]) for name in ("requested", "allocated", "reserved", "device")]
    bars(steps, "From what is asked for to what the card has to have").save(folder / "to-the-device.svg")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/pictures"
    target.mkdir(parents=True, exist_ok=True)
    main(target)
