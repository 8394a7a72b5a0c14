"""The study of correlated noise, from a small run."""

import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.experiments import correlated_noise as experiment
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

WORDS = (
    "experiment=correlated_noise",
    "cluster=serial",
    "trials=4000",
    "chunk=2000",
    "sweep.steps=4",
    "sweep.epochs=4",
)


def test_errors_are_drawn_at_equal_privacy(ran_once, tmp_path):
    said = ran_once(
        *WORDS,
        "sweep.bands=[1,4]",
        "sweep.participation=[same_bins,cyclic,known]",
        "sweep.epsilon=4",
        "sweep.delta=1e-4",
    )
    folder = tmp_path / "results" / "correlated_noise"
    table = published.table(experiment, results.open_cells(folder).load()).set_index(["participation", "bands"])
    assert len(table) == 6
    assert (table["lower"] <= table["delta_from_above"]).all()
    assert (table["upper"] >= table["delta_from_below"]).all()
    assert ((table["simulated"] / 1e-4 - 1).abs() < 0.2).all()
    errors = table["root_mean_square_error"]
    assert (errors["same_bins"] <= errors["known"]).all()  # hiding the steps never needs more noise
    assert errors["cyclic", 4] == pytest.approx(errors["known", 4], rel=1e-3)  # all records in each step: no sampling
    assert contradictions.find(table.reset_index()).empty
    assert "Errors of prefix sums" in said
    assert [path.stem for path in (folder / "figures").glob("*.png")] == ["error_vs_bands"]


def row(bands, error, participation="known", epsilon=1.0):
    numbers = {"bands": bands, "root_mean_square_error": error, "participation": participation, "epsilon": epsilon}
    return numbers | {"delta": 1e-6, "steps": 4, "epochs": 4, "trials": 10}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(1, 2.0), row(4, 1.0), row(16, 1.5)], "4 bands make errors up to 2 times smaller"),
        ([row(1, 1.0), row(4, 3.0)], "no number of bands has less error than one"),
        ([row(4, 3.0)], "Errors of prefix sums at equal privacy"),
        ([row(1, 2.0), row(4, 1.0), row(1, 9.0, "cyclic"), row(8, 3.0, "cyclic")], "8 bands make errors up to 3 times"),
    ],
)
def test_the_title_is_true_of_what_is_drawn(rows, said):
    assert said in experiment._finding(pd.DataFrame(rows))


def test_settings_that_are_left_out_are_counted():
    rows = [row(bands, 1.0, epsilon=float(epsilon)) for epsilon in range(1, 7) for bands in (1, 2)]
    ((name, figure, _),) = experiment.figures(pd.DataFrame(rows))
    assert name == "error_vs_bands"
    assert len(figure.axes) == experiment.MOST_PANELS
    assert "4 of 6 settings" in str(figure.notes)
