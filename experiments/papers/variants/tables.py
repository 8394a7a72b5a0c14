"""Both tables of the sheet, each entry with what was found out about it."""

from typing import NamedTuple

import pandas as pd
from tcdp_sim.experiments.papers import library
from tcdp_sim.experiments.papers.judge.verdict import judge
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, evidence_of, exhibit, points_of

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
    claim: str
    about: str = ""


BASIC = (
    Entry(DP, NOISE, "σ² = 2Δ² log(1.25/δ)/ε²", "V.T1 Gauss"),
    Entry(DP, IN_TURN, "(ε₁ + ε₂, δ₁ + δ₂)", "V.T1 seq", "(log"),
    Entry(DP, ADVANCED, "(2ε√(2k log(1/δ')), kδ + δ')", "V.T1 adv"),
    Entry(MOMENTS, NOISE, "same as (ε, δ)-DP", "V.T1 Gauss"),
    Entry(MOMENTS, IN_TURN, "same as (ε, δ)-DP", "V.T1 seq", "(log"),
    Entry(MOMENTS, ADVANCED, "(4ε√(2k log(1/δ)), δ)", "V.T1 mom"),
    Entry(RDP, NOISE, "σ² = Δ²α/(2ε)", "V.T1 Gauss Rényi", "Rényi"),
    Entry(RDP, IN_TURN, "(α, ε₁ + ε₂)", "V.T1 seq", "Rényi"),
    Entry(RDP, TO_DP, "(ε + log(1/δ)/(α - 1), δ)", "V.T1 conv", "Rényi"),
    Entry(ZCDP, NOISE, "σ² = Δ²/(2ρ)", "V.T1 Gauss Rényi", "zCDP"),
    Entry(ZCDP, IN_TURN, "ρ₁ + ρ₂", "V.T1 seq", "zCDP"),
    Entry(ZCDP, TO_DP, "(ρ + 2√(ρ log(1/δ)), δ)", "V.T1 conv", "zCDP"),
)
SUBSAMPLING = (
    Entry(DP, SAMPLED, "(log(1 + s(e^ε - 1)), sδ)", "V.T2 dp"),
    Entry(RDP, SAMPLED, "a sum over whole orders", "V.rdp1"),
    Entry(ZCDP, SAMPLED, "none", "V.T2 zcdp"),
    Entry(TCDP, SAMPLED, "(13s²ρ, log(1/s)/4ρ)", "V.T2 tcdp"),
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
        one = library.claims()[entry.claim]
        points = [point for point in points_of(one, budget) if point.where.startswith(entry.about)]
        judged = judge(one.kind, evidence_of(one, points))
        row = {"notion": entry.notion, "entry": entry.what, "as printed": entry.printed}
        row |= {"verdict as printed": judged.verdict.value, "decided at": judged.where}
        row["compared"] = one.measures
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
