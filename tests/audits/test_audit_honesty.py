"""What an audit must not mistake, and must not say: mechanisms of unclear shape, own generators, rounding, labels."""

import json
from functools import partial

import audited
import mpmath
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits import claims, events, moments
from tcdp_sim.audits.arguments import sampler
from tcdp_sim.audits.events import Event
from tcdp_sim.audits.moments import Moment
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import RDP, ApproxDP, PureDP

AUDIT = {"neighbours": audited.ONE, "claim": PureDP(1.0), "trials": 5000}


def test_a_generator_of_its_own_is_refused_on_workers_and_runs_here():
    own = np.random.default_rng(3)

    def stubborn(data, rng, trials):
        return data + own.laplace(size=(trials, 1))

    with pytest.raises(UserError, match="repeat it; valid: cluster='serial'") as told:
        tcdp_sim.audit(stubborn, **AUDIT, cluster={"name": "local", "workers": 2})
    assert "\n" not in str(told.value)
    assert not tcdp_sim.audit(stubborn, **AUDIT, cluster={"name": "serial"}).reproducible


def with_default(data, rng, trials=50):
    return data + rng.laplace(size=(trials, 1))


def by_keyword(data, rng, *, trials=50):
    return data + rng.laplace(size=(trials, 1))


def other_default(data, rng, n=50):
    return data + rng.laplace(size=(n, 1))


def test_trials_are_given_wherever_they_stand():
    rng = np.random.default_rng(1)
    for mechanism in (with_default, by_keyword, partial(with_default, trials=50)):
        assert sampler(mechanism)(np.zeros(1), rng, 7).shape == (7, 1)
    assert len(sampler(audited.one_at_a_time)(np.zeros(1), rng, 7)) == 7
    assert not tcdp_sim.audit(with_default, **AUDIT).refuted  # 50 outputs at once would show fifty times as much
    with pytest.raises(
        UserError, match=r"third parameter 'n' has a default.*valid: .data, rng, trials. or .data, rng."
    ):
        tcdp_sim.audit(other_default, **AUDIT)


def test_what_a_moment_would_have_found_is_above_the_claim():
    """The bound of a weak moment is below 0; the distance from its estimate is what would have to be added."""
    one, steps = claims.measure(RDP(2.0, 0.3)), np.log([0.9, 1.1])
    moment = Moment(None, np.array([0.5]), steps, 2.0, True, (0.3, 0.3))
    counts = np.array([48, 52]), np.array([52, 48])
    assert moments.bound(one, moment, counts, 0.1) == 0
    assert moments.shown(one, moment, counts, 0.1) < 0 < moments.estimate(one, moment, counts)
    report = tcdp_sim.audit(audited.gaussian, neighbours=audited.ONE, claim=RDP(3.0, 1.6), trials=5000)
    assert not report.refuted
    assert report.violation > 1.6
    if report.holds is None:
        assert "means of 5,000 outputs of each input" in str(report)
        assert "hits" not in str(report)


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 0.01)], ids=str)
def test_the_smallest_violation_of_an_event_without_rare_hits_would_refute(claim):
    one, event, trials = claims.measure(claim), Event(None, 0.0, True, True, 0.5), 10_000
    least, _ = events.least_found(one, event, (10, 0), trials, 0.1)
    likely = round((np.exp(least) / trials + one.delta) * trials * 1.01)  # of one hit that is rare
    assert events.bound(one, event, (likely, 1), trials, 0.1) > claim.epsilon


def of_lengths(data, rng, trials):
    """Labels of other lengths under each input, and now and then a longer one."""
    long = rng.random(trials) < 1e-3
    short = np.where(audited.response(data, rng, trials), "yes", "no" if data[0] > 0.5 else "perhaps")
    return np.where(long, "undecided today", short) if long.any() else short


def test_labels_of_different_lengths_are_audited():
    report = tcdp_sim.audit(of_lengths, neighbours=audited.ONE, claim=PureDP(1.0), trials=5000)
    assert report.refuted  # "no" comes of one input alone
    rng = np.random.default_rng(1)
    assert report.holds(of_lengths(np.ones(1), rng, 10)).shape == (10,)
    assert report.holds(np.array(["a label longer than all", "no"])).shape == (2,)


def test_texts_of_one_input_and_numbers_of_the_other_tell_them_apart():
    report = tcdp_sim.audit(lambda data, rng, n: np.full(n, "a") if data[0] else np.zeros(n), **AUDIT)
    assert report.bound > 5
    assert report.event in ("output = 'a'", "output != 'a'")


@audited.WEAK
def test_reports_are_valid_json(tmp_path):
    """Bytes, infinite inputs, and no claim, so no smallest violation."""

    def strict(_):
        raise AssertionError("no JSON")

    given = {"trials": 2000, "results_dir": tmp_path}
    for name, pair in (("bytes", (b"a", b"b")), ("infinite", (np.array([np.inf]), np.array([0.0])))):
        tcdp_sim.audit(lambda data, rng, n: rng.random(n) < 0.5, neighbours=[pair], name=name, **given)
        kept = json.loads((tmp_path / name / "audit.json").read_text(), parse_constant=strict)
        assert kept["violation"] is None
        assert kept["pair"] == (["a", "b"] if name == "bytes" else [["inf"], [0.0]])


@pytest.mark.parametrize("excess", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_divergences_near_order_1_are_never_above_the_truth(excess):
    """Against 60 digits: what is lost by rounding is subtracted."""
    order, rng = 1 + excess, np.random.default_rng(1)
    for p, q in zip(rng.random(200), rng.random(200)):
        with mpmath.workdps(60):
            a, x, y = mpmath.mpf(order), mpmath.mpf(float(p)), mpmath.mpf(float(q))
            truth = mpmath.log(x**a * y ** (1 - a) + (1 - x) ** a * (1 - y) ** (1 - a)) / (a - 1)
        found = float(claims._two_cells(order, np.float64(p), np.float64(q)))
        assert found <= truth
        assert found >= truth - 4e-15 * 20 / excess
