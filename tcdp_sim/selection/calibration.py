"""The algorithms of selection by name, each with the least noise that provably meets a common privacy target.

The target is rho, with omega or delta if the guarantee needs it. `calibration.equal_privacy` gives the guarantee of a
noise family at this target. Every score may change by up to one between neighbours.

`accounting` selects one of two derivations of the guarantee. Only zCDP and tCDP of `obvious_answer` have one.

- Pure and (epsilon, delta)-DP: "paper" takes epsilon = sqrt(2 rho); "tight" takes epsilon tanh(epsilon / 2) = rho, the
  largest epsilon whose epsilon-DP implies rho-zCDP. With delta this holds given an event of probability 1 - delta.
- generalized_histogram: "paper" is 2m queries of sensitivity 2; "tight" is m of them (proof at `GeneralizedHistogram`).
- exponential_mechanism: "paper" is epsilon-DP; "tight" takes the least rho of bounded range. Both are in
  `privacy.least_rho`. Permute-and-flip is not of bounded range.

Lattice noise would cause ties. A fair coin breaks them, because the noise is dithered (`noise.DitheredLattice`).
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from tcdp_sim.calibration import calibrate, equal_privacy
from tcdp_sim.core import registry
from tcdp_sim.core.errors import choice, real
from tcdp_sim.noise import Gaussian, Laplace, Noise
from tcdp_sim.noise.objectives import spec_objective
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP
from tcdp_sim.privacy.least_rho import bounded_range_epsilon, pure_epsilon
from tcdp_sim.selection.algorithms import GeneralizedHistogram, NoisyMax, ObviousAnswer, Selection
from tcdp_sim.selection.baselines import SparseVector, Stability, exponential_mechanism, permute_and_flip

ACCOUNTINGS = ("paper", "tight")
WITH_NOISE = ("generalized_histogram", "obvious_answer")  # algorithms that take any noise of the package
WITH_TOP_M = ("generalized_histogram", "exponential_mechanism")
WITH_DELTA = ("stability", "noisy_max_gaussian")
_SMALL = 1.0  # nats; expm1 of a larger number might overflow
ALGORITHMS = (
    *("generalized_histogram", "obvious_answer", "exponential_mechanism", "permute_and_flip"),
    *("noisy_max_laplace", "noisy_max_gaussian", "stability", "sparse_vector"),
)


def depends_on(algorithm: str, family: str | None) -> tuple[str, ...]:
    """Return the parameters of the target that an algorithm depends on.

    The family is the family of its noise, for an algorithm that takes any noise.
    """
    if choice("algorithm", algorithm, ALGORITHMS) in WITH_NOISE:
        return tuple(registry.noise(str(family)).depends_on)
    return ("rho", "delta") if algorithm in WITH_DELTA else ("rho",)


def has_accounting(algorithm: str, family: str | None) -> bool:
    """Return True if two derivations of an algorithm's guarantee differ, with noise of this family if it takes any."""
    if choice("algorithm", algorithm, ALGORITHMS) != "obvious_answer":
        return True
    return isinstance(equal_privacy(str(family), 1.0, 2.0, 0.5), PureDP | ApproxDP)


def noise_family(spec: Mapping[str, Any]) -> str:
    """Return the family without ties that replaces the family of a spec in conf/noise."""
    family = str(spec["family"])
    return registry.noise(family).without_ties or family


def selection_guarantee(algorithm: str, family: str | None, accounting: str, target: Mapping[str, float]) -> Guarantee:
    """Return the guarantee of a calibrated algorithm; `target` has its parameters by name."""
    tight = choice("accounting", accounting, ACCOUNTINGS) == "tight"
    if algorithm in WITH_NOISE:
        return equal_privacy(str(family), **target, method=accounting)
    rho = real("rho", target["rho"], 0)
    if algorithm == "exponential_mechanism" and tight:
        return ZCDP(rho)
    epsilon = pure_epsilon(rho) if tight else np.sqrt(2 * rho)
    if algorithm in WITH_DELTA:
        return ApproxDP(epsilon, real("delta", target["delta"], 0, 1))
    return PureDP(epsilon)


def selection_parameters(
    algorithm: str, noise: Mapping[str, Any] | None, accounting: str, target: Mapping[str, float], k: float, m: int
) -> dict[str, float]:
    """Return the noise parameters with which an algorithm keeps its guarantee, as plain data for `selection_algorithm`.

    `noise` is a spec of conf/noise (family, calibration, objective), for algorithms that take any noise; others ignore
    it. Raises ValueError for an unknown name, for m > 1 where only one candidate is selected, and for a target that no
    theorem covers.
    """
    if m > 1 and algorithm not in WITH_TOP_M:
        raise ValueError(f"m = {m} is not valid for {algorithm}; valid: m = 1, or one of {', '.join(WITH_TOP_M)}")
    guarantee = selection_guarantee(algorithm, noise["family"] if noise else None, accounting, target)
    if algorithm in WITH_NOISE:
        return asdict(cast(Any, _noise(algorithm, noise or {}, accounting, guarantee, k, m)))  # noises are dataclasses
    match guarantee:
        case ZCDP(rho=rho):  # the exponential mechanism, by bounded range
            return {"epsilon": bounded_range_epsilon(rho / m)}
        case ApproxDP(epsilon=epsilon, delta=delta) if algorithm == "noisy_max_gaussian":
            return {"scale": noisy_max_gaussian_scale(epsilon, delta, k)}
        case ApproxDP(epsilon=epsilon, delta=delta):
            return {"epsilon": epsilon, "delta": delta}
        case PureDP(epsilon=epsilon):
            return {"epsilon": epsilon / m if algorithm == "exponential_mechanism" else epsilon}
    raise ValueError(f"{guarantee} is not what {algorithm} promises")


def selection_algorithm(algorithm: str, family: str | None, parameters: Mapping[str, float]) -> Selection:
    """Return the algorithm of this name, with the noise of this family (if it takes any) and parameters."""
    match choice("algorithm", algorithm, ALGORITHMS):
        case "generalized_histogram":
            return GeneralizedHistogram(registry.noise(str(family))(**parameters).with_density())
        case "obvious_answer":
            return ObviousAnswer(registry.noise(str(family))(**parameters).with_density())
        case "exponential_mechanism":
            return exponential_mechanism(**parameters)
        case "permute_and_flip":
            return permute_and_flip(**parameters)
        case "noisy_max_laplace":
            return NoisyMax(Laplace(2 / parameters["epsilon"]))
        case "noisy_max_gaussian":
            return NoisyMax(Gaussian(**parameters))
        case "stability":
            return Stability(Laplace(1 / parameters["epsilon"]), parameters["delta"])
        case "sparse_vector":
            return SparseVector(**parameters)
    raise ValueError(f"algorithm = {algorithm!r} is not known")


def noisy_max_gaussian_scale(epsilon: float, delta: float, k: float) -> float:
    """Return the least scale at which the largest of k scores + Gaussian noise is provably (epsilon, delta)-DP.

    The scale is in counts.

    Given the noise of all others, j is selected if Z_j > c, and c moves by at most 2 between neighbours. So P[j] -
    e^epsilon P'[j] is at most the profile of one query of sensitivity 2, and the sum over all outputs is at most k
    times that. It is the scale of Gaussian noise calibrated to (epsilon, delta / k) for such a query.
    """
    each = real("delta", delta, 0, 1) / real("k", k, 2, closed=True)
    noise = calibrate("gaussian", ApproxDP(real("epsilon", epsilon, 0), each), 2.0).noise
    return cast(Gaussian, noise).scale


def _noise(algorithm: str, spec: Mapping[str, Any], accounting: str, guarantee: Guarantee, k: float, m: int) -> Noise:
    family = noise_family(spec)
    given: dict[str, Any] = {"objective": spec_objective(spec, k), "step": spec.get("step", 1.0)}
    if algorithm == "obvious_answer":
        return calibrate(family, guarantee, 1.0, spec["calibration"], **given).noise
    if choice("accounting", accounting, ACCOUNTINGS) == "paper":
        return calibrate(family, guarantee, 2.0, spec["calibration"], coordinates=2 * m, **given).noise
    if registry.noise(family).is_optimized:
        return calibrate(family, _of_one_step(guarantee, m), 2.0, spec["calibration"], **given).noise
    noise = calibrate(family, guarantee, 2.0, spec["calibration"], coordinates=m, **given).noise
    # without log-concavity, many small moves that add up to 2m might cost more than m moves by 2
    noise.need_log_concave(f"select with {noise!r} at accounting = tight", instead="accounting = paper")
    return noise


def _of_one_step(guarantee: Guarantee, m: int) -> Guarantee:
    """Return the largest guarantee of a move by 2 with which Algorithm 21 keeps its own.

    The noise is dithered with steps of length 2. Let D_a <= a r for a move by 2. Then a move by v <= 2 costs
    log(1 + (e^((a-1) D_a) - 1) v / 2) / (a-1), which is concave in v. So among 2m moves that add up to 2m, moves by 1
    each cost most. Over the orders the cost is largest at omega, since log((1 + e^(x r)) / 2) / x increases with
    x = a (a-1). There e^(x r) may be 2 e^(x rho / 2m) - 1 (derived here).
    """
    if not isinstance(guarantee, TCDP):
        return ZCDP(guarantee.rho / (2 * m))  # type: ignore[attr-defined]  # lattice families give tCDP or zCDP only
    x = guarantee.omega * (guarantee.omega - 1)
    share = x * guarantee.rho / (2 * m)
    log_moment = share + np.log1p(-np.expm1(-share)) if share > _SMALL else np.log1p(2 * np.expm1(share))
    return TCDP(float(log_moment / x), guarantee.omega)
