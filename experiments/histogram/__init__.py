"""The worst-case error of a private histogram, and the bin that comes out on top, at equal privacy.

Workers import this module for the exact values. The modules for tables and figures take a second to import, so they are
imported on first use.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tcdp_sim.experiments.histogram.exact_values import BOUND, DELTA, EXACT, PROMISED, SURVIVAL, UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    from tcdp_sim.results.rows import Cell, Row

__all__ = ["BOUND", "DELTA", "EXACT", "PROMISED", "SURVIVAL", "UNKNOWN", "figures", "report", "rows"]


def rows(cell: "Cell") -> "Row":
    """Return the row of a cell; `tables.rows` documents its columns."""
    from tcdp_sim.experiments.histogram import tables

    return tables.rows(cell)


def report(table: "pd.DataFrame", console) -> None:
    """Print a digest, and how well simulation and exact values agree over all cells."""
    from tcdp_sim.experiments.histogram import tables

    tables.report(table, console)


def figures(table: "pd.DataFrame") -> "Iterator[tuple[str, object, pd.DataFrame]]":
    """Draw (a) error against k, (b) exceedance of the bounds, (c) error and ranking against rho, for each data set."""
    from tcdp_sim.experiments.histogram import figure_list

    return figure_list.figures(table)
