"""Random numbers in bulk. Every mechanism of the gallery draws its own noise; these are the fastest honest ways to."""

from collections.abc import Iterator

import numpy as np

BLOCK = 2**15  # numbers that are drawn at a time: they fit a core's cache


def blocks(trials: int, width: int = 1) -> Iterator[slice]:
    """Slices that cut 0..trials into blocks of about BLOCK numbers, `width` of them a trial."""
    step = max(BLOCK // width, 1)
    for start in range(0, trials, step):
        yield slice(start, min(start + step, trials))


def coins(rng: np.random.Generator, size: int) -> np.ndarray:
    """Fair coins, 0 or 1, as int8 of shape (size,): the bits of 64-bit words."""
    words = rng.integers(0, 2**64, -(-size // 64), dtype=np.uint64)
    return np.unpackbits(words.view(np.uint8), count=size).view(np.int8)


def laplace(rng: np.random.Generator, size: int, scale: float) -> np.ndarray:
    """Laplace noise of a scale > 0: an exponential number (by ziggurat) with a fair sign; float64 of shape (size,)."""
    noise = rng.standard_exponential(size)
    noise *= scale
    noise *= 1 - 2 * coins(rng, size)
    return noise


def exponential(rng: np.random.Generator, size: int, scale: float) -> np.ndarray:
    """One-sided exponential noise of a scale > 0, float64 of shape (size,)."""
    noise = rng.standard_exponential(size)
    noise *= scale
    return noise
