"""Both tables of the sheet, each entry with what was found out about it."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pandas as pd
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit
from tcdp_sim.experiments.papers.variants import composition, gaussian_noise, renyi_sampling, sampling

from tcdp_sim.claims import Evidence, Kind, judge

DP, MOMENTS, RDP, ZCDP, TCDP = "(ε, δ)-DP", "Moments accountant", "(α, ε)-RDP", "ρ-zCDP", "(ρ, ω)-tCDP"
NOISE, IN_TURN, ADVANCED, TO_DP = "Gaussian noise", "sequential composition", "advanced composition", "to (ε, δ)-DP"
SAMPLED = "sampling"


class Entry(NamedTuple):
    """An entry of a table: of which notion, what about it, as printed, and the claim that decides on it.

    about: how the names of those points of the claim begin that are about this entry.
    """

    notion: str
    what: str
    printed: str
    evidence: Callable[[Budget], Evidence]
    about: str = ""
    kind: Kind = Kind.INEQUALITY


BASIC = (
    Entry(DP, NOISE, "σ² = 2Δ² log(1.25/δ)/ε²", gaussian_noise.classical_variance),
    Entry(DP, IN_TURN, "(ε₁ + ε₂, δ₁ + δ₂)", composition.sequential, "(log"),
    Entry(DP, ADVANCED, "(2ε√(2k log(1/δ')), kδ + δ')", composition.advanced),
    Entry(MOMENTS, NOISE, "same as (ε, δ)-DP", gaussian_noise.classical_variance),
    Entry(MOMENTS, IN_TURN, "same as (ε, δ)-DP", composition.sequential, "(log"),
    Entry(MOMENTS, ADVANCED, "(4ε√(2k log(1/δ)), δ)", composition.moments_accountant),
    Entry(RDP, NOISE, "σ² = Δ²α/(2ε)", gaussian_noise.renyi_variances, "Rényi", Kind.IDENTITY),
    Entry(RDP, IN_TURN, "(α, ε₁ + ε₂)", composition.sequential, "Rényi"),
    Entry(RDP, TO_DP, "(ε + log(1/δ)/(α - 1), δ)", gaussian_noise.conversions, "Rényi"),
    Entry(ZCDP, NOISE, "σ² = Δ²/(2ρ)", gaussian_noise.renyi_variances, "zCDP", Kind.IDENTITY),
    Entry(ZCDP, IN_TURN, "ρ₁ + ρ₂", composition.sequential, "zCDP"),
    Entry(ZCDP, TO_DP, "(ρ + 2√(ρ log(1/δ)), δ)", gaussian_noise.conversions, "zCDP"),
)
SUBSAMPLING = (
    Entry(DP, SAMPLED, "(log(1 + s(e^ε - 1)), sδ)", sampling.sampled_dp),
    Entry(RDP, SAMPLED, "a sum over whole orders", renyi_sampling.printed_sum),
    Entry(ZCDP, SAMPLED, "none", sampling.sampled_zcdp),
    Entry(TCDP, SAMPLED, "(13s²ρ, log(1/s)/4ρ)", sampling.sampled_tcdp),
)


def basic(budget: Budget) -> pd.DataFrame:
    """An entry a row: notion, entry, printed, verdict, and both sides of the claim where it was decided."""
    return _decided(BASIC, budget)


def subsampling(budget: Budget) -> pd.DataFrame:
    """The same of the table of sampling."""
    return _decided(SUBSAMPLING, budget)


def _decided(entries: tuple[Entry, ...], budget: Budget) -> pd.DataFrame:
    rows = []
    for entry in entries:
        evidence = entry.evidence(budget)
        points = [point for point in evidence.points if point.where.startswith(entry.about)]
        evidence = replace(evidence, points=points)
        judged = judge(entry.kind, evidence)
        row = {"notion": entry.notion, "entry": entry.what, "as printed": entry.printed}
        row |= {"verdict as printed": judged.verdict.value, "decided at": judged.where}
        row["compared"] = evidence.measures
        rows.append(row | {"left": _estimate(judged.left), "right": _estimate(judged.right)})
    return pd.DataFrame(rows)


def _estimate(side: object) -> float:
    return float(getattr(side, "estimate", float("nan")))


exhibit(
    Exhibit(
        "variants_table_1",
        "V",
        "The sheet's table of notions, entry by entry",
        "What is printed, whether it holds as printed, and where it was decided: the point that is worst for the "
        "claim, with the left side of the comparison and the right one, which is not to be exceeded (or is to be met, "
        "for the variances of Rényi DP and zCDP). Each false entry has its repaired form among the claims.",
        basic,
    )
)
exhibit(
    Exhibit(
        "variants_table_2",
        "V",
        "The sheet's table of sampling, entry by entry",
        "What sampling without replacement is said to leave of each notion, whether that holds as printed, and where "
        "it was decided: the left side is not to exceed the right one. Under zCDP there is nothing to gain: the left "
        "side, a lower bound on the exact right one, goes to one.",
        subsampling,
    )
)
