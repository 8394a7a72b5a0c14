"""Made-up records on a line, the same on every machine: bell-shaped, uniform, heavy-tailed, and with many ties."""

import hashlib
from collections.abc import Callable

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice
from tcdp_sim.core.streams import generator

RANGE = 256.0  # units, within which bell and ties lie


def _bell(rng: np.random.Generator, n: int, k: int) -> Floats:
    """Return means of 12 uniform numbers on [0, 256). They are added one by one, which rounds alike everywhere."""
    total = np.zeros(n)
    for _ in range(12):
        total += rng.random(n)
    return total * (RANGE / 12)


def _uniform(rng: np.random.Generator, n: int, k: int) -> Floats:
    return k * rng.random(n)


def _pareto(rng: np.random.Generator, n: int, k: int) -> Floats:
    """Return 16 / sqrt(u), moved below k if need be: a tail of index 2."""
    return np.minimum(16 / np.sqrt(1 - rng.random(n)), np.nextafter(float(k), 0.0))


def _ties(rng: np.random.Generator, n: int, k: int) -> Floats:
    return 16 * np.floor(_bell(rng, n, k) / 16)


SHAPES: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "bell": _bell,
    "uniform": _uniform,
    "pareto": _pareto,
    "ties": _ties,
}


def line_shape(shape: str, n: int, k: int) -> Floats:
    """Return n records of a shape on [0, k), in no order.

    `shape`: "bell" lies around 128 with a standard deviation of 21, and "ties" is the same rounded down to multiples of
    16. "uniform" fills the domain. "pareto" begins at 16 and has a tail of index 2. `k`: the length of the domain, at
    least 256.
    """
    name = choice("shape", shape, SHAPES)
    return SHAPES[name](generator(0, hashlib.sha256(f"records {name}".encode()).hexdigest(), n), n, k)
