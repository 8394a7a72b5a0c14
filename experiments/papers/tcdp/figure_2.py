"""Figure 2 reproduced: N(0, 2), arsinh of it, and beside them a noise that Theorem 17 covers."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit
from tcdp_sim.noise import Gaussian, Noise, SinhNormal
from tcdp_sim.report.findings import listed
from tcdp_sim.report.looks import noise_look
from tcdp_sim.report.plots import headed, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGMA = float(np.sqrt(2))
GAUSSIAN = "Z ~ N(0, 2)"
PANELS: dict[str, Noise] = {
    GAUSSIAN: Gaussian(SIGMA),
    "as printed: arsinh(Z), A = 1": SinhNormal(SIGMA, 1.0),
    "Theorem 17: A arsinh(Z/A), A = √2σ": SinhNormal(SIGMA, SIGMA * float(np.sqrt(2))),
}
FLOOR = -20.0  # lower end of the logarithms' axis


def densities(budget: Budget) -> pd.DataFrame:
    """Return rows of law, x, density and log density."""
    x = np.linspace(-4, 4, budget.choose(161, 401))
    rows = [
        pd.DataFrame({"law": name, "x": x, "density": noise.pdf(x), "log_density": noise.logpdf(x)})
        for name, noise in PANELS.items()
    ]
    return pd.concat(rows, ignore_index=True)


def draw(table: pd.DataFrame) -> "Figure":
    """Draw densities above and their logarithms below."""
    figure, axes = new_figure(2, 3, 8.2, 4.2, sharex=True, sharey="row")
    for (name, rows), column in zip(table.groupby("law", sort=False), axes.T):
        look = noise_look("gaussian" if name == GAUSSIAN else "sinh_normal")
        for panel, values in zip(column, ("density", "log_density")):
            panel.plot(rows["x"], rows[values], color=look["color"])
        column[0].set_title(name, fontsize=9)
        column[1].set_ylim(FLOOR, 0)
        column[1].set_xlabel("x (counts)")
    axes[0, 0].set_ylabel("density (per count)")
    axes[0, 0].set_ylim(0, None)
    axes[1, 0].set_ylabel("log density (nats)")
    laws = table.groupby("law", sort=False)
    told = listed(f"that of {str(name).partition(':')[0]} peaks {_modes(rows)}" for name, rows in laws)
    headed(figure, f"Of the densities, {told}")
    return figure


def _modes(rows: pd.DataFrame) -> str:
    """Return in words where a density has its peaks."""
    x, density = rows["x"].to_numpy(), rows["density"].to_numpy()
    peaks = x[1:-1][(density[1:-1] >= density[:-2]) & (density[1:-1] > density[2:])]
    return "at " + " and ".join(f"{peak:.2g}".replace("-", "−") for peak in peaks)


exhibit(
    Exhibit(
        "figure_2",
        "T",
        "Figure 2: sinh-normal noise beside the Gaussian",
        "Densities and their logarithms of Z ~ N(0, 2), of arsinh(Z) as the paper draws it, and of sinh-normal noise "
        "that Theorem 17 covers (σ² = 2, A = √2σ). "
        "The paper's own choice has two modes, at ±0.881, and is outside the theorem.",
        densities,
        draw,
    )
)
