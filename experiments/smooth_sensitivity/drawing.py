"""The error of a private centre against the number of records."""

import numpy as np

from tcdp_sim.report.looks import COLOURS, MARKERS
from tcdp_sim.report.plots import GREY, line_key, new_figure, points

NAMES = {
    "median": "median, smooth sensitivity",
    "trimmed_mean": "trimmed mean, smooth sensitivity",
    "mean_global": "mean, global sensitivity (Gaussian)",
    "median_global": "median, global sensitivity (Gaussian)",
    "median_interior_point": "median, interior point",
}
MOST_TICKS = 6
STEPS = ("-", (0, (5, 1.4)), (0, (2, 1.2)), (0, (5, 1.4, 1, 1.4)))  # dashes of the noises


def series_of(row) -> str:
    """Return the name of a row's series: its method, and the noise where there is a choice."""
    noise = row.get("smooth_noise")
    named = isinstance(noise, str) and noise and row["method"] in ("median", "trimmed_mean")
    return NAMES[row["method"]] + (f" ({noise.replace('_', '-')})" if named else "")


def short_name(row) -> str:
    """Return the name of a row's series for the terminal: the method, without the words of the title."""
    noise = series_of(row).rpartition(" (")[2].rstrip(")") if row["method"] in ("median", "trimmed_mean") else ""
    return row["method"].replace("_", " ") + (f", {noise}" if noise else "")


def error_figure(table):
    """Draw one panel for each data set and contamination, with exact lines and simulated markers."""
    table = table.assign(series=[series_of(row) for row in table.to_dict("records")])
    panels = list(table.groupby(["contamination", "records"], sort=False))
    columns = max(table["records"].nunique(), 1)
    rows = int(np.ceil(len(panels) / columns))
    figure, grid = new_figure(rows, columns, 3.9 * columns + 0.6, 2.7 * rows + 1.0, sharex=True)
    looks = _looks(table)
    for axes, ((share, records), part) in zip(grid.ravel(), panels):
        for series, own in part.groupby("series", sort=False):
            own = own.sort_values("n")
            exact = own[own["abs_error_exact"].notna()]
            axes.plot(exact["n"], exact["abs_error_exact"], color=looks[series][0], linestyle=looks[series][2])
            interval = own["abs_error_lower"], own["abs_error_upper"]
            points(axes, own["n"], own["abs_error"], *interval, color=looks[series][0], marker=looks[series][1])
        moved = f", {share:.0%} of the records at the upper bound" if share else ""
        axes.set(xscale="log", yscale="log", title=f"{records}{moved}")
    for axes in grid[-1]:
        axes.set_xlabel("number of records n")
        _name_every_n(axes, table)
    for axes in grid[:, 0]:
        axes.set_ylabel("95% quantile of |error|\n(units of the records)")
    exact = set(table.loc[table["abs_error_exact"].notna(), "series"])
    lines = {series: look[2] if series in exact else "none" for series, look in looks.items()}
    keys = {series: line_key(look[0], marker=look[1], linestyle=lines[series]) for series, look in looks.items()}
    keys["lines: exact; markers: simulated, 95% interval"] = line_key(GREY)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    return figure


def _name_every_n(axes, table) -> None:
    """Set ticks at the numbers of records, if they are few enough to be read."""
    n = sorted(table["n"].unique())
    if len(n) <= MOST_TICKS:
        axes.set_xticks(n, [f"{each:,}" for each in n], fontsize="small")
        axes.set_xticks([], minor=True)


def _looks(table):
    """Return the colour and marker of every method, and the dashes of its noise."""
    noises = [name for name in dict.fromkeys(table.get("smooth_noise", [])) if isinstance(name, str)]
    looks = {}
    for row in table.drop_duplicates("series").to_dict("records"):
        i = list(NAMES).index(row["method"])
        nth = noises.index(row["smooth_noise"]) if row.get("smooth_noise") in noises else 0
        looks[row["series"]] = (COLOURS[i], MARKERS[(i + 3 * nth) % len(MARKERS)], STEPS[nth % len(STEPS)])
    return looks
