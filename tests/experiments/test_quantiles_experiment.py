"""The study of many quantiles, from a small run; wrong exact values are found.

Seeds are fixed. The run has some dozen comparisons, each with a false-alarm rate of a per cent for a fresh seed.
"""

from tcdp_sim import results
from tcdp_sim.experiments import quantiles as experiment
from tcdp_sim.results import published
from tcdp_sim.statistics import contradictions

WORDS = (
    *(
        "experiment=quantiles",
        "cluster=serial",
        "trials=2000",
        "chunk=1000",
        "sweep.method=[independent,joint,recursive]",
    ),
    *("sweep.m=[1,2,3,5]", "sweep.n=[40,60]", "sweep.log2_k=[8,16]", "sweep.domain=reals", "sweep.records=bell"),
    *("sweep.neighbours=add-remove", "sweep.rho=0.5"),
)


def test_errors_stand_beside_exact_values_and_figures_are_drawn(ran_once, tmp_path):
    said = ran_once(*WORDS)
    folder = tmp_path / "results" / "quantiles"
    table = published.table(experiment, results.open_cells(folder).load())
    assert len(table) == 3 * 4 * 2 * 2
    known = table[table["mean_rank_error_exact"].notna()]
    assert {*known["method"]} == {"independent", "joint", "recursive"}
    off = (known["mean_rank_error"] - known["mean_rank_error_exact"]).abs()
    assert (off < 5.5 * known["mean_rank_error_mcse"] + 1e-9).all()
    several = table[(table["method"] == "independent") & (table["m"] > 1)]
    assert (several["mean_rank_error"] < several["mean_rank_error_bound"] + 3 * several["mean_rank_error_mcse"]).all()
    assert contradictions.find(table).empty
    wrong = known.assign(mean_rank_error_exact=1.5 * known["mean_rank_error_exact"])
    assert len(contradictions.find(wrong)) > len(known) / 2
    assert "none contradicts it beyond chance" in said
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {"best_method", "error_vs_m"}
