"""The worst-case error of a private histogram, and who comes out on top of it, at equal privacy.

Workers import this for the exact values; what makes tables and figures, a second of imports, comes with the first one.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tcdp_sim.experiments.histogram.exact_values import BOUND, EXACT

if TYPE_CHECKING:
    import pandas as pd

    from tcdp_sim.results import Cell, Row

__all__ = ["BOUND", "EXACT", "figures", "report", "rows"]


def rows(cell: "Cell") -> "Row":
    """Return the row of a cell, as `tables.rows` says."""
    from tcdp_sim.experiments.histogram import tables

    return tables.rows(cell)


def report(table: "pd.DataFrame", console) -> None:
    """A digest on the terminal, and how well simulation and exact values agree over all cells."""
    from tcdp_sim.experiments.histogram import tables

    tables.report(table, console)


def figures(table: "pd.DataFrame") -> "Iterator[tuple[str, object, pd.DataFrame]]":
    """(a) error against k, (b) exceedance of the bounds, (c) error and ranking against rho, for each data set."""
    from tcdp_sim.experiments.histogram import figure_list

    return figure_list.figures(table)
