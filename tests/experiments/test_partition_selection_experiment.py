"""The study of private keys, from a small run; exact values that are wrong are found."""

import numpy as np

from tcdp_sim import results
from tcdp_sim.experiments import partition_selection as experiment
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

WORDS = ("experiment=partition_selection", "cluster=serial", "trials=400", "chunk=200", "data=flights_dest")


def test_simulated_numbers_stand_beside_exact_ones(ran_once, tmp_path):
    words = ("sweep.rho=[1e-4,1e-3]", "sweep.noise=[gaussian,discrete_laplace]", "sweep.comparison=at_least")
    said = ran_once(*WORDS, *words)
    folder = tmp_path / "results" / "partition_selection"
    table = published.table(experiment, results.open_cells(folder).load())
    assert {"optimum under tCDP", "threshold, Gaussian noise", "threshold, discrete Laplace noise (>=)"} <= set(
        table["series"]
    )
    assert (np.abs(table["keys"] - table["keys_exact"]) <= 5.5 * table["keys_mcse"]).all()
    assert (np.abs(table["records"] - table["records_exact"]) <= 5.5 * table["records_mcse"]).all()
    best = table[table["method"] == "optimal_tcdp"].groupby("rho")["keys_exact"].max()
    assert (table.groupby("rho")["keys_exact"].max() == best).all()
    assert contradictions.find(table).empty
    assert len(contradictions.find(table.assign(keys_exact=table["keys_exact"] * 1.01))) >= 4
    assert "none contradicts it beyond chance" in said
    assert "keys_flights_dest_by_rho" in {path.stem for path in (folder / "figures").glob("*.png")}
