"""mode=verify: the certificate checked, and random chunks computed again, bit by bit: a week's work in a minute."""

import secrets
import sys
from collections.abc import Mapping
from math import prod
from typing import Any

from rich.console import Console

from tcdp_sim import certificate
from tcdp_sim.errors import UserError
from tcdp_sim.modes.replay import again
from tcdp_sim.study import prepare, say

DIFFERENT = 1  # exit code
SHARE = 5  # per cent: how many wrong chunks a sample is said to notice
MEND = "the command that ran it, without mode, computes what is missing and certifies it again"


def main(raw: Mapping[str, Any], console: Console) -> None:
    """Check the certificate, and `sample` chunks chosen by the machine's entropy; exit code 1 if anything differs."""
    study = prepare(raw)
    sample = raw["sample"]
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < 1:
        raise UserError(f"sample = {sample!r} is not valid; valid: a whole number of chunks, at least 1")
    run = study.existing()
    for name, count in run.damaged.items():
        say(console, f"journal/{name}: {count} damaged stretches, which are passed over")
    certified = _certified(study, run, console)
    if not _recomputed(study, run, sample, console) or not certified:
        sys.exit(DIFFERENT)


def _certified(study, run, console) -> bool:
    """Whether nothing contradicts the certificate; a run that has not finished has none."""
    try:
        found = certificate.read(study.folder)
    except (ValueError, OSError) as problem:
        say(console, f"NOT as certified: {certificate.NAME} cannot be read ({problem}); {MEND}")
        return False
    if found is None:
        say(console, f"no {certificate.NAME}: the run has not finished, and only stored chunks can be checked")
        return True
    wrong, notes = certificate.check(study, run, found)
    for line in wrong:
        say(console, f"NOT as certified: {line}")
    for line in notes:
        say(console, f"note: not what wrote the certificate: {line}")
    chunks = sum(certificate.chunks(line) for line in found["cells"].values())
    told = f"{len(found['cells'])} cells, {chunks} chunks"
    say(console, f"certificate: {told}: {MEND}" if wrong else f"certificate: {told}, all as certified")
    return not wrong


def _recomputed(study, run, sample, console) -> bool:
    """Whether randomly chosen chunks, computed again, are the stored bits."""
    laws = {cell.id: cell for cell in study.plan.laws}
    known = [(laws[cell], chunk) for cell, chunk in run.done if cell in laws]
    if not known:
        raise UserError(f"{study.folder} holds no chunk of this study; run it first")
    chosen = secrets.SystemRandom().sample(known, min(sample, len(known)))
    different = []
    for (cell, index), found in zip(chosen, again(study, chosen)):
        if run.record(cell.id, index) != found.summary:
            different.append(f"cell={cell.id[:16]} index={index}")
    same = len(chosen) - len(different)
    say(console, f"{same} of {len(chosen)} chunks are the stored bits ({len(known)} are stored)")
    for name in different:
        say(console, f"NOT the stored bits: {name}")
    if different:
        here = "this machine's elementary functions may differ from those of the workers (see the journal's heads)"
        say(console, f"either the store was changed, or the code, or {here}")
    else:
        say(console, _proved(len(chosen), len(known)))
    return not different


def _proved(chosen: int, known: int) -> str:
    """What it says about the others that so many randomly chosen chunks of so many are right."""
    if chosen == known:
        return "that is every chunk"
    wrong = -(-known * SHARE // 100)
    missed = prod((known - wrong - i) / (known - i) for i in range(chosen) if known > i)
    return f"were {SHARE}% of all chunks wrong, such a sample would have found one with probability {1 - missed:.0%}"
