"""The figure of the museum: for each exhibit, the tests that its outputs allow and those that its claim allows."""

from typing import TYPE_CHECKING

import numpy as np

from museum.exhibit import Exhibit
from museum.running import Outcome
from tcdp_sim.audits import binomial, tradeoff
from tcdp_sim.report import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4
LEAST = 1e-5  # of both axes
SERIES = {
    "broken": ("#D55E00", "-", "proved of the broken version"),
    "repaired": ("#0072B2", "--", "proved of the repaired version"),
}


def figure(shown: list[tuple[Exhibit, dict[str, Outcome]]]) -> "Figure":
    """Draw a panel for each exhibit: the power of tests against their type I error, on logarithmic axes."""
    rows = -(-len(shown) // COLUMNS)
    with plots.style():
        drawn, grid = plots.new_figure(rows, COLUMNS, 11.4, 2.3 * rows)
        for axes, (exhibit, outcomes) in zip(grid.flat, shown):
            _panel(axes, exhibit, outcomes)
        for axes in grid.flat[len(shown) :]:
            axes.axis("off")
        for axes in grid[:, 0]:
            axes.set_ylabel("power")
        for axes in grid.flat[max(len(shown) - COLUMNS, 0) : len(shown)]:
            axes.set_xlabel("type I error")
        handles = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels())}
        drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3)
        drawn.suptitle("Tests of outputs beat what the broken versions claim, and never what the repaired ones claim")
    return drawn


def _panel(axes: "Axes", exhibit: Exhibit, outcomes: dict[str, Outcome]) -> None:
    """Draw the claim's limit, what both versions prove, and the event that refutes the claim."""
    alpha = np.geomspace(LEAST, 1, 200)
    limit = tradeoff.curve(exhibit.claim)
    if limit is not None:
        more = "more than the claim allows"
        axes.fill_between(alpha, limit.power(alpha), 1, color=plots.GREY, alpha=0.25, lw=0, label=more)
    if exhibit.repaired_claim is not None:
        limit = tradeoff.curve(exhibit.repaired_claim)
        axes.plot(alpha, limit.power(alpha), color=plots.DARK, linestyle=":", lw=1, label="limit of the repaired claim")
    for which, (colour, dashes, label) in SERIES.items():
        each = outcomes[which]
        if each.type_one:
            errors = alpha[alpha >= min(each.type_one)]
            powers = np.interp(errors, each.type_one, each.power)  # a coin may choose between two tests
            axes.plot(errors, powers, color=colour, linestyle=dashes, lw=1.3, label=label)
    broken = outcomes["broken"]
    if min(broken.hits) < broken.trials:
        _event(axes, broken)
    axes.set(xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1.3))
    axes.set_title(exhibit.name, fontsize=8.5)


def _event(axes: "Axes", broken: Outcome) -> None:
    """Draw the event with the intervals of its two probabilities."""
    high, low = max(broken.hits), min(broken.hits)
    ends = [_interval(hits, broken) for hits in (low, high)]
    x, y = max(low / broken.trials, LEAST), high / broken.trials
    errors = [[[max(at - end[0], 0)], [max(end[1] - at, 0)]] for at, end in zip((x, y), ends)]
    label = "the event that refutes the claim"
    axes.errorbar(x, y, errors[1], errors[0], fmt="o", ms=4, color="black", lw=1, label=label)


def _interval(hits: int, broken: Outcome) -> tuple[float, float]:
    """Return the exact ends of the probability of an event."""
    share = (1 - broken.level) / 2
    ends = (binomial.lower_probability, binomial.upper_probability)
    lower, upper = (float(end(hits, broken.trials, share)) for end in ends)
    return lower, upper
