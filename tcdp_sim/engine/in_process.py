"""Simulation of a user's mechanism object in this process, without config, folder or workers."""

import hashlib
from collections.abc import Iterator

from tcdp_sim.core.errors import UserError, whole
from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms import Mechanism
from tcdp_sim.study.settings import MAX_SEED, MOST_TRIALS
from tcdp_sim.summaries.summary import Summary, merged, summarise

CHUNK = 50_000  # trials at a time, which bounds the memory
STREAM = hashlib.sha256(b"simulate").hexdigest()  # of every object, whatever its class and file are called


def simulate(mechanism: Mechanism, trials: float, seed: int) -> Summary:
    """Return the summary of independent trials: a function of what the object does, `trials` and `seed` alone.

    `trials` is a whole number >= 1 and `seed` lies in [0, 2^128). Raises UserError for other arguments. Errors of the
    mechanism are not caught.
    """
    if not isinstance(mechanism, Mechanism):
        raise UserError(f"{mechanism!r} is not a mechanism; valid: an object of a class that derives from Mechanism")
    try:
        trials, seed = whole("trials", trials, 1, MOST_TRIALS), whole("seed", seed, 0, MAX_SEED - 1)
    except ValueError as mistake:
        raise UserError(str(mistake)) from None
    return merged(_chunks(mechanism, trials, seed))


def _chunks(mechanism: Mechanism, trials: int, seed: int) -> Iterator[Summary]:
    """Yield the summary of each chunk."""
    for chunk, start in enumerate(range(0, trials, CHUNK)):
        size = min(CHUNK, trials - start)
        values = mechanism.simulate(generator(seed, STREAM, chunk), size)
        yield summarise(STREAM, chunk, size, values, mechanism.thresholds)
