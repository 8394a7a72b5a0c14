"""A program that reads a run again and again while it is tortured, and fails if it reads anything wrong.

    python reader.py HOME CHUNKS CHUNKS_BEFORE REFERENCE REFERENCE_BEFORE

It opens the published results, which must equal one of the two references, and asks for the status. While the file
HOME/damaged exists, the harness has damaged the snapshot. A UserError is right then as well, but other numbers are not,
unless the damage happened while the results were open. A journal that is damaged while it is read may be reported once.
The program ends when the file HOME/stop appears, and prints as JSON how often it has seen what.
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
from tcdp_sim.cli.run_argument import by_config
from tcdp_sim.core.errors import UserError
from tcdp_sim.results import open_cells, open_results

PAUSE = 0.4  # seconds between two looks: the processors are for the run
DONE = re.compile(r": (\d+) of (\d+) chunks, (\d+) of (\d+) cells done")


def composed(words):
    from hydra import compose
    from omegaconf import OmegaConf

    from tcdp_sim.study.compose import our_configs

    with our_configs():
        return OmegaConf.to_container(compose("config", words), resolve=True)


def look(how, folder: Path, valid: list[xr.Dataset], flag: Path) -> str:
    """Read everything and return "right", or "damaged" if it was damaged. Raises AssertionError for wrong numbers."""
    before, problem = stamp(flag), None
    try:
        found = _plain(how(folder).load())
    except Exception as raised:
        problem = raised
    after = stamp(flag)
    if after != before and after is not None:  # damaged after the checks of opening and before reading
        return "damaged"
    if isinstance(problem, UserError) and (before or after):
        return "damaged"
    if problem:
        raise problem
    assert any(found.identical(one) for one in valid), f"{how.__name__} read what no undisturbed run has published"
    return "right"


def stamp(flag: Path) -> int | None:
    """Return the time of the last damage to the snapshot, or None if the snapshot has been repaired since."""
    try:
        return flag.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def ask(raw, total: int) -> int:
    """Return the number of finished chunks that `tcdp-sim status` prints."""
    out = io.StringIO()
    status.main(by_config(raw), Console(file=out, width=500))
    (found,) = DONE.findall(out.getvalue())
    done, of, cells, _ = map(int, found)
    assert of == total, found
    assert cells <= done <= total, found
    return done


def _plain(dataset):
    return dataset.drop_attrs(deep=False).assign_attrs({k: v for k, v in dataset.attrs.items() if k != "provenance"})


def main(home: str, words: str, total: str, *references: str) -> None:
    """Read until the file HOME/stop appears, then print the counts."""
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
