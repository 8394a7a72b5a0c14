"""The list of figures of a study of private histograms."""

from collections.abc import Iterator

import pandas as pd

from tcdp_sim.experiments.histogram.best_additive import best_additive
from tcdp_sim.experiments.histogram.drawing import (
    LEVEL,
    MOST_PANELS,
    error_against_k,
    exceedance,
    kinds,
    stability,
)
from tcdp_sim.experiments.histogram.series import by_data, few_series, with_series
from tcdp_sim.report.plots import captioned
from tcdp_sim.report.thinning import some_levels

MOST_LEVELS = 2000  # values of k
WITHOUT_DENSITY = ("lattice",)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) exceedance of the bounds, (b) error and ranking against rho, (c) error against k, for each data set.

    (c) comes last, because its line of the best noise takes longest: other figures are saved meanwhile.
    """
    shown, styles, left_out = few_series(with_series(table))
    unit = "errors in counts" + left_out
    drawn = dict(by_data(shown))
    against_k = []
    for data, part in by_data(table):
        rows, fewer = _few_levels(drawn.get(data, shown.iloc[:0]))
        if part["k"].nunique() == 1:
            yield f"stability_{data}", captioned(stability(rows, styles), rows, unit), part
            continue
        against_k.append((data, part, rows, fewer))
        of_few_values = rows["noise_family"].isin(WITHOUT_DENSITY)  # a bound equals one of the few values
        middle = rows[(rows["rho"] == some_levels(rows["rho"], 1)[0]) & ~of_few_values]
        if len(middle):
            yield f"exceedance_{data}", captioned(exceedance(middle, styles), middle, unit + fewer), part
    for data, part, rows, fewer in against_k:
        best, not_sought = best_additive(rows[rows["rho"].isin(some_levels(rows["rho"], MOST_PANELS))], LEVEL)
        figure = error_against_k(rows, best, styles)
        yield (
            f"error_vs_k_{data}",
            captioned(figure, rows, f"{unit}{fewer}; {kinds(rows)}{not_sought}"),
            _below(part, best),
        )


def _few_levels(rows) -> tuple[pd.DataFrame, str]:
    """Return rows at as many values of k as a line can show, and the number left out in words ("" if none)."""
    levels = rows["k"].nunique()
    if levels <= MOST_LEVELS:
        return rows, ""
    return rows[rows["k"].isin(some_levels(rows["k"], MOST_LEVELS))], f"; {MOST_LEVELS:,} of {levels:,} values of k"


def _below(part, best):
    """Return the cells, and below them the points of lines that are no cells. Whole numbers stay whole."""
    if best.empty:
        return part
    return pd.concat([part.astype(dict.fromkeys(part.select_dtypes("int"), "Int64")), best], ignore_index=True)
