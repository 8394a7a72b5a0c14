"""Sinh-normal against Gaussian noise: density and log density (Figure 2 of the paper), moments and tails."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tcdp_sim.mechanisms.noise import NoiseDraw
from tcdp_sim.noise import Noise
from tcdp_sim.report.findings import span
from tcdp_sim.report.looks import noise_looks
from tcdp_sim.report.plots import GREY, WRONG, captioned, headed, line_key, new_figure, points
from tcdp_sim.report.tables import agreement, terminal_table
from tcdp_sim.results.rows import Cell, Row
from tcdp_sim.store import columns
from tcdp_sim.store.columns import INTERVAL, WITH_EXACT
from tcdp_sim.store.exact_values import at_each_level
from tcdp_sim.summaries.estimates import proportion

FINE = 400  # points of the exact curves
MOST_BINS = 1000  # on each side; up to there the stored bins have edges at multiples of the width
COLUMNS = 4  # noises in one figure
FAR = 1e-12  # a probability far out in the tails


def _noise_quantile(mechanism: NoiseDraw, level: float) -> float:
    return float(mechanism.noise.ppf(level))


def _variance_of(mechanism: NoiseDraw) -> float:
    return float(mechanism.noise.var())


def _mean_of(mechanism: NoiseDraw) -> float:
    return float(mechanism.noise.mean())


def _squared_quantile(mechanism: NoiseDraw, level: float) -> float:
    return float(mechanism.noise.isf((1 - level) / 2)) ** 2


NOISE, SQUARED = columns.quantile("noise"), columns.mean("squared_noise")
EXACT = {
    NOISE: at_each_level(_noise_quantile),
    SQUARED: _variance_of,
    columns.mean("noise"): _mean_of,
    columns.quantile("squared_noise"): at_each_level(_squared_quantile),
}


RELATION = "move the answer by one count"
LABELS = ("noise", "noise_law", "guarantee", "rho", "omega")


def rows(cell: Cell) -> Iterator[Row]:
    """Yield the rows of a cell by `quantity`, then its exact curves (trials = 0).

    - "variance": in counts squared.
    - "quantile": at the level `at`, in counts.
    - "density": between `at` and `to` in counts, per count; on the exact curve at `at`.
    - "exceedance": P[|Z| > at].

    `value...` is simulated, with MCSE and 95% interval. The interval is exact (binomial) except for the variance.
    `value_exact` is exact. `shape` is "bimodal", "log-concave" or, for other families, "".
    """
    noise, labels = cell.mechanism.noise, _labels(cell)
    drawn = labels | {"trials": cell["trials"]}
    variance = {"quantity": "variance", "at": np.nan} | cell.numbers(SQUARED, "value")
    yield drawn | variance | {"value_skewness": cell.skewness("squared_noise")}
    numbers = cell.quantiles(NOISE)
    for level, number, p_value in zip(cell.levels, numbers.T, cell.p_value("noise", cell.levels, numbers[-1])):
        yield drawn | _row("quantile", level, number[:-1], float(number[-1])) | {"value_p_value": p_value}
    if cell["trials"]:
        yield from (drawn | row for row in _binned(cell.histogram("noise"), cell["trials"], noise))
    yield from (labels | {"trials": 0} | row for row in _curves(noise))


def _labels(cell: Cell) -> Row:
    noise = cell.mechanism.noise
    scale, knee, bound = (getattr(noise, name, np.nan) for name in ("scale", "knee", "bound"))
    shape = "" if np.isnan(knee) else "log-concave" if knee >= scale else "bimodal"
    labels = cell.only(*LABELS) | {"family": noise.family, "accounting": cell.law["noise"]["calibration"]}
    return labels | {"scale": scale, "knee": knee, "bound": bound, "shape": shape}


def _binned(histogram, trials, noise: Noise):
    """Yield rows of density and exceedance from the stored bins, joined between multiples of a power of two."""
    lower, upper, counts = histogram
    width = 2.0 ** np.round(np.log2(np.sqrt(noise.var()) / 5))
    reach = min(np.ceil(max(-lower[0], upper[-1]) / width), MOST_BINS)
    edges = width * np.arange(-reach, reach + 1)
    inside = np.searchsorted(edges, 0.5 * (lower + upper)) - 1
    kept = (inside >= 0) & (inside < len(edges) - 1)
    totals = np.bincount(inside[kept], counts[kept], len(edges) - 1).astype(int)
    tails = noise.sf(np.abs(edges))
    densities = np.abs(np.diff(tails)) / width  # the difference of tails keeps its digits far out
    for low, high, total, density in zip(edges, edges[1:], totals.tolist(), densities.tolist()):
        yield _row("density", low, np.array(proportion(total, trials)) / width, density) | {"to": high}
    beyond = np.minimum(np.abs(lower), np.abs(upper))
    for x, tail in zip(edges[edges > 0][:-1], tails[edges > 0].tolist()):
        yield _row("exceedance", x, proportion(int(counts[beyond >= x].sum()), trials), 2 * tail)


def _curves(noise: Noise):
    far = noise.isf(1e-12)
    around, beyond = np.linspace(-far, far, FINE), np.linspace(0, noise.isf(1e-300), FINE)
    for quantity, x, exact in (("density", around, noise.pdf(around)), ("exceedance", beyond, 2 * noise.sf(beyond))):
        for at, value in zip(x.tolist(), exact.tolist()):
            yield {"quantity": quantity, "at": at, "value_exact": value}


def _row(quantity, at, simulated, exact) -> dict:
    numbers = {f"value{end}": float(x) for end, x in zip(INTERVAL, simulated)}
    return {"quantity": quantity, "at": float(at)} | numbers | {"value_exact": exact}


def report(table: pd.DataFrame, console) -> None:
    """Print variances and quantiles, and how well simulation and exact values agree."""
    drawn = table[table["trials"] > 0]
    rows = (row for _, own in drawn.groupby("noise_law", sort=False) for row in _terminal_rows(own))
    headings = ("noise", "", "simulated", "± MCSE", "exact")
    console.print(terminal_table("Noise (counts): variance and quantiles", headings, rows), soft_wrap=False)
    bins, others = drawn[drawn["quantity"] == "density"], drawn[drawn["quantity"].isin(["variance", "quantile"])]
    for what, part, things in (("probability", bins, "bins"), ("variance or quantile", others, "numbers")):
        numbers, samples = (part["value" + end] for end in WITH_EXACT), drawn["noise_law"].nunique()
        console.print(agreement(what, *numbers, things=things, samples=samples))
    if (drawn["shape"] == "bimodal").any():
        console.print("Bimodal, as in the paper's Figure 2: the knee is below the scale; no theorem covers that.")


def _terminal_rows(rows) -> Iterator[list[str]]:
    """Yield the variance and three quantiles of one noise, with its description down the first column."""
    names = iter(_description(rows.iloc[0]))
    for row in rows[_on_terminal(rows)].drop_duplicates(["quantity", "at"]).to_dict("records"):
        quantity = "variance" if row["quantity"] == "variance" else f"{100 * row['at']:g}%"
        numbers = f"{row['value']:.4f}", f"{row['value_mcse']:.2g}", f"{row['value_exact']:.4f}"
        yield [next(names, ""), quantity, *numbers]


def _on_terminal(rows):
    return (rows["quantity"] == "variance") | ((rows["quantity"] == "quantile") & rows["at"].isin([0.75, 0.99, 0.999]))


def figures(table: pd.DataFrame) -> Iterator[tuple[str, object, pd.DataFrame]]:
    """Draw (a) density and log density, up to four noises a figure, (b) the tails of all of them."""
    table = table.drop_duplicates(["noise_law", "quantity", "at", "trials"])
    order = table.drop_duplicates("noise_law").assign(ratio=lambda t: (t["knee"] / t["scale"]).fillna(-1))
    order = order.sort_values(["ratio", "scale"], kind="stable")  # other families, then by shape
    laws = order["noise_law"].tolist()
    styles = noise_looks(zip(laws, order["family"], order["accounting"]))
    unit = "noise in counts"
    for start in range(0, len(laws), COLUMNS):
        part = table[table["noise_law"].isin(laws[start : start + COLUMNS]) & (table["quantity"] == "density")]
        page = f"_{start // COLUMNS + 1}" * (len(laws) > COLUMNS)
        yield f"density{page}", captioned(_densities(part, laws[start : start + COLUMNS], styles), part, unit), part
    part = table[table["quantity"] == "exceedance"]
    yield "tail", captioned(_tails(part, laws, styles), part, unit), part


def _densities(part, laws, styles):
    figure, grid = new_figure(2, len(laws), max(2.9 * len(laws), 5.0) + 0.6, 5.6, sharex=True, sharey="row")
    for (plain, logarithm), law in zip(grid.T, laws):
        rows = part[part["noise_law"] == law]
        bins, curve = rows[rows["trials"] > 0].sort_values("at"), rows[rows["trials"] == 0].sort_values("at")
        colour, first = styles[law]["color"], rows.iloc[0]
        plain.stairs(bins["value"], [*bins["at"], bins["to"].iloc[-1]], fill=True, color=colour, alpha=0.25)
        for axes in (plain, logarithm):
            middle, seen = 0.5 * (bins["at"] + bins["to"]), bins[bins["value"] > 0]
            interval, marks = (seen["value_lower"], seen["value_upper"]), {"color": colour, "marker": "."}
            points(axes, middle[seen.index], seen["value"], *interval, **marks)
            axes.plot(curve["at"], curve["value_exact"], color=colour)
        plain.set_title("\n".join(_description(first)), color=WRONG if first["shape"] == "bimodal" else "black")
        logarithm.set(yscale="log", ylim=(1e-8, 2), xlabel="noise z (counts)")
    top = part["value_exact"].max()
    grid[0, 0].set(ylim=(0, 1.12 * top), ylabel="density")
    grid[1, 0].set(ylabel="density, log axis")
    reach = part.loc[part["value_exact"] > 1e-8, "at"].abs().max()
    grid[0, 0].set_xlim(-reach, reach)
    keys = {"exact": line_key(GREY), "simulated, 95% interval": line_key(GREY, linestyle="none", marker=".")}
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    headed(figure, _modes(part, laws))
    return figure


def _modes(part, laws) -> str:
    """Return the title of the densities: how many of the noises are bimodal."""
    shapes = part.drop_duplicates("noise_law").set_index("noise_law").loc[laws, "shape"]
    bimodal = int((shapes == "bimodal").sum())
    if not bimodal:
        return "Every noise has one mode"
    return f"{bimodal} of {len(laws)} noises {'is' if bimodal == 1 else 'are'} bimodal (red)"


def _description(row) -> list[str]:
    """Return three short lines: the noise, its shape, and its guarantee or the place of its modes."""
    promise = "" if row["accounting"] == "given" else row["guarantee"]
    variance, knee = f"{row['scale'] ** 2:.3g}", f"{row['knee']:.3g}"
    if row["family"] == "gaussian":
        return [f"N(0, {variance})", "Gaussian", promise]
    if not row["shape"]:
        bound = "" if np.isnan(row["bound"]) else f", bound {row['bound']:.3g}"
        return [row["family"].replace("_", " ").title(), f"scale {row['scale']:.3g}{bound}", promise]
    name = f"arsinh N(0, {variance})" if knee == "1" else f"{knee} arsinh(N(0, {variance}) / {knee})"
    sign = "<" if row["shape"] == "bimodal" else "≥"
    if row["shape"] == "bimodal" and not promise:
        promise = f"modes at ±{row['knee'] * np.arccosh(row['scale'] / row['knee']):.3f}"
    return [name, f"{row['shape']}: knee {knee} {sign} scale {row['scale']:.3g}", promise]


def _tails(part, laws, styles):
    figure, (panels,) = new_figure(1, 2, 9.6, 4.6)
    falling, rising = panels
    for law in laws:
        rows, style = part[part["noise_law"] == law], styles[law]
        seen, curve = rows[(rows["trials"] > 0) & (rows["value"] > 0)], rows[rows["trials"] == 0].sort_values("at")
        seen, marks = seen.iloc[1::2], {"color": style["color"], "marker": style["marker"]}
        points(falling, seen["at"], seen["value"], seen["value_lower"], seen["value_upper"], **marks)
        falling.plot(curve["at"], curve["value_exact"], color=style["color"])
        seen, curve = seen[seen["value_upper"] < 1], curve[(curve["value_exact"] > 0) & (curve["value_exact"] < 1)]
        logs = [-np.log(seen[name]) for name in ("value", "value_upper", "value_lower")]
        points(rising, seen["at"], *logs, **marks)
        rising.plot(curve["at"], -np.log(curve["value_exact"]), color=style["color"])
    reach = part.loc[part["value_exact"] > 1e-16, "at"].max()
    falling.set(yscale="log", ylim=(1e-16, 2), xlim=(0, reach), xlabel="x (counts)", ylabel="P[|Z| > x]")
    falling.set_title("The tail of each noise")
    rising.set(yscale="log", ylim=(0.05, 100), xlim=(0, reach), xlabel="x (counts)", ylabel="−ln P[|Z| > x]")
    rising.set_title("Where doubly exponential tails are straight")
    keys = {}
    for law in laws:
        first = part[part["noise_law"] == law].iloc[0]
        name, shape, last = _description(first)
        label = ", ".join(word for word in (name, shape.split(":")[0], last) if word)
        keys[label] = line_key(color=styles[law]["color"], marker=styles[law]["marker"])
    keys["lines: exact; markers: simulated, 95% interval"] = line_key(GREY)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    figure.set_figheight(figure.get_figheight() + 0.09 * max(len(keys) - 4, 0))
    headed(figure, _lightest(part))
    return figure


def _lightest(part) -> str:
    """Return the title of the tails: where each noise is exceeded with probability FAR, at least and at most."""
    exact = part[(part["trials"] == 0) & (part["value_exact"] > 0)].sort_values("at", ascending=False)
    reach = [
        np.interp(np.log(FAR), np.log(curve["value_exact"]), curve["at"])
        for _, curve in exact.groupby("noise_law", sort=False)
    ]
    return f"With probability {FAR:g}, the noise exceeds {span(reach, '{:.3g}'.format)} counts"
