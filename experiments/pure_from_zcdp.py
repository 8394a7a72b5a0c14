"""Theorem 32 of Bun and Steinke on a dozen values: its claims on a pure DP mechanism, and the exact numbers."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import ndtri

from tcdp_sim.experiments import losses
from tcdp_sim.experiments.laws import quantiles_of_atoms
from tcdp_sim.mechanisms.pure_from_zcdp import PureFromZCDP
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import level_styles, line_of, marks_of
from tcdp_sim.report.plots import GREY, captioned, headed, limit_styles, new_figure, points, wide_log_axis
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

PURE, ZCDP = columns.mean("pure_error"), columns.mean("zcdp_error")
LABELS = ("guarantee", "trials")
PROMISED_ERROR = 10.0  # the theorem's error of the pure DP mechanism, in units of alpha
KEYS = {
    "lines join exact values, of the worst data set": {"color": GREY},
    "markers: simulated, 95% interval": {"color": GREY, "marker": "o", "linestyle": "none"},
}
LIMIT = "the theorem's promise"
LAPLACE = {"linestyle": (0, (1, 2)), "linewidth": 1.4}
RHO = {"color": GREY, "linestyle": (0, (6, 2)), "linewidth": 1.2}
KEY_OF_RHO = "ρ of the zCDP mechanism"
KEY_OF_LAPLACE = "records with which Laplace noise has the mean error α"


def _exact_error(mechanism: PureFromZCDP) -> float:
    return float(mechanism.mean_errors(np.array([mechanism.worst_sum]))[0])


def _zcdp_error(mechanism: PureFromZCDP) -> float:
    return mechanism.alpha


def epsilon_spent(mechanism: PureFromZCDP) -> float:
    """Largest privacy loss over all pairs of neighbours and all outputs."""
    apart = mechanism.values - 1
    most = 0.0
    for block in mechanism.blocks(overlap=apart):
        logs = mechanism.log_laws(block)
        for moved in range(1, min(apart, len(block) - 1) + 1):
            most = max(most, float(np.abs(logs[moved:] - logs[:-moved]).max()))
    return most


def promised_epsilon(mechanism: PureFromZCDP) -> float:
    """Epsilon of the theorem."""
    return mechanism.epsilon


def promised_error(mechanism: PureFromZCDP) -> float:
    """Mean error of the theorem, ten times that of the zCDP mechanism."""
    return PROMISED_ERROR * mechanism.alpha


def _pure_quantiles(mechanism: PureFromZCDP) -> np.ndarray:
    worst = np.array([mechanism.worst_sum])
    away = np.abs(mechanism.answers(worst)[0] - mechanism.net)
    return quantiles_of_atoms(away, np.exp(mechanism.log_laws(worst)[0]))


def _zcdp_quantiles(mechanism: PureFromZCDP) -> np.ndarray:
    return np.asarray(mechanism.alpha * np.sqrt(np.pi / 2) * ndtri((1 + columns.QUANTILES) / 2))


EXACT = {
    PURE: _exact_error,
    ZCDP: _zcdp_error,
    "epsilon_spent": epsilon_spent,
    columns.quantile("pure_error"): _pure_quantiles,
    columns.quantile("zcdp_error"): _zcdp_quantiles,
}


def _atoms(mechanism: PureFromZCDP) -> losses.Atoms:
    """Return the losses of the points of T, and their probabilities on the data and on the neighbour."""
    p, q = mechanism.pair
    return p - q, np.exp(p), np.exp(q)


_LAWS = losses.laws_of_atoms(_atoms)
EXACT |= _LAWS.exact
UNKNOWN = losses.UNKNOWN
SURVIVAL, DELTA = _LAWS.survival, _LAWS.delta
PROMISED = losses.PROMISED
BOUND = {PURE: promised_error, "epsilon_spent": promised_epsilon}
UNITS = {"epsilon_spent": "nats"}


def rows(cell: Cell) -> Row:
    """Return one row: `pure_error` and `zcdp_error`, simulated with MCSE and 95% interval, and `_exact`.

    - `pure_error` is the error on the worst data set, and `pure_error_bound` the bound of the theorem.
    - `n`, `rho`, `alpha`: the zCDP mechanism. `records`: the number of records of the pure DP mechanism.
    - `epsilon`, `epsilon_spent`: the promised parameter and the exact one, the largest loss of all neighbours, in nats.
    - `points`: the number of points of the net. `most_points_log`: the log of the most that a packing can have, 2 rho
      n^2 + 2 log 2.
    - `laplace_records`: the number of records with which Laplace noise is epsilon-DP and has the mean error alpha.
    """
    mechanism = cell.mechanism
    row = cell.only(*LABELS) | {"n": mechanism.n, "rho": mechanism.rho, "epsilon": mechanism.epsilon}
    row |= {"values": mechanism.values, "alpha": mechanism.alpha, "records": mechanism.records}
    for name in ("pure_error", "zcdp_error"):
        row |= dict(zip((f"{name}{end}" for end in columns.INTERVAL), cell.mean(name)))
        row[f"{name}_skewness"] = cell.skewness(name)
    row |= cell.numbers(PURE, "pure_error", endings=(columns.EXACT, columns.BOUND))
    row |= cell.numbers(ZCDP, "zcdp_error", endings=(columns.EXACT,))
    row |= {"epsilon_spent": cell.get(f"epsilon_spent{columns.EXACT}", np.nan), "points": len(mechanism.net)}
    row["most_points_log"] = float(2 * mechanism.rho * mechanism.n**2 + 2 * np.log(2))
    return row | {"laplace_records": float(np.ceil(1 / (mechanism.epsilon * mechanism.alpha)))}


def report(table: pd.DataFrame, console) -> None:
    """Print the promised and exact numbers of every cell, and how well simulation and exact values agree."""
    headings = ("n", "ρ", "α", "n'", "net", "ε", "exact ε", "error/α", "exact")
    title = "Pure DP from zCDP (Theorem 32): n' records, ε and 10 α are promised"
    console.print(terminal_table(title, headings, map(_terminal_row, table.to_dict("records"))), soft_wrap=False)
    for name in ("pure_error", "zcdp_error"):
        console.print(agreement(name.replace("_", " "), *(table[name + end] for end in columns.WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    errors = [f"{row['pure_error' + end] / row['alpha']:.3f}" for end in ("", columns.EXACT)]
    texts = [f"{row['n']:g}", f"{row['rho']:.3g}", f"{row['alpha']:.3g}", f"{row['records']:,}", f"{row['points']}"]
    return [*texts, f"{row['epsilon']:g}", f"{row['epsilon_spent']:.4g}", *errors]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the error in units of alpha, the exact epsilon and rho, and the records, against n for each epsilon."""
    series = _series(table)
    styles = level_styles(series.loc[table.sort_values("epsilon", kind="stable").index])
    figure, grid = new_figure(1, 3, 10.2, 3.6)
    for label, style in styles.items():
        _lines(grid[0], table[series == label].sort_values("n"), style)
    promise = limit_styles([LIMIT])[LIMIT]
    grid[0, 0].axhline(PROMISED_ERROR, **promise)
    for level in table["epsilon"].unique():
        grid[0, 1].axhline(level, **promise)
    for axes, name in zip(grid[0], ("mean error over α", "exact ε, and ρ (nats)", "records n' over n²")):
        wide_log_axis(axes, table["n"].min(), table["n"].max())
        axes.set(xlabel="number of records n under zCDP", ylabel=name)
    grid[0, 0].set_ylim(0, 1.1 * PROMISED_ERROR)
    for axes in grid[0, 1:]:
        axes.set_yscale("log")
    limits = {LIMIT: promise, KEY_OF_RHO: RHO, KEY_OF_LAPLACE: LAPLACE | {"color": GREY}}
    legend_below(figure, styles | KEYS | limits, 3)
    headed(figure, _finding(table))
    values = "; ".join(f"{count} values a record" for count in sorted(table["values"].unique()))
    yield "pure_from_zcdp", captioned(figure, table.drop(columns="rho"), f"α: mean error under ρ-zCDP; {values}"), table


def _series(table) -> pd.Series:
    """Return the label of each row: epsilon, with rho where it is given, and the number of values where it varies."""
    label = "ε = " + table["epsilon"].map("{:g}".format)
    given = ~np.isclose(table["rho"] * table["n"] * np.sqrt(np.pi), 1)
    label += np.where(given, ", ρ = " + table["rho"].map("{:g}".format), "")
    return label + (", " + table["values"].map("{:d} values".format) if table["values"].nunique() > 1 else "")


def _lines(panels, cells, style) -> None:
    error, epsilon, records = panels
    ends = (cells[f"pure_error{end}"] / cells["alpha"] for end in ("", columns.LOWER, columns.UPPER))
    points(error, cells["n"], *ends, **marks_of(style))
    error.plot(cells["n"], cells["pure_error_exact"] / cells["alpha"], **line_of(style))
    epsilon.plot(cells["n"], cells["epsilon_spent"], **line_of(style) | {"linewidth": 2.4})
    epsilon.plot(cells["n"], cells["rho"], **RHO)
    records.plot(cells["n"], cells["records"] / cells["n"] ** 2, **line_of(style))
    records.plot(cells["n"], cells["laplace_records"] / cells["n"] ** 2, **LAPLACE | {"color": style["color"]})


def _finding(table) -> str:
    """Return the title: the largest error, the least share of epsilon, and the records in units of Laplace noise's."""
    error = (table["pure_error_exact"] / table["alpha"]).max()
    spent = (table["epsilon_spent"] / table["epsilon"]).min()
    more = (table["records"] / table["laplace_records"]).max()
    told = f"Pure DP from zCDP has an error of at most {error:.2g}α where Theorem 32 promises {PROMISED_ERROR:g}α"
    share = "all of ε" if spent > 0.9995 else f"{spent:.1%} of ε or more"
    return f"{told}, spends {share}, and needs up to {more:,.0f} times the records of Laplace noise"
