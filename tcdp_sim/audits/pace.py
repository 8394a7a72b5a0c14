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
MOST_AT_ONCE = 100_000  # outputs of a call
COUNTING = 2e-7  # seconds that reading and counting an output take at least


def paced(audit: Audit, began: float, workers: int, in_turn: bool = False) -> Audit:
    """Return the audit with the largest number of trials that fits the time left since `began`, at least LEAST.

    An audit without a time of its own is returned as it is. With `in_turn` each output takes a call. The number depends
    on the speed of the machine, so another run may draw another number.
    """
    if audit.seconds is None:
        return audit
    seconds = max(audit.seconds - (time.perf_counter() - began), 0.0)
    cost = _seconds_per_output(audit, LOOK * seconds, 1 if in_turn else MOST_AT_ONCE) + COUNTING
    all_looks = 1 if audit.until is None else GROWTH / (GROWTH - 1)
    most = seconds * workers / (2 * cost * all_looks)  # outputs of each input
    trials = LEAST
    for power in np.geomspace(LEAST, MOST, 400):
        if outputs_needed(int(power), len(audit.pairs)) > most:
            break
        trials = int(power)
    return replace(audit, trials=trials)


def _seconds_per_output(audit: Audit, seconds: float, most_at_once: int) -> float:
    """Return the time that an output takes, measured for at most about this many seconds, on growing samples.

    A call has at most `most_at_once` outputs.
    """
    pair, size = audit.pairs[0], 1
    stream = stage_streams("pace", pair)[0]
    started = time.perf_counter()
    while True:
        rng, before = generator(audit.seed, stream, size), time.perf_counter()
        for drawn in range(0, size, most_at_once):
            called(audit.sampler, pair.data, rng, min(most_at_once, size - drawn))
        now = time.perf_counter()
        if now - started > seconds / 3 or size > MOST_AT_ONCE:
            return (now - before) / size
        size *= 2
