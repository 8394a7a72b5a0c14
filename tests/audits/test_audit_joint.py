"""Rare events that need several numbers of an output at once, and the score that finds them."""

import audited
import numpy as np
import pytest
from scipy import optimize, stats

import tcdp_sim
from tcdp_sim.audits import answer_pairs, arguments, candidates, claims, joint, sampling, search, stages
from tcdp_sim.audits.candidates import Pilot
from tcdp_sim.audits.joint import Joint
from tcdp_sim.audits.sampling import Pair
from tcdp_sim.audits.scores import Column
from tcdp_sim.privacy import PureDP

NEIGHBOURS = [(np.zeros(1), np.ones(1))]
SLOPE = 2.0


def crossed(data, rng, trials):
    """Return x and y, uniform on [-1, 1] for both inputs. Only together do they tell the inputs apart.

    Their density is (1 + SLOPE x y / 2) / 4 under the second input, which turns y round in some outputs. What is
    released is 1000 x and y, so that their sum and difference tell no more than x.
    """
    x, y = rng.uniform(-1, 1, (2, trials))
    if data[0]:
        y = np.where(rng.random(trials) < (1 - SLOPE / 2 * x * y) / 2, -y, y)
    return np.stack([1000 * x, y], axis=1)


def test_a_rare_event_of_two_numbers_is_found(monkeypatch):
    """The density ratio is 2 in two corners and 0 in the other two. No sum of steps shows anything."""
    monkeypatch.setattr(stages, "AT_ONCE", 50_000)
    given = {"neighbours": NEIGHBOURS, "claim": PureDP(0.5), "trials": 400_000, "learn": False}
    report = tcdp_sim.audit(crossed, **given)
    assert report.refuted
    assert "fitted log ratio of output[0] and output[1] together" in report.event
    assert report.epsilon > 1.5
    monkeypatch.setattr(joint, "fitted", lambda first, second: np.zeros(first.shape))
    assert tcdp_sim.audit(crossed, **given).epsilon < report.epsilon - 0.5


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
def test_the_fit_maximises_the_penalised_likelihood(shape):
    """The coefficients by scipy's BFGS, on regressors that are written out cell by cell."""
    rng = np.random.default_rng(1)
    first, second = rng.poisson(20, shape), rng.poisson(30, shape)
    first[0] *= 100  # far from even odds, so that a few rounds do not do
    rows = []
    for cell in np.ndindex(shape):
        ranks = [2 * place / (size - 1) - 1 for place, size in zip(cell, shape)]
        row = [float(cell[axis] == place) for axis, size in enumerate(shape) for place in range(size)]
        for one in range(len(shape)):
            for other in set(range(len(shape))) - {one}:
                row += [ranks[other] * (cell[one] == place) for place in range(shape[one])]
        rows.append(row)
    terms, a, b = np.array(rows), first.ravel(), second.ravel()

    def loss(w):
        eta = terms @ w
        return a @ np.logaddexp(0, -eta) + b @ np.logaddexp(0, eta) + w @ w / (2 * 0.3**2)

    w = optimize.minimize(loss, np.zeros(terms.shape[1]), method="BFGS", options={"gtol": 1e-6}).x
    assert np.abs(joint.fitted(first, second).ravel() - terms @ w).max() < 1e-3
    assert np.abs(joint.fitted(second, first) + joint.fitted(first, second)).max() < 1e-9


def test_frequent_cells_tell_what_to_expect_of_a_rare_one():
    """The log ratio of the rarest cell is -0.98, and 1 or 2 outputs of it are expected; its own standard error is 1."""
    rng, places = np.random.default_rng(3), np.indices((8, 8))
    truth = -places[0] * places[1] / 50
    expected = 1e5 * np.exp(-0.8 * places.sum(axis=0))
    found = joint.fitted(rng.poisson(expected * np.exp(truth / 2)), rng.poisson(expected * np.exp(-truth / 2)))
    assert truth[7, 7] < found[7, 7] < -0.4
    assert stats.spearmanr(found.ravel(), truth.ravel())[0] > 0.9


def test_cells_without_outputs_and_large_losses_give_finite_ratios():
    first, second = np.zeros((5, 5), int), np.zeros((5, 5), int)
    assert not joint.fitted(first, second).any()
    first[:2], second[3:] = 10**9, 10**9
    found = joint.fitted(first, second)
    assert np.isfinite(found).all()
    assert found[0].min() > 2 > -2 > found[4].max()


def test_an_output_gets_the_score_of_its_cell():
    """The axes are the third and the first number; a number on an edge lies above it."""
    edges = (np.array([0.5]), np.array([0.1, 0.9]))
    score = Joint((2, 0), edges, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), ("a", "b"))
    outputs = np.array([[0.0, 9.0, 0.0], [0.1, 9.0, 0.49], [0.9, 9.0, 0.5], [np.inf, 9.0, -np.inf], [0.05, 9.0, 7.0]])
    assert score(outputs).tolist() == [1.0, 2.0, 6.0, 3.0, 4.0]
    assert score.words == "fitted log ratio of a and b together"


def test_the_most_telling_numbers_are_looked_at(monkeypatch):
    """Of five numbers, two have other laws under the second input."""
    rng = np.random.default_rng(2)
    first, second = rng.random((20_000, 5)), rng.random((20_000, 5))
    second[:, 1] **= 1.2
    second[:, 4] **= 1.3
    names = tuple(f"number {place}" for place in range(5))
    found = joint.of_pilot((first, second), names)
    assert {1, 4} < set(found.axes)
    assert found.names == tuple(names[axis] for axis in found.axes)
    assert 500 < found.ratios.size <= joint.MOST_CELLS
    monkeypatch.setattr(joint, "MOST_CELLS", 30)
    assert joint.of_pilot((first, second), names).ratios.size <= 30


def test_joint_counts_of_fresh_outputs_make_the_score():
    """The score that `candidates` makes is that of outputs counted cell by cell with `numpy.histogram2d`."""
    sides = [crossed([side], np.random.default_rng(side), 50_000) for side in (0, 1)]
    pilot = Pilot(Pair(np.zeros(1), np.ones(1), 0, "0" * 64, "0" * 64), (sides[0], sides[1]))
    found = candidates.of_pilot(pilot, bits=False, rare=True)
    first, second = (sampling.counted_at_once(found(side), found.counted.edges) for side in pilot.outputs)
    made = candidates.scores(pilot, found, sampling.Counts(50_000, (first, second), ([], []), ([], [])))
    (score,) = [each for each in made if isinstance(each, Joint)]
    bins = [np.clip(np.concatenate([[-np.inf], edges, [np.inf]]), -1e9, 1e9) for edges in score.edges]
    tables = [np.histogram2d(*side.T, bins=bins)[0] for side in sides]
    assert tables[0].sum() == 50_000
    assert np.array_equal(score.ratios, joint.fitted(*tables))
    assert not candidates.of_pilot(pilot, bits=False).joint


def test_joint_cells_stay_although_the_pilot_prefers_other_scores():
    sides = [np.random.default_rng(side).normal(side, 1, (1000, 2)) for side in (0, 1)]
    pilot = Pilot(Pair(np.zeros(1), np.ones(1), 0, "0" * 64, "0" * 64), (sides[0], sides[1]))
    edges = (np.array([-2.0]), np.array([-2.0]))
    useless = Joint((0, 1), edges, np.array([[0.0, 0.0], [0.0, 1.0]]), ("a", "b"))
    columns = [Column("value", place, "a") for place in (0, 1)]
    kept = search._best([*columns, useless], pilot, claims.measure(PureDP(0.1)), 1)
    assert [type(each.score) for each in kept] == [Column, Joint]


def test_outputs_that_are_counted_one_by_one_need_no_joint_cells():
    sides = [np.random.default_rng(side).integers(0, 3, (5000, 2)).astype(float) for side in (0, 1)]
    pilot = Pilot(Pair(np.zeros(1), np.ones(1), 0, "0" * 64, "0" * 64), (sides[0], sides[1]))
    assert not candidates.of_pilot(pilot, bits=False, rare=True).joint


def test_large_audits_keep_more_pairs_for_at_most_a_third_of_the_trials():
    for trials in (1000, 10**6, 3 * 10**6):
        assert stages.sizes(trials, 20).pairs == stages.PAIRS_KEPT
        assert stages.sizes(trials, 20).again == 0
    for trials in (4 * 10**6, 10**7, 10**8, 10**9):
        planned = stages.sizes(trials, 20)
        assert stages.PAIRS_KEPT < planned.pairs <= 20
        assert (planned.pairs - stages.PAIRS_KEPT) * (planned.tables + planned.compare) <= trials // 3
        assert stages.outputs_needed(trials, 20) < 3.2 * trials
        assert stages.sizes(trials, 2).again == 0


def test_a_mechanisms_own_likelihood_ratio_keeps_the_plan_of_small_audits():
    """What it ranks needs no second look, so that its audits stay as they were."""

    class Own:
        def __call__(self, data, rng, trials):
            return data + rng.laplace(0, 1, (trials, len(data)))

        def log_likelihood_ratio(self, outputs, data, other):
            return (np.abs(outputs - other) - np.abs(outputs - data)).sum(axis=1)

    for mechanism, pairs, again in ((Own(), 3, 0), (Own().__call__, 9, 10**5)):
        checked = arguments.checked(
            mechanism, answer_pairs(5), None, 4 * 10**6, None, 0.9, 0, "output", False, False, None, "results"
        )
        planned = search._planned(checked)
        assert (planned.pairs, planned.again) == (min(pairs, stages.sizes(4 * 10**6, 9).pairs), again)


@audited.WEAK
def test_true_claims_are_refuted_as_seldom_as_the_level_allows(monkeypatch):
    """10 audits at level 0.8 of the exact epsilon: more than 7 refutations have probability 1e-4 at most."""
    monkeypatch.setattr(stages, "AT_ONCE", 500)
    monkeypatch.setitem(globals(), "SLOPE", 0.2)
    claim = PureDP(float(-np.log(0.9)))
    given = {"neighbours": NEIGHBOURS, "claim": claim, "trials": 6000, "level": 0.8, "learn": False}
    assert sum(tcdp_sim.audit(crossed, **given, seed=seed).refuted for seed in range(10)) <= 7
