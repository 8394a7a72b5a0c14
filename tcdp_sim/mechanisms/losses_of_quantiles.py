"""Privacy losses of private quantiles, whose laws on two neighbours are densities in closed form."""

from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.base import Draws
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.ordered.quantiles import Independent, Joint, Line, Recursive
from tcdp_sim.ordered.quantiles.choose import window
from tcdp_sim.ordered.quantiles.independent import Pieces
from tcdp_sim.ordered.quantiles.line import Values

TILE = 2**20  # outputs kept at a time


def neighbour_of(line: Line, relation: str) -> Line:
    """Return the neighbour of a data set, on which all ranks between the ends differ by one.

    Under add_remove it has one more record, at 0. Under substitution the least record has gone to the upper end.
    """
    end = line.k - 1 if line.kind == "integers" else np.nextafter(float(line.k), 0.0)
    kept, new = (line.values, 0) if relation == "add_remove" else (line.values[1:], end)
    return Line(np.append(kept, np.array([new], line.values.dtype)), line.k, line.kind)


def losses(method: Any, line: Line, trials: int, *, rng: np.random.Generator) -> Draws:
    """Return the privacy losses of independent, joint or recursive selections in both worlds."""
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
    if isinstance(method, Independent):
        return _independent(method, line)
    return _joint(method, line) if isinstance(method, Joint) else partial(_recursive, method, line)


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


def _recursive(method: Recursive, line: Line, outputs: Values) -> Floats:
    """Return the log of the joint density: a factor for each quantile, given those around it that came before."""
    size = max(TILE // (line.n + 1), 1)
    parts = (outputs[start : start + size] for start in range(0, len(outputs), size))
    return np.concatenate([_of_rounds(method, line, part) for part in parts])


def _of_rounds(method: Recursive, line: Line, outputs: Values) -> Floats:
    ends = np.zeros((len(outputs), 1)), np.full((len(outputs), 1), float(line.k))
    z = np.concatenate([ends[0], outputs, ends[1]], axis=1)
    place = np.searchsorted(line.values, z, "right")  # the gap of each quantile, and of both ends
    place[:, 0], place[:, -1] = 0, line.n
    found = np.zeros(len(outputs))
    for nodes in method.nodes:
        low, middle, high = (np.array([node[i] for node in nodes]) for i in range(3))
        eta = np.tile([method.eta(node) for node in nodes], len(outputs))
        first, last = place[:, low].ravel(), place[:, high].ravel()
        target = np.tile([node.share for node in nodes], len(outputs)) * (last - first)
        total = _log_sums(line, first, last, (z[:, low].ravel(), z[:, high].ravel()), target, eta)
        lost = eta * np.abs(place[:, middle].ravel() - first - target)
        found -= (lost + total).reshape(len(outputs), -1).sum(axis=1)
    return found


def _log_sums(line: Line, first: Any, last: Any, ends: tuple[Floats, Floats], target: Floats, eta: Floats) -> Floats:
    """Return the log of the sum of all weights of each node, length times e^(-eta distance), between two places."""
    reach = window(line.k, float(line.gaps[line.gaps > 0].min()), line.most_equal, float(eta.min()))
    low = np.maximum(np.floor(target - reach), 0).astype(np.int64)
    counts = np.minimum(np.ceil(target + reach), last - first).astype(np.int64) - low + 1
    starts = np.cumsum(counts) - counts
    rank = np.arange(counts.sum()) - np.repeat(starts - low, counts)
    gap, edges = rank + np.repeat(first, counts), np.concatenate([[0.0], line.values, [float(line.k)]])
    begin, end = (
        np.maximum(edges[gap], np.repeat(ends[0], counts)),
        np.minimum(edges[gap + 1], np.repeat(ends[1], counts)),
    )
    with np.errstate(divide="ignore"):
        score = np.log(end - begin) - np.repeat(eta, counts) * np.abs(rank - np.repeat(target, counts))
    top = np.maximum.reduceat(score, starts)
    return np.asarray(top + np.log(np.add.reduceat(np.exp(score - np.repeat(top, counts)), starts)))
