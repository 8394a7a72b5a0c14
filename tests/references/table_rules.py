"""The contract of an experiment's table and report, as `figure_rules` is that of its figures."""

import io

import numpy as np
from rich.console import Console

FAR = 5.5  # standard errors: a false-alarm rate of 4e-8 for a normal law
MANY = 400  # trials, from which on means are taken for normal


def broken(experiment, table):
    """What is wrong with the table of a study, or with its report on a terminal of 80 columns."""
    console = Console(width=80, file=io.StringIO())
    experiment.report(table, console)
    found = [f"cut off: {line}" for line in console.file.getvalue().splitlines() if "…" in line]
    if "guarantee" in table and (table["guarantee"] == "").any():
        found.append("a row does not say its guarantee")
    names = [name for name in table if f"{name}_exact" in table and f"{name}_mcse" in table]
    columns = [(name, f"{name}_") for name in names]
    if {"simulated", "exact", "mcse"} <= set(table):
        columns.append(("simulated", ""))
    return found + [line for name, start in columns for line in far_apart(table, name, start)]


def far_apart(table, name, start):
    """The rows whose simulated number is far from the exact one, or whose interval has no inside."""
    rows = table[table[f"{start}mcse"] > 0]
    if "trials" in rows:
        rows = rows[rows["trials"] >= MANY]
    distance = (rows[name] - rows[f"{start}exact"]).abs()
    off = distance > FAR * rows[f"{start}mcse"] + 1e-9 * rows[f"{start}exact"].abs()
    if f"{start}lower" in rows:
        off |= rows[f"{start}lower"] > rows[f"{start}upper"]
    for row in rows[off & np.isfinite(distance)].to_dict("records"):
        yield f"{name} = {row[name]:.6g}, exact {row[f'{start}exact']:.6g}, error {row[f'{start}mcse']:.3g}"
