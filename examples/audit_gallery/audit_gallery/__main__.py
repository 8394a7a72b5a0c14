"""python -m audit_gallery: audit the gallery's mechanisms one by one and make the page of results."""

import argparse
import sys
from pathlib import Path

from audit_gallery.held_out import held_out_rows
from audit_gallery.libraries import library_rows
from audit_gallery.outcomes import keep, kept
from audit_gallery.page import page
from audit_gallery.rows import Row, rows
from audit_gallery.running import audited
from tcdp_sim import UserError


def main() -> int:
    """Audit the chosen mechanisms, and return the exit code: 2, after one line, for a user's mistake."""
    options = _parser().parse_args()
    library, missing = library_rows()
    every = [*rows(), *held_out_rows(), *library]
    try:
        _audit_all(_chosen(every, options), options)
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    for line in missing:
        print(line)
    if options.page:
        outcomes = [each for each in kept(options.results) if each.seed == options.seed]
        text = page(every, outcomes, int(options.trials), options.level, _command(options))
        options.page.write_text(text, "utf-8")
        print(f"page: {options.page}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m audit_gallery", description=__doc__)
    parser.add_argument("rows", nargs="*", help="mechanisms to audit; all of the gallery's own if none is named")
    parser.add_argument("--libraries", action="store_true", help="audit those of opendp and diffprivlib as well")
    parser.add_argument("--held-out", action="store_true", help="audit the five on which the audit was never tuned")
    parser.add_argument("--trials", type=float, default=1e6, help="outputs of each input for the bound")
    parser.add_argument("--seconds", type=float, help="time of each audit, which then decides its trials")
    parser.add_argument("--level", type=float, default=0.9, help="confidence of every bound")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="worker processes; 0 audits in this process")
    parser.add_argument("--outputs", action="store_true", help="hide the likelihood ratios that mechanisms give")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of stored runs")
    parser.add_argument("--page", type=Path, help="write the page from all stored audits of these trials")
    parser.add_argument("--only-page", action="store_true", help="audit nothing, only write the page")
    return parser


def _command(options: argparse.Namespace) -> str:
    """Return the options that give the same numbers again."""
    mantissa, exponent = f"{options.trials:.15e}".split("e")
    words = f"--trials {float(mantissa):.12g}e{int(exponent)}"
    words += f" --level {options.level:g}" if options.level != 0.9 else ""
    return words + (f" --seed {options.seed}" if options.seed != 1 else "")


def _chosen(every: list[Row], options: argparse.Namespace) -> list[Row]:
    if options.only_page:
        return []
    names = {row.name: row for row in every}
    for name in options.rows:
        if name not in names:
            raise UserError(f"row {name!r} is not known; valid: {', '.join(names)}")
    if options.rows:
        return [names[name] for name in options.rows]
    if options.held_out:
        return held_out_rows()
    return [*rows(), *library_rows()[0]] if options.libraries else rows()


def _audit_all(chosen: list[Row], options: argparse.Namespace) -> None:
    for row in chosen:
        ratios = row.has_ratios and not options.outputs
        size = {"seconds": options.seconds} if options.seconds else {"trials": int(options.trials)}
        outcome = audited(row, size, options.level, options.seed, options.workers, ratios, options.results)
        keep(outcome, options.results)
        verdict = "refuted" if outcome.refuted else "not refuted"
        times = f"{outcome.seconds:.1f} s, {outcome.cpu:.1f} CPU s, of which sampling {outcome.sampling:.1f}"
        shown = f"{outcome.measure} >= {outcome.bound:.5g} from {outcome.trials:.3g} outputs, {verdict}"
        truth = row.epsilon() if outcome.measure == "epsilon" else None
        print(f"{row.name}: {shown}{f', true {truth:.4g}' if truth else ''}; {times}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
