"""The number of trials that fit the time an audit was given."""

import time
from dataclasses import replace

import numpy as np

from tcdp_sim.audits.arguments import LEAST, MOST, Audit
from tcdp_sim.audits.counting import stage_streams
from tcdp_sim.audits.looks import GROWTH
from tcdp_sim.audits.outputs import called
from tcdp_sim.audits.stages import outputs_needed
from tcdp_sim.core.streams import generator

LOOK = 0.05  # the share of the time that measures the speed of the mechanism
COUNTING = 2e-7  # seconds that reading and counting an output take at least


def paced(audit: Audit, seconds: float, workers: int) -> Audit:
    """Return the audit with the largest number of trials that fits the time, at least LEAST.

    The number depends on the speed of the machine, so another run may draw another number.
    """
    cost = _seconds_per_output(audit, LOOK * seconds) + COUNTING
    all_looks = 1 if audit.until is None else GROWTH / (GROWTH - 1)
    most = seconds * workers / (2 * cost * all_looks)  # outputs of each input
    trials = LEAST
    for power in np.geomspace(LEAST, MOST, 400):
        if outputs_needed(int(power), len(audit.pairs)) > most:
            break
        trials = int(power)
    return replace(audit, trials=trials)


def _seconds_per_output(audit: Audit, seconds: float) -> float:
    """Return the time that an output takes, measured on growing calls for at most about this many seconds."""
    pair, size, drawn = audit.pairs[0], 1, 0
    stream = stage_streams("pace", pair)[0]
    started = time.perf_counter()
    while True:
        before = time.perf_counter()
        called(audit.sampler, pair.data, generator(audit.seed, stream, size), size)
        drawn, now = size, time.perf_counter()
        if now - started > seconds / 3 or size > 100_000:
            return (now - before) / drawn
        size *= 2
