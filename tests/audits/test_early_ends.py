"""Audits that end early: the level holds over all looks, and what they show is what an audit of that size shows."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim import UserError
from tcdp_sim.audits import GaussianDP, answers, looks
from tcdp_sim.privacy import ZCDP, PureDP

ONE = answers(1)


def laplace(scale):
    def mechanism(data, rng, trials):
        return data[0] + rng.laplace(scale=scale, size=trials)

    return mechanism


def audited(scale, until, **more):
    keys = {"claim": PureDP(1.0), "trials": 100_000, "learn": False} | more
    return tcdp_sim.audit(laplace(scale), neighbours=ONE, until=until, **keys)


pytestmark = pytest.mark.filterwarnings("ignore::tcdp_sim.audits.WeakAudit")


@pytest.mark.parametrize("trials", [100, 399, 400, 10**6, 10**12])
@pytest.mark.parametrize("failure", [0.05, 1e-9])
def test_the_looks_share_the_failure_probability(trials, failure):
    found = looks.looks(trials, failure)
    assert math.fsum(one.failure for one in found) == pytest.approx(failure, rel=1e-12)
    assert found[-1].trials == trials
    assert all(100 <= first.trials <= then.trials / 4 for first, then in pairwise(found))
    assert found[-1].failure >= failure / 2


def test_no_look_has_more_than_its_share_by_rounding():
    shares = 10.0 ** -np.linspace(0.1, 18, 5000)
    levels = np.array([looks.level(share) for share in shares.tolist()])
    assert (1 - levels <= shares).all()
    assert (1 - levels >= shares - 2.3e-16).all()


def test_the_looks_at_scores_share_it_however_many_come():
    sizes, shares = zip(*looks.of_scores(10**9))
    assert sizes[:4] == (20, 30, 45, 68)
    assert all(then <= math.ceil(1.5 * first) for first, then in pairwise(sizes))
    assert math.fsum(shares) == pytest.approx(1 - 1 / (len(shares) + 1), rel=1e-12)


@pytest.mark.parametrize(("scale", "until"), [(0.5, "refuted"), (0.9, "refuted"), (1.0, 1.2), (1.0, "refuted")])
def test_the_report_is_that_of_an_audit_of_the_last_look(scale, until):
    """Each look is the audit of its size, at its share of the failure probability."""
    report = audited(scale, until)
    planned = looks.looks(100_000, 0.05)
    for look in planned:
        alone = audited(scale, None, trials=look.trials, level=1 - look.failure)
        enough = alone.refuted or (until != "refuted" and alone.violation <= until)
        if enough or look is planned[-1]:
            break
    assert (report.bound, report.violation, report.trials) == (alone.bound, alone.violation, look.trials)
    assert (report.event, report.hits, report.refuted) == (alone.event, alone.hits, alone.refuted)
    assert (report.level, report.planned, report.until) == (0.95, 100_000, until)
    assert report.failure == pytest.approx(look.failure)
    assert np.array_equal(report.tradeoff.alpha_upper, alone.tradeoff.alpha_upper)
    assert f"ended with {look.trials:,} of 100,000 outputs" in str(report)
    assert json.loads(json.dumps(report.to_dict()))["until"] == until


def test_a_wrong_claim_needs_a_few_outputs_and_a_true_one_a_third_more():
    early, whole = audited(0.5, "refuted"), audited(0.5, None)
    assert early.refuted
    assert early.drawn < whole.drawn / 20
    long = audited(1.0, "refuted")
    assert not long.refuted
    assert long.trials == 100_000
    assert 1.3 < long.drawn / audited(1.0, None).drawn < 1.5


@pytest.mark.slow
def test_true_claims_are_refuted_no_more_often_than_the_level_says():
    """The false-alarm rate of this test is 1e-3."""
    refuted = [audited(1.0, "refuted", trials=6400, level=0.6, seed=seed).refuted for seed in range(40)]
    assert sum(refuted) <= stats.binom.isf(1e-3, 40, 0.4)


def test_an_early_end_is_resumed(tmp_path):
    keys = {"name": "x", "results_dir": tmp_path}
    first, again = (audited(0.9, "refuted", **keys) for _ in range(2))
    assert again.resumed == again.drawn == first.drawn
    assert again.bound == first.bound


def test_a_failed_assertion_repeats_an_early_end():
    from tcdp_sim.audits import repeated

    report = audited(0.5, "refuted")
    lines = "\n".join(repeated.script(laplace(0.5), report))
    assert "trials=100000, level=0.95, seed=0, until='refuted'" in lines


@pytest.mark.parametrize(
    ("until", "claim", "message"),
    [
        ("found", PureDP(1.0), "until = 'found' is not valid; valid: 'refuted', or a value of epsilon above the claim"),
        (1.0, PureDP(1.0), "above the claimed 1 "),
        (True, PureDP(1.0), "until = True is not valid"),
        (math.inf, ZCDP(0.1), "a value of rho"),
        ("refuted", None, "until = 'refuted' needs a claim"),
    ],
)
def test_mistakes(until, claim, message):
    with pytest.raises(UserError, match=message):
        audited(1.0, until, claim=claim)


def scores(mu, number, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(mu, 1, number), rng.normal(0, 1, number)


def test_scores_that_arrive_are_audited_at_any_time():
    """A refutation is the best look's, anything else the last one's; a look audits the first scores at its share."""
    inside, outside = scores(1.5, 1000, 3)
    for number in (20, 29, 30, 100, 431, 1000):
        report = tcdp_sim.audit_scores(inside[:number], outside, claim=GaussianDP(1.0), sequential=True)
        alone = [
            tcdp_sim.audit_scores(inside[:n], outside[:n], claim=GaussianDP(1.0), level=1 - 0.05 * share)
            for n, share in looks.of_scores(number)
        ]
        best = max(alone, key=lambda one: one.bound)
        best = best if best.refuted else alone[-1]
        assert (report.bound, report.bounds) == (best.bound, best.bounds)
        assert (report.trials, report.level) == (best.trials, 0.95)
    assert report.refuted
    assert "while scores arrive: of 1,000 inside and 1,000 outside, the first 513 of each are used" in str(report)


@pytest.mark.slow
def test_a_true_claim_is_refuted_at_some_time_no_more_often_than_the_level_says():
    """The false-alarm rate of this test is 1e-5."""
    refuted = 0
    for seed in range(60):
        report = tcdp_sim.audit_scores(*scores(1.0, 700, seed), claim=GaussianDP(1.0), level=0.5, sequential=True)
        refuted += report.refuted
    assert refuted <= stats.binom.isf(1e-5, 60, 0.5)


def test_scores_that_cannot_be_audited_while_they_arrive():
    few = scores(1.0, 19, 0)
    with pytest.raises(UserError, match="19 scores of a side are too few; valid: at least 20 with sequential=True"):
        tcdp_sim.audit_scores(*few, sequential=True)
    with pytest.raises(UserError, match="sequential = True is not valid for one run"):
        tcdp_sim.audit_scores(*scores(1.0, 500, 0), runs="one", sequential=True)
    with pytest.raises(UserError, match="sequential = 1 is not valid; valid: True, False"):
        tcdp_sim.audit_scores(*few, sequential=1)


def test_the_commands_end_early_too(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def count(data, rng, trials):\n    return data[0] + rng.laplace(scale=.5, size=trials)\n"
    )
    words = ("audit", "mine.py:count", "claim=PureDP(1)", "neighbours=answers(1)", "trials=100000", "--json")
    code, out, _ = command(*words, "until=refuted")
    assert code == 1
    found = json.loads(out)
    assert found["trials"] < found["planned"] == 100_000
    assert json.loads(command(*words, "until=3")[1])["until"] == 3
    assert command(*words, "until=soon")[0] == 2
    inside, outside = scores(2.0, 100, 1)
    lines = [f"{score},{side}" for side, each in ((1, inside), (0, outside)) for score in each]
    (tmp_path / "scores.csv").write_text("\n".join(["score,in", *lines]))
    code, out, _ = command("audit-scores", "scores.csv", "claim=GaussianDP(1)", "sequential=true")
    assert code == 1
    assert "while scores arrive: of 100 inside and 100 outside" in out
    assert command("audit-scores", "scores.csv", "sequential=perhaps")[0] == 2
