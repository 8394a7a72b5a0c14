"""Scores: one number for each output, larger for outputs that favour the first of two inputs.

Any function of the output is a valid score. A better score shows a larger bound, and a bad one never invalidates it.
Scores are frozen plain data, so that workers receive the findings of the pilot.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tcdp_sim.audits import features
from tcdp_sim.core.arrays import Floats, Ints

FEW = 12  # up to this many steps, comparing one by one is faster than a search
DIGITS = 9  # digits kept of a likelihood ratio: the rest are traces of rounding, which only `bits` may look at


class Score(Protocol):
    """A function from outputs of shape (trials, ...) to scores of shape (trials,), never NaN."""

    @property
    def words(self) -> str:
        """The score's name in words."""

    def __call__(self, outputs: Any) -> Floats: ...


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """The mechanism's own log likelihood ratio of data to other, in nats, rounded to DIGITS."""

    function: Callable[[Any, Any, Any], Any]
    data: Any
    other: Any
    words: str = "log likelihood ratio that the mechanism gives"

    def __call__(self, outputs: Any) -> Floats:
        ratios = np.asarray(self.function(outputs, self.data, self.other), dtype=np.float64)
        if ratios.shape != (len(outputs),) or np.isnan(ratios).any():
            raise ValueError(
                f"log_likelihood_ratio gives shape {ratios.shape} or NaN; valid: {len(outputs)} numbers, none NaN"
            )
        return np.round(ratios, DIGITS)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a kind of features (`features.KINDS`).

    A column of yes and no has an opposite in words. `clear` is true for a column that a reader has made of outputs.
    """

    kind: str
    column: int
    words: str
    opposite: str = ""
    clear: bool = False

    def __call__(self, outputs: Any) -> Floats:
        x = features.as_matrix(outputs)
        if self.kind == "value":
            return x[:, self.column]
        return features.KINDS[self.kind](x[:, [self.column]] if self.kind == "lowest bit" else x)[
            :, 0 if self.kind == "lowest bit" else self.column
        ]


@dataclass(frozen=True, eq=False)
class Additive:
    """A sum of step functions, one of each column: the log likelihood ratio if columns are independent.

    - edges: the ascending edges of each column; a column without edges contributes a constant.
    - steps: the heights in the cells of each column, one more than its edges.
    - names: the words of each column, and their opposite for a column of yes and no.
    """

    kind: str
    edges: tuple[Floats, ...]
    steps: tuple[Floats, ...]
    words: str
    names: tuple[tuple[str, str], ...] = ()

    def __call__(self, outputs: Any) -> Floats:
        x = features.KINDS[self.kind](features.as_matrix(outputs))
        total = np.full(len(x), sum(float(steps[0]) for steps in self.steps))
        for column, (edges, steps) in enumerate(zip(self.edges, self.steps)):
            numbers = np.ascontiguousarray(x[:, column])
            if len(edges) > FEW:
                total += (steps - steps[0])[np.searchsorted(edges, numbers, side="right")]
            else:
                for edge, rise in zip(edges, np.diff(steps)):
                    total += rise * (numbers >= edge)
        return total


@dataclass(frozen=True, eq=False)
class Atoms:
    """A log likelihood ratio for each combination of whole values, coded in mixed radix.

    - classes: the sum that each column contributes to, shape (d,).
    - low, width: the least value and the number of values of each sum.
    - ratios: the log likelihood ratio of each code, in nats.
    - names: the words of each column, and their opposite for a column of yes and no; none for sums of several.
    """

    classes: Ints
    low: Ints
    width: Ints
    ratios: Floats
    words: str
    names: tuple[tuple[str, str], ...] = ()

    def codes(self, outputs: Any) -> Ints:
        """Return the code of each output; combinations outside the pilot's range are clipped to an existing code."""
        radix = np.concatenate([[1], np.cumprod(self.width[:-1])])
        codes = features.as_matrix(outputs) @ radix[self.classes].astype(np.float64)
        return np.clip(codes - float(self.low @ radix), 0, len(self.ratios) - 1).astype(np.int64)

    def __call__(self, outputs: Any) -> Floats:
        return self.ratios[self.codes(outputs)]

    def values(self, code: int) -> list[int]:
        """Return the sums that a code stands for."""
        sums = []
        for low, width in zip(self.low.tolist(), self.width.tolist()):
            code, digit = divmod(code, width)
            sums.append(low + digit)
        return sums


@dataclass(frozen=True, eq=False)
class Linear:
    """A weighted sum of an output's numbers, learnt by logistic regression."""

    weights: Floats
    words: str

    def __call__(self, outputs: Any) -> Floats:
        return features.as_matrix(outputs) @ self.weights


@dataclass(frozen=True, eq=False)
class Tree:
    """The log likelihood ratio of an output's leaf in a decision tree.

    - column, edge, below, above: the split and the children of each node; a leaf is its own child.
    - ratios: the log likelihood ratio of each node, in nats.
    - depth: the number of steps from the root to the deepest leaf.
    """

    column: Ints
    edge: Floats
    below: Ints
    above: Ints
    ratios: Floats
    depth: int
    words: str

    def __call__(self, outputs: Any) -> Floats:
        x = features.as_matrix(outputs)
        node, rows = np.zeros(len(x), np.int64), np.arange(len(x))
        for _ in range(self.depth):
            under = x[rows, self.column[node]] <= self.edge[node]
            node = np.where(under, self.below[node], self.above[node])
        return self.ratios[node]
