"""Section 1: the privacy loss of Gaussian noise, with and without sampling."""

import numpy as np
from scipy.special import log_ndtr
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.tcdp.sides import growing

from tcdp_sim import exact
from tcdp_sim.calibration import calibrate
from tcdp_sim.claims import Evidence, Growth, Kind, Point, Proof, Verdict, constant
from tcdp_sim.exact import PrivacyLossDistribution
from tcdp_sim.noise import Gaussian
from tcdp_sim.numerics import closed_form
from tcdp_sim.privacy import ApproxDP

EPSILON, DELTA, SAMPLED = 0.1, 1e-6, 0.01


@claim("T.1a", kind=Kind.ASYMPTOTIC, section="1", expected=Verdict.CONSISTENT)
def larger_losses(budget: Budget) -> Evidence:
    """Gaussian noise that is exactly (1, 1e-6)-DP."""
    loss = PrivacyLossDistribution(calibrate("gaussian", ApproxDP(1.0, DELTA, "target")), 1.0)
    return Evidence(
        growing(
            np.arange(0, 5.5, 0.5), lambda k: float(-loss.logsf(k)), lambda k: float(k * k * np.log(1 / DELTA)), "k"
        ),
        measures="log 1/P[loss > kε] over k² log 1/δ, noise exactly (ε, δ)-DP with ε = 1, δ = 1e-6",
        universe="k ≥ 1, Gaussian noise",
        growth=Growth.AT_LEAST,
    )


@claim(
    "T.1a",
    part="after a failure",
    title="Once the loss of Gaussian noise exceeds ε, it most likely stays below 2ε",
    kind=Kind.INEQUALITY,
    section="1",
    expected=Verdict.HOLDS,
)
def loss_after_failure(budget: Budget) -> Evidence:
    """P[loss > 2ε given loss > ε]."""
    points = []
    for epsilon, delta in [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-6), (1.0, 1e-3), (1.0, 1e-12)]:
        loss = PrivacyLossDistribution(calibrate("gaussian", ApproxDP(epsilon, delta, "target")), 1.0)
        given = float(np.exp(loss.logsf(2 * epsilon) - loss.logsf(epsilon)))
        points.append(Point(f"ε = {epsilon:g}, δ = {delta:g}", closed_form(given), constant(0.5)))
    return Evidence(
        points, measures="P[loss > 2ε | loss > ε] of noise exactly (ε, δ)-DP, against 1/2", universe="small δ"
    )


@claim("T.eq1 eq2", kind=Kind.IDENTITY, section="1", expected=Verdict.HOLDS)
def generating_function(budget: Budget) -> Evidence:
    """By quadrature through a mixture of one, so that the noise's own closed form is not asked."""
    points = []
    for epsilon in (0.1, 1.0, 3.0):
        noise = exact.Mixture(Gaussian(1 / epsilon))
        for moment in (0.5, 1.0, 4.0, 16.0):
            left = exact.renyi_divergence_between(noise, exact.Mixture(Gaussian(1 / epsilon), (1.0,)), moment + 1)
            right = closed_form(epsilon**2 / 2 + epsilon**2 * moment / 2)
            points.append(Point(f"ε = {epsilon:g}, λ = {moment:g}", left, right))
    return Evidence(
        points,
        measures="(log E exp λZ)/λ by quadrature, against ε²/2 + ε²λ/2, which is (1) with equality (nats)",
        universe="λ > 0, ε > 0",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="the loss is N(ε²/2, ε²), whose moment generating function is the right side of (1)",
    )


@claim(
    "T.eq1 eq2",
    part="tail",
    title="The Gaussian loss exceeds its mean by kε with probability at most exp(-k²/2)",
    kind=Kind.INEQUALITY,
    section="1",
    expected=Verdict.HOLDS,
)
def tail(budget: Budget) -> Evidence:
    """Exactly."""
    points = []
    for epsilon in (0.1, 1.0):
        loss = PrivacyLossDistribution(Gaussian(1 / epsilon), 1.0)
        for k in (0.0, 0.5, 1.0, 3.0, 8.0, 20.0):
            left = closed_form(float(loss.sf(epsilon**2 / 2 + k * epsilon)), 1e-9)
            points.append(Point(f"ε = {epsilon:g}, k = {k:g}", left, closed_form(float(np.exp(-k * k / 2)))))
    return Evidence(
        points,
        measures="P[Z - ε²/2 > kε], against exp(-k²/2)",
        universe="k ≥ 0, ε > 0",
        proof=Proof.SYMBOLIC,
        why="Markov's inequality at λ = k",
    )


@claim(
    "T.eq1 eq2",
    part="minimiser",
    title="Markov's bound (2) is least at λ = k/ε, where it is exp(-k²/2)",
    kind=Kind.INEQUALITY,
    section="1",
    expected=Verdict.FALSE,
    erratum="E12",
    printed="This is minimized when λ = k/ε, yielding a probability bounded by exp(-k²/2)",
    correct="it is least at λ = k, where it is exp(-k²/2)",
    consequence="the value is right; at the printed λ the bound is above 1 for ε < 1/2",
)
def minimiser(budget: Budget) -> Evidence:
    """E exp((λ/ε)(Z - μ)) exp(-λk) = exp(λ²/2 - λk) at λ = k/ε."""
    points = []
    for epsilon, k in [(0.5, 1.0), (0.8, 2.0), (2.0, 2.0)]:
        at = k / epsilon
        left, right = closed_form(float(np.exp(at * at / 2 - at * k))), closed_form(float(np.exp(-k * k / 2)))
        points.append(Point(f"ε = {epsilon:g}, k = {k:g}", left, right))
    return Evidence(points, measures="the right side of (2) at λ = k/ε, against exp(-k²/2)", universe="k, ε > 0")


@claim("T.eq3", kind=Kind.ASYMPTOTIC, section="1", expected=Verdict.CONSISTENT)
def ratio_of_tails(budget: Budget) -> Evidence:
    """The event that the answer is at least 1 + z, z at k standard deviations."""
    return Evidence(
        growing(
            np.arange(0, 4.5, 0.5),
            lambda k: float(log_ndtr(-k) - log_ndtr(-k - EPSILON)),
            lambda k: EPSILON * k + EPSILON**2 / 2,
        ),
        measures="log P[A|y]/P[A|x] over εk + ε²/2, ε = 0.1 (nats)",
        universe="k > 0, ε > 0",
    )


@claim(
    "T.eq3",
    part="sampled",
    title="Sampling divides that loss by about 1/s until k is about 1/ε",
    kind=Kind.ORDERING,
    section="1",
    expected=Verdict.HOLDS,
)
def sampled_ratio(budget: Budget) -> Evidence:
    """log q_y/q_x over s ε k: at most 2 while k ≤ 1/ε, at least 10 from 4/ε on; ε = 0.1, s = 0.01."""
    p, q = exact.subsampled(Gaussian(1 / EPSILON), 1.0, SAMPLED)
    points = []
    for k in (5.0, 10.0, 40.0, 80.0):
        at = 1 + k / EPSILON
        loss = closed_form(float(p.logsf(at) - q.logsf(at)) / (SAMPLED * EPSILON * k), 1e-9)
        if k <= 1 / EPSILON:
            points.append(Point(f"k = {k:g}: the loss is at most twice sεk", loss, constant(2.0)))
        else:
            points.append(Point(f"k = {k:g}: it is at least ten times as much", constant(10.0), loss))
    return Evidence(
        points,
        measures="log of the sampled ratio over sεk, against 2 up to k = 1/ε and 10 from 4/ε on; ε = 0.1, s = 0.01",
        universe="k > 0",
    )
