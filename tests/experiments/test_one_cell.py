"""A sweep of one cell has a table and a figure, whatever the experiment."""

import json

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.cli import overrides
from tcdp_sim.core.texts import blank
from tcdp_sim.engine.run import prepare
from tcdp_sim.results import open_cells, tidy
from tcdp_sim.store import columns
from tcdp_sim.study import groups
from tcdp_sim.study.more_trials import with_trials
from tcdp_sim.study.settings import settings

NO_AXES = ("zip", "where", "cells", "unless_given", "only_with", "blocks")
PLAIN = ("subsampling", "quantiles", "per_record_error")  # whose own figures need more than one cell
QUICK = ("privacy_loss", "subsampling", "quantiles")
OTHERS = sorted({*groups.options("experiment")} - {*QUICK})


def first_point(experiment):
    """The axes of the first cell of an experiment's default study, as the only cell of a sweep."""
    (raw,) = overrides.configs([f"experiment={experiment}", "trials=200", "chunk=100"])
    study = prepare(settings(with_trials(raw)))
    coords = next(iter(study.plan.cells)).coords
    point = {axis: coords[axis] for axis in study.mechanism.axes if axis in coords and not blank(coords[axis])}
    if "omega_sqrt_rho" in point:
        del point["omega"]
    return dict.fromkeys([key for key in raw["sweep"] if key not in NO_AXES]) | {"cells": [point]}


def check_dimensions(found, folder):
    """No axis is a dimension, unless it is asked for; a mean is a single number, which pandas takes."""
    axes = set(json.loads(found.attrs["axes"])) & set(found.coords)
    assert axes
    assert not axes & set(found.sizes)
    means = [name for name in found.data_vars if name.endswith("_mean")]
    assert all(np.ndim(found[name].to_pandas()) == 0 for name in means)
    whole = tcdp_sim.open_results(folder, squeeze=False)
    assert axes <= set(whole.sizes)
    assert found.identical(whole.squeeze(sorted(axes)))
    assert tidy(found).equals(tidy(whole))


def check_known(cells):
    """Every quantity of a published cell has an exact value, a bound, or a reason why it has neither."""
    names = set(map(str, cells.data_vars))
    for quantity in names & set(columns.quantities(names)):
        about, beside = (
            cells[quantity].attrs[columns.KNOWN],
            [quantity + kind for kind in (columns.EXACT, columns.BOUND)],
        )
        beside = [name for name in beside if name in names]
        assert about.startswith(" and ".join(beside) or columns.NOT_KNOWN), (quantity, about)
        known = any(cells[name].notnull().all() for name in beside)
        assert known == (columns.NOT_KNOWN not in about), (quantity, about)
        assert columns.UNDECLARED not in about, quantity


def check(experiment, folder, command):
    sweep = first_point(experiment)
    found = tcdp_sim.run(
        experiment, sweep=sweep, also=None, trials=200, chunk=100, cluster="serial", results_dir=folder.parent
    )
    check_dimensions(found, folder)
    cells = open_cells(folder)
    assert cells.sizes["cell"] == 1
    check_known(cells)
    figures = tcdp_sim.draw(folder)
    assert figures
    assert all(name.endswith("_vs_cell") for name in figures) or experiment not in PLAIN
    code, out, err = command("draw", folder)
    assert code in (0, 3), err
    assert "\N{BOX DRAWINGS LIGHT HORIZONTAL}" in out or "95% interval" in out
    assert list((folder / "figures").glob("*.png"))


@pytest.mark.parametrize("experiment", QUICK)
def test_one_cell_has_a_table_and_a_figure(experiment, tmp_path, command):
    check(experiment, tmp_path / experiment, command)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tcdp_sim.Contradiction")  # of 200 trials nothing is judged here
@pytest.mark.parametrize("experiment", OTHERS)
def test_one_cell_of_the_others_too(experiment, tmp_path, command):
    check(experiment, tmp_path / experiment, command)
