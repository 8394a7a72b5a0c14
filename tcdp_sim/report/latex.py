"""Tables for papers in LaTeX (booktabs), with standard errors in parentheses."""

from collections.abc import Iterator
from itertools import groupby
from math import isfinite, isnan
from typing import Any

import pandas as pd

from tcdp_sim.core.texts import printable
from tcdp_sim.report.numbers import PLAIN, parts

ESCAPES = {
    "\\": r"\textbackslash{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{"ρ": r"$\rho$", "ω": r"$\omega$", "ε": r"$\varepsilon$", "δ": r"$\delta$", "√": r"$\surd$"},
}


def escaped(text: str) -> str:
    """Return a text as LaTeX prints it, in one line: a line end in a comment would make its rest a row of the table."""
    return "".join(ESCAPES.get(letter, letter) for letter in printable(text))


def number(value: float, digits: int = 4) -> str:
    """Return a number with this many significant digits in LaTeX, "" for NaN."""
    if isnan(value):
        return ""
    if not isfinite(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    if value == 0 or PLAIN[0] <= abs(value) < PLAIN[1]:
        return _signed(f"{value:.{digits}g}")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return rf"${mantissa} \times 10^{{{int(exponent)}}}$"


def with_error(value: float, mcse: float) -> str:
    """Return a number with its standard error in units of its last digits, such as 12.95(2) or 12.950(14)."""
    if not (isfinite(value) and isfinite(mcse) and mcse > 0):
        return number(value)
    text, exponent = parts(value, mcse)
    return rf"${text} \times 10^{{{exponent}}}$" if exponent else _signed(text)


def _signed(text: str) -> str:
    """Return a number in math mode if it needs that."""
    return f"${text}$" if text.startswith("-") or "e" in text else text


def booktabs(frame: pd.DataFrame) -> str:
    r"""Return a tidy frame (see `results.tidy`) as a table that needs \usepackage{booktabs}.

    Estimates have their standard errors. Values that all rows share become comments above the table. Columns that are
    empty in every row are left out, and so are the ids of cells.
    """
    simulated = frame["value"]
    frame = frame.dropna(axis="columns", how="all")
    labels = [name for name in frame if name not in ("value", "mcse", "lower", "upper", "exact", "bound", "id")]
    shared = [name for name in labels if len(frame) > 1 and frame[name].nunique(dropna=False) == 1]
    body: dict[Any, Any] = {name: frame[name].map(_label) for name in labels if name not in shared}
    body |= {"simulated": [with_error(*row) for row in zip(simulated, frame.get("mcse", simulated * 0))]}
    body |= {name: frame[name].map(number) for name in ("exact", "bound") if name in frame}
    numeric = [name in ("simulated", "exact", "bound") for name in body]
    lines = [f"% {printable(str(name))}: {_label(frame[name].iloc[0])}" for name in shared]
    lines += [rf"\begin{{tabular}}{{{''.join('lr'[right] for right in numeric)}}}", r"\toprule"]
    lines += [_line(escaped(str(name)) for name in body), r"\midrule"]
    lines += [_line(row) for row in zip(*body.values())]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def crossed(table: pd.DataFrame) -> str:
    r"""Return a table of texts in LaTeX, with its labels above and on the left, that needs \usepackage{booktabs}.

    Several labels of a column stand in several lines; equal neighbours are written once.
    """
    left, above = table.index.nlevels, table.columns.nlevels
    lines = [rf"\begin{{tabular}}{{{'l' * left}{'r' * table.shape[1]}}}", r"\toprule"]
    for level, name in enumerate(table.columns.names):
        last = level == above - 1
        corner = [escaped(str(one)) for one in table.index.names] if last else [""] * left
        corner[-1] += f" / {escaped(str(name))}" if last else escaped(str(name))
        lines.append(_line([*corner, *_headings(table.columns.get_level_values(level).tolist())]))
    lines.append(r"\midrule")
    for labels, row in zip(table.index.tolist(), table.to_numpy().tolist()):
        each = labels if isinstance(labels, tuple) else (labels,)
        lines.append(_line([*map(_label, each), *("" if entry != entry else str(entry) for entry in row)]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _headings(labels: list[Any]) -> Iterator[str]:
    """Yield the headings of columns; equal neighbours are one heading that spans its columns."""
    for label, same in groupby(labels):
        columns = len(list(same))
        text = _label(label)
        yield from [text] * columns if columns == 1 or not text else [rf"\multicolumn{{{columns}}}{{c}}{{{text}}}"]


def _label(value) -> str:
    """Return a label as LaTeX prints it."""
    if isinstance(value, str):
        return escaped(value)
    return number(float(value), 6)


def _line(words) -> str:
    """Return a row of a table."""
    return " & ".join(words) + r" \\"
