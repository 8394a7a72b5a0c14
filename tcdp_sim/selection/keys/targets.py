"""The curve of each method that meets a guarantee, for persons with several keys.

A person adds at most `per_key` records to each of at most `keys` keys. The guarantee of all keys together is
(epsilon, delta)-DP, or delta-approximate tCDP with any omega.

- **Approximate tCDP** composes by adding rho and by 1 - delta = product of (1 - delta_i), so each key gets rho / keys.
- **(epsilon, delta)-DP** is shared in the best of a few ways between the delta that is lost at the keys and the delta
  of the rest. The rest is accounted exactly: randomised response composes for (epsilon', delta')-DP (Kairouz, Oh,
  Viswanath 2015), Renyi divergences add up and are converted by the best binary test, and noisy counts have exact
  profiles. "Best" means the fewest records for a release with probability 1/2.

A person's keys that are new to the data lose delta' each, and the counts of the other m keys have the profile H_m of
their noise. All cases are covered if 1 - (1 - delta')^j + H_(keys - j)(epsilon) <= delta for j = 0 ... keys (ours). The
profile of j new keys and m old ones is no larger in either direction, since the loss of a new key that stays hidden is
-log(1 - delta') surely: moving epsilon by j such losses moves H_m by at most 1 - (1 - delta')^j.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import exp, expm1, inf, log1p
from typing import Any, TypeVar

import numpy as np

from tcdp_sim.core import registry
from tcdp_sim.core.errors import choice, whole
from tcdp_sim.core.numerics import root
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, ApproxTCDP, ApproxZCDP, Guarantee, delta_at
from tcdp_sim.privacy.definitions import simplest
from tcdp_sim.privacy.least_rho import pure_epsilon
from tcdp_sim.selection.keys.approx_dp import OptimalApproxDP
from tcdp_sim.selection.keys.curve import ReleaseCurve, checked_per_key
from tcdp_sim.selection.keys.optimum import OptimalRDP, OptimalTCDP
from tcdp_sim.selection.keys.threshold import ThresholdCurve, least_threshold

Curve = TypeVar("Curve", bound=ReleaseCurve)
OPTIMA = ("optimal_dp", "optimal_rdp", "optimal_tcdp")
MOST_KEYS = 255  # as for the ledger's histograms of unknown keys
_SHARES = (0.1, 0.3, 0.6, 0.9)  # of delta that the keys lose
_NOISE_SHARES = (0.7, 1.0)  # of delta that noisy counts may spend
_ORDERS = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 10.0)  # multiples of log(1 / delta) / epsilon, added to 1
_DIGITS = 9  # of a parameter, rounded towards privacy, so that every processor finds the same one


def optimal_curve(
    method: str, guarantee: Guarantee, keys: int = 1, per_key: int = 1, omega: float = inf
) -> ReleaseCurve:
    """Return the best curve of a kind for a guarantee of all keys of a person together.

    For one key, "optimal_dp" is the best curve under (epsilon, delta)-DP, and "optimal_tcdp" under approximate tCDP.
    The other pairs of method and guarantee, and several keys, are the best of the kind that the accounting covers.

    Parameters
    ----------
    method : {"optimal_dp", "optimal_rdp", "optimal_tcdp"}
        The guarantee of a key.
    guarantee : ApproxDP, ApproxTCDP or ApproxZCDP
        The guarantee of all keys together, with 0 < delta < 1. "optimal_rdp" takes ApproxDP alone.
    keys : int
        The largest number of keys of a person, from 1 to 255.
    per_key : int
        The largest number of records of a person at a key, from 1.
    omega : float
        omega of "optimal_tcdp" for ApproxDP, above 1.

    Returns
    -------
    ReleaseCurve
        The curve of each key.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the method does not fit the guarantee.

    Examples
    --------
    >>> from tcdp_sim.privacy import ApproxDP
    >>> optimal_curve("optimal_dp", ApproxDP(1.0, 1e-6))
    OptimalApproxDP(epsilon=1.0, delta=1e-06, per_key=1)
    """
    choice("method", method, OPTIMA)
    return _optimal(method, _checked(guarantee), whole("keys", keys, 1, MOST_KEYS), checked_per_key(per_key), omega)


@lru_cache(maxsize=64)
def _optimal(method: str, guarantee: Guarantee, keys: int, per_key: int, omega: float) -> ReleaseCurve:
    if isinstance(guarantee, ApproxDP):
        if method == "optimal_dp" and keys == 1:
            return OptimalApproxDP(guarantee.epsilon, guarantee.delta, per_key)
        if method == "optimal_rdp":
            return _best_order(guarantee, keys, per_key)
        shared = _response_curve if method == "optimal_dp" else _concentrated_curve
        return _best(shared(guarantee, keys, per_key, share, omega) for share in _SHARES)
    rho, highest, delta = _concentrated(guarantee)
    lost = key_delta(delta, keys)
    if method == "optimal_tcdp":
        return OptimalTCDP(rho / keys, lost, highest, per_key)
    if method == "optimal_dp":  # epsilon-DP implies the bound for every omega
        return OptimalApproxDP(_rounded_down(pure_epsilon(rho / keys)), lost, per_key)
    raise ValueError(f"method = optimal_rdp is not valid for {guarantee}; valid: (epsilon, delta)-DP")


def threshold_curve(
    family: str,
    guarantee: Guarantee,
    keys: int = 1,
    per_key: int = 1,
    *,
    comparison: str = ">",
    method: str = "tight",
    step: float = 1.0,
) -> ThresholdCurve:
    """Return the noisy threshold that meets a guarantee for keys and noisy counts together.

    Parameters
    ----------
    family : str
        The name of a noise, such as "laplace".
    guarantee : ApproxDP, ApproxTCDP or ApproxZCDP
        The guarantee of all keys and counts of a person together, with 0 < delta < 1.
    keys : int
        The largest number of keys of a person, from 1 to 255.
    per_key : int
        The largest number of records of a person at a key, from 1.
    comparison : {">", ">="}
        The comparison that a noisy count has to pass.
    method : {"tight", "paper"}
        The calibration of the noise, as in `calibrate`.
    step : float
        The distance of neighbouring points of a discrete noise, in counts.

    Returns
    -------
    ThresholdCurve
        The curve of each key.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the noise cannot meet the guarantee.

    Examples
    --------
    >>> from tcdp_sim.privacy import ApproxZCDP
    >>> round(threshold_curve("gaussian", ApproxZCDP(1e-6, 0.5)).threshold, 4)
    5.7534
    """
    whole("keys", keys, 1, MOST_KEYS)
    checked_per_key(per_key)
    return _threshold(family, _checked(guarantee), keys, per_key, comparison, method, step)


@lru_cache(maxsize=64)
def _threshold(
    family: str, guarantee: Guarantee, keys: int, per_key: int, comparison: str, method: str, step: float
) -> ThresholdCurve:
    def curve(inner: Guarantee, lost: Callable[[Noise], float]) -> ThresholdCurve:
        noise = _noise(family, inner, keys, per_key, method, step)
        return ThresholdCurve(noise, least_threshold(noise, lost(noise), comparison, per_key), comparison, per_key)

    if isinstance(guarantee, ApproxDP):
        epsilon, delta = guarantee.epsilon, guarantee.delta
        shares = _NOISE_SHARES if keys > 1 else (1.0,)

        def lost_of(noise: Noise) -> float:
            return _lost_beside(noise, epsilon, delta, keys, per_key)

        return _best(curve(ApproxDP(epsilon, share * delta), lost_of) for share in shares)
    rho, omega, delta = _concentrated(guarantee)
    return curve(ZCDP(rho) if omega == inf else TCDP(rho, omega), lambda noise: key_delta(delta, keys))


def key_delta(delta: float, keys: int) -> float:
    """Return the largest delta of each of several keys whose composition has this delta, rounded down.

    Parameters
    ----------
    delta : float
        delta of all keys, in (0, 1).
    keys : int
        The number of keys, from 1.

    Returns
    -------
    float
        1 - (1 - delta)^(1 / keys).

    Examples
    --------
    >>> round(key_delta(0.19, 2), 12)
    0.1
    """
    return delta if keys == 1 else -expm1(log1p(-delta) / keys) * (1 - 1e-15)


def _checked(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee of this module. Raises ValueError for another one."""
    valid = isinstance(guarantee, ApproxDP | ApproxTCDP) or (isinstance(guarantee, ApproxZCDP) and guarantee.xi == 0)
    if not valid or not 0 < guarantee.delta < 1:  # type: ignore[attr-defined]
        raise ValueError(
            f"guarantee = {guarantee} cannot release unknown keys here; "
            "valid: ApproxDP, ApproxTCDP, or ApproxZCDP with xi = 0, with 0 < delta < 1"
        )
    return guarantee


def _concentrated(guarantee: Guarantee) -> tuple[float, float, float]:
    """Return rho, omega and delta of a checked guarantee."""
    match simplest(guarantee):
        case ApproxZCDP(delta=delta, rho=rho):
            return rho, inf, delta
        case ApproxTCDP(delta=delta, rho=rho, omega=omega):
            return rho, omega, delta
    raise ValueError(f"guarantee = {guarantee} is not approximate tCDP")


def _spare(guarantee: ApproxDP, keys: int, share: float) -> tuple[float, float]:
    """Return the delta that each key loses, and the delta that remains for the losses given that nothing is lost."""
    lost = share * guarantee.delta
    return key_delta(lost, keys), (guarantee.delta - lost) / (1 - lost) * (1 - 1e-12)


def _response_curve(guarantee: ApproxDP, keys: int, per_key: int, share: float, omega: float) -> OptimalApproxDP:
    """Return the best curve whose composition over all keys, by randomised response, meets the guarantee."""
    lost, spare = _spare(guarantee, keys, share)
    most = _largest(lambda own: _response_delta(own, keys, guarantee.epsilon), spare, guarantee.epsilon)
    return OptimalApproxDP(most, lost, per_key)


def _response_delta(own: float, keys: int, epsilon: float) -> float:
    """Return delta of several randomised responses at epsilon (Kairouz, Oh, Viswanath 2015 [KOV15], Theorem 3.3)."""
    from scipy.stats import binom

    wrong = np.arange(keys + 1)
    loss = (keys - 2 * wrong) * own - epsilon
    return float(binom.pmf(wrong, keys, 1 / (1 + exp(own))) @ -np.expm1(-np.maximum(loss, 0.0)))


def _concentrated_curve(guarantee: ApproxDP, keys: int, per_key: int, share: float, omega: float) -> OptimalTCDP:
    """Return the best curve under tCDP whose composition over all keys meets the guarantee."""
    lost, spare = _spare(guarantee, keys, share)
    most = _largest(lambda rho: delta_at(TCDP(rho, omega), guarantee.epsilon), spare, guarantee.epsilon)
    return OptimalTCDP(_rounded_down(most / keys), lost, omega, per_key)


def _best_order(guarantee: ApproxDP, keys: int, per_key: int) -> OptimalRDP:
    """Return the best curve under Renyi DP whose composition over all keys meets the guarantee."""
    scale = -np.log(guarantee.delta) / guarantee.epsilon
    orders = [_rounded_down(1 + factor * scale) for factor in _ORDERS]
    found = _best(_renyi_curve(guarantee, keys, per_key, 0.5, order) for order in orders)
    return _best(_renyi_curve(guarantee, keys, per_key, share, found.order) for share in _SHARES)


def _renyi_curve(guarantee: ApproxDP, keys: int, per_key: int, share: float, order: float) -> OptimalRDP:
    lost, spare = _spare(guarantee, keys, share)
    most = _largest(lambda own: delta_at(RDP(order, own), guarantee.epsilon), spare, guarantee.epsilon)
    return OptimalRDP(order, _rounded_down(most / keys), lost, per_key)


def _largest(delta: Callable[[float], float], spare: float, epsilon: float) -> float:
    """Return a parameter at which an increasing delta is at most `spare`, close to the largest one up to epsilon."""
    if delta(epsilon) <= spare:
        return _rounded_down(epsilon)
    low = 1e-6 * epsilon
    if delta(low) > spare:
        raise ValueError(f"no parameter above {low:g} meets epsilon = {epsilon:g}; valid: a larger epsilon or delta")
    found = exp(
        root(lambda x: np.log(max(delta(exp(x)), 1e-300) / spare), float(np.log(low)), float(np.log(epsilon)), 1e-10)
    )
    found = _rounded_down(found)
    while delta(found) > spare:
        found = _rounded_down(found * (1 - 1e-9))
    return found


def _rounded_down(value: float) -> float:
    """Return a number with a few digits, no larger than the given one."""
    digits = 10.0 ** (np.floor(np.log10(value)) - _DIGITS + 1)
    return float(f"{np.floor(value / digits) * digits:.{_DIGITS}g}")


def _best(curves: Iterable[Curve]) -> Curve:
    """Return the curve that needs the fewest records for a release with probability 1/2."""
    return min(curves, key=_median)


def _median(curve: ReleaseCurve) -> float:
    """Return the number of records at which the curve, interpolated, crosses 1/2; rounded, against ties by chance."""
    n = curve.records_needed(0.5)
    below, above = (float(value) for value in curve.released([n - 1, n]))
    return round(n - (above - 0.5) / (above - below), 6)


def _noise(family: str, guarantee: Guarantee, keys: int, per_key: int, method: str, step: float) -> Noise:
    """Return the noise of a family for the counts of all keys of a person."""
    from tcdp_sim.calibration import calibrate, calibrate_releases

    given: dict[str, Any] = {"sensitivity": float(per_key), "coordinates": keys, "step": step}
    isotropic = registry.noise(family, "family").isotropic
    exact_in_all = keys <= 2 or method == "paper" or isotropic or not isinstance(guarantee, ApproxDP)
    if exact_in_all:
        return calibrate(family, guarantee, method=method, **given).noise
    from tcdp_sim.accounting import Additive  # the ledger has the profile of any number of coordinates

    start = calibrate(family, guarantee, method="paper", **given).noise
    found = calibrate_releases([(Additive(start, float(per_key)), keys)], guarantee).noise
    assert isinstance(found, Noise)
    return found


def _lost_beside(noise: Noise, epsilon: float, delta: float, keys: int, per_key: int) -> float:
    """Return the largest delta that each new key may lose in addition to the noisy counts of the others."""
    from tcdp_sim.accounting import Additive, Ledger

    release = Additive(noise, float(per_key))
    least = 1.0
    for new in range(1, keys + 1):
        old = Ledger([(release, keys - new)]).delta(epsilon).upper if new < keys else 0.0
        if old >= delta:
            raise ValueError(f"{noise!r} leaves no delta for new keys; valid: a larger delta")
        least = min(least, key_delta(delta - old, new))
    return least
