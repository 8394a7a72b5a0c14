"""The test whether publishing would change anything. The test costs a tenth of publishing a cell.

`published.json` is written last. It holds the digest of the certificate, which covers records, config, code and the
snapshot; its key covers all further inputs of a table. If both agree with the present state and with the certificate in
the folder, publishing would write the same bytes. In case of doubt the run is published again.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcdp_sim.store import certificate, columns, digests, journal, snapshot
from tcdp_sim.store.exact_records import ExactRecords
from tcdp_sim.store.exact_records import digest as exact_digest
from tcdp_sim.store.exact_values import ExactValues
from tcdp_sim.store.memories import PUBLISHED

NAME = PUBLISHED.file


def table_digest(
    study: Any,
    exact_values: ExactValues,
    attributes: Mapping[str, Any],
    problems: Mapping[tuple[str, str], int],
    lacking: Sequence[str] = (),
    kept: ExactRecords | None = None,
) -> str:
    """Return the digest of a table's inputs that its certificate does not cover, such as the labels of its cells.

    `attributes` are the attributes of the snapshot. `problems` has the form that `table.blocks` takes. `lacking` holds
    the ids of cells without exact values, and `kept` has those of the others.
    """
    return PUBLISHED.key(
        layout=columns.LAYOUT,
        cells=study.plan.cells.digest(),
        attributes=dict(attributes),
        problems=sorted([*key, count] for key, count in problems.items()),
        exact_values=[
            *(exact_digest(exact_values, study.uses), exact_values.names(), dict(exact_values.reasons)),
            kept.digest(study.plan.laws.ids()) if kept and exact_values.functions else "",  # which may read files
        ],
        lacking=list(lacking),
    )


def write(folder: Path, table: str) -> None:
    """Write published.json with the digest of the certificate and of the table. Raises OSError.

    Call it last, once snapshot and certificate are there. `table` is the `table_digest`.
    """
    PUBLISHED.write(folder, table, {"certificate": digests.of_file(folder / certificate.NAME)})


def stands(study: Any, run: Any, wanted: Iterable[tuple[str, int]], table: str) -> bool:
    """Return True if publishing would give the same bytes. It is False for a study that uses plug-ins.

    `wanted` has the form that `certificate.write` takes. `table` is the `table_digest` of the table to publish.
    """
    known = PUBLISHED.read(run.folder, table)
    if not known or study.uses:
        return False
    try:
        if known.get("certificate") != digests.of_file(run.folder / certificate.NAME):
            return False
        now = certificate.of(study, run, wanted)
    except OSError:
        return False
    if now["snapshot"] != snapshot.published(run.folder) or certificate.digest(now) != known["certificate"]:
        return False
    journal.sync(run.folder / "journal")  # as publishing does: the process that wrote it may have been killed before
    return now["snapshot"] is not None
