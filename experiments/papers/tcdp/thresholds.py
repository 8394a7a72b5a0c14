"""Section 5.3: the records that threshold queries and interior points need, by notion of privacy.

The domain has k = 2^bits elements. The number of bits grows far beyond all k that floats represent.
"""

from collections.abc import Callable
from math import log, sqrt

from tcdp_sim import bounds
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Points
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.ordered.interior import required_records, split_budget
from tcdp_sim.ordered.interior.records_needed import binary_search_required_records, exponential_required_records
from tcdp_sim.ordered.thresholds.finder import Finder
from tcdp_sim.ordered.thresholds.medians import plan_medians
from tcdp_sim.privacy import TCDP, ZCDP, Guarantee, PureDP

EPSILON, RHO, OMEGA = 0.5, 0.5, 10.0
BITS = (1, 2, 3, 4, 6, 8, 10)
MANY_BITS = (1, 2, 4, 8, 16, 32, 64, 128, 200, 300)


@claim("T.5.3a")
def pure(budget: Budget) -> Points:
    """Return points of the exponential mechanism, which is exactly enough for an interior point."""
    return growing(
        BITS, lambda bits: exponential_required_records(EPSILON, bits), lambda b: b * log(2) / EPSILON, "bits of k"
    )


@claim("T.5.3a pure, least")
def least_pure(budget: Budget) -> Points:
    """Return points of the lower bound by packing."""
    return _least(PureDP(EPSILON), lambda bits: bits * log(2) / EPSILON)


@claim("T.5.3a zCDP, least")
def least_concentrated(budget: Budget) -> Points:
    """Return points of the lower bound by packing."""
    return _least(ZCDP(RHO), lambda bits: sqrt(bits * log(2) / RHO))


@claim("T.5.3a zCDP")
def concentrated(budget: Budget) -> Points:
    """Return points of the exact need of the binary search.

    Without going back on wrong turns it loses √log log k against the printed order.
    """
    return growing(
        BITS[1:],
        lambda bits: closed_form(binary_search_required_records(RHO, bits), 1e-9),
        lambda bits: sqrt(bits * log(2) * log(bits * log(2)) / RHO),
        "bits of k",
    )


@claim("T.5.3c")
def truncated(budget: Budget) -> Points:
    """Return points of the proved records of the interior point, calibrated by Theorem 17."""
    return _interior("default", OMEGA + 1 / sqrt(RHO))


@claim("T.T25")
def theorem_25(budget: Budget) -> Points:
    """Return points of the records with the paper's thresholds 1/5 and 2/5, in counts (Δ = 1).

    The factor 2^O(log* k) is not needed.
    """
    return _interior("paper", OMEGA + 1 / sqrt(RHO))


@claim("T.T25 in ω")
def theorem_25_in_omega(budget: Budget) -> Points:
    """Return points of the records at a k so large that log k stays above ω²ρ."""
    bits = 1e200

    def records(omega: float) -> float:
        return float(_proved(omega, bits))

    return growing((0.5, 1, 1.5, 2, 3, 4), records, lambda omega: (omega + 1 / sqrt(RHO)) * log(bits * log(2)), "ω")


@claim("T.1.2f thresholds")
def threshold_error(budget: Budget) -> Points:
    """Return points of the records, because at constant accuracy an error is a share of them."""
    return _interior("default", 1.0)


@claim("T.5.3d")
def from_interior_points(budget: Budget) -> Points:
    """Return points of the records at which the proved error of all thresholds is a share α, by medians of medians."""
    domain, guarantee = 2**20, TCDP(RHO, 30.0)
    one = Finder(domain, guarantee, calibration="paper").needed

    def records(rounds: int) -> float:
        n = one * 2**rounds
        for _ in range(6):
            plan = plan_medians(rounds, n, domain, guarantee, calibration="paper")
            windows = plan.error_bound - n / 2 ** (rounds + 1)
            n = int(2 ** (rounds + 1) * windows) + 1
        return float(n)

    exponents = {rounds * log(2) / log(10): rounds for rounds in (2, 4, 6, 8, 10, 12)}
    return growing(
        exponents,
        lambda x: records(round(log(x) / log(2))),
        lambda x: one * x * (1 + log(x)) ** 2,
        "1/α",
    )


def _proved(omega: float, bits: float, variant: str = "default") -> int:
    """Return the proved number of records of the release as the paper accounts for it."""
    budget_split = split_budget(TCDP(RHO, omega), bits, split=(0.5, 0.25, 0.25), accounting="paper")
    return required_records(budget_split, bits, variant=variant)


def _interior(variant: str, factor: float) -> Points:
    def records(bits: float) -> float:
        return float(_proved(OMEGA, bits, variant))

    return growing(MANY_BITS, records, lambda bits: factor * log(bits * log(2)), "bits of k")


def _least(promise: Guarantee, form: Callable[[float], float]) -> Points:
    def records(bits: float) -> Bounds[float]:
        return closed_form(float(bounds.interior_records(promise, bits)), 1e-9)

    return growing(BITS, records, form, "bits of k")
