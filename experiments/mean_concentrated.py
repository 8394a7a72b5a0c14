"""Mean-concentrated DP under postprocessing: the least tau of a release and of a bit of it, exactly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.core.arrays import Floats
from tcdp_sim.experiments import losses
from tcdp_sim.experiments.laws import quantiles_of_atoms
from tcdp_sim.mechanisms.mean_concentrated import MeanConcentrated
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import level_styles, line_of, marks_of
from tcdp_sim.report.plots import GREY, captioned, headed, limit_styles, new_figure, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

LOSS, BIT = columns.mean("loss"), "bit"
LABELS = ("guarantee", "trials")
RELEASED = "the release itself"
ZCDP: dict[str, Any] = {"linestyle": (0, (1, 2)), "linewidth": 1.4}
KEYS: dict[str, dict[str, Any]] = {
    "lines join exact values: τ of the bit, mean loss": {"color": GREY},
    "markers: simulated, 95% interval": {"color": GREY, "marker": "o", "linestyle": "none"},
    "√2ρ of the bit under zCDP": ZCDP | {"color": GREY},
}


def _mean_loss(mechanism: MeanConcentrated) -> float:
    ones = np.arange(mechanism.answers + 1)
    return float(np.exp(mechanism.log_law) @ (mechanism.epsilon * (2.0 * ones - mechanism.answers)))


def _chance(mechanism: MeanConcentrated) -> float:
    return float(np.exp(mechanism.log_bits[0][1]))


def bit_tau(mechanism: MeanConcentrated) -> float:
    """Least tau with which the loss of the bit is subgaussian around its mean, the larger of both directions.

    For two values, `width` apart, with the log odds o: tau^2 = width^2 tanh(o/2)/(2 o) (Kearns and Saul 1998).
    """
    width = float(np.diff(mechanism.bit_losses)[0])
    odds = np.array([law[1] - law[0] for law in mechanism.log_bits])
    shares = np.where(odds == 0, 0.25, np.tanh(odds / 2) / (2 * np.where(odds == 0, 1.0, odds)))
    return float(abs(width) * np.sqrt(shares.max()))


def bit_root_two_rho(mechanism: MeanConcentrated) -> float:
    """Root of twice the least rho with which the bit is rho-zCDP, the larger of both directions, to about 1e-7."""
    one, zero = mechanism.log_bits
    return float(np.sqrt(2 * max(_least_rho(one, one - zero), _least_rho(zero, zero - one))))


def _least_rho(log_p: Floats, loss: Floats) -> float:
    """Return the supremum of D_order/order over order >= 1, for a law with these log probabilities and losses."""
    s = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 40_000)])  # order - 1
    moments = np.logaddexp.reduce(np.multiply.outer(s[1:], loss) + log_p, axis=1)
    divergences = np.concatenate([[np.exp(log_p) @ loss], moments / s[1:]])
    return float((divergences / (1 + s)).max())


def released_tau(mechanism: MeanConcentrated) -> float:
    """Tau of the release."""
    return mechanism.guarantee.tau


EXACT: dict[str, Any] = {LOSS: _mean_loss, BIT: _chance, "bit_tau": bit_tau, "bit_root_two_rho": bit_root_two_rho}


def _of_ones(mechanism: MeanConcentrated) -> tuple[Any, Any, Any]:
    """Return the losses of the numbers of ones, and their probabilities on the data and on the neighbour."""
    law = np.exp(mechanism.log_law)
    return mechanism.epsilon * (2.0 * np.arange(mechanism.answers + 1) - mechanism.answers), law, law[::-1]


def _loss_quantiles(mechanism: MeanConcentrated) -> Floats:
    return quantiles_of_atoms(*_of_ones(mechanism)[:2])


_LAWS = losses.laws_of_atoms(_of_ones)
EXACT |= {columns.quantile("loss"): _loss_quantiles, **_LAWS.exact}
UNKNOWN = losses.UNKNOWN
SURVIVAL, DELTA = _LAWS.survival, _LAWS.delta
BOUND = {"bit_root_two_rho": released_tau}
UNITS = {"bit_tau": "nats", "bit_root_two_rho": "nats"}


def rows(cell: Cell) -> Row:
    """Return one row: `loss`, its mean in nats, and `bit`, the probability of a one, simulated and exact.

    - Both have MCSE and 95% interval, and `_exact`. `bit_loss`, the mean loss of the bit, is computed from `bit`.
    - `answers`, `epsilon`, `cut`: the release and the bit. `mu`, `tau`: the release is (mu, tau)-mCDP, exactly.
    - `bit_tau`: the least tau of the bit. It is above `tau` where postprocessing loses the guarantee.
    - `bit_root_two_rho`: the same under zCDP, where the release has `tau`.
    """
    mechanism = cell.mechanism
    row = cell.only(*LABELS) | {"answers": mechanism.answers, "epsilon": mechanism.epsilon, "cut": mechanism.cut}
    row |= {"mu": mechanism.guarantee.mu, "tau": mechanism.guarantee.tau}
    row |= dict(zip((f"loss{end}" for end in columns.INTERVAL), cell.mean("loss")))
    row |= cell.numbers(LOSS, "loss", endings=(columns.EXACT,)) | {"loss_skewness": cell.skewness("loss")}
    row |= (bit := cell.numbers(BIT, "bit"))
    zero, one = mechanism.bit_losses.tolist()
    for end in ("", columns.LOWER, columns.UPPER, columns.EXACT):
        row[f"bit_loss{end}"] = zero + (one - zero) * bit[f"bit{end}"]
    return row | {name: cell.get(f"{name}{columns.EXACT}", np.nan) for name in ("bit_tau", "bit_root_two_rho")}


def report(table: pd.DataFrame, console) -> None:
    """Print the bits with the largest tau, and how well simulation and exact values agree."""
    headings = ("answers", "ε", "μ = τ²/2", "τ", "cut", "τ of the bit", "√2ρ of the bit")
    worst = table.loc[table.groupby(["answers", "epsilon"])["bit_tau"].idxmax()]
    title = "Mean-concentrated DP: the bit (number of ones at least the cut) with the largest τ"
    console.print(terminal_table(title, headings, map(_terminal_row, worst.to_dict("records"))), soft_wrap=False)
    console.print(f"{len(table)} cells in all: see the CSV files beside the figures.")
    for name, words in (("loss", "mean loss"), ("bit", "probability of the bit")):
        console.print(agreement(words, *(table[name + end] for end in columns.WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    texts = [f"{row['answers']}", f"{row['epsilon']:g}", f"{row['mu']:.4g}", f"{row['tau']:.4g}", f"{row['cut']}"]
    return [*texts, f"{row['bit_tau']:.4g}", f"{row['bit_root_two_rho']:.4g}"]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw tau of the bits divided by tau of the release, and the mean losses likewise, against the cut."""
    several = table["answers"].nunique() > 1
    series = table.apply(lambda row: _label(row, several), axis=1)
    styles = level_styles(series.loc[table.sort_values(["epsilon", "answers"], kind="stable").index])
    figure, grid = new_figure(1, 2, 9.0, 3.7)
    for label, style in styles.items():
        _lines(grid[0], table[series == label].sort_values("cut"), style)
    limit = limit_styles([RELEASED])[RELEASED]
    for axes, name in zip(grid[0], ("τ of the bit over that of the release", "mean loss of the bit over μ")):
        axes.axhline(1, **limit)
        axes.set(xlabel="cut: least number of ones", ylabel=name)
        axes.set_ylim(bottom=0)
    legend_below(figure, styles | KEYS | {RELEASED: limit}, 3)
    headed(figure, _finding(table))
    sizes = ", ".join(f"{count}" for count in sorted(table["answers"].unique()))
    unit = f"number of ones among {sizes} answers by randomised response, each ε-DP"
    yield "mean_concentrated", captioned(figure, table, unit), table


def _lines(panels, cells, style) -> None:
    least, mean = panels
    least.plot(cells["cut"], cells["bit_tau"] / cells["tau"], **line_of(style))
    least.plot(cells["cut"], cells["bit_root_two_rho"] / cells["tau"], **ZCDP | {"color": style["color"]})
    ends = (cells[f"bit_loss{end}"] / cells["mu"] for end in ("", columns.LOWER, columns.UPPER))
    points(mean, cells["cut"], *ends, **marks_of(style))
    mean.plot(cells["cut"], cells["bit_loss_exact"] / cells["mu"], **line_of(style))


def _label(row, several: bool) -> str:
    return f"ε = {row['epsilon']:g}" + (f", {row['answers']:.0f} answers" if several else "")


def _finding(table) -> str:
    """Return the title: the bit with the largest tau, divided by tau of the release, and the largest rho."""
    worst = table.loc[(table["bit_tau"] / table["tau"]).idxmax()]
    ratio = worst["bit_tau"] / worst["tau"]
    told = f"a bit has up to {ratio:.3g} times the τ of its release (ε = {worst['epsilon']:g}, cut {worst['cut']})"
    kept = (table["bit_root_two_rho"] / table["tau"]).max()
    verdict = "does not survive postprocessing" if ratio > 1 else "survives these cuts"
    return f"Mean-concentrated DP {verdict}, because {told}, and √2ρ of zCDP is at most {kept:.3g} times that τ"
