"""`make torture KILLS=1000 ARGS="--minutes 60 --seed 0 --keep FOLDER"`: progress, and the result at the end."""

import argparse
import signal
import sys
import tempfile
import time
from math import inf
from pathlib import Path

from .campaign import Campaign
from .report import Report, said

CHUNKS = 80  # of each cell


def main() -> None:
    """Torture a sweep. Exit with 1 if its results differ from those of an undisturbed run."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=inf, help="kill no longer than that")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="an empty folder for the runs (default: a temporary one)")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that all our processes are killed at the end
    with tempfile.TemporaryDirectory() as temporary:
        home = asked.keep or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        report = tortured(home, asked.kills, 60 * asked.minutes, asked.seed)
    sys.exit(0 if report.equal else 1)


def tortured(home: Path, kills: int, seconds: float, seed: int) -> Report:
    """Run a campaign and print its progress."""
    started = time.monotonic()
    campaign = Campaign(home, CHUNKS, seed)

    def tell(_):
        done, spent = campaign.report.total, time.monotonic() - started
        left = spent / max(done, 1) * (kills - done)
        recorded = len(campaign.sweep.recorded())
        what = f"{done}/{kills} kills  {recorded}/{campaign.sweep.total} chunks"
        print(f"{spent:6.0f} s  {what}  ETA {left:.0f} s  {dict(campaign.report.by_target())}", flush=True)

    campaign.tell = tell
    report = campaign.run(kills, seconds)
    print(said(report))
    return report


if __name__ == "__main__":
    main()
