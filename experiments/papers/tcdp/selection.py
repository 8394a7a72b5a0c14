"""Sections 1.2 and 5: the gap that private selection needs, by notion of privacy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tcdp_sim import bounds, exact
from tcdp_sim.bounds.lower import packing_records
from tcdp_sim.calibration import calibrate
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.core.streams import generator
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import FAR, growing, growing_in_logs
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Laplace, Noise
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, Guarantee, PureDP
from tcdp_sim.selection.baselines import Stability
from tcdp_sim.selection.scores import Scores
from tcdp_sim.statistics.intervals import simulated_proportion

EPSILON, RHO, BETA = 0.5, 0.1, 0.05
TARGET = TCDP(RHO, 4.0)  # omega above 1/sqrt rho
EXPONENTS = (1, 2, 4, 8, 16, 32, 64, 128, 200, 300)
TRIALS = 20_000


@claim("T.1.2e")
def pure_gap(budget: Budget) -> Points:
    """Return points of the gap that packing requires. The exponential mechanism suffices (T.5a)."""
    return _least(PureDP(EPSILON), lambda log_k: log_k / EPSILON)


@claim("T.1.2e zCDP")
def concentrated_gap(budget: Budget) -> Points:
    """Return points of the gap that packing requires. Gaussian noise suffices (T.5c)."""
    return _least(ZCDP(RHO), lambda log_k: float(np.sqrt(log_k / RHO)))


@claim("T.1.2e approximate")
def approximate_gap(budget: Budget) -> Points:
    """Return points of the gap that packing of events requires for 1e300 candidates. Stability suffices (T.5b)."""

    def least(inverse: float) -> Bounds[float]:
        return closed_form(float(bounds.selection_gap(ApproxDP(EPSILON, 1 / inverse, "target"), 1e300, BETA)), 1e-9)

    return growing((2, 4, 8, 16, 32, 64, 128, 200), least, lambda x: float(np.log(x)) / EPSILON, "1/δ")


@claim("T.fn3")
def gap_for_large_omega(budget: Budget) -> Points:
    """Return points of the form of Proposition 5 over that of zCDP, for a million candidates."""
    target = float(np.sqrt(np.log(1e6) / RHO))
    return growing(range(1, 9), lambda omega: omega * float(np.log1p(target / omega)), lambda _: target, "ω")


@claim("T.P5")
def proposition_5(budget: Budget) -> Points:
    """Return points of Algorithm 22 with the noise of Theorem 17, at ρ = 0.1, ω = 4 > 1/√ρ."""
    noise = calibrate("sinh_normal", TARGET, method="paper").noise
    return growing_in_logs(FAR, lambda log_k: _gap_in_logs(noise, log_k), _form)


@claim("T.P5 large ω")
def proposition_5_large_omega(budget: Budget) -> Points:
    """Return points of the gap for a million candidates and ρ = 0.1."""

    def gap(omega: float) -> Bounds[float]:
        return _gap("obvious_answer", calibrate("sinh_normal", TCDP(RHO, omega), method="paper").noise, 1e6)

    def form(omega: float) -> float:
        return omega * float(np.log1p(np.sqrt(np.log(1e6) / RHO) / omega))

    return growing((0.6, 1, 2, 3, 4), gap, form, "ω")


@claim("T.5a")
def exponential_mechanism(budget: Budget) -> Points:
    """Return points of the exact gap 2/ε log((k - 1)(1 - β)/β). T.1.2e and its part here are about optimality."""
    odds = float(np.log((1 - BETA) / BETA))
    return growing_in_logs(FAR, lambda log_k: 2 * (log_k + odds) / EPSILON, lambda log_k: log_k / EPSILON)


@claim("T.5a optimal")
def exponential_is_optimal(budget: Budget) -> Points:
    """Return points of the exact gap over the packing bound, which tends to 2."""
    return growing(
        EXPONENTS,
        lambda k: _gap("exponential_mechanism", EPSILON, k),
        lambda k: float(bounds.selection_gap(PureDP(EPSILON), k, BETA)),
    )


@claim("T.5b")
def stability(budget: Budget) -> Points:
    """Return points of propose-test-release: the noisy lead against a threshold with P[Z > t] = δ."""
    noise = Laplace(1 / EPSILON)
    return growing_in_logs(FAR, lambda x: _gap_in_logs(noise, x), lambda x: x / EPSILON, "1/δ")


@claim("T.5b any k")
def stability_for_any_k(budget: Budget) -> Points:
    """Yield the simulated mechanism two counts above and two below the gap that ten candidates need."""
    noise, delta = Laplace(1 / EPSILON), 1e-6
    gap = float(exact.required_gap("stability", noise, 10.0, BETA, delta=delta).estimate)
    rng = generator(20260726, "0" * 64, 0)
    for k in (2, 10, 1000, 10**6):
        for more in (-2.0, 2.0):
            scores = Scores(np.array([gap + more, 0.0]), k - 2, sensitivity=1)
            chosen = Stability(noise, delta).select(scores, TRIALS, rng=rng)
            fails = simulated_proportion(int((chosen != 0).sum()), TRIALS)
            sides = (constant(BETA), fails) if more < 0 else (fails, constant(BETA))
            yield Point(f"k = {k}, {gap + more:.4g} counts", *sides)


def _gap(algorithm: str, noise: Noise | float, k: float) -> Bounds[float]:
    """Return the gap from which the selection is right with probability 1 - BETA."""
    return exact.required_gap(algorithm, noise, k, BETA)


def _gap_in_logs(noise: Noise, log_k: float) -> Bounds[Any]:
    """Return the gap of Algorithm 22 in closed form, where P[Z > t] = 1/k, and so that of stability-based selection."""
    return closed_form(2 * (float(noise.isf_log(-log_k)) + float(noise.isf(BETA)) + 1), 1e-9)


def _form(log_k: float) -> float:
    omega = TARGET.omega
    return omega * float(np.log1p(np.sqrt(log_k / RHO) / omega))


def _least(promise: Guarantee, form: Callable[[float], float]) -> Points:
    return growing_in_logs(FAR, lambda log_k: closed_form(float(packing_records(promise, log_k, BETA)), 1e-9), form)
