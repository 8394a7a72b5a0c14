"""The noise of a family that meets a guarantee, and the guarantees at which families are compared."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from tcdp_sim.calibration.limits import MOST_COORDINATES, valid_step
from tcdp_sim.core import registry
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.noise import Noise
from tcdp_sim.noise.calibrated import Calibrated
from tcdp_sim.noise.objectives import VARIANCE, Objective
from tcdp_sim.privacy import ApproxDP, Guarantee, PureDP
from tcdp_sim.privacy.definitions import known
from tcdp_sim.privacy.least_rho import pure_epsilon
from tcdp_sim.privacy.magnitudes import need_moderate

METHODS = ("paper", "tight")


def calibrate(
    family: str,
    guarantee: Guarantee,
    sensitivity: float = 1.0,
    method: str = "tight",
    *,
    coordinates: int = 1,
    objective: Objective = VARIANCE,
    step: float = 1.0,
) -> Calibrated:
    """Return the noise of a family that gives a guarantee when added independently to every coordinate of a query.

    Source: Bun and Steinke (2016) [BS16]; Bun et al. (2018) [BDRS18]; Canonne et al. (2020) [CKS20].

    Parameters
    ----------
    family : str
        The name of a noise, such as "laplace". The noises of plug-ins are included.
    guarantee : Guarantee
        The guarantee for neighbouring data sets.
    sensitivity : float
        The largest change of one coordinate between neighbours, in counts, > 0.
    method : {"tight", "paper"}
        "paper" uses the constants of a theorem. "tight" searches with the divergence of the noise itself.
    coordinates : int
        The number of coordinates that change at once, from 1 to MOST_COORDINATES. A histogram under substitution of one
        record has sensitivity 1 and coordinates 2.
    objective : callable
        The function of a noise that "tight" minimises if several noises of the family meet the guarantee. This concerns
        sinh_squared (scale and knee) and sinh_normal (scale and knee >= scale). It is `VARIANCE`, a `LargestError`, or
        any hashable function of a noise. Noise on lattices takes one of the first two.
    step : float
        The distance of neighbouring points of a discrete noise, in counts, above 0. The sensitivity must be a multiple
        of it.

    Returns
    -------
    Calibrated
        The noise, its guarantee, the objective's value and the method in words. Results of a search are cached.

    Raises
    ------
    ValueError
        If a name is unknown, the family cannot meet the guarantee, or a parameter violates the preconditions of the
        theorem.

    Notes
    -----
    | family | guarantee | paper | tight |
    |---|---|---|---|
    | laplace | PureDP | epsilon = coordinates sensitivity / scale | the same, which is sharp |
    | laplace | ZCDP, TCDP | epsilon = sqrt(2 rho) (Bun-Steinke 2016 [BS16], Proposition 4) | quadrature |
    | laplace | ApproxDP | the noise for epsilon-DP | exact profile, 1 or 2 coordinates |
    | truncated_laplace | ApproxDP | exact for the scale sensitivity / epsilon | the same |
    | gaussian | ZCDP, TCDP | Bun-Steinke 2016 [BS16], Proposition 6 | the same, which is sharp |
    | gaussian | ApproxDP | by rho-zCDP (Bun-Steinke 2016 [BS16], Lemma 21) | exact profile |
    | sinh_normal | TCDP | Bun-Dwork-Rothblum-Steinke 2018 [BDRS18], Theorem 17 (Corollary 18) | quadrature |
    | sinh_normal | ApproxDP | none | exact profile, 1 or 2 coordinates |
    | sinh_squared | TCDP | Corollary 18 of the same paper, with its whole window | closed form of the divergence |
    | sinh_squared | ApproxDP | none | exact profile, 1 or 2 coordinates |
    | lattice, dithered_lattice | all (ApproxDP for 1 coordinate) | none | `optimal.optimal_noise`, the best noise |
    | discrete_gaussian | ZCDP, TCDP | Canonne-Kamath-Steinke 2020 [CKS20], Theorem 4 | the same, which is sharp |
    | discrete_gaussian | ApproxDP | by rho-zCDP | exact profile, 1 or 2 coordinates |
    | discrete_laplace | PureDP | epsilon = coordinates sensitivity / scale | the same, which is sharp |
    | discrete_laplace | ZCDP, TCDP | epsilon = sqrt(2 rho) | the supremum of D_a / a, by sums |
    | discrete_laplace | ApproxDP | the noise for epsilon-DP | exact profile, 1 or 2 coordinates |
    | rounded_gaussian, rounded_laplace | ApproxDP | as the continuous noise | exact profile, 1 or 2 coordinates |
    | rounded_... | all others | as the continuous noise | as the continuous noise |
    | any other with a scale | the guarantees of its `can_meet` | its `by_theorem` | search over the scale |

    Discrete noise protects answers on its lattice. For ZCDP and TCDP the upper ends of the divergences cover all orders
    by convexity.

    Examples
    --------
    >>> from tcdp_sim.privacy import ZCDP
    >>> calibrate("gaussian", ZCDP(0.5), sensitivity=2.0).noise
    Gaussian(scale=2.0)
    """
    need_moderate(known(guarantee))
    noise_class: type[Noise] = registry.noise(family, "family")
    if method == "given":  # the word of a spec that states the parameters
        raise ValueError(f"{family}: a noise with given parameters is not calibrated here; valid: its class")
    choice("method", method, METHODS)
    sensitivity = scalar("sensitivity", sensitivity, 0)
    coordinates = whole("coordinates", coordinates, 1, MOST_COORDINATES)
    step = valid_step(noise_class, step)
    if not callable(objective):
        raise ValueError(f"objective = {objective!r} is not valid; valid: VARIANCE, LargestError(k), or a function")
    if not noise_class.can_meet(guarantee):
        raise noise_class.cannot_meet(guarantee)
    by_theorem = method == "paper" or noise_class.theorem_is_sharp(guarantee)
    if by_theorem:
        noise = _on_lattice(noise_class.by_theorem(guarantee, sensitivity, coordinates), sensitivity, step)
        how = "the constants of a theorem"
    else:
        from tcdp_sim.calibration.search import least  # imports exact divergences, which workers do not need

        noise, how = least(noise_class, guarantee, sensitivity, coordinates, objective, step)
    value = float(objective(noise))
    if not (by_theorem or np.isfinite(value)):
        raise ValueError(f"objective of {noise} is {value}; valid: a finite number")
    return Calibrated(noise, guarantee, Bounds(-np.inf, value, value + 1e-11 * abs(value)), how)


def _on_lattice(noise: Noise, sensitivity: float, step: float) -> Noise:
    """Return the noise with its step, if it has one. Raises ValueError for a sensitivity that is no multiple of it."""
    if "step" not in noise.parameters():
        return noise
    fine: Any = replace(noise, step=step)  # type: ignore[type-var]
    fine.need_steps("sensitivity", sensitivity)
    return cast(Noise, fine)


def equal_privacy(
    family: str, rho: float, omega: float | None = None, delta: float | None = None, method: str = "paper"
) -> Guarantee:
    """Return the guarantee of a family's own kind that stands for the common target (rho, omega).

    Source: Bun and Steinke (2016), Proposition 4 [BS16].

    Parameters
    ----------
    family : str
        The name of a noise.
    rho : float
        rho of the common target, > 0, in nats.
    omega : float, optional
        omega of the common target, > 1.
    delta : float, optional
        delta in (0, 1), for families whose guarantee has one.
    method : str
        "paper" takes the epsilon of pure and (epsilon, delta)-DP by epsilon^2 / 2 = rho. "tight" takes the largest one
        whose epsilon-DP implies rho-zCDP: epsilon tanh(epsilon / 2) = rho.

    Returns
    -------
    Guarantee
        One of the guarantees in the table below.

    Notes
    -----
    | family | guarantee |
    |---|---|
    | laplace | epsilon-DP with epsilon^2 / 2 = rho ("paper"), which implies rho-zCDP |
    | truncated_laplace | (epsilon, delta)-DP with the same epsilon |
    | sinh_normal, sinh_squared | (rho, omega)-tCDP |
    | gaussian, and noise that declares nothing else | rho-zCDP |

    rho-zCDP implies (rho, omega)-tCDP for every omega. (epsilon, delta)-DP implies neither and is shown for comparison.

    Examples
    --------
    >>> equal_privacy("laplace", 0.5)
    PureDP(epsilon=1.0)
    >>> round(equal_privacy("laplace", 0.5, method="tight").epsilon, 4)
    1.0436
    """
    noise_class: type[Noise] = registry.noise(family, "family")
    if omega is not None:
        omega = scalar("omega", omega, 1, finite=False)
    if delta is not None:
        delta = scalar("delta", delta, 0, 1)
    promise = noise_class.equal_privacy(rho, omega, delta)
    if choice("method", method, METHODS) == "paper":
        return promise
    if promise.epsilon_delta is None:
        return promise
    epsilon = max(promise.epsilon_delta[0], pure_epsilon(rho))
    return PureDP(epsilon) if promise.is_pure else ApproxDP(epsilon, promise.epsilon_delta[1])
