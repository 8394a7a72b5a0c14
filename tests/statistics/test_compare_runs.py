"""Comparing two tables of results: silent on equal ones, loud on others, whatever their trials and order."""

import json

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from tcdp_sim.statistics import compare_runs
from tcdp_sim.summaries.bins import bin_edges, in_order
from tcdp_sim.summaries.estimates import mean, proportion, quantiles
from tcdp_sim.summaries.summary import summarise

LEVELS = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])
LIMIT = 2.5
HISTOGRAM = ("lower", "upper", "count", "bins")


def law(cell, **more):
    return json.dumps({"mechanism": "toy", "version": 1, "cell": cell} | more)


def table(rng, trials, cells=range(20), changed=(), laws=law):
    """A flat table of Laplace noise, the same cut off at zero, and a rare event; each cell has a scale of its own."""
    rows = [_row(rng, trials, np.ldexp(1 + cell / 32, cell % 3), 1.4 if cell in changed else 1) for cell in cells]
    data = {name: ("cell", [row[name] for row in rows]) for name in rows[0] if np.ndim(rows[0][name]) == 0}
    for x in ("error", "cut"):
        data[f"{x}_quantile"] = (("cell", "quantile"), [row[f"{x}_quantile"] for row in rows])
        data[f"{x}_histogram_bins"] = ("cell", [len(row[f"{x}_histogram_count"]) for row in rows])
        for part in ("lower", "upper", "count"):
            values = np.concatenate([row[f"{x}_histogram_{part}"] for row in rows])
            data[f"{x}_histogram_{part}"] = (f"{x}_entry", values)
    coords = {"law": ("cell", np.array([laws(cell) for cell in cells], dtype=object)), "quantile": LEVELS}
    return xr.Dataset(data, coords)


def _row(rng, trials, scale, factor):
    error = rng.laplace(scale=scale * factor, size=trials)
    values = {"error": error, "cut": np.maximum(error, 0), "far": np.abs(error) > 6 * scale}
    summary = summarise("0" * 64, 0, trials, values, {"error": {"limit": LIMIT}})
    row = {"trials": trials, "far": proportion(summary.events["far"], trials)[0], "far_count": summary.events["far"]}
    for name, d in summary.observables.items():
        parts = (*mean(d), d.moments[0, 3], d.moments[0, 4], d.nonfinite)
        row |= {f"{name}_{end}": x for end, x in zip(("mean", "mean_mcse", "sd", "min", "max", "nonfinite"), parts)}
        row |= {f"{name}_quantile": quantiles(d, LEVELS)[0]}
        order = np.argsort(in_order(d.keys))
        edges = zip(("lower", "upper"), bin_edges(d.keys[order]))
        row |= {f"{name}_histogram_{end}": edge for end, edge in edges} | {f"{name}_histogram_count": d.counts[order]}
    hits = summary.observables["error"].exceed["limit"]
    row |= {"error_limit": LIMIT, "error_exceeds_limit": hits / trials, "error_exceeds_limit_count": hits}
    return row


@pytest.mark.parametrize(("here", "there"), [(1000, 1000), (300, 20_000)])
def test_equal_runs_raise_no_alarm(here, there):
    """At 1%, of 60 pairs without any difference 0.6 raise an alarm; 5 or more would once in 2800 times."""
    assert stats.binom.sf(4, 60, compare_runs.FALSE_DISCOVERIES) < 1 / 2800
    rng = np.random.default_rng(21)
    alarms = 0
    for _ in range(60):
        found = compare_runs.compare(table(rng, here, range(6)), table(rng, there, range(6)))
        assert (found.identical, found.compared, found.only_here, found.only_there) == (0, 6, 0, 0)
        assert found.alarms.attrs["comparisons"] > 6 * 15
        alarms += len(found.alarms) > 0
    assert alarms <= 4


def test_a_changed_scale_is_found_in_every_quantity_that_it_moves():
    rng = np.random.default_rng(22)
    found = compare_runs.compare(table(rng, 4000), table(rng, 4000, changed=range(20))).alarms
    assert set(found["row"]) == set(range(20))
    quantities = set(found["quantity"])
    assert {"cut_mean", "far", "error_exceeds_limit", "error_below_quantile_0.05"} <= quantities
    assert not {"error_mean", "error_below_quantile_0.5"} & quantities  # symmetric about zero, both
    assert (np.diff(found["p_value"]) >= 0).all()


@pytest.mark.slow
def test_the_false_discovery_rate_is_kept_where_some_cells_differ():
    """40 pairs with 2 of 12 cells changed: less than 1% of the alarms are expected in the others."""
    rng = np.random.default_rng(23)
    pairs = ((table(rng, 2000, range(12)), table(rng, 2000, range(12), changed=(3, 7))) for _ in range(40))
    rows = np.concatenate([compare_runs.compare(*pair).alarms["row"] for pair in pairs])
    assert len(rows) > 40 * 2 * 5
    assert np.mean(~np.isin(rows, [3, 7])) < 0.02


def test_cells_are_matched_by_their_law_in_any_order():
    rng = np.random.default_rng(24)
    here, there = table(rng, 4000, (1, 2, 5)), table(rng, 4000, (9, 5, 2, 1, 8), changed=(5,))
    found = compare_runs.compare(here, there)
    assert (found.identical, found.compared, found.only_here, found.only_there) == (0, 3, 0, 2)
    assert set(found.alarms["row"]) == {2}
    assert set(found.alarms["row_there"]) == {1}


def test_a_law_is_the_same_however_it_is_drawn():
    """Another version of the mechanism, or random numbers shared with other cells: what it is to be has not changed."""
    rng = np.random.default_rng(25)
    here = table(rng, 500, (1, 2))
    assert (
        compare_runs.compare(here, table(rng, 500, (1, 2), laws=lambda c: law(c, version=2, stream="abc"))).compared
        == 2
    )
    assert compare_runs.compare(here, table(rng, 500, (1, 2), laws=lambda c: law(c, sensitivity=2))).compared == 0


def test_identical_cells_are_counted_and_not_compared():
    here = table(np.random.default_rng(26), 700, range(4))
    found = compare_runs.compare(here, here)
    assert (found.identical, found.compared, found.alarms.attrs["comparisons"]) == (4, 0, 0)
    other = here.copy(deep=True)
    other["error_histogram_count"].values[:2] += np.array([1, -1])  # one trial one bin further
    found = compare_runs.compare(here, other)
    assert (found.identical, found.compared) == (3, 1)
    assert found.alarms.empty


def test_cells_without_results_are_nobodys():
    rng = np.random.default_rng(27)
    here, there = table(rng, 300, (1, 2)), table(rng, 300, (1, 2))
    there["trials"].values[1] = 0
    found = compare_runs.compare(here, there)
    assert (found.compared, found.only_here, found.only_there) == (1, 1, 0)


def test_exceedances_of_other_thresholds_are_not_compared():
    rng = np.random.default_rng(28)
    here, there = table(rng, 3000, (1, 2)), table(rng, 3000, (1, 2))
    there["error_limit"].values[:] = 2 * LIMIT
    there["error_exceeds_limit"].values[:] = there["error_exceeds_limit_count"].values[:] = 0
    made = compare_runs.compare(here, there).alarms.attrs["comparisons"]
    there["error_limit"].values[:] = LIMIT
    found = compare_runs.compare(here, there).alarms
    assert set(found["quantity"]) == {"error_exceeds_limit"}
    assert found.attrs["comparisons"] == made + 2


def test_trials_that_are_not_finite_are_compared():
    rng = np.random.default_rng(29)
    here, there = table(rng, 3000, (1, 2)), table(rng, 3000, (1, 2))
    there["error_nonfinite"].values[1] = 100
    found = compare_runs.compare(here, there).alarms
    assert list(zip(found["row"], found["quantity"])) == [(1, "error_nonfinite")]


@pytest.mark.parametrize("q", [(0.5,), (0.01, 0.5, 0.99)])
def test_an_atom_has_one_cut(q):
    """Most of the trials in one bin, the last: what lies below it is compared, once."""
    a, b = (np.array([5, 9]), np.array([3, 97])), (np.array([9]), np.array([50]))
    np.testing.assert_array_equal(compare_runs._cuts(a, b, np.array(q))[:, 1:], [[3, 100, 0, 50]])


def test_the_resolution_is_that_of_the_means():
    """Changed by the stated share, one mean is an alarm about every other time: 20 of 40, or 9.5 off once in 400."""
    rng = np.random.default_rng(30)
    names = [f"cut_{end}" for end in ("mean", "mean_mcse", "sd", "nonfinite", *(f"histogram_{x}" for x in HISTOGRAM))]
    found = 0
    for _ in range(40):
        here, there = (table(rng, 1000, range(4))[["trials", "quantile", *names]] for _ in "ab")
        there["cut_mean"].values[0] *= 1 + compare_runs.compare(here, there).resolution
        found += len(compare_runs.compare(here, there).alarms) > 0
    assert 11 <= found <= 29
