"""Reads a run again and again while it is tortured: what it sees is whole and right, or it says so and fails.

    python reader.py HOME CHUNKS CHUNKS_BEFORE REFERENCE REFERENCE_BEFORE

It looks at the published results (either snapshot of the two references, and nothing else) and asks for the status.
While the file HOME/damaged exists the harness has damaged the snapshot: then a UserError is a right answer as well,
but other numbers are not, unless it was damaged under the open reader. A journal that is damaged while it is read may
be told of once. It ends, with what it has seen as JSON, when the file HOME/stop appears.
"""

import io
import json
import os
import re
import sys
import time
from pathlib import Path

import xarray as xr
from rich.console import Console

from tcdp_sim.cli import status
from tcdp_sim.core.errors import UserError
from tcdp_sim.results import open_cells, open_results
from tcdp_sim.study.settings import settings

PAUSE = 0.4  # seconds between two looks: the processors are for the run
DONE = re.compile(r": (\d+) of (\d+) chunks, (\d+) of (\d+) cells done")


def composed(words):
    from hydra import compose
    from omegaconf import OmegaConf

    from tcdp_sim.study.compose import our_configs

    with our_configs():
        return OmegaConf.to_container(compose("config", words), resolve=True)


def look(how, folder: Path, valid: list[xr.Dataset], flag: Path) -> str:
    """Open and read everything: "right", or "damaged" where that was so; AssertionError otherwise."""
    before, problem = stamp(flag), None
    try:
        found = _plain(how(folder).load())
    except Exception as raised:
        problem = raised
    after = stamp(flag)
    if after != before and after is not None:  # damaged between opening, when all is checked, and reading
        return "damaged"
    if isinstance(problem, UserError) and (before or after):
        return "damaged"
    if problem:
        raise problem
    assert any(found.identical(one) for one in valid), f"{how.__name__} read what no undisturbed run has published"
    return "right"


def stamp(flag: Path) -> int | None:
    """When the snapshot was last damaged, None if it has been put right since."""
    try:
        return flag.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def ask(raw, total: int) -> int:
    """How many chunks are done, by `tcdp-sim status`."""
    out = io.StringIO()
    status.main(settings(raw), Console(file=out, width=500))
    (found,) = DONE.findall(out.getvalue())
    done, of, cells, _ = map(int, found)
    assert of == total, found
    assert cells <= done <= total, found
    return done


def _plain(dataset):
    return dataset.drop_attrs(deep=False).assign_attrs({k: v for k, v in dataset.attrs.items() if k != "provenance"})


def main(home: str, words: str, total: str, *references: str) -> None:
    """Look until told to stop; prints counts."""
    flag, stop, raw = Path(home) / "damaged", Path(home) / "stop", composed(json.loads(words))
    folder = Path(home) / "results" / raw["name"]
    valid = {how: [_plain(how(one).load()) for one in references] for how in (open_cells, open_results)}
    seen = {"right": 0, "damaged": 0, "status": 0}
    parent = os.getppid()
    while not stop.exists() and os.getppid() == parent:
        for how in valid:
            seen[look(how, folder, valid[how], flag)] += 1
        try:
            ask(raw, int(total))
        except UserError:
            ask(raw, int(total))
        seen["status"] += 1
        time.sleep(PAUSE)
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
