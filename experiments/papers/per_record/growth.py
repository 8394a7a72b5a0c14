"""Abstract and Section 3: how slowly policies can grow with the influence of a record; and what the text lost."""

from itertools import pairwise
from math import e

import numpy as np
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian, Laplace, Noise
from tcdp_sim.numerics import Bounds, closed_form
from tcdp_sim.releases import AdditiveRelease, Identity, Log, Root, Transform, TransformedRelease

EXPONENTS = (10, 20, 40, 80, 120, 160, 200)  # of the influence
HEAVIER: dict[str, Noise] = {
    "Gaussian": Gaussian(1.0),
    "Laplace": Laplace(1.0),
    "generalised Gaussian, p = 1/2": GeneralizedGaussian(1.0, 0.5),
    "generalised Gaussian, p = 1/4": GeneralizedGaussian(1.0, 0.25),
    "exponential polylogarithmic, p = 2": ExponentialPolylogarithmic(1.0, 2.0, e, 1.0),
    "exponential polylogarithmic, p = 1": ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0),
}  # each with heavier tails than the one before


@claim("P.0a")
def as_slow_as_the_logarithm(budget: Budget) -> Points:
    """The exact policy of exponential polylogarithmic noise of power 1."""
    release = AdditiveRelease(ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0))
    for exponent in EXPONENTS:
        policy = exact.record_policy(release, 10.0**exponent)
        yield Point(f"influence 1e{exponent}", policy, closed_form(exponent * np.log(10)), at=exponent)


@claim("P.0a transformation")
def as_slow_as_the_squared_logarithm(budget: Budget) -> Points:
    """Of the logarithm, whose policy is attained."""
    release = TransformedRelease(Log(1.0), 1.0)
    for exponent in EXPONENTS:
        policy = exact.record_policy(release, 10.0**exponent)
        yield Point(f"influence 1e{exponent}", policy, closed_form((exponent * np.log(10)) ** 2), at=exponent)


@claim("P.0a heavier tails")
def heavier_tails(budget: Budget) -> Points:
    """Six noises, from Gaussian to exponential polylogarithmic, so far out that each record loses 10 nats and more.

    Nearer it need not be so: from 100 to 1e5 σ the exact policy of p = 1/4 grows 40.7 times, that of p = 1/2 39.4.
    """
    for near, far in budget.choose(((1e6, 1e10),), ((1e6, 1e10), (1e5, 1e7), (1e8, 1e15))):
        growth = {name: _growth(noise, near, far) for name, noise in HEAVIER.items()}
        for lighter, heavier in pairwise(HEAVIER):
            where = f"{heavier}, and {lighter}, influence from {near:g} to {far:g} σ"
            yield Point(where, growth[heavier], growth[lighter])


@claim("P.0a smaller records")
def smaller_records(budget: Budget) -> Points:
    """Derived here: what grows slowly towards large records has to be large for small ones already."""
    for name, noise in HEAVIER.items():
        if name == "Gaussian":
            continue
        for largest in (10.0, 1e4):
            for share in (1e-3, 0.1, 0.9):
                left, right = (
                    closed_form(float(x))
                    for x in (share * noise.largest_loss(largest), noise.largest_loss(share * largest))
                )
                yield Point(f"{name}, largest record {largest:g} σ, another {share:g} of it", left, right)


@claim("P.0b median")
def median_unbiased(budget: Budget) -> Points:
    """The estimators that an appendix announces which the text at hand has not, put together again."""
    transforms: tuple[Transform, ...] = (Identity(), Root(2.0), Root(3.5, 1.0), Root(4.0), Log(1.0), Log(30.0))
    for transform in transforms:
        release = TransformedRelease(transform, 1.5, "median_unbiased")
        for q in (0.5, 10.0, 1e5):
            yield Point(f"{transform!r}, q = {q:g}", closed_form(float(release.cdf(q, q))), constant(0.5))


def _growth(noise: Noise, near: float, far: float) -> Bounds[float]:
    small, large = (exact.record_policy(AdditiveRelease(noise), influence) for influence in (near, far))
    return Bounds(large.lower / small.upper, large.estimate / small.estimate, large.upper / small.lower)
