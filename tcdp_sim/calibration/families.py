"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from dataclasses import dataclass

import numpy as np

from tcdp_sim.calibration.objectives import variance
from tcdp_sim.core import registry
from tcdp_sim.core.errors import choice, real, scalar, whole
from tcdp_sim.noise import Noise, Objective
from tcdp_sim.noise.missing import cannot, undefined
from tcdp_sim.privacy import TCDP, ApproxDP, Guarantee, PureDP

METHODS = ("paper", "tight")
MOST_COORDINATES = 10**15  # far beyond any query, and a float still counts them


def calibrate(
    family: str,
    guarantee: Guarantee,
    sensitivity: float = 1.0,
    method: str = "tight",
    *,
    coordinates: int = 1,
    objective: Objective = variance,
) -> Noise:
    """The noise of `family` that gives `guarantee` when added independently to every coordinate of a query.

    sensitivity: how much one coordinate may change between neighbours (> 0, counts); coordinates: how many of
    them may change at once (a histogram under substitution of one record: sensitivity 1, coordinates 2).
    method: "paper" uses a theorem's constants, "tight" the divergence of the noise itself:

    | family | guarantee | paper | tight |
    |---|---|---|---|
    | laplace | PureDP | epsilon = coordinates sensitivity / scale | the same: it is sharp |
    | laplace | ZCDP, TCDP | epsilon = sqrt(2 rho) (Bun-Steinke 2016, Proposition 4) | certified quadrature |
    | laplace | ApproxDP | its epsilon-DP noise | exact profile, 1 or 2 coordinates |
    | truncated_laplace | ApproxDP | exact for the scale sensitivity / epsilon | the same |
    | gaussian | ZCDP, TCDP | Bun-Steinke 2016, Proposition 6 | the same: it is sharp |
    | gaussian | ApproxDP | by rho-zCDP (Bun-Steinke 2016, Lemma 21) | exact profile |
    | sinh_normal | TCDP | Bun-Dwork-Rothblum-Steinke 2018, Theorem 17 (Corollary 18) | certified quadrature |
    | sinh_normal | ApproxDP | none | exact profile, 1 or 2 coordinates |
    | sinh_squared | TCDP | Corollary 18 of the same paper, from its whole window on | certified, by a closed form |
    | sinh_squared | ApproxDP | none | exact profile, 1 or 2 coordinates |
    | lattice, dithered_lattice | all, ApproxDP for 1 coordinate | none | `optimal.optimal_noise`: the best there is |
    | any other with a scale | what its `can_meet` admits | its `by_theorem` | certified search over the scale |

    objective: what "tight" minimises where a family has several noises that meet the guarantee (sinh_squared: scale
    and knee; sinh_normal: with knee >= scale): `variance`, a `LargestError`, or any hashable function of a noise (on
    lattices: one of the first two). Results are cached.
    Raises ValueError for unknown names, for a guarantee that the family cannot meet and for parameters outside
    the theorem's preconditions, with the reason.
    """
    noise_class: type[Noise] = registry.noise(family, "family")
    choice("method", method, METHODS)
    sensitivity = scalar("sensitivity", sensitivity, 0)
    coordinates = whole("coordinates", coordinates, 1, MOST_COORDINATES)
    if not callable(objective):
        raise ValueError(f"objective = {objective!r} is not valid; valid: variance, LargestError(count), or a function")
    if not noise_class.can_meet(guarantee):
        raise noise_class.cannot_meet(guarantee)
    if method == "paper" or noise_class.theorem_is_sharp(guarantee):
        return noise_class.by_theorem(guarantee, sensitivity, coordinates)
    calibrated = _search(noise_class, guarantee, sensitivity, coordinates, objective)
    if not np.isfinite(objective(calibrated)):
        raise ValueError(f"objective of {calibrated} is {objective(calibrated)}; valid: a finite number")
    return calibrated


def equal_privacy(family: str, rho: float, omega: float | None = None, delta: float | None = None) -> Guarantee:
    """The guarantee of `family`'s own kind that stands for the common target (rho, omega).

    laplace: epsilon-DP with epsilon^2 / 2 = rho, which implies rho-zCDP; truncated_laplace: (epsilon, delta)-DP
    with the same epsilon; sinh_normal and sinh_squared: (rho, omega)-tCDP; gaussian, and a noise that says nothing
    else: rho-zCDP.
    rho-zCDP implies (rho, omega)-tCDP for every omega; (epsilon, delta)-DP implies neither: it is shown for comparison.
    """
    noise_class: type[Noise] = registry.noise(family, "family")
    return noise_class.equal_privacy(rho, omega, delta)


def _search(
    noise_class: type[Noise], guarantee: Guarantee, sensitivity: float, coordinates: int, objective: Objective
) -> Noise:
    """The least noise that certified quadrature finds; workers never come here: they are given finished noises."""
    from tcdp_sim.calibration import approximate, concentrated, optimized

    if noise_class.is_optimized:
        return optimized.optimized(noise_class, guarantee, coordinates, objective).scaled(sensitivity)
    if isinstance(guarantee, ApproxDP):
        epsilon, delta = real("epsilon", guarantee.epsilon, 0, closed=True), real("delta", guarantee.delta, 0, 1)
        most = MOST_COORDINATES if noise_class.isotropic else 2
        if coordinates > most:
            raise cannot(
                f"calibrate {noise_class.family} tightly to {guarantee} for coordinates = {coordinates}",
                f"its exact profile is known for 1 or {most}",
                *undefined(noise_class, "by_theorem"),
                instead="method 'paper', ZCDP or TCDP",
            )
        unit = _PerUnit(objective, sensitivity)
        return approximate.profile_calibrated(noise_class, epsilon, delta, coordinates, unit).scaled(sensitivity)
    if isinstance(guarantee, PureDP):
        epsilon = real("epsilon", guarantee.epsilon, 0)
        return approximate.loss_calibrated(noise_class, epsilon / coordinates).scaled(sensitivity)
    rho, omega = guarantee.rho, guarantee.omega if isinstance(guarantee, TCDP) else np.inf  # type: ignore[attr-defined]
    return concentrated.calibrated(noise_class, rho / coordinates, omega, sensitivity, objective)


@dataclass(frozen=True)
class _PerUnit:
    """An objective for noise at another sensitivity, told of the noise at sensitivity one."""

    objective: Objective
    sensitivity: float

    def __call__(self, unit: Noise) -> float:
        return self.objective(unit.scaled(self.sensitivity))
