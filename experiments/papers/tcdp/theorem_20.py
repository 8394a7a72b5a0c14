"""Our figure of Theorem 20: the success of both reductions at the gap that it requires."""

from typing import TYPE_CHECKING

import pandas as pd

from tcdp_sim import exact
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit
from tcdp_sim.noise import Gaussian
from tcdp_sim.report.labels import End, label_ends
from tcdp_sim.report.looks import DASHES, noise_look
from tcdp_sim.report.plots import GREY, WRONG, headed, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANCE, SCALE = 0.01, 10.0
ALGORITHMS = {"Algorithm 21": "generalized_histogram", "Algorithm 22": "obvious_answer"}


def success(budget: Budget) -> pd.DataFrame:
    """Return rows of algorithm, log10 of k, gap (counts), and the winner's probability with its bounds."""
    noise, rows = Gaussian(SCALE), []
    for exponent in budget.choose((1, 3, 6, 9, 12, 30, 100), (1, 2, 3, 4, 6, 8, 9, 12, 18, 24, 30, 50, 75, 100)):
        k = 10.0**exponent
        gap = 2 * float(noise.isf(CHANCE / (2 * k)))
        for name, algorithm in ALGORITHMS.items():
            low, middle, high = exact.selection_probability(algorithm, noise, gap, k)
            values = {"success": middle, "lower": low, "upper": high}
            rows.append({"algorithm": name, "log10_k": float(exponent), "gap": gap, **values})
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame) -> "Figure":
    """Draw a line for each algorithm, as the study of Gap-Max does."""
    figure, axes = new_figure(1, 1, 5.6, 3.2)
    axes = axes[0, 0]
    looks = {"Algorithm 21": noise_look("gaussian") | {"linestyle": DASHES[1], "fillstyle": "none"}}
    looks["Algorithm 22"] = {"color": WRONG, "marker": "X", "linestyle": "-"}
    ends = []
    for name, look in looks.items():
        rows = table[table["algorithm"] == name]
        axes.plot(rows["log10_k"], rows["success"], markersize=4, **look)
        ends.append(End(name, name, rows["log10_k"].iloc[-1], rows["success"].iloc[-1], look))
    axes.axhline(0.95, color=GREY, linewidth=0.8, linestyle=(0, (3, 3)))
    axes.annotate("0.95", (100, 0.945), color=GREY, fontsize=8, ha="right", va="top")
    axes.set_xscale("log")
    axes.set_xticks([1, 3, 6, 12, 30, 100], ["10", "1e3", "1e6", "1e12", "1e30", "1e100"])
    axes.minorticks_off()
    axes.set_ylim(0.4, 1.02)
    axes.set_xlabel("number of candidates k")
    axes.set_ylabel("P[the winner comes out]")
    label_ends(axes, ends)
    headed(figure, _finding(table))
    return figure


def _finding(table: pd.DataFrame) -> str:
    """Return in words how often Algorithm 22 finds the winner among the fewest and among the most candidates."""
    success = table.loc[table["algorithm"] == "Algorithm 22", "success"]
    fall = f"from {success.iloc[0]:.2g} to {success.iloc[-1]:.2g}"
    told = "Algorithm 21 finds the winner at the gap of Theorem 20"
    return f"{told}, and the more candidates, the less often Algorithm 22 does ({fall})"


exhibit(
    Exhibit(
        "theorem_20",
        "T",
        "Theorem 20 is about Algorithm 21, not Algorithm 22",
        "Exact success of both reductions with Gaussian noise of scale 10 at the gap where P[|X| ≥ gap/2] is 0.01/k. "
        "Algorithm 21 succeeds as the theorem says. Algorithm 22 succeeds less often the more candidates there are: "
        "it needs a gap of 4t + 2, about twice as much.",
        success,
        draw,
    )
)
