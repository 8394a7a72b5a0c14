"""Figure 1 reproduced: the largest tails of the privacy loss by notion, and the tails of mechanisms below them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.exact import PrivacyLossDistribution
from tcdp_sim.experiments.papers.gather.runs import Run
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit
from tcdp_sim.noise import Noise
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, Guarantee, PureDP, loss_tail_bound
from tcdp_sim.report.looks import DASHES, line_of, marks_of, noise_look
from tcdp_sim.report.plots import GREY, headed, new_figure, points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RHO, OMEGA, DELTA = 0.1, 3.0, 1e-3
EPSILON = float(np.sqrt(2 * RHO))
PROMISES: Mapping[str, tuple[Guarantee, str]] = {  # name -> guarantee, and the family whose noise is shown
    "pure DP": (PureDP(EPSILON), "laplace"),
    "(ε, δ)-DP": (ApproxDP(EPSILON, DELTA, "as drawn"), "truncated_laplace"),
    "zCDP": (ZCDP(RHO), "gaussian"),
    "tCDP": (TCDP(RHO, OMEGA), "sinh_normal"),
    "Rényi DP": (RDP(OMEGA, RHO * OMEGA), ""),
}
SIMULATED = {"pure DP": "laplace", "zCDP": "gaussian"}  # notions with a simulated noise in the study of these targets
LEAST = 1e-8  # lower end of the vertical axis
RENYI = {"color": GREY, "linewidth": 3.4, "linestyle": (0, (1.4, 0.7))}  # it runs below the line of tCDP


def tails(budget: Budget) -> pd.DataFrame:
    """Return rows of notion, t (nats) and P[loss > t]: the largest, and that of a noise, exact and simulated."""
    rows: list[dict[str, Any]] = []
    for name, (promise, family) in PROMISES.items():
        noise = _noise(family, promise) if family else None
        rows += [_row(name, float(t), promise, noise) for t in np.linspace(0, 3, budget.choose(61, 121))]
    for name, noise_name in SIMULATED.items():
        rows += [{"notion": name, **point} for point in _simulated(budget.runs["privacy_loss"], noise_name)]
    return pd.DataFrame(rows)


def _noise(family: str, promise: Guarantee) -> Noise:
    """Return the noise of a family that minimises the largest of 1e12 errors. It is the least like Gaussian noise."""
    return calibrate(family, promise, objective=LargestError(1e12)).noise


def _row(name: str, t: float, promise: Guarantee, noise: Noise | None) -> dict[str, Any]:
    exact = float(PrivacyLossDistribution(noise, 1.0).sf(t)) if noise is not None else np.nan
    return {"notion": name, "t": t, "bound": loss_tail_bound(promise, t), "exact": exact}


def _simulated(run: Run, noise: str) -> Iterator[dict[str, Any]]:
    for cell in run.cells(noise=noise, rho=RHO):
        t = cell["epsilon"]
        if t not in (None, "") and 0 <= float(t) <= 3 and (mean := cell.mean("loss_tail")).estimate > LEAST:
            ends = mean.estimate - 1.96 * mean.mcse, mean.estimate + 1.96 * mean.mcse
            yield {"t": float(t), "simulated": mean.estimate, "lower": max(ends[0], LEAST), "upper": ends[1]}


def draw(table: pd.DataFrame) -> "Figure":
    """Draw each notion as its noise looks: full lines are envelopes, thin dashed ones exact tails, marks simulated."""
    figure, axes = new_figure(1, 1, 6.6, 3.8)
    axes = axes[0, 0]
    for (name, rows), front in zip(table.groupby("notion", sort=False), (6, 4, 3, 5, 2)):
        family = PROMISES[str(name)][1]
        look = noise_look(family) if family else {"color": GREY, "marker": ""}
        envelope = line_of(look) | {"linewidth": 1.7} if family else RENYI
        curve = rows[rows["bound"].notna()]
        bound, known = (curve[column].where(curve[column] > 0) for column in ("bound", "exact"))
        axes.plot(curve["t"], bound, zorder=front, label=name, **envelope)
        axes.plot(curve["t"], known, color=look["color"], linewidth=0.9, linestyle=DASHES[3], zorder=front)
        drawn = rows[rows["simulated"].notna() & (rows["simulated"] > 0)] if "simulated" in rows else rows[:0]
        if len(drawn):
            points(axes, drawn["t"], drawn["simulated"], drawn["lower"], drawn["upper"], zorder=7, **marks_of(look))
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 2)
    axes.set_xlim(0, 3)
    axes.set_yticks([1, 1e-2, 1e-4, 1e-6, 1e-8], ["1", "1e-2", "1e-4", "1e-6", "1e-8"])
    axes.minorticks_off()
    axes.set_xlabel("t (nats)")
    axes.set_ylabel("P[privacy loss > t]")
    keys = "full: the most allowed\ndashed: a noise, exact\nmarks: simulated, 95%"
    axes.legend(loc="lower left", title=keys, alignment="left")
    told = f"tCDP follows zCDP up to a loss of {RHO * (2 * OMEGA - 1):g} nats, and Rényi DP from there on"
    headed(figure, f"The largest tail under {told}")
    return figure


exhibit(
    Exhibit(
        "figure_1",
        "T",
        "Figure 1: tails of the privacy loss by notion",
        "The most that each notion allows P[privacy loss > t] to be, at ρ = 0.1, ω = 3, ε = √(2ρ), δ = 0.001 and Rényi "
        "order 3 with τ = 0.3; dashed, the exact tail of a noise with that guarantee, marks with 95% intervals the "
        "simulated one. Pure DP ends at ε; zCDP falls like a Gaussian; tCDP leaves that curve at t = ρ(2ω - 1) and "
        "goes on as a straight line, that of Rényi DP, which starts at τ; (ε, δ)-DP flattens out near δ.",
        tails,
        draw,
        needs=("privacy_loss",),
    )
)
