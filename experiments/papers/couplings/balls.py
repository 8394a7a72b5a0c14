"""Balle, Barthe, Gaboardi 2018: Privacy amplification by subsampling."""

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls import Says, confirms
from tcdp_sim.experiments.papers.balls.arithmetic import ball

if TYPE_CHECKING:
    from flint import arb


@confirms("S.4a", Says.ABOVE)
def coupling_of_poisson_samples() -> "tuple[arb, arb]":
    """P[a pair at the nearest distance] of the best coupling against 0.99: two further records, each kept with 1/3.

    A sample with the record 0 goes to the same sample without it, at distance 1, or with 1 in its place, at distance 2:
    in the symmetric difference no sample without 0 is nearer than 1, and none with 1 and without 0 nearer than 2.
    """
    kept, nearest = Fraction(1, 3), Fraction(0)
    samples = list(product((False, True), repeat=2))
    for rest in samples:
        chance = Fraction(1)
        for has in rest:
            chance *= kept if has else 1 - kept
        distances = [1 + sum(a != b for a, b in zip(rest, other)) for other in samples]
        nearest += chance * (distances[samples.index(rest)] == min(distances))
    return ball(nearest), ball(Fraction(99, 100))
