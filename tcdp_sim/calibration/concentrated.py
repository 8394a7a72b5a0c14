"""Noise with the smallest error that meets a concentrated guarantee at every order, by quadrature.

For sinh-normal noise the theorems' constants are about four times too large (Theorem 17 of Bun-Dwork-Rothblum-Steinke
2018 is tight up to a factor 9.6 in rho). Here scale and knee are searched for directly: a fast, uncertified divergence
finds them, then the guarantee is certified with the upper ends of `exact.renyi_divergence`, and the scale grows until
it holds. Certified means: for all orders, by convexity, from upper ends that rest on the agreement of two Gauss rules
and on the accuracy of the density; it is not interval arithmetic.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp

from tcdp_sim.exact.divergence import max_order, renyi_divergence
from tcdp_sim.noise import Laplace, Noise, SinhNormal

SLACK = 1e-4  # how much of rho the certificate may leave unused: 5e-5 of the scale
KNEE_DIGITS, SCALE_DIGITS = 5, 8  # few enough that every machine ends at the same noise
_FRONTIER = 28  # knees: interpolated between them, the error is at most 1e-4 above the best
_SHARES = np.array([1e-3, 0.1, 0.25, 0.5, 0.7, 0.85, 0.95, 1.0])
LARGEST = 1e7  # omega sqrt(rho) beyond which double precision certifies nothing
_WIDEST = 1e3  # knees beyond this many Gaussian scales are Gaussian noise for every purpose


@lru_cache(maxsize=4096)
def tight_sinh_normal(rho: float, omega: float, sensitivity: float, objective: Callable[[Noise], float]) -> SinhNormal:
    """The noise minimising `objective` among log-concave sinh-normals with D_a <= rho a for all 1 < a < omega.

    rho, omega: of one coordinate; sensitivity: its shift. Log-concavity (knee >= scale) makes the largest shift the
    worst one, so the certificate covers every smaller shift. Raises ValueError if the certificate cannot be had.
    """
    if omega * np.sqrt(rho) > LARGEST:
        raise _uncertified(rho, omega)
    log_knee, log_scale = _frontier(rho, omega)

    def error(x):
        return objective(SinhNormal(sensitivity * np.exp(log_scale(x)), sensitivity * np.exp(x)))

    best = minimize_scalar(error, bounds=(log_knee[0], log_knee[-1]), method="bounded", options={"xatol": 1e-3})
    knee = rounded_up(np.exp(best.x), KNEE_DIGITS)
    scale = rounded_up(_least_scale(rho, omega, knee) * (1 + SLACK / 2), SCALE_DIGITS)  # chords need some room
    for attempt in range(12):
        if is_certified(SinhNormal(scale, knee), 1.0, rho, omega):
            return SinhNormal(sensitivity * scale, sensitivity * knee)
        scale = rounded_up(scale * (1 + SLACK * 2**attempt), SCALE_DIGITS)
        knee = max(knee, scale)
    raise _uncertified(rho, omega)


def _uncertified(rho, omega) -> ValueError:
    told = f"sinh_normal: quadrature certifies no noise at rho = {rho:g} a coordinate, omega = {omega:g}"
    return ValueError(f"{told}; valid: omega sqrt(rho) <= {LARGEST:g}, or method 'paper'")


@lru_cache(maxsize=1024)
def tight_laplace(rho: float, omega: float, sensitivity: float) -> Laplace:
    """The Laplace noise of smallest scale with D_a <= rho a for all 1 < a < omega (inf: zCDP); rho of one coordinate.

    Slightly less than the scale sensitivity / sqrt(2 rho) of Bun-Steinke 2016, Proposition 4, which is tight for
    small rho only. D_a never exceeds epsilon = sensitivity / scale, so orders beyond epsilon / rho need no look.
    """

    def worst(epsilon):
        orders = 1 + np.concatenate([[0.0], min(omega - 1, epsilon / rho) * np.geomspace(1e-4, 1, 200)])
        return (renyi_divergence(Laplace(1 / epsilon), 1.0, orders).estimate / orders).max() - rho

    paper = np.sqrt(2 * rho)
    high = 2 * paper
    while worst(high) < 0:
        high *= 2
    scale = rounded_up((1 + SLACK / 2) / brentq(worst, paper / 2, high, rtol=1e-12), SCALE_DIGITS)
    for attempt in range(12):
        noise = Laplace(scale)
        if is_certified(noise, 1.0, rho, min(omega, max(2.0, 1 / (scale * rho)))):
            return Laplace(sensitivity * scale)
        scale = rounded_up(scale * (1 + SLACK * 2**attempt), SCALE_DIGITS)
    raise ValueError(f"laplace: quadrature certifies no noise at rho = {rho:g} a coordinate, omega = {omega:g}")


def is_certified(noise: Noise, shift: float, rho: float, omega: float) -> bool:
    """Whether D_a <= rho a for ALL orders 1 < a < omega, and all smaller shifts, follows from finitely many bounds.

    s D_(1+s), s = a - 1, is convex in s and zero at s = 0, so between two orders it lies below its chord; the
    guarantee allows rho s (s + 1), and every chord must stay below that parabola. Intervals where it does not
    are halved, until they are so short that a chord of the parabola itself would rise above it by less than SLACK.
    """
    if not max_order(noise, shift) > omega or not np.isfinite(omega):
        return False
    if not noise.log_concave:
        return False  # a smaller shift may be worse
    ends = (omega - 1) * np.geomspace(1e-3, 1, 13)
    left, right = np.concatenate([[0.0], ends[:-1]]), ends
    value = _scaled_divergence(noise, shift, right)
    low, high = np.concatenate([[0.0], value[:-1]]), value
    while True:
        if (high > rho * right * (right + 1)).any():
            return False
        fails = _chord_excess(left, right, low, high, rho) > 0
        left, right, low, high = left[fails], right[fails], low[fails], high[fails]
        if not fails.any():
            return True
        if (rho * (right - left) ** 2 / 4 < SLACK * rho * right * (right + 1)).any():
            return False
        middle = np.where(left > 0, np.sqrt(left * right), 0.1 * right)
        value = _scaled_divergence(noise, shift, middle)
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        low, high = np.concatenate([low, value]), np.concatenate([value, high])


def _scaled_divergence(noise, shift, s):
    """Upper bounds on s D_(1+s)."""
    return s * renyi_divergence(noise, shift, 1 + s).upper


def _chord_excess(left, right, low, high, rho):
    """The most by which the chord from (left, low) to (right, high) rises above rho s (s + 1) in between."""
    slope = (high - low) / (right - left)
    touch = np.clip((slope / rho - 1) / 2, left, right)  # where the parabola is parallel to the chord
    return low + slope * (touch - left) - rho * touch * (touch + 1)


@lru_cache(maxsize=1024)
def _frontier(rho, omega):
    """The noises to choose from, whatever the objective: log knees and, interpolated, the log of the least scale."""
    least = -2 / np.log1p(-1 / omega)  # the divergence of order omega is finite for larger knees only
    gaussian = 1 / np.sqrt(2 * rho)
    low, high = np.log(max(least * 1.0001, gaussian)), np.log(_WIDEST * max(gaussian, least))
    low = _least_log_knee(rho, omega, low, high)
    log_knee = low + (high - low) * np.linspace(0, 1, _FRONTIER) ** 3  # it bends where the knee is small
    log_scale = np.log([_least_scale(rho, omega, np.exp(x)) for x in log_knee])
    return log_knee, PchipInterpolator(log_knee, log_scale)


def _least_log_knee(rho, omega, low, high):
    """The smallest log knee at which a log-concave noise meets the target."""

    def slack(log_knee):
        return _excess(np.exp(log_knee), np.exp(log_knee), rho, omega)

    return low if slack(low) <= 0 else brentq(slack, low, high, xtol=1e-4)


def _least_scale(rho, omega, knee):
    """The smallest scale <= knee at which the target is met, by the fast divergence."""
    gaussian = 1 / np.sqrt(2 * rho)
    if _excess(knee, knee, rho, omega) > 0:
        return knee
    if _excess(gaussian, knee, rho, omega) <= 0:
        return gaussian
    return brentq(lambda scale: _excess(scale, knee, rho, omega), gaussian, knee, rtol=1e-12)


def _excess(scale, knee, rho, omega):
    """By how much log(D_a / (rho a)) exceeds 0 at the worst of a few orders; shift one. Trapezoid rule, uncertified."""
    s = (omega - 1) * _SHARES
    # P e^(sL) peaks where (s + 1) (log p)'(x) = s (log p)'(x - 1): at x = -peak, up to a term of tanh(x / knee) / knee
    rise = np.sinh(2 / knee) / (1 / s - 2 * np.sinh(1 / knee) ** 2)
    if not ((rise > 0) & (rise < 1)).all():
        return np.inf
    peak = knee / 2 * np.arctanh(rise)
    far = peak > 12 * scale  # e^72 times as much as everything else
    noise = SinhNormal(scale, knee)
    scaled = [_far_divergence(noise, s[i], peak[i]) for i in np.flatnonzero(far)]
    if not far.all():
        scaled = np.concatenate([_near_divergences(noise, s[~far], peak[~far].max()), scaled])
    worst = (scaled / (rho * s * (s + 1))).max()
    return np.log(worst) if np.isfinite(worst) else np.inf


def _near_divergences(noise, s, peak):
    """s D_(1+s), for peaks among the noise's own mass."""
    reach = noise.knee * np.arcsinh(12 * noise.scale / noise.knee) * 1.5 + 2
    x = np.linspace(-max(reach, peak + reach / 1.5), reach, 301)
    s = s[:, None]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        log_p, loss = noise.logpdf(x), noise.privacy_loss(x, 1.0)
        p = np.exp(log_p)
        terms = np.where(log_p > -700, p * (np.expm1(s * loss) + s * np.expm1(-loss)), np.exp(log_p + s * loss))
        return np.log1p(terms.sum(axis=1) * (x[1] - x[0]))


def _far_divergence(noise, s, peak):
    """s D_(1+s) for a peak far outside: in logarithms, on a grid as wide as the peak."""
    angle, turn = 2 / noise.knee, 2 * peak / noise.knee
    fall = (s + 1) * np.cosh(turn) - s * np.cosh(turn + angle)
    width = noise.scale / np.sqrt(fall) if fall > 0 else noise.scale
    x = -peak + width * np.linspace(-16, 16, 301)
    if x[1] == x[0]:  # narrower than numbers are apart: nothing is known
        return np.inf
    return logsumexp(noise.logpdf(x) + s * noise.privacy_loss(x, 1.0)) + np.log(x[1] - x[0])


def rounded_up(x: float, digits: int) -> float:
    """x > 0, rounded up to so many significant digits."""
    step = 10.0 ** (np.floor(np.log10(x)) - digits + 1)
    return float(f"{np.ceil(x / step) * step:.{digits}g}")
