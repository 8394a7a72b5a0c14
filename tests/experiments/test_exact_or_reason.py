"""Every quantity of every experiment has an exact value or a bound, which trials agree with, or a reason why not."""

import numpy as np
import pytest
from scipy import stats

from tcdp_sim.cli import overrides
from tcdp_sim.engine.run import prepare
from tcdp_sim.mechanisms import Observable, mechanism_class
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import KINDS, known_exactly
from tcdp_sim.study import groups
from tcdp_sim.study.settings import settings

EXPERIMENTS = sorted(groups.options("experiment"))
# whose default studies are planned within a second or two
QUICK = ("mean_concentrated", "per_record_splitting", "privacy_loss", "pure_from_zcdp")
QUICK += ("sinh_normal", "tightness")
PRINTED = columns.exceeds("", "printed")  # such a claim of a paper may be false
CELLS, TRIALS = 4, 2000  # cells of a default study, evenly chosen, and their trials
FEWER = {"thresholds": 200}  # where 100 trials of windows take 20 seconds
FAR, RARE = 6.0, 12.0  # standard errors, trials
ROUNDING = 1e-9  # relative
SEARCH = 1e-7  # of the largest quantile, to which some quantiles are searched for


def config(experiment):
    (raw,) = overrides.configs([f"experiment={experiment}"])
    return raw


def quantities(mechanism):
    """The means and quantiles of all observables, and the events, but no exceedances, whose labels a cell has."""
    observables = mechanism.observables
    return {part(name) for name in observables for part in (columns.mean, columns.quantile)} | {*mechanism.events}


def undeclared(mechanism, values):
    return quantities(mechanism) - {*values.exact, *values.bound, *values.reasons}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_quantity_is_declared(experiment):
    mechanism, values = mechanism_class(config(experiment)["mechanism"]["name"]), known_exactly(experiment)
    assert not undeclared(mechanism, values)
    strange = {name for name in values.reasons if columns.threshold_of(name) is None} - quantities(mechanism)
    assert not strange, "reasons of nothing that a trial yields"
    for name, reason in values.reasons.items():
        assert len(reason.split()) >= 6, (name, reason)
        assert not reason.endswith((".", ";")), (name, reason)


def test_a_new_observable_is_noticed():
    mechanism, values = mechanism_class("histogram"), known_exactly("histogram")

    more = type("More", (mechanism,), {"observables": {**mechanism.observables, "new": Observable("1", "a new one")}})
    assert undeclared(more, values) == {"new_mean", "new_quantile"}


def drawn_of(mechanism, drawn):
    """Yield the quantities of some trials, and the numbers that they are the means or quantiles of."""
    for name in drawn.keys() & mechanism.observables.keys():
        yield columns.mean(name), drawn[name]
        yield columns.quantile(name), drawn[name]
        for label, threshold in mechanism.thresholds.get(name, {}).items():
            yield columns.exceeds(name, label), drawn[name] > threshold
    for name in drawn.keys() & mechanism.events.keys():
        yield name, drawn[name]


def width_of(mechanism, name):
    """The width of the range of an observable by the name of its mean, 0 if the range has no end."""
    about = mechanism.observables.get(name.removesuffix(columns.mean("")), Observable("1", ""))
    return about.most - about.least if np.isfinite(about.most - about.least) else 0.0


def known_in(values, mechanism):
    """The exact values and the bounds of a mechanism that are complete, by kind and quantity."""
    found = {ending: {} for ending, _ in KINDS}
    for name, (_, column, _) in values.tabulate([values.values(mechanism)], {}).items():
        for ending, _ in KINDS:
            if name.endswith(ending) and not np.isnan(column).any():
                found[ending][name.removesuffix(ending)] = column[0]
    return found


def agrees(name, numbers, value, width=0.0):
    """Whether trials agree with an exact value to FAR standard errors.

    A mean that a tenth of its spread owes to one trial says nothing. Trials of an observable with a range of this width
    that are all equal may have missed what is as rare as RARE of them.
    """
    count = len(numbers)
    if columns.has_levels(name):
        levels, slack = columns.QUANTILES, SEARCH * np.abs(value).max()
        with np.errstate(invalid="ignore"):
            below = (numbers[:, None] < value - slack).mean(axis=0)
            upto = (numbers[:, None] <= value + slack).mean(axis=0)
        error = FAR * np.sqrt(levels * (1 - levels) / count) + RARE / count
        return (below <= levels + error).all() and (upto >= levels - error).all()
    if numbers.dtype == bool:
        return abs(numbers.mean() - value) <= FAR * np.sqrt(max(value * (1 - value), 0.0) / count) + RARE / count
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return True
    away = (numbers - numbers.mean()) ** 2
    unseen = RARE / count * width if not away.any() else 0.0
    if away.max() > 0.1 * away.sum():
        return True
    error = FAR * np.sqrt(away.mean() / len(numbers)) + unseen
    return abs(numbers.mean() - value) <= error + ROUNDING * max(abs(value), 1.0)


@pytest.mark.parametrize(
    "experiment", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in EXPERIMENTS]
)
def test_cells_have_exact_values_that_trials_agree_with_or_reasons(experiment):
    """About 10^4 numbers are compared at six standard errors; rare events add RARE trials to the margin."""
    study, values = prepare(settings(config(experiment))), known_exactly(experiment)
    cells = list(study.plan.cells)
    for place in sorted({round(at) for at in np.linspace(0, len(cells) - 1, CELLS)}):
        cell = cells[place]
        mechanism = study.mechanism.build(cell.law, study.plan.counts[cell.counts])
        drawn = mechanism.simulate(np.random.default_rng(place), FEWER.get(experiment, TRIALS))
        exact, bound = known_in(values, mechanism).values()
        for name, numbers in drawn_of(mechanism, drawn):
            assert name in exact or name in bound or name in values.reasons, (cell.law, name)
            if name in exact:
                width = width_of(mechanism, name)
                assert agrees(name, numbers, exact[name], width), (cell.law, name, numbers.mean(), exact[name])
            if name in bound and not columns.has_levels(name) and not name.endswith(PRINTED):
                assert numbers.mean() <= bound[name] or agrees(name, numbers, bound[name]), (cell.law, name)


def test_the_comparison_notices_what_is_wrong():
    """A factor 1.2, quantiles at the wrong levels, and a chance that is too large; and it passes what is right."""
    normal = np.random.default_rng(0).standard_normal(TRIALS) + 3
    right = stats.norm.ppf(columns.QUANTILES, 3)
    assert agrees("x_quantile", normal, right)
    assert not agrees("x_quantile", normal, right * 1.2)
    assert not agrees("x_quantile", normal, np.roll(right, 1))
    assert agrees("x_mean", np.zeros(TRIALS), 1e-6, 1.0)
    assert not agrees("x_mean", np.zeros(TRIALS), 0.01, 1.0)
    assert not agrees("x_mean", np.zeros(TRIALS), 1e-6)
    assert agrees("x_mean", normal, 3.0)
    assert not agrees("x_mean", normal, 3.6)
    assert agrees("event", normal > 3, 0.5)
    assert not agrees("event", normal > 3, 0.6)
