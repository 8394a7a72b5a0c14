"""The best possible additive noise against the study's own noises, found while drawing where the search is quick.

The quantile of its largest error increases with k in steps of 1/2. The ends of some steps are computed, and a line
joins them.
"""

from math import inf

import pandas as pd

from tcdp_sim.calibration.optimal.step_ends import step_ends
from tcdp_sim.privacy import TCDP
from tcdp_sim.report.looks import Series, Style, line_of, noise_styles, of_omega

COORDINATES = 2  # bins that change by one between neighbours
STEPS = 4  # number of steps whose ends are found for each guarantee
MOST = 6  # number of guarantees, largest rho first, because the search takes longer for smaller rho
LEAST_RHO = 0.01
LARGEST_K = 1e100
NAME = "best additive noise"
POINTS = {"marker": ".", "linewidth": 0.9}
COLUMNS = ("data", "rho", "omega", "omega_sqrt_rho", "guarantee", "neighbours")  # the same columns as in the cells


def best_additive(part: pd.DataFrame, level: float) -> tuple[pd.DataFrame, str]:
    """Return points of a line for each (rho, omega)-tCDP guarantee, and the guarantees left out in words ("" if none).

    A row has the columns COLUMNS and these:

    - `series`: the name of the line.
    - `least_additive_error`: an error in counts.
    - `k`: the number of bins beyond which no additive noise keeps the `level`-quantile of its largest error there or
      below.
    - `k_at_least`: the number of bins up to which some additive noise does.

    Neighbours substitute a record. There are no rows if the cells have such noise themselves.
    """
    promised = part[part["guarantee"].astype(str).str.endswith("-tCDP")]
    if "lattice" in set(part["noise_family"]) or part["k"].min() >= LARGEST_K:
        promised = promised.iloc[:0]
    wanted = promised.drop_duplicates(["rho", "omega"]).sort_values("rho", ascending=False, kind="stable")
    sought = wanted[wanted["rho"] >= LEAST_RHO].head(MOST)
    ends = part["k"].min(), min(part["k"].max(), LARGEST_K)
    lines = [line for cell in sought.to_dict("records") if (line := _line(cell, *ends, level))]
    left_out = f"; {NAME} for {len(lines)} of {len(wanted)} guarantees" if len(lines) < len(wanted) else ""
    return pd.DataFrame([point for line in lines for point in line]), left_out


def _line(cell, fewest, most, level) -> list[dict]:
    """Return the points of a guarantee's line that fit on a log axis; none if the search refuses the guarantee."""
    try:
        ends = step_ends(TCDP(cell["rho"], cell["omega"]), fewest, most, STEPS, level=level, coordinates=COORDINATES)
    except ValueError:  # the tails underflow at so large a rho
        return []
    labels = {name: cell[name] for name in COLUMNS if name in cell} | {"series": NAME + of_omega(cell)}
    drawn = [(error, count) for error, count in ends if error > 0 and count.upper < inf]
    return [labels | {"k": count.upper, "k_at_least": count.lower, "least_additive_error": e} for e, count in drawn]


def best_styles(best: pd.DataFrame) -> dict[str, Style]:
    """Return name -> style of each line: the colour of noise on a lattice, thin, with its points."""
    names = best["series"].unique() if len(best) else ()
    styles = noise_styles(Series(name, "optimal", "lattice", "tight", name) for name in names)
    return {name: line_of(style) | POINTS for name, style in styles.items()}
