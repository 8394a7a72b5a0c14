"""Every quantity of every experiment has an exact value or a bound, or a reason why it has none."""

import numpy as np
import pytest

from tcdp_sim.cli import overrides
from tcdp_sim.engine.run import prepare
from tcdp_sim.mechanisms import Observable, mechanism_class
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import KINDS, known_exactly
from tcdp_sim.study import groups
from tcdp_sim.study.settings import settings

EXPERIMENTS = sorted(groups.options("experiment"))
CELLS = 5  # of a default study, evenly chosen


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


def of_cell(mechanism):
    """The quantities that a mechanism's trials have."""
    drawn = mechanism.simulate(np.random.default_rng(0), 2)
    for name in drawn.keys() & mechanism.observables.keys():
        yield from (columns.mean(name), columns.quantile(name))
        yield from (columns.exceeds(name, label) for label in mechanism.thresholds.get(name, {}))
    yield from drawn.keys() & mechanism.events.keys()


def known_in(values, mechanism):
    """The quantities whose exact value or bound is complete for a mechanism."""
    found = {}
    (row,) = [values.values(mechanism)]
    for name, (_, column, _) in values.tabulate([row], {}).items():
        for ending, _ in KINDS:
            if name.endswith(ending) and not np.isnan(column).any():
                found[name.removesuffix(ending)] = column
    return found


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_cells_lack_exact_values_for_declared_reasons_alone(experiment):
    study, values = prepare(settings(config(experiment))), known_exactly(experiment)
    cells = list(study.plan.cells)
    for place in sorted({round(at) for at in np.linspace(0, len(cells) - 1, CELLS)}):
        cell = cells[place]
        mechanism = study.mechanism.build(cell.law, study.plan.counts[cell.counts])
        lacking = {*of_cell(mechanism)} - known_in(values, mechanism).keys()
        assert lacking <= values.reasons.keys(), (cell.law, lacking - values.reasons.keys())
