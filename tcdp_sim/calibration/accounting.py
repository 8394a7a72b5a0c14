"""The currencies in which releases are made equally private to a record."""

from dataclasses import dataclass
from functools import cache
from math import sqrt, tanh
from typing import Any

import numpy as np
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.calibration.families import calibrate
from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.privacy import ApproxDP
from tcdp_sim.releases import AdditiveRelease, Release
from tcdp_sim.releases.families import ACCOUNTINGS

_CLOSE, _CLOSE_PROFILE = 1e-6, 1e-3  # relative: bounds of values, and of delta, beyond which nothing is calibrated


@dataclass(frozen=True)
class Accounting:
    """What of a record's privacy is counted, in nats.

    "printed": the zCDP policy as printed; "zcdp": the exact one; "approx_dp": the exact epsilon at 0 < delta < 1;
    "pure": the largest privacy loss, of additive noise alone. ValueError for other names and for delta out of range.
    """

    name: str
    delta: float

    def __post_init__(self) -> None:
        choice("accounting", self.name, ACCOUNTINGS)
        object.__setattr__(self, "delta", scalar("delta", self.delta, 0, 1))

    @property
    def by_largest_loss(self) -> bool:
        """Whether the value of additive noise of bounded loss is a function of its largest loss alone."""
        return self.name in ("printed", "pure")

    def bounds(self, release: Release, influence: float) -> Bounds:
        """Return bounds on what a record of that influence, >= 0, gives away; a formula's value stands for itself."""
        if self.name == "zcdp":
            return exact.record_policy(release, influence)
        if self.name == "approx_dp":
            return exact.record_epsilon(release, influence, self.delta)
        printed = self.name == "printed"
        value = float(release.policy(influence)) if printed else largest_loss(release, influence)
        return Bounds(value, value, value)

    def value(self, release: Release, influence: float) -> float:
        """Return the most that a record of that influence, >= 0, gives away."""
        return _upper(self.bounds(release, influence))

    def ratio(self, release: Release, influence: float, value: float) -> float:
        """Above 1 where the record gives away more than `value`, in currencies that take quadrature."""
        if self.name == "approx_dp":
            bounds = exact.record_profile(release, influence, value)
            return _upper(bounds, _CLOSE_PROFILE, 0.1 * self.delta) / self.delta
        return self.value(release, influence) / value

    def gaussian_shift(self, value: float) -> float:
        """The shift of N(0, 1) that gives away `value` > 0; not for "pure"."""
        if self.name == "approx_dp":
            noise: Any = calibrate("gaussian", ApproxDP(value, self.delta)).noise
            return 1 / float(noise.scale)
        return sqrt(2 * value)

    def least_loss(self, value: float) -> float:
        """The largest loss of additive noise that gives away `value` > 0: what it is at least, in exact currencies."""
        return _printed_loss(value) if self.name in ("printed", "zcdp") else value

    def deviations(self, release: Release, influence: float) -> float:
        """The shift of a Gaussian by its scale: the printed one, which may be larger, or what the record makes."""
        if self.name == "printed":
            return sqrt(2 * float(release.policy(influence)))
        gaussian, shift = release.worst_shift(influence)
        return float(shift / np.sqrt(gaussian.var()))


def largest_loss(release: Release, influence: float) -> float:
    """The largest privacy loss of additive noise, in nats; ValueError for other releases."""
    if not isinstance(release, AdditiveRelease):
        raise ValueError("accounting = 'pure' is not valid; valid for additive noise alone")
    return float(release.pure_policy(influence))


def _upper(bounds: Bounds, apart: float = _CLOSE, small: float = 0.0) -> float:
    """The upper end, if it is at most `small` or near the lower one; ValueError where quadrature sees too little."""
    if bounds.upper > max(small, bounds.lower * (1 + apart)):
        raise ValueError(f"bounds = {bounds.lower:g}, {bounds.upper:g} are too far apart; valid: a less extreme noise")
    return float(bounds.upper)


@cache
def _printed_loss(value: float) -> float:
    """The P with P tanh(P / 2) = value > 0; x / (1 + x) <= tanh x <= min(x, 1) brackets it."""
    low, high = max(value, sqrt(2 * value)), 0.5 * (value + sqrt(value) * sqrt(value + 8))
    return float(
        brentq(lambda p: p * tanh(p / 2) - value, low * (1 - 1e-14), high * (1 + 1e-14), xtol=1e-300, rtol=1e-15)
    )
