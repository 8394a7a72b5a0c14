"""The study of private candidates, from a small run; exact values that are wrong are found."""

import numpy as np

from tcdp_sim import results
from tcdp_sim.experiments import private_candidates as experiment
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

WORDS = (
    "experiment=private_candidates",
    "cluster=serial",
    "trials=2000",
    "chunk=1000",
    "sweep.method=[poisson,all_runs,exponential_mechanism]",
    "sweep.k=10",
    "sweep.tries=[5,20]",
    "sweep.accounting=[paper,tight]",
    "sweep.problem=even",
    "sweep.records=[300,3000]",
)


def test_simulated_choices_stand_beside_exact_ones_and_bounds_beside_divergences(ran_once, tmp_path):
    said = ran_once(*WORDS)
    folder = tmp_path / "results" / "private_candidates"
    table = published.table(experiment, results.open_cells(folder).load())
    choices, curves = (table[table["kind"] == kind] for kind in ("choice", "divergence"))
    assert choices["accuracy_loss_exact"].notna().all()
    gap = (choices["accuracy_loss"] - choices["accuracy_loss_exact"]).abs()
    assert (gap <= 5.5 * choices["accuracy_loss_mcse"] + 1e-6).all()
    assert contradictions.find(table).empty
    wrong = table.assign(accuracy_loss_exact=1.3 * table["accuracy_loss_exact"])
    assert len(contradictions.find(wrong)) > 5
    tries = choices[choices["method"] == "poisson"].groupby("accounting")["accuracy_loss_exact"].mean()
    assert tries["tight"] < tries["paper"]
    assert (curves["attained"] <= curves["tight"] * (1 + 1e-9)).all()
    assert (curves["tight"] < curves["theorem"]).mean() > 0.95
    poisson = curves[curves["method"] == "poisson"]
    np.testing.assert_allclose(poisson["attained"], poisson["tight"], rtol=0.01)
    assert "none contradicts it beyond chance" in said
    drawn = {path.stem for path in (folder / "figures").glob("*.png")}
    assert drawn == {"candidates_loss_vs_records", "candidates_loss_vs_runs", "candidates_divergence"}
