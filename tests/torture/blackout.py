"""`make blackout STATES=200`: power failures in a run, each followed by the same command, which should heal it."""

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from .power import Failure, Recorder, failures, recorded
from .sweep import Sweep, differences

CHUNKS = 4  # of each cell
LIFE = 300  # seconds that the healing may take


def main() -> None:
    """Leave the states of many power failures in one recorded run. Exit with 1 if any of them does not heal."""
    parser = argparse.ArgumentParser(prog="blackout", description=__doc__)
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        healed = blackout(Path(home), asked.states, asked.seed)
    print(f"{sum(healed[how, True] for how, _ in healed)} of {asked.states} states heal", dict(healed))
    sys.exit(any(count for (_, well), count in healed.items() if not well))


def blackout(home: Path, states: int, seed: int) -> Counter:
    """Return the number of failures by kind and by success of the healing."""
    reference, found = Sweep(home / "reference", CHUNKS), Counter()
    recorder = _recorded(reference)
    print(f"{len(recorder.steps)} steps, {recorder.syncs} of them syncs", flush=True)
    end = Failure(recorder, len(recorder.steps), "synced", random.Random(seed))
    for i, failure in enumerate([end, *failures(recorder, seed, states - 1)]):
        sweep = Sweep(home / f"{i}", CHUNKS)
        sweep.home.mkdir()
        failure.leave(sweep.home / "results")
        wrong = _healed(sweep, reference)
        found[failure.how, not wrong] += 1
        if wrong:
            print(f"{failure.name}: {wrong}", flush=True)
    return found


def _recorded(reference: Sweep) -> Recorder:
    """Record all file operations of one undisturbed run, including those of its figures."""
    from tcdp_sim.cli.main import main

    reference.folder.parent.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(reference.home)
        patch.setattr(sys, "argv", ["tcdp-sim", *reference.words("cluster=serial")])
        with recorded(reference.folder.parent, patch) as recorder:
            main()
    return recorder


def _healed(sweep: Sweep, reference: Sweep) -> str:
    """Run the same command again, and return "" or a description of the faults after it."""
    command = sweep.command("cluster=serial")
    done = subprocess.run(command, cwd=sweep.home, capture_output=True, text=True, timeout=LIFE)
    if done.returncode:
        return done.stderr[-300:]
    different, recorded_now = differences(reference, sweep), sweep.recorded()
    if different or set(recorded_now.values()) != {1} or len(recorded_now) != sweep.total:
        return f"{different} differ; {len(recorded_now)} chunks, recorded {set(recorded_now.values())} times"
    return ""


if __name__ == "__main__":
    main()
