"""The page of results: a table of bugs, and the event that shows each of them."""

from collections.abc import Iterable
from statistics import median

from museum.exhibit import Exhibit
from museum.running import Outcome

HEAD = """# The museum of privacy bugs

Each row of this page is a privacy bug that was shipped. An audit finds it again from outputs alone. The same audit
does not refute the repaired version. The code is in [examples/museum](../../examples/museum). One command makes the
page and its figure:

    make museum ARGS="--page docs/reference/museum.md"

| column | meaning |
| --- | --- |
| exhibit | its name, with links to the threads that describe the bug |
| version | the version that has the bug, as the thread states it |
| code | own: the library's own code runs; anew: its law is written anew from the thread's description |
| claim | what the library claims for the neighbours of the next column |
| shown | the lower confidence bound of the audit of the broken version, at level {broken:g} |
| repaired | the bound of the same audit of the repaired version, at level {repaired:g} (and its claim if it differs) |
| outputs | of each input, in the audit of the broken version; and in one that ends once it refutes the claim |
| CPU s | seconds of processor time of both audits, with all outputs that they drew, on {machine} |

Each level holds for one audit. No claim of a repaired version is refuted unless the table says so.
"""
EARLY = """
An audit that ends as soon as it refutes the claim (`until="refuted"`) draws {share:.1%} of the outputs of one that does
not: the median over {number} broken versions, of which it refutes {refuted}.
"""

FIGURE = """
![Power against type I error for each exhibit](museum.png)

Each panel has the power of tests that tell the two inputs apart, against their type I error. No test of a mechanism
that keeps its claim reaches the grey region. The lines are proved: each has lower ends of the power at upper ends of
the error, and all points of a line hold together. The point is the event of the list below, with its intervals.
A line is missing where the outputs of that version prove no more than a coin does in this direction.
"""
COLUMNS = ("exhibit", "version", "code", "neighbours", "claim", "shown", "repaired", "outputs", "CPU s")


def page(shown: Iterable[tuple[Exhibit, dict[str, Outcome]]], left_out: Iterable[str], machine: str) -> str:
    """Return the page in markdown.

    `left_out` has a line for each exhibit whose library is missing. `machine` says in words where the audits ran.
    """
    shown = list(shown)
    levels = {which: shown[0][1][which].level for which in ("broken", "repaired")}
    lines = [HEAD.format(machine=machine, **levels), _line(COLUMNS), _line(["---"] * len(COLUMNS))]
    lines += [_line(_cells(exhibit, outcomes)) for exhibit, outcomes in shown]
    lines += [_early([outcomes for _, outcomes in shown]), FIGURE, "## The bugs", ""]
    lines += [_entry(exhibit, outcomes["broken"]) for exhibit, outcomes in shown]
    return "\n".join([*lines, *left_out]) + "\n"


def _early(shown: list[dict[str, Outcome]]) -> str:
    """Return how much an audit saves that ends early, in a sentence."""
    share = median(each["early"].drawn / each["broken"].drawn for each in shown)
    return EARLY.format(share=share, number=len(shown), refuted=sum(each["early"].refuted for each in shown))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(exhibit: Exhibit, outcomes: dict[str, Outcome]) -> list[str]:
    broken, repaired = outcomes["broken"], outcomes["repaired"]
    other = f" ({repaired.claim})" if repaired.claim != broken.claim else ""
    return [
        f"{exhibit.name}: {exhibit.links}",
        exhibit.version,
        "anew" if exhibit.ours else "own",
        exhibit.neighbours.relation,
        broken.claim,
        _shown(broken) + ("" if broken.refuted else ", not refuted"),
        _shown(repaired) + other + (", refuted" if repaired.refuted else ""),
        f"{broken.drawn:,}; {outcomes['early'].drawn:,}",
        f"{broken.cpu + repaired.cpu:.1f}",
    ]


def _shown(outcome: Outcome) -> str:
    symbol = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}[outcome.measure.split()[0]]
    return f"{symbol} ≥ {outcome.bound:.3g}"


def _entry(exhibit: Exhibit, broken: Outcome) -> str:
    return f"- **{exhibit.name}**: {exhibit.says} Repaired: {exhibit.repair}. {_found(broken)}"


def _found(broken: Outcome) -> str:
    """Return the event with its hits, or the moment, in a sentence."""
    if min(broken.hits) == broken.trials:
        return f"Shown by the {broken.event}, from {broken.trials:,} outputs of each input."
    first, second = broken.hits
    return f"Event: `{broken.event}`, {first:,} and {second:,} times in {broken.trials:,} outputs of each input."
