"""The coverage of five 95% confidence intervals for a proportion: simulated, with the exact values beside.

Table and figure follow Brown, Cai, DasGupta (2001), Interval estimation for a binomial proportion, Statistical Science
16(2), 101-133, https://doi.org/10.1214/ss/1009213286. Nothing here is about privacy. Three statements are recomputed:

- For p = 0.005, the coverage of the Wald interval falls from 0.945 at n = 591 to 0.792 at n = 592.
- More data may cover less: for p = 0.2, the Wald interval is better at n = 30 than at n = 98.
- The coverage of the other intervals stays closer to 0.95, and the Clopper-Pearson interval never falls below it.

Run it with `python examples/coverage_of_intervals.py`, or with another number of trials than 1e4 as its last word.
"""

import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure
from scipy.stats import beta, binom, norm

import tcdp_sim
from tcdp_sim.report import looks, plots, saving

LEVEL = 0.95
Z = norm.ppf(0.5 + LEVEL / 2)
TAIL = 0.5 - LEVEL / 2

PAIRS = [(591, 0.005), (592, 0.005), (30, 0.2), (98, 0.2), (17, 0.5), (40, 0.5)]  # (n, p) of the table
N = 50  # sample size of the figure
LEAST, MOST = 0.025, 0.5  # values of p in the figure; the coverage at 1 - p equals that at p
DRAWN, CURVE = 21, 2000  # simulated points and points of the exact line in a panel
LOWEST = 0.84  # lower end of the figure's axis


def wald(x, n):
    """Return the ends of the Wald interval after x successes in n trials, which textbooks call the standard one."""
    share = x / n
    half = Z * np.sqrt(share * (1 - share) / n)
    return share - half, share + half


def wilson(x, n):
    """Return the ends of the Wilson interval: the p that the score test does not reject."""
    middle = (x + Z**2 / 2) / (n + Z**2)
    half = Z * np.sqrt(x * (n - x) / n + Z**2 / 4) / (n + Z**2)
    return middle - half, middle + half


def agresti_coull(x, n):
    """Return the ends of the Agresti-Coull interval: Wald's after Z^2/2 more successes and as many more failures."""
    return wald(x + Z**2 / 2, n + Z**2)


def jeffreys(x, n):
    """Return the ends of the Jeffreys interval: quantiles of the posterior under the prior Beta(1/2, 1/2)."""
    low, high = (beta.ppf(level, x + 0.5, n - x + 0.5) for level in (TAIL, 1 - TAIL))
    return np.where(x == 0, 0.0, low), np.where(x == n, 1.0, high)


def clopper_pearson(x, n):
    """Return the ends of the Clopper-Pearson interval, which inverts two one-sided exact tests."""
    with np.errstate(invalid="ignore"):
        low, high = beta.ppf(TAIL, x, n - x + 1), beta.ppf(1 - TAIL, x + 1, n - x)
    return np.where(x == 0, 0.0, low), np.where(x == n, 1.0, high)


INTERVALS = {
    "Wald": wald,
    "Wilson": wilson,
    "Agresti-Coull": agresti_coull,
    "Jeffreys": jeffreys,
    "Clopper-Pearson": clopper_pearson,
}


@lru_cache
def ends(interval: str, n: int):
    """Return the ends of an interval after 0, 1, ..., n successes."""
    return INTERVALS[interval](np.arange(n + 1), n)


def covered(rng, trials, interval, n, p):
    """Return True for each trial whose interval contains p. This is the simulation."""
    x = rng.binomial(n, p, trials)
    low, high = ends(interval, n)
    return {"covered": (low[x] <= p) & (p <= high[x])}


def coverage(interval, n, p):
    """Return the exact probability that the interval contains p, which is a binomial sum."""
    low, high = ends(interval, n)
    return binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum()


def simulated(cells, trials) -> xr.Dataset:
    """Return the coverage of all intervals at pairs (n, p). All intervals see the same samples (`share`)."""
    cells = [{"n": n, "p": p} for n, p in cells]
    axes, exact = {"interval": list(INTERVALS)}, {"covered": coverage}
    return tcdp_sim.sweep(covered, axes, cells=cells, trials=trials, exact=exact, share="interval")


def numbers(ds: xr.Dataset) -> pd.DataFrame:
    """Return the simulated and exact coverage of each cell in a row."""
    shown = ["covered", "covered_mcse", "covered_lower", "covered_upper", "covered_exact"]
    rows = ds[shown].to_dataframe().reset_index()  # pairs (n, p) that form no grid are one dimension `cell`
    return rows.set_index(["interval", "n", "p"])[shown].dropna()


def table(ds: xr.Dataset) -> pd.DataFrame:
    """Return the coverage of each interval as text, with a column for each pair (n, p)."""
    rows = numbers(ds)
    texts = [f"{row.covered:.4f} ± {row.covered_mcse:.4f} ({row.covered_exact:.4f})" for row in rows.itertuples()]
    return pd.Series(texts, rows.index).unstack("interval")[list(INTERVALS)].T


def figure(ds: xr.Dataset) -> Figure:
    """Draw the coverage of each interval against p: exact lines, and simulated points with their intervals."""
    drawing, grid = plots.new_figure(3, 2, 7.2, 6.0, sharex=True, sharey=True)
    first, legend, *others = grid.flat
    for axes, interval in zip([first, *others], INTERVALS):
        draw_panel(axes, interval, ds.sel(interval=interval))
    legend.set_axis_off()
    legend.legend(*first.get_legend_handles_labels(), loc="center")
    for axes in grid[:, 0]:
        axes.set_ylabel("coverage")
    for axes in grid[2]:
        axes.set_xlabel("p")
    caption = (
        f"n = {N}; simulated from {int(ds['trials'].max()):,} samples, the same ones for all intervals\n"
        f"bars are 95% intervals of the simulation; values below {LOWEST} are not shown"
    )
    plots.headed(drawing, finding())
    drawing.supxlabel(caption, fontsize=plots.FOOT, color=plots.DARK)
    return drawing


def finding() -> str:
    """Return the title: the least exact coverage of each interval over the p of the figure."""
    p = np.linspace(LEAST, MOST, CURVE)
    least = (f"{interval} {min(coverage(interval, N, one) for one in p):.2f}" for interval in INTERVALS)
    return f"The least coverage of 95% intervals at the p drawn: {', '.join(least)}"


def draw_panel(axes, interval: str, cells: xr.Dataset) -> None:
    """Draw the coverage of one interval."""
    p = np.linspace(LEAST, MOST, CURVE)
    exact, drawn = (look["color"] for look in looks.level_styles(["exact", "simulated"]).values())
    axes.axhline(LEVEL, color=plots.GREY, linewidth=0.9, label="nominal level")
    axes.plot(p, [coverage(interval, N, one) for one in p], color=exact, linewidth=0.8, label="exact")
    simulated = [cells[name] for name in ("covered", "covered_lower", "covered_upper")]
    plots.points(axes, cells["p"], *simulated, color=drawn, marker="o", ms=2.2, label="simulated", zorder=3)
    axes.set_title(interval)
    axes.set_ylim(LOWEST, 1.0)


def main(trials: float, folder: Path) -> None:
    """Print the table, and save the figure with its numbers."""
    print(table(simulated(PAIRS, trials)).to_string())
    ds = simulated([(N, p) for p in np.linspace(LEAST, MOST, DRAWN).round(3).tolist()], trials)
    with plots.style():
        saved = saving.save_all([("coverage_of_intervals", figure(ds), numbers(ds).reset_index())], folder)
    print(*saved, sep="\n")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1e4, Path("results"))
