"""Scores: one number of each output, the larger the more it speaks for the first of two inputs.

Any function of the output is valid: how good it is decides how much an audit shows, never whether what it shows is
true. All of them are plain frozen data, so that workers get what the pilot has found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tcdp_sim.audits import features
from tcdp_sim.core.arrays import Floats, Ints

FEW = 12  # steps that are quicker compared one by one than looked up
DIGITS = 9  # of a likelihood ratio: further ones are traces of rounding, which `bits` looks for


class Score(Protocol):
    """outputs, shape (trials, ...) -> (trials,), never NaN."""

    @property
    def words(self) -> str:
        """What it is, for people."""

    def __call__(self, outputs: Any) -> Floats: ...


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """The mechanism's own log likelihood ratio of data over other, in nats, rounded: its last digits say nothing."""

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
class OfTexts:
    """A function of labels as long as the pilot's longest: letters beyond are cut off: all have as many numbers.

    dtype: numpy's name of texts of this length.
    """

    function: Callable[[Any], Floats]
    dtype: str
    words: str = ""

    def __call__(self, outputs: Any) -> Floats:
        return self.function(np.asarray(outputs).astype(self.dtype))


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a kind of features (`features.KINDS`)."""

    kind: str
    column: int
    words: str

    def __call__(self, outputs: Any) -> Floats:
        x = features.as_matrix(outputs)
        if self.kind == "value":
            return x[:, self.column]
        return features.KINDS[self.kind](x[:, [self.column]] if self.kind == "lowest bit" else x)[
            :, 0 if self.kind == "lowest bit" else self.column
        ]


@dataclass(frozen=True, eq=False)
class Additive:
    """The sum over columns of a step function of each: the log likelihood ratio if columns are independent.

    edges: of each column, ascending; steps: of each column, one more; columns without edges say nothing.
    """

    kind: str
    edges: tuple[Floats, ...]
    steps: tuple[Floats, ...]
    words: str

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
    """A ratio for each combination of values; mixed radix over columns, whose values are whole numbers.

    classes: to which sum each column adds, shape (d,); low, width: of each sum; ratios: of each code, in nats.
    """

    classes: Ints
    low: Ints
    width: Ints
    ratios: Floats
    words: str

    def codes(self, outputs: Any) -> Ints:
        """The number of each output's atom; what the pilot has not seen falls in with one that it has."""
        radix = np.concatenate([[1], np.cumprod(self.width[:-1])])
        codes = features.as_matrix(outputs) @ radix[self.classes].astype(np.float64)
        return np.clip(codes - float(self.low @ radix), 0, len(self.ratios) - 1).astype(np.int64)

    def __call__(self, outputs: Any) -> Floats:
        return self.ratios[self.codes(outputs)]

    def values(self, code: int) -> list[int]:
        """The sums that an atom stands for."""
        sums = []
        for low, width in zip(self.low.tolist(), self.width.tolist()):
            code, digit = divmod(code, width)
            sums.append(low + digit)
        return sums


@dataclass(frozen=True, eq=False)
class Linear:
    """A weighted sum of the output's numbers, as logistic regression has learnt it."""

    weights: Floats
    words: str

    def __call__(self, outputs: Any) -> Floats:
        return features.as_matrix(outputs) @ self.weights


@dataclass(frozen=True, eq=False)
class Tree:
    """The log likelihood ratio of the leaf of a decision tree in which the output lies.

    column, edge, below, above: of each node; a leaf is its own child; ratios: of each node, in nats; depth: steps.
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
