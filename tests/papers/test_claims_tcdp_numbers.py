"""Numbers of the claims on tCDP 2018, against literals computed apart from this package."""

import pytest
from claim_changes import CLAIMS

from tcdp_sim.experiments.papers.registry import Budget, points_of

KNOWN = [  # claim, the beginning of the point's name, left side, relative tolerance by its digits
    ("T.C18p proof's noise", "ω√ρ = 0.125, ρ = 0.01", 1.823, 5e-4),
    ("T.C18p proof's noise", "ω√ρ = 0.125, ρ = 0.0001", 1.867, 5e-4),
    ("T.C18p proof's noise", "ω√ρ = 0.25, ρ = 0.01", 0.464, 2e-3),
    ("T.C18p proof's noise", "ω√ρ = 0.707107, ρ = 0.01", 0.104, 5e-3),
    ("T.C18p", "privacy, ω√ρ = 0.125, ρ = 0.01", 0.94346, 2e-4),
    ("T.C18p", "privacy, ω√ρ = 0.125, ρ = 1e-06", 0.96176, 2e-4),
    ("T.T17", "A√ρ/Δ = 1, ρ = 0.01", 1.638 / 16, 5e-4),
    ("T.T17", "A√ρ/Δ = 1, ρ = 1e-06", 1.673 / 16, 5e-4),
    ("T.T17", "A√ρ/Δ = 4, ρ = 0.1", 1.041 / 16, 1e-3),
    ("T.P3", "ρ = 1, ω = 4.6, s = 0.0001", 13.437, 2e-3),
    ("T.P3", "ρ = 1, ω = 5,", 13.5, 2e-3),
    ("T.P3", "ρ = 0.1, ω = 8,", 2.741, 2e-3),
    ("T.P3 outside", "ρ = 3,", 67.07, 5e-4),
    ("T.P3 outside", "ρ = 5,", 2203, 5e-4),
    ("T.1.3e", "c = 2, ε = 1,", 1.58, 5e-3),
    ("T.1.3e", "c = 2, ε = 0.1,", 10.5, 5e-3),
    ("T.1.3e", "c = 2, ε = 0.01,", 100.5, 5e-4),
    ("T.1.1a", "neighbours, ρ = 1, ω = 10, α = 5.01", 0.99999999999828, 1e-12),
    ("T.1.2b printed", "m = 1, x = 1", 1 / 1.05, 5e-3),
    ("T.1.2b printed", "m = 2, x = 1", 1 / 0.336, 5e-3),
    ("T.1.2b printed", "m = 4, x = 1", 288.24, 1e-4),
    ("T.L2 order", "ρ of the bit", 0.575730, 2e-6),
    ("T.3.1c", "ρ = 0.1, s = 1.867e-05, α = 36.8", 1.107, 5e-4),
    ("T.3.1c", "ρ = 0.1, s = 0.1, α = 3.154", 1.133, 5e-4),
    ("T.3.1c step", "ρ = 0.1, s = 1.867e-05", 2.10, 2e-3),
    ("T.3.1c step", "ρ = 0.1, s = 0.0001", 0.39, 5e-3),
    ("T.T20 privacy", "Gaussian, α = 1.5", 1.1356 * 1.5 / 16, 1e-4),
    ("T.T20 privacy", "Gaussian, α = 3,", 1.1498 * 3 / 16, 1e-4),
    ("T.T20 privacy", "Gaussian, α = 8", 1.4837 * 8 / 16, 1e-4),
    ("T.T20 exists", "σ = 4, k = 1000", 0.0025, 2e-2),
    ("T.T20 exists", "σ = 10, k = 1e+09", 0.000245, 1e-2),
    ("T.6a quadratic", "k = 1e32", 32 * 2.302585 / 0.5, 1e-6),
    ("T.P24", "n = 3", 320 - 120, 1e-12),
    ("T.4a", "ε = 0.1,", 0.0205, 5e-3),
    ("T.4a", "ε = 1,", 0.187, 5e-3),
    ("T.4a", "ε = 2,", 0.339, 2e-3),
    ("T.5.2b", "k = 10,", 1 - 0.972, 2e-2),
    ("T.5.2b", "k = 1000,", 1 - 0.890, 5e-3),
    ("T.5.2b", "k = 1e+06,", 1 - 0.810, 5e-3),
    ("T.5.2b", "k = 1e+09,", 1 - 0.761, 5e-3),
    ("T.5.2c", "k = 1000", 70.1, 1e-3),
    ("T.5.2c", "k = 1e+12", 93.2, 1e-3),
    ("T.3b", "ρ = 0.1, s = 0.1,", 3.008251168, 1e-9),
    ("T.T11", "ρ = 0.1, s = 0.0001", 2.737, 2e-3),
    ("T.3c", "ρ = 0.1", 11.58, 1e-3),
    ("T.3c ten", "ρ = 0.1, s = 1e-05", 2.74, 1e-3),
    ("T.1.2d at useful k", "k = 1000", 24.0, 1e-3),
    ("T.1.2d at useful k", "k = 1e+12", 50.8, 1e-3),
    ("T.1.2d calibrated", "k = 1000", 22.2, 2e-3),
    ("T.1.2d calibrated", "k = 1e+12", 33.4, 2e-3),
    ("T.eq3 sampled", "k = 5:", 1.37, 5e-3),
    ("T.eq3 sampled", "k = 10:", 1.74, 5e-3),
    ("T.6b", "the bound against 4e n²ρ, n = 1", 0.1 * 10.873, 1e-4),
    ("T.6b", "the bound against 4e n²ρ, n = 10", 10 * 3.2891, 1e-4),
]
RIGHT = [  # the same of right sides
    ("T.5.2c", "k = 1000", 70.4, 1e-3),
    ("T.5.2c", "k = 1e+12", 94.9, 1e-3),
    ("T.5.2c as charged", "k = 1000", 88.2, 1e-3),
    ("T.5.2c as charged", "k = 1e+12", 112.2, 1e-3),
    ("T.1.2d at useful k", "k = 1000", 64.4, 1e-3),
    ("T.1.2d at useful k", "k = 1e+12", 93.1, 1e-3),
    ("T.1.1a", "group, ρ = 1, ω = 10, α = 5.263", 4 * 5.263 * 1.00277, 1e-5),
    ("T.L2 order", "α = 4.1", 4.1 * (0.597878 + 1), 1e-6),
    ("T.L2 order", "α = 5", 5 * (0.690776 + 1), 1e-6),
    ("T.5c similar", "k = 100", 62.9 / 0.776, 2e-3),
    ("T.eq3 sampled", "k = 40:", 10.8, 2e-3),
    ("T.6a quadratic", "k = 1e32", 64 * 2.302585 / 0.243, 2e-3),
    ("T.1.2g all k", "ω = 5.25", 4.983, 2e-4),
]


def point_of(name, where):
    points = points_of(CLAIMS[name], Budget())
    return next(point for point in points if point.where.startswith(where))


@pytest.mark.parametrize(("name", "where", "value", "relative"), KNOWN)
def test_the_left_side_is_what_was_computed_elsewhere(name, where, value, relative):
    assert point_of(name, where).left.estimate == pytest.approx(value, rel=relative)


@pytest.mark.parametrize(("name", "where", "value", "relative"), RIGHT)
def test_the_right_side_is_what_was_computed_elsewhere(name, where, value, relative):
    assert point_of(name, where).right.estimate == pytest.approx(value, rel=relative)
