"""Whether a run would publish what it has published already. Then it need not: a cell costs a tenth of publishing it.

`published.json` is written last. It holds the digest of the certificate, which tells records, config, code and the
bytes of the snapshot, and the digest of all else that a table is made of. Where it, the certificate made of what is
there now, and the one in the folder agree, publishing would write the same bytes. In any doubt it is done again.
"""

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from tcdp_sim.core import registry
from tcdp_sim.store import certificate, digests, journal, snapshot
from tcdp_sim.store.digests import DIGITS
from tcdp_sim.store.exact_records import digest as exact_digest
from tcdp_sim.store.exact_values import ExactValues

NAME = "published.json"
LIBRARIES = ("numpy", "scipy", "xarray", "zarr", "numcodecs", "pandas")  # which compute and write a table


def table_digest(
    study: Any, exact_values: ExactValues, attributes: Mapping[str, Any], problems: Mapping[tuple[str, str], int]
) -> str:
    """Of all that a table is made of besides what its certificate tells: cells as they are labelled, and so on.

    attributes: of the snapshot; problems: as `table.blocks` takes them.
    """
    about = {
        "cells": study.plan.cells.digest(),
        "attributes": dict(attributes),
        "problems": sorted([*key, count] for key, count in problems.items()),
        "exact": [exact_digest(exact_values), exact_values.names()],
        "libraries": {name: metadata.version(name) for name in LIBRARIES} | {"python": platform.python_version()},
    }
    return hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=DIGITS // 2).hexdigest()


def write(folder: Path, table: str) -> None:
    """Say what is published: the last thing, once snapshot and certificate are there. Raises OSError.

    table: its `table_digest`.
    """
    digests.write_sealed(folder / NAME, {"certificate": _digest_of(folder / certificate.NAME), "table": table})


def stands(study: Any, run: Any, wanted: Mapping[str, int], table: str) -> bool:
    """Whether publishing would give what is there, byte for byte. Not with plug-ins: nothing tells their code.

    wanted: as `certificate.write` takes it; table: the `table_digest` of what would be published.
    """
    known = _read(run.folder / NAME)
    if known.get("table") != table or registry.distributions():
        return False
    try:
        if known.get("certificate") != _digest_of(run.folder / certificate.NAME):
            return False
        now = certificate.of(study, run, wanted)
    except OSError:
        return False
    if now["snapshot"] != snapshot.published(run.folder) or certificate.digest(now) != known["certificate"]:
        return False
    journal.sync(run.folder / "journal")  # as publishing does: who wrote it may have been killed before
    return now["snapshot"] is not None


def _read(path: Path) -> Mapping[str, Any]:
    """What a file that `write` has written says; nothing if it is damaged or not there."""
    try:
        text = path.read_bytes()
    except OSError:
        return {}
    return {} if digests.is_broken(text) else dict(json.loads(text))


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, certificate.hasher).hexdigest()
