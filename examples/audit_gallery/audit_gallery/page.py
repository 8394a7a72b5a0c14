"""The page of results: a table of audits beside the exact values and beside published audits."""

from collections.abc import Iterable
from math import inf

from audit_gallery.outcomes import Outcome
from audit_gallery.rows import Row

HEAD = """# The audit gallery

This page lists audits of sound and of broken mechanisms. Their code is in
[examples/audit_gallery](../../examples/audit_gallery). Two commands make the page:

    make audit-gallery ARGS="{command}"
    make audit-gallery ARGS="{command} --outputs --page docs/reference/audit_gallery.md"

Every bound holds at confidence {level:g}% and is proved with {trials:,} outputs of each input. ε is in nats.

| column | meaning |
| --- | --- |
| true ε | the exact ε over the pairs of inputs that are tried |
| best event | the bound that the best event of the exact law gives at its expected counts |
| ratios | the bound of our audit when the mechanism states its likelihood ratios |
| outputs | the bound of our audit from outputs alone |
| of best | the bound in the column before, divided by the best event's |
| DP-Sniper (s) | published bounds at 90%, by logistic regression / by a network (seconds of the former) |
| StatDP | published estimates, without a confidence level |
| s, CPU s | clock time of the audit with ratios, and CPU time of all its processes |
| sampling CPU s | CPU time that the mechanism alone needs for as many outputs |
| verdict | refuted if either of our bounds is above the claim; both hold together at {both:g}% |

- The best event's bound is by Clopper and Pearson, with half of the error probability at each end. An audit can exceed
  it by chance, or because it divides the error probability better.
- Our bounds hold for all events and pairs that an audit has tried.
- The numbers of DP-Sniper (Bichsel et al., S&P 2021) and StatDP (Ding et al., CCS 2018) are published ones, measured
  on other machines. DP-Sniper drew 2·10^8 outputs of each input.
- DP-Sniper tried svt_1 at threshold 0.5, where the best event gives 0.0870. The threshold here is 1.
"""

COLUMNS = (
    *("mechanism", "claim", "true ε", "best event", "ratios", "of best", "outputs", "of best"),
    *("DP-Sniper (s)", "StatDP", "s", "CPU s", "sampling CPU s", "verdict"),
)


def page(rows: Iterable[Row], outcomes: list[Outcome], trials: int, level: float, command: str) -> str:
    """Return the page in markdown: a table of the mechanisms, then the event that proved each bound.

    The rows come in the order of the table. Outcomes with other trials or another level are left out.
    """
    found = {(each.name, each.ratios): each for each in outcomes if (each.trials, each.level) == (trials, level)}
    shown = [row for row in rows if any((row.name, ratios) in found for ratios in (True, False))]
    lines = [HEAD.format(trials=trials, level=100 * level, both=100 * (2 * level - 1), command=command)]
    lines += [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    lines += [_line(_cells(row, found, trials, level)) for row in shown]
    lines += ["", "## Mechanisms and events", ""]
    for row in shown:
        each = found.get((row.name, True)) or found[row.name, False]
        lines += [f"- **{row.name}**: {row.says}. Event: {each.event}. Inputs: {each.pair}."]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, found: dict[tuple[str, bool], Outcome], trials: int, level: float) -> list[str]:
    best = row.best(trials, level)
    limit = best.epsilon if best else None
    outcomes = [found.get((row.name, ratios)) for ratios in (True, False)]
    timed = next(each for each in outcomes if each is not None)
    cells = [row.name, str(row.claim), _number(row.epsilon()), _number(limit)]
    for each in outcomes:
        cells += [_bound(each), f"{each.bound / limit:.3f}" if each and limit else "—"]
    cells += [
        _sniper(row),
        _number(row.published.statdp),
        *(_seconds(x) for x in (timed.seconds, timed.cpu, timed.sampling)),
    ]
    return [*cells, _verdict(row, outcomes)]


def _bound(outcome: Outcome | None) -> str:
    if outcome is None:
        return "—"
    unit = "" if outcome.measure == "epsilon" else f" ({outcome.measure})"
    return f"{outcome.bound:.4g}{unit}"


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
