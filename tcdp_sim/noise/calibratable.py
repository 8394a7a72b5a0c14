"""The fourth concern of a noise: the guarantees that its family can be calibrated to, and how."""

from dataclasses import replace
from functools import cache
from math import sqrt
from typing import Any, ClassVar, Self

from tcdp_sim.core.errors import real, scalar
from tcdp_sim.noise.distribution import Distribution
from tcdp_sim.noise.guard import is_foreign
from tcdp_sim.noise.light_tails import has_light_tails
from tcdp_sim.noise.missing import cannot, defines, undefined
from tcdp_sim.privacy.definitions import TCDP, ZCDP, ApproxDP, Guarantee


@cache
def _needed(cls: Any) -> tuple[str, ...]:
    """Return the numbers that a class's target needs: rho, and with a light or bounded tail a bound on its orders."""
    if not is_foreign(cls) or cls.parameters() != ("scale",) or defines(cls, "equal_privacy"):
        return ("rho",)
    unit = cls(1.0)
    if not unit.max_order(1.0) > 1:
        return ("rho", "delta")
    return ("rho", "omega") if has_light_tails(unit) else ("rho",)


class _OfTails:
    """The fallback of `depends_on`: a class without a target of its own has one that its tails allow."""

    def __get__(self, noise: Any, cls: Any) -> tuple[str, ...]:
        return _needed(cls)


class Calibratable(Distribution):
    """A distribution whose family can be calibrated to guarantees.

    The fallbacks admit every guarantee that the search over one `scale` covers, and know no theorem.

    `depends_on`: the numbers that `equal_privacy` reads, out of rho, omega and delta. `guarantees`: the guarantees that
    `can_meet` admits, for messages. `theorem_is_nearly_sharp`: True if a search gains so little that it runs only on
    request. `is_optimized`: True if the noise is a table that convex optimisation finds
    (`tcdp_sim.calibration.optimal`), without a scale.
    """

    _gives_fallbacks = True

    depends_on: ClassVar[tuple[str, ...]] = _OfTails()  # type: ignore[assignment]
    guarantees: ClassVar[str] = "PureDP, ApproxDP, ZCDP with xi = 0, TCDP"
    theorem_is_nearly_sharp: ClassVar[bool] = False
    is_optimized: ClassVar[bool] = False

    @classmethod
    def equal_privacy(cls, rho: float, omega: float | None = None, delta: float | None = None) -> Guarantee:
        """Return the guarantee of the family's own kind that stands for the common target (rho, omega).

        The fallback is rho-zCDP, which implies (rho, omega)-tCDP for every omega. For a class from outside of the
        package whose tails are lighter than Gaussian ones it is (rho, omega)-tCDP, and for one of bounded support
        (epsilon, delta)-DP with epsilon^2 / 2 = rho. It raises ValueError outside the ranges.
        """
        needed = cls.depends_on
        if "delta" in needed:
            return ApproxDP(sqrt(2 * real("rho", rho, 0)), scalar("delta", delta, 0, 1))
        return TCDP(rho, scalar("omega", omega, 1, finite=False)) if "omega" in needed else ZCDP(rho)

    @classmethod
    def can_meet(cls, guarantee: Guarantee) -> bool:
        """Return True if some noise of the family may meet a guarantee of this kind."""
        return guarantee.epsilon_delta is not None or guarantee.is_concentrated

    @classmethod
    def cannot_meet(cls, guarantee: Guarantee) -> ValueError:
        """Return the error, in one line, for a guarantee that the family cannot meet."""
        if defines(cls, "can_meet") or defines(cls, "by_theorem"):
            return ValueError(f"{cls.family} cannot be calibrated to {guarantee}; valid: {cls.guarantees}")
        goal = f"calibrate {cls.family} to {guarantee}"
        return cannot(goal, "no search is known for it", "can_meet", "by_theorem", instead=cls.guarantees)

    @classmethod
    def by_theorem(cls, guarantee: Guarantee, sensitivity: float, coordinates: int) -> Self:
        """Return the noise that a theorem's constants give, method "paper" of `calibration.calibrate`.

        `sensitivity`: the change of one coordinate between neighbours, > 0, in counts. `coordinates`: the number of
        coordinates that may change at once, >= 1.
        """
        goal = f"calibrate {cls.family} to {guarantee} by a theorem"
        raise cannot(
            goal, "none is known", *undefined(cls, "by_theorem"), instead="method 'tight' (calibration: tight)"
        )

    @classmethod
    def theorem_is_sharp(cls, guarantee: Guarantee) -> bool:
        """Return True if no noise of the family that is smaller than the result of `by_theorem` meets the guarantee."""
        return False

    def widened(self, factor: float) -> Self:
        """Return the noise with its `scale` times factor, factor > 1; it is log-concave if the noise was."""
        return replace(self, scale=self.scale * factor)  # type: ignore[type-var, attr-defined]
