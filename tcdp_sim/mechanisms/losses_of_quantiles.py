"""Privacy losses of private quantiles, whose laws on two neighbours are densities in closed form."""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.quantiles import Independent, Joint, Line
from tcdp_sim.quantiles.independent import Pieces
from tcdp_sim.quantiles.line import Values

TILE = 2**20  # outputs kept at a time


def neighbour_of(line: Line, relation: str) -> Line:
    """Return the neighbour of a data set, which moves all scores by as much as one record can.

    Under add_remove it has one more record, at 0. Under substitution the least record has gone to the upper end.
    """
    end = line.k - 1 if line.kind == "integers" else np.nextafter(float(line.k), 0.0)
    kept, new = (line.values, 0) if relation == "add_remove" else (line.values[1:], end)
    return Line(np.append(kept, np.array([new], line.values.dtype)), line.k, line.kind)


def losses(method: Any, line: Line, trials: int, *, rng: np.random.Generator) -> Draws:
    """Return the privacy losses of independent or joint selections in both worlds."""
    lines = line, neighbour_of(line, method.relation)
    laws = [log_density(method, each) for each in lines]
    return {name: _draw(method, each, laws, trials, rng) for name, each in zip((LOSS, NEIGHBOUR), lines)}


def _draw(method: Any, line: Line, laws: list[Any], trials: int, rng: np.random.Generator) -> Floats:
    """Return the losses of outputs on a data set."""
    draw = method.unsorted if isinstance(method, Independent) else method.sample
    found, size = np.empty(trials), max(TILE // method.m, 1)
    for done in range(0, trials, size):
        outputs = draw(line, min(size, trials - done), rng=rng)
        found[done : done + size] = laws[0](outputs) - laws[1](outputs)
    return found


def log_density(method: Any, line: Line) -> Any:
    """Return the function from outputs, shape (trials, m), to the log of their joint density, up to a constant.

    The constant is the same for all data sets. The outputs of independent selections are in the order of the levels,
    before they are sorted.
    """
    return _independent(method, line) if isinstance(method, Independent) else _joint(method, line)


def _independent(method: Independent, line: Line) -> Any:
    pieces, levels = Pieces.of(line), np.array(method.levels)
    with np.errstate(divide="ignore"):
        size = np.log(pieces.size)
    total = sum(logsumexp(size - eta * pieces.distances(p * line.n)) for p, eta in zip(levels, method.eta))
    return lambda outputs: -(line.rank_errors(outputs, levels) @ method.eta) - total


def _joint(method: Joint, line: Line) -> Any:
    targets, places = line.n * method.shares, np.arange(line.n + 1)
    with np.errstate(divide="ignore"):
        last = method.forward(np.log(line.gaps))[1][-1]
    total = logsumexp(last - method.eta * np.abs(line.n - places - targets[-1]))

    def law(outputs: Values) -> Floats:
        upto = np.searchsorted(line.values, outputs, "right")
        between = np.diff(upto, axis=1, prepend=0, append=line.n)
        return np.asarray(-method.eta * np.abs(between - targets).sum(axis=1) - total)

    return law
