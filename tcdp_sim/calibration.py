"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcdp_sim.errors import choice, real
from tcdp_sim.noise import Gaussian, Laplace, Noise, SinhNormal, TruncatedLaplace
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

METHODS = ("paper", "tight")

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
        object.__setattr__(self, "count", real("count", self.count, 1, 1e300, closed=True, finite=False))
        object.__setattr__(self, "level", real("level", self.level, 0, 1))

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
    method: "paper" uses the theorem's constants, "tight" the smallest noise there is. They agree where the
    theorem is sharp: laplace under PureDP, truncated_laplace under ApproxDP, gaussian under ZCDP and TCDP. For
    laplace under ZCDP or TCDP only "paper" (epsilon = sqrt(2 rho), Bun-Steinke 2016, Proposition 4). For sinh_normal
    under TCDP "paper" is Theorem 17 and Corollary 18 of Bun-Dwork-Rothblum-Steinke 2018, with the precondition that
    their proofs need, and "tight" finds scale and knee (knee >= scale) by certified quadrature.
    objective: what "tight" minimises where a family has several noises that meet the guarantee: `variance`, a
    `LargestError`, or any hashable function of a noise. Results are cached.
    Raises ValueError for unknown names, for a guarantee that the family cannot meet and for parameters outside
    the theorem's preconditions, with the reason.
    """
    choice("family", family, _CALIBRATORS)
    choice("method", method, METHODS)
    real("sensitivity", sensitivity, 0)
    if not (isinstance(coordinates, int) and coordinates >= 1):
        raise ValueError(f"coordinates = {coordinates!r} is not valid; valid: a whole number >= 1")
    if family == "sinh_normal" and method == "tight":
        return _tight_sinh_normal(guarantee, float(sensitivity), coordinates, objective)
    return _CALIBRATORS[family](guarantee, float(sensitivity), coordinates, method)


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


def _laplace(guarantee, sensitivity, coordinates, method):
    if isinstance(guarantee, PureDP):
        epsilon = guarantee.epsilon
    elif method == "paper" and (isinstance(guarantee, TCDP) or (isinstance(guarantee, ZCDP) and guarantee.xi == 0)):
        epsilon = np.sqrt(2 * guarantee.rho)
    else:
        raise _unavailable("laplace", guarantee, method, "PureDP by both methods; ZCDP (xi = 0), TCDP by 'paper'")
    return Laplace(coordinates * sensitivity / real("epsilon", epsilon, 0))


def _truncated_laplace(guarantee, sensitivity, coordinates, method):
    if not isinstance(guarantee, ApproxDP):
        raise _unavailable("truncated_laplace", guarantee, method, "ApproxDP")
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


def _gaussian(guarantee, sensitivity, coordinates, method):
    if not (isinstance(guarantee, TCDP) or (isinstance(guarantee, ZCDP) and guarantee.xi == 0)):
        raise _unavailable("gaussian", guarantee, method, "ZCDP with xi = 0, TCDP")
    return Gaussian(sensitivity * np.sqrt(coordinates / (2 * guarantee.rho)))


def _check_sinh_normal(guarantee, method):
    if not isinstance(guarantee, TCDP) or np.isinf(guarantee.omega):
        reason = "TCDP with finite omega (its divergence of large orders is infinite)"
        raise _unavailable("sinh_normal", guarantee, method, reason)


def _tight_sinh_normal(guarantee, sensitivity, coordinates, objective):
    from tcdp_sim.calibration_tight import tight_sinh_normal  # not on workers: they are given finished noises

    _check_sinh_normal(guarantee, "tight")
    return tight_sinh_normal(guarantee.rho / coordinates, guarantee.omega, sensitivity, objective)


def _sinh_normal(guarantee, sensitivity, coordinates, method):
    _check_sinh_normal(guarantee, method)
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


def _unavailable(family, guarantee, method, valid):
    return ValueError(f"{family} cannot be calibrated to {guarantee} by method {method!r}; valid: {valid}")


_CALIBRATORS: dict[str, Callable[..., Noise]] = {
    "laplace": _laplace,
    "truncated_laplace": _truncated_laplace,
    "gaussian": _gaussian,
    "sinh_normal": _sinh_normal,
}
