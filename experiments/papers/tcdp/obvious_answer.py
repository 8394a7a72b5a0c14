"""Section 5.2: selection by one noisy gap, Algorithm 22."""

from functools import partial

import numpy as np

from tcdp_sim import exact
from tcdp_sim.core.numerics import closed_form
from tcdp_sim.exact.selection.privacy import worst_pairs
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.reductions import GAPS, NOISES, changes, spent
from tcdp_sim.noise import Gaussian, SinhNormal


@claim("T.A22 T.5.2a")
def algorithm_22(budget: Budget) -> Points:
    """Yield points at the gap 4t + 2, where the bound is attained, and at a larger one."""
    for name, noise in NOISES.items():
        for k in (10.0, 1e6, 1e100):
            for more in (0.0, 2.0):
                gap = 4 * float(noise.isf(1 / k)) + 2 + more
                left = exact.selection_failure("obvious_answer", noise, gap, k)
                yield Point(f"{name}, k = {k:g}, gap 4t + {2 + more:g}", left, closed_form(1 / k))


@claim("T.A22 T.5.2a equality")
def exact_threshold(budget: Budget) -> Points:
    """Yield both output laws where the winner changes, from the noise's own tail and the threshold of 2/k."""
    for name, noise in NOISES.items():
        for k in (10, 1000, 10**6):
            wins = float(noise.sf(noise.isf(2 / k)))
            first, second = np.full(k, (1 - wins) / (k - 1)), np.full(k, (1 - wins) / (k - 1))
            first[0] = second[1] = wins
            loss = closed_form(float(np.abs(np.log(first) - np.log(second)).max()), 1e-9)
            yield Point(f"{name}, k = {k:g}", closed_form(float(np.log(2)) - 1 / k), loss)


@claim("T.5.2b")
def theorem_20_for_algorithm_22(budget: Budget) -> Points:
    """Yield points of Gaussian noise of scale 10, at the gap that is enough by Theorem 20."""
    noise = Gaussian(10.0)
    for k in (10.0, 1e3, 1e6, 1e9):
        gap = 2 * float(noise.isf(0.01 / (2 * k)))
        left = exact.selection_failure("obvious_answer", noise, gap, k)
        yield Point(f"k = {k:g}, gap {gap:.4g}", left, constant(0.05))


@claim("T.5.2c")
def sharper(budget: Budget) -> Points:
    """Return points of Theorem 17's sinh-normal noise for ρ = 0.1, ω = 2, with sensitivity 1 and with sensitivity 2."""
    return _both_reductions(_theorem_17(2.0, 1), (1e3, 1e12, 1e100, 1e300), by_the_first=True)


@claim("T.5.2c as charged")
def sharper_as_charged(budget: Budget) -> Points:
    """Return both reductions by the paper's accounting."""
    return _both_reductions(_theorem_17(2.0, 2), (1e2, 1e3, 1e6, 1e12, 1e100))


@claim("T.5c similar")
def same_order(budget: Budget) -> Points:
    """Return points of Theorem 17's sinh-normal noise, for (0.1, 2)-tCDP in total as both are analysed."""
    first = partial(exact.required_gap, "generalized_histogram", _theorem_17(2.0, 2), failure=0.05)
    second = partial(exact.required_gap, "obvious_answer", _theorem_17(1.0, 1), failure=0.05)
    return growing((2, 3, 6, 12, 32, 100, 200, 300), second, lambda k: float(first(k).estimate))


@claim("T.L23")
def lemma_23(budget: Budget) -> Points:
    """Yield the divergences and δ(ε) of the output of Algorithm 22, against one query of sensitivity 1."""
    for k in (2.0, 1e3, 1e6):
        yield from spent("obvious_answer", 1.0, 1, k)
        noise = NOISES["Gaussian"]
        pairs = worst_pairs("obvious_answer", noise, k, gaps=GAPS)
        for epsilon in (0.01, 0.1, 0.5):
            left = exact.worst_delta(pairs, epsilon)
            yield Point(f"Gaussian, ε = {epsilon:g}, k = {k:g}", left, exact.hockey_stick(noise, 1.0, epsilon))


@claim("T.L23 gaps")
def gaps_of_neighbours(budget: Budget) -> Points:
    """Yield points on a lattice, with changes of up to 1, where the bound is attained, and of up to 1/2."""
    for k, step in [(2, 1.0), (3, 1.0), (4, 1.0), (3, 0.5)]:
        yield Point(f"k = {k}, changes of {step:g}", closed_form(changes(k, step).gaps), constant(2.0))


def _theorem_17(sensitivity: float, queries: int) -> SinhNormal:
    """Return the noise of Theorem 17 for (0.1, 2)-tCDP over that many queries."""
    rho, omega = 0.1, 2.0
    return SinhNormal(scale=sensitivity * float(np.sqrt(8 * queries / rho)), knee=8 * sensitivity * omega)


def _both_reductions(first: SinhNormal, counts: tuple[float, ...], by_the_first: bool = False) -> Points:
    """Yield the gaps of both reductions. The first one is the left side if the claim says that it is smaller."""
    for k in counts:
        second = exact.required_gap("obvious_answer", _theorem_17(1.0, 1), k, 0.05)
        sides = exact.required_gap("generalized_histogram", first, k, 0.05), second
        yield Point(f"k = {k:g}", *(sides if by_the_first else sides[::-1]))
