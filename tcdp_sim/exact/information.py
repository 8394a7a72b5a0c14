"""Mutual information between a random true answer and its noisy version, in nats, by quadrature."""

from math import factorial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import Bounds, integrate
from tcdp_sim.exact.resolution import need_density, with_kinks
from tcdp_sim.exact.work import MOST_POINTS, spend, within
from tcdp_sim.noise import Noise

MOST_ANSWERS = 200
FAR = 1e-40  # tails below this probability are bounded and not integrated
_LEVELS = np.array([0.4, 0.25, 0.1, 0.02, 1e-3, 1e-5, 1e-8, 1e-12, 1e-18, 1e-26, FAR])
ENTROPY_ROUNDING = 1e-14  # error of an entropy in nats, relative above 1 and absolute below
MANY_TAILS = 0.5 * 10.0 ** np.linspace(0, np.log10(FAR), 80)
_SERIES = [(k - 1) / factorial(k) for k in range(8, 1, -1)]


@within(MOST_POINTS, "valid: fewer answers")
def mutual_information(noise: Noise, answers: ArrayLike, probabilities: ArrayLike | None = None) -> Bounds:
    """Return the mutual information I(A; A + Z) of a random true answer A and its noisy version.

    The error bounds are derived here.

    Parameters
    ----------
    noise : Noise
        The noise Z. It has a density, its own `privacy_loss` and plain numbers as parameters.
    answers : array
        The values of A in counts, finite and different, shape (T,) with 1 <= T <= 200. [0, n] is the sum of n copies of
        a fair bit, and range(T) * n that of n copies of a uniform point.
    probabilities : array, optional
        The probabilities of the answers, positive, shape (T,). They are scaled to sum 1. The default is equal ones.

    Returns
    -------
    Bounds
        The information in nats, between 0 and the entropy of A. The relative error is about 1e-9 down to 1e-30 nats.

    Raises
    ------
    ValueError
        If a value is out of range, or the noise is discrete, array-valued or without a `privacy_loss` of its own.

    Notes
    -----
    With m the density of A + Z and d = log(p / m), the integrand m (d e^d - e^d + 1) is >= 0. So small information
    keeps its digits.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(mutual_information(Gaussian(1.0), [0.0, 100.0]).estimate, 6)  # log(2)
    0.693147
    """
    values, weights = _prior(answers, probabilities)
    if noise.shape:
        raise ValueError(f"noise = {noise!r} has array-valued parameters; valid: one noise")
    noise.need_loss()
    need_density(noise)
    if len(values) == 1:
        return Bounds(0.0, 0.0, 0.0)
    entropy = float(-(weights * np.log(weights)).sum())

    def integrand(x: Floats) -> Floats:
        log_mix, log_ratio = _log_ratios(noise, values, np.log(weights), x)
        return np.exp(log_mix) * (weights @ _gain(log_ratio))

    total = integrate(integrand, _edges(noise, values), relative=1e-11)
    beyond = 2 * FAR * -np.log(weights.min())  # each term is at most its density times log(1 / weight)
    lower, upper = total.lower * (1 - 1e-11), total.upper * (1 + 1e-11) + beyond
    return Bounds(float(lower), float(total.estimate), float(upper)).clipped(
        0.0, entropy + ENTROPY_ROUNDING * (1 + entropy)
    )


def _prior(answers: ArrayLike, probabilities: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return the answers in ascending order, and their probabilities."""
    values = np.atleast_1d(np.asarray(real("answers", answers, -np.inf)))
    if values.ndim != 1 or not 1 <= len(values) <= MOST_ANSWERS or len(np.unique(values)) < len(values):
        raise ValueError(f"answers are not valid; valid: 1 to {MOST_ANSWERS} different numbers")
    given = np.ones(len(values)) if probabilities is None else probabilities
    weights = np.atleast_1d(np.asarray(real("probabilities", given, 0)))
    if weights.shape != values.shape:
        raise ValueError(f"probabilities are not valid; valid: one for each of the {len(values)} answers")
    order = np.argsort(values)
    return values[order], weights[order] / weights.sum()


def _edges(noise: Noise, answers: Floats) -> Floats:
    """Return panel edges around every answer and at the kinks, including the ends of a bounded support."""
    levels = [*_LEVELS[:: max(len(answers) // 10, 1)], FAR]  # with many answers the edges of one serve the others
    arm = with_kinks(noise, noise.isf(np.array(levels)))
    return np.unique(np.add.outer(answers, np.concatenate([-arm, arm])))


def _log_ratios(noise: Noise, answers: Floats, log_weights: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return the log density of the mixture at x, and log(p / mixture) for each answer's density p, shape (T, size).

    Densities are compared with the density of the nearest answer by the privacy loss, which is not a difference. If all
    are nearly the same, the mean of e^gap - 1 is taken, so that a ratio near 1 keeps its digits.
    """
    nearest = answers[np.abs(np.subtract.outer(answers, x)).argmin(axis=0)]
    with np.errstate(all="ignore"):
        base = noise.logpdf(x - nearest)
        spend(x.size * len(answers) * noise.density_cost)
        gap = -noise.privacy_loss(x - nearest, np.subtract.outer(answers, nearest))
        gap = np.where(np.isnan(gap), -np.inf, gap)
        close = np.log1p(np.exp(log_weights) @ np.expm1(gap))
        mean = np.where(np.abs(gap).max(axis=0) < 0.1, close, logsumexp(gap + log_weights[:, None], axis=0))
        log_mix = np.where(np.isneginf(base), -np.inf, base + mean)
        return log_mix, np.where(np.isneginf(log_mix), -np.inf, gap - mean)


def _gain(log_ratio: Floats) -> Floats:
    """Return d e^d - e^d + 1 for d = log_ratio, without cancellation near 0. It is 1 at -inf."""
    with np.errstate(all="ignore"):
        series = log_ratio**2 * np.polyval(_SERIES, log_ratio)
        direct = np.where(np.isneginf(log_ratio), 0.0, log_ratio * np.exp(log_ratio)) - np.expm1(log_ratio)
    return np.where(np.abs(log_ratio) < 0.03, series, direct)
