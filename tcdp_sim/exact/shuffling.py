"""Lower ends for steps on shuffled batches: what the largest output of a run reveals.

All other records shift each of T steps by -1 and the record shifts its own step by +1 (after division by the clipping
length). Up to a common shift the outputs have the law of T normal numbers of which one, at a random place, has the mean
`record`, against `empty` for a record that is replaced by nothing, or 0 for one that is replaced by its opposite. The
largest output, cut into cells, is a function of the outputs. So its two laws, and their powers over several epochs,
reveal no more than the run does.
"""

import numpy as np
from scipy.special import log_ndtr

from tcdp_sim.core.arrays import Floats
from tcdp_sim.exact.losses.grid_law import AtomicLoss

CELLS = 8192
_FAR = 38.0  # standard deviations: a normal tail beyond has a probability below 1e-313
_RARE = 1e-290  # mass of a cell that is left out
_SURE = 1e-9  # relative error of a mass, at most
_ROUNDING = 4e-15  # relative error of the log of a normal tail, times its size


def largest_output(sigma: float, steps: int, record: float, other: float) -> tuple[AtomicLoss, AtomicLoss]:
    """Return the laws of the privacy loss of the largest of the outputs, in cells, in both directions.

    `sigma`: the standard deviation of the noise, over the clipping length. `steps`: the number T of steps, at least 2.
    `record`, `other`: the means of the one output that differs, with the record and without it, in units of the
    clipping length.
    """
    edges = np.linspace(-_FAR * sigma, max(record, other) + _FAR * sigma, CELLS + 1)
    edges = np.concatenate([[-np.inf], edges, [np.inf]])
    (p, p_error), (q, q_error) = (_masses(edges, sigma, steps, mean) for mean in (record, other))
    kept = (p > _RARE) & (q > _RARE)
    p, q = p[kept], q[kept]
    relative = np.maximum(p_error[kept], q_error[kept])
    sound = relative < _SURE  # of narrow cells where the probability of being below is nearly 1
    p, q, error = p[sound], q[sound], float(relative[sound].max(initial=0.0))
    return _law(p, q, error), _law(q, p, error)


def _law(p: Floats, q: Floats, error: float) -> AtomicLoss:
    loss = np.log(p) - np.log(q)
    order = np.argsort(loss, kind="stable")
    return AtomicLoss(loss[order], p[order], (0.0, 0.0), None, error, 2 * error + 1e-12)


def _masses(edges: Floats, sigma: float, steps: int, mean: float) -> tuple[Floats, Floats]:
    """Return the probabilities of the cells and their relative errors, from the nearer tail."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_below = log_ndtr((edges - mean) / sigma) + (steps - 1) * log_ndtr(edges / sigma)
        below, above = np.exp(log_below), -np.expm1(log_below)
        down, up = np.diff(below), -np.diff(above)
        by_tail = above[:-1] < 0.5
        mass = np.where(by_tail, up, down)
        size = np.where(by_tail, above[:-1], below[1:] * (1 + np.abs(log_below[1:])))
        error = _ROUNDING * (2 + np.log(float(steps))) * size / mass
    return np.where(mass > 0, mass, 0.0), np.where(mass > 0, error, np.inf)
