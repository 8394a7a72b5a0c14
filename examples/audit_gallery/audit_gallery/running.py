"""The audit of a row by `tcdp_sim.audit`, with its time, and with the time of its sampler apart."""

from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import psutil

import tcdp_sim
from audit_gallery.outcomes import Outcome, Size, kept
from audit_gallery.rows import Row

FEW, BLOCK = 200, 20_000  # outputs drawn at a time to measure a sampler: FEW for a slow one
LEAST_SECONDS = 0.3


def audited(row: Row, size: Size, workers: int, ratios: bool, results: Path) -> Outcome:
    """Audit a row, or continue a stopped audit, and return the outcome.

    With 0 workers the audit runs in this process. If `ratios` is true, the audit is given the mechanism's own
    likelihood ratios, if it has any. The folder `results` keeps the run's counts, from which a stopped audit continues.
    """
    mechanism = row.mechanism if ratios else row.mechanism.__call__  # a bound method has no likelihood ratios
    cluster = {"name": "local", "workers": workers} if workers else "serial"
    name = f"gallery_{row.name}_{'ratios' if ratios else 'outputs'}"
    start, cpu = perf_counter(), _cpu_seconds()
    report = tcdp_sim.audit(
        mechanism, neighbours=row.pairs, claim=row.claim, trials=size.trials, seconds=size.seconds, level=size.level,
        seed=size.seed, cluster=cluster, name=name, results_dir=results, bits=row.bits,
    )  # fmt: skip
    outcome = Outcome(
        name=row.name, ratios=ratios, trials=report.trials, level=size.level, workers=workers, measure=report.measure,
        bound=report.bound, refuted=report.refuted, pair=_pair(report), event=report.event, drawn=report.drawn,
        seconds=perf_counter() - start, cpu=_cpu_seconds() - cpu,
        sampling=2 * report.drawn * seconds_an_output(row), seed=size.seed,
    )  # fmt: skip
    return _first(outcome, results) if report.resumed else outcome


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all its workers, living or ended."""
    here = psutil.Process()
    total = 0.0
    for process in (here, *here.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])  # its own two, and those of its children that were waited for
    return total


def _first(outcome: Outcome, results: Path) -> Outcome:
    """Return the kept outcome if it is the same, because a resumed audit does not know how long the first one took."""
    same = [old for old in kept(results) if old.key == outcome.key and old.bound == outcome.bound]
    return same[0] if same else outcome


def _pair(report) -> str:
    if report.pair is None:
        return "none"
    first, second = (f"({', '.join(f'{x:g}' for x in np.atleast_1d(side))})" for side in report.pair)
    return f"{first} and {second}, likelier under the {report.toward}"


def seconds_an_output(row: Row) -> float:
    """Measure the CPU seconds of the mechanism for one output on one core."""
    rng, data = np.random.Generator(np.random.SFC64(0)), row.pairs[0][0]
    start = process_time()
    row.mechanism(data, rng, FEW)
    size = BLOCK if (process_time() - start) * BLOCK < FEW * LEAST_SECONDS else FEW
    row.mechanism(data, rng, size)
    start, drawn = process_time(), 0
    while process_time() < start + LEAST_SECONDS:
        row.mechanism(data, rng, size)
        drawn += size
    return (process_time() - start) / drawn
