"""Names and looks of the series: a colour and a marker for a noise or a method, dashes for an algorithm."""

import numpy as np
import pandas as pd

from tcdp_sim.privacy.least_rho import bounded_range_epsilon, pure_epsilon
from tcdp_sim.report.labels import End, short
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, noise_styles, of_omega
from tcdp_sim.report.plots import wrapped

ALGORITHMS = {
    "generalized_histogram": "Alg. 21",
    "obvious_answer": "Alg. 22",
    "exponential_mechanism": "exponential mechanism",
    "permute_and_flip": "permute-and-flip (= noisy max, exponential noise)",
    "noisy_max_laplace": "noisy max, Laplace (pure DP)",
    "noisy_max_gaussian": "noisy max, Gaussian (ε, δ)",
    "stability": "distance-based stability (ε, δ)",
    "sparse_vector": "sparse vector, told a threshold (pure DP)",
}
ACCOUNTED = {"paper": " (pure DP)", "tight": " (bounded range, zCDP)"}
LETTERS = 34  # in a line of a label
DASHES = {
    ("generalized_histogram", "paper"): (0, (1.2, 1.4)),
    ("generalized_histogram", "tight"): (0, (5, 1.6)),
    ("exponential_mechanism", "paper"): (0, (5, 1.6)),
}


def styles(table: pd.DataFrame) -> dict[str, dict]:
    """Return series -> colour, marker and dashes. A noise looks the same in every method."""
    rows = table.drop_duplicates("series").to_dict("records")
    looks = noise_styles(_look_of(row) for row in rows)
    dashes = {row["series"]: DASHES.get((row["algorithm"], row["accounting"]), "-") for row in rows}
    return {name: looks[name] | {"linestyle": dashes[name]} for name in looks}


def _look_of(row) -> Series:
    """Return the look of a row. Omegas are variants of a noise; a method without noise has one look."""
    if not row["noise"]:
        return Series(row["series"], algorithm=row["algorithm"])
    family, calibration = row.get("noise_family", ""), row.get("noise_calibration", "")
    return Series(row["series"], row["noise"], family, calibration, of_omega(row), row["algorithm"])


def legend(figure, part: pd.DataFrame, looks, columns: int, keys=()) -> None:
    """Draw a legend of the series in `part` and of `keys` (label -> style) below the figure, which becomes taller.

    Series that differ in the algorithm alone share an entry.
    """
    entries = {_by_algorithm(label): looks[label] for label in sorted(part["series"].unique(), key=_by_algorithm)}
    entries |= dict(keys)
    figure.set_figheight(figure.get_figheight() + 0.1)
    legend_below(figure, entries, columns)


def _by_algorithm(label: str) -> str:
    """Return the name of a series with the number of its algorithm at the end, where legends merge entries."""
    algorithm, _, noise = label.partition(", ")
    number = algorithm.removeprefix("Alg. ")
    return label if number == algorithm else f"{noise}, algorithm = {number}"


def text_of(label: str, panel: str = "") -> str:
    """Return the label of a line's end: the name of the series without the name of the panel, in short lines."""
    return "\n".join(wrapped(short(label.removeprefix(f"{panel}, ")), LETTERS))


def ends(cells, x: str, y: str, looks, panel: str = "") -> list[End]:
    """Return the end of each line of some cells, with its label."""
    last = cells.sort_values(x).dropna(subset=[y]).drop_duplicates("series", keep="last").to_dict("records")
    return [End(row["series"], text_of(row["series"], panel), row[x], row[y], looks[row["series"]]) for row in last]


def series_of(row) -> str:
    """Return the name that distinguishes a cell from others at the same k, gap, m and rho."""
    label, accounting = ALGORITHMS[row["algorithm"]], row["accounting"]
    if row["noise"]:
        label += f", {row['noise_label']}{of_omega(row)}"
        reason = ", counted as 2m queries" if row["algorithm"] == "generalized_histogram" else ", by ε²/2"
        return label + (reason if accounting == "paper" else "")
    if row["algorithm"] == "exponential_mechanism":
        return label + ACCOUNTED.get(accounting, "")
    return label + (", by ε²/2" if accounting == "paper" else "")


def gained(rows: pd.DataFrame) -> str:
    """Return in words how much larger the least rho lets epsilon be, for the methods among the rows; "" for none."""
    tight = rows[rows["accounting"] == "tight"]
    ranged = tight["algorithm"] == "exponential_mechanism"
    told = []
    each = (tight.loc[ranged, "rho"] / tight.loc[ranged, "m"]).dropna().unique()
    if len(each):
        raised = _percent([bounded_range_epsilon(rho) / np.sqrt(8 * rho) - 1 for rho in each])
        told.append(f"of the exponential mechanism by {raised} beside ε²/8")
    each = tight.loc[~ranged & (tight["noise"] == ""), "rho"].unique()
    if len(each):
        raised = _percent([pure_epsilon(rho) / np.sqrt(2 * rho) - 1 for rho in each])
        told.append(f"of methods for pure or (ε, δ)-DP by {raised} beside ε²/2")
    return "the least ρ raises ε " + " and ".join(told) if told else ""


def _percent(shares: list[float]) -> str:
    """Return the range of some shares as text, in percent."""
    low, high = (f"{100 * share:.2g}%" for share in (min(shares), max(shares)))
    return low if low == high else f"{low} to {high}"
