"""The study of released counts, from a small run, and a user's own list from the command line."""

import numpy as np
import pandas as pd
import pytest

from tcdp_sim import results
from tcdp_sim.accounting import CountReleases
from tcdp_sim.experiments import census
from tcdp_sim.experiments.census import drawing
from tcdp_sim.report import plots
from tcdp_sim.results import published

WORDS = ("experiment=census", "cluster=serial", "trials=4000", "chunk=2000")
SMALL = (
    *WORDS,
    "sweep.list=[synthetic_b,synthetic_b2]",
    "sweep.delta=[1e-10,1e-35]",
    "sweep.variances=[published,best]",
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "census"


def table(folder):
    return published.table(census, results.open_cells(folder).load())


def row(rows, **asked):
    for name, value in asked.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_brackets_stand_beside_the_formulas_and_variances_at_equal_privacy(ran_once, folder):
    said = ran_once(*SMALL)
    rows = table(folder)
    assert len(rows) == 8
    own = row(rows, list="synthetic_b", delta=1e-35, variances="published")
    assert own["epsilon_low"] <= 61.24609086 <= own["epsilon_high"] <= own["epsilon_low"] * (1 + 2e-6)
    assert own["epsilon_continuous"] == pytest.approx(61.23264, abs=1e-5)
    assert own["epsilon_continuous"] < own["epsilon_low"]
    assert own["epsilon_high"] < own["epsilon_best"] < own["epsilon_simple"]
    assert "too low by 0.013" in said
    for name, cut in (("synthetic_b", 0.0583), ("synthetic_b2", 0.0610)):
        reduced = row(rows, list=name, delta=1e-10, variances="best")
        assert 1 - reduced["factor"] == pytest.approx(cut, abs=6e-5)
        at_first = row(rows, list=name, delta=1e-10, variances="published")
        assert reduced["target"] == at_first["epsilon_best"]
        assert at_first["epsilon_high"] < reduced["epsilon_high"] <= reduced["target"]
        assert reduced["rms_error_exact"] < at_first["rms_error_exact"]
    assert set(rows["neighbours"]) == {"add-remove"}
    spread = 5.5 * rows["mean_square_error_mcse"]
    assert ((rows["mean_square_error"] - rows["mean_square_error_exact"]).abs() < spread).all()
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {"epsilon"}


def test_a_list_of_ones_own_by_level_and_query(command, tmp_path, folder):
    (tmp_path / "mine.csv").write_text(
        "level,query,sigma_squared\nstate,total,2\nstate,age,30\ncounty,age,1e3\n", "utf-8"
    )
    mine = "+mechanism.lists.mine={path: mine.csv, sigma_squared: sigma_squared, relation: substitute}"
    code, said, err = command(
        *WORDS, mine, "sweep.list=mine", "sweep.delta=1e-6", "sweep.level=state", "sweep.query=[total,age]"
    )
    assert code == 0, err
    rows = table(folder)
    assert list(rows["query"]) == ["total", "age"]
    assert set(rows["neighbours"]) == {"substitute"}
    truth = CountReleases([2.0, 30.0, 1000.0], "substitute").ledger().epsilon(1e-6, 1e-6)
    for each in rows.to_dict("records"):  # the whole list is accounted for, whatever is shown
        assert each["epsilon_low"] <= truth.upper
        assert truth.lower <= each["epsilon_high"]
    assert row(rows, query="age")["rms_error_exact"] == pytest.approx(30**0.5, rel=1e-9)
    assert {path.stem for path in (folder / "figures").glob("*.png")} == {"epsilon", "errors_mine"}
    assert "Errors of one released count" in said
    drawn = pd.read_csv(folder / "figures" / "errors_mine.csv")
    assert len(drawn) == 2


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("level,query,sigma_squared\nx,a,-2\n", (), "'-2' is not valid"),
        ("level,query,sigma_squared\nx,a,2\n", ("sweep.level=y",), "no histogram of level 'y'"),
        ("level,query,sigma\nx,a,2\n", (), "sigma_squared"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(command, tmp_path, text, words, said):
    (tmp_path / "mine.csv").write_text(text, "utf-8")
    mine = "+mechanism.lists.mine={path: mine.csv, sigma_squared: sigma_squared, relation: substitute}"
    code, _, err = command(*WORDS, mine, "sweep.list=mine", "sweep.delta=1e-6", *words)
    assert code == 2
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_an_excess_is_drawn_over_both_ends_of_the_bracket():
    """The exact epsilon is in [10, 12.5]: a formula of 25 is above by 100% to 150%, and one of 11 may be exact."""
    row = {"list": "mine", "delta": 1e-10, "epsilon_low": 10.0, "epsilon_high": 12.5}
    own = pd.DataFrame([row | {"epsilon_simple": 25.0, "epsilon_best": 11.0, "epsilon_continuous": 5.0}])
    axes = drawing._epsilons(own, own[:0]).axes[0]
    ends = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2 and line.get_ydata()[1] == 0]
    assert ends == [pytest.approx((100, 150)), (0, 0), pytest.approx((-60, -50))]
    middles = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert middles == pytest.approx([125, 0, -55])


def test_errors_at_equal_privacy_are_drawn_over_those_of_published_variances():
    """Errors of 20 and 40 counts: those of the best conversion are 5% and 10% smaller, and simulated 4% and 11%."""
    rows = []
    for level, published_error, least, simulated in (("US", 20.0, 0.95, 0.96), ("State", 40.0, 0.9, 0.89)):
        for variances, exact, seen in (("published", 1.0, 1.01), ("best", least, simulated)):
            row = {"list": "mine", "query": "total", "level": level, "variances": variances, "rho": 1.0}
            row |= {"rms_error": seen * published_error, "rms_error_exact": exact * published_error}
            rows.append(
                row | {f"rms_error_{end}": by * row["rms_error"] for end, by in (("lower", 0.9), ("upper", 1.1))}
            )
    with plots.style():
        figure = drawing._errors(pd.DataFrame(rows), "mine")
    errors, ratios = figure.axes
    assert [list(bars.lines[0].get_ydata()) for bars in errors.containers] == [[20.2, 40.4]]
    (bars,) = ratios.containers
    np.testing.assert_allclose(bars.lines[0].get_ydata(), [0.96, 0.89])
    exact = [segment[0, 1] for segment in ratios.collections[0].get_segments()]
    np.testing.assert_allclose(exact, [0.95, 0.9])
    assert ratios.get_yscale() == "linear"
    assert "smaller by 5% to 10%" in " ".join(figure.get_suptitle().split())
