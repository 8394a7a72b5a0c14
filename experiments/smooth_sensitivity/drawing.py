"""The error of a private centre against the number of records."""

import numpy as np

from tcdp_sim.report.findings import listed, wins
from tcdp_sim.report.legends import legend_below
from tcdp_sim.report.looks import Series, line_of, marks_of, noise_styles
from tcdp_sim.report.plots import KIND, headed, new_figure, note, points

NAMES = {
    "median": "median, smooth sensitivity",
    "trimmed_mean": "trimmed mean, smooth sensitivity",
    "mean_global": "mean, global sensitivity (Gaussian)",
    "median_global": "median, global sensitivity (Gaussian)",
    "median_interior_point": "median, interior point",
}
MOST_TICKS = 6
JOINED = {"linestyle": ":", "linewidth": 0.9}


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
    panels = [
        ((share, records), part)
        for records, rows in table.groupby("records", sort=False)
        for share, part in rows.groupby("contamination")
    ]
    columns = max(table["contamination"].nunique(), 1)  # a row is about one data set, in its units
    rows = int(np.ceil(len(panels) / columns))
    figure, grid = new_figure(rows, columns, 3.9 * columns + 0.6, 2.7 * rows + 1.0, sharex=True, sharey="row")
    looks = _looks(table)
    for axes, ((share, records), part) in zip(grid.ravel(), panels):
        for series, own in part.groupby("series", sort=False):
            own = own.sort_values("n")
            exact = own[own["abs_error_exact"].notna()]
            axes.plot(exact["n"], exact["abs_error_exact"], **line_of(looks[series]))
            interval = own["abs_error_lower"], own["abs_error_upper"]
            points(axes, own["n"], own["abs_error"], *interval, **marks_of(looks[series]))
            if not len(exact):
                axes.plot(own["n"], own["abs_error"], color=looks[series]["color"], **JOINED)
        moved = f", {share:.0%} of the records at the upper bound" if share else ""
        axes.set(xscale="log", yscale="log", title=f"{records}{moved}")
    for axes in grid[-1]:
        axes.set_xlabel("number of records n")
        _name_every_n(axes, table)
    for axes in grid[:, 0]:
        axes.set_ylabel("95% quantile of |error|\n(units of the records)")
    exact = set(table.loc[table["abs_error_exact"].notna(), "series"])
    lines = {series: look if series in exact else look | JOINED for series, look in looks.items()}
    legend_below(figure, lines, 2)
    note(figure, "kind", KIND)
    if len(exact) < len(looks):
        note(figure, "simulated", "dots join markers where no exact value is known")
    headed(figure, _smallest(table, panels))
    return figure


def _smallest(table, panels) -> str:
    """Return in words how often each method has the smallest simulated error at the largest number of records."""
    winners = []
    for _, part in panels:
        most = part[part["n"] == part["n"].max()]
        if most["abs_error"].notna().any():
            winners.append(str(most.loc[most["abs_error"].idxmin(), "series"]))
    told = listed(f"by the {name} in {count} of {len(panels)} panels" for name, count in wins(winners))
    return (
        f"At equal privacy the smallest simulated error of a centre of n = {table['n'].max():,} records is made {told}"
    )


def _name_every_n(axes, table) -> None:
    """Set ticks at the numbers of records, if they are few enough to be read."""
    n = sorted(table["n"].unique())
    if len(n) <= MOST_TICKS:
        axes.set_xticks(n, [f"{each:,}" for each in n], fontsize="small")
        axes.set_xticks([], minor=True)


def _looks(table):
    """Return the style of every series: the colour and marker of its noise, in the variant of its method."""
    series = []
    for row in table.drop_duplicates("series").to_dict("records"):
        if row["method"].endswith("_global"):
            about = Series(row["series"], "gaussian", "gaussian", "paper", row["method"])
        elif row["method"] == "median_interior_point":
            about = Series(row["series"], algorithm=row["method"])
        else:
            about = Series(row["series"], str(row.get("smooth_noise")), variant=row["method"])
        series.append(about)
    return noise_styles(series)
