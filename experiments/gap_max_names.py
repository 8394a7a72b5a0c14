"""The 276 real selection problems of the first names: the success of each algorithm at equal privacy."""

from collections.abc import Iterator

import pandas as pd

from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments import gap_max
from tcdp_sim.experiments.gap_max.name_problems import SIMULATED_AT, of_all_problems, problems_figure
from tcdp_sim.experiments.gap_max.series import styles
from tcdp_sim.report.plots import captioned
from tcdp_sim.results.rows import Cell, Row

BOUND, EXACT, UNKNOWN = gap_max.BOUND, gap_max.EXACT, gap_max.UNKNOWN


def rows(cell: Cell) -> Row:
    """Return one row (kind "one") with the columns of gap_max. Raise UserError if the cell is none of the problems."""
    row = gap_max.rows(cell)
    if row["problem"] == "" or row["m"] > 1:
        which = f"k = {row['k']:g}, gap = {row['gap']:g}, m = {row['m']:g}"
        raise UserError(f"{which} is no problem of the first names among 10,000 records; use experiment=gap_max")
    return row | {"kind": "one", "n": SIMULATED_AT}


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Return rows (kind "all") about all problems together for each series, rho and n."""
    return of_all_problems(rows)


def report(table: pd.DataFrame, console) -> None:
    """Print the mean probability of success over all problems at the middle rho, for each n."""
    every = table[table["kind"] == "all"]
    rho = sorted(every["rho"].unique())[every["rho"].nunique() // 2]
    for n, part in every[every["rho"] == rho].groupby("n"):
        console.print(f"n = {n:,.0f}, ρ = {rho:.3g}: mean probability of success over 276 problems", markup=False)
        for row in part.sort_values("mean", ascending=False).to_dict("records"):
            console.print(f"  {row['series']}: {row['mean']:.3f}", markup=False)
    console.print(gap_max.agreement(table[table["kind"] == "one"]))


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the mean success over all problems for three sizes, and single problems, simulated and exact."""
    figure = captioned(problems_figure(table, styles(table)), table, gap_max.unit(table))
    yield "real_problems", figure, table.drop(columns="law")
