"""The study of what a release says, from a small run.

Simulated and exact values are compared at 5.5 standard errors: for a fresh seed a false-alarm rate of 4e-8 each.
"""

import numpy as np
import pytest
from figure_lines import curve, curves, key

from tcdp_sim import results
from tcdp_sim.experiments import information
from tcdp_sim.report import plots
from tcdp_sim.results import published

WORDS = ("experiment=information", "cluster=serial", "trials=1000", "chunk=1000")
SMALL = ("sweep.noise=[laplace,truncated_laplace,gaussian,sinh_normal_tight]", "sweep.k=[1,30]", "sweep.n=[1,4,9]")
once = {}  # the small study: run by the first test that needs it


@pytest.fixture
def table(command, tmp_path):
    if not once:
        code, out, err = command(*WORDS, *SMALL)
        assert (code, err) == (0, "")
        folder = tmp_path / "results" / "information"
        once["out"] = out
        once["table"] = published.table(information, results.open_cells(folder).load())
        once["files"] = sorted(path.name for path in (folder / "figures").iterdir())
    return once["table"].copy()


def test_simulated_exact_and_allowed_stand_side_by_side(table):
    assert len(table) == 4 * 2 * 3
    gap = (table["information"] - table["information_exact"]).abs()
    assert (gap <= 5.5 * table["information_mcse"] + 1e-9).all()
    assert (table["information_exact"] <= table["entropy"]).all()
    known = table["noise"] != "truncated_laplace"
    assert table["information_bound"].notna().equals(known)
    assert (table["information_exact"] < table["information_bound"])[known].all()
    assert "24 simulated numbers have an exact one beside them; none contradicts it" in once["out"]


def test_exact_values_and_bounds_are_those_of_formulas(table):
    """Gaussian: rho n^2; Laplace: epsilon n tanh(epsilon n / 2); tCDP with omega = sqrt(10) by hand."""
    epsilon, omega = np.sqrt(0.2), np.sqrt(10)
    growth, w = omega / (omega - 1), omega * (omega - 1)
    for noise, allowed in (
        ("gaussian", lambda n: 0.1 * n**2),
        ("laplace", lambda n: epsilon * n * np.tanh(epsilon * n / 2)),
        ("sinh_normal_tight", lambda n: 0.1 * np.where(n < 4, n**2, growth ** (n - 3) * (9 + w) - w)),
    ):
        rows = table[table["noise"] == noise]
        np.testing.assert_allclose(rows["information_bound"], allowed(rows["n"].to_numpy()), rtol=1e-12)
    bit = table[(table["noise"] == "gaussian") & (table["k"] == 1)].sort_values("n")
    x = np.linspace(-30, 40, 100_001)
    for n, truth in zip(bit["n"], bit["information_exact"]):
        halves = [np.exp(-((x - m) ** 2) / 10) / np.sqrt(10 * np.pi) for m in (0, n)]  # sigma^2 = 1 / (2 rho) = 5
        mix = sum(halves) / 2
        nats = sum(0.5 * p @ np.log(p / mix) for p in halves) * (x[1] - x[0])
        assert truth == pytest.approx(nats, rel=1e-7)


def test_the_figure_shows_what_is_in_the_table(table):
    with plots.style():
        ((name, figure, rows),) = information.figures(table)
    assert (name, len(rows)) == ("information_vs_n", len(table))
    assert [axes.get_title() for axes in figure.axes] == ["one count of a fair bit", "histogram of k = 30 bins"]
    assert figure.axes[0].get_ylabel() == "I(records; release) (nats)"
    assert len(figure.legends[0].get_texts()) <= 8
    most = table[(table["k"] == 30) & (table["n"] == 9)].set_index("noise")["information_exact"] / np.log(30)
    ends = f"{most['laplace']:.0%} (Laplace (pure DP)) to {most['gaussian']:.0%} (Gaussian) of the entropy"
    assert ends in " ".join(figure.get_suptitle().split())
    for axes, k in zip(figure.axes, (1, 30)):
        cells = table[(table["noise"] == "gaussian") & (table["k"] == k)].sort_values("n")
        x, y = curve(axes, key(figure, "Gaussian"), linewidth=plots.STYLE["lines.linewidth"])
        assert (list(x), list(y)) == ([1, 4, 9], list(cells["information_exact"]))
        own = [line for line in axes.lines if line.get_color() == key(figure, "Gaussian").get_color()]
        assert any(list(line.get_ydata()) == list(cells["information_bound"]) for line in own)
        ((_, entropy),) = curves(axes, key(figure, "all there is to know"))
        assert entropy[0] == np.log(max(k, 2))
