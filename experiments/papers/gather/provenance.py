"""The origin of the page: code, seeds, studies, and the date of the data."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tcdp_sim.core.version import __version__
from tcdp_sim.experiments.papers.gather import code, studies
from tcdp_sim.experiments.papers.gather.gather import EVIDENCE, Result
from tcdp_sim.experiments.papers.gather.paper_studies import STUDIES
from tcdp_sim.experiments.papers.gather.records import points_digest
from tcdp_sim.experiments.papers.registry import function_of
from tcdp_sim.store import digests

CERTIFICATE = "certificate.json"
FILES = ("index.html", "papers.md", "errata.html", "errata.md", "remarks.html", "remarks.md", "claims.csv")
SHOWN = 16  # digits of a digest


def about(folder: Path, results: Sequence[Result], needed: Iterable[str], full: bool) -> dict[str, Any]:
    """Return version, code, seed, date, budget, command and runs (name, trials, snapshot, command) for the reader."""
    runs = [_run(folder, name, full) for name in sorted(set(needed))]
    return {
        "version": __version__,
        "code": code_digest(results)[:SHOWN],
        "seed": studies.SEED,
        "date": _date(folder, [run["name"] for run in runs]),
        "budget": "full" if full else "fast",
        "command": "tcdp-sim reproduce full=true" if full else "tcdp-sim reproduce",
        "runs": runs,
    }


def certify(folder: Path, about: dict[str, Any], results: Sequence[Result]) -> None:
    """Write the sealed certificate of the page's origin. Raise OSError if it cannot be written."""
    verdicts = {result.claim.id: str(result.judgement.verdict) for result in results}
    evidence = {result.claim.id: points_digest(result.evidence.points) for result in results}
    files = {name: file_digest(folder / name) for name in FILES}
    whole = {"code": code_digest(results), "files": files, "verdicts": verdicts, "evidence": evidence}
    digests.write_sealed(folder / CERTIFICATE, about | whole)


def file_digest(path: Path) -> str:
    """Return a digest of a file's bytes. Raise OSError if it cannot be read."""
    return hashlib.blake2b(path.read_bytes(), digest_size=32).hexdigest()


def code_digest(results: Sequence[Result]) -> str:
    """Return a digest of all code that the evidence hangs on."""
    functions = (function_of(result.claim) for result in results)
    modules = sorted({function.__module__ for function in functions if function})
    return hashlib.blake2b("".join(map(code.digest, modules)).encode(), digest_size=16).hexdigest()


def _run(folder: Path, name: str, full: bool) -> dict[str, str]:
    arguments = STUDIES[name].arguments(full)
    command = f"tcdp-sim reproduce {'full=true ' if full else ''}folder=results/papers"
    trials = f"{arguments['trials']:,}"
    return {"name": name, "trials": trials, "snapshot": studies.snapshot(folder, name)[:SHOWN], "command": command}


def _date(folder: Path, runs: Iterable[str]) -> str:
    """Return the day on which the youngest record was written, by the names of the journals' segments."""
    places = [folder / EVIDENCE, *(folder / studies.RUNS / name / "journal" for name in runs)]
    days = [found[0] for place in places for path in place.glob("*.seg") if (found := re.match(r"\d{8}", path.name))]
    day = max(days, default="")
    return f"{day[:4]}-{day[4:6]}-{day[6:]}" if day else "no date"
