"""Mutual information between a uniform one of k bins and the noisy histogram of n records that all lie in it.

Y_j is the noise of bin j, plus n in the bin U. The e_j = p(Y_j - n) / p(Y_j) are independent, and the posterior law of
U given Y is proportional to them. So I(U; Y) = log k - E log(1 + R), with R the sum of e_j / e_U over the k - 1 empty
bins j. log(1 + x) is the integral over t > 0 of (1 - e^(-t x)) e^-t dt / t. With t = s e_U (derived here)

    E log(1 + R) = integral over s > 0 of (1 - f(s)^(k - 1)) g(s) ds / s,   f(s) = E e^(-s e_j),   g(s) = E e^(-s e_U).

These are two integrals of one dimension at each s, for every k.
"""

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import real
from tcdp_sim.core.numerics import Bounds, gauss_panels
from tcdp_sim.exact.information import ENTROPY_ROUNDING, MANY_TAILS
from tcdp_sim.exact.resolution import need_density, with_kinks
from tcdp_sim.noise import Noise

MOST_BINS = 1e280
STEP = 0.2  # step of log s; the integrand is analytic for |Im log s| < pi/2, so the error is about e^(-pi^2 / step)
FAR = 45.0  # log s from -FAR - log k to FAR leaves out at most e^-FAR, as g(s) <= 1 / s and 1 - f^(k-1) <= k s
LOSS_STEP = 1.0  # largest change of log e on a panel, in nats
PIECE = 64  # number of values of log s that are computed at a time
ROUNDING = 1e-12


def histogram_information(noise: Noise, n: float, k: float) -> Bounds:
    """Return the mutual information I(U; M) between a uniform bin U and the noisy histogram M of n records in that bin.

    Derived here, in the docstring of the module.

    Parameters
    ----------
    noise : Noise
        The noise in each of the k bins. It has a density, its own `privacy_loss` and plain numbers as parameters.
    n : float
        The number of records, >= 0, finite.
    k : float
        The number of bins, a whole number from 1 to 1e280.

    Returns
    -------
    Bounds
        The information in nats, with an absolute error of about 1e-10. The bounds sum the distance between two steps of
        the outer rule, the distance between two inner rules, and the rounding.

    Raises
    ------
    ValueError
        If a value is out of range, or the noise is discrete, array-valued or without a `privacy_loss` of its own.

    Examples
    --------
    >>> from tcdp_sim.noise import Gaussian
    >>> round(histogram_information(Gaussian(1.0), 100.0, 8).estimate, 4)  # log(8)
    2.0794
    """
    bins = real("k", k, 1, MOST_BINS, closed=True, finite=False)
    records = real("n", n, 0, closed=True)
    if noise.shape:
        raise ValueError(f"noise = {noise!r} has array-valued parameters; valid: one noise")
    noise.need_loss()
    need_density(noise)
    if records == 0 or bins == 1:
        return Bounds(0.0, 0.0, 0.0)
    log_k = float(np.log(bins))
    edges = _edges(noise, records, log_k)
    log_s = np.arange(-FAR - log_k, FAR, STEP)
    fine, coarse = (_integrand(noise, records, bins, log_s, gauss_panels(edges, nodes)) for nodes in (20, 10))
    lost = STEP * fine.sum()
    error = abs(STEP * coarse.sum() - lost) + abs(2 * STEP * fine[::2].sum() - lost) + ROUNDING * (1 + log_k)
    ends = log_k - lost - error, log_k - lost, log_k - lost + error
    return Bounds(*map(float, ends)).clipped(0.0, log_k * (1 + ENTROPY_ROUNDING))


def _log_e(noise: Noise, n: float, log_k: float, x: Floats) -> Floats:
    """Return log e at output x, cut off where e^(-s e) is 0 or 1 for every s that counts."""
    with np.errstate(invalid="ignore"):
        loss = noise.privacy_loss(x, n)
    return np.clip(np.where(np.isnan(loss), 0.0, -loss), -2 * FAR, 2 * FAR + log_k)


def _edges(noise: Noise, n: float, log_k: float) -> Floats:
    """Return panels over all outputs that matter, on each of which log e changes by LOSS_STEP at most."""
    arm = with_kinks(noise, noise.isf(MANY_TAILS))
    x = np.unique(np.concatenate([-arm, arm, n - arm, n + arm, np.linspace(0, n, 20)]))
    change = np.abs(np.diff(_log_e(noise, n, log_k, x)))
    pieces = np.ceil(np.maximum(change / LOSS_STEP, 1)).astype(int)
    starts = np.repeat(x[:-1], pieces)
    nth = np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.append(starts + nth * np.repeat(np.diff(x) / pieces, pieces), x[-1])


def _integrand(noise: Noise, n: float, k: float, log_s: Floats, rule: tuple[Floats, Floats]) -> Floats:
    """Return (1 - f^(k - 1)) g at s = e^log_s. `rule` has the nodes and weights of an integral over one output."""
    x, weight = rule
    log_e = _log_e(noise, n, float(np.log(k)), x)
    empty, own = weight * noise.pdf(x), weight * noise.pdf(x - n)
    values = []
    for some in np.array_split(log_s, len(log_s) // PIECE + 1):
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            exponent = -np.exp(np.add.outer(some, log_e))
            missing = np.minimum(-np.expm1(exponent) @ empty, 1.0)  # 1 - f
            values.append(-np.expm1((k - 1) * np.log1p(-missing)) * (np.exp(exponent) @ own))
    return np.concatenate(values)
