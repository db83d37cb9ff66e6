"""What the host needs for an operation and for a collective under Megatron-DeepSpeed, from vTrain's measured iterations.

    python tools/efficiency/host.py --vtrain DIR

DIR is a checkout of VIA-Research/vTrain.  The rows that are read are those of one node that validation/step_times/vtrain has not: that
corpus has each sixth set of rows, and of a set all or none.  Of them only passes of one sample, 1,024 wide, without a pipeline: a layer of
these takes 3.1 to 3.5 ms among 1, 2 and 4 ranks alike, which is the host, and nothing that is the card's.  What a layer more takes of a
pass (a line through depths of 12 to 24) has no part of the optimizer or of what comes once in a pass.

Among 8 ranks it takes 5.0 ms, which is left out: a rank has two heads there, and Megatron's fused softmax takes multiples of four matrices
(megatron/model/fused_softmax.py, is_kernel_available), so that other kernels ran."""

import argparse
import json
from pathlib import Path

from step_times import vtrain_rows

CORPUS = Path(__file__).resolve().parents[2] / "validation/step_times/vtrain/rows.jsonl"
OPERATIONS = 65  # of a layer: forward pass, the same again, backward pass (tests/unit/estimate/work_test.cpp)
REDUCTIONS = 6  # of a layer among ranks that share matrices: src/plan/step_time.cpp, reductions()


def not_validated(rows):
    """Rows of sets of which the corpus has none."""
    kept = {json.loads(line).get("ranked_among") for line in CORPUS.read_text(encoding="utf-8").splitlines()}
    return [row for row in rows if row["group"] == "one node" and "spec" in row and row["ranked_among"] not in kept]


def passes(rows, ranks):
    """(layers, seconds of a pass) of small passes among as many ranks; of four passes and more, so that the optimizer is a small part."""
    for row in rows:
        spec = row["spec"]
        if "pp" in spec or spec["batch"] != 1 or spec["model"]["n_embd"] != 1024 or spec["grad_accumulation"] < 4:
            continue
        if spec.get("tp", {"degree": 1})["degree"] == ranks:
            yield spec["model"]["n_layer"], row["seconds"] / spec["grad_accumulation"]


def slope(points):
    points = list(points)
    middle = [sum(axis) / len(points) for axis in zip(*points, strict=True)]
    return (sum((x - middle[0]) * (y - middle[1]) for x, y in points) / sum((x - middle[0]) ** 2 for x, _ in points)), len(points)


def host_seconds(rows):
    """Of an operation, and of a collective: the middle of what 2 and 4 ranks take more than one."""
    layer = {ranks: slope(passes(rows, ranks))[0] for ranks in (1, 2, 4)}
    return layer[1] / OPERATIONS, ((layer[2] + layer[4]) / 2 - layer[1]) / REDUCTIONS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vtrain", type=Path, required=True)
    rows = not_validated(list(vtrain_rows(parser.parse_args().vtrain)))
    for ranks in (1, 2, 4, 8):
        seconds, count = slope(passes(rows, ranks))
        print(f"among {ranks}: {1e3 * seconds:.3f} ms for each layer of a pass, of {count} rows")
    operation, collective = host_seconds(rows)
    print(f"an operation: {1e6 * operation:.1f} us; a collective: {1e6 * collective:.1f} us")


if __name__ == "__main__":
    main()
