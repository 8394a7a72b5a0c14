"""Data with masked values are refused wherever numpy would read what the mask hides."""

import inspect
from collections.abc import Callable

import numpy as np
import pytest
from public_names import PACKAGES, members

import tcdp_sim
from tcdp_sim import audits, exact, mechanisms, selection, statistics
from tcdp_sim.candidates import tries_of
from tcdp_sim.data import Counts
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.thresholds import Records
from tcdp_sim.privacy import ZCDP

OBSERVED = {"answers", "counts", "data", "first", "inside", "listed", "losses", "others", "outside"}
OBSERVED |= {"probabilities", "scores", "second"}
NO_ARRAY = {
    ("AuditReport", "counts"): "a result",
    ("AuditReport", "scores"): "a result",
    ("ScoreReport", "counts"): "a result",
    ("ScoreReport", "scores"): "a result",
    ("LatticeMixture", "first"): "the place of the first point",
    ("Scores", "others"): "how many other candidates there are",
    ("plan", "data"): "a data set by its name or settings",
    ("run", "data"): "a data set by its name or settings",
}
NOISE, TRIES = Gaussian(1.0), tries_of("geometric", 2.0)
NUMBERS, HALVES = np.arange(1.0, 21.0), np.array([0.5, 0.5])
MASKED = np.ma.masked_array(NUMBERS, NUMBERS == 20)
COUNTS = np.ma.masked_array([5, 4, 3], [False, True, False])
SHARES = np.ma.masked_array(HALVES, [True, False])
CALLS: dict[tuple[str, str], Callable[[], object]] = {
    ("audit_scores", "inside"): lambda: tcdp_sim.audit_scores(MASKED, NUMBERS),
    ("audit_scores", "outside"): lambda: tcdp_sim.audit_scores(NUMBERS, MASKED),
    ("records", "data"): lambda: audits.records(MASKED),
    ("epsilon_from_outputs", "first"): lambda: statistics.epsilon_from_outputs(MASKED, NUMBERS, 0.0),
    ("epsilon_from_outputs", "second"): lambda: statistics.epsilon_from_outputs(NUMBERS, MASKED, 0.0),
    ("epsilon_from_losses", "losses"): lambda: statistics.epsilon_from_losses(MASKED, 0.0),
    ("Counts", "counts"): lambda: Counts("mine", COUNTS, 9, "here"),
    ("Histogram", "counts"): lambda: mechanisms.Histogram(NOISE, ZCDP(1.0), COUNTS, 9),
    ("Records", "counts"): lambda: Records([1, 2, 3], COUNTS, 9),
    ("Scores", "listed"): lambda: selection.Scores(MASKED, sensitivity=1.0),
    ("selection_distribution", "scores"): lambda: exact.selection_distribution("noisy_max", NOISE, MASKED),
    ("spurious_wins_probability", "counts"): lambda: exact.spurious_wins_probability(NOISE, COUNTS, 9),
    ("top_stays_probability", "counts"): lambda: exact.top_stays_probability(NOISE, COUNTS, 9),
    ("mutual_information", "answers"): lambda: exact.mutual_information(NOISE, MASKED),
    ("mutual_information", "probabilities"): lambda: exact.mutual_information(NOISE, [0.0, 1.0], SHARES),
    ("best_of_tries", "probabilities"): lambda: exact.best_of_tries(SHARES, TRIES),
    ("divergence_of_best", "first"): lambda: exact.divergence_of_best(2.0, SHARES, HALVES, TRIES),
    ("divergence_of_best", "second"): lambda: exact.divergence_of_best(2.0, HALVES, SHARES, TRIES),
    ("divergence_in_worst_order", "first"): lambda: exact.divergence_in_worst_order(2.0, SHARES, HALVES, TRIES),
    ("divergence_in_worst_order", "second"): lambda: exact.divergence_in_worst_order(2.0, HALVES, SHARES, TRIES),
    ("divergence_of_candidates", "scores"): lambda: exact.divergence_of_candidates(2.0, SHARES, HALVES, 1.0, TRIES),
    ("divergence_of_candidates", "others"): lambda: exact.divergence_of_candidates(2.0, HALVES, SHARES, 1.0, TRIES),
    ("best_candidate_probabilities", "scores"): lambda: exact.best_candidate_probabilities(MASKED, 1.0, TRIES),
    ("noisy_best_probabilities", "scores"): lambda: exact.noisy_best_probabilities(MASKED, 1.0),
    ("permute_and_flip_probabilities", "scores"): lambda: exact.permute_and_flip_probabilities(MASKED, 1.0),
}


def test_every_public_function_of_data_is_here():
    found = {
        (name.rpartition(".")[2], parameter)
        for package in PACKAGES
        for name, thing in members(package)
        if inspect.isfunction(thing) or (inspect.isclass(thing) and not issubclass(thing, Exception))
        for parameter in OBSERVED & set(inspect.signature(thing).parameters)
    }
    assert found == CALLS.keys() | NO_ARRAY.keys()


@pytest.mark.parametrize("place", CALLS, ids=" ".join)
def test_masked_values_are_refused(place):
    with pytest.raises(ValueError, match=r"masked|not (a number|valid)") as told:
        CALLS[place]()
    assert "\n" not in str(told.value)
