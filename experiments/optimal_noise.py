"""The distance of noises to the best possible noise: the largest of k errors, at equal privacy."""

from collections.abc import Iterator
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim import exact
from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.exact.extreme_means import mean_of_max_abs
from tcdp_sim.experiments import losses
from tcdp_sim.mechanisms.optimal_noise import LEVEL, OptimalNoise
from tcdp_sim.noise import Noise
from tcdp_sim.report.findings import listed
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles
from tcdp_sim.report.plots import GREY, captioned, headed, new_figure, points, wide_log_axis
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns
from tcdp_sim.store.exact_values import at_each_level

QUANTILE = columns.quantile("linf_error")
EXCEEDS = columns.exceeds("linf_error", "optimum")
LABELS = ("rho", "omega_sqrt_rho", "omega", "k", "guarantee", "trials")
RIVALS = {
    "gaussian": "Gaussian",
    "sinh_normal": "sinh-normal (tight, tuned to k)",
    "sinh_squared": "sinh-squared (tight, tuned to k)",
}
SERIES = (
    Series("optimal noise", "optimal", "lattice", "optimal"),
    Series(RIVALS["sinh_squared"], "sinh_squared_tuned", "sinh_squared", "tight"),
    Series(RIVALS["sinh_normal"], "sinh_normal_tuned", "sinh_normal", "tight"),
    Series(RIVALS["gaussian"], "gaussian", "gaussian", "paper"),
)
NEAR = 0.03
MOST_PANELS = 4
BAND = 0.3  # opacity of the interval of the optimum
KEYS = {
    "lines join exact values": {"color": GREY},
    "markers: simulated, 95% interval": {"color": GREY, "marker": "o", "linestyle": "none"},
}


def _exact_quantile(mechanism: OptimalNoise, level: float) -> float:
    return float(exact.max_abs_quantile(mechanism.noise, mechanism.k, level).estimate)


def _exact_exceedance(mechanism: OptimalNoise) -> float:
    return float(exact.max_abs_sf(mechanism.noise, mechanism.k, mechanism.quantile).estimate)


def _exact_mean(mechanism: OptimalNoise) -> float:
    return float(mean_of_max_abs(mechanism.noise, mechanism.k).estimate)


def largest_error_survival(mechanism: OptimalNoise, errors: np.ndarray) -> np.ndarray:
    """Return the probability that the largest error exceeds each of `errors`."""
    found = exact.max_abs_sf(mechanism.noise, mechanism.k, np.maximum(errors, 0.0)).estimate
    return np.where(errors < 0, 1.0, found)


def optimum_q95(mechanism: OptimalNoise) -> float:
    """95% quantile of the largest error under the best noise of all."""
    return mechanism.quantile


def optimum_q95_at_least(mechanism: OptimalNoise) -> float:
    """95% quantile of the largest error that no noise is below."""
    return mechanism.least


def gaussian_q95(mechanism: OptimalNoise) -> float:
    """95% quantile of the largest error under Gaussian noise."""
    return _rival("gaussian", mechanism)


def sinh_normal_q95(mechanism: OptimalNoise) -> float:
    """95% quantile of the largest error under tightly calibrated sinh-normal noise, tuned to k."""
    return _rival("sinh_normal", mechanism)


def sinh_squared_q95(mechanism: OptimalNoise) -> float:
    """95% quantile of the largest error under tightly calibrated sinh-squared noise, tuned to k."""
    return _rival("sinh_squared", mechanism)


def _rival(family: str, mechanism: OptimalNoise) -> float:
    objective = LargestError(mechanism.k, LEVEL)
    noise: Noise = calibrate(family, mechanism.promise, 1.0, "tight", coordinates=2, objective=objective).noise
    return float(exact.max_abs_quantile(noise, mechanism.k, LEVEL).estimate)


SURVIVAL = {"linf_error": largest_error_survival, **losses.SURVIVAL}
DELTA, PROMISED = losses.DELTA, losses.PROMISED
EXACT = {
    QUANTILE: at_each_level(_exact_quantile),
    columns.mean("linf_error"): _exact_mean,
    EXCEEDS: _exact_exceedance,
    **losses.EXACT,
    "optimum_q95": optimum_q95,
    "gaussian_q95": gaussian_q95,
    "sinh_normal_q95": sinh_normal_q95,
    "sinh_squared_q95": sinh_squared_q95,
}
BOUND = {"optimum_q95": optimum_q95_at_least}
UNKNOWN = losses.UNKNOWN
UNITS = dict.fromkeys(("optimum_q95", "gaussian_q95", "sinh_normal_q95", "sinh_squared_q95"), "counts")


def rows(cell: Cell) -> Row:
    """Return one row: `linf_q95` of the optimal noise in counts, simulated with MCSE and 95% interval, and `_exact`.

    - `exceeds_optimum`: the probability that the largest error exceeds `optimum`, in the same columns.
    - `optimum`: the least 95% quantile of any noise, in counts.
    - `optimum_at_least`: a lower bound on the 95% quantile of any noise, in counts.
    - `gaussian`, `sinh_normal`, `sinh_squared`: the exact quantiles of those noises. A quantile is NaN if the
      noise cannot be calibrated to the guarantee.
    - `<noise>_ratio`: the quotient of such a quantile and the optimum.
    """
    mechanism, row = cell.mechanism, cell.only(*LABELS)
    row |= {"k": mechanism.k, "panel": _panel(row)}
    row |= cell.numbers(QUANTILE, "linf_q95", LEVEL) | cell.numbers(EXCEEDS, "exceeds_optimum")
    row |= {"optimum": mechanism.quantile, "optimum_at_least": mechanism.least}
    for noise in RIVALS:
        value = cell.get(f"{noise}_q95{columns.EXACT}", np.nan)
        row |= {noise: value, f"{noise}_ratio": value / mechanism.quantile}
    return row


def _panel(row) -> str:
    scaled, omega = (row.get(name, np.nan) for name in ("omega_sqrt_rho", "omega"))
    if np.isfinite(scaled):
        return f"tCDP, ω√ρ = {scaled:g}"
    return f"tCDP, ω = {omega:g}" if np.isfinite(omega) else "zCDP"


def report(table: pd.DataFrame, console) -> None:
    """Print the quantiles, the largest distances, and how well simulation and exact values agree."""
    headings = ("guarantee", "k", "optimum", "sinh²", "sinh-n.", "Gauss.", "P[above]", "exact")
    for rho, part in table.groupby("rho", sort=False):
        levels = np.sort(part["k"].unique())
        few = part[part["k"].isin(levels[np.unique(np.linspace(0, len(levels) - 1, 3).astype(int))])]
        title = f"ρ = {rho:.3g}: 95% quantile of the largest of k errors (counts), P[error above the optimum]"
        console.print(terminal_table(title, headings, map(_terminal_row, few.to_dict("records"))), soft_wrap=False)
        for panel, cells in part.groupby("panel", sort=False):
            console.print(_distance(str(panel), cells.sort_values("k")), soft_wrap=True)
    console.print("sinh²: sinh-squared noise; sinh-n.: sinh-normal noise; both calibrated tightly and tuned to k.")
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    console.print(agreement("quantile", *(table[f"linf_q95{end}"] for end in columns.WITH_EXACT)))
    console.print(agreement("tail beyond the optimum", *(table[f"exceeds_optimum{end}"] for end in columns.WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    certified = row["optimum"] == row["optimum_at_least"]
    optimum = f"{row['optimum']:g}" if certified else f"{row['optimum_at_least']:g} to {row['optimum']:g}"
    rivals = ("sinh_squared", "sinh_normal", "gaussian")
    others = ["" if isnan(row[name]) else f"{row[name]:.2f}" for name in rivals]
    above = [f"{row['exceeds_optimum' + end]:.2g}" for end in ("", columns.EXACT)]
    return [row["panel"], f"{row['k']:.3g}", optimum, *others, *above]


def _distance(panel: str, cells: pd.DataFrame) -> str:
    """Return a sentence on where the noises are far from the optimum, and where Gaussian noise is near it."""
    sentences = [_farthest(RIVALS[noise], cells, f"{noise}_ratio") for noise in RIVALS]
    near = cells["gaussian_ratio"] <= 1 + NEAR
    where = "for all k" if near.all() else _where(cells["k"].to_numpy(), near.to_numpy())
    sentences.append(f"Gaussian noise is within {NEAR:.0%} of the optimum {where}")
    return f"{panel}: {'; '.join(filter(None, sentences))}."


def _farthest(label: str, cells: pd.DataFrame, ratio: str) -> str:
    if cells[ratio].isna().all():
        return ""
    row = cells.iloc[int(np.nanargmax(cells[ratio]))]
    return f"{label} is farthest from the optimum at k = {row['k']:.3g}: {row[ratio] - 1:.1%} above it"


def _where(k, near) -> str:
    """Return the runs of neighbouring k at which `near` is True, in words."""
    starts = np.flatnonzero(near & ~np.append(False, near[:-1]))
    ends = np.flatnonzero(near & ~np.append(near[1:], False))
    runs = [f"{k[i]:.3g}" if i == j else f"{k[i]:.3g} to {k[j]:.3g}" for i, j in zip(starts, ends)]
    return f"for k = {', '.join(runs)}" if runs else "nowhere"


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the distance of every noise to the optimum against k, and the quantiles themselves, for each rho."""
    styles = noise_styles(SERIES)
    for rho, part in table.groupby("rho", sort=True):
        suffix = f"_rho_{rho:g}" if table["rho"].nunique() > 1 else ""
        unit = f"{LEVEL:.0%} quantile of the largest of k errors, in counts; the optimum is a multiple of 1/2"
        figure = _figure(part, styles, _ratios, _distances(part))
        yield f"distance_to_optimum{suffix}", captioned(figure, part, unit), part
        figure = _figure(part, styles, _quantiles, _least_error(part))
        yield f"quantiles{suffix}", captioned(figure, part, unit), part


def _distances(part) -> str:
    """Return a title: how far each noise is from the optimum at most."""
    most = {label: part[f"{noise}_ratio"].max() - 1 for noise, label in RIVALS.items()}
    known = sorted((above, label) for label, above in most.items() if not isnan(above))
    if not known:
        return "At equal privacy no other noise is compared with the best possible noise"
    told = listed(f"{above:.0%} with {label}" for above, label in known)
    return f"At equal privacy errors exceed those of the best possible noise by up to {told}"


def _least_error(part) -> str:
    """Return a title: the errors at the largest k, of the best possible noise and of Gaussian noise."""
    row = part.loc[part["k"].idxmax()]
    least = f"The largest of {row['k']:.3g} errors is {row['optimum']:g} with the best possible noise"
    return f"{least} and {row['gaussian']:.3g} with Gaussian noise ({row['panel']}, 95% quantiles)"


def _figure(part, styles, draw, title):
    panels = list(part["panel"].unique())[:MOST_PANELS]
    figure, grid = new_figure(1, len(panels), max(3.0 * len(panels), 6.4), 3.4, sharey=True)
    for axes, panel in zip(grid[0], panels):
        draw(axes, part[part["panel"] == panel].sort_values("k"), styles)
        wide_log_axis(axes, part["k"].min(), part["k"].max())
        axes.set(xlabel="number of errors k", title=panel)
    grid[0, 0].set_ylabel("95% quantile over that of the optimum" if draw is _ratios else "95% quantile (counts)")
    band = {"color": styles[SERIES[0].label]["color"], "linewidth": 6, "alpha": BAND}
    keys = styles | {"certified interval of the optimum": band}
    keys |= KEYS | {label: line_of(styles[label]) for label in RIVALS.values()} if draw is _quantiles else {}
    legend_below(figure, keys, 4)
    headed(figure, title)
    return figure


def _ratios(axes, cells, styles):
    for noise, label in RIVALS.items():
        axes.plot(cells["k"], cells[f"{noise}_ratio"], **styles[label])
    own = styles[SERIES[0].label]
    axes.fill_between(cells["k"], cells["optimum_at_least"] / cells["optimum"], 1, color=own["color"], alpha=BAND)
    axes.plot(cells["k"], np.ones(len(cells)), **own)


def _quantiles(axes, cells, styles):
    for noise, label in RIVALS.items():
        axes.plot(cells["k"], cells[noise], **line_of(styles[label]))
    own = styles[SERIES[0].label]
    axes.fill_between(
        cells["k"], cells["optimum_at_least"], cells["optimum"], color=own["color"], alpha=BAND, step="mid"
    )
    axes.plot(cells["k"], cells["optimum"], drawstyle="steps-mid", **line_of(own))
    ends = (cells[f"linf_q95{end}"] for end in ("", columns.LOWER, columns.UPPER))
    points(axes, cells["k"], *ends, **marks_of(own))
