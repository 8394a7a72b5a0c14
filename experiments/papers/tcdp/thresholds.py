"""Section 5.3: how many records threshold queries and interior points take, by notion of privacy.

The domain has k = 2^bits elements; what grows is the number of bits, far beyond all k that floats hold.
"""

from collections.abc import Callable
from math import log, sqrt

from tcdp_sim.experiments.papers.registry import Budget, claim, not_checkable
from tcdp_sim.experiments.papers.tcdp.sides import growing

from tcdp_sim import bounds
from tcdp_sim.claims import Evidence, Growth, Kind, Verdict
from tcdp_sim.interior import parts, required_n
from tcdp_sim.interior.records_needed import binary_search_required_n, exponential_required_n
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.privacy import ZCDP, Guarantee, PureDP
from tcdp_sim.thresholds.finder import Finder
from tcdp_sim.thresholds.medians import plan_medians

EPSILON, RHO, OMEGA = 0.5, 0.5, 10.0
BITS = (1, 2, 3, 4, 6, 8, 10)
MANY_BITS = (1, 2, 4, 8, 16, 32, 64, 128, 200, 300)

not_checkable(
    "T.5.3b", section="5.3", reason="cites bounds of others, and says that the truth between them is an open problem"
)


@claim("T.5.3a", kind=Kind.ASYMPTOTIC, section="5.3", expected=Verdict.CONSISTENT)
def pure(budget: Budget) -> Evidence:
    """Enough for an interior point: the exponential mechanism, exactly."""
    return Evidence(
        growing(BITS, lambda bits: exponential_required_n(EPSILON, bits), lambda b: b * log(2) / EPSILON, "bits of k"),
        measures="records for an interior point by the exponential mechanism over log k/ε, ε = 0.5, success 0.95",
        universe="k → ∞, constant accuracy",
    )


@claim(
    "T.5.3a",
    part="pure, least",
    title="Thresholds under pure DP need the order of log k/ε records",
    kind=Kind.ASYMPTOTIC,
    section="5.3",
    expected=Verdict.CONSISTENT,
)
def least_pure(budget: Budget) -> Evidence:
    """By packing."""
    return _least(PureDP(EPSILON), lambda bits: bits * log(2) / EPSILON, "log k/ε, ε = 0.5")


@claim(
    "T.5.3a",
    part="zCDP, least",
    title="Thresholds under ρ-zCDP need the order of √(log k/ρ) records",
    kind=Kind.ASYMPTOTIC,
    section="5.3",
    expected=Verdict.CONSISTENT,
)
def least_concentrated(budget: Budget) -> Evidence:
    """By packing."""
    return _least(ZCDP(RHO), lambda bits: sqrt(bits * log(2) / RHO), "√(log k/ρ), ρ = 0.5")


@claim(
    "T.5.3a",
    part="zCDP",
    title="A noisy binary search finds an interior point from the order of √(log k log log k/ρ) records",
    kind=Kind.ASYMPTOTIC,
    section="5.3",
    expected=Verdict.CONSISTENT,
)
def concentrated(budget: Budget) -> Evidence:
    """Its exact need; without going back on wrong turns it loses √log log k against the printed order."""
    return Evidence(
        growing(
            BITS[1:],
            lambda bits: closed_form(binary_search_required_n(RHO, bits), 1e-9),
            lambda bits: sqrt(bits * log(2) * log(bits * log(2)) / RHO),
            "bits of k",
        ),
        measures="records for an interior point by noisy binary search over √(log k log log k/ρ), ρ = 0.5",
        universe="k → ∞",
    )


@claim("T.5.3c", kind=Kind.ASYMPTOTIC, section="5.3", expected=Verdict.CONSISTENT)
def truncated(budget: Budget) -> Evidence:
    """Proved records of the interior point, calibrated by Theorem 17."""
    return _interior("default", OMEGA + 1 / sqrt(RHO), "(ω + 1/√ρ) log log k")


@claim("T.T25", kind=Kind.ASYMPTOTIC, section="5.3", expected=Verdict.CONSISTENT)
def theorem_25(budget: Budget) -> Evidence:
    """With the thresholds 1/5 and 2/5 of the paper, in counts (Δ = 1); the factor 2^O(log* k) is not needed."""
    return _interior("paper", OMEGA + 1 / sqrt(RHO), "(ω + 1/√ρ)Δ log log k, Δ = 1, thresholds 1/5 and 2/5")


@claim(
    "T.T25",
    part="in ω",
    title="The records of Theorem 25 grow no faster than ω",
    kind=Kind.ASYMPTOTIC,
    section="5.3",
    expected=Verdict.CONSISTENT,
)
def theorem_25_in_omega(budget: Budget) -> Evidence:
    """At a k so large that log k is beyond ω²ρ all the way."""
    bits = 1e200

    def records(omega: float) -> float:
        return required_n(parts(RHO, omega, bits, split=(0.5, 0.25, 0.25), accounting="paper"), bits)

    return Evidence(
        growing((0.5, 1, 1.5, 2, 3, 4), records, lambda omega: (omega + 1 / sqrt(RHO)) * log(bits * log(2)), "ω"),
        measures="proved records for an interior point over (ω + 1/√ρ) log log k, log₂ k = 1e200, ρ = 0.5",
        universe="ω → ∞",
        growth=Growth.AT_MOST,
    )


@claim(
    "T.1.2f",
    part="thresholds",
    title="Threshold queries under tCDP: an error of O(log log k)",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.CONSISTENT,
)
def threshold_error(budget: Budget) -> Evidence:
    """At constant accuracy an error is a share of the records that it takes."""
    return _interior("default", 1.0, "log log k")


@claim("T.5.3d", kind=Kind.ASYMPTOTIC, section="5.3", expected=Verdict.CONSISTENT)
def from_interior_points(budget: Budget) -> Evidence:
    """Medians of medians: records at which the proved error of all thresholds is a share α of them."""
    domain, omega = 2**20, 30.0
    one = Finder(domain, RHO, omega, calibration="paper").needed

    def records(levels: int) -> float:
        n = one * 2**levels
        for _ in range(6):
            plan = plan_medians(levels, n, domain, RHO, omega, calibration="paper")
            windows = plan.error_bound - n / 2 ** (levels + 1)
            n = int(2 ** (levels + 1) * windows) + 1
        return float(n)

    exponents = {levels * log(2) / log(10): levels for levels in (2, 4, 6, 8, 10, 12)}
    return Evidence(
        growing(
            exponents,
            lambda x: records(round(log(x) / log(2))),
            lambda x: one * x * (1 + log(x)) ** 2,
            "1/α",
        ),
        measures="records for all thresholds to within a share α, over n/α (1 + log 1/α)², n those of one point",
        universe="α → 0; ρ = 0.5, ω = 30, k = 2^20",
        growth=Growth.AT_MOST,
    )


def _interior(variant: str, factor: float, name: str) -> Evidence:
    def records(bits: float) -> float:
        return required_n(parts(RHO, OMEGA, bits, split=(0.5, 0.25, 0.25), accounting="paper"), bits, variant=variant)

    return Evidence(
        growing(MANY_BITS, records, lambda bits: factor * log(bits * log(2)), "bits of k"),
        measures=f"proved records for an interior point over {name}, ρ = 0.5, ω = 10, success 0.95",
        universe="k → ∞",
        growth=Growth.AT_MOST,
    )


def _least(promise: Guarantee, form: Callable[[float], float], name: str) -> Evidence:
    def records(bits: float) -> Bounds[float]:
        return closed_form(float(bounds.interior_records(promise, bits)), 1e-9)

    return Evidence(
        growing(BITS, records, form, "bits of k"),
        measures=f"lower bound of the records for an interior point over {name}",
        universe="k → ∞, all mechanisms",
        growth=Growth.AT_LEAST,
    )
