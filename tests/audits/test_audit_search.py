"""What audits find in mechanisms whose faults, and whose best events, are known."""

import audited
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim.audits import (
    answer_pairs,
    answers,
    counting,
    features,
    learnt,
    pairs,
    records,
    sampling,
    search,
    thresholds,
)
from tcdp_sim.audits.sampling import Counted, Pair, Task
from tcdp_sim.audits.scores import Column, LikelihoodRatio, Linear
from tcdp_sim.core.sources import NOTHING
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP

AUDIT = {"neighbours": audited.ONE, "trials": 200_000, "level": 0.9}


def test_a_true_epsilon_is_nearly_reached_and_the_event_is_the_best():
    report = tcdp_sim.audit(audited.laplace, **AUDIT, claim=PureDP(1.0))
    assert 0.97 < report.epsilon <= 1
    assert not report.refuted
    assert "1-DP is not refuted: epsilon >= 0.9" in report.verdict
    assert 1.0 < report.violation < 1.05
    outputs = audited.laplace(np.ones(1), np.random.default_rng(1), 10**5)
    share = report.holds(outputs).mean()
    assert share == pytest.approx(report.hits[1] / report.trials, abs=0.01)
    assert report.event.startswith("output ")
    assert report.toward == ("second" if report.hits[1] > report.hits[0] else "first")


@pytest.mark.parametrize(
    ("mechanism", "given", "claim", "least"),
    [
        (audited.half_laplace, audited.ONE, PureDP(1.0), 1.9),
        (audited.noisy_max_value, answers(4), PureDP(1.0), 2.0),
        (audited.shared_noise, answer_pairs(2, one=True), PureDP(2.0), 5.0),
        (audited.labels, audited.ONE, PureDP(1.0), 1.07),
        (audited.one_at_a_time, audited.ONE, PureDP(0.5), 0.8),
        (audited.gaussian, audited.ONE, ApproxDP(1.0, 0.01), 1.5),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_broken_claims_are_refuted(mechanism, given, claim, least):
    trials = 20_000 if mechanism is audited.one_at_a_time else 200_000
    report = tcdp_sim.audit(mechanism, neighbours=given, claim=claim, trials=trials)
    assert report.refuted
    assert report.bound > least
    assert "is refuted" in report.verdict


@pytest.mark.parametrize("claim", [TCDP(0.4, 4.0), ZCDP(0.4), RDP(3.0, 1.0)], ids=str)
def test_renyi_claims_are_refuted_and_true_ones_are_not(claim):
    """Gaussian noise of one count is 1/2-zCDP, and D_3 = 1.5."""
    report = tcdp_sim.audit(audited.gaussian, **AUDIT, claim=claim)
    truth = 1.5 if isinstance(claim, RDP) else 0.5
    assert report.refuted
    assert (0.7 if isinstance(claim, RDP) else 0.85) * truth < report.bound <= truth
    assert report.bound == (report.bound if isinstance(claim, RDP) else report.rho)
    assert "Renyi divergence" in report.event
    assert np.isnan(report.epsilon)


def test_the_mechanisms_own_likelihood_ratio_is_used():
    """Both coordinates change: its sum is the best score, and 2 is the truth."""
    report = tcdp_sim.audit(audited.Known(1.0), neighbours=[(np.zeros(2), np.ones(2))], trials=200_000)
    assert 1.9 < report.epsilon <= 2.0
    assert "log likelihood ratio" in report.event or "steps" in report.event


def test_lowest_bits_are_looked_at_when_asked_to():
    plain = tcdp_sim.audit(audited.naive_laplace, **AUDIT, claim=PureDP(1.0))
    report = tcdp_sim.audit(audited.naive_laplace, **AUDIT, claim=PureDP(1.0), bits=True)
    assert not plain.refuted
    assert report.bound > 5
    assert "lowest bit" in report.event


@audited.WEAK
def test_equal_outputs_show_nothing():
    report = tcdp_sim.audit(lambda data, rng, trials: np.zeros(trials), **AUDIT, claim=PureDP(0.1))
    assert (report.bound, report.refuted, report.event) == (
        0.0,
        False,
        "none: all 66,666 outputs that could choose one are the same; rarer ones are not seen",
    )
    assert str(report).startswith("0.1-DP is not refuted: epsilon >= 0 ")


def seldom(data, rng, trials):
    """Nothing at all, but once in 10,000 times the last answer, where it is 2 or 0."""
    return np.where((rng.random(trials) < 1e-4) & (data[-1] != 1), data[-1] - 1, 0.0)


def seldom_among_several(data, rng, trials):
    return np.stack([np.zeros(trials), seldom(data, rng, trials)], axis=1)


@pytest.mark.parametrize("mechanism", [seldom, seldom_among_several])
@pytest.mark.parametrize("answer", [0.0, 2.0])
def test_outputs_that_no_pilot_has_seen_are_found(mechanism, answer):
    """About 20 of 200,000 against none; below the usual output and above it, and in the last of several pairs."""
    given = [*[(np.ones(2), np.array([value, 1.0])) for value in (0.0, 2.0)], (np.ones(2), np.array([1.0, answer]))]
    streams = [counting.stage_streams("pilot", pair) for pair in pairs.listed(given)]
    drawing = sampling.Drawing(NOTHING, mechanism, np.asarray)
    for pair, names in zip(pairs.listed(given), streams):
        assert not any(side.any() for sides in sampling.drawn(drawing, pair, names, 0, 0, 4000) for side in sides)
    report = tcdp_sim.audit(mechanism, **{**AUDIT, "neighbours": given}, claim=PureDP(0.1))
    assert report.refuted
    assert report.pair_index == 2
    assert report.toward == "second"
    assert report.hits[0] == 0 or report.hits[1] == 200_000
    assert report.figure().axes


class NothingToSay:
    """Rare outputs, and a likelihood ratio that is none."""

    def __call__(self, data, rng, trials):
        return seldom(data, rng, trials)

    def log_likelihood_ratio(self, outputs, data, other):
        return np.zeros(len(outputs))


def test_a_likelihood_ratio_that_never_differs_does_not_hide_rare_outputs():
    given = {**AUDIT, "neighbours": [(np.ones(1), np.array([2.0]))], "seed": 1}
    assert tcdp_sim.audit(NothingToSay(), **given, claim=PureDP(0.1)).refuted


def coin_of_the_last(data, rng, trials):
    """Fair, but where the last answer is 2, heads with 51%."""
    return rng.random(trials) < (0.51 if data[-1] == 2 else 0.5)


def test_the_pair_that_tells_is_found_among_many():
    """One of ten pairs, epsilon 0.02: 20,000 outputs cannot say which, 100,000 can (4.5 standard errors)."""
    given = [(np.ones(10), np.where(np.arange(10) == i, 2.0, 1.0)) for i in range(10)]
    report = tcdp_sim.audit(coin_of_the_last, neighbours=given, claim=PureDP(0.01), trials=4_000_000)
    assert report.pair_index == 9
    assert report.refuted


def candidate(pair, worth, score=None):
    return search.Candidate(Pair(None, None, pair, "", ""), score, np.zeros(1), (worth, 0.0))


def test_finalists_are_the_best_of_two_pairs():
    found = [candidate(0, 0.1), candidate(1, 0.5), candidate(1, 0.4), candidate(1, 0.45), candidate(2, 0.3)]
    assert [each.worth[0] for each in search._finalists(found)] == [0.5, 0.45, 0.3]
    own = candidate(1, 0.5, LikelihoodRatio(None, None, None))
    assert [each.worth[0] for each in search._finalists([candidate(1, 0.52), own, *found])] == [0.5, 0.3]
    assert len(search._finalists(found[:1])) == 1


def test_columns_that_are_counted_together_are_those_counted_alone():
    pair = Pair(np.zeros(1), np.ones(1), 0, "0" * 64, "0" * 64)
    columns, edges = [Column("value", 0, ""), Linear(np.array([-2.0]), "")], [np.zeros(1), np.array([-3.0, 1.0])]

    def counts(*numbers):
        counted = Counted(search.Stack(tuple(columns[i] for i in numbers)), tuple(edges[i] for i in numbers), 5)
        drawing = sampling.Drawing(NOTHING, audited.laplace, np.asarray)
        task = Task("s", drawing, pair, counted, 3, ("1" * 64, "2" * 64), ((0, 500), (1, 500)))
        return sampling.merged([part for _, part in sampling.run(task).chunks])

    for number in (0, 1):
        alone, together = counts(number), sampling.column(counts(0, 1), number)
        for name in ("cells", "low", "high"):
            for side in (0, 1):
                assert len(getattr(together, name)[side]) == 1
                assert np.array_equal(getattr(alone, name)[side][0], getattr(together, name)[side][0])


@audited.WEAK
def test_a_column_that_is_always_the_same_leaves_room_for_others():
    """Three constants come first; what follows differs too little for steps, and outputs are not the same."""

    def mechanism(data, rng, trials):
        return np.hstack([np.zeros((trials, 3)), rng.normal(size=(trials, 1))])

    report = tcdp_sim.audit(mechanism, neighbours=audited.ONE, trials=2000, learn=False)
    assert "the same" not in report.event


def test_a_deterministic_mechanism_is_refuted_as_far_as_the_sample_goes():
    report = tcdp_sim.audit(lambda data, rng, trials: np.full(trials, data[0]), **AUDIT, claim=PureDP(5.0))
    assert report.bound > 10
    assert report.hits in ((0, 200_000), (200_000, 0))


def exactly(data, rng):
    return {"exact": len(data), "noisy": len(data) + rng.laplace()}


PARTS = {
    "dict": exactly,
    "tuple": lambda data, rng: (len(data) + rng.laplace(), len(data) + 0.0),
    "array": lambda data, rng, n: np.stack([len(data) + rng.laplace(size=n), np.full(n, 1.0 * len(data))], axis=1),
    "frame": lambda data, rng, n: pd.DataFrame({"exact": len(data), "noisy": len(data) + rng.laplace(size=n)}),
    "three numbers": lambda data, rng: {**exactly(data, rng), "sum": sum(data) + rng.normal()},
    "a label": lambda data, rng: {**exactly(data, rng), "exact": str(len(data))},
    "noisy number": lambda data, rng: [len(data) + 0.3 * rng.normal(), rng.laplace()],
    "less noise": lambda data, rng, n: len(data) + rng.normal(size=(n, 2)) * [0.2, 5],
}


@pytest.mark.skipif(not learnt.available(), reason="scikit-learn is not installed")
@pytest.mark.parametrize("name", PARTS)
def test_one_part_of_the_output_wins_over_a_regression_that_is_no_better(name):
    """One part alone tells the inputs apart; regressions that also look at the rest show at most as much."""
    report = tcdp_sim.audit(PARTS[name], neighbours=records([1, 2, 3]), claim=PureDP(1.0), trials=5000)
    assert report.event.startswith(("output[", "output >", "output <"))
    assert report.bound > 5


@pytest.mark.skipif(not learnt.available(), reason="scikit-learn is not installed")
def test_learnt_scores_find_what_lies_in_no_single_column():
    """Two outputs with one noise in common: their sum says nothing, x - 2 y nearly all."""

    def tilted(data, rng, trials):
        common = rng.normal(scale=50, size=trials)
        return np.stack([2 * common + rng.normal(size=trials) + data[0], common], axis=1)

    given = {"neighbours": audited.ONE, "trials": 100_000, "claim": PureDP(1.0)}
    assert tcdp_sim.audit(tilted, **given).bound > 1.1
    assert tcdp_sim.audit(tilted, **given, learn=False).bound < 0.1


def test_lowest_bits_of_doubles():
    x = np.array([[1.0, 0.5, 3.0, 0.1, 0.0, -6.0, 2.0**-1060, 2.0**60]])
    by_fractions = [float(value).as_integer_ratio() for value in x[0]]
    exponents = [
        (abs(top) & -abs(top)).bit_length() - 1 - (bottom.bit_length() - 1) if top else 0
        for top, bottom in by_fractions
    ]
    assert features.lowest_bit(x)[0].tolist() == exponents


def test_extremes_extend_the_thresholds_exactly():
    """Hits beyond each threshold, recounted from all numbers."""
    pair = Pair(np.zeros(1), np.ones(1), 0, "0" * 64, "0" * 64)
    edges = (np.array([-1.0, 0.0, 2.0]),)
    streams = ("1" * 64, "2" * 64)
    drawing = sampling.Drawing(NOTHING, audited.laplace, np.asarray)
    blocks = [block for chunk in (0, 1) for block in sampling.drawn(drawing, pair, streams, 3, chunk, 3000)]
    drawn = [np.concatenate([block[side] for block in blocks]) for side in (0, 1)]
    counted = Counted(search.Stack((Column("value", 0, ""),)), edges, 20)
    done = sampling.run(Task("s", drawing, pair, counted, 3, streams, ((0, 3000), (1, 3000))))
    seen = thresholds.of_counts(sampling.merged([counts for _, counts in done.chunks]), 0, edges[0])
    assert len(seen.values) > 20
    assert np.all(np.diff(seen.values) > 0)
    for side, hits in zip(drawn, (seen.first, seen.second)):
        assert [np.count_nonzero(side >= value) for value in seen.values] == hits.tolist()


def recounted(outputs, counted):
    side = sampling._Side(counted)
    for block in np.split(outputs, 5):
        side.add(block)
    return side


@pytest.mark.parametrize("common", [0.0, 4.0, 7.0])
def test_extremes_with_equals_that_are_left_out_are_no_thresholds(common):
    """Few values, most outputs of one of them, with and without an edge: every threshold has the hits of a recount."""
    rng = np.random.default_rng(1)
    sides = [np.where(rng.random(5000) < 0.004, rng.integers(0, 8, 5000), common) for _ in range(2)]
    for edges in (np.zeros(0), np.array([3.5])):
        counted = Counted(search.Stack((Column("value", 0, ""),)), (edges,), 20)
        one, other = (recounted(side, counted) for side in sides)
        counts = sampling.Counts(5000, (one.cells, other.cells), (one.low, other.low), (one.high, other.high))
        seen = thresholds.of_counts(counts, 0, edges)
        assert np.all(np.diff(seen.values) > 0)
        assert len(seen.values) >= 3
        for side, hits in zip(sides, (seen.first, seen.second)):
            assert [np.count_nonzero(side >= value) for value in seen.values] == hits.tolist()


def test_generated_pairs_are_neighbours_and_have_both_directions():
    for one in (True, False):
        found = pairs.listed(answer_pairs(6, one))
        assert len(found) == (2 if one else 9)
    assert len(answer_pairs(1)) == 2
    report = tcdp_sim.audit(audited.laplace, neighbours=answers(1), trials=20_000)
    assert report.epsilon > 0.8


@audited.WEAK
def test_figures_show_the_event():
    report = tcdp_sim.audit(audited.half_laplace, **AUDIT, claim=PureDP(1.0))
    figure = report.figure()
    assert len(figure.axes) == 3
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert {"first input", "second input"} <= set(labels)
    shaded = [patch for axes in figure.axes for patch in axes.patches]
    assert len(shaded) == 1
    plain = tcdp_sim.audit(lambda data, rng, trials: np.zeros(trials), **AUDIT)
    assert plain.figure().axes


def test_false_alarms_of_the_gaussian_null_at_a_large_sample():
    """One audit at a million outputs of a true claim; the chance of a refutation is 1e-6."""
    truth = float(stats.norm.cdf(0.5 - 1.0) - np.e * stats.norm.cdf(-0.5 - 1.0))
    report = tcdp_sim.audit(
        audited.gaussian, neighbours=audited.ONE, trials=10**6, level=1 - 1e-6, claim=ApproxDP(1.0, truth)
    )
    assert not report.refuted
    assert report.epsilon > 0.95
