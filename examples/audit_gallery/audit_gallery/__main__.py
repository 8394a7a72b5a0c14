"""python -m audit_gallery: audit the gallery's mechanisms one by one, or make the page of results."""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from audit_gallery.held_out import held_out_rows
from audit_gallery.libraries import library_rows
from audit_gallery.outcomes import Outcome, Size, keep, kept
from audit_gallery.page import page
from audit_gallery.rows import Row, rows
from audit_gallery.running import audited
from tcdp_sim import UserError

FEW = 1_000_000  # outputs of each input, unless the page is made


def main() -> int:
    """Audit the chosen mechanisms, and return the exit code: 2, after one line, for a user's mistake."""
    parser = _parser()
    options = parser.parse_args()
    if options.seconds and (options.trials or options.page):
        parser.error("--seconds does not go with --trials or --page, whose sizes are numbers of outputs")
    library, missing = library_rows()
    groups = rows(), held_out_rows(), library
    try:
        chosen = _chosen(groups, options)
        for row, outcome in _outcomes(chosen, options):
            keep(outcome, options.results)
            print(_line(row, outcome), flush=True)
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    for line in missing:
        print(line)
    if options.page:
        sizes = {row.name: _size(row, options) for group in groups for row in group}
        outcomes = [each for each in kept(options.results) if each.key in _keys(sizes)]
        options.page.write_text(page(groups, sizes, outcomes, _command(options)), "utf-8")
        print(f"page: {options.page}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m audit_gallery", description=__doc__)
    parser.add_argument("rows", nargs="*", help="mechanisms to audit; all of the gallery's own if none is named")
    parser.add_argument("--libraries", action="store_true", help="audit those of opendp and diffprivlib as well")
    parser.add_argument("--held-out", action="store_true", help="audit the five on which the audit was never tuned")
    parser.add_argument("--trials", type=float, help="outputs of each input for the bound, 1e6; the page's vary")
    parser.add_argument("--seconds", type=float, help="time of each audit, which then decides its trials")
    parser.add_argument("--level", type=float, help="confidence of every bound, 0.9, and 0.99 for libraries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="worker processes; 0 audits in this process")
    parser.add_argument("--outputs", action="store_true", help="hide the likelihood ratios that mechanisms give")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of stored runs")
    parser.add_argument("--page", type=Path, help="audit all, with and without likelihood ratios, and write the page")
    parser.add_argument("--only-page", action="store_true", help="write the page from stored audits, and audit nothing")
    return parser


def _command(options: argparse.Namespace) -> str:
    """Return the options that give the same page again, beside its file."""
    words = [f"--{name} {_short(given)}" for name in ("trials", "level") if (given := getattr(options, name))]
    return " ".join([*words, *([f"--seed {options.seed}"] if options.seed != 1 else [])])


def _short(number: float) -> str:
    """Return a number as a short text that is exact."""
    if number < 1:
        return f"{number:.15g}"
    mantissa, exponent = f"{number:.15e}".split("e")
    return f"{float(mantissa):.12g}e{int(exponent)}"


def _size(row: Row, options: argparse.Namespace) -> Size:
    """Return the size of the audit of a row."""
    trials = int(options.trials or (row.trials if options.page else FEW))
    level = options.level or row.level
    return Size(None if options.seconds else trials, options.seconds, level, options.seed)


def _keys(sizes: dict[str, Size]) -> set[str]:
    return {Outcome.key_of(name, ratios, size) for name, size in sizes.items() for ratios in (True, False)}


def _chosen(groups: tuple[list[Row], ...], options: argparse.Namespace) -> list[Row]:
    if options.only_page:
        return []
    names = {row.name: row for group in groups for row in group}
    for name in options.rows:
        if name not in names:
            raise UserError(f"row {name!r} is not known; valid: {', '.join(names)}")
    own, held_out, library = groups
    if options.rows:
        return [names[name] for name in options.rows]
    if options.held_out:
        return held_out
    if options.page:
        return [*own, *held_out, *library]
    return [*own, *library] if options.libraries else own


def _outcomes(chosen: list[Row], options: argparse.Namespace) -> Iterator[tuple[Row, Outcome]]:
    """Audit the rows and yield the outcomes: on all workers, or for a library each row in a process of its own.

    Libraries with a generator of their own cannot be audited on workers.
    """
    alone = [row for row in chosen if row.library and options.workers]
    for row in chosen:
        if row not in alone:
            for ratios in _ways(row, options):
                yield row, audited(row, _size(row, options), options.workers, ratios, options.results)
    with ProcessPoolExecutor(max(options.workers, 1), get_context("spawn")) as pool:
        tasks = {pool.submit(audited, row, _size(row, options), 0, False, options.results): row for row in alone}
        for task in as_completed(tasks):
            yield tasks[task], task.result()


def _ways(row: Row, options: argparse.Namespace) -> list[bool]:
    """Return with which knowledge a row is audited: True for its likelihood ratios, False for outputs alone."""
    if not row.has_ratios or options.outputs:
        return [False]
    return [True, False] if options.page else [True]


def _line(row: Row, outcome: Outcome) -> str:
    verdict = "refuted" if outcome.refuted else "not refuted"
    times = f"{outcome.seconds:.1f} s, {outcome.cpu:.1f} CPU s, of which sampling {outcome.sampling:.1f}"
    shown = f"{outcome.measure} >= {outcome.bound:.5g} from {outcome.trials:.3g} outputs, {verdict}"
    truth = row.epsilon() if outcome.measure == "epsilon" else None
    return f"{row.name}: {shown}{f', true {truth:.4g}' if truth else ''}; {times}"


if __name__ == "__main__":
    sys.exit(main())
