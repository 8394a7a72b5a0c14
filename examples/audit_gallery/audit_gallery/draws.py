"""Fast exact draws in bulk, from which every mechanism of the gallery makes its own noise."""

from collections.abc import Iterator

import numpy as np

BLOCK = 2**15  # numbers drawn at a time, so that they fit into a core's cache


def blocks(trials: int, width: int = 1) -> Iterator[slice]:
    """Yield slices that cut 0..trials into blocks of about BLOCK numbers, with `width` numbers a trial."""
    step = max(BLOCK // width, 1)
    for start in range(0, trials, step):
        yield slice(start, min(start + step, trials))


def coins(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return fair coins, 0 or 1, as int8 of shape (size,). They are the bits of 64-bit words."""
    words = rng.integers(0, 2**64, -(-size // 64), dtype=np.uint64)
    return np.unpackbits(words.view(np.uint8), count=size).view(np.int8)


def laplace(rng: np.random.Generator, size: int, scale: float) -> np.ndarray:
    """Return Laplace noise of a scale > 0, float64 of shape (size,): exponentials (by ziggurat) with fair signs."""
    noise = rng.standard_exponential(size)
    noise *= scale
    noise *= 1 - 2 * coins(rng, size)
    return noise


def exponential(rng: np.random.Generator, size: int, scale: float) -> np.ndarray:
    """Return one-sided exponential noise of a scale > 0, float64 of shape (size,)."""
    noise = rng.standard_exponential(size)
    noise *= scale
    return noise
