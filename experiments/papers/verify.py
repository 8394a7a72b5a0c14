"""The check of a folder of `tcdp-sim reproduce` against its certificate: files, evidence, verdicts."""

import json
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError
from tcdp_sim.core.log import Tell
from tcdp_sim.experiments.papers import claims
from tcdp_sim.experiments.papers.gather.gather import Gatherer, Result
from tcdp_sim.experiments.papers.gather.provenance import CERTIFICATE, FILES, file_digest
from tcdp_sim.experiments.papers.gather.records import points_digest
from tcdp_sim.store import digests


def is_reproduction(folder: Path) -> bool:
    """Return whether a folder looks like one of `tcdp-sim reproduce`: it has a certificate and a page of claims."""
    try:
        return (folder / CERTIFICATE).is_file() and (folder / "claims.csv").is_file()
    except OSError:  # no file system allows such a name
        return False


def verify(folder: Path, sample: int, tell: Tell) -> bool:
    """Check the certificate of a reproduction and compute `sample` claims again. Return True if nothing differs.

    Files, recorded evidence and verdicts are compared with the certificate. The claims of the sample are chosen by the
    machine's entropy and compared point by point. The function raises UserError if the certificate cannot be read.
    """
    stored = _certificate(folder)
    with Gatherer(folder, stored["budget"] == "full", {"name": "serial"}, tell) as gatherer:
        known = {name: one for name, one in claims().items() if name in stored["evidence"]}
        recorded = set(known) - set(gatherer.missing_claims(known.values()))
        results = list(gatherer.results(known[name] for name in known if name in recorded))
        wrong = [*_changed_files(folder, stored), *_changed_evidence(results, stored)]
        chosen = secrets.SystemRandom().sample(results, min(sample, len(results)))
        wrong += [f"{one.claim.id}: computed again, its points differ" for one in chosen if not gatherer.is_same(one)]
    for line in wrong:
        tell(f"NOT as certified: {line}")
    if gone := set(stored["evidence"]) - recorded:
        tell(f"note: {len(gone)} claims have no evidence for this code here; `tcdp-sim reproduce` computes them")
    tell(f"{len(results)} claims as recorded, {len(chosen)} of them computed again: {len(wrong)} differences")
    return not wrong


def _certificate(folder: Path) -> Mapping[str, Any]:
    text = (folder / CERTIFICATE).read_bytes()
    stored: Mapping[str, Any] = {} if digests.is_broken(text) else json.loads(text)
    if not {"budget", "files", "verdicts", "evidence"} <= set(stored):
        raise UserError(f"{folder / CERTIFICATE} has been changed or is older than this check; run reproduce again")
    return stored


def _changed_files(folder: Path, stored: Mapping[str, Any]) -> Iterator[str]:
    for name in FILES:
        path = folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif file_digest(path) != stored["files"].get(name):
            yield f"{name} has been changed"


def _changed_evidence(results: list[Result], stored: Mapping[str, Any]) -> Iterator[str]:
    for one in results:
        name = one.claim.id
        if points_digest(one.evidence.points) != stored["evidence"][name]:
            yield f"{name}: its recorded evidence has been changed"
        elif str(one.judgement.verdict) != stored["verdicts"][name]:
            yield f"{name}: the verdict is {one.judgement.verdict}, and was {stored['verdicts'][name]}"
