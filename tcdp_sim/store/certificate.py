"""The certificate of a finished run: its inputs, and hashes of its records and results.

A certificate is a function of config, code and records, so an interrupted and resumed run has the same bytes. Only the
digests of the elementary functions depend on the machines that computed and published. There is one line for each cell,
so `diff` of two certificates names the cells that differ.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from tcdp_sim.core.streams import bit_stream, fingerprint
from tcdp_sim.core.version import __version__
from tcdp_sim.store import durable, provenance, source
from tcdp_sim.store.digests import DIGITS, hasher, tree_digest

NAME = "certificate.json"
TOGETHER = 1024  # cells in memory at a time
LINE = re.compile("[0-9]{1,12} [0-9a-f]{32}")  # a cell's line: number of chunks, digest
ALLOWED = {  # differences between machines that give equal or nearly equal numbers
    "version": "the version of tcdp_sim",
    "code": "the code",
    "elementary_functions": "this machine's elementary functions (another kind of CPU; last bits)",
}


class _Lines:
    """The shortened cell ids and lines of a certificate in their given order, stored as one text to save memory."""

    def __init__(self, lines: Iterable[tuple[str, str]]) -> None:
        self._text = bytearray()
        for cell, line in lines:
            self._text += f"{cell} {line}\n".encode()

    def __bool__(self) -> bool:
        return bool(self._text)

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield each shortened cell id with its line."""
        start = 0
        while (end := self._text.find(b"\n", start)) >= 0:
            cell, _, line = self._text[start:end].decode().partition(" ")
            yield cell, line
            start = end + 1

    def digest(self) -> str:
        """Return the digest of all lines."""
        found = hasher()
        found.update(self._text)
        return found.hexdigest()


def write(study, run, wanted: Iterable[tuple[str, int]]) -> Path:
    """Write certificate.json for the published results, atomically, and return its path. Raises OSError.

    `wanted` gives the cells by ascending id, each with its number of chunks. A cell that lacks a chunk is not in the
    certificate.
    """
    path = run.folder / NAME
    durable.write(path, _text(of(study, run, wanted)))
    return path


def digest(certificate: Mapping[str, Any]) -> str:
    """Return the digest of the bytes that `write` writes for a certificate."""
    found = hasher()
    for part in _text(certificate):
        found.update(part.encode())
    return found.hexdigest()


def _text(certificate: Mapping[str, Any]) -> Iterator[str]:
    """Yield the certificate as JSON with an indent of 1, in pieces."""
    head = json.dumps({key: value for key, value in certificate.items() if key != "cells"}, indent=1)
    yield head.removesuffix("\n}") + ',\n "cells": {'
    for i, (cell, line) in enumerate(certificate["cells"].items()):
        yield f'{"," if i else ""}\n  "{cell}": "{line}"'
    yield "\n }\n}\n" if certificate["cells"] else "}\n}\n"


def of(study, run, wanted: Iterable[tuple[str, int]]) -> dict[str, Any]:
    """Return the certificate of the run in its present state; `cells` takes 70 bytes for each.

    `wanted` has the form that `write` takes.
    """
    cells = _Lines(_cells(run, wanted))
    about = {
        **study.identity,
        "trials": study.settings.trials,
        "config": study.attributes()["config_hash"],
        "version": __version__,
        "code": source.own(),
        "bit_stream": bit_stream(),
        "elementary_functions": " ".join(sorted({fingerprint()} | provenance.fingerprints(run.heads))),
        "snapshot": _snapshot(run.folder / "results.zarr"),
        "records": cells.digest(),
    }
    return about | {"cells": cells}


def read(folder: Path) -> dict[str, Any] | None:
    """Return the certificate in a run's folder, or None if there is none. Raises ValueError if it is damaged."""
    try:
        certificate = json.loads((folder / NAME).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(certificate, dict) or not isinstance(certificate.get("cells"), dict):
        raise ValueError("it has no cells")
    for cell, line in certificate["cells"].items():
        if not (isinstance(line, str) and LINE.fullmatch(line)):
            raise ValueError(f"cell {cell[:DIGITS]} has no number of chunks and digest")
    return certificate


def check(study, run, certificate: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the errors and the harmless differences of a certificate, as two lists of lines for the user."""
    claimed = certificate["cells"]
    full = {cell[:DIGITS]: cell for cell, _ in run.done}
    known = sorted((full[short], chunks(line)) for short, line in claimed.items() if short in full)
    now = of(study, run, known)
    found = dict(now["cells"].items())
    wrong: list[str] = []
    notes: list[str] = []
    if certificate.get("records") != _Lines(sorted(claimed.items())).digest():
        wrong.append("its digest of all records is not that of its list of cells")
    different = [short for short, line in claimed.items() if found.get(short) != line]
    if different:
        wrong.append(f"{len(different)} of {len(claimed)} cells have other or missing records, such as {different[0]}")
    for key in now.keys() - {"cells", "records"}:
        if certificate.get(key) != now[key]:
            label = ALLOWED.get(key, key)
            (notes if key in ALLOWED else wrong).append(f"{label}: {certificate.get(key)} there, {now[key]} here")
    return sorted(wrong), sorted(notes)


def _cells(run, wanted) -> Iterator[tuple[str, str]]:
    """Yield the shortened id of each complete cell, by id, with the number of chunks and the digest of its records."""
    whole = ((cell, n) for cell, n in wanted if all(run.has(cell, chunk) for chunk in range(n)))
    while some := list(islice(whole, TOGETHER)):
        records = run.each_record((cell, chunk) for cell, n in some for chunk in range(n))
        for cell, n in some:
            digest = hasher()
            for record in islice(records, n):
                digest.update(len(record).to_bytes(8, "little") + record)
            yield cell[:DIGITS], f"{n} {digest.hexdigest()}"


def chunks(line: str) -> int:
    """Return the number of chunks that a cell's line states."""
    return int(line.partition(" ")[0])


def _snapshot(path: Path) -> str | None:
    """Return the digest of the published snapshot, or None without one."""
    return tree_digest(path.resolve())[:DIGITS] if path.is_dir() else None
