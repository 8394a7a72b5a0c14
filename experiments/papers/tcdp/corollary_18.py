"""Our figure of Corollary 18: how much of what it claims is used up, along the window that is printed."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from tcdp_sim.experiments.papers.orders import largest_over_order
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit

from tcdp_sim import exact
from tcdp_sim.noise import SinhNormal
from tcdp_sim.report.looks import COLOURS, DASHES
from tcdp_sim.report.plots import GREY, WRONG, new_figure, plain_log_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED, PROVED = 0.125, float(np.sqrt(0.5))  # omega sqrt(rho) from where on it is printed, and proved


def spent(budget: Budget) -> pd.DataFrame:
    """rho, omega_sqrt_rho, and the largest 2 D / (rho order) with its bounds, for omega > 1."""
    rows = []
    for rho in (1e-2, 1e-4, 1e-6):
        for product in np.geomspace(0.11, 1.2, budget.choose(13, 49)):
            if (omega := product / np.sqrt(rho)) > 1:
                noise = SinhNormal(scale=4 / np.sqrt(rho), knee=8 * omega)
                ratio = largest_over_order(partial(exact.renyi_divergence, noise, 1.0), omega, 1e-3)
                low, middle, high = (2 / rho * end for end in ratio)
                rows.append({"rho": rho, "omega_sqrt_rho": product, "spent": middle, "lower": low, "upper": high})
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame) -> "Figure":
    """A line a rho; the printed window begins left of where the claim becomes true."""
    figure, axes = new_figure(1, 1, 6.2, 3.4)
    axes = axes[0, 0]
    for (rho, rows), colour, dashes in zip(table.groupby("rho", sort=False), COLOURS[1:], DASHES):
        axes.plot(rows["omega_sqrt_rho"], rows["spent"], color=colour, linestyle=dashes, label=f"ρ = {rho:g}")
    axes.axhline(1, color=WRONG, linewidth=1)
    axes.annotate("claimed: at most 1", (1.18, 1.06), color=WRONG, ha="right", fontsize=8)
    for place, text in ((PRINTED, "printed from here"), (PROVED, "proved from here")):
        axes.axvline(place, color=GREY, linewidth=0.8, linestyle=(0, (3, 3)))
        axes.annotate(text, (place, 0.075), rotation=90, color=GREY, fontsize=8, ha="right", va="bottom")
    axes.set_xscale("log")
    axes.set_xticks([0.125, 0.17, 0.25, 0.5, 0.7071, 1], ["0.125", "0.17", "0.25", "0.5", "0.707", "1"])
    axes.minorticks_off()
    plain_log_axis(axes)
    axes.set_xlabel("ω√ρ")
    axes.set_ylabel("largest 2 D / (ρ order), order < ω")
    axes.legend(loc="lower left", bbox_to_anchor=(0.12, 0))
    return figure


exhibit(
    Exhibit(
        "corollary_18",
        "T",
        "Corollary 18 is false at the small end of its window",
        "The divergence of a histogram with the corollary's noise over what it claims, at the worst order below ω: "
        "above 1 the claim is false. It is printed from ω√ρ = 1/8 on, is true from about 0.17, and proved from 1/√2.",
        spent,
        draw,
    )
)
