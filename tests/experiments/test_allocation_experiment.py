"""The study of random allocation, from a small run; brackets that are wrong are found.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.experiments import allocation as experiment
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

WORDS = ("experiment=allocation", "cluster=serial", "trials=4000", "chunk=2000", "sweep.sigma=1", "sweep.steps=[5,40]")


def test_simulated_numbers_stand_beside_brackets_and_poisson_sampling(ran_once, tmp_path):
    said = ran_once(*WORDS, "sweep.delta=1e-4", "sweep.direction=[adding,removing]", "sweep.participations=[1,2]")
    folder = tmp_path / "results" / "allocation"
    table = published.table(experiment, results.open_cells(folder).load())
    one, two = table[table["participations"] == 1], table[table["participations"] == 2]
    assert len(one) == len(two) == 8
    assert (one["exact_low"] <= one["exact_high"]).all()
    assert ((one["simulated"] - one["exact"]).abs() < 5.5 * one["mcse"]).all()
    assert (one["mcse"] < 0.15 * one["simulated"]).all()
    assert two["exact"].isna().all()
    epsilon = table[(table["quantity"] == "epsilon") & (table["direction"] == "adding")]
    assert (epsilon["simulated"] < epsilon["poisson"]).all()  # random allocation is more private here
    assert (epsilon["poisson"] < 2 * epsilon["simulated"]).all()
    assert contradictions.find(table).empty
    assert len(contradictions.find(one.assign(exact=one["exact"] * 1.6))) >= 6  # brackets that far off would be found
    assert "none contradicts it beyond chance" in said
    assert [path.stem for path in (folder / "figures").glob("*.png")] == ["epsilon_vs_steps"]


def test_a_profile_is_drawn_where_epsilon_is_given(ran_once, tmp_path):
    ran_once(
        "experiment=allocation",
        "cluster=serial",
        "trials=1000",
        "chunk=1000",
        "sweep.sigma=1",
        "sweep.steps=20",
        "sweep.epsilon=[0,0.5]",
    )
    folder = tmp_path / "results" / "allocation"
    table = published.table(experiment, results.open_cells(folder).load())
    assert set(table["quantity"]) == {"delta"}
    assert (table["poisson"] > table["exact_low"] * 0.9).all()
    assert np.isfinite(table["exact"]).all()
    assert [path.stem for path in (folder / "figures").glob("*.png")] == ["profile"]


def test_every_setting_has_a_panel_of_its_own():
    """Two scales at two numbers of steps: no line joins points of two of them, and the seventh setting is counted."""
    few = [(sigma, steps) for sigma in (1.0, 2.0) for steps in (10, 100)]
    for settings, panels in ((few, 4), ([(1.0, steps) for steps in range(10, 17)], 6)):
        rows = [
            {"sigma": sigma, "steps": steps, "participations": 1, "direction": way, "at": epsilon, "trials": 1000}
            | dict.fromkeys(("simulated", "lower", "upper", "exact_high", "poisson"), np.exp(-epsilon) / sigma / steps)
            for sigma, steps in settings
            for way in ("adding", "removing")
            for epsilon in (0.0, 0.5, 1.0)
        ]
        figure = experiment._profile_figure(pd.DataFrame(rows))
        drawn = [axes for axes in figure.axes if axes.axison]
        assert len(drawn) == panels
        for axes, (sigma, steps) in zip(drawn, settings):
            lines = [line for line in axes.lines if len(line.get_xdata()) == 3]
            assert len(lines) >= 3
            for line in lines:
                assert list(line.get_ydata()) == pytest.approx([np.exp(-x) / sigma / steps for x in (0, 0.5, 1)])
        assert ("6 of 7 settings" in figure.notes.values()) == (panels == 6)
