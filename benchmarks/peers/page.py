"""The rows as a table on the terminal and as the page docs/reference/benchmarks.md."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.peers.compare import Row, better
from benchmarks.peers.questions import Question

Report = list[tuple[Question, list[Row]]]
HEADINGS = ("who", "answer", "kind of answer", "error", "CPU s", "times ours", "remark")


def cells(row: Row, versions: dict[str, str]) -> tuple[str, ...]:
    """Return one row as text."""
    version = versions.get(row.who, "")
    cpu = "" if row.cpu is None else f"{row.cpu:.2g}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2g}"
    return f"{row.who} {version}".strip(), row.answer, row.kind, row.told, cpu, ratio, row.note


def terminal(report: Report, versions: dict[str, str], missing: dict[str, str], console: Console) -> None:
    """Print a table for every question, then the tools that do better than ours, then those not measured."""
    for question, rows in report:
        table = Table(title=question.title, caption=question.says, title_justify="left", caption_justify="left")
        for heading in HEADINGS:
            table.add_column(heading, justify="right" if heading in ("CPU s", "times ours") else "left")
        for row in rows:
            table.add_row(*cells(row, versions))
        console.print(table)
    for line in (*losses(report), *absent(missing)):
        console.print(line, markup=False)


def losses(report: Report) -> Iterable[str]:
    """Yield one line for each question: the cheaper tools, the nearer ones, and what ours gives for its time."""
    for question, rows in report:
        cheaper, nearer = better(rows)
        said = [f"cheaper: {', '.join(cheaper)}"] * bool(cheaper) + [f"nearer: {', '.join(nearer)}"] * bool(nearer)
        said += [question.worth] * bool(said and question.worth)
        yield f"{question.title}: {'; '.join(said) or 'nobody is cheaper or nearer than we are'}"


def absent(missing: dict[str, str]) -> Iterable[str]:
    """Yield the peers that could not be installed, with pip's reason."""
    for peer, reason in missing.items():
        yield f"{peer} was not measured: {reason}"


def markdown(report: Report, versions: dict[str, str], missing: dict[str, str], about: dict[str, Any]) -> str:
    """Return the page. `about` has date, machine, python and repeats."""
    parts = [_HEAD.format(**about), "## Where others do better\n"]
    parts += [*(f"- {_plain(line)}" for line in losses(report)), ""]
    if missing:
        parts += ["## Not measured\n", *(f"- {_plain(line)}" for line in absent(missing)), ""]
    for question, rows in report:
        parts += [f"## {question.title}\n", f"{_plain(question.says)}\n"]
        parts += [_line(HEADINGS), _line("---" for _ in HEADINGS)]
        parts += [_line(map(_plain, cells(row, versions))) for row in rows] + [""]
    return "\n".join(parts)


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _plain(text: str) -> str:
    """Return the text with the characters escaped that have a meaning in Markdown."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


_HEAD = """# Beside what people use now

This page compares tcdp_sim with other tools on the same questions: their answers, the error of each, and the CPU time.

`make bench-peers` made it on {date}: {machine}, Python {python}. Each tool ran in a process of its own,
in an environment of its own, pinned in `benchmarks/peers/`. The tools ran one after the other, {repeats} times in turn.

- *CPU* is user plus system time of the process and its children, without imports: the median of the {repeats} runs.
- *times ours* is a tool's CPU over ours, in the same run. Only these ratios carry over to other machines.
- *error* is the width of a bracket, the excess of an upper bound over the truth, or the distance of an estimate.
- *kind of answer* is the tool's own claim. If the trusted value contradicts it, the table says so.
- *ours* is tcdp_sim; *numpy* is numpy and scipy alone.

`benchmarks/peers/trusted.py` computed the trusted values in the same run: closed forms in 50 digits, and inverse
Laplace transforms, which no tool here uses. A tool is not asked a question for which it has no function.
"""
