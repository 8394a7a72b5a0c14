"""Verdicts as a table: claims.csv, which has every number of the page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import nan

import pandas as pd

from tcdp_sim.experiments.papers.gather.gather import Result
from tcdp_sim.experiments.papers.judge.classes import ClaimClass
from tcdp_sim.experiments.papers.judge.verdict import Verdict
from tcdp_sim.experiments.papers.library import papers
from tcdp_sim.experiments.papers.page.wording import (
    CLASS_SHAPES,
    balls,
    caught,
    estimate,
    evidence,
    looseness,
    number,
    power,
    scope,
)
from tcdp_sim.statistics.intervals import Simulated

COMPARED = {  # verdict of a comparison -> its words
    str(Verdict.FALSE): "compared: the numbers are not as near as the words suggest",
    str(Verdict.HOLDS): "compared: the numbers are as near as the words suggest",
    str(Verdict.CONSISTENT): "compared: the numbers go where the words say, as far as they were computed",
}
UNJUDGED = {ClaimClass.INFORMAL, ClaimClass.TEXT_DAMAGED}  # their cards compare, and give no verdict on the paper


def claims_table(results: Iterable[Result]) -> pd.DataFrame:
    """Return a row for each claim.

    - value, lower, upper: the left side at the point that decided, or the last ratio of an asymptotic claim.
    - limit...: the right side there.
    - tightness: left over right there. loose: the inverse of it for a claim that holds.

    The other columns are texts: id, claim, verdict, scope, vacuous, erratum, figure, command and others.
    """
    return pd.DataFrame([_row(result) for result in results])


def _row(result: Result) -> dict[str, object]:
    claim, found, judgement = result.claim, result.evidence, result.judgement
    value, lower, upper = estimate(judgement.left)
    limit, limit_lower, limit_upper = estimate(judgement.right)
    simulated = isinstance(judgement.left, Simulated)
    return {
        "id": claim.id,
        "claim": claim.title,
        "verdict": str(judgement.verdict),
        "scope": str(judgement.scope) if judgement.left is not None else "",
        "value": value,
        "lower": lower,
        "upper": upper,
        "tightness": judgement.tightness,
        "vacuous": judgement.vacuous,
        "erratum": claim.erratum,
        "figure": claim.figure,
        "command": command_of(claim.id, claim.ids[0], claim.of),
        "limit": limit,
        "limit_lower": limit_lower,
        "limit_upper": limit_upper,
        "mcse": judgement.left.mcse if isinstance(judgement.left, Simulated) else nan,
        "simulated": simulated,
        "loose": looseness(judgement),
        "points": judgement.points,
        "where": judgement.where,
        "evidence": evidence(result),
        "about": scope(judgement),
        "measures": found.measures,
        "universe": found.universe,
        "tolerance": number(found.tolerance) if found.tolerance else "",
        "proof": f"{found.proof}: {found.why}" if found.proof else "",
        "printed": claim.printed,
        "correct": claim.correct,
        "consequence": claim.consequence,
        "kind": str(claim.kind),
        "paper": papers()[claim.paper].name,
        "section": claim.place.section,
        "ids": " ".join(claim.ids),
        "recorded": str(claim.expected),
        "class": str(result.shown),
        "ours": "yes" if claim.ours else "no",
        "quote": claim.quote,
        "place": str(claim.place),
        "power": power(result.power),
        "caught": caught(result.power) if judgement.verdict is Verdict.CONSISTENT else "",
        "ball": balls(result),
        "hypotheses": claim.hypotheses,
        "no_quote": claim.no_quote,
        "recovered": "yes" if claim.recovered else "no",
        "withdrawn": claim.withdrawn,
        "of": claim.of,
    }


def command_of(identity: str, first: str, part: str) -> str:
    """Return the command that shows a claim alone."""
    name = identity if part or " " not in identity else first
    return f"tcdp-sim reproduce only='{name}'" if " " in name else f"tcdp-sim reproduce only={name}"


def page_rows(table: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows as the page shows them: with an anchor, the shape of the class, and numbers as texts."""
    rows = [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
    shapes = {str(each): shape for each, shape in CLASS_SHAPES.items()}
    for row, anchor in zip(rows, anchors([str(row["id"]) for row in rows])):
        row |= {"anchor": anchor, "shape": shapes[str(row["class"])], "letter": str(row["id"])[0]}
        row |= {"loose_text": number(float(str(row["loose"]))), "changed": row["verdict"] != row["recorded"]}
        row["errata"] = str(row["erratum"]).split(", ") if row["erratum"] else []
        row["judged"] = _judged(row)
    return rows


def _judged(row: Mapping[str, object]) -> str:
    """Return the verdict in words, or for a sentence that cannot be judged how near the compared numbers are."""
    if row["class"] in UNJUDGED:
        return COMPARED.get(str(row["verdict"]), "compared") + ", which is no verdict on the paper"
    return f"{row['verdict']} {row['about']}".strip()


def anchors(names: Sequence[str]) -> list[str]:
    """Return a plain name for each, no two alike."""
    plain = ["claim-" + re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") for name in names]
    return [name if plain.index(name) == i else f"{name}-{i}" for i, name in enumerate(plain)]
