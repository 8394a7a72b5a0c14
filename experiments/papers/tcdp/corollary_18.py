"""Our figure of Corollary 18: the share of its budget that two noises spend, along the printed window."""

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit
from tcdp_sim.noise import SinhNormal, SinhSquared
from tcdp_sim.report.findings import listed
from tcdp_sim.report.labels import End, label_ends
from tcdp_sim.report.looks import line_of, noise_look
from tcdp_sim.report.plots import GREY, headed, new_figure, plain_log_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOISES = {"sinh-normal": SinhNormal, "sinh-squared": SinhSquared}
LOOKS = {"sinh-normal": noise_look("sinh_normal"), "sinh-squared": noise_look("sinh_squared", "tight")}
PRINTED, PROVED = 0.125, float(np.sqrt(0.5))  # omega sqrt(rho) from which on it is printed, and proved


def spent(budget: Budget) -> pd.DataFrame:
    """Return the noise, rho, omega_sqrt_rho, and the largest 2 D / (rho order) with its bounds, for omega > 1."""
    rows = []
    for (name, family), rho in product(NOISES.items(), (1e-2, 1e-4, 1e-6)):
        for scaled in np.unique([PRINTED, *np.geomspace(0.11, 1.2, budget.choose(13, 49))]):
            if (omega := scaled / np.sqrt(rho)) > 1:
                noise = family(scale=4 / np.sqrt(rho), knee=8 * omega)
                low, middle, high = largest_cost(noise, omega) * (2 / rho)
                values = {"spent": middle, "lower": low, "upper": high}
                rows.append({"noise": name, "rho": rho, "omega_sqrt_rho": scaled} | values)
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame) -> "Figure":
    """Draw a line for each noise and rho, and where the corollary is printed and its proof begins."""
    figure, axes = new_figure(1, 1, 6.2, 3.4)
    axes = axes[0, 0]
    ends = []
    for name, look in LOOKS.items():
        own = table[table["noise"] == name]
        for _, rows in own.groupby("rho", sort=False):
            axes.plot(rows["omega_sqrt_rho"], rows["spent"], linewidth=0.9, **line_of(look))
        ends.append(End(name, name, own["omega_sqrt_rho"].iloc[-1], own["spent"].iloc[-1], line_of(look)))
    axes.axhline(1, color=GREY, linewidth=1.2, linestyle=(0, (6, 1)))
    axes.annotate("allowed: at most 1", (0.25, 1.06), color=GREY, fontsize=8)
    for place, text, low in ((PRINTED, "printed from here", 0.045), (PROVED, "its proof from here", 0.14)):
        axes.axvline(place, color=GREY, linewidth=0.8, linestyle=(0, (3, 3)))
        axes.annotate(text, (place, low), rotation=90, color=GREY, fontsize=8, ha="right", va="bottom")
    axes.set_xscale("log")
    axes.set_ylim(0.04, 3)
    axes.set_xticks([0.125, 0.17, 0.25, 0.5, 0.7071, 1], ["0.125", "0.17", "0.25", "0.5", "0.707", "1"])
    axes.minorticks_off()
    plain_log_axis(axes)
    axes.set_xlabel("ω√ρ")
    axes.set_ylabel("largest 2 D / (ρ order), order < ω")
    axes.annotate(_together(table), (0.15, 0.045), color=GREY, fontsize=8)
    label_ends(axes, ends)
    headed(figure, _worst(table))
    return figure


def _together(table: pd.DataFrame) -> str:
    """Return in words by how much the lines of several rho differ at most."""
    at = table[table["omega_sqrt_rho"] >= PRINTED].groupby(["noise", "omega_sqrt_rho"])["spent"]
    sizes = ", ".join(f"{rho:g}" for rho in table["rho"].unique())
    return f"ρ = {sizes}: lines within {100 * (at.max() / at.min() - 1).max():.2g}%"


def _worst(table: pd.DataFrame) -> str:
    """Return in words the largest share of its budget that each noise spends where the corollary is printed."""
    printed = table[table["omega_sqrt_rho"] >= PRINTED].groupby("noise", sort=False)["spent"].max()
    told = listed(f"{share:.3g} of its budget with {name} noise" for name, share in printed.items())
    return f"From ω√ρ = 1/8 on, as it is printed, Corollary 18 spends up to {told}"


exhibit(
    Exhibit(
        "corollary_18",
        "T",
        "Corollary 18 holds, with another noise than that of its proof",
        "The divergence of a histogram over what (ρ, ω)-tCDP allows, at the worst order below ω. The corollary is "
        "printed from ω√ρ = 1/8 on. The sinh-normal noise of its proof is covered by the proof from 1/√2 on, and it is "
        "too little below ω√ρ = 0.1703. Sinh-squared noise, with the same accuracy, stays below 1 in the whole window.",
        spent,
        draw,
    )
)
