"""Claims of whole curves, as points of a profile or as a trade-off function: against Gaussian noise in closed form."""

import json
from math import exp

import numpy as np
import pytest
from scipy.stats import norm

import tcdp_sim
from tcdp_sim.audits import GaussianDP, WeakAudit, answers
from tcdp_sim.audits.stated_curves import GRID, StatedCurve, StatedProfile, of
from tcdp_sim.core.errors import UserError


def gaussian_curve(mu):
    def curve(alpha):
        return norm.cdf(norm.isf(alpha) - mu)

    return curve


def gaussian_delta(mu, epsilon):
    return float(norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def scores(mu, size=4000, seed=1):
    rng = np.random.default_rng([2029, seed])
    return mu + rng.normal(size=size), rng.normal(size=size)


def quiet(claim, mu=1.0, **given):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakAudit)
        return tcdp_sim.audit_scores(*scores(mu, **given), claim=claim)


def test_the_power_of_both_forms():
    alpha = np.array([0.0, 0.01, 0.3, 0.9, 1.0])
    assert of(gaussian_curve(0.7)).power(alpha) == pytest.approx(norm.cdf(norm.ppf(alpha) + 0.7), abs=1e-12)
    points = {0.5: 0.1, 0.0: 0.2}
    lines = [np.minimum(d + exp(e) * alpha, 1 - exp(-e) * (1 - d - alpha)) for e, d in points.items()]
    assert of(points).curve.power(alpha) == pytest.approx(np.minimum(1, np.minimum(*lines)), abs=1e-15)
    assert of(GaussianDP(1.0)) is None
    assert of(None) is None


def test_a_fine_profile_is_nearly_the_curve():
    epsilons = np.linspace(0, 8, 400)
    profile = of({float(epsilon): gaussian_delta(1.0, epsilon) for epsilon in epsilons})
    alpha = np.linspace(0.01, 0.99, 99)
    exact = norm.cdf(norm.ppf(alpha) + 1.0)
    assert (profile.curve.power(alpha) >= exact - 1e-12).all()
    assert profile.curve.power(alpha) == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize("form", ["function", "points"])
def test_a_true_claim_is_kept_and_a_smaller_one_is_refuted(form):
    def claim(mu):
        return gaussian_curve(mu) if form == "function" else {e: gaussian_delta(mu, e) for e in (0.0, 0.5, 1.0, 2.0)}

    assert not quiet(claim(1.0)).refuted
    small = quiet(claim(0.5))
    assert small.refuted
    assert 0 < small.bound < float(norm.cdf(0.5) - norm.cdf(0.0))  # of the largest excess, at alpha near 1/2
    assert "trade-off curve" in small.to_dict()["measure"]
    assert json.dumps(small.to_dict(), allow_nan=False)


def test_a_hundred_true_claims_hold_the_level():
    """At level 0.95 five are allowed; the bound is a union over thresholds, so there are fewer."""
    claim = {epsilon: gaussian_delta(1.0, epsilon) for epsilon in (0.0, 0.3, 0.6, 1.0, 1.5, 2.0)}
    assert sum(quiet(claim, size=100, seed=seed).refuted for seed in range(100)) <= 5


def test_an_audit_of_a_mechanism_takes_them_too():
    def noisy(data, rng, trials):
        return data[0] + rng.normal(size=trials)

    run = {"neighbours": answers(1), "trials": 20_000, "learn": False}
    report = tcdp_sim.audit(noisy, claim=gaussian_curve(0.6), **run)
    assert report.refuted
    assert report.claimed == "the trade-off curve curve"
    assert not tcdp_sim.audit(noisy, claim={1.0: gaussian_delta(1.0, 1.0)}, **run).refuted
    panel = report.figure().axes[-1]
    assert {text.get_text() for text in panel.texts} >= {"least claimed", "farthest below"}


def test_a_profile_says_its_points():
    assert str(of({1: 0.1, 0: 0.2})) == "the profile through (0, 0.2), (1, 0.1)"
    assert str(StatedProfile(((0, 0.4), (1, 0.3), (2, 0.2), (3, 0.1)))).endswith("(2, 0.2), ...")


@pytest.mark.parametrize("claim", [
    lambda alpha: alpha,  # rises
    lambda alpha: 1 - alpha**2,  # above 1 - alpha
    lambda alpha: (1 - alpha) ** 2 if alpha < 0.5 else 0.25,  # not 0 at 1
    lambda alpha: max(0.9 - alpha, 0.5 * (1 - alpha)) if alpha < 0.7 else 0.0,  # not convex
    lambda alpha: float("nan"),
])  # fmt: skip
def test_what_is_no_trade_off_curve_is_refused(claim):
    with pytest.raises(UserError, match="claim is no trade-off curve; valid: a convex function that falls"):
        quiet(claim)


@pytest.mark.parametrize(("claim", "told"), [
    ({}, r"claim = \{\} is not valid"),
    ({1: 2}, "claim: delta = 2"),
    ({"x": 0.1}, "claim: epsilon = 'x'"),
    (lambda alpha: 1 / 0, "claim raises ZeroDivisionError at a type I error"),
    (3, "claim = 3 cannot be audited"),
])  # fmt: skip
def test_other_claims_are_refused(claim, told):
    with pytest.raises(UserError, match=told):
        quiet(claim)


def test_curves_with_a_jump_and_with_a_corner_are_taken():
    for curve in (lambda a: max(0.0, 0.9 - 3 * a, (0.9 - a) / 3), lambda a: 1 - a, lambda a: 0.0):
        assert isinstance(of(curve), StatedCurve)
    assert (np.diff(GRID) > 0).all()
