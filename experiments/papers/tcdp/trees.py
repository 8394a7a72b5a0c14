"""Section 5.3: the generalised interior point problem, and the tree of the proof of Theorem 25."""

from itertools import product

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim.arrays import Floats
from tcdp_sim.numerics import closed_form

SMALL, BIG = 2 / 5, 4 / 5


@claim("T.P24")
def counts(budget: Budget) -> Points:
    """The largest value of q_j."""
    for n in (2, 10, 100):
        records = np.arange(n) % 7 + 1
        yield Point(f"n = {n} records in [7]", closed_form(float((records <= 7).sum())), constant(1.0))


@claim("T.P24 repaired")
def shares(budget: Budget) -> Points:
    """Over all data sets of three records in [4], and their neighbours."""
    data = np.array(list(product(range(1, 5), repeat=3)))
    f = (data[:, None, :] <= np.arange(1, 5)[:, None]).mean(axis=2)
    neighbours = (data[:, None, :] != data[None, :, :]).sum(axis=2) == 1
    moved = np.abs(f[:, None, :] - f[None, :, :])[neighbours]
    below = float(f[:, 0][(data > 1).any(axis=1)].max())
    return [
        Point("largest value", closed_form(float(f.max())), constant(1.0)),
        Point("largest value at j = 1 unless all records are there", closed_form(below), constant(1.0)),
        Point("3 times the sensitivity", closed_form(3 * float(moved.max())), constant(1.0)),
    ]


@claim("T.5.3e")
def printed_values(budget: Budget) -> Points:
    """Functions that jump from 0 to 1 at one of eight leaves."""
    for jump in range(1, 9):
        f = (np.arange(9) >= jump).astype(float)
        yield Point(f"jump at leaf {jump}", closed_form(_largest_parent(f, 0)), constant(BIG))


@claim("T.5.3e repaired")
def corrected_values(budget: Budget) -> Points:
    """All nondecreasing functions on four leaves in steps of 1/10, and jumps at one of eight."""
    rises = [rise for rise in product(range(11), repeat=4) if sum(rise) <= 10]
    fine = max(_largest_parent(np.concatenate([[0.0], np.cumsum(rise) / 10]), 1) for rise in rises)
    jumps = max(_largest_parent((np.arange(9) >= jump).astype(float), 1) for jump in range(1, 9))
    return [
        Point("four leaves, steps of 1/10", closed_form(fine), constant(BIG)),
        Point("jumps at one of eight leaves", closed_form(jumps), constant(BIG)),
    ]


@claim("T.5.3e levels")
def levels(budget: Budget) -> Points:
    """k + 1 = 2^bits becomes the bits + 1 levels of the tree, filled up to one less than a power of two."""
    for bits in (4, 16, 65536, 2**65536):
        name = str(bits) if bits < 1e6 else "2^65536"
        steps = closed_form(float(_steps(bits)))
        yield Point(f"k + 1 = 2^{name}", steps, closed_form(float(_iterated_log(bits))))


def _largest_parent(f: Floats, before: int) -> float:
    """Of the nodes whose children are both below 2/5: value f(j2) - f(j1 - before); f from index 0 (its value is 0)."""
    leaves = len(f) - 1
    largest, size = 0.0, 2
    while size <= leaves:
        for first in range(1, leaves + 1, size):
            middle, last = first + size // 2, first + size - 1
            children = f[middle - 1] - f[first - before], f[last] - f[middle - before]
            if max(children) < SMALL - 1e-12:
                largest = max(largest, float(f[last] - f[first - before]))
        size *= 2
    return largest


def _steps(bits: int) -> int:
    """How often the number of bits is replaced by those of bits + 1 levels until it is 3, which stays."""
    count = 0
    while bits > 3:
        bits, count = (bits + 1).bit_length(), count + 1
    return count


def _iterated_log(bits: int) -> int:
    """log* of 2^bits, bits a power of two or one: logarithms to base 2 until 1 is reached."""
    count = 1
    while bits > 1:
        bits, count = bits.bit_length() - 1, count + 1
    return count
