"""Training with correlated noise: errors of prefix sums against the number of bands, at equal privacy and batch."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pandas as pd

from tcdp_sim.accounting import Ledger
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.laws import WEIGHTS
from tcdp_sim.mechanisms.correlated_noise import CorrelatedNoise
from tcdp_sim.report.looks import series_styles
from tcdp_sim.report.plots import captioned, headed, line_key, new_figure, note, plain_log_axis
from tcdp_sim.report.tables import terminal_table
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

DIRECTIONS = tuple(CorrelatedNoise.observables)
DELTA = ("delta_from_below", "delta_from_above")
ERRORS = ("root_mean_square_error", "largest_error")
LABELS = ("bands", "steps", "epochs", "participation", "epsilon", "delta", "sigma")
NAMES = {
    "same_bins": "a random step, the same in each epoch",
    "cyclic": "sampled when its group has its turn",
    "known": "steps that the adversary knows",
}
LOOKS = series_styles((name, "") for name in NAMES)
MOST_PANELS = 4
_FINE = 1e-3  # relative tolerance of an end


@lru_cache(maxsize=4)
def _proved(mechanism: CorrelatedNoise) -> Bounds:
    """Return the proved ends of delta, of the worse direction."""
    return Ledger([mechanism.release], "zero_out").delta(mechanism.epsilon, _FINE)


def _below(mechanism: CorrelatedNoise) -> float:
    return _proved(mechanism).lower


def _above(mechanism: CorrelatedNoise) -> float:
    return _proved(mechanism).upper


def _root_mean_square(mechanism: CorrelatedNoise) -> float:
    return float(mechanism.release.prefix_sum_errors().root_mean_square)


def _largest(mechanism: CorrelatedNoise) -> float:
    return float(mechanism.release.prefix_sum_errors().largest)


EXACT = dict(zip((*DELTA, *ERRORS), (_below, _above, _root_mean_square, _largest)))
BOUND = {columns.mean(way): _above for way in DIRECTIONS}
UNKNOWN = {columns.quantile(way): WEIGHTS for way in DIRECTIONS}
UNITS = {**dict.fromkeys(DELTA, "1"), **dict.fromkeys(ERRORS, "clipping lengths")}


def rows(cell: Cell) -> Iterator[Row]:
    """Yield the row of a cell.

    - `sigma`: the noise multiplier that the run needs for (epsilon, delta).
    - `root_mean_square_error`, `largest_error`: standard deviations of the noise of prefix sums, in clipping lengths.
    - `simulated`, `mcse`, `lower`, `upper`: delta of the worse direction by simulation, its standard error and its 95%
      interval (normal approximation). The draws are not those that sigma was found with.
    - `delta_from_below`, `delta_from_above`: the proved ends of delta.
    """
    labels = {name: getattr(cell.mechanism, name) for name in LABELS} | cell.only("trials")
    exact = {name: cell.get(name + columns.EXACT, np.nan) for name in (*ERRORS, *DELTA)}
    delta = max((cell.mean(way) for way in DIRECTIONS), key=lambda found: found[0])
    yield labels | exact | dict(zip(NUMBERS, (*delta[:2], *np.clip(delta[2:], 0, 1).tolist())))


def report(table: pd.DataFrame, console) -> None:
    """Print the noise, the errors and the simulated delta of each run."""
    headings = ("ε", "a record's steps", "bands", "σ", "error, root mean square", "largest", "simulated δ / δ", "±")
    texts = map(_terminal_row, table.sort_values(["epsilon", "participation", "bands"]).to_dict("records"))
    console.print(terminal_table("Errors of prefix sums at equal (ε, δ), in clipping lengths", headings, texts))


def _terminal_row(row) -> list[str]:
    labels = (f"{row['epsilon']:g}", row["participation"], f"{row['bands']:,}", f"{row['sigma']:.4g}")
    errors = (f"{row[name]:.4g}" for name in ERRORS)
    return [*labels, *errors, f"{row['simulated'] / row['delta']:.3g}", f"{row['mcse'] / row['delta']:.1g}"]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the root mean square error against the number of bands, with a panel for each setting."""
    yield "error_vs_bands", captioned(_figure(table), table, "errors in clipping lengths"), table


def _figure(table):
    from matplotlib.ticker import StrMethodFormatter  # imported late, as for all drawings

    panels = list(table.groupby(["epsilon", "delta", "steps", "epochs"]))
    shown = panels[:MOST_PANELS]
    figure, grid = new_figure(1, len(shown), max(2.2 + 2.9 * len(shown), 5.4), 4.1)
    drawn = [name for name in NAMES if name in set(table["participation"])]
    for axes, ((epsilon, *rest), part) in zip(grid[0], shown):
        for name in drawn:
            line = part[part["participation"] == name].sort_values("bands")
            axes.plot(line["bands"], line[ERRORS[0]], **LOOKS[name])
        axes.set(xlabel="number of bands (1: DP-SGD)", title=_title(epsilon, rest, panels))
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        plain_log_axis(axes)
    grid[0][0].set_ylabel("error of prefix sums\n(root mean square, clipping lengths)")
    keys = {NAMES[name]: line_key(**LOOKS[name]) for name in drawn}
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=1)
    if len(shown) < len(panels):
        note(figure, "left out", f"{len(shown)} of {len(panels)} settings")
    headed(figure, _finding(table))
    return figure


def _title(epsilon: float, rest, panels) -> str:
    """Return what tells a panel from the others."""
    delta, steps, epochs = rest
    others = {tuple(key[1:]) for key, _ in panels}
    return f"ε = {epsilon:g}" + (f", δ = {delta:g}, {epochs:g} × {steps:g} steps" if len(others) > 1 else "")


def _finding(table) -> str:
    """Return the largest gain over one band as a sentence."""
    best = []
    for _, part in table.groupby(["epsilon", "delta", "steps", "epochs", "participation"]):
        one = part.loc[part["bands"] == 1, ERRORS[0]]
        if len(one) and len(part) > 1:
            best.append((float(one.iloc[0] / part[ERRORS[0]].min()), part.loc[part[ERRORS[0]].idxmin()]))
    if not best:
        return "Errors of prefix sums at equal privacy"
    gain, row = max(best, key=lambda each: each[0])
    if gain < 1.005:
        return "At equal privacy no number of bands has less error than one"
    bands = f"{row['bands']:,} bands" if row["bands"] > 1 else "one band"
    return f"At equal privacy {bands} make errors up to {gain:.3g} times smaller than one band (DP-SGD)"
