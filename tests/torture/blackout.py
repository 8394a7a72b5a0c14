"""`make blackout STATES=200`: power failures in a run, and whether the same command heals them."""

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
    """Fail the power of one recorded run again and again; exit code 1 if any state does not heal."""
    parser = argparse.ArgumentParser(prog="blackout", description=__doc__)
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        healed = blackout(Path(home), asked.states, asked.seed)
    print(f"{sum(healed[how, True] for how, _ in healed)} of {asked.states} states heal", dict(healed))
    sys.exit(any(count for (_, well), count in healed.items() if not well))


def blackout(home: Path, states: int, seed: int) -> Counter:
    """(kind of failure, whether it healed) -> how often."""
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
    """What one undisturbed run does, its figures included."""
    from tcdp_sim.cli.main import main

    reference.folder.parent.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(reference.home)
        patch.setattr(sys, "argv", ["tcdp-sim", *reference.words("cluster=serial")])
        with recorded(reference.folder.parent, patch) as recorder:
            main()
    return recorder


def _healed(sweep: Sweep, reference: Sweep) -> str:
    """Nothing, or what is wrong after the same command."""
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
