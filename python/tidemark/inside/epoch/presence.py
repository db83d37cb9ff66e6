"""Which steps ask for something that others do not, as a rule about their batches' sizes and their numbers, found from steps that were trained.

Kernels take scratch memory only above some size, masks are padded unless eight divides their length, and what is logged is logged every tenth step.  A rule counts only
if it tells all trained steps right, and if it is improbable that one so simple would by chance.
"""

import bisect
import itertools
import math

IMPROBABLE = 1000  # one of so many


def rule(points, present):
    """`points`: [(number of a step, its sizes)]; `present`: of each, whether it asks for it.
    A function of a number and of sizes: True, False, or None where the trained steps do not tell."""
    if len(set(present)) == 1:
        return lambda number, sizes: present[0]
    steps = {}  # one for all of the same sizes
    for (_, sizes), is_present in zip(points, present):
        steps.setdefault(tuple(sorted(sizes.items())), []).append((sizes, is_present))
    different = [found[0] for found in steps.values()]
    if all(len({is_present for _, is_present in found}) == 1 for found in steps.values()):
        if (found := _of_sizes(different)) is not None:
            return found
    return _of_numbers([number for number, _ in points], present) or (lambda number, sizes: None)


def _of_sizes(steps):
    arrangements = math.comb(len(steps), sum(is_present for _, is_present in steps))
    columns = {}  # names of sizes, one for all that agree
    for name in dict.fromkeys(name for sizes, _ in steps for name in sizes):
        columns.setdefault(tuple(sizes.get(name, 0) for sizes, _ in steps), name)
    names, tried = [name for column, name in columns.items() if len(set(column)) > 1], 0
    for divisible in (None, *names):
        for by in names:
            classes = _classes(steps, by, divisible)
            tried += math.prod(len(ordered) + 1 if len(_runs(ordered)) == 3 else 2 for ordered in classes.values())
            if all(len(_runs(ordered)) <= 3 for ordered in classes.values()) and tried * IMPROBABLE <= arrangements:
                return lambda number, sizes: _between(classes.get(_divides(sizes, divisible)), sizes.get(by, 0))
    return None


def _classes(steps, by, divisible):
    """{whether a size is divided: [(size, whether they ask for it)], the smallest first}."""
    classes = {}
    for sizes, is_present in steps:
        classes.setdefault(_divides(sizes, divisible), []).append((sizes.get(by, 0), is_present))
    return {divides: sorted(found) for divides, found in classes.items()}


def _divides(sizes, name):
    """torch: aten/src/ATen/native/transformers/attention.cpp, preprocess_mask, mem_eff_alignment."""
    return name is not None and sizes.get(name, 0) % 8 == 0


def _runs(ordered):
    return list(itertools.groupby(is_present for _, is_present in ordered))


def _between(ordered, size):
    """What steps of this size, or the next smaller and the next larger, agree on."""
    if ordered is None:
        return None
    begin, end = bisect.bisect_left(ordered, (size, False)), bisect.bisect_right(ordered, (size, True))
    around = {is_present for _, is_present in ordered[begin:end] or ordered[max(begin - 1, 0) : end + 1]}
    return around.pop() if len(around) == 1 else None


def _of_numbers(numbers, present):
    """Every so many steps."""
    arrangements, tried = math.comb(len(numbers), sum(present)), 0
    for period in range(2, len(numbers) // 2):
        for special in range(period):
            tried += 2
            answers = {(number % period == special) is is_present for number, is_present in zip(numbers, present)}
            if len(answers) == 1 and tried * IMPROBABLE <= arrangements:
                (same,) = answers
                return lambda number, sizes: (number % period == special) is same
    return None
