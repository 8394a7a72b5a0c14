"""The contract of a noise's privacy loss: it is the difference of log densities, and keeps its digits far out."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, integrate
from tcdp_sim.noise.missing import defines
from tcdp_sim.noise.probes import CLOSE, both_sides, first, line, positive

_FAR = 2.0 ** np.arange(1, 61, 3)  # times the outermost quantile, as far as level sets are looked for
_SHIFTS = (0.1, 1.0, 7.3)  # of a scale; a scale is the quantile of 1/4
_OF_LOSS = 1e-9  # nats, times 1 + the size of both log densities
_EPSILON = 0.3
_TINY, _SMALL = -46, -17  # log2 of two small shifts, in scales
_OF_TINY = 1e-3  # relative distance of their losses per shift


def _shifts(noise: Any) -> Iterator[float]:
    if noise.is_discrete:
        yield from (float(noise.step_length), -3 * float(noise.step_length))
        return
    for share in _SHIFTS:
        yield from (share * float(noise.isf(0.25)), -share * float(noise.isf(0.25)))


def _losses(noise: Any) -> Iterator[str]:
    """Check privacy_loss against log densities, at shifts of both signs, and its stated supremum."""
    x = np.concatenate([both_sides(noise), [0.0] if not noise.is_discrete else []])
    for shift in _shifts(noise):
        here, there = np.asarray(noise.logpdf(x)), np.asarray(noise.logpdf(x - shift))
        found, expected = np.asarray(noise.privacy_loss(x, shift)), here - there
        size = _OF_LOSS * (1 + np.where(np.isfinite(expected), np.abs(here) + np.abs(there), 0.0)) + _slope_error(
            noise, x, shift
        )
        same = np.where(np.isfinite(expected), np.abs(found - expected) <= size, found == expected)
        if (i := first(~same & ~np.isnan(expected))) is not None:
            given = f"{x[i]:.10g}, {shift:.10g}"
            yield line(noise, "privacy_loss", given, found[i], f"{expected[i]:.10g}, the difference of log densities")
            return
        one = float(np.asarray(noise.privacy_loss(float(x[0]), shift)))
        if not (one == found[0] or np.isclose(one, found[0], rtol=1e-12, equal_nan=True)):
            yield line(
                noise, "privacy_loss", f"{x[0]:.10g}, {shift:.10g}", one, f"what it gives for an array, {found[0]:.10g}"
            )
            return
        most, reached = (
            float(noise.largest_loss(abs(shift))),
            np.max(np.abs(found[np.isfinite(here + there)]), initial=0.0),
        )
        if reached > most * (1 + 1e-9):
            yield line(
                noise,
                "largest_loss",
                f"{abs(shift):.10g}",
                most,
                f"at least {reached:.10g}, which privacy_loss reaches",
            )
            return


def _slope_error(noise: Any, x: Floats, shift: float) -> Floats:
    """Return the change of the log densities by rounding of x and x - shift, which steep densities show."""
    moved = [np.abs(noise.logpdf(y * (1 + 1e-14)) - noise.logpdf(y * (1 - 1e-14))) for y in (x, x - shift)]
    return np.where(np.isfinite(moved[0]), moved[0], 0.0) + np.where(np.isfinite(moved[1]), moved[1], 0.0)


def _far_losses(noise: Any) -> Iterator[str]:
    """Check that a loss of the class's own keeps its digits far out: it adds up from the losses of half the shift.

    A difference of two powers of y cancels there, first to a few digits and then to 0.
    """
    if noise.step_length is not None or not defines(noise, "privacy_loss"):
        return
    outermost = positive(noise)[-1]
    x = np.concatenate([positive(noise), outermost * _FAR])
    half = 0.5 * float(noise.isf(0.25))
    for side in (1, -1):
        y = side * x[x < 1e290]
        whole = np.asarray(noise.privacy_loss(y, 2 * half))
        parts = np.asarray(noise.privacy_loss(y, half)) + np.asarray(noise.privacy_loss(y - half, half))
        known = np.isfinite(whole) & np.isfinite(parts)
        slack = CLOSE * np.maximum(np.abs(whole), np.abs(parts)) + 1e-12 * np.minimum(1.0, np.abs(half / y)) + 1e-290
        if (i := first(known & ~(np.abs(whole - parts) <= slack))) is not None:
            right = f"{parts[i]:.10g}, the sum over both halves of the shift: the formula loses digits far from zero"
            yield line(noise, "privacy_loss", f"{y[i]:.10g}, {2 * half:.10g}", whole[i], right)
            return
        if not noise.log_concave:
            continue
        falls = np.asarray(noise.privacy_loss(np.sort(y), 2 * half))
        rise = np.diff(falls) > 1e-9 * np.maximum(np.abs(falls[1:]), np.abs(falls[:-1])) + 1e-300
        if (i := first(rise)) is not None:
            right = f"at most {falls[i]:.10g}, since a log-concave noise has losses that fall"
            yield line(noise, "privacy_loss", f"{np.sort(y)[i + 1]:.10g}, {2 * half:.10g}", falls[i + 1], right)
            return


def _small_losses(noise: Any) -> Iterator[str]:
    """Check that a loss of the class's own keeps its digits at a tiny shift: it is in proportion to a larger one's.

    The shifts are powers of two and outputs are multiples of the smaller one, so that nothing is rounded before the
    loss is computed. Sums of two losses are no test here, because the same rounded powers cancel in them.
    """
    if noise.step_length is not None or not defines(noise, "privacy_loss"):
        return
    small, large = (2.0 ** (np.floor(np.log2(float(noise.isf(0.25)))) + power) for power in (_TINY, _SMALL))
    y = both_sides(noise)
    y = np.unique(np.round(y[np.abs(y) < 2.0**51 * small] / small) * small)
    y = y[np.abs(np.subtract.outer(y, np.append(noise.kinks, 0.0))).min(axis=1) > 1e3 * large]
    found, right = noise.privacy_loss(y, small) / small, noise.privacy_loss(y, large) / large
    wrong = np.isfinite(found) & np.isfinite(right) & ~(np.abs(found - right) <= _OF_TINY * np.abs(right))
    if (i := first(wrong)) is not None:
        exact = f"about {right[i] * small:.6g}, in proportion to larger shifts: the formula loses digits at small ones"
        yield line(noise, "privacy_loss", f"{y[i]:.10g}, {small:.6g}", found[i] * small, exact)


def _concavity(noise: Any) -> Iterator[str]:
    """Check a noise that says it is log-concave: the log density at a middle is at least the mean of both ends."""
    if not noise.log_concave or noise.is_discrete:
        return
    x = np.unique(np.concatenate([both_sides(noise), [0.0]]))
    left, right = np.triu_indices(len(x), 1)
    log_pdf, middle = np.asarray(noise.logpdf(x)), np.asarray(noise.logpdf(0.5 * (x[left] + x[right])))
    mean = 0.5 * (log_pdf[left] + log_pdf[right])
    bad = np.isfinite(mean) & (middle < mean - 1e-9 * (1 + np.abs(mean)))
    if (i := first(bad)) is not None:
        at = 0.5 * (x[left[i]] + x[right[i]])
        more = (
            f"at least {mean[i]:.10g}, the mean at {x[left[i]]:.10g} and {x[right[i]]:.10g}, since log_concave is True"
        )
        yield line(noise, "logpdf", f"{at:.10g}", middle[i], more)


def _closed(noise: Any) -> Iterator[str]:
    """Check closed forms of divergences, and the loss once more, against integrals of the density alone."""
    if noise.is_discrete:
        return
    shift = float(noise.isf(0.25))
    grid = np.unique(
        np.concatenate([both_sides(noise), both_sides(noise) + shift, noise.kinks, noise.kinks + shift, [0.5 * shift]])
    )
    edges = grid[np.isfinite(grid) & (np.abs(grid) <= float(noise.isf(1e-40)) + shift)]

    def gain(y: Floats) -> Floats:
        return np.maximum(noise.pdf(y) - np.exp(_EPSILON) * noise.pdf(y - shift), 0.0)

    def by_loss(y: Floats) -> Floats:
        share = np.maximum(-np.expm1(_EPSILON - np.asarray(noise.privacy_loss(y, shift))), 0.0)
        return np.where(noise.pdf(y) > 0, noise.pdf(y) * share, 0.0)

    def moment(y: Floats) -> Floats:
        return np.where(noise.pdf(y) > 0, np.exp(2 * noise.logpdf(y) - noise.logpdf(y - shift)), 0.0)

    profile = integrate(gain, edges, 1e-7, 30)
    yield from _compared(noise, "privacy_loss", "profile by its losses", profile, integrate(by_loss, edges, 1e-7, 30))
    if defines(noise, "closed_hockey_stick"):
        closed = noise.closed_hockey_stick(shift, np.array([_EPSILON]))
        yield from _compared(noise, "closed_hockey_stick", f"{shift:.10g}, {_EPSILON:g}", profile, closed)
    if defines(noise, "closed_renyi") and noise.max_order(shift) > 2:
        second = Bounds(*map(np.log, integrate(moment, edges, 1e-7, 30)))
        closed = noise.closed_renyi(shift, np.array([2.0]))
        yield from _compared(noise, "closed_renyi", f"{shift:.10g}, 2", second, closed)


def _compared(noise: Any, method: str, given: str, right: Bounds, found: Any) -> Iterator[str]:
    """Yield a line if the estimate of bounds differs from an integral of densities. None claims nothing."""
    if found is None:
        return
    value, slack = float(np.ravel(found.estimate)[0]), 1e-5 * abs(right.estimate) + 1e-12
    if not right.lower - slack <= value <= right.upper + slack:
        yield line(noise, method, given, value, f"{right.estimate:.10g}, from log densities")


CHECKS: tuple[Callable[[Any], Iterator[str]], ...] = (_losses, _far_losses, _small_losses, _concavity, _closed)
