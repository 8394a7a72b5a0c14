"""Section 3: what plain joint convexity gives in place of the advanced one."""

from math import expm1, log1p

from tcdp_sim.experiments.papers.judge.evidence import Point, Points
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.noise import Gaussian, Laplace, Noise
from tcdp_sim.numerics import Bounds


@claim("S.3b")
def plain_convexity(budget: Budget) -> Points:
    """Both bounds for noise, sampled without replacement: one takes the profile at ε, the other at the smaller ε'."""
    noises: tuple[Noise, ...] = (Gaussian(1.0), Laplace(1.0))
    for noise in noises:
        for eta in budget.choose((0.1,), (1e-3, 0.1, 0.5, 0.9)):
            for epsilon in budget.choose((0.2, 0.9), (0.2, 0.5, 0.9, 1.5, 3.0)):
                outer = log1p(eta * expm1(epsilon))
                left, right = (_share(noise, eta, at) for at in (epsilon, outer))
                if right.estimate > 0:
                    yield Point(f"{noise!r}, η = {eta:g}, ε = {epsilon:g}", left, right)


def _share(noise: Noise, eta: float, epsilon: float) -> Bounds[float]:
    delta = exact.hockey_stick(noise, 1.0, epsilon)
    return Bounds(*(eta * end for end in delta))


@claim("S.3b no smaller ε")
def no_amplified_epsilon(budget: Budget) -> Points:
    """Laplace noise is ε-DP and no less: the plain bound is above 0 at every ε' < ε, and the truth is 0."""
    for eta in budget.choose((0.1,), (1e-3, 0.1, 0.5)):
        own = log1p(eta * expm1(1.0))  # of the sampled noise
        for epsilon in (0.2 * own + 0.8, 0.6 * own + 0.4):
            left = exact.subsampled_hockey_stick(Laplace(1.0), 1.0, epsilon, eta)
            yield Point(f"η = {eta:g}, ε' = {epsilon:.4g}", left, _share(Laplace(1.0), eta, epsilon))
