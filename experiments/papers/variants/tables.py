"""Both tables of the sheet, each entry with the evidence on it."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from tcdp_sim.experiments.papers import library
from tcdp_sim.experiments.papers.judge.verdict import judge
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, evidence_of, exhibit, points_of

DP, MOMENTS, RDP, ZCDP, TCDP = "(ε, δ)-DP", "Moments accountant", "(α, ε)-RDP", "ρ-zCDP", "(ρ, ω)-tCDP"
NOISE, IN_TURN, ADVANCED, TO_DP = "Gaussian noise", "sequential composition", "advanced composition", "to (ε, δ)-DP"
SAMPLED = "sampling"


class Entry(NamedTuple):
    """An entry of a table: its notion, its column, its text as printed, and the claim that decides on it.

    `about` is the beginning of the names of those points of the claim that are about this entry.
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
    """Return the table of notions: a row for each entry, and one more where its claim has a part outside of the domain.

    The columns are notion, entry, the printed text, class of the claim, domain of the points, verdict, deciding point,
    compared quantities, and both sides there.
    """
    return pd.DataFrame([row for entry in BASIC for row in _rows(entry, budget)])


def subsampling(budget: Budget) -> pd.DataFrame:
    """Return the table of sampling, with the same columns."""
    return pd.DataFrame([row for entry in SUBSAMPLING for row in _rows(entry, budget)])


def _rows(entry: Entry, budget: Budget) -> Iterator[dict[str, object]]:
    for name in (entry.claim, f"{entry.claim} outside"):
        if one := library.claims().get(name):
            points = [point for point in points_of(one, budget) if point.where.startswith(entry.about)]
            judged = judge(one.kind, evidence_of(one, points))
            row = {"notion": entry.notion, "entry": entry.what, "as printed": entry.printed}
            row |= {"class": one.claim_class.value, "domain": one.universe, "verdict there": judged.verdict.value}
            row |= {"decided at": judged.where, "compared": one.measures}
            yield row | {"left": _estimate(judged.left), "right": _estimate(judged.right)}


def _estimate(side: object) -> float:
    return float(getattr(side, "estimate", float("nan")))


_HOW_TO_READ = (
    "An entry that leaves out a hypothesis has two rows: one with points where it is meant, one with points outside. "
    "Each row says which points were tried, the verdict on them and the point that decided it: the left side of the "
    "comparison is not to exceed the right one (or is to meet it, for the variances of Rényi DP and zCDP)."
)
exhibit(
    Exhibit(
        "variants_table_1",
        "V",
        "The sheet's table of notions, entry by entry",
        f"This table shows what is printed, the class of each entry, and what was found. {_HOW_TO_READ}",
        basic,
    )
)
exhibit(
    Exhibit(
        "variants_table_2",
        "V",
        "The sheet's table of sampling, entry by entry",
        f"This table shows what sampling without replacement is said to leave of each notion. {_HOW_TO_READ} Under "
        "zCDP nothing is gained: the left side, a lower bound on the exact right one, tends to one.",
        subsampling,
    )
)
