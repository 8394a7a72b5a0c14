"""Independent exponential mechanisms, one for each quantile (Smith 2011 [Smi11])."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.core.arrays import Floats, Ints
from tcdp_sim.ordered.quantiles.equal_shares import EqualShares
from tcdp_sim.ordered.quantiles.line import Line, Values
from tcdp_sim.ordered.quantiles.method import scores_move


@dataclass(frozen=True)
class Independent(EqualShares):
    """One exponential mechanism for each quantile, on the whole domain, with independent draws.

    An element z has density in proportion to exp(-eta d(z)). Here d(z) is the distance of level n from the interval
    between the numbers of records below z and up to z. For reals without ties it is |rank - level n| (Smith 2011
    [Smi11]). On the integers an element that many records share has d = 0 for all levels that it covers; this extension
    is ours.

    Sensitivity. Adding a record x changes "below - level n" and "level n - up to" by at most M = max(level, 1 - level)
    in absolute value, so d by at most M. Both signs occur at once, left and right of the target. So the losses have a
    range of 2 M eta at most, which M = 1 - level attains for a record far to the left. Under substitution level n is
    fixed, both counts change by at most 1, and the range is 2 eta. `epsilon` is this range.

    Outputs are sorted at the end, which increases neither the mean nor the largest rank error.

    The parameters are those of `Method` and this one.

    Source: Smith (2011), Algorithm 2 [Smi11] (from memory; checked against the description of later papers).

    Parameters
    ----------
    epsilon : float
        The range of the losses of one quantile, in nats.

    Examples
    --------
    >>> from tcdp_sim.privacy import PureDP
    >>> method = Independent.of((0.5,), "add_remove", PureDP(1.0))
    >>> line = Line(range(100), 100, "integers")
    >>> abs(int(method.sample(line, 1, rng=np.random.default_rng(0))[0, 0]) - 50) < 20
    True
    """

    @property
    def eta(self) -> Floats:
        """The log-probability lost per record, for each quantile."""
        moves = scores_move(np.array(self.levels)) if self.relation == "add_remove" else np.ones(self.m)
        return np.asarray(self.epsilon / (2 * moves))

    def work(self, line: Line) -> float:
        return 12.0 * self.m + 1

    def sample(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        return np.sort(self.unsorted(line, trials, rng=rng), axis=1)

    def unsorted(self, line: Line, trials: int, *, rng: np.random.Generator) -> Values:
        """Return the outputs in the order of the levels, before they are sorted, shape (trials, m)."""
        pieces = Pieces.of(line)
        out = np.empty((trials, self.m), dtype=line.values.dtype)
        for j, (level, eta) in enumerate(zip(self.levels, self.eta)):
            with np.errstate(divide="ignore"):
                score = np.log(pieces.size) - eta * pieces.distances(level * line.n)
            edges = np.cumsum(np.exp(score - score.max()))
            piece = np.searchsorted(edges, edges[-1] * rng.random(trials), side="right")
            piece = np.minimum(piece, np.flatnonzero(np.diff(edges, prepend=0.0))[-1])
            offsets = pieces.start[piece] + pieces.size[piece] * rng.random(trials)
            out[:, j] = line.beyond(pieces.upto[piece], offsets)
        return out


@dataclass(frozen=True)
class Pieces:
    """The pieces of the domain on which both counts are constant: gaps and records in turn.

    `size`: the lengths; 0 for a record among reals, 1 for the unit of a record on an integer. `start`: the distance of
    each piece's beginning from the record below it. `below`, `upto`: the numbers of records below and up to the
    elements of each piece.
    """

    size: Floats
    start: Floats
    below: Ints
    upto: Ints

    @classmethod
    def of(cls, line: Line) -> "Pieces":
        """Return the pieces of a data set, from left to right."""
        unit = 1.0 if line.kind == "integers" else 0.0
        ends = np.flatnonzero(np.append(line.values[1:] != line.values[:-1], True)) + 1
        upto = np.concatenate([[0], np.repeat(ends, 2)])
        below = upto.copy()
        below[1::2] = np.concatenate([[0], ends[:-1]])
        size, start = np.full(len(upto), unit), np.zeros(len(upto))
        size[::2], start[2::2] = line.gaps[np.concatenate([[0], ends])], unit
        size[2::2] -= unit
        return cls(size, start, below, upto)

    def distances(self, target: float) -> Floats:
        """Return the distance of the target rank from the interval between the two counts of each piece."""
        return np.maximum(np.maximum(target - self.upto, self.below - target), 0.0)
