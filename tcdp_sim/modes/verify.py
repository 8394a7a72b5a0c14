"""mode=verify: random chunks of a run computed again and compared, bit by bit: trust in a week for a minute's work."""

import secrets
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from tcdp_sim.errors import UserError
from tcdp_sim.modes.replay import again
from tcdp_sim.study import prepare, say

DIFFERENT = 1  # exit code


def main(raw: Mapping[str, Any], console: Console) -> None:
    """Compare `sample` chunks, chosen by the machine's entropy; exit code 1 if any differs."""
    study = prepare(raw)
    sample = raw["sample"]
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < 1:
        raise UserError(f"sample = {sample!r} is not valid; valid: a whole number of chunks, at least 1")
    run = study.existing()
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
        sys.exit(DIFFERENT)
