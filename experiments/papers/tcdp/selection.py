"""Sections 1.2 and 5: the gap that private selection needs, by notion of privacy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim, definition
from tcdp_sim.experiments.papers.tcdp.sides import growing

from tcdp_sim import bounds, exact
from tcdp_sim.calibration import calibrate
from tcdp_sim.claims import Evidence, Growth, Kind, Point, Verdict
from tcdp_sim.noise import Laplace, Noise
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

definition("T.P19", section="5")

EPSILON, RHO, BETA = 0.5, 0.1, 0.05
TARGET = TCDP(RHO, 4.0)  # omega above 1/sqrt rho
EXPONENTS = (1, 2, 4, 8, 16, 32, 64, 128, 200, 300)


@claim("T.1.2e", kind=Kind.ASYMPTOTIC, section="1.2", expected=Verdict.CONSISTENT)
def pure_gap(budget: Budget) -> Evidence:
    """Needed: by packing. Enough: the exponential mechanism (T.5a)."""
    return _least(PureDP(EPSILON), lambda k: np.log(k) / EPSILON, "log k/ε, ε = 0.5")


@claim(
    "T.1.2e",
    part="zCDP",
    title="Under ρ-zCDP selection needs a gap of the order of √(log k/ρ)",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.CONSISTENT,
)
def concentrated_gap(budget: Budget) -> Evidence:
    """Needed: by packing. Enough: Gaussian noise (T.5c)."""
    return _least(ZCDP(RHO), lambda k: np.sqrt(np.log(k) / RHO), "√(log k/ρ), ρ = 0.1")


@claim(
    "T.1.2e",
    part="approximate",
    title="Under (ε, δ)-DP selection needs a gap of the order of log(1/δ)/ε for k beyond 1/δ",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.CONSISTENT,
)
def approximate_gap(budget: Budget) -> Evidence:
    """Needed, for 1e300 candidates: by packing of events. Enough: the stability-based method (T.5b)."""

    def least(inverse: float) -> Bounds[float]:
        return closed_form(float(bounds.selection_gap(ApproxDP(EPSILON, 1 / inverse, "target"), 1e300, BETA)), 1e-9)

    return Evidence(
        growing((2, 4, 8, 16, 32, 64, 128, 200), least, lambda x: float(np.log(x)) / EPSILON, "1/δ"),
        measures="lower bound of the gap that 1e300 candidates need, over log(1/δ)/ε, ε = 0.5 (counts)",
        universe="δ → 0, k ≥ 1/δ",
        growth=Growth.AT_LEAST,
    )


@claim("T.P5", kind=Kind.ASYMPTOTIC, section="1.2", expected=Verdict.CONSISTENT)
def proposition_5(budget: Budget) -> Evidence:
    """Algorithm 22 with the noise of Theorem 17, at ρ = 0.1, ω = 4 > 1/√ρ."""
    noise = calibrate("sinh_normal", TARGET, method="paper")
    return Evidence(
        growing(EXPONENTS, lambda k: _gap("obvious_answer", noise, k), _form),
        measures="gap for success 0.95 over ω log(1 + √log k/(ω√ρ)), noise by Theorem 17, ρ = 0.1, ω = 4 (counts)",
        universe="ρ < 1, ω ≥ 1/√ρ, k → ∞",
        growth=Growth.AT_MOST,
    )


@claim(
    "T.P5",
    part="large ω",
    title="The gap of Proposition 5 as ω grows",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.CONSISTENT,
)
def proposition_5_large_omega(budget: Budget) -> Evidence:
    """A million candidates, ρ = 0.1."""

    def gap(omega: float) -> Bounds[float]:
        return _gap("obvious_answer", calibrate("sinh_normal", TCDP(RHO, omega), method="paper"), 1e6)

    def form(omega: float) -> float:
        return omega * float(np.log1p(np.sqrt(np.log(1e6) / RHO) / omega))

    return Evidence(
        growing((0.6, 1, 2, 3, 4), gap, form, "ω"),
        measures="gap for success 0.95 over ω log(1 + √log k/(ω√ρ)), noise by Theorem 17, ρ = 0.1, k = 1e6 (counts)",
        universe="ω → ∞",
        growth=Growth.AT_MOST,
    )


@claim("T.5a", kind=Kind.ASYMPTOTIC, section="5", expected=Verdict.CONSISTENT)
def exponential_mechanism(budget: Budget) -> Evidence:
    """Its exact gap; that it is optimal is T.1.2e, and its part here."""
    return Evidence(
        growing(EXPONENTS, lambda k: _gap("exponential_mechanism", EPSILON, k), lambda k: float(np.log(k)) / EPSILON),
        measures="gap at which the exponential mechanism is right with 0.95, over log k/ε, ε = 0.5 (counts)",
        universe="k → ∞",
        growth=Growth.AT_MOST,
    )


@claim(
    "T.5a",
    part="optimal",
    title="The exponential mechanism takes at most a constant times the least gap under pure DP",
    kind=Kind.ASYMPTOTIC,
    section="5",
    expected=Verdict.CONSISTENT,
)
def exponential_is_optimal(budget: Budget) -> Evidence:
    """Its exact gap over the packing bound, which tends to 2."""
    return Evidence(
        growing(
            EXPONENTS,
            lambda k: _gap("exponential_mechanism", EPSILON, k),
            lambda k: float(bounds.selection_gap(PureDP(EPSILON), k, BETA)),
        ),
        measures="gap of the exponential mechanism over the least under pure DP, ε = 0.5, success 0.95",
        universe="k → ∞",
        growth=Growth.AT_MOST,
    )


@claim("T.5b", kind=Kind.ASYMPTOTIC, section="5", expected=Verdict.CONSISTENT)
def stability(budget: Budget) -> Evidence:
    """Propose-test-release: the lead, noisy, against a threshold."""

    def gap(inverse: float) -> Bounds[float]:
        return exact.required_gap("stability", Laplace(1 / EPSILON), 1e6, BETA, delta=1 / inverse)

    return Evidence(
        growing((2, 4, 8, 16, 32, 64, 128, 200), gap, lambda x: float(np.log(x)) / EPSILON, "1/δ"),
        measures="gap at which the stability-based method is right with 0.95, over log(1/δ)/ε, ε = 0.5 (counts)",
        universe="δ → 0",
        growth=Growth.AT_MOST,
    )


@claim(
    "T.5b",
    part="any k",
    title="The gap of stability-based selection does not depend on k",
    kind=Kind.IDENTITY,
    section="5",
    expected=Verdict.HOLDS,
)
def stability_for_any_k(budget: Budget) -> Evidence:
    """From ten candidates to 1e300."""
    gaps = [exact.required_gap("stability", Laplace(1 / EPSILON), k, BETA, delta=1e-6) for k in (10.0, 1e6, 1e300)]
    return Evidence(
        [Point("k = 1e6", gaps[1], gaps[0]), Point("k = 1e300", gaps[2], gaps[0])],
        measures="the gap for k candidates, against that for 10 (counts)",
        universe="k ≥ 2",
        tolerance=1e-8,
    )


def _gap(algorithm: str, noise: Noise | float, k: float) -> Bounds[float]:
    """The gap from which it is right with probability 1 - BETA."""
    return exact.required_gap(algorithm, noise, k, BETA)


def _form(k: float) -> float:
    omega = TARGET.omega
    return omega * float(np.log1p(np.sqrt(np.log(k) / RHO) / omega))


def _least(promise: Guarantee, form: Callable[[float], Any], name: str) -> Evidence:
    return Evidence(
        growing(
            EXPONENTS,
            lambda k: closed_form(float(bounds.selection_gap(promise, k, BETA)), 1e-9),
            lambda k: float(form(k)),
        ),
        measures=f"lower bound of the gap for success 0.95, over {name} (counts)",
        universe="k → ∞, all mechanisms",
        growth=Growth.AT_LEAST,
    )
