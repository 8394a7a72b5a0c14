"""The best of k candidate models by private runs, against methods that see all scores, at equal privacy."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.special import gammaln, ndtr

from tcdp_sim.candidates import NegativeBinomialTries, PoissonTries, Tries, gaussian_renyi, theorem_renyi, tries_of
from tcdp_sim.candidates.tries import LAWS
from tcdp_sim.exact import (
    best_candidate_probabilities,
    divergence_in_worst_order,
    noisy_best_probabilities,
    permute_and_flip_probabilities,
    selection_probability,
)
from tcdp_sim.experiments import losses
from tcdp_sim.experiments.laws import quantiles_of_atoms
from tcdp_sim.mechanisms.private_candidates import ALL_RUNS, PrivateCandidates
from tcdp_sim.privacy.least_rho import bounded_range_epsilon, pure_epsilon
from tcdp_sim.report.findings import listed
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import METHODS, level_styles, line_of, marks_of, noise_looks
from tcdp_sim.report.plots import GREY, KIND, captioned, headed, line_key, new_figure, note, plain_log_axis, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns

LOSS = columns.mean("accuracy_loss")
LABELS = ("method", "accounting", "tries", "problem", "k", "records", "rho", "omega", "omega_sqrt_rho")
NAMES = {
    "poisson": "Poisson tries",
    "geometric": "geometric tries",
    "logarithmic": "logarithmic tries",
    "all_runs": "a run of every candidate",
    "exponential_mechanism": "exponential mechanism",
    "permute_and_flip": "permute-and-flip",
    "generalized_histogram": "Gap-Max (Algorithm 21)",
    "obvious_answer": "Gap-Max (Algorithm 22)",
}
BY_THEOREM = ", published theorem"
ORDERS = (1.1, 1.5, 2, 3, 5, 7.5)
MEANS = (3, 10, 100, 1000)
RUN = 1e-3  # rho of a run in the figure of divergences
LEAST = 1e-5  # the least loss of accuracy that is drawn
CELLS = 6000  # outputs of the discrete run whose divergence is exact


@lru_cache(maxsize=4)
def _chosen(mechanism: PrivateCandidates) -> np.ndarray:
    """Return the probability that each candidate is chosen."""
    scores, parameters, method = mechanism.scores, mechanism.parameters, mechanism.method
    if mechanism.tries is not None:
        return best_candidate_probabilities(scores, parameters["scale"], mechanism.tries)
    if method == ALL_RUNS:
        return noisy_best_probabilities(scores, parameters["scale"])
    if method == "exponential_mechanism":
        weights = np.exp(0.5 * parameters["epsilon"] * scores)
        return np.asarray(weights / weights.sum())
    if method == "permute_and_flip":
        return permute_and_flip_probabilities(scores, parameters["epsilon"])
    first = selection_probability(method, mechanism.noise, -scores[1], len(scores)).estimate
    others = np.full(len(scores) - 1, (1 - first) / (len(scores) - 1))
    return np.concatenate([[first], others])


def _loss(mechanism: PrivateCandidates) -> float:
    return float(_chosen(mechanism) @ mechanism.losses)


def _best(mechanism: PrivateCandidates) -> float:
    return float(_chosen(mechanism)[mechanism.losses == 0].sum())


def _loss_quantiles(mechanism: PrivateCandidates) -> np.ndarray:
    return quantiles_of_atoms(mechanism.losses, _chosen(mechanism))


def _mean_runs(mechanism: PrivateCandidates) -> float:
    return float(len(mechanism.losses)) if mechanism.tries is None else float(mechanism.tries.mean)


def _runs_quantiles(mechanism: PrivateCandidates) -> np.ndarray:
    if mechanism.tries is None:
        return np.full(len(columns.QUANTILES), float(len(mechanism.losses)))
    return quantiles_of_atoms(*_law_of_tries(mechanism.tries))


def _law_of_tries(tries: Tries) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of runs, all but about e^-40 of them, and weights in proportion to their probabilities.

    Raises ValueError for other laws than the two families.
    """
    if isinstance(tries, PoissonTries):
        runs = np.arange(tries.average + 12 * np.sqrt(tries.average) + 60)
        logs = runs * np.log(tries.average) - gammaln(runs + 1)
    elif isinstance(tries, NegativeBinomialTries):
        runs = np.arange(1.0, 1 + (40 + 10 * tries.shape) / tries.stop)
        logs = runs * np.log1p(-tries.stop) + gammaln(runs + tries.shape) - gammaln(runs + 1)
    else:
        raise ValueError(f"the law of {tries!r} is not known")
    return runs, np.exp(logs - logs.max())


EXACT = {
    LOSS: _loss,
    "best_selected": _best,
    columns.quantile("accuracy_loss"): _loss_quantiles,
    columns.mean("runs"): _mean_runs,
    columns.quantile("runs"): _runs_quantiles,
}
UNKNOWN = losses.UNKNOWN


def rows(cell: Cell) -> Row:
    """Return one row: the mean accuracy loss and the probability of a best candidate, simulated and exact.

    - `accuracy_loss`: its mean with `_mcse`, `_lower`, `_upper` and `_exact`.
    - `best_selected`: the same for the probability that no candidate is more accurate than the chosen one.
    - `runs`: the mean number of scores that are computed.
    - `scale`: the standard deviation of the noise of a run, in counts, for methods with runs.
    """
    mechanism = cell.mechanism
    row: Row = {name: cell.get(name, np.nan) for name in LABELS} | cell.only("guarantee", "trials") | {"kind": "choice"}
    row |= {"k": len(mechanism.losses), "scale": mechanism.parameters.get("scale", np.nan)}
    row |= cell.numbers(LOSS, "accuracy_loss", endings=(*columns.WITH_EXACT, columns.MCSE))
    row |= cell.numbers("best_selected", "best_selected", endings=columns.WITH_EXACT)
    return row | {"runs": cell.mean("runs")[0]} | cell.noise


def known(rows: list[Row], cells: list[Cell]) -> Iterator[Row]:
    """Yield rows (kind "divergence") with the Renyi divergence of the best run, divided by the divergence of one run.

    - `theorem`: the published bound, and `tight`: the bound of the package.
    - `attained`: the exact divergence of a run with many outputs in the worst order for a Poisson number of runs.
    """
    first, second = _discrete_run(np.sqrt(2 * RUN))
    for law in LAWS:
        for mean in MEANS:
            tries = tries_of(law, mean)
            for order in ORDERS:
                unit, shift = order * RUN, float(np.sqrt(2 * RUN))
                values = {
                    "theorem": theorem_renyi(order, shift, tries) / unit,
                    "tight": gaussian_renyi(order, shift, tries).upper / unit,
                    "attained": divergence_in_worst_order(order, first, second, tries) / unit,
                }
                yield {"kind": "divergence", "method": law, "tries": mean, "order": order, "trials": 0} | values


def _discrete_run(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the laws of a Gaussian number at shifts `shift` and 0, rounded to a fine grid."""
    ends = np.linspace(-8, 8 + shift, CELLS + 1)

    def masses(z: np.ndarray) -> np.ndarray:
        inside = np.where(z[1:] < 0, np.diff(ndtr(z)), -np.diff(ndtr(-z)))
        return np.asarray(inside / inside.sum())

    return masses(ends - shift), masses(ends)


def report(table: pd.DataFrame, console) -> None:
    """Print the methods at the middle number of records for each problem, and how well simulation and exact agree."""
    choices = table[table["kind"] == "choice"]
    for problem, part in choices.groupby("problem", sort=False):
        records = np.sort(part["records"].unique())
        middle = part[part["records"] == records[len(records) // 2]].sort_values("accuracy_loss_exact", kind="stable")
        title = f"{problem}: k = {middle['k'].iloc[0]:g}, n = {middle['records'].iloc[0]:,.0f} records"
        headings = ("method", "mean loss", "± MCSE", "exact", "P[best]", "runs", "noise of a run")
        console.print(terminal_table(title, headings, map(_terminal_row, middle.to_dict("records"))), soft_wrap=False)
    for name, what in (("accuracy_loss", "mean loss"), ("best_selected", "probability of a best candidate")):
        console.print(agreement(what, *(choices[name + end] for end in columns.WITH_EXACT)))


def _terminal_row(row) -> list[str]:
    scale = "" if np.isnan(row["scale"]) else f"{row['scale']:.4g}"
    loss = [f"{row[name]:.3g}" for name in ("accuracy_loss", "accuracy_loss_mcse", "accuracy_loss_exact")]
    return [_label(row), *loss, f"{row['best_selected']:.3f}", f"{row['runs']:.4g}", scale]


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw the loss against records, the loss against the mean number of runs, and divergences against the order."""
    choices = table[table["kind"] == "choice"]
    named = choices.assign(series=[_label(row) for row in choices.to_dict("records")])
    random = named["method"].isin(LAWS)
    most = named.loc[random, "tries"].mode()
    plain = named[~random | named["tries"].isin(most[:1])]
    if plain["records"].nunique() > 1:
        several = plain.groupby("series")["records"].transform("nunique") > 1
        shown = plain[several].drop_duplicates(["series", "problem", "records"])
        unit = "; ".join(filter(None, ["loss of accuracy", _runs_told(shown), _gained(shown)]))
        figure = captioned(_records_figure(shown), shown, unit)
        yield "candidates_loss_vs_records", figure, shown.drop(columns="series")
    runs = named[random]
    wide = [part for _, part in runs.groupby(["problem", "records"], sort=False) if part["tries"].nunique() > 1]
    if wide:
        figure = captioned(_runs_figure(wide[0]), wide[0], "loss of accuracy")
        yield "candidates_loss_vs_runs", figure, wide[0].drop(columns="series")
    curves = table[table["kind"] == "divergence"].dropna(axis=1, how="all")
    if len(curves):
        yield "candidates_divergence", captioned(_divergences_figure(curves), curves, f"ρ of a run = {RUN:g}"), curves


def _gained(choices) -> str:
    """Return in words how much the least rho raises the epsilon of the opponents, for the caption."""
    told = []
    for method, largest, usual, sign in (
        ("exponential_mechanism", bounded_range_epsilon, 8, "ε²/8"),
        ("permute_and_flip", pure_epsilon, 2, "ε²/2"),
    ):
        rho = choices.loc[choices["method"] == method, "rho"].unique()
        if len(rho):
            raised = max(largest(float(each)) / np.sqrt(usual * each) - 1 for each in rho)
            told.append(f"{NAMES[method]} {raised:.2%} beside {sign}")
    return "gain in ε by the least ρ: " + ", ".join(told) if told else ""


def _runs_told(part) -> str:
    means = part.loc[part["method"].isin(LAWS), "tries"].unique()
    return f"{means[0]:g} tries on average" if len(means) else ""


def _label(row) -> str:
    paper = row["method"] in LAWS and row["accounting"] == "paper"
    several = row["noise_label"] if row["method"] in ("generalized_histogram", "obvious_answer") else ""
    return NAMES[row["method"]] + (BY_THEOREM if paper else "") + (f", {several}" if several else "")


def _styles(part) -> dict:
    """Return the styles of the series. Dashes show the published theorem, in the colour of the same method."""
    found = {}
    looks = noise_looks(_look(row) for row in part.drop_duplicates("series").to_dict("records"))
    for row in part.drop_duplicates("series").to_dict("records"):
        found[row["series"]] = looks[_look(row)[0]] | {"linestyle": "--" if BY_THEOREM in row["series"] else "-"}
    return found


def _look(row) -> tuple[str, str, str]:
    """Return name, family and calibration that give a series its colour, of a method or of the noise of Gap-Max."""
    if row["method"] in METHODS:
        return row["method"], "", ""
    return row["series"], row["noise_family"], row["noise_calibration"]


def _records_figure(part):
    problems = list(dict.fromkeys(part["problem"]))
    columns_of = min(len(problems), 2)
    lines = -(-len(problems) // columns_of)
    figure, grid = new_figure(lines, columns_of, 1.2 + 4.6 * columns_of, 0.8 + 3.1 * lines)
    styles = _styles(part)
    for axes, problem in zip(np.ravel(grid), problems):
        _curves(axes, part[part["problem"] == problem], "records", styles)
        k = part.loc[part["problem"] == problem, "k"].iloc[0]
        axes.set(xlabel="number of records n", ylabel="mean loss of accuracy", title=f"{problem}: k = {k:g}")
    legend_below(figure, styles, 2)
    headed(figure, _finding(part))
    return figure


def _curves(axes, part, x, styles) -> None:
    """Draw simulated points with intervals and exact lines of each series."""
    for label, cells in part.groupby("series", sort=False):
        cells, style = cells.sort_values(x), styles[label]
        seen = cells[cells["accuracy_loss"] > 0]
        ends = (seen[f"accuracy_loss{end}"] for end in ("", columns.LOWER, columns.UPPER))
        points(axes, seen[x], *ends, **marks_of(style))
        axes.plot(cells[x], cells["accuracy_loss_exact"], **line_of(style))
    most, least = part["accuracy_loss_exact"].max(), part["accuracy_loss_exact"].min()
    axes.set(xscale="log", yscale="log", ylim=(max(least, LEAST) * 0.7, 1.6 * most))
    note(axes.figure, "kind", KIND)
    if least < LEAST:
        note(axes.figure, "least", f"losses below {LEAST:g} are not drawn")


def _runs_figure(part):
    figure, grid = new_figure(1, 1, 6.4, 4.4)
    styles = _styles(part)
    _curves(grid[0][0], part, "tries", styles)
    grid[0][0].set(xlabel="mean number of tries", ylabel="mean loss of accuracy")
    legend_below(figure, styles, 2)
    best = part.loc[part["accuracy_loss_exact"].idxmin()]
    which = f"{best['problem']}, k = {best['k']:g}, n = {best['records']:,.0f} records"
    headed(figure, f"The least loss takes {best['tries']:g} tries on average ({best['series']}) for {which}")
    return figure


def _divergences_figure(curves):
    figure, grid = new_figure(1, len(LAWS), 1.4 + 3.6 * len(LAWS), 3.9)
    means = sorted(curves["tries"].unique())
    styles = level_styles(f"{mean:g} tries on average" for mean in means)
    for axes, law in zip(grid[0], LAWS):
        for mean, style in zip(means, styles.values()):
            part = curves[(curves["method"] == law) & (curves["tries"] == mean)].sort_values("order")
            axes.plot(part["order"], part["theorem"], color=style["color"], linestyle="--", linewidth=1.1)
            axes.plot(part["order"], part["tight"], color=style["color"], linewidth=1.5)
            axes.plot(part["order"], part["attained"], color=style["color"], marker=style["marker"], linestyle="none")
        axes.set(yscale="log", xlabel="order α", title=NAMES[law])
        plain_log_axis(axes)
    grid[0][0].set_ylabel("$D_\\alpha$ of the best run over $D_\\alpha$ of one run")
    keys = {label: {**marks_of(style), "linewidth": 1.5} for label, style in styles.items()}
    keys |= {
        "dashed: published theorem": {"color": GREY, "linestyle": "--", "linewidth": 1.1},
        "solid: our bound": {"color": GREY, "linewidth": 1.5},
        "markers: exact, attained": {"color": GREY, "marker": "o", "linestyle": "none"},
    }
    figure.legend([line_key(**style) for style in keys.values()], [*keys], loc="outside lower center", ncols=4)
    at = curves[(curves["method"] == "poisson") & (curves["tries"] == 10)].sort_values("order").iloc[0]
    cost = f"10 Poisson tries cost {at['tight']:.1f} runs at order {at['order']:g}"
    headed(figure, f"{cost}, where the theorem says {at['theorem']:.0f}")
    return figure


def _finding(part) -> str:
    """Return the title: the noise of a run by the published theorem over ours, for Poisson tries."""
    scales = part[part["method"] == "poisson"].groupby("accounting")["scale"].first()
    if {"paper", "tight"} <= set(scales.index):
        less = scales["paper"] / scales["tight"]
        return f"Poisson tries need {less:.0f} times less noise than by the published theorem"
    records = np.sort(part["records"].unique())
    middle = part[part["records"] == records[len(records) // 2]]
    best = middle.loc[middle.groupby("problem", sort=False)["accuracy_loss_exact"].idxmin(), "series"].value_counts()
    told = listed(f"{label} ({count} of {best.sum()} problems)" for label, count in best.items())
    return f"The least loss of accuracy at n = {middle['records'].iloc[0]:,.0f} records is that of {told}"
