"""The study of prefix sums, from a small run; exact values that are wrong are found.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pytest

from tcdp_sim import results
from tcdp_sim.experiments import cdf as experiment
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

WORDS = ("experiment=cdf", "cluster=serial", "trials=400", "chunk=200", "sweep.k=[8,32]", "sweep.neighbours=add-remove")


def test_every_simulated_error_has_an_exact_one_and_figures_name_the_best(ran_once, tmp_path):
    said = ran_once(
        *WORDS,
        "sweep.method=[tree_2,square_root,weighted_square_root]",
        "sweep.noise=[gaussian,sinh_squared_tight]",
        "sweep.omega_sqrt_rho=2",
        "sweep.rho=0.1",
    )
    folder = tmp_path / "results" / "cdf"
    table = published.table(experiment, results.open_cells(folder).load())
    assert len(table) == 12
    off = (table["root_mean_square"] - table["root_mean_square_exact"]).abs()
    assert (off < 5.5 * table["root_mean_square_mcse"]).all()
    gaussian = table[table["noise"] == "gaussian"]
    assert (gaussian["root_mean_square_exact"] >= gaussian["root_mean_square_limit"]).all()
    assert gaussian["exceeds_bound"].max() < 0.12  # 5%, and 6.4 standard errors of 400 trials
    best = gaussian.loc[gaussian[gaussian["k"] == 32]["root_mean_square_exact"].idxmin()]
    assert best["method"] == "weighted_square_root"
    assert contradictions.find(table).empty
    assert len(contradictions.find(table.assign(root_mean_square_exact=1.3 * table["root_mean_square_exact"]))) == 12
    assert "none contradicts it beyond chance" in said
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {"errors_add_remove", "noises"}


def test_other_noise_stands_beside_gaussian_noise_at_the_same_point(ran_once, tmp_path):
    ran_once(
        *WORDS,
        "sweep.method=[tree_2,square_root,weighted_square_root]",
        "sweep.noise=[gaussian,sinh_squared_tight]",
        "sweep.omega_sqrt_rho=2",
        "sweep.rho=0.1",
    )
    table = published.table(experiment, results.open_cells(tmp_path / "results" / "cdf").load())
    beside = experiment._beside_gaussian(table, table[table["root_mean_square_limit"].notna()])
    assert len(beside) == 6
    for row in beside.to_dict("records"):
        same = (table["method"] == row["method"]) & (table["k"] == row["k"]) & (table["noise"] == "gaussian")
        truth = row["root_mean_square_exact"] / table[same]["root_mean_square_exact"].item()
        assert row["root_mean_square_exact_ratio"] == pytest.approx(truth)
    assert (beside["root_mean_square_exact_ratio"] > 1).all()
    assert np.isfinite(beside["largest_error_q95_ratio_half"]).all()
