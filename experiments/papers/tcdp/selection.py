"""Sections 1.2 and 5: the gap that private selection needs, by notion of privacy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.judge.forms import FAR, growing, growing_in_logs
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import bounds, exact
from tcdp_sim.calibration import calibrate
from tcdp_sim.noise import Laplace, Noise
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP

EPSILON, RHO, BETA = 0.5, 0.1, 0.05
TARGET = TCDP(RHO, 4.0)  # omega above 1/sqrt rho
EXPONENTS = (1, 2, 4, 8, 16, 32, 64, 128, 200, 300)


@claim("T.1.2e")
def pure_gap(budget: Budget) -> Points:
    """Needed: by packing. Enough: the exponential mechanism (T.5a)."""
    return _least(PureDP(EPSILON), lambda k: np.log(k) / EPSILON)


@claim("T.1.2e zCDP")
def concentrated_gap(budget: Budget) -> Points:
    """Needed: by packing. Enough: Gaussian noise (T.5c)."""
    return _least(ZCDP(RHO), lambda k: np.sqrt(np.log(k) / RHO))


@claim("T.1.2e approximate")
def approximate_gap(budget: Budget) -> Points:
    """Needed, for 1e300 candidates: by packing of events. Enough: the stability-based method (T.5b)."""

    def least(inverse: float) -> Bounds[float]:
        return closed_form(float(bounds.selection_gap(ApproxDP(EPSILON, 1 / inverse, "target"), 1e300, BETA)), 1e-9)

    return growing((2, 4, 8, 16, 32, 64, 128, 200), least, lambda x: float(np.log(x)) / EPSILON, "1/δ")


@claim("T.P5")
def proposition_5(budget: Budget) -> Points:
    """Algorithm 22 with the noise of Theorem 17, at ρ = 0.1, ω = 4 > 1/√ρ."""
    noise = calibrate("sinh_normal", TARGET, method="paper")
    return growing_in_logs(FAR, lambda log_k: _gap_in_logs(noise, log_k), _form)


@claim("T.P5 large ω")
def proposition_5_large_omega(budget: Budget) -> Points:
    """A million candidates, ρ = 0.1."""

    def gap(omega: float) -> Bounds[float]:
        return _gap("obvious_answer", calibrate("sinh_normal", TCDP(RHO, omega), method="paper"), 1e6)

    def form(omega: float) -> float:
        return omega * float(np.log1p(np.sqrt(np.log(1e6) / RHO) / omega))

    return growing((0.6, 1, 2, 3, 4), gap, form, "ω")


@claim("T.5a")
def exponential_mechanism(budget: Budget) -> Points:
    """Its exact gap; that it is optimal is T.1.2e, and its part here."""
    return growing(EXPONENTS, lambda k: _gap("exponential_mechanism", EPSILON, k), lambda k: float(np.log(k)) / EPSILON)


@claim("T.5a optimal")
def exponential_is_optimal(budget: Budget) -> Points:
    """Its exact gap over the packing bound, which tends to 2."""
    return growing(
        EXPONENTS,
        lambda k: _gap("exponential_mechanism", EPSILON, k),
        lambda k: float(bounds.selection_gap(PureDP(EPSILON), k, BETA)),
    )


@claim("T.5b")
def stability(budget: Budget) -> Points:
    """Propose-test-release: the lead, noisy, against a threshold."""

    def gap(inverse: float) -> Bounds[float]:
        return exact.required_gap("stability", Laplace(1 / EPSILON), 1e6, BETA, delta=1 / inverse)

    return growing((2, 4, 8, 16, 32, 64, 128, 200), gap, lambda x: float(np.log(x)) / EPSILON, "1/δ")


@claim("T.5b any k")
def stability_for_any_k(budget: Budget) -> Points:
    """From ten candidates to 1e300."""
    gaps = [exact.required_gap("stability", Laplace(1 / EPSILON), k, BETA, delta=1e-6) for k in (10.0, 1e6, 1e300)]
    return [Point("k = 1e6", gaps[1], gaps[0]), Point("k = 1e300", gaps[2], gaps[0])]


def _gap(algorithm: str, noise: Noise | float, k: float) -> Bounds[float]:
    """The gap from which it is right with probability 1 - BETA."""
    return exact.required_gap(algorithm, noise, k, BETA)


def _gap_in_logs(noise: Noise, log_k: float) -> Bounds[Any]:
    """Return the gap of Algorithm 22 in closed form: its threshold 2 sf^-1(1/k) + 1, twice, and its own noise."""
    return closed_form(2 * (float(noise.isf_log(-log_k)) + float(noise.isf(BETA)) + 1), 1e-9)


def _form(log_k: float) -> float:
    omega = TARGET.omega
    return omega * float(np.log1p(np.sqrt(log_k / RHO) / omega))


def _least(promise: Guarantee, form: Callable[[float], Any]) -> Points:
    return growing(
        EXPONENTS,
        lambda k: closed_form(float(bounds.selection_gap(promise, k, BETA)), 1e-9),
        lambda k: float(form(k)),
    )
