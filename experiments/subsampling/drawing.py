"""Figures of the study of subsampling, but for its tasks."""

import numpy as np

from tcdp_sim.experiments.subsampling.theory import MEMBERSHIP, sample
from tcdp_sim.privacy.amplification.schemes import SCHEMES
from tcdp_sim.privacy.relation import Relation
from tcdp_sim.report.findings import listed, span, wins
from tcdp_sim.report.looks import (
    Series,
    accounting_look,
    level_styles,
    line_of,
    marks_of,
    noise_styles,
    scheme_look,
    series_styles,
)
from tcdp_sim.report.plots import (
    GREY,
    KIND,
    NEIGHBOURS,
    WRONG,
    headed,
    line_key,
    name_hidden,
    new_figure,
    note,
    plain_log_axis,
    points,
    rounded,
)

NOISES = {  # noise of an exact curve -> family and calibration
    "Laplace": ("laplace", "paper"),
    "Gaussian": ("gaussian", "paper"),
    "sinh-normal": ("sinh_normal", "tight"),
}
BOUNDS = {  # curve of a bound or rule -> its colour, as in the figure of releases
    "Theorem 11": accounting_look("tCDP, Theorem 11")["color"],
    "certified, any (ρ, ω')-tCDP": accounting_look("Rényi, certified (any mechanism)")["color"],
    "the false rule (s²ρ, same ω)": WRONG,
}
RELATIONS = (
    "Theorem 11: without replacement, neighbours substitute one record; certified: that, and Poisson samples; "
    "all others: Poisson samples, neighbours add or remove one record"
)
LOWEST, HIGHEST = 0.4, 40.0  # of the divergences that are drawn; beyond, sampling gains little
FLOOR = 1e-14  # smallest probability of the axis
SEEN = 0.01  # probability of the loss that the title of the tails is about
AMPLIFIED = 2.0  # times s² rho order, up to which a divergence counts as amplified


def curves(part, rho):
    """Draw (a) one panel of Renyi curves for each sampling fraction."""
    fractions = np.sort(part["fraction"].unique())[::-1]
    across = min(len(fractions), 2)
    down = -(-len(fractions) // across)
    figure, grid = new_figure(down, across, 5 * max(across, 1.6), 3.8 * max(down, 1.3))
    for axes in grid.flat[len(fractions) :]:
        axes.set_axis_off()
    names = [name for name in part["quantity"].unique() if name not in ("no sampling", "Lemma 15, Gaussian")]
    dashes = series_styles([(name, name) for name in names])
    looks = noise_styles(map(_curve_of, names))
    colours = {name: BOUNDS.get(name, looks[name]["color"]) for name in names}
    styles = {name: {"color": colours[name], "linestyle": dashes[name]["linestyle"]} for name in names}
    for axes, s in zip(grid.flat, fractions):
        panel = part[part["fraction"] == s]
        for name, style in styles.items():
            rows = panel[panel["quantity"] == name]
            axes.plot(rows["at"], rows["exact"], **line_of(style))
        lemma, whole = (panel[panel["quantity"] == name] for name in ("Lemma 15, Gaussian", "no sampling"))
        axes.plot(lemma["at"], lemma["exact"], linestyle="none", marker="o", color=styles["exact, Gaussian"]["color"])
        axes.plot(whole["at"], whole["exact"], color=GREY, linestyle=":")
        axes.set(xscale="log", yscale="log", ylim=(LOWEST, HIGHEST), title=f"s = {s:g}")
        if len(whole) and whole["exact"].min() > HIGHEST:
            axes.set_title(f"s = {s:g} (no sampling, beyond the axis: {whole['exact'].iloc[0]:,.0f})")
        plain_log_axis(axes)
        end = panel.loc[(panel["quantity"] == "Theorem 11") & panel["exact"].notna(), "at"]
        if len(end):
            axes.axvline(np.log(1 / s) / (4 * rho), color=GREY, linewidth=0.6)
            axes.annotate(" ω of\n Theorem 11", (np.log(1 / s) / (4 * rho), 0.6 * HIGHEST), fontsize=7.5, va="top")
    for axes in grid[:, 0]:
        axes.set_ylabel(r"$D_\alpha\,/\,(s^2\rho\,\alpha)$")
    for axes in grid[-1]:
        axes.set_xlabel("order α")
    keys = {name: line_key(style["color"], linestyle=style["linestyle"]) for name, style in styles.items()}
    note(figure, "dots", "dots: Lemma 15, at whole orders")
    note(figure, "relations", RELATIONS)
    if (part.loc[part["quantity"] == "no sampling", "exact"] <= HIGHEST).any():
        keys["no sampling: what CDP, which knows no ω, keeps"] = line_key(GREY, linestyle=":")
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    headed(figure, _amplified(part, fractions, rho))
    return figure


def _amplified(part, fractions, rho) -> str:
    """Return the title of `curves`: up to which order a sample divides the divergence of Gaussian noise by 1/s²."""
    told = []
    for s in (fractions[0], fractions[-1]):
        gaussian = part[(part["fraction"] == s) & (part["quantity"] == "exact, Gaussian")].sort_values("at")
        low = gaussian["at"][gaussian["exact"] <= AMPLIFIED]
        told += [f"{low.max():.3g} at s = {s:g}"] if len(low) else []
    what = f"Sampled Gaussian noise of ρ = {rho:g} has a Rényi divergence of"
    if not told:
        return f"{what} more than {AMPLIFIED:g} s²ρα at all orders drawn"
    return f"{what} at most {AMPLIFIED:g} s²ρα up to order {listed(told)}, and loses the gain beyond"


def _curve_of(name: str) -> Series:
    """Return the series of a curve. An exact curve belongs to a noise and has its colour."""
    noise = name.split(", ")[1] if name.startswith("exact, ") else ""
    return Series(name, noise, *NOISES[noise], variant=name) if noise else Series(name, algorithm=name)


def profiles(part, rho):
    """Draw (b) one panel of profiles for each noise.

    Full lines are exact from the noise's group profiles. Dashed lines hold for any mechanism with its profile. The last
    panel shows the mechanism that attains Theorems 8 to 10: crosses on their bounds.
    """
    names = part["noise"].unique()
    figure, grid = new_figure(1, len(names), 2.9 * len(names), 4.8, sharey=True)
    groups = _alike(part[(part["quantity"] != "no sampling") & part["accounting"].isin(("tight", "black box"))])
    for axes, noise in zip(grid[0], names):
        panel = part[part["noise"] == noise]
        for i, scheme in enumerate(groups):
            for accounting, style in (("tight", "-"), ("black box", "--")):
                rows = panel[(panel["quantity"] == scheme) & (panel["accounting"] == accounting)]
                look = scheme_look(scheme) | {"linestyle": style, "markevery": (4 * i, 12)}
                axes.plot(rows["at"], rows["exact"].clip(lower=1e-12), **look)
        met = panel[panel["accounting"] == "attained"].sort_values(["quantity", "at"]).iloc[::5]
        axes.plot(met["at"], met["exact"].clip(lower=1e-12), color="black", linestyle="none", marker="x", markersize=5)
        whole = panel[panel["quantity"] == "no sampling"]
        axes.plot(whole["at"], whole["exact"], color=GREY, linestyle=":")
        axes.set(yscale="log", ylim=(1e-9, 1), xlabel="ε (nats)", title=noise)
    grid[0, 0].set_ylabel("δ(ε)")
    keys = {name: line_key(**scheme_look(scheme)) for scheme, name in groups.items()}
    keys |= {"dashed: black box": line_key(GREY, linestyle="--"), "no sampling": line_key(GREY, linestyle=":")}
    keys["attained (Theorem 13)"] = line_key("black", linestyle="none", marker="x", markersize=5)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=3)
    note(figure, "base", f"base of ρ = {rho:g}")
    note(figure, "relation", "neighbours substitute one record, or, where marked (±), add or remove one")
    headed(figure, _lowered(part))
    return figure


def _lowered(part) -> str:
    """Return the title: delta of the first noise at the least epsilon, without sampling and under the schemes."""
    noise = part["noise"].iloc[0]
    draws, records = sample(part["fraction"].iloc[0])
    here = part[(part["noise"] == noise) & (part["at"] == part.loc[part["noise"] == noise, "at"].min())]
    whole = here.loc[here["quantity"] == "no sampling", "exact"].max()
    exact = here.loc[(here["quantity"] != "no sampling") & (here["accounting"] == "tight"), "exact"]
    what = f"A sample of {draws:,} of {records:,} records lowers δ({here['at'].iloc[0]:.2g}) of {noise} noise"
    return f"{what} from {whole:.2g} to {span(exact, '{:.2g}'.format).replace(' to ', ' or ')} by the scheme"


def _alike(part):
    """Return a scheme -> the joined names of all schemes with the same numbers for the noises."""
    alike: dict[tuple[float, ...], list[str]] = {}
    for scheme, rows in part[part["noise"] != MEMBERSHIP].groupby("quantity", sort=False):
        alike.setdefault(tuple(rows["exact"].round(14)), []).append(str(scheme))
    return {schemes[0]: " = ".join(map(_with_relation, schemes)) for schemes in alike.values()}


def _with_relation(scheme) -> str:
    return scheme.replace("_", " ") + (" (±)" if SCHEMES[scheme].outer == Relation.ADD_REMOVE else "")


def releases(part, rho):
    """Draw (c) epsilon against the number of releases, with a line for each accounting."""
    figure, grid = new_figure(1, 1, 7.2, 5.4)
    axes = grid[0, 0]
    for name in part["quantity"].unique():
        rows = part[part["quantity"] == name].sort_values("at")
        under = " (substitution)" if (rows["relation"] == "substitute").any() else ""
        axes.plot(rows["at"], rows["exact"].where(rows["exact"] > 0), label=name + under, **accounting_look(name))
    axes.set(xscale="log", yscale="log", xlabel="releases T", ylabel=f"ε (nats) at δ = {part['delta'].iloc[0]:g}")
    what = f"releases with Gaussian noise of ρ = {rho:g} on Poisson samples of s = {part['fraction'].iloc[0]:g}"
    figure.legend(loc="outside lower center", ncols=2)
    last = part[part["at"] == part["at"].max()]
    ends = f"{rounded(last['exact'].min())} to {rounded(last['exact'].max())} by the accounting"
    note(figure, "relation", f"neighbours {NEIGHBOURS['add-remove']} if the label says nothing else")
    lines = {str(name): (rows["at"], rows["exact"]) for name, rows in part.groupby("quantity", sort=False)}
    name_hidden(figure, lines)
    headed(figure, f"After {last['at'].iloc[0]:,.0f} {what} ε is {ends}")
    return figure


def errors(part, best):
    """Draw (d) root-mean-square error against the fraction at a fixed final privacy; stars mark the best fraction.

    There is a panel for each data set, target and neighbouring relation, because errors under two relations do not
    compare.
    """
    panels = list(part.groupby(["relation", "data", "epsilon"], sort=False))
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure, grid = new_figure(rows, columns, max(4.6 * columns, 6.5), 3.6 * rows + 1.3)
    cells = part.drop_duplicates(["label", "scheme"]).to_dict("records")
    named = noise_styles(map(_series_of, cells))
    styles = {(row["label"], row["scheme"]): named[_series_of(row).label] for row in cells}
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, ((relation, name, epsilon), panel) in zip(grid.flat, panels):
        stars = best[(best["relation"] == relation) & (best["data"] == name) & (best["epsilon"] == epsilon)]
        for kind, rows in panel.groupby(["label", "scheme"], sort=False):
            star = stars[(stars["label"] == kind[0]) & (stars["scheme"] == kind[1])]
            _error_curve(axes, rows.sort_values("at"), star, styles[kind])
        title = f"{name}: ({epsilon:g}, {panel['delta'].iloc[0]:g})-DP\nneighbours {NEIGHBOURS[relation]}"
        axes.set(xscale="log", yscale="log", xlabel="sampling fraction s", title=title)
    for axes in grid[:, 0]:
        axes.set_ylabel("root-mean-square error (counts)")
    keys = {name: line_key(**style) for name, style in named.items()}
    keys |= {
        "sampling alone": line_key(GREY, linestyle=":"),
        "best s": line_key("black", linestyle="none", marker="*", markersize=9),
    }
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    note(figure, "kind", KIND)
    headed(figure, _least_error(part))
    return figure


def _least_error(part) -> str:
    """Return the title: the noises and schemes of the smallest error in the panels, and their sampling fractions."""
    total = part[part["quantity"] == "square_error"]
    best = total.loc[total.groupby(["relation", "data", "epsilon"], sort=False)["exact"].idxmin()]
    names = [f"{row['label']}, {_spoken(row['scheme'])}" for row in best.to_dict("records")]
    told = listed(f"{name} in {count} of {len(best)} panels" for name, count in wins(names))
    fractions = span(best["at"], "{:.3g}".format)
    return f"At a fixed final privacy the smallest error is that of {told}, at a sampling fraction of {fractions}"


def _series_of(row) -> Series:
    about = row["noise"], row["noise_family"], row["noise_calibration"], row["label"]
    return Series(f"{row['label']}, {_spoken(row['scheme'])}", *about, algorithm=row["scheme"])


def _spoken(scheme) -> str:
    return scheme.replace("_", " ")


def _error_curve(axes, rows, star, style):
    """Draw one noise and scheme: the whole error, the part due to sampling, and the best fraction."""
    total = rows[rows["quantity"] == "square_error"]
    roots = (np.sqrt(total[name].clip(lower=0)) for name in ("simulated", "lower", "upper"))
    points(axes, total["at"], *roots, **marks_of(style))
    axes.plot(total["at"], np.sqrt(total["exact"]), **line_of(style))
    sampling = rows[(rows["quantity"] == "square_sampling_error") & (rows["exact"] > 0)]
    axes.plot(sampling["at"], np.sqrt(sampling["exact"]), color=GREY, linewidth=0.8, linestyle=":")
    axes.plot(star["at"], np.sqrt(star["exact"]), "*", color=style["color"], markersize=12, zorder=5)


def tails(part):
    """Draw (e) P[L > t] of the base (s = 1) and the subsampled answer, with one panel for each noise."""
    labels = part["label"].unique()
    figure, grid = new_figure(1, len(labels), max(3.8 * len(labels), 6.5), 4.6, sharey=True)
    fractions = np.sort(part["fraction"].unique())[::-1]
    looks = level_styles(f"s = {s:g}" + (" (base)" if s == 1 else "") for s in fractions)
    for axes, label in zip(grid[0], labels):
        for s, look in zip(fractions, looks.values()):
            rows = part[(part["label"] == label) & (part["fraction"] == s)].sort_values("at")
            line, drawn = rows[rows["trials"] == 0], rows[(rows["trials"] > 0) & (rows["simulated"] > 0)]
            axes.plot(line["at"], line["exact"].where(line["exact"] > 0, 1e-300), **line_of(look))
            points(axes, *(drawn[c] for c in ("at", "simulated", "lower", "upper")), **marks_of(look))
        axes.set(xscale="log", yscale="log", ylim=(FLOOR, 2), xlabel="privacy loss t (nats)", title=label)
    seen = part.loc[(part["at"] > 0) & (part["exact"] > FLOOR), "at"]
    for axes in grid[0] if seen.nunique() > 1 else ():
        axes.set_xlim(seen.min(), 1.3 * seen.max())
    if (part.loc[part["trials"] > 0, "at"] == 0).any():
        note(figure, "zero", "t = 0 is not on the log axis")
    grid[0, 0].set_ylabel("P[L > t]")
    keys = {name: line_key(**look) for name, look in looks.items()}
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=len(keys))
    scheme, rho = _spoken(part["scheme"].iloc[0]), part["rho"].iloc[0]
    note(figure, "base", f"loss of one record in one bin, base of ρ = {rho:g}, sampling scheme {scheme}")
    note(figure, "kind", KIND)
    headed(figure, _rarer(part))
    return figure


def _rarer(part) -> str:
    """Return the title: the loss that is exceeded with probability SEEN, at the largest and the smallest fraction.

    It is the largest such loss of all noises.
    """
    lines = part[(part["trials"] == 0) & (part["exact"] >= SEEN)]
    if lines.empty:
        return f"No drawn loss is exceeded with a probability of {SEEN:.0%}, as far as it is known exactly"
    reach = lines.groupby("fraction")["at"].max()
    most, least = reach.index.max(), reach.index.min()
    told = f"at most {reach[most]:.2g} nats at s = {most:g}"
    if most == least:
        return f"With probability {SEEN:.0%} the loss exceeds {told}"
    return f"With probability {SEEN:.0%} the loss exceeds {told}, and {reach[least]:.1g} nats at s = {least:g}"
