"""A score for rare events that need several numbers of an output at once: the fitted log ratio of joint cells.

A sum of steps of each number does not know such events, and their own cells are too rare to count. So the steps of a
number rise or fall evenly with the other numbers, and the counts of frequent cells predict the counts of rare ones.
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from tcdp_sim.audits import features
from tcdp_sim.core.arrays import Floats, Ints

AXES = 3  # the numbers that are looked at together: those that differ most in the pilot
MOST_CELLS = 1 << 12  # joint cells that a worker counts
SPREAD = 0.3  # nats: the prior standard deviation of a coefficient, which shrinks those that few outputs support
ROUNDS = 30  # of Newton's method
SETTLED = 1e-6  # nats
DIGITS = 3  # digits kept of log ratios, which bounds the number of thresholds


@dataclass(frozen=True, eq=False)
class Joint:
    """The log likelihood ratio of an output's joint cell.

    - axes: the numbers of an output that are looked at.
    - edges: the ascending edges between the cells of each axis.
    - ratios: the log likelihood ratio of each joint cell in nats, shape (cells of each axis).
    - names: the words of each axis.
    """

    axes: tuple[int, ...]
    edges: tuple[Floats, ...]
    ratios: Floats
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """The score's name in words."""
        return f"fitted log ratio of {' and '.join(self.names)} together"

    def codes(self, outputs: Any) -> Ints:
        """Return the place of each output's joint cell in the flattened table, shape (trials,)."""
        x = features.as_matrix(outputs)
        code = np.zeros(len(x), np.int64)
        for axis, edges in zip(self.axes, self.edges):
            cells = np.searchsorted(edges, np.ascontiguousarray(x[:, axis]), side="right")
            code = code * (len(edges) + 1) + cells
        return code

    def __call__(self, outputs: Any) -> Floats:
        return self.ratios.ravel()[self.codes(outputs)]


def of_pilot(sides: tuple[Floats, Floats], names: tuple[str, ...]) -> Joint:
    """Return joint cells of the most telling numbers of a pilot's outputs, shape (trials, d); all log ratios are 0."""
    edges = [features.cell_edges(column) for column in np.concatenate(sides).T]
    told = []
    for column, own in enumerate(edges):
        first, second = (np.searchsorted(np.sort(side[:, column]), own) + 0.5 for side in sides)
        apart = np.abs(np.log(first / second)) / np.sqrt(1 / first + 1 / second)
        told.append(apart.max(initial=0.0))
    axes = tuple(sorted(np.argsort(told, kind="stable")[::-1][:AXES].tolist()))
    kept = _thinned([edges[axis] for axis in axes])
    return Joint(axes, kept, np.zeros([len(own) + 1 for own in kept]), tuple(names[axis] for axis in axes))


def _thinned(edges: list[Floats]) -> tuple[Floats, ...]:
    """Return the edges of each axis, every other one of the longest axis, until there are at most MOST_CELLS cells."""
    kept = list(edges)
    while np.prod([len(own) + 1.0 for own in kept]) > MOST_CELLS:
        longest = int(np.argmax([len(own) for own in kept]))
        kept[longest] = kept[longest][::2]
    return tuple(kept)


def fitted(first: Ints, second: Ints) -> Floats:
    """Return the log ratios that logistic regression fits to the counts of both inputs in joint cells.

    The regression is on the cell of each axis, and on its product with the rank of the cell of each other axis.
    Coefficients have a normal prior with mean 0 and standard deviation SPREAD. Newton's method finds the most likely
    ones.
    """
    terms, hits = _terms(first.shape), first.ravel()
    total = hits + second.ravel()
    coefficients = np.zeros(terms.shape[1])
    for _ in range(ROUNDS):
        share = 1 / (1 + np.exp(-np.clip(terms @ coefficients, -30, 30)))
        slope = terms.T @ (hits - total * share) - coefficients / SPREAD**2
        curvature = (terms.T * (total * share * (1 - share))) @ terms + np.eye(len(slope)) / SPREAD**2
        step = np.linalg.solve(curvature, slope)
        coefficients += step
        if np.abs(step).max() < SETTLED:
            break
    return np.asarray(np.round(terms @ coefficients, DIGITS).reshape(first.shape), np.float64)


def _terms(shape: tuple[int, ...]) -> Floats:
    """Return the regressors of each joint cell, shape (cells, regressors). Ranks go from -1 to 1."""
    places = [place.ravel() for place in np.indices(shape)]
    cells = [np.eye(size)[place] for size, place in zip(shape, places)]
    ranks = [np.linspace(-1, 1, size)[place] for size, place in zip(shape, places)]
    crossed = [cells[one] * ranks[other][:, None] for one, other in permutations(range(len(shape)), 2)]
    return np.hstack([*cells, *crossed])
