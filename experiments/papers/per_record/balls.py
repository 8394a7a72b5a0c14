"""Per-record differential privacy, 2024."""

from fractions import Fraction
from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls import Says, confirms
from tcdp_sim.experiments.papers.balls.arithmetic import ball, between, flint
from tcdp_sim.experiments.papers.balls.divergences import expectation, renyi
from tcdp_sim.experiments.papers.balls.laws import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian

if TYPE_CHECKING:
    from flint import arb


@confirms("P.L4.1 A1 T4.4 proof step", Says.ABOVE)
def step_down_the_logarithm() -> "tuple[arb, arb]":
    """log(q + 1) - log(q' + 1) against log(q + Δ + 1) - log(q + 1): q = 10,070, q' = 70, Δ = 10,000."""
    return (ball(10071) / 71).log(), (ball(20071) / 10071).log()


@confirms("P.L4.1 A1 T4.4", Says.AT_MOST)
def step_up_the_logarithm() -> "tuple[arb, arb]":
    """(f(q' + Δ + 1) - f(q' + 1))²/2σ² of the logarithm against its policy at q' = 0: q' = 70, Δ = 10,000, σ = 2."""
    return (ball(10071) / 71).log() ** 2 / 8, ball(10001).log() ** 2 / 8


@confirms("P.5a", Says.APART)
def gaussian_as_printed() -> "tuple[arb, arb]":
    """D_8/8 of N(0, 4) at shift 5, by a certified integral, against Δ²/σ²."""
    return renyi(Gaussian(2), 5, 8) / 8, ball(Fraction(25, 4))


@confirms("P.5a repaired", Says.EQUAL)
def gaussian_repaired() -> "tuple[arb, arb]":
    """The same against Δ²/2σ²."""
    return renyi(Gaussian(2), 5, 8) / 8, ball(Fraction(25, 8))


@confirms("P.L5.2 one direction", Says.ABOVE)
def one_output() -> "tuple[arb, arb]":
    """D_1 of P[0] = 1 from Q[0] = e^-ε, which is ε, against ε tanh(ε/2): ε = 0.1."""
    epsilon = ball("0.1")
    return epsilon, epsilon * (epsilon / 2).tanh()


@confirms("P.L5.2", Says.AT_MOST)
def both_directions() -> "tuple[arb, arb]":
    """D_2/2 of randomised response against ε tanh(ε/2): ε = 0.1."""
    epsilon = ball("0.1")
    truth = 1 / (1 + (-epsilon).exp())
    moment = truth**2 / (1 - truth) + (1 - truth) ** 2 / truth
    return moment.log() / 2, epsilon * (epsilon / 2).tanh()


@confirms("P.C5.6", Says.AT_MOST)
def policy_of_power_one_half() -> "tuple[arb, arb]":
    """D_2/2 of generalised Gaussian noise, p = 1/2, Δ = σ = 3, against P tanh(P/2), P = 1."""
    return renyi(GeneralizedGaussian(3, "0.5"), 3, 2) / 2, ball("0.5").tanh()


@confirms("P.T3", Says.APART)
def variance_as_printed() -> "tuple[arb, arb]":
    """The variance at p = 1, d = 10, a = 4, σ = 1/2, by a certified integral, against the printed formula."""
    return _variance(), _table_3(1)


@confirms("P.T3 repaired", Says.EQUAL)
def variance_repaired() -> "tuple[arb, arb]":
    """The same against the formula with 2/(d - 2)."""
    return _variance(), _table_3(2)


def _variance() -> "arb":
    """Return E Z²; beyond the reach Z² <= σ²y², y = |Z|/σ + a, whose mean there is (d-1)/(d-3) a^(d-1) y^(3-d)."""
    scale, offset, rate, reach = ball("0.5"), 4, 10, ball(10) ** 12
    rest = scale**2 * (rate - 1) / (rate - 3) * ball(offset) ** (rate - 1) * (reach / scale + offset) ** (3 - rate)
    noise = ExponentialPolylogarithmic("0.5", 1, offset, rate)
    return expectation(noise, lambda x, _: x * x, reach, between(0, rest.upper()))


def _table_3(middle: int) -> "arb":
    """Return σ²a²(d-1) [1/(d-3) - middle/(d-2) + 1/(d-1)]."""
    return ball(4 * 9 * (Fraction(1, 7) - Fraction(middle, 8) + Fraction(1, 9)))


@confirms("P.C5.7 second derivative", Says.APART)
def second_derivative_as_printed() -> "tuple[arb, arb]":
    """f'' at z = 1 of p = 2, a = 3, d = 1, σ = 1/2, from the power series of f, against the printed form."""
    argument = flint().arb_series([ball(5), ball(2)], 3)  # |z|/σ + a around z = 1, as a series in z
    inside = argument.log()
    exact = -2 * (inside * inside)[2]
    bracket = 1 - ball(5).log()
    return exact, -2 / ball(25) * bracket
