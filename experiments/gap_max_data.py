"""The most frequent value of a data set, selected privately: the methods that find it, and the rho they need."""

from collections.abc import Iterator

import pandas as pd

from tcdp_sim.experiments import gap_max
from tcdp_sim.experiments.gap_max import series
from tcdp_sim.experiments.gap_max.drawing import rho_figure
from tcdp_sim.report.plots import captioned

BOUND, EXACT, UNKNOWN, rows = gap_max.BOUND, gap_max.EXACT, gap_max.UNKNOWN, gap_max.rows
SURVIVAL, DELTA, PROMISED = gap_max.SURVIVAL, gap_max.DELTA, gap_max.PROMISED


def report(table: pd.DataFrame, console) -> None:
    """Print each data set's gap, and the least rho of the sweep at which each method succeeds with probability 95%."""
    for (data, k, gap, m), part in table.groupby(["data", "k", "gap", "m"], sort=False):
        console.print(f"{data}: the top {m:g} of {k:,.6g} candidates lead by {gap:,.6g}", markup=False)
        for label, own in part.groupby("series", sort=False):
            enough = own.loc[own["top_selected_exact"] >= 1 - gap_max.BETA, "rho"]
            where = f"from ρ = {enough.min():.3g} on" if len(enough) else "at no ρ of the sweep"
            console.print(f"  {label}: 95% success {where}", markup=False)
    console.print(gap_max.agreement(table))


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the probability of success and the required gap against rho, for each data set."""
    looks = series.styles(table)
    for (data, m), part in table.groupby(["data", "m"], sort=False):
        name = f"selection_{data}" + ("" if m == 1 else f"_top_{m:g}")
        yield name, captioned(_figure(part, looks), part, gap_max.unit(part)), part.drop(columns="law")


def _figure(part, looks):
    k, m = part["k"].iloc[0], part["m"].iloc[0]
    what = "most frequent value" if m == 1 else f"{m:g} most frequent values"
    return rho_figure(part, looks, f"the {what} of {part['data'].iloc[0]} ({k:,.6g} candidates)")
