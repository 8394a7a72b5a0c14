"""The command `tcdp-sim diff`, which compares two runs and lists the numbers that differ beyond Monte Carlo error."""

import json
from math import isnan
from pathlib import Path

import pandas as pd
from rich.console import Console

from tcdp_sim.cli.say import say
from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.core.texts import blank, write_csv
from tcdp_sim.results.open import readable
from tcdp_sim.results.published import loaded
from tcdp_sim.statistics import compare_runs
from tcdp_sim.statistics.two_samples import FALSE_DISCOVERIES

DIFFERENT = 1  # exit code
MOST_LISTED = 10
TABLE = "diff.csv"  # the list of differing numbers, in the run's folder


def compare(ours: Path, theirs: Path, console: Console, wanted: str | None = None) -> int:
    """Compare the published results of two runs. Return DIFFERENT if any number differs, else 0.

    The other run may have another seed, machine, version, number of trials or chunk size, and other cells. Both runs
    must have the title `wanted`, by default the title of the first. Raises UserError.
    """
    here = loaded(ours, wanted)
    there = loaded(theirs, here.attrs.get("title"))
    with readable(f"{ours} or {theirs}"):
        comparison = compare_runs.compare(here, there)
    if not comparison.identical + comparison.compared:
        raise UserError(f"{ours} and {theirs} have no cell in common; choose a run with some of the same cells")
    table = _table(comparison.alarms, here)
    path = ours / TABLE
    try:
        write_csv(table, path)
    except OSError as problem:
        raise UserError(f"{path} cannot be written ({reason(problem)})") from problem
    if comparison.compared and here.attrs["seed"] == there.attrs.get("seed"):
        say(console, "note: the seeds are equal; trials that both runs share make differences harder to detect")
    _report(comparison, table, path, console)
    return DIFFERENT if len(table) else 0


def _table(alarms, here) -> pd.DataFrame:
    """Return the alarms with the coordinates and ids of their cells."""
    rows = alarms["row"].to_numpy(dtype=int)
    axes = {axis: here[axis].values[rows] for axis in json.loads(here.attrs["axes"])}
    about = pd.DataFrame({**axes, "id": here["id"].values[rows]})
    return pd.concat([about, alarms.drop(columns=["row", "row_there"]).reset_index(drop=True)], axis=1)


def _report(comparison, table, path, console) -> None:
    made = comparison.alarms.attrs["comparisons"]
    say(console, f"identical: {comparison.identical} cells; compared: {comparison.compared} cells, {made:,} numbers")
    if comparison.only_here or comparison.only_there:
        say(console, f"only here: {comparison.only_here} cells; only there: {comparison.only_there} cells")
    if made and not isnan(comparison.resolution):
        say(console, f"a mean has to differ by about {100 * comparison.resolution:.2g}% to be noticed (median)")
    rate = f"{FALSE_DISCOVERIES:.0%} false discoveries"
    if table.empty:
        say(console, f"same within Monte Carlo error: yes ({rate})")
        return
    summary = f"{len(table)} numbers of {table['id'].nunique()} cells differ ({rate})"
    say(console, f"same within Monte Carlo error: NO, {summary}; the worst cells, each with its worst number:")
    for line in table.drop_duplicates("id").head(MOST_LISTED).to_dict("records"):
        say(console, f"  {_where(line, table)}: {_difference(line)}")
    say(console, f"all: {path}")


def _where(line, table) -> str:
    axes = [name for name in table if name not in (*compare_runs.COLUMNS, "id")]
    given = ((axis, line[axis]) for axis in axes if not blank(line[axis]))
    return " ".join(f"{axis}={value:g}" if isinstance(value, float) else f"{axis}={value}" for axis, value in given)


def _difference(line) -> str:
    values = f"{line['quantity']} is {line['here']:.6g} here, {line['there']:.6g} there"
    shown = f"p = {line['p_value']:.1g}" if line["p_value"] else "p < 1e-300"
    return f"{values} ({line['distance']:.1f} standard errors, {shown})"
