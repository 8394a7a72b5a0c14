"""The second concern of a noise: its privacy loss. P is the law of the noise, and Q the law of noise + shift."""

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcdp_sim.core.arrays import Reals
from tcdp_sim.core.numerics import ArrayBounds
from tcdp_sim.noise.distribution import Distribution
from tcdp_sim.noise.missing import cannot, defines


class HasPrivacyLoss(Distribution):
    """A distribution with the known properties of its privacy loss against its shifted self.

    Every method has a fallback, which is right for any noise or refuses. Two are worth defining first: `log_concave`,
    without which most guarantees are refused, and `privacy_loss`. The fallback of `privacy_loss` subtracts log
    densities, so its losses are accurate to about 1e-13 only.

    `log_concave`: True if the log density is known to be concave. Then the loss decreases in the output, and a larger
    shift reveals more. `log_concave_if`: the parameters at which the noise is log-concave, for messages.
    `linear_in_order`: True if D_a <= a D_1, with equality at whole orders a. Then a guarantee at some orders holds at
    all of them.
    """

    _gives_fallbacks = True

    log_concave_if: ClassVar[str] = "a noise that says it is log_concave"
    linear_in_order: ClassVar[bool] = False

    @property
    def log_concave(self) -> bool:
        """Return True if the log density is known to be concave."""
        return False

    def need_log_concave(self, goal: str, instead: str = "") -> None:
        """Raise ValueError unless the noise is log-concave, because otherwise a smaller shift may reveal more."""
        if self.log_concave:
            return
        if defines(self, "log_concave"):
            choices = " or ".join(filter(None, (self.log_concave_if, instead)))
            raise cannot(goal, f"{self!r} is not log-concave, so that a smaller shift may tell more", instead=choices)
        reason = "it is not known to be log-concave, so that a smaller shift may tell more"
        raise cannot(goal, reason, "log_concave", instead=instead or "a noise that is")

    def privacy_loss(self, y: ArrayLike, shift: ArrayLike) -> Reals:
        """Return the log of the ratio of the densities at y of the noise centred at 0 and at `shift`, in nats.

        The loss is inf where only the first can produce y, -inf where only the second can, NaN where neither can.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            return self.logpdf(y) - self.logpdf(np.subtract(y, shift, dtype=np.float64))

    @property
    def bounded_slope(self) -> bool:
        """Return True if the log density is known to have no infinite slope where it is finite.

        No log-concave density has one. At a cusp (exp(-|x|^p) at 0 with p < 1) a grid made for the tails sees too
        little, and bounds would be false.
        """
        return self.log_concave

    @property
    def gives_loss(self) -> bool:
        """Return True if the class defines `privacy_loss`, good to its last digits."""
        return type(self).privacy_loss is not HasPrivacyLoss.privacy_loss

    def need_loss(self) -> None:
        """Raise ValueError unless `gives_loss`."""
        if not self.gives_loss:
            raise cannot(
                f"compute privacy losses of {self!r} to their last digits",
                "the difference of its log densities loses digits",
                "privacy_loss",
                instead="a noise that has it, such as laplace",
            )

    def max_order(self, shift: float) -> float:
        """Return the order from which on the Renyi divergence D(P || Q) is infinite (inf: none known).

        The fallback is 1 for noise of bounded support, since its shifted self misses some of it.
        """
        return 1.0 if shift and np.isfinite(self.isf(0.0)) else np.inf

    def largest_loss(self, shift: float) -> float:
        """Return the supremum of |privacy loss| in nats for shift > 0, NaN where no closed form is known.

        Divergences are found by quadrature from `privacy_loss` if the class defines both, has a `bounded_slope` and
        states `max_order` exactly. The divergences of other noises are found by
        `exact.renyi.mixture_divergences`, which assumes less.
        """
        return np.nan

    def exact_rho(self, shift: float) -> Fraction | None:
        """Return the least rho of zCDP for this shift if it is rational and known exactly, else None."""
        return None

    def closed_renyi(self, shift: float, order: NDArray[np.float64]) -> ArrayBounds | None:
        """Return D_order(P || Q) in nats for shift > 0 and n finite orders >= 1, or None for no closed form."""
        return None

    def closed_hockey_stick(self, shift: float, epsilon: NDArray[np.float64]) -> ArrayBounds | None:
        """Return delta(epsilon) of (P, Q) for shift > 0 and n values epsilon >= 0, or None for no closed form."""
        return None
