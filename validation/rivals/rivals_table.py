"""The rivals and Tidemark on the same runs, from what is stored: nothing is run.

python rivals_table.py            prints the tables
python rivals_table.py --write    puts them into README.md
"""

import argparse
import dataclasses
import json
import math
import statistics

import rivals
import training

import estimate

START, END = "<!-- rivals_table.py writes from here -->\n", "<!-- to here -->\n"
GB = 10**9


@dataclasses.dataclass(frozen=True)
class Compared:
    """One estimate beside what one run took."""

    row: dict
    bytes: int
    foretold: bool  # that it runs out of memory
    survived: bool | None  # the second round, if one was made with this estimate

    def error(self, extra_bytes=0):
        return (self.bytes + extra_bytes) / self.row["measured_bytes"] - 1


def cards():
    found = json.loads((estimate.ROOT / "data" / "gpus.json").read_text())["cards"]
    return {name: card for card in found for name in (card["key"], *card["aliases"])}


CARDS = cards()


def card_bytes(row):
    return CARDS[row["gpu"]]["total_bytes"]


def context_bytes(row):
    """Tidemark's figure for the row's card."""
    return CARDS[row["gpu"]]["context_bytes"]["typical"]


def runs():
    """Every published run: a row as often as its source names runs that are repeats of it."""
    return [row for row in training.rows() for _ in row["source"].split(", ")]


def compared(rows, figures, verdicts=lambda row: {}):
    """`figures`: row -> bytes or None.  Without a verdict of its own, an estimator foretells running out of memory by a figure above the card's."""
    for row in rows:
        if (figure := figures(row)) is not None:
            verdict = verdicts(row)
            yield Compared(row, figure, verdict.get("out_of_memory", figure > card_bytes(row)), verdict.get("survived"))


def limit_bytes(figure, row):
    """What the process may take in xMem's second round: set_per_process_memory_fraction(round(estimate / total, 2))."""
    return round(figure / card_bytes(row), 2) * card_bytes(row)


def survives(one):
    """Whether the run survives under the estimate: it was tried; or a higher limit was not survived, or a lower one was, by any tool's second round;
    or the limit is not below the peak.  None: not known (PyTorch gives cached memory back before it fails, so less than the peak may be enough)."""
    if one.survived is not None:
        return one.survived
    limit = limit_bytes(one.bytes, one.row)
    tried = [(limit_bytes(one.row["estimates"][tool], one.row), verdict["survived"]) for tool, verdict in one.row.get("verdicts", {}).items() if verdict.get("survived") is not None and tool in one.row["estimates"]]
    if any(limit <= other for other, survived in tried if not survived):
        return False
    return True if any(limit >= other for other, survived in tried if survived) or limit >= one.row["measured_bytes"] else None


def failure_and_saving(all_compared):
    """(lowest PEF, highest PEF, MCP in bytes), as xMem's repository computes them (plot/plot.py, data_processing).

    A prediction succeeds if its verdict is right and the run, if it fits, survives under it.  A success saves the card less the estimate, or all of
    the card when running out was foretold; a wrong verdict costs the card; a run that dies under a right verdict saves nothing, and so does one of
    which it is not known, which is the difference between the two PEFs.
    """
    failures, not_known, saved_bytes = 0, 0, 0
    for one in all_compared:
        survived = survives(one)
        if one.foretold != one.row["out_of_memory"]:
            failures += 1
            saved_bytes -= card_bytes(one.row)
        elif one.row["out_of_memory"]:
            saved_bytes += card_bytes(one.row)
        elif survived:
            saved_bytes += card_bytes(one.row) - one.bytes
        else:
            failures += survived is False
            not_known += survived is None
    n = len(all_compared)
    return failures / n, (failures + not_known) / n, saved_bytes / n


def percent(value, sign=False):
    return f"{value:+.2%}" if sign else f"{value:.2%}"


def median_and_mean(errors):
    return [percent(statistics.median(map(abs, errors))), percent(statistics.fmean(errors), True)]


def p90(errors):
    """The nearest rank, as in `tidemark validate`."""
    return sorted(map(abs, errors))[math.ceil(0.9 * len(errors)) - 1]


def line(name, counts, found, refused, has_context=False):
    ran = [one for one in found if not one.row["out_of_memory"]]
    if not ran:
        return [name, counts, str(len(found)), refused, *["–"] * 7]
    errors = [one.error() for one in ran]
    median, mean = median_and_mean(errors)
    lowest_pef, highest_pef, mcp_bytes = failure_and_saving(found)
    pef = f"{lowest_pef:.1%}" + (f" to {highest_pef:.1%}" if highest_pef > lowest_pef else "")
    with_context = ["in it", "in it"] if has_context else median_and_mean([one.error(context_bytes(one.row)) for one in ran])
    return [name, counts, str(len(found)), refused, median, percent(p90(errors)), mean, *with_context, pef, f"{mcp_bytes / GB:+.2f} GB"]


def tidemark(rows):
    """What is stored of Tidemark's own: its peak, and the part of it that most rivals estimate."""
    predicted = {one["id"]: one for one in map(json.loads, (training.CORPUS / "predictions.jsonl").read_text().splitlines())}

    def verdict(row):
        return {"out_of_memory": predicted[row["id"]]["out_of_memory"]}

    yield line("**Tidemark**", "reserved", list(compared(rows, lambda row: predicted[row["id"]]["device_over_start_bytes"], verdict)), "0")
    yield line("Tidemark, allocated", "allocated tensors", list(compared(rows, lambda row: predicted[row["id"]]["allocated_bytes"])), "0")


def of_rival(rows, name):
    answers = {key: answer for (key, estimator), answer in estimate.stored().items() if estimator == name}
    missing = sum(row["id"] not in answers for row in rows)
    refused = sum(row["id"] in answers and answers[row["id"]]["refused"] is not None for row in rows)
    found = list(compared(rows, lambda row: answers.get(row["id"], {}).get("bytes")))
    return line(name, rivals.RIVALS[name].counts, found, str(refused) + (f", and {missing} not asked" if missing else ""))


def of_published(rows, name):
    found = list(compared(rows, lambda row: row["estimates"].get(name), lambda row: row.get("verdicts", {}).get(name, {})))
    return line(name, rivals.PUBLISHED[name], found, str(len(rows) - len(found)), has_context=True)


HEADER = ["", "what it counts", "answered", "refused", "median", "p90", "mean, signed", "+ context: median", "mean, signed", "PEF", "MCP"]


def markdown(header, lines):
    rule = ["---", "---", *["---:"] * (len(header) - 2)]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in (header, rule, *lines))


def group_table(rows):
    return markdown(HEADER, [*tidemark(rows), *(of_rival(rows, name) for name in rivals.RIVALS), *(of_published(rows, name) for name in rivals.PUBLISHED)])


def tables():
    rows = runs()
    groups = {"Transformers": [row for row in rows if row["modality"] == "text"], "CNNs": [row for row in rows if row["modality"] == "image"], "All": rows}
    return "\n".join(f"### {title}: {len(members)} runs\n{group_table(members)}" for title, members in groups.items())


def readme():
    """README.md with the tables as they are now."""
    head, rest = (training.HERE / "README.md").read_text().split(START)
    return head + START + tables() + rest[rest.index(END) :]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        (training.HERE / "README.md").write_text(readme())
    else:
        print(tables())


if __name__ == "__main__":
    main()
