"""The page of results: a table of audits beside the exact values and beside published audits."""

from collections.abc import Iterable, Mapping
from math import inf

from audit_gallery.outcomes import Outcome, Size
from audit_gallery.rows import Row

HEAD = """# The audit gallery

This page lists audits of sound and of broken mechanisms, and of mechanisms of two libraries. Their code is in
[examples/audit_gallery](../../examples/audit_gallery). One command makes the page, in about an hour on
two cores:

    make audit-gallery ARGS="{command}--page docs/reference/audit_gallery.md"

A stopped run continues where it stopped, and begins OpenDP's audits anew. ε is in nats.
"""

OWN = """
## Mechanisms of published audits

Every bound holds at confidence {level:g}% and is proved with {trials:,} outputs of each input.

| column | meaning |
| --- | --- |
| true ε | the exact ε over the pairs of inputs that are tried |
| best event | the bound that the best event of the exact law gives at its expected counts |
| ratios | the bound of our audit when the mechanism states its likelihood ratios |
| outputs | the bound of our audit from outputs alone |
| of best | the bound in the column before, divided by the best event's |
| DP-Sniper (s) | published bounds at 90%, by logistic regression / by a network (seconds of the former) |
| StatDP | published estimates, without a confidence level |
| CPU s | CPU time of all processes of the audit with ratios |
| sampling CPU s | CPU time that the mechanism alone needs for as many outputs |
| verdict | refuted if either of our bounds is above the claim; both hold together at {both:g}% |

- The best event's bound is by Clopper and Pearson, with half of the error probability at each end. An audit can exceed
  it by chance, or because it divides the error probability better.
- Our bounds hold for all events and pairs that an audit has tried.
- The numbers of DP-Sniper (Bichsel et al., S&P 2021) and StatDP (Ding et al., CCS 2018) are published ones, measured
  on other machines. DP-Sniper drew 2·10^8 outputs of each input.
- DP-Sniper tried svt_1 at threshold 0.5, where the best event gives 0.0870. The threshold here is 1.
"""

HELD_OUT = """
## Mechanisms that are held out

The audit was never tuned on these. Every bound holds at confidence {level:g}%, from {trials:,} outputs of each input
alone.
"""

LIBRARIES = """
## Mechanisms of libraries

Each mechanism was audited for two to twelve minutes on one core, from its outputs alone. Every bound holds at
confidence {level:g}%. The claims are those of the libraries. OpenDP draws from its own generators, so its audits are
not reproducible bit by bit, and each of its outputs takes a call of its own. For diffprivlib's Laplace noise, an array
of outputs is drawn by the library's own sampler, as by as many calls.
"""

COLUMNS = (
    *("mechanism", "claim", "true ε", "best event", "ratios", "of best", "outputs", "of best"),
    *("DP-Sniper (s)", "StatDP", "CPU s", "sampling CPU s", "verdict"),
)
HELD_OUT_COLUMNS = ("mechanism", "claim", "true ε", "bound on ε", "verdict")
LIBRARY_COLUMNS = ("mechanism", "claim", "outputs of each input", "lower bound", "verdict")

Found = Mapping[tuple[str, bool], Outcome]


def page(
    groups: tuple[list[Row], list[Row], list[Row]],
    sizes: Mapping[str, Size],
    outcomes: Iterable[Outcome],
    command: str = "",
) -> str:
    """Return the page in markdown: a table of each group of rows, then the event that proved each bound.

    `groups` are the mechanisms of published audits, those that are held out, and those of libraries. Rows without
    an outcome are left out. `sizes` are those of the audits, and `command` their options.
    """
    found = {(each.name, each.ratios): each for each in outcomes}
    own, held_out, library = (
        [row for row in group if any((row.name, ratios) in found for ratios in (True, False))] for group in groups
    )
    lines = [HEAD.format(command=f"{command} " if command else "").rstrip()]
    if own:
        cells = [_cells(row, found, sizes[row.name]) for row in own]
        lines += _section(OWN, sizes[own[0].name], COLUMNS, cells)
    if held_out:
        cells = [_held_out_cells(row, found) for row in held_out]
        lines += _section(HELD_OUT, sizes[held_out[0].name], HELD_OUT_COLUMNS, cells)
    if library:
        cells = [_library_cells(row, found) for row in library]
        lines += _section(LIBRARIES, sizes[library[0].name], LIBRARY_COLUMNS, cells)
    lines += ["", "## Mechanisms and events", ""]
    for row in (*own, *held_out, *library):
        each = found.get((row.name, True)) or found[row.name, False]
        lines += [f"- **{row.name}**: {row.says}. Event: {each.event}. Inputs: {each.pair}."]
    return "\n".join(lines) + "\n"


def _section(head: str, size: Size, columns: Iterable[str], cells: list[list[str]]) -> list[str]:
    """Return the lines of a section: what its columns mean, and its table."""
    level = size.level
    text = head.format(trials=size.trials, level=100 * level, both=100 * (2 * level - 1))
    return [text, _line(columns), _line(["---"] * len(cells[0])), *map(_line, cells)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, found: Found, size: Size) -> list[str]:
    best = row.best(size.trials, size.level)
    limit = best.epsilon if best else None
    outcomes = [found.get((row.name, ratios)) for ratios in (True, False)]
    timed = next(each for each in outcomes if each is not None)
    cells = [row.name, str(row.claim), _number(row.epsilon()), _number(limit)]
    for each in outcomes:
        cells += [_bound(each), f"{each.bound / limit:.3f}" if each and limit else "—"]
    cells += [
        _sniper(row),
        _number(row.published.statdp),
        *(_seconds(x) for x in (timed.cpu, timed.sampling)),
    ]
    return [*cells, _verdict(row, outcomes)]


def _held_out_cells(row: Row, found: Found) -> list[str]:
    outcome = found[row.name, False]
    return [row.name, str(row.claim), _number(row.epsilon()), _bound(outcome), _verdict(row, [outcome])]


def _library_cells(row: Row, found: Found) -> list[str]:
    outcome = found[row.name, False]
    return [row.name, str(row.claim), f"{outcome.trials:,}", _bound(outcome, unit=True), _verdict(row, [outcome])]


def _bound(outcome: Outcome | None, unit: bool = False) -> str:
    if outcome is None:
        return "—"
    measure = outcome.measure.replace("epsilon", "ε").replace("delta", "δ").replace("rho", "ρ")
    return f"{measure} ≥ {outcome.bound:.4g}" if unit else f"{outcome.bound:.4g}"


def _sniper(row: Row) -> str:
    published = row.published
    bounds = " / ".join(_number(x) for x in (published.logistic, published.network) if x is not None)
    return f"{bounds} ({published.seconds})" if published.seconds else bounds or "—"


def _seconds(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _number(value: float | None) -> str:
    if value is None:
        return "—"
    return "∞" if value == inf else f"{value:.4g}"


def _verdict(row: Row, outcomes: list[Outcome | None]) -> str:
    refuted = any(each.refuted for each in outcomes if each is not None)
    wrong = refuted == row.sound
    remark = f", though {'sound' if row.sound else 'broken'}" if wrong else ""
    return f"{'refuted' if refuted else 'not refuted'}{remark}"
