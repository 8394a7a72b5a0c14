"""Section 6.1: one-way marginals, the means of d bits."""

import numpy as np
from tcdp_sim.experiments.papers.registry import Budget, claim
from tcdp_sim.experiments.papers.zcdp.sides import scaled

from tcdp_sim import bounds, exact
from tcdp_sim.claims import Evidence, Growth, Kind, Point, Proof, Verdict
from tcdp_sim.noise import Gaussian, Laplace
from tcdp_sim.numerics import closed_form, integrate
from tcdp_sim.privacy import ZCDP

RHO, EPSILON, N = 0.1, 0.5, 1000.0
DIGITS = (1, 2, 3, 6, 12, 30, 100, 200, 300)  # of d
SHARE = 0.1


def gaussian(d: float, n: float) -> Gaussian:
    """The printed noise in each of d means of n bits, N(0, d/2n²ρ); in units of one mean."""
    return Gaussian(float(np.sqrt(d / (2 * n**2 * RHO))))


@claim(
    "Z.6.1a",
    kind=Kind.ASYMPTOTIC,
    section="1.2, 6.1",
    expected=Verdict.INCONSISTENT,
    erratum="E33",
    printed="d marginals are accurate from n = Θ(√(d/ρ)) records on by Gaussian noise, from Θ(d/ε) by Laplace noise",
    correct="so they are on average; the largest error, that of Theorem 11, takes √(d log d/ρ) and d log(d)/ε",
    consequence="at a million marginals a mean largest error α takes 3.5 √(d/ρ)/α records, and ever more as d grows",
)
def largest_error(budget: Budget) -> Evidence:
    """The error is that of Theorem 11, whose tightness this is said to show: the largest of all."""
    points = []
    for digits in DIGITS:
        d = 10.0**digits
        error = mean_largest(gaussian(d, N), d)
        points.append(Point(f"d = 1e{digits}", scaled(error, N), closed_form(float(np.sqrt(d / RHO))), at=digits))
    measures = "n times the mean of the largest error, which is what a mean error of one takes, over √(d/ρ)"
    return Evidence(points, measures=measures, universe="Gaussian noise N(0, d/2n²ρ), d → ∞", growth=Growth.AT_MOST)


@claim(
    "Z.6.1a",
    part="Laplace",
    title="Laplace noise gives d marginals with a small largest error from n of the order d on",
    kind=Kind.ASYMPTOTIC,
    section="1.2",
    expected=Verdict.INCONSISTENT,
    erratum="E33",
)
def largest_laplace_error(budget: Budget) -> Evidence:
    """One record moves all d means by up to 1/n, so the scale is d/εn; the largest of d has d H_d/εn on average."""
    points = []
    for digits in DIGITS[:-2]:
        d = 10.0**digits
        error = mean_largest(Laplace(d / (N * EPSILON)), d)
        points.append(Point(f"d = 1e{digits}", scaled(error, N), closed_form(d / EPSILON), at=digits))
    measures = "n times the mean of the largest error, which is what a mean error of one takes, over d/ε"
    return Evidence(points, measures=measures, universe="Laplace noise of scale d/εn, d → ∞", growth=Growth.AT_MOST)


def mean_largest(noise: Gaussian | Laplace, count: float) -> exact.Bounds:
    """The mean of the largest absolute value of `count` draws: the integral of its tail."""
    edges = [float(exact.max_abs_quantile(noise, count, q).estimate) for q in (1e-12, 0.01, 0.5, 0.99, 1 - 1e-12)]
    total = integrate(lambda x: exact.max_abs_sf(noise, count, x).estimate, [0.0, *edges, 2 * edges[-1]], 1e-11)
    return exact.Bounds(total.lower * (1 - 1e-10), total.estimate, total.upper * (1 + 1e-10))


@claim(
    "Z.6.1a",
    part="average",
    title="The average error of d marginals is √(d/πρ)/n by Gaussian noise, d/εn by Laplace noise",
    kind=Kind.IDENTITY,
    section="6.1",
    expected=Verdict.HOLDS,
)
def average_error(budget: Budget) -> Evidence:
    """By quadrature of the tail; exactly in proportion to the form, whatever d is."""
    points = []
    for digits in (0, 2, 6):
        d = 10.0**digits
        normal = _mean_size(gaussian(d, N))
        points.append(Point(f"Gaussian, d = 1e{digits}", normal, closed_form(float(np.sqrt(d / (np.pi * RHO)) / N))))
        heavy = _mean_size(Laplace(d / (N * EPSILON)))
        points.append(Point(f"Laplace, d = 1e{digits}", heavy, closed_form(d / (N * EPSILON))))
    return Evidence(
        points,
        measures="mean error of one marginal at n = 1000, against √(d/ρ)/(√π n) and d/(εn)",
        universe="Gaussian noise N(0, d/2n²ρ), Laplace noise of scale d/εn, d ≥ 1",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="the mean size of N(0, σ²) is σ√(2/π), that of Laplace noise its scale",
    )


def _mean_size(noise: Gaussian | Laplace) -> exact.Bounds:
    """E |Z| as the integral of P[|Z| > x]."""
    far = float(noise.isf(1e-30))
    return integrate(lambda x: 2 * noise.sf(x), np.linspace(0, far, 17), relative=1e-11)


@claim(
    "Z.6.1a",
    part="privacy",
    title="N(0, d/2n²ρ) in each of d marginals is ρ-zCDP",
    kind=Kind.IDENTITY,
    section="6.1",
    expected=Verdict.HOLDS,
)
def privacy_of_marginals(budget: Budget) -> Evidence:
    """One record substituted moves every mean by up to 1/n; by quadrature."""
    points = []
    for d in (1.0, 100.0, 1e6):
        noise = gaussian(d, N)
        for order in (1.0, 2.0, 16.0):
            one = exact.renyi_divergence_between(exact.Mixture(noise), exact.Mixture(noise, (1 / N,)), order)
            points.append(Point(f"d = {d:g}, α = {order:g}", scaled(one, d), closed_form(RHO * order)))
    return Evidence(
        points,
        measures="d times D_α of one marginal that moves by 1/n, against ρα (nats)",
        universe="d, n ≥ 1, ρ > 0",
        tolerance=1e-8,
        proof=Proof.IDENTITY,
        why="d α (1/n)²/(2 d/2n²ρ) = ρα",
    )


@claim("Z.6.1b", kind=Kind.ASYMPTOTIC, section="6.1", expected=Verdict.CONSISTENT)
def marginals_need(budget: Budget) -> Evidence:
    """Fano's bound with 90% of the bits told, over the form."""
    points = []
    for digits in (1, 3, 6, 30, 100, 300):
        needed = closed_form(bounds.marginals_records(ZCDP(RHO), 10.0**digits, SHARE))
        points.append(Point(f"d = 1e{digits}", needed, closed_form(float(np.sqrt(10.0**digits / RHO))), at=digits))
    measures = "n that every mechanism needs to tell 90% of d bits over √(d/ρ), ρ = 0.1"
    return Evidence(points, measures=measures, universe="ρ-zCDP, d → ∞", growth=Growth.AT_LEAST)


@claim(
    "Z.6.1b",
    part="constant",
    title="Fano's bound on the bits that d marginals tell, beside those that Gaussian noise tells",
    kind=Kind.INEQUALITY,
    section="6.1",
    expected=Verdict.HOLDS,
)
def marginals_tell(budget: Budget) -> Evidence:
    """n equal records of random bits; the noisy means, rounded, miss each bit with probability Φ(-1/2σ)."""
    points = []
    for d in (10.0, 1e6):
        for n in (0.3, 1.0, 3.0):
            missed = float(gaussian(d, n * np.sqrt(d / RHO)).sf(0.5))
            needed = closed_form(bounds.marginals_records(ZCDP(RHO), d, missed))
            taken = closed_form(float(n * np.sqrt(d / RHO)))
            points.append(Point(f"d = {d:g}, {n:g} √(d/ρ) records, {missed:.3g} of the bits missed", needed, taken))
    return Evidence(
        points,
        measures="n that every mechanism needs for this share of bits, against n (records)",
        universe="ρ-zCDP, d ≥ 1",
        proof=Proof.SYMBOLIC,
        why="I ≤ ρn² (Proposition 28), and d bits told up to a share p take d(log 2 - h(p)) nats, as h is concave",
    )
