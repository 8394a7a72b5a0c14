"""Privacy amplification by subsampling: promised, proved and exact; and the best sampling fraction."""

from collections.abc import Iterator
from functools import wraps
from math import isnan

import numpy as np
import pandas as pd

from tcdp_sim.core.texts import blank
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.laws import WEIGHTS, binomial, quantiles_of_atoms
from tcdp_sim.experiments.subsampling import drawing, theory
from tcdp_sim.experiments.subsampling.task_drawing import tasks
from tcdp_sim.mechanisms.losses import NEIGHBOUR
from tcdp_sim.mechanisms.subsampled import Subsampled
from tcdp_sim.mechanisms.subsampled.histogram import SubsampledHistogram
from tcdp_sim.mechanisms.subsampled.selection import SubsampledSelection
from tcdp_sim.mechanisms.subsampled.thresholds import SubsampledThresholds
from tcdp_sim.privacy.amplification.schemes import SCHEMES
from tcdp_sim.privacy.relation import written
from tcdp_sim.report.plots import NEIGHBOURS, captioned
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import NUMBERS, Cell, Row
from tcdp_sim.store import columns

LABELS: tuple[str, ...] = ("noise", "data", "k", "scheme", "rho", "omega", "epsilon", "delta", "guarantee", "noise_law")
LABELS += ("base", "algorithm", "method", "records")
TASKS = ("missed", "missed_by_sampling", "median_rank_error", "sup_error")  # errors of bases other than the histogram
PARTS = (columns.mean, columns.quantile)
FINE = 120
LEAST_SHARE = 0.01  # of s times the largest threshold, at which a line of the tails begins


def _square_error(part: int):
    """Return the function for the expected square error: all of it (0) or the part due to sampling (1).

    The function is NaN for mechanisms without a known error.
    """

    def value(mechanism: Subsampled) -> float:
        plain = isinstance(mechanism, SubsampledHistogram) and mechanism.threshold is None
        return theory.square_error(mechanism)[part] if plain else np.nan

    return value


def _loss_tail(mechanism: Subsampled) -> float:
    if not isinstance(mechanism, SubsampledHistogram) or mechanism.threshold is None:
        return np.nan
    return float(theory.loss_tail(mechanism.noise, mechanism.fraction, mechanism.threshold))


def _delta(mechanism: Subsampled) -> float:
    if not isinstance(mechanism, SubsampledHistogram) or mechanism.threshold is None:
        return np.nan
    return theory.subsampled_delta(mechanism.noise, mechanism.fraction, mechanism.threshold)


def _whole(value):
    """Return a function for histograms without a threshold, NaN for other mechanisms."""

    @wraps(value)
    def of_histograms(mechanism: Subsampled):
        return (
            value(mechanism) if isinstance(mechanism, SubsampledHistogram) and mechanism.threshold is None else np.nan
        )

    return of_histograms


@_whole
def _square_noise(mechanism: SubsampledHistogram) -> float:
    return theory.square_noise(mechanism)


@_whole
def _mean_drawn(mechanism: SubsampledHistogram) -> float:
    whole = mechanism.fraction * mechanism.sampling.n
    return whole if mechanism.scheme.startswith("poisson") else float(mechanism.sampling.draws)


@_whole
def _drawn_quantiles(mechanism: SubsampledHistogram) -> np.ndarray:
    if mechanism.scheme.startswith("poisson"):
        return quantiles_of_atoms(*binomial(float(mechanism.sampling.n), mechanism.fraction))
    return np.full(len(columns.QUANTILES), float(mechanism.sampling.draws))


@_whole
def _mean_loss(mechanism: SubsampledHistogram) -> float:
    return pair_divergences.renyi(*pair_divergences.sampled(mechanism.noise, mechanism.fraction), 1.0).estimate


@_whole
def _loss_quantiles(mechanism: SubsampledHistogram) -> np.ndarray:
    return theory.loss_quantiles(mechanism.noise, mechanism.fraction, columns.QUANTILES)


ERRORS = ("square_error", "square_sampling_error")
EXACT = {columns.mean(name): _square_error(part) for part, name in enumerate(ERRORS)}
EXACT |= {
    columns.mean("loss_tail"): _loss_tail,
    columns.mean("hockey_stick"): _delta,
    columns.mean("square_noise_error"): _square_noise,
    columns.mean("records_drawn"): _mean_drawn,
    columns.quantile("records_drawn"): _drawn_quantiles,
    columns.mean("privacy_loss"): _mean_loss,
    columns.quantile("privacy_loss"): _loss_quantiles,
}
_SUM = "sums of squares of a sampled count and noise, over several bins, have no closed law"
_DEPENDENT = "the largest error is one of sampled counts with noise, whose law over all bins is not computed"
_BASE = "the law of the base mechanism's error is a sum over all subsamples, which is not computed"
_ON_NEIGHBOUR = "the law of the loss is computed for outputs on the data alone"
SURVIVAL = {"privacy_loss": theory.loss_survival}
DELTA = {"privacy_loss": theory.loss_delta}
UNKNOWN = {
    columns.mean("linf_error"): _DEPENDENT,
    columns.quantile("linf_error"): _DEPENDENT,
    **{columns.quantile(name): _SUM for name in (*ERRORS, "square_noise_error")},
    **{columns.quantile(name): WEIGHTS for name in ("loss_tail", "hockey_stick")},
    columns.quantile("privacy_loss"): "it is found for noise on the line whose loss rises with the output",
    **{part(NEIGHBOUR): _ON_NEIGHBOUR for part in PARTS},
    **{
        part(name): _BASE
        for base in (SubsampledSelection, SubsampledThresholds)
        for name in base.observables
        for part in PARTS
    },
    "top_selected": _BASE,
    columns.exceeds("sup_error", "bound"): _BASE,
}


RELATION = None  # the column `relation` states it in each row


def rows(cell: Cell) -> Iterator[Row]:
    """Yield the simulated values of a cell: `simulated` with `mcse`, 95% interval `lower`, `upper`, and `exact`.

    - `figure`: "error", "tail" or "task". `quantity` is the line, and `at` the sampling fraction or the threshold.
    - `unit`: the unit of the numbers. Errors are mean square errors over the occupied bins, in counts squared. Errors
      of tasks (selection, thresholds) are mean numbers of records, and have no exact value here.
    - `relation`: the neighbouring relation of the row's guarantee. The guarantee is about the answer if that has a
      target (`epsilon`), else about the base. Only rows with the same relation compare like with like.
    """
    mechanism, labels = cell.mechanism, _labels(cell)
    if not isinstance(mechanism, SubsampledHistogram):
        given = [name for name in TASKS if not pd.isna(cell.get(columns.mean(name)))]
        yield from (labels | _measured("task", cell, name, labels["fraction"]) for name in given)
    elif mechanism.threshold is not None:
        yield labels | _measured("tail", cell, "loss_tail", mechanism.threshold)
    else:
        for name in ERRORS:
            yield labels | _measured("error", cell, name, mechanism.fraction)


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield the rows that are known without simulation (trials = 0): exact tails, then theory for every rho of those.

    Theory is at the sampling fractions of the tails that are below one, and at the smallest delta of the sweep.
    `figure` is "tail", "curve", "profile" or "releases". `at` is the threshold, the order, epsilon or the number of
    releases.
    """
    tails = [cell for cell in cells if getattr(cell.mechanism, "threshold", None) is not None]
    lines = {(cell["noise_law"], cell.mechanism.fraction): cell for cell in tails}
    for cell in lines.values():
        yield from _tail_line(cell, max(each.mechanism.threshold for each in tails))
    delta = min((cell["delta"] for cell in cells if not blank(cell.get("delta"))), default=theory.DELTA)
    for rho in sorted({cell["rho"] for cell in lines.values()}):
        own = {float(cell["s"]) for cell in lines.values() if cell["rho"] == rho}
        fractions = tuple(sorted(s for s in own if s < 1))
        yield from (row | {"rho": rho, "trials": 0} for row in theory.rows(rho, fractions, delta))


def _labels(cell: Cell) -> Row:
    about = {"fraction": cell.mechanism.sampling.fraction, "trials": cell["trials"], "relation": _relation(cell)}
    return {name: cell.get(name, np.nan) for name in LABELS} | cell.noise | about


def _relation(cell: Cell) -> str:
    scheme, target = SCHEMES[cell["scheme"]], cell.get("epsilon")
    return written(scheme.outer if not blank(target) else scheme.base)


def _measured(figure: str, cell: Cell, observable: str, at: float) -> Row:
    numbers = cell.numbers(columns.mean(observable), "simulated")
    row = {name.removeprefix("simulated_"): value for name, value in numbers.items()}
    return {"figure": figure, "quantity": observable, "at": at, "unit": Subsampled.observables[observable].unit} | row


def _tail_line(cell: Cell, top: float) -> Iterator[Row]:
    row = _labels(cell) | {"trials": 0, "figure": "tail", "quantity": "loss_tail", "unit": "1"}
    at = np.geomspace(LEAST_SHARE * cell.mechanism.fraction * top, top, FINE) if top > 0 else np.zeros(1)
    for x, value in zip(at.tolist(), theory.loss_tail(cell.mechanism.noise, cell.mechanism.fraction, at).tolist()):
        yield row | {"at": x, "exact": value}


def report(table: pd.DataFrame, console) -> None:
    """Print the accountings side by side, the best fractions, and how well simulation and exact values agree."""
    for rho, part in table[table["figure"] == "releases"].groupby("rho"):
        wide = part.pivot_table(index="quantity", columns="at", values="exact", sort=False)
        at = f"δ = {part['delta'].iloc[0]:g} after T releases of Gaussian noise, s = {part['fraction'].iloc[0]:g}"
        title = f"ε (nats) at {at}, ρ = {rho:g}"
        title += "\nneighbours add or remove one record; those of Theorem 11 substitute one"
        headings = ("accounting; T =", *(f"1e{np.log10(releases):.0f}" for releases in wide.columns))
        rows = [(str(accounting), *map(_short, values)) for accounting, values in wide.iterrows()]
        console.print(terminal_table(title, headings, rows), soft_wrap=False)
    for line in _least(best(table)):
        console.print(line, markup=False)
    drawn = table[table["trials"] > 0]
    if len(drawn):
        console.print(agreement("value", *(drawn[name] for name in (*NUMBERS, "exact")), things="numbers"))


def _least(best_fractions) -> Iterator[str]:
    """Yield the least errors; those that compare like with like stand under one heading."""
    if best_fractions.empty:
        return
    alike = ["data", "epsilon", "delta", "relation"]
    for (data, epsilon, delta, relation), rows in best_fractions.groupby(alike, sort=False):
        yield f"{data}, ({epsilon:g}, {delta:g})-DP, neighbours {NEIGHBOURS[relation]}: root-mean-square error"
        for row in rows.to_dict("records"):
            least = f"least error {np.sqrt(row['exact']):.4g} counts at s = {row['at']:.3g}"
            line = f"  {row['noise']}, {row['scheme']}: {least}"
            gain = np.sqrt(row["whole"] / row["exact"])
            yield line if row["at"] == 1 else f"{line}, {gain:.3g} times less than at s = 1"
    if best_fractions["relation"].nunique() > 1:
        yield "Different neighbours do not compare: a substituted record moves two bins, which costs more noise."


def _short(value) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.1e}".replace("e+0", "e")


def best(table: pd.DataFrame) -> pd.DataFrame:
    """Return the sampling fraction of least expected error for every data set, noise and scheme with a final target.

    `whole` is the expected square error at s = 1 under the same neighbouring relation.
    """
    part = table[(table["figure"] == "error") & (table["quantity"] == "square_error") & table["epsilon"].notna()]
    rows = []
    for _, group in part.groupby(["data", "noise", "scheme", "epsilon"], sort=False):
        whole = group.loc[group["at"] == group["at"].max(), "exact"].iloc[0]
        rows.append(group.iloc[int(group["exact"].argmin())].to_dict() | {"whole": whole})
    return pd.DataFrame(rows)


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) Renyi curves, (b) profiles, (c) releases, (d) errors on the data, (e) loss tails, (f) tasks.

    Figures (a) to (c) are drawn for each rho.
    """
    for rho in sorted(table.loc[table["figure"] == "curve", "rho"].unique()):
        suffix = f"_rho_{rho:g}" if table.loc[table["figure"] == "curve", "rho"].nunique() > 1 else ""
        for kind, name, draw, unit in (
            ("curve", "renyi_curves", drawing.curves, "divergences in nats"),
            ("profile", "profiles", drawing.profiles, "ε in nats"),
            ("releases", "releases", drawing.releases, "ε in nats"),
        ):
            part = table[(table["figure"] == kind) & (table["rho"] == rho)].dropna(axis=1, how="all")
            yield f"{name}{suffix}", _captioned(draw(part, rho), part, unit), part
    part = table[(table["figure"] == "error") & table["epsilon"].notna()] if "epsilon" in table else table[:0]
    if len(part):
        figure = drawing.errors(_named(part), _named(best(table)))
        yield "error", _captioned(figure, part, "errors in counts"), part.dropna(axis=1, how="all")
    tails = table[table["figure"] == "tail"]
    for rho in tails["rho"].unique():
        part, suffix = tails[tails["rho"] == rho], f"_rho_{rho:g}" if tails["rho"].nunique() > 1 else ""
        figure = _captioned(drawing.tails(_named(part)), part, "losses in nats")
        yield f"loss_tails{suffix}", figure, part.dropna(axis=1, how="all")
    part = table[table["figure"] == "task"].dropna(axis=1, how="all")
    if len(part):
        yield "tasks", _captioned(tasks(part), part, "errors in records"), part


def _captioned(figure, part, unit):
    """Return the figure with a caption, which takes the neighbouring relation from the rows."""
    return captioned(figure, part.rename(columns={"relation": "neighbours"}), unit)


def _named(part):
    """Return the rows with a column `label`: the noise and its omega, if it has one."""
    omegas = part["omega"].map(lambda omega: "" if isnan(omega) else f", ω = {omega:.4g}")
    return part.assign(label=part["noise_label"] + omegas)
