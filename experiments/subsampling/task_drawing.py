"""Figures of the errors of selection and threshold queries on subsamples."""

from tcdp_sim.report.looks import Series, marks_of, noise_styles
from tcdp_sim.report.plots import GREY, NEIGHBOURS, headed, line_key, new_figure, note, points

_PANEL = ("relation", "base", "data", "records", "epsilon", "rho")
_SERIES = ("quantity", "algorithm", "method", "noise", "scheme")
_INTERVAL = ("at", "simulated", "lower", "upper")
_ALONE = "missed_by_sampling"
_AXIS = {
    "missed": "records missed by the selected bin",
    "median_rank_error": "rank error of the median (records)",
    "sup_error": "largest error of the CDF (records)",
}


def tasks(part):
    """Draw (f) mean errors against the fraction, a panel for each data set, target and relation; stars mark minima."""
    part = part.assign(**{name: part[name].astype(object).fillna("") for name in (*_PANEL, *_SERIES) if name in part})
    panels = list(part.groupby([name for name in _PANEL if name in part], sort=False))
    kinds = [name for name in _SERIES if name in part]
    drawn = part.loc[part["quantity"] != _ALONE, kinds].drop_duplicates()
    series = list(drawn.itertuples(index=False, name=None))
    named = [_series_of(dict(zip(kinds, kind)), _label(kind)) for kind in series]
    looks = noise_styles(named)
    styles = {kind: looks[one.label] for kind, one in zip(series, named)}
    columns = min(len(panels), 2)
    lines = -(-len(panels) // columns)
    figure, grid = new_figure(lines, columns, max(4.6 * columns, 6.5), 3.6 * lines + 1.3)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (levels, panel) in zip(grid.flat, panels):
        for kind, rows in panel.groupby(kinds, sort=False):
            rows = rows.sort_values("at")
            at, mean, *ends = (rows[name].where(rows["simulated"] > 0) for name in _INTERVAL)  # zero has no logarithm
            if kind not in styles:
                axes.plot(at, mean, color=GREY, linewidth=0.8, linestyle=":")
                continue
            style = styles[kind]
            points(axes, at, mean, *ends, **marks_of(style))
            axes.plot(at, mean, **style)
            best = rows["simulated"].argmin()
            axes.plot(at.iloc[best], mean.iloc[best], "*", color=style["color"], markersize=12, zorder=5)
        named = dict(zip((name for name in _PANEL if name in part), levels))
        target = ", ".join(f"{sign} = {named[key]:g}" for key, sign in _TARGETS if named.get(key, "") != "")
        where = named.get("records") or named.get("data", "")
        where = f"{where}: {target}\nneighbours {NEIGHBOURS[named['relation']]}"
        axes.set(xscale="log", yscale="log", xlabel="sampling fraction s", title=where)
        labels = [_AXIS[name] for name in panel["quantity"].unique() if name in _AXIS]
        axes.set_ylabel(" / ".join(labels) if axes in grid[:, 0] or part["base"].nunique() > 1 else "")
    keys = {_label(kind, len(set(part["quantity"])) > 2): line_key(**style) for kind, style in styles.items()}
    keys |= {"sampling alone": line_key(GREY, linestyle=":")} if (part["quantity"] == _ALONE).any() else {}
    keys |= {"least of the simulated": line_key("black", linestyle="none", marker="*", markersize=9)}
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    note(figure, "kind", "errors against the truth of all records; markers: simulated, 95% interval")
    headed(figure, _least_errors([panel[panel["quantity"] != _ALONE] for _, panel in panels]))
    return figure


def _least_errors(panels) -> str:
    """Return the title: the sampling fractions at which simulated errors are smallest, over all lines of the panels."""
    best = [rows["at"].iloc[rows["simulated"].argmin()] for rows in panels if len(rows)]
    whole = sum(at == rows["at"].max() for at, rows in zip(best, panels))
    told = f"The smallest mean error is made at the largest sampling fraction in {whole} of {len(best)} panels"
    return told if whole == len(best) else f"{told}, and at s = {min(best):.3g} at the least"


_TARGETS = (("epsilon", "final ε"), ("rho", "ρ of the base"))


def _series_of(row, label) -> Series:
    """Return the series of a line: of its noise or, without one, of its method. Sampling schemes are variants."""
    about = row.get("noise_family", ""), row.get("noise_calibration", "")
    doing = row.get("algorithm") or row.get("method") or row["quantity"]
    return Series(label, row.get("noise", ""), *about, row.get("scheme", ""), doing)


def _label(kind, quantity: bool = True) -> str:
    words = kind if quantity else kind[1:]
    return ", ".join(str(word).replace("_", " ") for word in words if word != "")
