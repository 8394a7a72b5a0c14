"""Section 5.3: the generalised interior point problem, and the tree of the proof of Theorem 25."""

from itertools import product

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.sides import ONE

from tcdp_sim.arrays import Floats
from tcdp_sim.claims import Evidence, Kind, Point, Proof, Verdict, constant
from tcdp_sim.numerics import closed_form

SMALL, BIG = 2 / 5, 4 / 5


@claim(
    "T.P24",
    kind=Kind.INEQUALITY,
    section="5.3",
    expected=Verdict.FALSE,
    erratum="E7",
    printed="f has values in [0, 1] and f(x, k+1) = 1; interior points are the case f(x, j) = q_j(x) of sensitivity 1",
    correct="f(x, j) = q_j(x)/n, of sensitivity 1/n; Theorem 25 then asks for (ω + 1/√ρ) Δ log log k ≤ 1",
    consequence="read to the letter, the problem holds data sets of one record only",
)
def counts(budget: Budget) -> Evidence:
    """The largest value of q_j."""
    points = []
    for n in (2, 10, 100):
        records = np.arange(n) % 7 + 1
        points.append(Point(f"n = {n} records in [7]", closed_form(float((records <= 7).sum())), ONE))
    return Evidence(points, measures="largest value of f(x, j) = q_j(x), against 1", universe="n ≥ 1")


@claim(
    "T.P24",
    part="repaired",
    title="f(x, j) = q_j(x)/n has values in [0, 1] and sensitivity 1/n",
    kind=Kind.INEQUALITY,
    section="5.3",
    expected=Verdict.HOLDS,
    erratum="E7",
)
def shares(budget: Budget) -> Evidence:
    """Over all data sets of three records in [4], and their neighbours."""
    data = np.array(list(product(range(1, 5), repeat=3)))
    f = (data[:, None, :] <= np.arange(1, 5)[:, None]).mean(axis=2)
    neighbours = (data[:, None, :] != data[None, :, :]).sum(axis=2) == 1
    moved = np.abs(f[:, None, :] - f[None, :, :])[neighbours]
    below = float(f[:, 0][(data > 1).any(axis=1)].max())
    return Evidence(
        [
            Point("largest value", closed_form(float(f.max())), ONE),
            Point("largest value at j = 1 unless all records are there", closed_form(below), ONE),
            Point("3 times the sensitivity", closed_form(3 * float(moved.max())), ONE),
        ],
        measures="q_j(x)/n, and n times its change between neighbours, against 1",
        universe="all data sets",
        tolerance=1e-9,
    )


@claim(
    "T.5.3e",
    kind=Kind.INEQUALITY,
    section="5.3",
    expected=Verdict.FALSE,
    erratum="E7",
    printed="the value of a node [j1, j2] is f(x, j2) - f(x, j1); if both children are below 2/5 it is below 4/5",
    correct="the value has to be f(x, j2) - f(x, j1 - 1)",
    consequence="all leaves have the value 0, and a jump between two children is in neither: 1 over 0 and 0",
)
def printed_values(budget: Budget) -> Evidence:
    """Functions that jump from 0 to 1 at one of eight leaves."""
    points = []
    for jump in range(1, 9):
        f = (np.arange(9) >= jump).astype(float)
        points.append(Point(f"jump at leaf {jump}", closed_form(_largest_parent(f, 0)), constant(BIG)))
    return Evidence(
        points,
        measures="largest value of a node whose children are both below 2/5, against 4/5",
        universe="all nondecreasing f",
    )


@claim(
    "T.5.3e",
    part="repaired",
    title="With the value f(x, j2) - f(x, j1 - 1) children below 2/5 make the parent below 4/5",
    kind=Kind.INEQUALITY,
    section="5.3",
    expected=Verdict.HOLDS,
    erratum="E7",
)
def corrected_values(budget: Budget) -> Evidence:
    """All nondecreasing functions on four leaves in steps of 1/10, and jumps at one of eight."""
    rises = [rise for rise in product(range(11), repeat=4) if sum(rise) <= 10]
    fine = max(_largest_parent(np.concatenate([[0.0], np.cumsum(rise) / 10]), 1) for rise in rises)
    jumps = max(_largest_parent((np.arange(9) >= jump).astype(float), 1) for jump in range(1, 9))
    return Evidence(
        [
            Point("four leaves, steps of 1/10", closed_form(fine), constant(BIG)),
            Point("jumps at one of eight leaves", closed_form(jumps), constant(BIG)),
        ],
        measures="largest value of a node whose children are both below 2/5, against 4/5",
        universe="all nondecreasing f",
        proof=Proof.SYMBOLIC,
        why="the values of two children add up to that of their parent",
    )


@claim(
    "T.5.3e",
    part="levels",
    title="After log* k levels of the recursion the domain has at most 7 elements (and never fewer than 3)",
    kind=Kind.INEQUALITY,
    section="5.3",
    expected=Verdict.HOLDS,
)
def levels(budget: Budget) -> Evidence:
    """k + 1 = 2^bits becomes the bits + 1 levels of the tree, filled up to one less than a power of two."""
    points = []
    for bits in (4, 16, 65536, 2**65536):
        name = str(bits) if bits < 1e6 else "2^65536"
        steps = closed_form(float(_steps(bits)))
        points.append(Point(f"k + 1 = 2^{name}", steps, closed_form(float(_iterated_log(bits)))))
    return Evidence(points, measures="levels until 7 elements are left, against log* k", universe="k ≥ 15")


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
