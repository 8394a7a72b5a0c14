"""The study of many quantiles, from a small run; wrong exact values are found.

Seeds are fixed. The run has some dozen comparisons, each with a false-alarm rate of a per cent for a fresh seed.
"""

import numpy as np
import pandas as pd
import pytest
from figure_rules import broken
from matplotlib.text import Text

from tcdp_sim import results
from tcdp_sim.experiments import quantiles as experiment
from tcdp_sim.report import plots
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


def row(method, error, **more):
    """A row of the table, with an interval of 1% on either side."""
    ends = {"": error, "_mcse": error / 200, "_lower": 0.99 * error, "_upper": 1.01 * error}
    numbers = {name + end: each for name in ("mean_rank_error", "mean_value_error") for end, each in ends.items()}
    privacy = {"rho": 0.1, "omega": np.nan, "epsilon": np.nan, "delta": np.nan, "guarantee": "0.1-zCDP"}
    place = {"neighbours": "substitute", "records": "bell", "domain": "reals", "log2_k": 8, "m": 9, "n": 1000}
    return {"method": method, "mean_rank_error_exact": np.nan} | numbers | privacy | place | more


def drawn(rows):
    return {name: (figure, part) for name, figure, part in experiment.figures(pd.DataFrame(rows))}


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def test_errors_along_budgets_name_the_best_method_at_both_ends():
    budgets = (0.1, 0.3, 1.0, 3.0)
    rows = [row("joint", 40 / rho, rho=rho, log2_k=k) for rho in budgets for k in (8, 64)]
    rows += [row("recursive", 60 if k == 8 else 300, rho=rho, log2_k=k) for rho in budgets for k in (8, 64)]
    rows += [row("joint", 7.0, rho=1.0, log2_k=32), *rows[:2]]  # another domain at one budget, and cells of two blocks
    figures = drawn(rows)
    assert {*figures} == {"error_vs_rho"}
    figure, part = figures["error_vs_rho"]
    assert len(part) == 16
    title = (
        "From ρ = 0.1 to 3 the method of least error for 9 quantiles is AQ, recursive, then JointExp, on domains of "
    )
    title += "$2^{8}$ and none, then JointExp, on domains of $2^{64}$"
    assert figure.get_suptitle().replace("\n", " ") == title
    assert len(figure.legends[0].get_texts()) == 2  # no entry for exact values, which nobody knows here


def test_errors_by_records_show_what_ties_do():
    shapes = ("uniform", "bell", "ties")
    rows = [row("joint", 900 if shape == "ties" else 2, records=shape) for shape in shapes]
    rows += [row("tree_search", 3, records=shape) for shape in shapes]
    rows += [row("tree_search", 0.0, records="delays", domain="integers", n=5000, log2_k=11)]
    figure, _ = drawn(rows)["errors_by_records"]
    title = "The value errors of 9 quantiles of records with ties under 0.1-zCDP are "
    title += "3 (search in a deep noisy tree) to 900 (JointExp) units on reals"
    assert figure.get_suptitle().replace("\n", " ") == title
    assert "delays\nn = 5,000\nin $2^{11}$" in texts(figure)
    scaled = [error for bars in figure.axes[0].containers for error in bars.lines[0].get_ydata()]
    assert max(scaled) == pytest.approx(9.0)  # 900 records, of 100 between neighbouring quantiles


def test_maps_tell_whether_the_second_method_is_worse_beyond_chance():
    errors = {"joint": 5.0, "recursive": 5.01, "tree_search": 9.0}
    rows = [row(method, error, m=m, n=n) for method, error in errors.items() for m in (1, 9) for n in (100, 1000)]
    rows += [row("independent", 2.5, m=1, n=100)]
    figure, _ = drawn(rows)["best_method"]
    title = (
        "Under 0.1-zCDP the least mean rank error is that of JointExp in 3 and independent exponential mechanisms in 1"
    )
    assert " ".join(figure.get_suptitle().split()) == f"{title}, in 1 of 4 cells beyond chance"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "indep.: independent exponential mechanisms",
        "AQ: AQ, recursive",
        "Joint: JointExp",
    ]
    assert "Joint\n0.05\n≈ AQ" in texts(figure)
    assert "indep.\n0.05\nJoint ×2" in texts(figure)


def test_the_legend_of_a_narrow_figure_stays_on_the_paper():
    methods = ("independent", "recursive", "joint", "above_threshold", "tree_search", "least_squares_2", "square_root")
    rows = [row(method, 3, records=shape) for method in methods for shape in ("uniform", "bell", "ties")]
    with plots.style():
        figure, _ = drawn(rows)["errors_by_records"]
        figure.draw_without_rendering()
    assert broken(figure) == []


def test_value_errors_are_drawn_over_the_least_one_of_the_records():
    """Errors of 20 and 5 units are 4 and 1 times the least. Where one is exact, the least is the floor."""
    rows = [row(method, value, records=shape) for shape in ("uniform", "bell") for method, value in ERRORS.items()]
    rows += [row("joint", 0.0, records="ties"), row("recursive", 0.002, records="ties")]
    figure, _ = drawn(rows)["errors_by_records"]
    heights = sorted(value for bars in figure.axes[1].containers for value in bars.lines[0].get_ydata())
    np.testing.assert_allclose(heights, [1e-3, 1, 1, 2, 4, 4])
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()][1:] == [
        "bell\nleast: 5",
        "ties\nleast: 0.001",
    ]


ERRORS = {"joint": 20.0, "recursive": 5.0}
