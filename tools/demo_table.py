#!/usr/bin/env python3
"""Prints the peaks of two reports (tidemark.report/1) side by side, and whether they are equal to the byte.

usage: demo_table.py RUN.json PREDICT.json      exit code 1 where a row differs
"""

import json
import sys


def peaks(report):
    """{row's title: bytes}: what the card must hold, each step's peak, and what is live at the highest."""
    rows = {name: report["peak"][f"{name}_bytes"] for name in ("allocated", "reserved", "device")}
    for step in report["steps"]:
        for phase in step["phases"]:
            if phase["phase"] in ("forward", "backward"):
                rows[f"step {step['step']}, {phase['phase']}"] = phase["peak_allocated_bytes"]
    for category in report["at_peak"]["by_category"]:
        rows[f"live: {category['name']}"] = category["bytes"]
    return rows


def main(run_file, predict_file):
    run, predict = (peaks(json.load(open(file))) for file in (run_file, predict_file))
    titles = [title for title in predict if title in run]  # `run` ends a step later, when the peak stays
    print(f"\n{'peak in bytes':24} {'run':>16} {'predict':>16}  equal")
    for title in titles:
        equal = "yes" if run[title] == predict[title] else f"no, {predict[title] - run[title]:+,}"
        print(f"{title:24} {run[title]:16,} {predict[title]:16,}  {equal}")
    return 0 if all(run[title] == predict[title] for title in titles) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
