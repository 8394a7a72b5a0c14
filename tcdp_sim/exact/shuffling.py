"""Lower ends for steps on shuffled batches: what the largest output of a run reveals.

All other records shift each of T steps by -1 and the record shifts its own step by +1 (after division by the clipping
length). Up to a common shift the outputs have the law of T normal numbers of which one, at a random place, has the mean
`record`, against `other` without it: a smaller one for a record that is replaced by nothing, or 0 for one that is
replaced by its opposite. The largest output, cut into cells, is a function of the outputs. So its two laws, and their
powers over several epochs, reveal no more than the run does.

Masses of cells are logs, since those of the other law may be far below all floats. Each loss and each mass is lowered
by its own error, and cells are left out, all of which lowers every delta.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.grid_law import AtomicLoss

CELLS = 8192
_FAR = 38.0  # standard deviations: a normal tail beyond has a probability below 1e-313
_LOG_RARE = float(np.log(1e-290))  # of the mass of a cell that is left out
_SURE = 1e-3  # error of a loss, at most
_ROUNDING = 4e-15  # relative error of the log of a normal tail below 1/2
_ARGUMENT = 1e-15  # relative error of a tail beyond z > 0, from the rounding of z, over z^2
_UNION = 1e-20  # a probability below it is the sum of those of its parts


@dataclass(frozen=True, kw_only=True)
class LoweredLoss(AtomicLoss):
    """A law of which each loss was lowered by `error`, and each mass too."""

    error: Floats

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence, of which the lower end is sound.

        The terms m (e^((a - 1) l) - 1) / (a - 1) + m (e^-l - 1) are never negative, so some may be left out.
        """
        if not len(self.loss) or not (order - 1) * float(np.abs(self.loss).max()) < 1:
            return super().renyi(order) if len(self.loss) else Bounds(0.0, 0.0, 0.0)
        loss = np.where(self.loss > 0, self.loss, np.minimum(self.loss + 2 * self.error, 0.0))
        rise = np.expm1((order - 1) * loss) / (order - 1) if order > 1 else loss
        rest = np.expm1(-loss)
        total = float((self.mass * (rise + rest)).sum())
        total -= 1e-14 * float((self.mass * (np.abs(rise) + np.abs(rest))).sum())
        low = max(float(np.log1p((order - 1) * max(total, 0.0))) / (order - 1) if order > 1 else total, 0.0)
        return Bounds(low * (1 - 1e-15), low, low)


class _Logs(NamedTuple):
    """Logs of probabilities, and their errors."""

    log: Floats
    error: Floats


def largest_output(sigma: float, steps: int, record: float, other: float) -> tuple[AtomicLoss, AtomicLoss]:
    """Return laws below that of the privacy loss of the largest of T = steps >= 2 outputs, in both directions.

    `record`, `other`: the means of the one output that differs, with the record and without it. All numbers are in
    units of the clipping length.
    """
    edges = _edges(sigma, record, other)
    p, q = (_masses(edges, sigma, steps, mean) for mean in (record, other))
    return _law(p, q), _law(q, p)


def _edges(sigma: float, record: float, other: float) -> Floats:
    """Return the edges of the cells, close where one of the laws has its mass."""
    far = _FAR * sigma
    if record - other <= 2 * far:
        edges = np.linspace(-far, record + far, CELLS + 1)
    else:
        around = np.linspace(-far, far, CELLS // 2 + 1)
        edges = np.concatenate([other + around, record + around])
    return np.concatenate([[-np.inf], edges, [np.inf]])


def _law(p: _Logs, q: _Logs) -> AtomicLoss:
    with np.errstate(invalid="ignore"):
        error = p.error + q.error
        loss = p.log - q.log - error
        kept = np.flatnonzero((p.log > _LOG_RARE) & (error < _SURE))
    order = kept[np.argsort(loss[kept], kind="stable")]
    return LoweredLoss(loss[order], np.exp(p.log[order] - p.error[order]), error=error[order])


def _masses(edges: Floats, sigma: float, steps: int, mean: float) -> _Logs:
    """Return the logs of the probabilities of the cells, from the nearer tail."""
    with np.errstate(all="ignore"):
        below, above = _tails((edges - mean) / sigma, edges / sigma, steps)
        down = _difference(below.log[1:], below.log[:-1], below.error[1:], below.error[:-1])
        up = _difference(above.log[:-1], above.log[1:], above.error[:-1], above.error[1:])
        by_tail = above.log[:-1] < np.log(0.5)
    return _Logs(*(np.where(by_tail, *each) for each in zip(up, down)))


def _tails(changed: Floats, others: Floats, steps: int) -> tuple[_Logs, _Logs]:
    """Return the logs of the probabilities that the largest output lies below an edge, and above it.

    `changed`, `others`: the distances of the edges from the means, in standard deviations.
    """
    parts = [log_ndtr(changed), (steps - 1) * log_ndtr(others)]
    below = parts[0] + parts[1]
    sizes = (np.clip(z, 0.0, 2 * _FAR) ** 2 for z in (changed, others))
    below_error = -sum(part * (_ROUNDING + _ARGUMENT * size) for part, size in zip(parts, sizes))
    union = np.logaddexp(log_ndtr(-changed), np.log(steps - 1.0) + log_ndtr(-others))
    likely = below < -_UNION
    above = np.where(likely, np.log(-np.expm1(below)), union)
    above_error = _ROUNDING * (1 + np.abs(above) + 2 * np.log(float(steps)))
    above_error += np.where(likely, below_error * np.exp(below - above), 0.0)
    return _Logs(below, below_error), _Logs(above, above_error)


def _difference(large: Floats, small: Floats, large_error: Floats, small_error: Floats) -> _Logs:
    """Return the log of the difference of two numbers, given their logs."""
    gap = small - large
    log = large + np.log(-np.expm1(gap))
    error = large_error + np.where(gap > -700, small_error, 0.0) * np.exp(gap)
    return _Logs(log, 1.01 * error / -np.expm1(gap) + _ROUNDING * (1 + np.abs(log)))
