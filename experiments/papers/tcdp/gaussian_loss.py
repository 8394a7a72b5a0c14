"""Section 1: the privacy loss of Gaussian noise, with and without sampling."""

import numpy as np
from scipy.special import log_ndtr

from tcdp_sim import exact
from tcdp_sim.calibration import calibrate
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import Bounds, closed_form, integrate
from tcdp_sim.exact import PrivacyLossDistribution
from tcdp_sim.experiments import pair_divergences
from tcdp_sim.experiments.papers.judge.evidence import Point, Points, constant
from tcdp_sim.experiments.papers.judge.forms import growing
from tcdp_sim.experiments.papers.orders import largest_cost
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.noise import Gaussian, Noise, SinhNormal
from tcdp_sim.privacy import ApproxDP

EPSILON, SAMPLED = 0.1, 0.01


@claim("T.1a")
def larger_losses(budget: Budget) -> Points:
    """Return points of the least exponent over the cases."""
    cases = [(1.0, 1e-6), (0.1, 1e-12), (4.0, 1e-12)]
    losses = [PrivacyLossDistribution(calibrate("gaussian", ApproxDP(*case, "target")).noise, 1.0) for case in cases]

    def least(k: float) -> float:
        tails = zip(cases, losses)
        return min(float(loss.logsf(k * epsilon) / np.log(delta)) for (epsilon, delta), loss in tails)

    return growing(np.arange(0, 5.5, 0.5), least, lambda k: k * k)


@claim("T.1a after a failure")
def loss_after_failure(budget: Budget) -> Points:
    """Yield points of P[loss > 2ε given loss > ε]."""
    for epsilon, delta in [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-6), (1.0, 1e-3), (1.0, 1e-12)]:
        loss = PrivacyLossDistribution(calibrate("gaussian", ApproxDP(epsilon, delta, "target")).noise, 1.0)
        given = float(np.exp(loss.logsf(2 * epsilon) - loss.logsf(epsilon)))
        yield Point(f"ε = {epsilon:g}, δ = {delta:g}", closed_form(given), constant(0.5))


@claim("T.eq1 eq2")
def generating_function(budget: Budget) -> Points:
    """Yield divergences by quadrature through a mixture of one, so that the noise's closed form is not used."""
    for epsilon in (0.1, 1.0, 3.0):
        laws = pair_divergences.moved(Gaussian(1 / epsilon), 1.0)
        for moment in (0.5, 1.0, 4.0, 16.0):
            left = pair_divergences.renyi(*laws, moment + 1)
            right = closed_form(epsilon**2 / 2 + epsilon**2 * moment / 2)
            yield Point(f"ε = {epsilon:g}, λ = {moment:g}", left, right)
        for moment in (-3.0, -0.5):
            right = closed_form(epsilon**2 / 2 + epsilon**2 * moment / 2)
            yield Point(f"ε = {epsilon:g}, λ = {moment:g}", _log_moment(Gaussian(1 / epsilon), moment), right)


def _log_moment(noise: Noise, moment: float) -> Bounds[float]:
    """Return (log E exp(λZ))/λ of the loss Z at a shift of one, also for λ < 0, where no divergence has that order."""
    reach = 12 * float(np.sqrt(noise.var()))
    middle = -moment  # where p^(1 + λ) q^(-λ) of a Gaussian is largest, with P at 0 and Q at 1

    def integrand(x: Floats) -> Floats:
        return np.exp((1 + moment) * noise.logpdf(x) - moment * noise.logpdf(x - 1))

    return integrate(integrand, np.linspace(middle - reach, middle + reach, 40)).log() / moment


@claim("T.eq1 eq2 truncated")
def truncated_tail(budget: Budget) -> Points:
    """Yield sinh-normal noise with its own least ρ, up to the end of the range, k = ε(ω - 1)."""
    for scale, knee, omega in [(3.0, 10.0, 4.0), (5.0, 21.0, 10.5)]:
        noise = SinhNormal(scale, knee)
        rho = largest_cost(noise, omega).upper
        epsilon = float(np.sqrt(2 * rho))
        for share in (0.0, 0.25, 0.5, 1.0):
            k = share * epsilon * (omega - 1)
            left = closed_form(float(PrivacyLossDistribution(noise, 1.0).sf(rho + k * epsilon)), 1e-9)
            yield Point(f"ω = {omega:g}, k = {k:.4g}", left, closed_form(float(np.exp(-k * k / 2))))


@claim("T.eq1 eq2 tail")
def tail(budget: Budget) -> Points:
    """Yield exact tails."""
    for epsilon in (0.1, 1.0):
        loss = PrivacyLossDistribution(Gaussian(1 / epsilon), 1.0)
        for k in (0.0, 0.5, 1.0, 3.0, 8.0, 20.0):
            left = closed_form(float(loss.sf(epsilon**2 / 2 + k * epsilon)), 1e-9)
            yield Point(f"ε = {epsilon:g}, k = {k:g}", left, closed_form(float(np.exp(-k * k / 2))))


@claim("T.eq1 eq2 minimiser")
def minimiser(budget: Budget) -> Points:
    """Yield points of E exp((λ/ε)(Z - μ)) exp(-λk) = exp(λ²/2 - λk) at λ = k/ε."""
    for epsilon, k in [(0.5, 1.0), (0.8, 2.0), (2.0, 2.0)]:
        at = k / epsilon
        left, right = closed_form(float(np.exp(at * at / 2 - at * k))), closed_form(float(np.exp(-k * k / 2)))
        yield Point(f"ε = {epsilon:g}, k = {k:g}", left, right)


@claim("T.eq3")
def ratio_of_tails(budget: Budget) -> Points:
    """Return points for the event that the answer is at least 1 + z, with z at k standard deviations."""

    def largest(k: float) -> float:
        return max(float(log_ndtr(-k) - log_ndtr(-k - e)) / (e * k + e * e / 2) for e in (EPSILON, 1.0))

    return growing(np.arange(0, 4.5, 0.5), largest, lambda _: 1.0)


@claim("T.eq3 sampled")
def sampled_ratio(budget: Budget) -> Points:
    """Yield log q_y/q_x over s ε k, at most 2 for k ≤ 1/ε and at least 10 from 4/ε on, with ε = 0.1, s = 0.01."""
    p, q = exact.subsampled(Gaussian(1 / EPSILON), 1.0, SAMPLED)
    for k in (5.0, 10.0, 40.0, 80.0):
        at = 1 + k / EPSILON
        loss = closed_form(float(p.logsf(at) - q.logsf(at)) / (SAMPLED * EPSILON * k), 1e-9)
        if k <= 1 / EPSILON:
            yield Point(f"k = {k:g}: the loss is at most twice sεk", loss, constant(2.0))
        else:
            yield Point(f"k = {k:g}: it is at least ten times as much", constant(10.0), loss)
