"""Brackets of delta and epsilon of training runs, from ledgers, which share no code with the runs that are drawn."""

from functools import lru_cache

import numpy as np

from tcdp_sim.accounting import Additive, Sampled
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.training import SAMPLERS, Run, TrainingReport, training_noise, training_report
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.losses.lists import bracket
from tcdp_sim.exact.losses.questions import Question, delta_question, epsilon_question
from tcdp_sim.mechanisms.training import Training
from tcdp_sim.noise import Gaussian

DELTA = ("delta_from_below", "delta_from_above")
EPSILON = ("epsilon_from_below", "epsilon_from_above")
THREE = ("printed_epsilon", "least_epsilon", "largest_epsilon")
NEEDED = "needed_sigma"
NOTHING = Bounds(np.nan, np.nan, np.nan)
_CLOSE, _SMALL = 1e-3, 1e-6  # relative tolerance of an answer, and the least number to which it is relative
_COMPARED = ("balls_in_bins", "shuffle_each_epoch", "no_shuffle")  # samplers of one epoch
_FLOOR = 1e-30  # of a delta, to which the tolerance is relative


def relation_of(mechanism: Training) -> str:
    """Return the relation of the report: zero_out, or substitute where only that has a proved pair."""
    return "substitute" if mechanism.sampler == "fixed_size" else "zero_out"


def _release(mechanism: Training) -> tuple[Release, int, str]:
    """Return a release whose bracket contains the simulated run, its number of copies, and a relation of it."""
    times, rate, noise = mechanism.steps * mechanism.epochs, 1 / mechanism.steps, Gaussian(mechanism.sigma)
    if mechanism.sampler == "poisson":
        return Sampled(Additive(noise), rate, group=mechanism.group), times, "add_remove"
    if mechanism.sampler == "fixed_size":  # all others are -1, and the record is 1 or -1: one batch more or less of 2
        return Sampled(Additive(noise, 2.0), rate), times, "add_remove"
    steps, records = mechanism.steps, mechanism.steps * mechanism.batch
    run = Run(mechanism.sigma, records, mechanism.batch, mechanism.epochs, steps, mechanism.most)
    found = SAMPLERS[mechanism.sampler].releases(run)["zero_out"]
    if isinstance(found, str):
        raise ValueError(found)
    return (*found, "zero_out")


def _ends(mechanism: Training, question: Question) -> Bounds:
    """Return the bracket for the direction of the run: of what is attained, and of what dominates."""
    release, times, relation = _release(mechanism)
    way = 0 if mechanism.direction == "forward" else 1
    above = release.cases(relation, times)
    below = release.attained(relation, times) or above
    low, high = bracket(below[0][way], question)[0], bracket(above[0][way], question)[1]
    return Bounds(min(low, high), 0.5 * (low + high), high)


@lru_cache(maxsize=4)
def _delta(mechanism: Training) -> Bounds:
    return _ends(mechanism, delta_question(mechanism.epsilon, lambda high: max(_CLOSE * high, _FLOOR)))


@lru_cache(maxsize=4)
def _epsilon(mechanism: Training) -> Bounds:
    if mechanism.delta is None:
        return NOTHING
    return _ends(mechanism, epsilon_question(mechanism.delta, lambda high: _CLOSE * max(high, _SMALL)))


@lru_cache(maxsize=4)
def _report(mechanism: Training) -> TrainingReport | None:
    """Return the report of the run, None for a group or without a delta."""
    if mechanism.delta is None or mechanism.group > 1:
        return None
    numbers = (mechanism.steps * mechanism.batch, mechanism.batch, mechanism.epochs, mechanism.delta)
    return training_report(mechanism.sampler, mechanism.sigma, *numbers, most=mechanism.most)


def _proved(mechanism: Training) -> Bounds:
    report = _report(mechanism)
    rows = report.rows if report else ()
    found = next((row.epsilon for row in rows if row.relation == relation_of(mechanism)), None)
    return NOTHING if found is None else found


def _printed(mechanism: Training) -> float:
    report = _report(mechanism)
    return np.nan if report is None else report.printed


def _needed(mechanism: Training) -> float:
    """Return the noise at which the run of one epoch is proved to have the epsilon that is printed at its own noise."""
    report = _report(mechanism)
    delta = mechanism.delta
    if report is None or delta is None or mechanism.epochs > 1 or not report.printed > 0:
        return np.nan
    if mechanism.sampler not in _COMPARED:
        return np.nan
    numbers = (mechanism.steps * mechanism.batch, mechanism.batch, 1, delta)
    return training_noise(mechanism.sampler, report.printed, *numbers)


def _delta_below(mechanism: Training) -> float:
    return _delta(mechanism).lower


def delta_from_above(mechanism: Training) -> float:
    """Return the upper end of delta at the mechanism's epsilon, in its direction."""
    return _delta(mechanism).upper


def _epsilon_below(mechanism: Training) -> float:
    return _epsilon(mechanism).lower


def _epsilon_above(mechanism: Training) -> float:
    return _epsilon(mechanism).upper


def _least(mechanism: Training) -> float:
    return _proved(mechanism).lower


def _largest(mechanism: Training) -> float:
    return _proved(mechanism).upper


_FUNCTIONS = (_delta_below, delta_from_above, _epsilon_below, _epsilon_above, _printed, _least, _largest, _needed)
VALUES = dict(zip((*DELTA, *EPSILON, *THREE, NEEDED), _FUNCTIONS))
