"""The command `tcdp-sim list`, which lists the runs in a folder, newest first."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tcdp_sim.core.errors import UserError, reason
from tcdp_sim.store import certificate, journal, locks, provenance
from tcdp_sim.store.digests import is_broken
from tcdp_sim.store.journal import CHUNK
from tcdp_sim.study import parts


@dataclass(frozen=True)
class Line:
    """A row of the list of runs, as texts."""

    name: str
    experiment: str
    started: str
    state: str
    contradictions: str


def main(folder: Path, console: Console) -> None:
    """Print a table of the runs in a folder. Raises UserError if it cannot be read."""
    runs = lines(folder)
    if not runs:
        console.print(f"{folder} holds no run", markup=False)
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("run", "experiment", "started (UTC)", "how far", "contradictions"):
        table.add_column(heading, overflow="fold")
    for run in runs:
        table.add_row(*map(escape, (run.name, run.experiment, run.started, run.state, run.contradictions)))
    console.print(table, soft_wrap=False)


def lines(folder: Path) -> list[Line]:
    """Return a row for each run in a folder, the last one started first. Raises UserError if it cannot be read."""
    try:
        runs = [path for path in folder.iterdir() if (path / "run.json").is_file()]
    except OSError as problem:
        raise UserError(f"{folder} cannot be read ({reason(problem)}); give a folder of runs") from None
    return sorted(map(_line, runs), key=lambda line: line.started, reverse=True)


def _line(folder: Path) -> Line:
    about = _json(folder / provenance.NAME)
    experiment = _json(folder / "run.json").get("experiment", "?")
    started = str(about.get("time", "?")).replace("T", " ").rstrip("Z")
    return Line(folder.name, str(experiment), started, _state(folder, about), _contradictions(folder))


def _state(folder: Path, about) -> str:
    """Return the progress of a run: from its certificate if it has finished, else from the records in its journal."""
    planned = about.get("planned") if isinstance(about.get("planned"), dict) else {}
    try:
        finished = certificate.read(folder)
    except (OSError, ValueError):
        return "damaged: `tcdp-sim verify` says how"
    if locks.busy(folder):
        return f"running: {_share(folder, planned)}"
    if finished is None:
        in_parts = any(parts.labelled(name)[2] for name in journal.segments(folder / "journal"))
        return f"{'in parts:' if in_parts else 'stopped at'} {_share(folder, planned)}"
    cells = len(finished["cells"])
    missing = int(planned.get("cells", cells)) - cells
    return f"{cells} cells" if missing <= 0 else f"{cells} cells; {missing} without numbers"


def _share(folder: Path, planned) -> str:
    chunks = sum(payload is not None and payload[:1] == CHUNK for _, _, payload in journal.read(folder / "journal"))
    total = planned.get("chunks")
    return f"{chunks} of {total} chunks" if total else f"{chunks} chunks"


def _contradictions(folder: Path) -> str:
    try:
        with (folder / "contradictions.csv").open(encoding="utf-8", newline="") as file:
            rows = max(sum(1 for _ in csv.reader(file)) - 1, 0)
    except (OSError, ValueError):
        return "not looked for"
    return str(rows) if rows else "none"


def _json(path: Path):
    """Return the content of a JSON file, {} if it cannot be read."""
    try:
        text = path.read_bytes()
        content = {} if path.name == provenance.NAME and is_broken(text) else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
