"""A ledger as a table: each release, its times, its cost alone, and its share of the total."""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from tcdp_sim.accounting.releases.release import Laws
from tcdp_sim.core.rounded import from_above

DELTA = 1e-6  # at which the table shows epsilon
HEAD = ("release", "times", f"epsilon alone (delta {DELTA:g})", "share")
MOST_ROWS = 20
_LONGEST = 60


def text(rows: Sequence[Sequence[str]], foot: str) -> str:
    """Return the table as aligned lines."""
    cells = [HEAD, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(HEAD))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]) for row in cells
    ]
    return "\n".join([*lines, foot])


def html(rows: Sequence[Sequence[str]], foot: str) -> str:
    """Return the table as HTML."""
    from html import escape  # imported late, because it is seldom needed

    head = "".join(f"<th>{escape(cell)}</th>" for cell in HEAD)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table><p>{escape(foot)}</p>"


def table_rows(entries: Any, alone: Callable[[Any], float], laws: Callable[[Any], Laws]) -> list[tuple[str, ...]]:
    """Return the rows of entries (item, times).

    The share of a release is its share of the sum of squared losses, among releases without infinite losses.
    """
    weights = [sum(times * _square(law.crude()) for law, times in laws(entry)) for entry in entries]
    total = sum(weights)
    rows: list[tuple[str, ...]] = []
    for (item, times), weight in list(zip(entries, weights))[:MOST_ROWS]:
        share = f"{weight / total:.1%}" if total > 0 else "-"
        rows.append((_short(in_words(item)), f"{times:,}", from_above(alone((item, times))), share))
    if len(weights) > MOST_ROWS:
        rows.append((f"... and {len(weights) - MOST_ROWS} more", "", "", f"{sum(weights[MOST_ROWS:]) / total:.1%}"))
    return rows


def in_words(thing: Any) -> str:
    """Return a release, a noise or a guarantee as its call, without arguments that have their default values."""
    if isinstance(thing, tuple) and len(thing) > 4:
        return f"{len(thing)} values"
    if not is_dataclass(thing):
        return f"{thing:.6g}" if isinstance(thing, float) else repr(thing)
    parts = []
    for field in fields(thing):
        value = getattr(thing, field.name)
        if field.default is MISSING:
            parts.append(in_words(value))
        elif value != field.default and field.repr:
            parts.append(f"{field.name}={in_words(value)}")
    return f"{type(thing).__name__}({', '.join(parts)})"


def _square(atoms: Any) -> float:
    return float((atoms.mass * np.square(atoms.loss)).sum())


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."
