"""The third concern of a noise: its stretched self, for smooth sensitivity.

P is the law of the noise Z, and Q is the law of e^log_scale Z + shift.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.numerics import ArrayBounds
from tcdp_sim.noise.distribution import Distribution
from tcdp_sim.noise.missing import cannot, undefined
from tcdp_sim.privacy.definitions import Guarantee


class HasStretchedLoss(Distribution):
    """A distribution with the known properties of its privacy loss against its stretched and shifted self.

    `log_concave_size`: True if the density is known to decrease away from 0, and log|Z| to have a log-concave density.
    `tail_range`: the range in which calibration looks for the second parameter of the family; None for a scale alone.
    """

    _gives_fallbacks = True

    log_concave_size: ClassVar[bool] = False
    tail_range: ClassVar[tuple[float, float] | None] = None

    def affine_loss(self, x: ArrayLike, log_scale: float, shift: float) -> Reals:
        """Return log(P / Q) at x, in nats."""
        there = np.subtract(x, shift, dtype=np.float64) * np.exp(-log_scale)
        with np.errstate(invalid="ignore"):
            return self.logpdf(x) - self.logpdf(there) + log_scale

    def affine_max_order(self, log_scale: float, shift: float) -> float:
        """Return the order from which on D(P || Q) is infinite (inf: none); NaN where it is not known."""
        return np.nan

    def closed_affine_renyi(self, log_scale: float, shift: float, order: NDArray[np.float64]) -> ArrayBounds | None:
        """Return D_order(P || Q) in nats, shape (n,), for finite orders >= 1 below the largest.

        The fallback is None, for a noise without a closed form.
        """
        return None

    def affine_tail(self, smoothing: float, shift: float) -> tuple[float, float] | None:
        """Return (b, c) with D_a(P || Q) <= b a + c for all a >= 2, |log_scale| <= smoothing and |shift| <= shift.

        None means that no such bound is known. Then the noise cannot give zCDP.
        """
        return None

    @classmethod
    def smooth_refusal(cls, guarantee: Guarantee, smoothing: float) -> str:
        """Return the reason why no noise of the family keeps the guarantee with smooth sensitivity; "" if one may."""
        if cls.log_concave_size:
            return ""
        needed = ("log_concave_size", "affine_max_order") if guarantee.is_concentrated else ("log_concave_size",)
        names = " and ".join(f"`{name}`" for name in undefined(cls, *needed))
        advice = f". Define {names} in the noise class, or choose another noise, such as student_t" if names else ""
        return f"nothing is known of its divergences when it is stretched{advice}"

    def smooth_shift(self, guarantee: Guarantee, smoothing: float) -> float:
        """Return the largest shift at which a published formula gives the guarantee; <= 0 if there is none.

        Raises ValueError where no formula is known.
        """
        goal = f"calibrate {self.family} to {guarantee} by a published formula"
        raise cannot(goal, "none is known", *undefined(self, "smooth_shift"), instead="method 'tight' or 'box'")


def too_many_orders(guarantee: Guarantee, largest: float) -> str:
    """Return the reason why a noise breaks a guarantee; "" if it may keep it.

    The divergences of the noise are finite below the order `largest` only.
    """
    if guarantee.rho_omega is None or guarantee.rho_omega[1] < largest:
        return ""
    return f"its divergences are infinite from order {largest:.6g} on"


def published_shift(guarantee: Guarantee, loss_of_scale: float, loss_of_shift: float) -> float:
    """Return the shift up to which loss_of_scale + loss_of_shift * shift <= epsilon, where epsilon^2 / 2 = rho."""
    return float(((guarantee.sufficient_epsilon or 0.0) - loss_of_scale) / loss_of_shift)
