"""python -m museum: audit shipped privacy bugs and their repaired versions, and make the page of results."""

import argparse
import os
import sys
from pathlib import Path

from museum.exhibit import Exhibit
from museum.exhibits import exhibits
from museum.figure import figure
from museum.page import page
from museum.running import Outcome, Version, keep, kept, measured
from tcdp_sim import UserError


def main() -> int:
    """Audit the chosen exhibits, and return the exit code: 2, after one line, for a user's mistake."""
    options = _parser().parse_args()
    there, missing = exhibits()
    try:
        chosen = _chosen(there, options.exhibits)
        for exhibit in [] if options.only_page else chosen:
            _show(exhibit, options)
        if options.page:
            _write(there, missing, options)
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    for line in missing:
        print(line)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m museum", description=__doc__)
    parser.add_argument("exhibits", nargs="*", help="exhibits to audit; all of them if none is named")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of outputs")
    parser.add_argument("--level", type=float, default=0.99, help="confidence that a broken version breaks its claim")
    parser.add_argument(
        "--repaired-level", type=float, default=0.95, help="confidence of the audits of repaired versions"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("results/museum"), help="folder of the outcomes")
    parser.add_argument("--page", type=Path, help="write the page, and its figure beside it, from all stored outcomes")
    parser.add_argument("--machine", default=_machine(), help="where the audits ran, in words for the page")
    parser.add_argument("--only-page", action="store_true", help="audit nothing, only write the page")
    return parser


def _machine() -> str:
    """Return this machine in words: its processor, its cores and how busy it is before the audits begin."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores of {models[0] if models else 'an unknown processor'}, load {os.getloadavg()[0]:.1f}"


def _chosen(there: list[Exhibit], names: list[str]) -> list[Exhibit]:
    known = {each.name: each for each in there}
    for name in names:
        if name not in known:
            raise UserError(f"exhibit {name!r} is not known; valid: {', '.join(known)}")
    return [known[name] for name in names] or there


def _show(exhibit: Exhibit, options: argparse.Namespace) -> None:
    """Audit both versions of an exhibit, keep their outcomes and print a line for each."""
    outcomes: dict[str, Outcome] = {}
    audits: tuple[tuple[str, Version, float, str | None], ...] = (
        ("broken", "broken", options.level, None),
        ("repaired", "repaired", options.repaired_level, None),
        ("early", "broken", options.level, "refuted"),
    )
    for name, which, level, until in audits:
        each = outcomes[name] = measured(exhibit, which, options.scale, level, options.seed, until)
        verdict = "refuted" if each.refuted else "not refuted"
        shown = f"{each.claim} is {verdict}: {each.measure} >= {each.bound:.4g}"
        print(f"{exhibit.name}, {name}: {shown}; {each.drawn:,} outputs, {each.cpu:.1f} CPU s", flush=True)
    keep(options.results, exhibit.name, outcomes)


def _write(there: list[Exhibit], missing: list[str], options: argparse.Namespace) -> None:
    """Write the page and its figure from the stored outcomes."""
    stored = [(each, kept(options.results, each.name)) for each in there]
    shown = [(each, outcomes) for each, outcomes in stored if outcomes]
    if not shown:
        raise UserError(f"{options.results} has no outcomes; run without --only-page first")
    options.page.write_text(page(shown, missing, options.machine), "utf-8")
    figure(shown).savefig(options.page.with_suffix(".png"), dpi=110)
    print(f"page: {options.page}")


if __name__ == "__main__":
    sys.exit(main())
