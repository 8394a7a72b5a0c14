"""The study of the 276 real selection problems, from a small run."""

import pandas as pd
import pytest
from omegaconf import OmegaConf

from tcdp_sim import exact, results
from tcdp_sim.data.selection_problems import selection_problems
from tcdp_sim.experiments import gap_max_names
from tcdp_sim.experiments.gap_max.name_problems import problem_of
from tcdp_sim.noise import Gaussian
from tcdp_sim.report import plots
from tcdp_sim.results import published
from tcdp_sim.study import groups

ONE = selection_problems()[0].at(1e4)
WORDS = ("experiment=gap_max_names", "cluster=serial", "trials=1000", "chunk=500", "sweep.rho=[1e-4,1e-2]")


def test_the_default_cells_are_real_problems():
    spec = OmegaConf.to_container(OmegaConf.load(str(groups.GROUPS / "experiment" / "gap_max_names.yaml")))
    axes = spec["experiment"]["axes"]
    found = [problem_of(k, gap) for k, gap in zip(axes["k"], axes["gap"])]
    assert found == ["1880 F: Mary, Anna", "1886 M: John, William", "1990 F: Jessica, Ashley"]


def test_a_small_study(command, tmp_path):
    code, out, err = command(*WORDS, "sweep.algorithm=[obvious_answer,stability]", "sweep.noise=gaussian")
    assert (code, err) == (0, "")
    assert "276 problems" in out
    table = published.table(gap_max_names, results.open_cells(tmp_path / "results" / "gap_max_names").load())
    one, every = (table[table["kind"] == kind] for kind in ("one", "all"))
    assert len(one) == 2 * 2 * 3
    assert len(every) == 2 * 2 * 3
    means = every.pivot_table(index=["series", "rho"], columns="n", values="mean")
    assert (means[1e3] <= means[1e4]).all()
    assert (means[1e4] < means[1e5]).all()
    assert every["mean"].between(every["first_quartile"] * 0.2, 1).all()
    with plots.style():
        ((name, figure, shown),) = gap_max_names.figures(table)
    assert name == "real_problems"
    assert [axes.get_title()[:10] for axes in figure.axes[3:]] == ["1880 F: Ma", "1886 M: Jo", "1990 F: Je"]
    assert "law" not in shown
    written = pd.read_csv(tmp_path / "results" / "gap_max_names" / "figures" / "real_problems.csv")
    assert len(written) == len(table)


@pytest.mark.slow
def test_the_mean_is_that_of_the_problems_one_by_one(command, tmp_path):
    where = (f"sweep.k={ONE.k:.0f}", f"sweep.gap={ONE.gap:.12g}", "experiment.axes.zip=null")
    code, _, err = command(*WORDS, *where, "sweep.algorithm=obvious_answer", "sweep.noise=gaussian")
    assert code == 0, err
    table = published.table(gap_max_names, results.open_cells(tmp_path / "results" / "gap_max_names").load())
    found = table[(table["kind"] == "all") & (table["rho"] == 0.01) & (table["n"] == 1e5)]["mean"].item()
    noise = Gaussian(50**0.5)
    chances = [
        exact.selection_probability("obvious_answer", noise, p.at(1e5).gap, p.k).estimate for p in selection_problems()
    ]
    assert found == pytest.approx(sum(chances) / 276, rel=1e-9)


def test_other_cells_are_told_where_to_go(command):
    words = ("sweep.algorithm=stability", "sweep.k=50", "sweep.gap=7", "experiment.axes.zip=null")
    code, _, err = command(*WORDS, *words)
    assert code == 2
    assert "k = 50, gap = 7, m = 1 is no problem of the first names among 10,000 records; use experiment=gap_max" in err
