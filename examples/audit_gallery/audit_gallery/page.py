"""The page of results: a table of audits beside the exact values and beside published audits."""

from collections.abc import Iterable
from math import inf

from audit_gallery.outcomes import Outcome
from audit_gallery.rows import Row

HEAD = """# The audit gallery

Mechanisms that are sound and mechanisms that are broken, audited. The code is in
[examples/audit_gallery](../examples/audit_gallery); this page is made by

    make audit-gallery ARGS="{command}"
    make audit-gallery ARGS="{command} --outputs --page docs/audit_gallery.md"

ε is in nats. *True* is the exact ε over the pairs of inputs that are tried. *Best event* is the lower confidence bound
at {level:g}% that the most telling event of the exact law gives at {trials:,} outputs of each input, at the expected
counts (Clopper-Pearson, half of the doubt on each end; an audit may share it out better, and chance may help). *Ratios*
is what our audit shows when the mechanism gives its likelihood ratios, *outputs* when it sees outputs alone. Each holds
at {level:g}% for everything that was tried, and both together, by which the verdict is judged, at {both:g}%.
DP-Sniper (Bichsel et al., S&P 2021; logistic regression / network, and its seconds) and StatDP (Ding et al., CCS 2018)
are their own published numbers: bounds at 90% with 2·10^8 outputs of each input, and estimates without confidence, on
machines of their own. DP-Sniper tried svt_1 at threshold 0.5, where the best event gives 0.0870; here it is 1.

The times are those of the audit with ratios: by the clock, in CPU seconds of all processes, and what the mechanism
alone takes of these for as many outputs.
"""

COLUMNS = (
    *("mechanism", "claim", "true ε", "best event", "ratios", "of best", "outputs", "of best"),
    *("DP-Sniper (s)", "StatDP", "s", "CPU s", "of which drawing", "verdict"),
)


def page(rows: Iterable[Row], outcomes: list[Outcome], trials: int, level: float, command: str) -> str:
    """Return the page in markdown: a table of the mechanisms, and the event of each audit in words.

    The rows come in the order of the table. Outcomes with other trials or another level are left out.
    """
    found = {(each.name, each.ratios): each for each in outcomes if (each.trials, each.level) == (trials, level)}
    shown = [row for row in rows if any((row.name, ratios) in found for ratios in (True, False))]
    lines = [HEAD.format(trials=trials, level=100 * level, both=100 * (2 * level - 1), command=command)]
    lines += [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    lines += [_line(_cells(row, found, trials, level)) for row in shown]
    lines += ["", "## What was audited, and by which event it was judged", ""]
    for row in shown:
        each = found.get((row.name, True)) or found[row.name, False]
        lines += [f"- **{row.name}**: {row.says}. {each.event}; inputs {each.pair}."]
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
    told = row.published
    bounds = " / ".join(_number(x) for x in (told.logistic, told.network) if x is not None)
    return f"{bounds} ({told.seconds})" if told.seconds else bounds or "—"


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
