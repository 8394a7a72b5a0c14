"""Training runs: simulated delta and epsilon by the sampler, against brackets and the printed epsilon."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.experiments.laws import WEIGHTS
from tcdp_sim.experiments.ledger.inverse import epsilon_interval
from tcdp_sim.experiments.training import drawing
from tcdp_sim.experiments.training.exact_values import DELTA, EPSILON, NEEDED, THREE, VALUES, delta_from_above
from tcdp_sim.report.plots import captioned
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

LABELS = ("sampler", "sigma", "steps", "epochs", "batch", "most", "group", "direction")

EXACT = VALUES
BOUND = {columns.mean(name): delta_from_above for name in ("hockey_stick", "plain")}
_ABOVE = "the ledger brackets delta, and not the probability that the loss exceeds epsilon"
UNKNOWN = {
    columns.mean("slope"): "the brackets are of delta, and not of its derivative",
    **{columns.quantile(name): WEIGHTS for name in ("hockey_stick", "slope")},
    columns.quantile("plain"): "the ledger brackets the mean of the trials, which is delta, and not their quantiles",
    **dict.fromkeys(("above_with", "above_without"), _ABOVE),
}
UNITS = {name: "nats" if "epsilon" in name else "1" for name in EXACT}


def rows(cell: Cell) -> Iterator[Row]:
    """Yield a row for each quantity of a cell: "delta" at the epsilon `at`, and "epsilon" at the delta `at`.

    - `simulated`, `mcse`, `lower`, `upper`: the simulated number, its standard error and its 95% interval (normal
      approximation), by importance sampling. Epsilon is in nats. They hold with confidence, and prove nothing.
    - `exact_low`, `exact_high`: the ends of the bracket in this direction.
    - `exact`: the number in the bracket that is closest to the simulated one, with which it is compared.
    - `plain`, `plain_mcse`, `plain_exact`: delta by runs without importance sampling, for the rows of delta.
    - `printed`, `least`, `largest`: the epsilon that libraries print, and the ends that are proved for the run.
    - `needed`: the noise with which the run is proved to have the printed epsilon.
    - `draws`: the draws for a relative error of 1% by importance sampling.
    """
    mechanism = cell.mechanism
    labels = {name: getattr(mechanism, name) for name in LABELS} | cell.only("trials")
    delta = cell.mean("hockey_stick")
    numbers = (*delta[:2], *np.clip(delta[2:], 0, 1).tolist())
    proved = dict(zip(("printed", "least", "largest", "needed"), (cell.get(name, np.nan) for name in _PUBLISHED)))
    work = {"draws": drawing.ONE_PERCENT * cell["trials"] * (delta[1] / delta[0]) ** 2 if delta[0] > 0 else np.nan}
    skewness = {"skewness": cell.skewness("hockey_stick")}
    found = _compared(cell, numbers, DELTA)
    more = _plain(cell, found) | {"simulated_delta": delta[0]} | proved | work | skewness
    yield labels | {"quantity": "delta", "at": mechanism.epsilon} | found | more
    if mechanism.delta is not None:
        bend = min(abs(np.log(delta[0] / mechanism.delta)), 1.0) if delta[0] > 0 else 1.0  # losses have a density
        numbers = epsilon_interval(mechanism.epsilon, mechanism.delta, delta, cell.mean("slope"), bend)
        found = _compared(cell, numbers, EPSILON)
        yield labels | {"quantity": "epsilon", "at": mechanism.delta} | found | proved | skewness


_PUBLISHED = tuple(name + columns.EXACT for name in (*THREE, NEEDED))


def _compared(cell: Cell, numbers: tuple[float, ...], names: tuple[str, str]) -> Row:
    low, high = (cell.get(name + columns.EXACT, np.nan) for name in names)
    ends = {"exact": float(np.clip(numbers[0], low, high)), "exact_low": low, "exact_high": high}
    return dict(zip(NUMBERS, numbers)) | ends


def _plain(cell: Cell, ends: Row) -> Row:
    """Return delta by plain runs, with the number in the bracket that is closest to it."""
    value, mcse, lower, upper = cell.mean("plain")
    exact = float(np.clip(value, ends["exact_low"], ends["exact_high"]))
    found = {"plain": value, "plain_mcse": mcse, "plain_lower": lower, "plain_upper": upper, "plain_exact": exact}
    return found | {"plain_skewness": cell.skewness("plain")}


def report(table: pd.DataFrame, console) -> None:
    """Print the three epsilons with the simulated one, and how well simulated numbers agree with brackets."""
    for delta, part in table[table["quantity"] == "epsilon"].groupby("at"):
        headings = (
            "sampler",
            "sigma",
            "steps",
            "epochs",
            "most",
            "printed",
            "at least",
            "at most",
            "simulated",
            "± MCSE",
        )
        texts = map(_terminal_row, part.to_dict("records"))
        console.print(terminal_table(f"ε at δ = {delta:g} (nats)", headings, texts), soft_wrap=False)
    console.print("printed: of Poisson samples; at least, at most: proved for the sampler, in the worse direction.")
    console.print("simulated: in the direction of the cell, with confidence 95%; nothing simulated is a guarantee.")
    console.print(agreement("value", *(table[name] for name in (*NUMBERS, "exact")), things="numbers"))


def _terminal_row(row) -> list[str]:
    most = "" if row["most"] is None or np.isnan(row["most"]) else f"{row['most']:g}"
    labels = (row["sampler"], f"{row['sigma']:g}", f"{row['steps']:,}", f"{row['epochs']}", most)
    ends = ("" if np.isnan(row[end]) else f"{row[end]:.4g}" for end in ("printed", "least", "largest"))
    return [*labels, *ends, f"{row['simulated']:.4g}", f"{row['mcse']:.1g}"]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the three epsilons, the noise that is needed, delta(epsilon), cut samples, and the draws for 1%."""
    for name, part in drawing.parts(table):
        yield name, captioned(drawing.FIGURES[name](part), part, drawing.UNITS[name]), part
