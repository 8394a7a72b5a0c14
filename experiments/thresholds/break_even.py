"""The size of the domain from which on interior points are more accurate than releases of zCDP, on the same records."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.mechanisms.thresholds import LINEAR
from tcdp_sim.report.findings import listed
from tcdp_sim.report.plots import headed, line_key, new_figure, note, points, power_of_two

LEAST_SIZES = 3


def families(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (name, rows) for records that were studied on several domains, in ever finer units.

    They have equal numbers of records, and medians at the same share of the domain.
    """
    cdfs = table[table["sup_error"].notna()]
    shares = [f"{float(value) / 2.0 ** int(bits):.5g}" for value, bits in zip(cdfs["value_at_q50"], cdfs["log2_k"])]
    for (_, _, rho), part in cdfs.groupby([cdfs["n"], pd.Series(shares, cdfs.index, dtype=str), "rho"], sort=False):
        if part["log2_k"].nunique() >= LEAST_SIZES:
            name = part["records"].iloc[0]
            yield (f"{name}_rho_{rho:g}" if cdfs[cdfs["records"] == name]["rho"].nunique() > 1 else name), part


def crossings(part: pd.DataFrame) -> dict[str, tuple[str, float]]:
    """Return, for each release of zCDP, the first method of interior points to beat it, and log2 of the domain there.

    Mean errors are interpolated linearly in log2 of the size of the domain. A method that is never beaten is left out.
    """
    errors = part.pivot_table(index="log2_k", columns="method", values="sup_error")
    found = {}
    for linear in errors.columns.intersection(list(LINEAR)):
        others = {name: _crossing(errors[linear] - errors[name]) for name in errors.columns.difference(list(LINEAR))}
        known = {name: place for name, place in others.items() if np.isfinite(place)}
        if known:
            best = min(known, key=known.__getitem__)
            found[linear] = best, known[best]
    return found


def _crossing(excess: pd.Series) -> float:
    """Return the place where an excess becomes positive, or NaN."""
    excess = excess.dropna()
    above = np.flatnonzero(excess.to_numpy() > 0)
    if not len(above) or above[0] == 0:
        return np.nan
    x, y = excess.index.to_numpy(float)[above[0] - 1 : above[0] + 1], excess.to_numpy()[above[0] - 1 : above[0] + 1]
    return float(x[0] - y[0] * (x[1] - x[0]) / (y[1] - y[0]))


def lines(table: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each family: the break-even domain of every release of zCDP."""
    for _, part in families(table):
        places = [f"{name} from 2^{place:.0f} on ({linear})" for linear, (name, place) in crossings(part).items()]
        if places:
            first = part.iloc[0]
            yield f"Break-even on {first['n']:,} records at ρ = {first['rho']:g}: {'; '.join(places)}."


def figure(part: pd.DataFrame, styles: dict[str, dict[str, str]]) -> Any:
    """Return the figure: the mean largest error of a CDF against the size of the domain."""
    drawn, grid = new_figure(1, 1, 7.6, 4.8)
    axes, crossed = grid[0, 0], crossings(part)
    for name, cells in part.groupby("method", sort=False):
        method = str(name)
        cells = cells.sort_values("log2_k")
        error, half = cells["sup_error"], 1.96 * cells["sup_error_mcse"]
        points(axes, cells["log2_k"], error, error - half, error + half, **styles[method])
        axes.plot(cells["log2_k"], error, color=styles[method]["color"], linewidth=1.0)
    for method, (_, place) in crossed.items():
        axes.axvline(place, color=styles[method]["color"], linestyle=":", linewidth=1.2)
    axes.set(
        xlabel="log2 of the number k of elements", ylabel="largest error of the CDF, mean (records)", ylim=(0, None)
    )
    handles, labels = axes.get_legend_handles_labels()
    if crossed:
        handles.append(line_key(linestyle=":", linewidth=1.2))
        labels.append("break-even with interior points")
    drawn.legend(handles, labels, loc="outside lower center", ncols=2)
    first = part.iloc[0]
    note(drawn, "kind", "bars: 95% intervals")
    names = {method: styles[method]["label"].split(",")[0].removesuffix(" (zCDP)") for method in crossed}
    last_first = sorted(crossed, key=lambda method: -crossed[method][1])
    told = listed(f"the {names[method]} from k = {power_of_two(crossed[method][1])} on" for method in last_first)
    what = f"On {first['n']:,} records at ρ = {first['rho']:g} interior points"
    headed(drawn, f"{what} beat {told}" if crossed else f"{what} break even with no tree on these domains")
    return drawn
