"""The best additive noise that there can be, beside the study's own: found while drawing, where that is quick.

The quantile of its largest error rises with k by steps of 1/2. The ends of some steps are certified; a line joins them.
"""

from math import inf

import pandas as pd

from tcdp_sim.optimal import step_ends
from tcdp_sim.privacy import TCDP
from tcdp_sim.report.looks import Series, Style, line_of, noise_styles, of_omega

COORDINATES = 2  # bins that change by one between neighbours
STEPS = 4  # whose ends are found, for each guarantee
MOST = 6  # guarantees, those with the largest rho: the search takes longer the smaller rho
LEAST_RHO = 0.01
LARGEST_K = 1e100
NAME = "best additive noise"
POINTS = {"marker": ".", "linewidth": 0.9}
COLUMNS = ("data", "rho", "omega", "omega_sqrt_rho", "guarantee", "neighbours")  # as in the cells


def best_additive(part: pd.DataFrame, level: float) -> tuple[pd.DataFrame, str]:
    """Points of the line of each (rho, omega)-tCDP guarantee of the cells, and what is left out, in words ("" if none).

    Rows: COLUMNS; `series`, the name of the line; `least_additive_error` in counts, and `k`, the number of bins beyond
    which no additive noise keeps the `level`-quantile of its largest error there or below (up to `k_at_least` one
    does). Neighbours substitute a record. No rows where the cells have such noise themselves.
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
    """Its points, without those that an axis of logarithms has no place for; none where the search is refused."""
    try:
        ends = step_ends(TCDP(cell["rho"], cell["omega"]), fewest, most, STEPS, level=level, coordinates=COORDINATES)
    except ValueError:  # the tails at so large a rho are no floats
        return []
    labels = {name: cell[name] for name in COLUMNS if name in cell} | {"series": NAME + of_omega(cell)}
    drawn = [(error, count) for error, count in ends if error > 0 and count.upper < inf]
    return [labels | {"k": count.upper, "k_at_least": count.lower, "least_additive_error": e} for e, count in drawn]


def best_styles(best: pd.DataFrame) -> dict[str, Style]:
    """Name -> style of each line: the colour of noise on a lattice, thin, with its points."""
    names = best["series"].unique() if len(best) else ()
    styles = noise_styles(Series(name, "optimal", "lattice", "tight", name) for name in names)
    return {name: line_of(style) | POINTS for name, style in styles.items()}
