"""Private sets of keys: how many keys and which share of the records each method releases, simulated and exact."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tcdp_sim.experiments import losses
from tcdp_sim.experiments.laws import quantiles_of_atoms, sum_of_binomials
from tcdp_sim.mechanisms.partition_selection import PartitionSelection
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles
from tcdp_sim.report.plots import GREY, captioned, headed, new_figure, plain_log_axis, points, rounded_in
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.selection.keys import OptimalApproxDP, OptimalRDP, OptimalTCDP, ThresholdCurve
from tcdp_sim.store import columns

KEYS, RECORDS = columns.mean("keys"), columns.mean("records")
TARGET = ("epsilon", "rho", "omega", "delta")
PERSON = "keys_per_person"
MOST_MOVED = 12  # keys of a person, up to which the law of the loss is computed over all sets of them
AXES = {"rho": "ρ (nats)", "epsilon": "ε (nats)", PERSON: "largest number of keys of a person"}
NAMES = {
    "optimal_dp": "optimum under (ε, δ)-DP",
    "optimal_rdp": "optimum under Rényi DP",
    "optimal_tcdp": "optimum under tCDP",
}


def _probabilities(mechanism: PartitionSelection) -> np.ndarray:
    """Return the probability of release of each class of keys, by another way than the simulation's.

    The simulation draws the noise of a threshold, and uses the closed form or the attained values of the best curves.
    Here are the tail of the noise, the recursion and the dual bounds.
    """
    curve, (values, _) = mechanism.curve, mechanism.classes
    if isinstance(curve, OptimalTCDP | OptimalRDP):
        return curve.upper(values)
    if isinstance(curve, OptimalApproxDP):
        return _recursion(curve)[np.minimum(-(-values // curve.per_key), curve.last)]
    return curve.released(values)


def _recursion(curve: OptimalApproxDP) -> np.ndarray:
    """Return the largest values step by step: each is the largest that both conditions allow after the one before."""
    found = [0.0]
    for _ in range(curve.last):
        rest = 1 - found[-1]
        up = np.exp(curve.epsilon) * found[-1] + curve.delta
        found.append(float(min(up, 1 - np.exp(-curve.epsilon) * (rest - curve.delta), 1.0)))
    return np.array(found)


def _keys(mechanism: PartitionSelection) -> float:
    return float(_probabilities(mechanism) @ mechanism.classes[1])


def _records(mechanism: PartitionSelection) -> float:
    values, times = mechanism.classes
    return float(_probabilities(mechanism) @ (values * times))


def _key_quantiles(mechanism: PartitionSelection) -> np.ndarray:
    probabilities = np.clip(_probabilities(mechanism), 0.0, 1.0)  # the dual bounds may exceed 1 by rounding
    return quantiles_of_atoms(*sum_of_binomials(mechanism.classes[1].astype(float), probabilities))


EXACT = {KEYS: _keys, RECORDS: _records, columns.quantile("keys"): _key_quantiles}


def _atoms(mechanism: PartitionSelection) -> losses.Atoms:
    """Return the law of the loss over all sets of the moved keys, as `losses.laws_of_atoms` asks for it."""
    p, q = (np.append(mechanism.curve.released(n), mechanism.curve.withheld(n)) for n in mechanism.moved)
    if len(p) > 2 * MOST_MOVED:
        raise ValueError(f"the sets of more than {MOST_MOVED} keys are too many")
    p, q = _of_sets(p), _of_sets(q)
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN for sets that never come
        return np.log(p) - np.log(q), p, q


def _of_sets(probabilities: np.ndarray) -> np.ndarray:
    law = np.ones(1)
    for shown, hidden in probabilities.reshape(2, -1).T:
        law = np.append(law * hidden, law * shown)
    return law


_LAWS = losses.laws_of_atoms(_atoms)
EXACT |= _LAWS.exact
SURVIVAL, DELTA = _LAWS.survival, _LAWS.delta
PROMISED = losses.PROMISED
UNKNOWN = {
    columns.quantile("records"): "the sum of the records of the released keys, each with its own weight, has no law "
    "that is computed",
    **losses.UNKNOWN,
}


def rows(cell: Cell) -> Row:
    """Return one row: the keys that are released and the share of the records that these keys have.

    - `keys`: mean number of released keys, simulated, with `_mcse`, `_lower`, `_upper` and `_exact`.
    - `records`: mean number of records whose key is released, in the same form.
    - `keys_in_data`, `records_in_data`: the numbers without privacy.
    - `records_for_half`: the fewest records of a key that is released with probability 1/2.
    - `threshold`: the threshold in counts; NaN for the best curves.
    """
    mechanism = cell.mechanism
    row = (
        cell.only("method", "noise", "data")
        | cell.noise
        | {name: cell.law["target"].get(name, np.nan) for name in TARGET}
    )
    row |= {PERSON: cell.law["keys"], "records_per_key": mechanism.curve.per_key}
    row |= cell.only("guarantee", "trials")
    row |= cell.numbers(KEYS, "keys", endings=columns.WITH_EXACT)
    row |= cell.numbers(RECORDS, "records", endings=columns.WITH_EXACT)
    row |= {"keys_in_data": len(mechanism.counts), "records_in_data": int(mechanism.counts.sum())}
    row["records_for_half"] = mechanism.curve.records_needed(0.5)
    row["threshold"] = mechanism.curve.threshold if isinstance(mechanism.curve, ThresholdCurve) else np.nan
    row["series"] = NAMES.get(row["method"]) or f"threshold, {_noise_name(mechanism.curve)}"
    return row


def _noise_name(curve: ThresholdCurve) -> str:
    """Return the name of the noise of a threshold; with the comparison where it matters."""
    noise = curve.noise
    name = noise.family.replace("_", " ").replace("gaussian", "Gaussian").replace("laplace", "Laplace")
    return f"{name} noise" + (f" ({curve.comparison})" if noise.is_discrete else "")


def report(table: pd.DataFrame, console) -> None:
    """Print the keys and the share of the records for each target, and how well simulated and exact values agree."""
    for (data, guarantee, keys), part in table.groupby(["data", "guarantee", PERSON], sort=False):
        person = "" if keys == 1 else f", {keys:g} keys a person"
        title = f"{data}: {part['keys_in_data'].iloc[0]:,} keys, {guarantee}{person}"
        headings = ("method", "keys", "± MCSE", "exact", "share of records", "records for 1/2")
        part = part.sort_values("keys_exact", ascending=False, kind="stable")
        console.print(terminal_table(title, headings, map(_terminal_row, part.to_dict("records"))), soft_wrap=False)
    for name, what in (("keys", "number of keys"), ("records", "number of records")):
        random = table[table[name + columns.MCSE] > 0]  # in the others every key is as good as sure
        console.print(agreement(what, *(random[name + end] for end in columns.WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    counts = [f"{row['keys']:,.6g}", f"{row['keys_mcse']:.1g}", f"{row['keys_exact']:,.6g}"]
    return [row["series"], *counts, f"{row['records'] / row['records_in_data']:.2%}", f"{row['records_for_half']:,}"]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw keys, records and the records that a key needs against the axis that varies, for each data set."""
    styles = noise_styles(_look(row) for row in table.drop_duplicates("series").to_dict("records"))
    for (data, by, omega), part in _sweeps(table):
        ending = f"_omega_{omega:g}" if np.isfinite(omega) else ""
        figure = _figure(part, by, styles)
        yield f"keys_{data}_by_{by}{ending}", captioned(figure, part, "keys"), part.drop(columns="series")


def _look(row) -> Series:
    """Return a series for its colour: the noise of a threshold, or a best curve."""
    if row["method"] in NAMES:
        return Series(row["series"], algorithm=row["method"])
    return Series(row["series"], row["noise"], row["noise_family"], row["noise_calibration"], row["series"])


def _sweeps(table: pd.DataFrame) -> Iterator[tuple[tuple[Any, str, float], pd.DataFrame]]:
    """Yield the rows of each data set along one axis: several keys a person, epsilon, or rho at one omega."""
    for data, own in table.groupby("data", sort=False):
        approximate, concentrated = own[own["epsilon"].notna()], own[own["epsilon"].isna()]
        if approximate[PERSON].nunique() > 1:
            yield (
                (data, PERSON, np.inf),
                approximate[approximate["epsilon"] == approximate["epsilon"].iloc[0]],
            )
        elif len(approximate):
            yield (data, "epsilon", np.inf), approximate
        for omega, part in concentrated.groupby(concentrated["omega"].fillna(np.inf)):
            yield (data, "rho", float(omega)), part


def _figure(part, by, styles):
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    figure, grid = new_figure(1, 3, 12.0, 4.2)
    keys, records, half = grid[0]
    for label, cells in part.groupby("series", sort=False):
        cells, style = cells.sort_values(by), styles[label]
        share = 100 / part["records_in_data"].iloc[0]
        for axes, name, scale in ((keys, "keys", 1.0), (records, "records", share)):
            ends = (scale * cells[name + end] for end in ("", columns.LOWER, columns.UPPER))
            points(axes, cells[by], *ends, **marks_of(style))
            axes.plot(cells[by], scale * cells[name + columns.EXACT], **line_of(style))
        half.plot(cells[by], cells["records_for_half"], **style)
    for axes in grid[0]:
        axes.set_xscale("log")
        axes.set_xlabel(AXES[by])
    plain_log_axis(half)
    half.set_yscale("log")
    half.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    half.yaxis.set_major_formatter(ScalarFormatter())
    half.yaxis.set_minor_formatter(NullFormatter())
    total = part["keys_in_data"].iloc[0]
    keys.set(ylabel="keys", title=f"released keys, of {total:,}")
    records.set(ylabel="percent of the records", title="records of released keys")
    half.set(ylabel="records of a key", title="fewest records for a release with probability 1/2")
    legend = {label: styles[label] for label in part["series"].unique()}
    legend |= {
        "lines: exact; a threshold also shows counts": {"color": GREY, "linestyle": "-", "linewidth": 1.6},
        "markers: simulated, 95% interval": {"color": GREY, "marker": "o", "linestyle": "none"},
    }
    legend_below(figure, legend, 4)
    headed(figure, _finding(part, by))
    return figure


def _finding(part, by) -> str:
    """Return the title: the method that releases most keys in the middle of the axis, against the best threshold."""
    places = np.sort(part[by].unique())
    place = places[len(places) // 2]
    here = part[part[by] == place].sort_values("keys_exact", ascending=False, kind="stable")
    best, others = here.iloc[0], here[here["method"] == "threshold"]
    person = f" with {place:g} keys a person" if by == PERSON else ""
    where = f"Under {rounded_in(best['guarantee'])}{person} the {best['series']} releases most keys of {best['data']}"
    if others.empty or best["method"] == "threshold":
        return f"{where}, {best['keys_exact']:,.0f}"
    other = others.iloc[0]
    return (
        f"{where}, {best['keys_exact']:,.0f}, and a {other['series'].replace(',', ' with')} {other['keys_exact']:,.0f}"
    )
