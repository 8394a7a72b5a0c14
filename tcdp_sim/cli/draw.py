"""The command `tcdp-sim draw`, which makes table, CSV files and figures from the published snapshot alone.

Current figures are left in place. If the report was printed for such a terminal before, it is printed again, and
nothing is computed. Slow libraries are imported only to draw. A choice of figures is drawn without a record, so the
next full drawing makes all of them.
"""

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from rich.console import Console
from rich.text import Text

from tcdp_sim.cli import memory
from tcdp_sim.cli.say import say, say_all
from tcdp_sim.cli.waiting import waiting
from tcdp_sim.core import log, main_module, safe_path
from tcdp_sim.core.figure_options import PLAIN, FigureOptions
from tcdp_sim.core.texts import printable
from tcdp_sim.engine import interrupts
from tcdp_sim.store import figure_record
from tcdp_sim.store.figure_record import Report

if TYPE_CHECKING:
    from tcdp_sim.results.published import Published
    from tcdp_sim.study.settings import Settings

CONTRADICTED = 3  # exit code
ROWS = 200  # the figures of smaller tables are drawn before a second process has started


def main(settings: "Settings", console: Console) -> int:
    """Draw the results in the folder of the settings, if they are of their experiment: see `draw`."""
    return draw(settings.folder, console, figure_record.TITLE + settings.experiment.name, options=settings.figures)


def draw(
    folder: Path,
    console: Console,
    wanted: str | None = None,
    chosen: Collection[str] | None = None,
    options: FigureOptions = PLAIN,
) -> int:
    """Draw published results, unless their figures are current, and print their report.

    `chosen` names the figures to draw, by default all. `options` says how they are written. Return CONTRADICTED if
    simulated numbers contradict exact ones beyond chance, else 0. Raises UserError if there are no results, if they
    are damaged or have another title than `wanted`, if they cannot be drawn, or if there is no figure of a chosen name.
    """
    of = figure_record.inputs(folder, options) if wanted in (None, figure_record.title(folder)) else None
    figures, report, damage = figure_record.read(folder, of, options) if of else (None, None, "")
    if damage:
        say(console, damage)
    if figures is not None and chosen is not None:
        figures = _among(figures, chosen, folder)
    if figures is None or not _is_of(report, console):
        with memory.drawing(folder):
            report = _made(folder, console, wanted, of, figures, chosen, options)
    else:
        _repeat(folder, console, report, figures)
    say(console, f"results: {folder / 'results.zarr'}")
    return CONTRADICTED if report.contradictions else 0


def _among(figures: list[Path], chosen: Collection[str], folder: Path) -> list[Path]:
    """Return the current figures with chosen names. Raises UserError if there is none of a name."""
    unknown = {*chosen} - {path.stem for path in figures}
    if unknown:
        with interrupts.held():
            from tcdp_sim.results import published
        published.check_names(chosen, [path.stem for path in figures], folder)
    return [path for path in figures if path.stem in chosen]


def _is_of(report: Report | None, console: Console) -> TypeGuard[Report]:
    """Return True if a report was printed for such a terminal and holds no characters that command one."""
    if report is None or report.console != _layout(console):
        return False
    shown = Text.from_ansi(report.report).plain
    return printable(shown, keep="\n\t") == shown


def _repeat(folder: Path, console: Console, report: Report, figures: list[Path]) -> None:
    """Print a report again, and name the figures as current."""
    console.print(Text.from_ansi(report.report), end="")
    try:
        with log.kept(folder):
            say_all(console, report.lines)
    except OSError as problem:
        raise figure_record.not_written(folder, problem) from problem
    for path in figures:
        say(console, f"current: {path}")


def _layout(console: Console) -> str:
    """Return the properties of a console on which the layout of a report depends, as text."""
    return f"{console.width} columns, {console.encoding}"


def _made(
    folder: Path,
    console: Console,
    wanted: str | None,
    of: str | None,
    current: list[Path] | None,
    chosen: Collection[str] | None,
    options: FigureOptions,
) -> Report:
    """Print the report of published results, and draw their figures unless they are current.

    Keep a record of both, unless some figures were chosen.
    """
    with interrupts.held():  # a signal must not interrupt an import, which takes a second
        from tcdp_sim.results import published
        from tcdp_sim.results.open import readable
        from tcdp_sim.study.study import data_notes
    with waiting(f"{folder.name}: reading the table"):
        run = published.read(folder, wanted)
    text = _printed(run, console)
    lines: list[str] = []

    def tell(line: str) -> None:
        say(console, line)
        lines.append(line)

    with readable(folder / "results.zarr"):
        for line in data_notes(json.loads(run.cells.attrs.get("data", "{}"))):
            tell(line)
    if run.note:
        tell(run.note)
    with waiting(f"{folder.name}: drawing"):
        figures = _figures(run, chosen, options) if current is None else current
    if not figures and chosen is None:  # the experiment has no figure of such a sweep
        plain = published.plainly(run)
        text += _printed(plain, console)
        figures = _figures(plain, None, options)
    contradictions = published.contradicted(run, tell)
    published.differences(run, tell)
    for path in figures:
        say(console, f"{'figure' if current is None else 'current'}: {path}")
    report = Report(_layout(console), text, tuple(lines), contradictions)
    if of is not None and chosen is None and not run.note:  # with the code there is more to draw
        try:
            figure_record.write(folder, of, figures, report, options)
        except OSError as problem:
            raise figure_record.not_written(folder, problem) from problem
    return report


def _figures(run: "Published", chosen: Collection[str] | None, options: FigureOptions) -> list[Path]:
    """Draw the figures of a run, in two processes if its table is large, and return the paths of the PNG files."""
    from tcdp_sim.report.saving import SecondProcess
    from tcdp_sim.results import published

    if len(run.table) < ROWS:
        return published.draw(run, chosen=chosen, options=options)[0]
    with interrupts.held():
        safe_path.ensure_tracker()  # now, because its start would unblock the signals that `held` blocks
    with interrupts.held(), main_module.hidden():
        second = SecondProcess()
    with second:
        return published.draw(run, second.save_all, chosen, options)[0]


def _printed(run: "Published", console: Console) -> str:
    """Print the report of an experiment and return it with its ANSI codes."""
    before, console.record = console.record, True
    try:
        run.experiment.report(run.table, console)
        return console.export_text(clear=not before, styles=True)
    finally:
        console.record = before
