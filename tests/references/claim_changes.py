"""The claims to test, and evidence that is changed on purpose, so that the verdict must change."""

from dataclasses import replace
from math import inf

import pytest

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers import claims
from tcdp_sim.experiments.papers.judge.evidence import Growth

CLAIMS = claims()


def by_claim(kinds=None):
    """Parametrise over the claims of these kinds, by id."""
    chosen = [claim for claim in CLAIMS.values() if kinds is None or claim.kind in kinds]
    return pytest.mark.parametrize("claim", chosen, ids=[claim.id for claim in chosen])


def times(side, factor):
    """Return a side times a factor > 0."""
    return Bounds(*(sorted((side.lower * factor, side.estimate * factor, side.upper * factor))))


def scaled(evidence, factor):
    """Return the evidence with all right sides times a factor."""
    return replace(evidence, points=[replace(p, right=times(p.right, factor)) for p in evidence.points])


def swapped(evidence):
    """Return the evidence with the two sides of every point exchanged."""
    return replace(evidence, points=[replace(p, left=p.right, right=p.left) for p in evidence.points])


def blinded(evidence):
    """Return the evidence with sides of which nothing is known."""
    unknown = Bounds(0.0, 1.0, inf)
    return replace(evidence, points=[replace(p, left=unknown, right=unknown) for p in evidence.points])


def bent(evidence):
    """Return the evidence with the form times the growing variable to the power 0.05, as far as floats reach."""
    most = max(p.at for p in evidence.points)
    power = min(0.05, 250 / most) * (-1 if evidence.growth is Growth.AT_MOST else 1)
    return replace(evidence, points=[replace(p, right=times(p.right, 10 ** (power * p.at))) for p in evidence.points])


def one_by_one(evidence):
    """Return the evidence of each point alone."""
    return [replace(evidence, points=[point]) for point in evidence.points]
