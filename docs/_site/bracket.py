"""The picture of the page about brackets: one number simulated, exact and bounded, and two brackets enlarged.

The build of the site makes it from two small runs. `python docs/_site/bracket.py FILE.png` makes it alone.
"""

import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import tcdp_sim
from tcdp_sim.accounting import Allocated, Ledger
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact import max_abs_quantile
from tcdp_sim.noise import Gaussian
from tcdp_sim.report import looks, plots

K, RHO, LEVEL = 1000, 0.1, 0.95
STEPS, PARTICIPATIONS, EPSILON = 100, 2, 1.5
SIMULATED, EXACT, PROVED = looks.COLOURS[2], plots.DARK, plots.GREY
QUIET = {"cluster": "serial", "also": None}


def figure() -> Figure:
    """Return the figure: a number by four ways, its narrow bracket, and a wide bracket of another number."""
    drawn, grid = plots.new_figure(3, 1, 7.0, 5.6, gridspec_kw={"height_ratios": [4, 1.4, 2.2]})
    _four_ways(grid[0, 0])
    _narrow(grid[1, 0])
    _wide(grid[2, 0])
    plots.headed(drawn, "A simulated interval shrinks with the trials; a bracket is not random")
    return drawn


def _four_ways(axes) -> None:
    """Draw the 95% quantile of the largest of k errors: simulated twice, exact, as proved and as printed."""
    rows = []
    for trials in (1000, 20_000):
        ds = tcdp_sim.run(
            "histogram", sweep={"k": K, "noise": "gaussian", "rho": RHO}, trials=trials, chunk=1000, **QUIET
        )
        one = ds.sel(quantile=LEVEL)
        ends = [one[f"linf_error_quantile{end}"].item() for end in ("", "_lower", "_upper")]
        rows.append((f"simulated, {trials:,} trials", *ends, SIMULATED))
    exact, proved, printed = (
        one[name].item() for name in ("linf_error_quantile_exact", "linf_error_quantile_bound", "linf_error_printed")
    )
    rows += [("exact", exact, exact, exact, EXACT)]
    rows += [
        ("proved bound", proved, proved, proved, PROVED),
        ("printed in the paper (E1)", *[printed] * 3, plots.WRONG),
    ]
    axes.axvline(exact, color=EXACT, linewidth=0.8)
    _intervals(axes, rows)
    axes.set_title(f"the 95% quantile of the largest of {K:,} errors, Gaussian noise, ρ = {RHO:g}")
    axes.set_xlabel("counts")


def _narrow(axes) -> None:
    """Draw the bracket of the exact value, enlarged."""
    bounds = max_abs_quantile(Gaussian(RHO**-0.5), K, LEVEL)
    _bracket(axes, "its bracket,\nenlarged", bounds, bounds.estimate, 1e12)
    axes.set_title("a narrow bracket: rounding errors alone")
    axes.set_xlabel(f"distance from {bounds.estimate:.10f} counts, in units of 10⁻¹² counts")


def _wide(axes) -> None:
    """Draw a number without a closed form: its bracket, and the simulated value in it."""
    sweep = {"sigma": 1, "steps": STEPS, "participations": PARTICIPATIONS, "epsilon": EPSILON, "direction": "adding"}
    ds = tcdp_sim.run("allocation", sweep=sweep, trials=4000, chunk=1000, **QUIET)
    ends = [1e6 * ds[f"hockey_stick_mean{end}"].item() for end in ("", "_lower", "_upper")]
    bounds = Ledger([Allocated(1.0, STEPS, PARTICIPATIONS)], relation="add_remove").delta(EPSILON)
    _intervals(axes, [("simulated, 4,000 trials", *ends, SIMULATED)])
    _bracket(axes, "bracket", bounds, 0.0, 1e6, place=1)
    about = f"δ at ε = {EPSILON:g} of a record that takes part in {PARTICIPATIONS} of {STEPS} steps"
    axes.set_title(f"a wide bracket: {about}")
    axes.set_xlabel("δ, in units of 10⁻⁶")


def _intervals(axes, rows) -> None:
    """Draw a value with its 95% interval in each row, from the top."""
    for place, (_, value, lower, upper, colour) in enumerate(rows):
        width = {"xerr": [[value - lower], [upper - value]]} if upper > lower else {}
        axes.errorbar(value, place, color=colour, marker="o", capsize=3, **width)
    axes.set_yticks(range(len(rows)), [label for label, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)


def _bracket(axes, label: str, bounds: Bounds, origin: float, scale: float, place: int = 0) -> None:
    """Draw a bracket as a bar from its lower to its upper end."""
    lower, upper = (scale * (float(end) - origin) for end in (bounds.lower, bounds.upper))
    axes.plot([lower, upper], [place, place], color=EXACT, marker="|", markersize=12, markeredgewidth=2, linewidth=3)
    for at, name, away in ((lower, "lower end", -7), (upper, "upper end", 7)):
        side = "right" if away < 0 else "left"
        axes.annotate(name, (at, place), (away, 0), textcoords="offset points", ha=side, va="center")
    labels = [each.get_text() for each in axes.get_yticklabels()] if place else []
    axes.set_yticks(range(place + 1), [*labels, label])
    axes.set_ylim(place + 0.5, -0.5)
    axes.margins(x=0.25)


def save(path: Path) -> None:
    """Make the runs in a folder of their own, and save the figure."""
    with tempfile.TemporaryDirectory() as folder, plots.style():
        QUIET["results_dir"] = folder
        figure().savefig(path)


if __name__ == "__main__":
    save(Path(sys.argv[1]))
