"""The choice among candidate models as a mechanism: its law, and draws against exact laws.

Seeds are fixed; a fresh seed fails at 5.5 standard errors with probability 4e-8 for each comparison.
"""

import json

import numpy as np
import pytest

from tcdp_sim.candidates import PoissonTries, largest_shift, tries_of
from tcdp_sim.data.candidate_problems import PROBLEMS, accuracy_losses
from tcdp_sim.experiments.private_candidates import EXACT
from tcdp_sim.mechanisms.private_candidates import METHODS, PrivateCandidates
from tcdp_sim.privacy import TCDP

GAUSSIAN = {"family": "gaussian", "calibration": "paper", "label": "Gaussian"}
POINT = {"problem": "even", "k": 8, "records": 60.0, "rho": 0.1, "omega": 3.0, "tries": 6.0, "noise": GAUSSIAN}


def law(method, **change):
    return PrivateCandidates.law(POINT | {"method": method} | change, {}, None)


@pytest.mark.parametrize("method", METHODS)
def test_law_and_build_are_inverse_and_draws_have_the_exact_law(method):
    description = law(method)
    assert json.loads(json.dumps(description)) == description
    mechanism = PrivateCandidates.build(description, None)
    trials = 20_000
    draws = mechanism.simulate(np.random.default_rng(5), trials)
    assert set(draws) == {"accuracy_loss", "runs", "best_selected"}
    for name, exact in zip(("accuracy_loss", "best_selected"), EXACT.values()):
        numbers = draws[name].astype(float)
        assert numbers.shape == (trials,)
        assert abs(numbers.mean() - exact(mechanism)) < 5.5 * numbers.std() / np.sqrt(trials)
    mean = 6.0 if method in ("poisson", "geometric", "logarithmic") else 8.0
    assert abs(draws["runs"].mean() - mean) <= 5.5 * draws["runs"].std() / np.sqrt(trials)


def test_the_published_theorem_asks_for_more_noise():
    assert law("all_runs")["parameters"]["scale"] == pytest.approx(np.sqrt(8 / 0.2))
    scales = [law("poisson", accounting=way)["parameters"]["scale"] for way in ("paper", "tight")]
    assert scales[0] > 5 * scales[1] > 5 * np.sqrt(1 / 0.2)
    assert scales[1] == pytest.approx(1 / largest_shift(0.1, 3.0, tries_of("poisson", 6.0)), rel=1e-12)


def test_many_tiles_give_the_same_law_and_no_run_a_random_candidate(monkeypatch):
    mechanism = PrivateCandidates(
        "poisson", np.array([0.0, 0.5]), 100.0, TCDP(0.1, 3.0), {"scale": 1.0}, PoissonTries(0.7)
    )
    monkeypatch.setattr("tcdp_sim.mechanisms.private_candidates.TILE", 50)
    draws = mechanism.simulate(np.random.default_rng(2), 20_000)
    none = draws["runs"] == 0
    assert abs(none.mean() - np.exp(-0.7)) < 5.5 * np.sqrt(0.25 / 20_000)
    assert abs(draws["best_selected"][none].mean() - 0.5) < 5.5 * 0.5 / np.sqrt(none.sum())
    # the better candidate wins unless all runs take the other one
    truth = 1 - np.exp(-0.35) + 0.5 * np.exp(-0.7)
    assert abs(draws["best_selected"].mean() - truth) < 5.5 * 0.5 / np.sqrt(20_000)


def test_a_tile_that_ends_with_the_last_run_drops_no_trial(monkeypatch):
    tries = PoissonTries(3.0)
    mechanism = PrivateCandidates("poisson", np.linspace(0, 1, 50), 9.0, TCDP(0.1, 3.0), {"scale": 1.0}, tries)
    whole = mechanism.simulate(np.random.default_rng(4), 30)
    monkeypatch.setattr("tcdp_sim.mechanisms.private_candidates.TILE", int(whole["runs"].sum()))
    assert np.array_equal(mechanism.simulate(np.random.default_rng(4), 30)["accuracy_loss"], whole["accuracy_loss"])


def test_a_chunk_without_any_run_is_drawn():
    mechanism = PrivateCandidates(
        "poisson", np.array([0.0, 0.5]), 100.0, TCDP(0.1, 3.0), {"scale": 1.0}, PoissonTries(1e-9)
    )
    assert mechanism.simulate(np.random.default_rng(2), 10)["runs"].tolist() == [0] * 10


def test_laws_do_not_depend_on_axes_that_the_method_ignores():
    assert "noise" not in PrivateCandidates.uses(POINT | {"method": "poisson"})
    assert "tries" not in PrivateCandidates.uses(POINT | {"method": "all_runs"})
    assert law("all_runs") == law("all_runs", tries=99.0, noise=None, omega=None)
    assert law("exponential_mechanism") == law("exponential_mechanism", tries=None, accounting="paper")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_problems_have_losses_that_rise_from_zero(problem):
    losses = accuracy_losses(problem, 100)
    assert losses[0] == 0
    assert np.all(np.diff(losses) >= 0)
    assert losses[-1] == (pytest.approx(0.3) if problem != "digits_svm" else pytest.approx(799 / 898))
