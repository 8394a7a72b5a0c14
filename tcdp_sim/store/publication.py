"""The test whether publishing would change anything. The test costs a tenth of publishing a cell.

`published.json` is written last. It holds two digests. One is that of the certificate, which covers records, config,
code and the snapshot. The other covers all further inputs of a table. If both agree with the present state and with the
certificate in the folder, publishing would write the same bytes. In case of doubt the run is published again.
"""

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcdp_sim.core.libraries import OF_TABLES, version_of
from tcdp_sim.store import certificate, columns, digests, journal, snapshot
from tcdp_sim.store.digests import DIGITS
from tcdp_sim.store.exact_records import digest as exact_digest
from tcdp_sim.store.exact_values import ExactValues

NAME = "published.json"


def table_digest(
    study: Any,
    exact_values: ExactValues,
    attributes: Mapping[str, Any],
    problems: Mapping[tuple[str, str], int],
    lacking: Sequence[str] = (),
) -> str:
    """Return the digest of a table's inputs that its certificate does not cover, such as the labels of its cells.

    `attributes` are those of the snapshot. `problems` has the form that `table.blocks` takes. `lacking` holds the ids
    of cells without exact values.
    """
    about = {
        "layout": columns.LAYOUT,
        "cells": study.plan.cells.digest(),
        "attributes": dict(attributes),
        "problems": sorted([*key, count] for key, count in problems.items()),
        "exact": [exact_digest(exact_values, study.uses), exact_values.names(), dict(exact_values.reasons)],
        "libraries": {name: version_of(name) for name in OF_TABLES} | {"python": platform.python_version()},
        **({"lacking": list(lacking)} if lacking else {}),
    }
    return hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=DIGITS // 2).hexdigest()


def write(folder: Path, table: str) -> None:
    """Write published.json with the digest of the certificate and of the table. Raises OSError.

    Call it last, once snapshot and certificate are there. `table` is the `table_digest`.
    """
    digests.write_sealed(folder / NAME, {"certificate": _digest_of(folder / certificate.NAME), "table": table})


def stands(study: Any, run: Any, wanted: Iterable[tuple[str, int]], table: str) -> bool:
    """Return True if publishing would give the same bytes. It is False for a study that uses plug-ins.

    `wanted` has the form that `certificate.write` takes. `table` is the `table_digest` of the table to publish.
    """
    known = digests.read_sealed(run.folder / NAME)
    if known.get("table") != table or study.uses:
        return False
    try:
        if known.get("certificate") != _digest_of(run.folder / certificate.NAME):
            return False
        now = certificate.of(study, run, wanted)
    except OSError:
        return False
    if now["snapshot"] != snapshot.published(run.folder) or certificate.digest(now) != known["certificate"]:
        return False
    journal.sync(run.folder / "journal")  # as publishing does: the process that wrote it may have been killed before
    return now["snapshot"] is not None


def _digest_of(path: Path) -> str:
    """Return the digest of a certificate file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, certificate.hasher).hexdigest()
