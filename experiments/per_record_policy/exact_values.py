"""The exact privacy loss of a record, and the printed policy of its release."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.experiments.laws import WEIGHTS
from tcdp_sim.mechanisms.per_record_loss import PerRecordLoss
from tcdp_sim.noise import Gaussian, Noise
from tcdp_sim.per_record import AdditiveRelease, Release, TransformedRelease, UnitSplitRelease
from tcdp_sim.privacy import ZCDP, delta_at, loss_tail_bound
from tcdp_sim.store import columns

TAIL, PROFILE, EXCESS = map(columns.mean, ("loss_tail", "hockey_stick", "renyi_excess"))
LOSS = columns.mean("privacy_loss")  # its mean is the divergence of order 1
RENYI = "renyi_divergence"  # computed from the mean of renyi_excess; no trial yields it
_LEAST, _MOST = -700.0, 700.0  # range of the log of outputs that are floats
ROOTS = {2.0: "square root", 4.0: "fourth root"}


def label(release: Release) -> str:
    """Return the name of a release in figures: its form and shape, without its scale."""
    if isinstance(release, AdditiveRelease):
        return _noise_label(release.noise)
    if isinstance(release, TransformedRelease):
        transform = release.transform
        degree = getattr(transform, "degree", None)
        name = "log" if degree is None else ROOTS.get(degree, f"root {degree:g}")
        return f"{name}, offset {transform.offset:.3g}"
    if isinstance(release, UnitSplitRelease):
        return f"{release.rule} splitting"
    return "clipped"


def _noise_label(noise) -> str:
    texts: dict[str, Callable[[], str]] = {
        "gaussian": lambda: "Gaussian",
        "laplace": lambda: "Laplace",
        "generalized_gaussian": lambda: f"generalised Gaussian, power {noise.power:.3g}",
        "exponential_polylogarithmic": lambda: f"polylogarithmic, power {noise.power:.3g}, rate {noise.rate:.3g}",
    }
    return texts.get(noise.family, lambda: str(noise.family))()


def _known(value: Callable[..., Any], *arguments: Any) -> float:
    """Return the estimate of an exact value, or NaN where it is refused."""
    try:
        return float(value(*arguments).estimate)
    except ValueError:
        return np.nan


@lru_cache(maxsize=1 << 14)
def divergence(release: Release, influence: float, order: float) -> float:
    """Return D_order of a record with that influence, in nats."""
    return _known(exact.record_renyi, release, influence, order)


@lru_cache(maxsize=1 << 12)
def policy(release: Release, influence: float) -> float:
    """Return the zCDP of a record with that influence, in nats: the least R with D_a <= a R for all orders a > 1."""
    return _known(exact.record_policy, release, influence)


def largest_loss(release: Release, influence: float) -> float:
    """Return the supremum of the privacy loss of a record with that influence, in nats; it may be inf."""
    noise, shift = release.worst_shift(influence)
    return float(noise.largest_loss(shift))


def delta(release: Release, influence: float, epsilon: float) -> float:
    """Return the delta at `epsilon` of a record with that influence."""
    return _known(exact.record_profile, release, influence, epsilon)


@lru_cache(maxsize=1 << 10)
def epsilon(release: Release, influence: float, at: float) -> float:
    """Return the least epsilon with delta(epsilon) <= at, in nats, for a record with that influence."""
    return _known(exact.record_epsilon, release, influence, at)


def tail(release: Release, influence: float, at: float) -> float:
    """Return P[L > at], at > 0 in nats, of a record with that influence.

    The loss exceeds `at` between the two outputs whose loss is `at`.
    """
    noise, shift = release.worst_shift(influence)
    if isinstance(noise, Gaussian):  # its loss decreases everywhere
        return float(noise.cdf(shift / 2 - at * noise.scale**2 / shift))
    if at >= noise.largest_loss(shift):
        return 0.0
    ends = [_crossing(noise, shift, at, side) for side in (-1.0, 1.0)]
    return float(1 - noise.sf(ends[0]) - noise.sf(ends[1]))


def _crossing(noise: Noise, shift: float, at: float, side: float) -> float:
    """Return the distance from 0, on that side, at which the loss falls to `at`; inf if it always stays above."""

    def excess(log_y: float) -> float:
        return float(noise.privacy_loss(side * np.exp(log_y), shift)) - at

    ends = (_LEAST, np.log(shift / 2) if side > 0 else _MOST)
    if excess(ends[1]) > 0:
        return np.inf
    return float(np.exp(brentq(excess, *ends, xtol=1e-13, rtol=1e-14))) if excess(ends[0]) > 0 else 0.0


def _printed(mechanism: PerRecordLoss) -> float:
    return float(mechanism.release.policy(mechanism.influence))


def _divergence(mechanism: PerRecordLoss) -> float:
    """Renyi divergence of the cell's order."""
    return np.nan if mechanism.order is None else divergence(mechanism.release, mechanism.influence, mechanism.order)


def _excess(mechanism: PerRecordLoss) -> float:
    if mechanism.order is None:
        return np.nan
    with np.errstate(over="ignore"):
        return float(np.expm1((mechanism.order - 1) * _divergence(mechanism)))


def _mean_loss(mechanism: PerRecordLoss) -> float:
    plain = mechanism.order is None and mechanism.epsilon is None
    return divergence(mechanism.release, mechanism.influence, 1.0) if plain else np.nan


def _delta(mechanism: PerRecordLoss) -> float:
    return np.nan if mechanism.epsilon is None else delta(mechanism.release, mechanism.influence, mechanism.epsilon)


def _tail(mechanism: PerRecordLoss) -> float:
    return np.nan if mechanism.epsilon is None else tail(mechanism.release, mechanism.influence, mechanism.epsilon)


def _printed_divergence(mechanism: PerRecordLoss) -> float:
    """What is printed of the Renyi divergence of the cell's order."""
    return np.nan if mechanism.order is None else mechanism.order * _printed(mechanism)


def _printed_mean(mechanism: PerRecordLoss) -> float:
    return _printed(mechanism) if mechanism.order is None and mechanism.epsilon is None else np.nan


def _printed_delta(mechanism: PerRecordLoss) -> float:
    return np.nan if mechanism.epsilon is None else delta_at(ZCDP(_printed(mechanism)), mechanism.epsilon)


def _printed_tail(mechanism: PerRecordLoss) -> float:
    return np.nan if mechanism.epsilon is None else loss_tail_bound(ZCDP(_printed(mechanism)), mechanism.epsilon)


EXACT = {LOSS: _mean_loss, EXCESS: _excess, RENYI: _divergence, PROFILE: _delta, TAIL: _tail}
BOUND = {LOSS: _printed_mean, RENYI: _printed_divergence, PROFILE: _printed_delta, TAIL: _printed_tail}
UNITS = {RENYI: "nats"}
UNKNOWN = {columns.quantile(name): WEIGHTS for name in ("loss_tail", "hockey_stick", "renyi_excess")}
UNKNOWN |= {
    columns.quantile(
        "privacy_loss"
    ): "the tail of a record's loss is computed at one epsilon at a time and not inverted"
}
