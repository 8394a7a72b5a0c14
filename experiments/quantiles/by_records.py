"""Errors by the shape of the records: in ranks and in units, on reals and on integers."""

from tcdp_sim.experiments.quantiles.looks import NAMES
from tcdp_sim.report.findings import listed
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import method_look
from tcdp_sim.report.plots import GREY, headed, new_figure, points, power_of_two, rounded
from tcdp_sim.store import columns

FLOOR = 1e-3  # smallest error that is drawn
UNIT = (
    "rank errors in records over n / (m + 1), where 1 is the next quantile; value errors over the least one "
    f"of each shape, which is named in units; errors below {FLOOR:g} count as {FLOOR:g}"
)


def errors_by_records(part):
    """Draw the errors of all methods for each shape, for the rows of one guarantee and number of quantiles."""
    kinds = list(dict.fromkeys(part["domain"]))
    counts = [part.loc[part["domain"] == kind, "records"].nunique() for kind in kinds]
    figure, grid = new_figure(2, len(kinds), 1.2 + 1.15 * sum(counts), 6.4, width_ratios=counts)
    methods = list(dict.fromkeys(part["method"]))
    for column, kind in enumerate(kinds):
        cells = part[part["domain"] == kind]
        least = cells.groupby("records")["mean_value_error"].transform("min").clip(lower=FLOOR)
        cells = cells.assign(least=least)
        shapes = list(dict.fromkeys(cells["records"]))
        for top, name in ((True, "mean_rank_error"), (False, "mean_value_error")):
            axes = grid[0 if top else 1][column]
            for nth, method in enumerate(methods):
                _marks(axes, cells[cells["method"] == method], shapes, method, name, nth / len(methods) - 0.43)
            axes.set_yscale("log")
            axes.set_xlim(-0.5, len(shapes) - 0.5)
            labels = [_label(cells, shape) if top else _least(cells, shape) for shape in shapes]
            axes.set_xticks(range(len(shapes)), labels, fontsize=7.5)
            axes.axhline(1, color=GREY, linewidth=0.8)
            axes.grid(visible=False, axis="x")
            for edge in range(1, len(shapes)):
                axes.axvline(edge - 0.5, color="#DDDDDD", linewidth=0.8)
        grid[0][column].set_title(kind)
    grid[0][0].set_ylabel("mean rank error / (n / (m + 1))")
    grid[1][0].set_ylabel("mean value error\nover the least one")
    legend_below(figure, {NAMES[method]: method_look(method) | {"linestyle": "none"} for method in methods}, 4)
    headed(figure, _finding(part))
    return figure


def _marks(axes, rows, shapes, method, name, shift):
    unit = rows["n"] / (rows["m"] + 1) if name == "mean_rank_error" else rows["least"]
    ends = ((rows[name + end] / unit).clip(lower=FLOOR) for end in ("", columns.LOWER, columns.UPPER))
    points(axes, [shapes.index(shape) + shift for shape in rows["records"]], *ends, **method_look(method))


def _label(cells, shape) -> str:
    row = cells[cells["records"] == shape].iloc[0]
    return f"{shape}\nn = {row['n']:,}\nin {power_of_two(row['log2_k'])}"


def _least(cells, shape) -> str:
    """Return the label of a shape below value errors: the least one, in units."""
    return f"{shape}\nleast: {cells.loc[cells['records'] == shape, 'least'].iloc[0]:.2g}"


def _finding(part) -> str:
    """Return the title: the effect of ties on the best method and on the worst one, on each kind of domain."""
    ties = part[part["records"] == "ties"]
    if ties.empty:
        ordered = part.sort_values("mean_value_error", kind="stable")
        ends = (f"{NAMES[row['method']]} on {row['records']}" for _, row in ordered.iloc[[0, -1]].iterrows())
        return "The least mean value error is that of {}, and the largest that of {}".format(*ends)
    texts = []
    for kind, rows in ties.groupby("domain", sort=False):
        ordered = rows.sort_values("mean_value_error", kind="stable")
        first, last = (
            f"{rounded(row['mean_value_error'])} ({NAMES[row['method']]})"
            for _, row in ordered.iloc[[0, -1]].iterrows()
        )
        texts.append(f"{first} to {last} units on {kind}")
    what = f"{part['m'].iloc[0]} quantiles of records with ties under {part['guarantee'].iloc[0]}"
    return f"The value errors of {what} are {listed(texts)}"
