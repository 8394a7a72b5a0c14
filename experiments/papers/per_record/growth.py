"""Abstract and Section 3: the growth of policies with the influence of a record; estimators that the text lost."""

from itertools import pairwise, product
from math import e, log

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds, closed_form
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian, Laplace, Noise
from tcdp_sim.per_record import AdditiveRelease, Identity, Log, Root, Transform, TransformedRelease

NEAR, FAR = (10.0, 20.0, 40.0, 80.0, 200.0), (1e3, 1e4, 1e5, 1e6, 1e7)  # log10 of influences: floats, and beyond
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
    """Yield the exact policy of exponential polylogarithmic noise of power 1, and beyond floats a bracket of it."""
    release = AdditiveRelease(ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0))
    for at in (*NEAR, *FAR):
        policy = exact.record_policy(release, 10.0**at) if at in NEAR else far_policy(at)
        yield Point(f"influence 10^{at:g}", policy, _log(at), at=at)


def far_policy(at: float) -> Bounds[float]:
    """Return the policy (nats) of the noise of density 1.5 (1 + |z|)^-4 at an influence t = 10^at, at >= 100.

    It is at most the pure loss, 4 log(1 + t), and at least the divergence at order 1, 4 E log(1 + |Z - t|) - 4/3,
    where |Z - t| is above t/2 but for a chance of at most 10^-296.
    """
    most = 4 * _log(at)
    return Bounds((most - 4 * log(2) - 4 / 3).lower, most.estimate, most.upper)


@claim("P.0a transformation")
def as_slow_as_the_squared_logarithm(budget: Budget) -> Points:
    """Yield the policy of the logarithm, which attains the bound. Beyond floats log(1 + t) is log t to all digits."""
    release = TransformedRelease(Log(1.0), 1.0)
    for at in (*NEAR, *FAR):
        square = _log(at) * _log(at)
        policy = exact.record_policy(release, 10.0**at) if at in NEAR else square / 2
        yield Point(f"influence 10^{at:g}", policy, square, at=at)


def _log(at: float) -> Bounds[float]:
    """Return the natural logarithm of 10^at."""
    return closed_form(at * log(10), 1e-15)


@claim("P.0a heavier tails")
def heavier_tails(budget: Budget) -> Points:
    """Yield six noises, from Gaussian to exponential polylogarithmic, where each record loses 10 nats or more.

    For nearer records the order may differ: from 100 to 1e5 σ the exact policy of p = 1/4 grows 40.7 times, and that of
    p = 1/2 grows 39.4 times.
    """
    for near, far in budget.choose(((1e6, 1e10),), ((1e6, 1e10), (1e5, 1e7), (1e8, 1e15))):
        growth = {name: _growth(noise, near, far) for name, noise in HEAVIER.items()}
        for lighter, heavier in pairwise(HEAVIER):
            where = f"{heavier}, and {lighter}, influence from {near:g} to {far:g} σ"
            yield Point(where, growth[heavier], growth[lighter])


@claim("P.0a smaller records")
def smaller_records(budget: Budget) -> Points:
    """Yield smaller records. A policy that grows slowly towards large records is large for small ones already."""
    for name, noise in HEAVIER.items():
        for largest, share in product((10.0, 1e4), (1e-3, 0.1, 0.9)):
            if name != "Gaussian":  # Gaussian noise has no pure loss
                left, right = share * noise.largest_loss(largest), noise.largest_loss(share * largest)
                where = f"{name}, largest record {largest:g} σ, another {share:g} of it"
                yield Point(where, closed_form(float(left)), closed_form(float(right)))


@claim("P.0b median")
def median_unbiased(budget: Budget) -> Points:
    """Yield the estimators of an appendix that the text at hand does not have, restored by us."""
    transforms: tuple[Transform, ...] = (Identity(), Root(2.0), Root(3.5, 1.0), Root(4.0), Log(1.0), Log(30.0))
    for transform in transforms:
        release = TransformedRelease(transform, 1.5, "median_unbiased")
        for q in (0.5, 10.0, 1e5):
            yield Point(f"{transform!r}, q = {q:g}", closed_form(float(release.cdf(q, q))), constant(0.5))


def _growth(noise: Noise, near: float, far: float) -> Bounds[float]:
    release = AdditiveRelease(noise)
    return exact.record_policy(release, far) / exact.record_policy(release, near)
