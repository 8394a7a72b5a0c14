"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np

from tcdp_sim.errors import choice, real, scalar
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

METHODS = ("paper", "tight")
MOST_COORDINATES = 10**15  # far beyond any query, and a float still counts them

# The parameters of an equal-privacy target that each family's noise depends on.
DEPENDS_ON: dict[str, tuple[str, ...]] = {
    "laplace": ("rho",),
    "truncated_laplace": ("rho", "delta"),
    "gaussian": ("rho",),
    "sinh_normal": ("rho", "omega"),
}


@dataclass(frozen=True)
class LargestError:
    """An objective of calibration: the `level`-quantile of the largest of `count` absolute errors, in counts."""

    count: float
    level: float = 0.5

    def __post_init__(self):
        object.__setattr__(self, "count", scalar("count", self.count, 1, 1e300, closed=True, finite=False))
        object.__setattr__(self, "level", scalar("level", self.level, 0, 1))

    def __call__(self, noise: Noise) -> float:
        return float(noise.isf(-0.5 * np.expm1(np.log(self.level) / self.count)))


def variance(noise: Noise) -> float:
    """An objective of calibration: the variance, in counts squared."""
    return float(noise.var())


def calibrate(
    family: str,
    guarantee: Guarantee,
    sensitivity: float = 1.0,
    method: str = "tight",
    *,
    coordinates: int = 1,
    objective: Callable[[Noise], float] = variance,
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

    objective: what "tight" minimises where a family has several noises that meet the guarantee (sinh_normal: scale
    and knee, knee >= scale): `variance`, a `LargestError`, or any hashable function of a noise. Results are cached.
    Raises ValueError for unknown names, for a guarantee that the family cannot meet and for parameters outside
    the theorem's preconditions, with the reason.
    """
    choice("family", family, _CALIBRATORS)
    choice("method", method, METHODS)
    sensitivity = scalar("sensitivity", sensitivity, 0)
    whole = isinstance(coordinates, int) and not isinstance(coordinates, bool)
    if not (whole and 1 <= coordinates <= MOST_COORDINATES):
        raise ValueError(f"coordinates = {coordinates!r} is not valid; valid: a whole number from 1 to 10^15")
    if not callable(objective):
        raise ValueError(f"objective = {objective!r} is not valid; valid: variance, LargestError(count), or a function")
    return _CALIBRATORS[family](guarantee, sensitivity, coordinates, method, objective)


def equal_privacy(family: str, rho: float, omega: float | None = None, delta: float | None = None) -> Guarantee:
    """The guarantee of `family`'s own kind that stands for the common target (rho, omega).

    laplace: epsilon-DP with epsilon^2 / 2 = rho, which implies rho-zCDP; truncated_laplace: (epsilon, delta)-DP
    with the same epsilon; gaussian: rho-zCDP; sinh_normal: (rho, omega)-tCDP. rho-zCDP implies (rho, omega)-tCDP
    for every omega; (epsilon, delta)-DP implies neither, and is shown for comparison.
    """
    choice("family", family, _CALIBRATORS)
    if family == "laplace":
        return PureDP(np.sqrt(2 * real("rho", rho, 0)))
    if family == "truncated_laplace":
        return ApproxDP(np.sqrt(2 * real("rho", rho, 0)), real("delta", delta, 0, 1))
    return ZCDP(rho) if family == "gaussian" else TCDP(rho, omega)


def _laplace(guarantee, sensitivity, coordinates, method, objective):
    if isinstance(guarantee, ApproxDP) and method == "tight":
        return _by_profile("laplace", guarantee, sensitivity, coordinates, objective)
    if isinstance(guarantee, PureDP | ApproxDP):
        return Laplace(coordinates * sensitivity / real("epsilon", guarantee.epsilon, 0))
    if not _concentrated(guarantee):
        raise _unavailable("laplace", guarantee, "PureDP, ApproxDP, ZCDP with xi = 0, TCDP")
    if method == "paper":
        return Laplace(coordinates * sensitivity / np.sqrt(2 * guarantee.rho))
    from tcdp_sim.calibration.concentrated import tight_laplace

    omega = guarantee.omega if isinstance(guarantee, TCDP) else np.inf
    return tight_laplace(guarantee.rho / coordinates, omega, sensitivity)


def _truncated_laplace(guarantee, sensitivity, coordinates, method, objective):
    if not isinstance(guarantee, ApproxDP):
        raise _unavailable("truncated_laplace", guarantee, "ApproxDP")
    # Every coordinate has ratio at most e^(epsilon / coordinates) on the common support and mass `delta_each`
    # outside it; all coordinates stay inside with probability (1 - delta_each)^coordinates = 1 - delta.
    epsilon_each = real("epsilon", guarantee.epsilon, 0) / coordinates
    with np.errstate(divide="ignore"):
        delta_each = -np.expm1(np.log1p(-guarantee.delta) / coordinates)
    if delta_each > 0.5:
        raise ValueError(
            f"truncated_laplace at delta = {guarantee.delta:g} over {coordinates} coordinates puts "
            f"{delta_each:g} > 1/2 of each outside the common support; valid: delta <= {1 - 0.5**coordinates:g}"
        )
    scale = sensitivity / epsilon_each
    log_rise = epsilon_each + np.log(-np.expm1(-epsilon_each))  # log(e^epsilon - 1), for any epsilon
    return TruncatedLaplace(scale, scale * np.logaddexp(0.0, log_rise - np.log(2 * delta_each)))


def _gaussian(guarantee, sensitivity, coordinates, method, objective):
    if isinstance(guarantee, ApproxDP):
        if method == "tight":
            return _by_profile("gaussian", guarantee, sensitivity, coordinates, objective)
        rho = _zcdp_of(guarantee)
    elif _concentrated(guarantee):
        rho = guarantee.rho
    else:
        raise _unavailable("gaussian", guarantee, "ZCDP with xi = 0, TCDP, ApproxDP")
    return Gaussian(sensitivity * np.sqrt(coordinates / (2 * rho)))


def _sinh_normal(guarantee, sensitivity, coordinates, method, objective):
    if isinstance(guarantee, ApproxDP) and method == "tight":
        return _by_profile("sinh_normal", guarantee, sensitivity, coordinates, objective)
    if not isinstance(guarantee, TCDP) or np.isinf(guarantee.omega):
        valid = "TCDP with finite omega (its divergence of large orders is infinite), ApproxDP by 'tight'"
        raise _unavailable("sinh_normal", guarantee, valid)
    if method == "tight":
        from tcdp_sim.calibration.concentrated import (
            tight_sinh_normal,  # not on workers: they are given finished noises
        )

        found = tight_sinh_normal(guarantee.rho / coordinates, guarantee.omega, sensitivity, objective)
        return _judged(found, objective)
    rho, omega = guarantee.rho, guarantee.omega
    # Theorem 17 at rho' = rho / (16 coordinates), knee = 8 sensitivity omega; composition over the coordinates.
    least = 0.5 * np.sqrt(coordinates / rho)
    if omega < least * (1 - 1e-12):
        raise ValueError(
            f"sinh_normal by Theorem 17 with {coordinates} changed coordinates needs omega >= "
            f"sqrt({coordinates}/(4 rho)) = {least:.6g}; got omega = {omega:.6g} at rho = {rho:.6g} "
            "(its proof needs it, and well below it the guarantee is false)"
        )
    return SinhNormal(scale=sensitivity * np.sqrt(8 * coordinates / rho), knee=8 * sensitivity * omega)


def _by_profile(family, guarantee, sensitivity, coordinates, objective):
    from tcdp_sim.calibration.approximate import profile_calibrated

    epsilon, delta = real("epsilon", guarantee.epsilon, 0, closed=True), real("delta", guarantee.delta, 0, 1)
    most = 2 if family != "gaussian" else MOST_COORDINATES
    if coordinates > most:
        raise ValueError(
            f"{family} cannot be calibrated tightly to {guarantee} for coordinates = {coordinates}; valid: 1 or {most}"
        )
    unit = profile_calibrated(family, epsilon, delta, coordinates, _PerUnit(objective, sensitivity))
    return _judged(type(unit)(*(sensitivity * value for value in astuple(unit))), objective)


def _judged(noise, objective):
    if not np.isfinite(objective(noise)):
        raise ValueError(f"objective of {noise} is {objective(noise)}; valid: a finite number")
    return noise


@dataclass(frozen=True)
class _PerUnit:
    """An objective for noise at another sensitivity, told of the noise at sensitivity one."""

    objective: Callable[[Noise], float]
    sensitivity: float

    def __call__(self, unit: Noise) -> float:
        return self.objective(type(unit)(*(self.sensitivity * value for value in astuple(unit))))


def _zcdp_of(guarantee):
    """The largest rho with rho-zCDP => (rho + 2 sqrt(rho log(1/delta)), delta)-DP within the guarantee."""
    tail = -np.log(real("delta", guarantee.delta, 0, 1))
    epsilon = real("epsilon", guarantee.epsilon, 0)
    return (epsilon / (np.sqrt(tail + epsilon) + np.sqrt(tail))) ** 2


def _concentrated(guarantee) -> bool:
    return isinstance(guarantee, TCDP) or (isinstance(guarantee, ZCDP) and guarantee.xi == 0)


def _unavailable(family, guarantee, valid):
    return ValueError(f"{family} cannot be calibrated to {guarantee}; valid: {valid}")


_CALIBRATORS: dict[str, Callable[..., Noise]] = {
    "laplace": _laplace,
    "truncated_laplace": _truncated_laplace,
    "gaussian": _gaussian,
    "sinh_normal": _sinh_normal,
}
