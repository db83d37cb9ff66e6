"""Experts that are run one after the other, each for the tokens that a router has chosen it for.

What is done for each of them is rounds (rows.py), in which a number may be how many tokens the expert of that round has.  A router's choice is data: on a virtual GPU its top k go round in turn
(virtual_gpu/torch_extension/integers/decided_data.cpp), and whoever reads the program may decide otherwise (`routed`, src/program/expression.cpp).
"""

import re
from typing import NamedTuple

from .keys import changed, is_whole, leaves_of
from .terms import Element, Listed, Number, Span, Typed

WAYS = ("grouped_mm", "batched_mm", "eager")  # transformers 5.17.0: integrations/moe.py, ALL_EXPERTS_FUNCTIONS, and a module's own forward
_EXPERTS = re.compile(r"(^|\.)(n_routed_experts|num_(local_)?experts|moe_num_experts)$")
_CHOSEN = re.compile(r"(^|\.)(num_experts_per_tok(en)?|num_selected_experts|top_k_experts|moe_top_?k|moe_k)$")


class Shares(NamedTuple):
    """`tokens`: of all samples; `chosen`: experts of each token; `names`: the keys that say these, and how many experts there are."""

    tokens: int
    chosen: int
    experts: int
    names: tuple

    def rounds(self):
        return min(self.experts, self.tokens * self.chosen)

    def lengths(self):
        return tuple(-((expert - self.tokens * self.chosen) // self.experts) for expert in range(self.rounds()))

    def length(self, values, first, index="i"):
        """How these numbers of tokens follow from the round, the first of which is this; None where they do not."""
        return self._told("routed", index) if self.lengths()[first : first + len(values)] == tuple(values) else None

    def are_of_others(self, values, first):
        lengths = self.lengths()
        return any(0 <= at and lengths[at : at + len(values)] == tuple(values) for at in (first - 1, first + 1))

    def counted(self, statement):
        """Places in rows of as many as there are experts that any token chooses, which are all as a rule."""
        rounds, hit = self.rounds(), self._told("hit")

        def place(number):
            return f"{hit} - {rounds - number.value}" if isinstance(number, Number) and number.value in (rounds - 1, rounds - 2) else number

        def named(term):
            if isinstance(term, Element) and type(term.row) is not tuple:
                return term._replace(at=place(term.at))
            if isinstance(term, Span):
                return term._replace(first=place(term.first), last=place(term.last))
            if isinstance(term, Typed):
                return term._replace(ref=named(term.ref))
            return Listed(tuple(map(named, term.items))) if isinstance(term, Listed) else term

        results = tuple(map(named, statement.results))
        if statement.mark == "data" and statement.name == "torch.Tensor.nonzero":
            results = tuple(r._replace(sizes=tuple(hit if size == Number(rounds, True) else size for size in r.sizes)) for r in results)
        return statement._replace(results=results, args=tuple((key, named(term)) for key, term in statement.args), count=place(statement.count) if statement.kind == "each" else statement.count)

    def first(self):
        """{expression: number} of the round that stands ahead of those that go on evenly."""
        return {self._told("routed", "0"): self.lengths()[0]}

    def _told(self, function, *more):
        return f"{function}({', '.join(['B*S', *self.names, *more])})"


def shares_of(keys, sizes):
    """The shares of the experts that a configuration tells of; None where it tells of none."""
    paths = [(path, value) for path, value in leaves_of(keys) if is_whole(value) and value > 0]
    for experts, count in paths:
        if _EXPERTS.search(experts) and {"B", "S"} <= set(sizes):
            above = experts.rpartition(".")[0]
            for chosen, number in paths:
                if _CHOSEN.search(chosen) and chosen.rpartition(".")[0] == above:
                    return Shares(sizes["B"] * sizes["S"], number, count, (chosen, experts))
    return None


def unlike(keys, samples):
    """The configuration with some experts more where all have as many tokens, however long a text is."""
    shares = shares_of(keys, {"B": samples, "S": 1})
    if shares is None:
        return keys
    count = next(n for n in range(shares.experts, 2 * shares.experts + shares.tokens * shares.chosen + 1) if shares.tokens * shares.chosen % n)
    return changed(keys, {shares.names[1]: count})


def unevenly(keys, sizes):
    """The sizes of a capture with about so many tokens, of which not all experts have as many."""
    samples, tokens, *rest = sizes
    shares = shares_of(keys, {"B": samples, "S": tokens})
    more = range(tokens, tokens + shares.experts) if shares else ()
    return (samples, next((n for n in more if samples * n * shares.chosen % shares.experts), tokens), *rest)


def chooses(model):
    """Whether a model has experts, and a choice of how they are run (transformers/modeling_utils.py, get_correct_experts_implementation)."""
    choices = [getattr(module, "_can_set_experts_implementation", None) for module in model.modules()]
    return any(hasattr(module, "num_experts") for module in model.modules()) and any(choice and choice() for choice in choices)
