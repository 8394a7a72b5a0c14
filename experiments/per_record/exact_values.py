"""Exact laws of the errors of released sums, from the laws of the releases."""

from functools import lru_cache
from typing import Any

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.mechanisms.per_record_sum import TOLERANCE, PerRecordSum
from tcdp_sim.per_record import AdditiveRelease
from tcdp_sim.store import columns

LARGEST_LOG, PANEL = 350.0, 0.25  # quadrature in log z: its end (z^2 must be a float) and the width of its panels
LOWEST, HIGHEST, HALVINGS = -150.0, 350.0, 70  # bisection on log |error|; an error below LOWEST counts as 0


def tail(mechanism: PerRecordSum, r: Any) -> Floats:
    """Return P[|error| > r] of each group, shape (groups, n), for a number r >= 0 or an array of shape (groups, n)."""
    release, answers = mechanism.release, np.array(mechanism.answers)[:, None]
    truths = np.array(mechanism.true_sums)[:, None]
    above, low = release.sf(answers, truths + r), truths - r
    below = release.cdf(answers, low)  # only a release with negative values set to 0 has an atom, at 0
    return above + np.where((low > 0) | (not _clamped(mechanism)), below, 0.0)


def _clamped(mechanism: PerRecordSum) -> bool:
    return mechanism.nonnegative or getattr(mechanism.release, "nonnegative", False)


@lru_cache(maxsize=64)
def abs_error_quantiles(mechanism: PerRecordSum, levels: tuple[float, ...]) -> Floats:
    """Return the quantiles of |error| of each group at the levels, shape (groups, levels)."""
    u = np.array(levels)
    shape = len(mechanism.answers), len(u)
    if (noise := _plain_noise(mechanism)) is not None:
        return np.broadcast_to(noise.isf((1 - u) / 2), shape)
    low, high = np.full(shape, LOWEST), np.full(shape, HIGHEST)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        beyond = tail(mechanism, np.exp(middle)) > 1 - u
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.where(low == LOWEST, 0.0, np.exp(high))


def relative_error_quantiles(mechanism: PerRecordSum, levels: tuple[float, ...]) -> Floats:
    """Return the quantiles of |error| over the true sum. For a sum of 0 they are 0 without error, else inf."""
    sizes, truths = abs_error_quantiles(mechanism, levels), np.array(mechanism.true_sums)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sizes == 0, 0.0, sizes / truths)


def typical_error(mechanism: PerRecordSum) -> float:
    """Median over groups of each group's own median relative error."""
    return float(np.median(relative_error_quantiles(mechanism, (0.5,))))


def rmse(mechanism: PerRecordSum) -> float:
    """Root of the mean squared error of one sum; inf where it is infinite."""
    if len(mechanism.answers) > 1:
        return np.nan
    release, answer = mechanism.release, mechanism.answers[0]
    if mechanism.nonnegative:
        return _clamped_rmse(release, answer) if isinstance(release, AdditiveRelease) else np.nan
    more = () if mechanism.truths is None else (mechanism.truths[0],)
    return float(np.sqrt(release.mse(answer, *more)))


def _clamped_rmse(release: AdditiveRelease, answer: float) -> float:
    """Return the RMSE of max(answer + Z, 0).

    Clamping reduces the contribution of Z < -answer to the variance by the integral of 2 z P[Z > z].
    """
    variance = float(release.var(answer))
    if not 0 < answer < np.inf > variance:
        return float(np.sqrt(variance / 2)) if answer == 0 else np.inf
    x, weight = np.polynomial.legendre.leggauss(16)
    edges = np.arange(np.log(answer), LARGEST_LOG, PANEL)
    z = np.exp((edges[:-1, None] + PANEL * (x + 1) / 2).ravel())
    gain = PANEL / 2 * np.sum(np.tile(weight, len(edges) - 1) * 2 * z**2 * release.noise.sf(z))
    return float(np.sqrt(variance - gain))


def trials_for_rmse(mechanism: PerRecordSum) -> float:
    """Return the number of trials that give the mean squared error of one sum to 1%, which is 1e4 (kurtosis - 1).

    It is inf where the kurtosis is unknown.
    """
    if mechanism.nonnegative:
        return np.inf
    more = () if mechanism.truths is None else (mechanism.truths[0],)
    return 1e4 * (float(mechanism.release.kurtosis(mechanism.answers[0], *more)) - 1)


def share_within(mechanism: PerRecordSum) -> float:
    """Mean over groups of P[|error| <= 10% of the true sum]."""
    beyond = tail(mechanism, TOLERANCE * np.array(mechanism.true_sums)[:, None])
    return float(np.clip(1 - beyond, 0, 1).mean())  # rounding may lift a sum above 1


def share_negative(mechanism: PerRecordSum) -> float:
    """Mean over groups of P[release < 0]."""
    return 0.0 if _clamped(mechanism) else float(np.mean(mechanism.release.prob_negative(np.array(mechanism.answers))))


def _plain_noise(mechanism: PerRecordSum) -> Any:
    """Return the noise that is the error itself, None if the release transforms, clips or clamps the sum."""
    release = mechanism.release
    plain = not _clamped(mechanism) and mechanism.truths is None
    return release.noise if plain and isinstance(release, AdditiveRelease) else None


def _mean_error(mechanism: PerRecordSum) -> float:
    noise = _plain_noise(mechanism)
    return 0.0 if noise is not None and np.isfinite(noise.var()) else np.nan  # all noise is symmetric


def _error_quantiles(mechanism: PerRecordSum) -> Any:
    noise = _plain_noise(mechanism)
    return np.nan if noise is None else noise.ppf(columns.QUANTILES)


def _of_one(value: Any) -> Any:
    """Return the function for mechanisms of one sum; it is NaN for several."""

    def of_one(mechanism: PerRecordSum) -> Any:
        return value(mechanism) if len(mechanism.answers) == 1 else np.nan

    return of_one


def _of_groups(value: Any) -> Any:
    def of_groups(mechanism: PerRecordSum) -> float:
        return value(mechanism) if len(mechanism.answers) > 1 else np.nan

    of_groups.__doc__ = value.__doc__
    return of_groups


_LEVELS = tuple(map(float, columns.QUANTILES))
TYPICAL, RMSE = "typical_relative_error", "rmse"  # computed exactly; no trial yields them
EXACT = {
    columns.quantile("abs_error"): _of_one(lambda mechanism: abs_error_quantiles(mechanism, _LEVELS)[0]),
    columns.quantile("relative_error"): _of_one(lambda mechanism: relative_error_quantiles(mechanism, _LEVELS)[0]),
    columns.mean("squared_error"): _of_one(lambda mechanism: rmse(mechanism) * rmse(mechanism)),
    columns.quantile("squared_error"): _of_one(lambda mechanism: abs_error_quantiles(mechanism, _LEVELS)[0] ** 2),
    columns.mean("error"): _of_one(_mean_error),
    columns.quantile("error"): _of_one(_error_quantiles),
    RMSE: rmse,
    "within_10_percent": _of_one(share_within),
    "negative": _of_one(share_negative),
    columns.mean("share_within_10_percent"): _of_groups(share_within),
    columns.mean("share_negative"): _of_groups(share_negative),
    TYPICAL: _of_groups(typical_error),
}
UNITS = {TYPICAL: "1", RMSE: "values"}
_SIGNED = "for a release that is not the sum plus noise, the law of the error is solved for its size alone"
_SIZE = "the tail of the error's size is inverted for quantiles, and its integral is not computed"
_GROUPS = "the law of a median or share over many groups with unlike errors is not computed"
UNKNOWN = {
    columns.mean("error"): f"{_SIGNED}, and the mean of noise without a finite variance is left open",
    columns.quantile("error"): _SIGNED,
    columns.mean("abs_error"): _SIZE,
    columns.mean("relative_error"): _SIZE,
    columns.mean("squared_error"): "the mean square of a clamped release is computed for noise that is added alone",
    **{
        columns.quantile(name): _GROUPS
        for name in ("median_relative_error", "share_within_10_percent", "share_negative")
    },
    columns.mean("median_relative_error"): f"{_GROUPS}; {TYPICAL} is the median of each group's own median",
}
