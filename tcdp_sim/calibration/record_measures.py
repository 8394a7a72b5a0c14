"""Measures of the privacy of one record, at equal values of which releases are compared."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from tcdp_sim import exact
from tcdp_sim.calibration.families import calibrate
from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.per_record import AdditiveRelease, Release
from tcdp_sim.per_record.families import ACCOUNTINGS
from tcdp_sim.privacy import ApproxDP
from tcdp_sim.privacy.least_rho import pure_epsilon

_CLOSE, _CLOSE_PROFILE = 1e-6, 1e-3  # relative width of a bracket of a value, and of delta, that calibration accepts


@dataclass(frozen=True)
class Accounting:
    """A measure of what a release reveals about one record, in nats.

    The measures are

    - "printed": the zCDP policy as printed in the paper,
    - "zcdp": the exact zCDP policy,
    - "approx_dp": the exact epsilon at 0 < delta < 1,
    - "pure": the largest privacy loss, for additive noise alone.

    The constructor raises ValueError for another name and for a delta out of range.
    """

    name: str
    delta: float

    def __post_init__(self) -> None:
        choice("accounting", self.name, ACCOUNTINGS)
        object.__setattr__(self, "delta", scalar("delta", self.delta, 0, 1))

    @property
    def by_largest_loss(self) -> bool:
        """True if the value of additive noise of bounded loss is a function of its largest loss alone."""
        return self.name in ("printed", "pure")

    def bounds(self, release: Release, influence: float) -> Bounds:
        """Return bounds on the measure for a record of influence >= 0. A formula's value serves as all three ends."""
        if self.name == "zcdp":
            return exact.record_policy(release, influence)
        if self.name == "approx_dp":
            return exact.record_epsilon(release, influence, self.delta)
        printed = self.name == "printed"
        value = float(release.policy(influence)) if printed else largest_loss(release, influence)
        return Bounds(value, value, value)

    def value(self, release: Release, influence: float) -> float:
        """Return the upper end of the measure for a record of influence >= 0."""
        return _upper(self.bounds(release, influence))

    def ratio(self, release: Release, influence: float, value: float) -> float:
        """Return a number above 1 if and only if the record's measure exceeds `value`.

        It is for measures by quadrature.
        """
        if self.name == "approx_dp":
            bounds = exact.record_profile(release, influence, value)
            return _upper(bounds, _CLOSE_PROFILE, 0.1 * self.delta) / self.delta
        return self.value(release, influence) / value

    def gaussian_shift(self, value: float) -> float:
        """Return the shift of N(0, 1) at which the measure is `value` > 0. The measure "pure" has none."""
        if self.name == "approx_dp":
            noise: Any = calibrate("gaussian", ApproxDP(value, self.delta)).noise
            return 1 / float(noise.scale)
        return sqrt(2 * value)

    def least_loss(self, value: float) -> float:
        """Return the largest loss of additive noise whose measure is `value` > 0.

        For exact measures it is a lower bound.
        """
        return pure_epsilon(value) if self.name in ("printed", "zcdp") else value

    def deviations(self, release: Release, influence: float) -> float:
        """Return the shift of a Gaussian in units of its scale.

        "printed" takes the shift of the printed policy, which may be larger than the shift that the record makes.
        """
        if self.name == "printed":
            return sqrt(2 * float(release.policy(influence)))
        gaussian, shift = release.worst_shift(influence)
        return float(shift / np.sqrt(gaussian.var()))


def largest_loss(release: Release, influence: float) -> float:
    """Return the largest privacy loss of additive noise, in nats. Raises ValueError for other releases."""
    if not isinstance(release, AdditiveRelease):
        raise ValueError("accounting = 'pure' is not valid here: it is defined for additive noise alone")
    return float(release.pure_policy(influence))


def _upper(bounds: Bounds, apart: float = _CLOSE, small: float = 0.0) -> float:
    """Return the upper end if it is at most `small` or close to the lower end.

    Raises ValueError if the bracket is wide.
    """
    if bounds.upper > max(small, bounds.lower * (1 + apart)):
        raise ValueError(f"bounds = {bounds.lower:g}, {bounds.upper:g} are too far apart; choose a less extreme noise")
    return float(bounds.upper)
