"""The sweep that is tortured: its command, its folder, its records, and a comparison of finished runs."""

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tcdp_sim.store import journal
from tcdp_sim.store.run_folder import CHUNK
from tcdp_sim.summaries.encoding import peek

NAME = "tortured"
CHUNK_TRIALS = 10_000  # some 20 ms
WORDS = ("experiment=histogram", f"name={NAME}", "also=null", f"chunk={CHUNK_TRIALS}", "data=zipf", "data.n=300")
WORDS += ("sweep.k=[10,1e9]", "sweep.rho=0.1", "sweep.noise=[gaussian,sinh_normal]", "sweep.omega_sqrt_rho=[0.75,2]")
CELLS = 6
# What may differ between two runs of a study: times, hosts, process ids, and which process wrote what, in which order.
VARIES = ("journal", "exact", "lock", "provenance.json", "status.json", "finished.json", "*.log")
UNDISTURBED = 600  # seconds that the sweep may take in one process


@dataclass(frozen=True)
class Sweep:
    """A folder in which the sweep runs, with a number of chunks for each cell."""

    home: Path
    chunks: int

    @property
    def folder(self) -> Path:
        return self.home / "results" / NAME

    @property
    def total(self) -> int:
        return CELLS * self.chunks

    def words(self, *more: str) -> list[str]:
        return [*WORDS, f"trials={self.chunks * CHUNK_TRIALS}", *more]

    def command(self, *more: str) -> list[str]:
        return [sys.executable, "-m", "tcdp_sim", *self.words(*more)]

    def undisturbed(self) -> None:
        """Run the sweep to its end in one process."""
        self.home.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            self.command("cluster=serial"), cwd=self.home, check=True, stdout=subprocess.DEVNULL, timeout=UNDISTURBED
        )

    def segments(self) -> list[Path]:
        return sorted((self.folder / "journal").glob("*.seg"), key=lambda path: path.stat().st_mtime_ns)

    def recorded(self) -> Counter:
        """Return the number of whole records that the journal holds, by cell and chunk."""
        payloads = (payload for _, _, payload in journal.read(self.folder / "journal"))
        return Counter(peek(payload[1:]) for payload in payloads if payload and payload[:1] == CHUNK)

    def snapshot(self) -> Path | None:
        link = self.folder / "results.zarr"
        return link.resolve() if link.is_dir() else None


def differences(one: Sweep, other: Sweep) -> list[str]:
    """Return the names of the files in which two finished runs differ, without those of VARIES."""
    mine, theirs = _bytes(one.folder), _bytes(other.folder)
    return sorted(str(name) for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))


def _bytes(folder):
    """Return the contents of the files by relative path. The published snapshot is the only one included."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        top = Path(name.parts[0])
        if path.is_file() and top.name != "snapshots" and not any(top.match(pattern) for pattern in VARIES):
            found[name] = path.read_bytes()
    tree = (folder / "results.zarr").resolve()
    return found | {Path("results.zarr") / p.relative_to(tree): p.read_bytes() for p in tree.rglob("*") if p.is_file()}
