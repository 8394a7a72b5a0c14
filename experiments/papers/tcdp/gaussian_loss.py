"""Section 1: the privacy loss of Gaussian noise, with and without sampling."""

import numpy as np
from scipy.special import log_ndtr
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.registry import Budget, claim

from tcdp_sim import exact
from tcdp_sim.calibration import calibrate
from tcdp_sim.exact import PrivacyLossDistribution
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import ApproxDP

EPSILON, DELTA, SAMPLED = 0.1, 1e-6, 0.01


@claim("T.1a")
def larger_losses(budget: Budget) -> Points:
    """Gaussian noise that is exactly (1, 1e-6)-DP."""
    loss = PrivacyLossDistribution(calibrate("gaussian", ApproxDP(1.0, DELTA, "target")), 1.0)
    return growing(
        np.arange(0, 5.5, 0.5), lambda k: float(-loss.logsf(k)), lambda k: float(k * k * np.log(1 / DELTA)), "k"
    )


@claim("T.1a after a failure")
def loss_after_failure(budget: Budget) -> Points:
    """P[loss > 2ε given loss > ε]."""
    for epsilon, delta in [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-6), (1.0, 1e-3), (1.0, 1e-12)]:
        loss = PrivacyLossDistribution(calibrate("gaussian", ApproxDP(epsilon, delta, "target")), 1.0)
        given = float(np.exp(loss.logsf(2 * epsilon) - loss.logsf(epsilon)))
        yield Point(f"ε = {epsilon:g}, δ = {delta:g}", closed_form(given), constant(0.5))


@claim("T.eq1 eq2")
def generating_function(budget: Budget) -> Points:
    """By quadrature through a mixture of one, so that the noise's own closed form is not asked."""
    for epsilon in (0.1, 1.0, 3.0):
        noise = exact.Mixture(Gaussian(1 / epsilon))
        for moment in (0.5, 1.0, 4.0, 16.0):
            left = exact.renyi_divergence_between(noise, exact.Mixture(Gaussian(1 / epsilon), (1.0,)), moment + 1)
            right = closed_form(epsilon**2 / 2 + epsilon**2 * moment / 2)
            yield Point(f"ε = {epsilon:g}, λ = {moment:g}", left, right)


@claim("T.eq1 eq2 tail")
def tail(budget: Budget) -> Points:
    """Exactly."""
    for epsilon in (0.1, 1.0):
        loss = PrivacyLossDistribution(Gaussian(1 / epsilon), 1.0)
        for k in (0.0, 0.5, 1.0, 3.0, 8.0, 20.0):
            left = closed_form(float(loss.sf(epsilon**2 / 2 + k * epsilon)), 1e-9)
            yield Point(f"ε = {epsilon:g}, k = {k:g}", left, closed_form(float(np.exp(-k * k / 2))))


@claim("T.eq1 eq2 minimiser")
def minimiser(budget: Budget) -> Points:
    """E exp((λ/ε)(Z - μ)) exp(-λk) = exp(λ²/2 - λk) at λ = k/ε."""
    for epsilon, k in [(0.5, 1.0), (0.8, 2.0), (2.0, 2.0)]:
        at = k / epsilon
        left, right = closed_form(float(np.exp(at * at / 2 - at * k))), closed_form(float(np.exp(-k * k / 2)))
        yield Point(f"ε = {epsilon:g}, k = {k:g}", left, right)


@claim("T.eq3")
def ratio_of_tails(budget: Budget) -> Points:
    """The event that the answer is at least 1 + z, z at k standard deviations."""
    return growing(
        np.arange(0, 4.5, 0.5),
        lambda k: float(log_ndtr(-k) - log_ndtr(-k - EPSILON)),
        lambda k: EPSILON * k + EPSILON**2 / 2,
    )


@claim("T.eq3 sampled")
def sampled_ratio(budget: Budget) -> Points:
    """log q_y/q_x over s ε k: at most 2 while k ≤ 1/ε, at least 10 from 4/ε on; ε = 0.1, s = 0.01."""
    p, q = exact.subsampled(Gaussian(1 / EPSILON), 1.0, SAMPLED)
    for k in (5.0, 10.0, 40.0, 80.0):
        at = 1 + k / EPSILON
        loss = closed_form(float(p.logsf(at) - q.logsf(at)) / (SAMPLED * EPSILON * k), 1e-9)
        if k <= 1 / EPSILON:
            yield Point(f"k = {k:g}: the loss is at most twice sεk", loss, constant(2.0))
        else:
            yield Point(f"k = {k:g}: it is at least ten times as much", constant(10.0), loss)
