"""Numbers of the claims on tCDP 2018, against literals computed apart from this package."""

import pytest
from claim_changes import CLAIMS
from tcdp_sim.experiments.papers.registry import Budget, points_of

KNOWN = [  # claim, the beginning of the point's name, left side, relative tolerance by its digits
    ("T.C18p", "ω√ρ = 0.125, ρ = 0.01", 1.823, 5e-4),
    ("T.C18p", "ω√ρ = 0.125, ρ = 0.0001", 1.867, 5e-4),
    ("T.C18p", "ω√ρ = 0.25, ρ = 0.01", 0.464, 2e-3),
    ("T.C18p", "ω√ρ = 0.707107, ρ = 0.01", 0.104, 5e-3),
    ("T.T17", "ρ = 0.01, A√ρ/Δ = 1", 1.638 / 16, 5e-4),
    ("T.T17", "ρ = 1e-06, A√ρ/Δ = 1", 1.673 / 16, 5e-4),
    ("T.T17", "ρ = 0.1, A√ρ/Δ = 4", 1.041 / 16, 1e-3),
    ("T.P3", "ρ = 0.1,", 1.107, 5e-4),
    ("T.P3", "ρ = 1,", 3.195, 5e-4),
    ("T.P3", "ρ = 3,", 67.07, 5e-4),
    ("T.P3", "ρ = 5,", 2203, 5e-4),
    ("T.P3", "ρ = 10,", 2.426e7, 5e-4),
    ("T.P3", "ρ = 20,", 5.885e15, 5e-4),
    ("T.1.3e", "ε = 1,", 1.58, 5e-3),
    ("T.1.3e", "ε = 0.1,", 10.5, 5e-3),
    ("T.1.3e", "ε = 0.01,", 100.5, 5e-4),
    ("T.1.1a", "ω = 10.5, g = 2:", 5.512, 5e-4),
    ("T.1.1a", "ω = 10.5, g = 5:", 2.540, 5e-4),
    ("T.1.1a", "ω = 10.5, g = 10:", 1.581, 5e-4),
    ("T.1.2b", "m = 1,", 1 / 1.05, 5e-3),
    ("T.1.2b", "m = 2,", 1 / 0.336, 5e-3),
    ("T.1.2b", "m = 4,", 1 / 0.0035, 2e-2),
    ("T.4a", "ε = 0.1,", 0.0205, 5e-3),
    ("T.4a", "ε = 1,", 0.187, 5e-3),
    ("T.4a", "ε = 2,", 0.339, 2e-3),
    ("T.5.2b", "k = 10,", 1 - 0.972, 2e-2),
    ("T.5.2b", "k = 1000,", 1 - 0.890, 5e-3),
    ("T.5.2b", "k = 1e+06,", 1 - 0.810, 5e-3),
    ("T.5.2b", "k = 1e+09,", 1 - 0.761, 5e-3),
    ("T.5.2c", "k = 1000", 70.4, 1e-3),
    ("T.5.2c", "k = 1e+12", 94.9, 1e-3),
    ("T.3b", "ρ = 0.1, s = 0.1,", 3.008251168, 1e-9),
    ("T.T11", "ρ = 0.1, s = 0.0001", 2.737, 2e-3),
    ("T.3c", "ρ = 0.1", 11.58, 1e-3),
    ("T.3c ten", "ρ = 0.0001", 10.72, 1e-3),
    ("T.1.2d at useful k", "k = 1000", 64.4, 1e-3),
    ("T.1.2d at useful k", "k = 1e+12", 93.1, 1e-3),
    ("T.1.2d calibrated", "k = 1000", 22.2, 2e-3),
    ("T.1.2d calibrated", "k = 1e+12", 33.4, 2e-3),
    ("T.F2 two modes", "x = 0", 0.2821, 5e-4),
    ("T.eq3 sampled", "k = 5:", 1.37, 5e-3),
    ("T.eq3 sampled", "k = 10:", 1.74, 5e-3),
    ("T.6b", "n = 1", 0.1 * 10.873, 1e-4),
    ("T.6b", "n = 10", 10 * 3.2891, 1e-4),
]
RIGHT = [  # the same of right sides
    ("T.5.2c", "k = 1000", 70.1, 1e-3),
    ("T.5.2c", "k = 1e+12", 93.2, 1e-3),
    ("T.5.2c as charged", "k = 1000", 88.2, 1e-3),
    ("T.5.2c as charged", "k = 1e+12", 112.2, 1e-3),
    ("T.1.2d at useful k", "k = 1000", 24.0, 1e-3),
    ("T.1.2d at useful k", "k = 1e+12", 50.8, 1e-3),
    ("T.F2 two modes", "x = 0", 0.3107, 5e-4),
    ("T.eq3 sampled", "k = 40:", 10.8, 2e-3),
    ("T.6c", "ω = 5, ρ = 0.1, k = 1000", 50 * 0.397, 1e-3),
]


def point_of(name, where):
    points = points_of(CLAIMS[name], Budget())
    return next(point for point in points if point.where.startswith(where))


@pytest.mark.few(20)
@pytest.mark.parametrize(("name", "where", "value", "relative"), KNOWN)
def test_the_left_side_is_what_was_computed_elsewhere(name, where, value, relative):
    assert point_of(name, where).left.estimate == pytest.approx(value, rel=relative)


@pytest.mark.parametrize(("name", "where", "value", "relative"), RIGHT)
def test_the_right_side_is_what_was_computed_elsewhere(name, where, value, relative):
    assert point_of(name, where).right.estimate == pytest.approx(value, rel=relative)


def test_every_false_claim_of_the_paper_names_its_erratum_or_says_what_is_wrong():
    false = [c for c in CLAIMS.values() if c.id.startswith("T.") and c.expected == "false"]
    assert len(false) >= 15
    assert all(c.erratum for c in false)
