"""Bun, Dwork, Rothblum, Steinke 2018: Composable and versatile privacy via truncated CDP."""

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls import Says, confirms
from tcdp_sim.experiments.papers.balls.arithmetic import (
    Given,
    ball,
    between,
    flint,
    integral,
    largest,
    normal_cdf,
    normal_tail,
)
from tcdp_sim.experiments.papers.balls.divergences import renyi
from tcdp_sim.experiments.papers.balls.laws import Gaussian, SinhNormal, SinhSquared
from tcdp_sim.experiments.papers.zcdp.balls import two_outcomes

if TYPE_CHECKING:
    from flint import acb, arb

ORDERS = ("1.0001", "1.1", "3", "8", "12", "12.49", "12.4999")  # orders of the window below omega = 12.5


@confirms("T.eq1 eq2 minimiser", Says.ABOVE)
def printed_minimiser() -> "tuple[arb, arb]":
    """exp(λ²/2 - λk) at λ = k/ε against exp(-k²/2): ε = 1/2, k = 1."""
    return ball(0).exp(), (-ball("0.5")).exp()


@confirms("T.eq1 eq2 tail", Says.AT_MOST)
def minimum_of_markov() -> "tuple[arb, arb]":
    """P[Z - ε²/2 > kε] against exp(-k²/2) at k = 1: the Gaussian tail, whatever ε."""
    return normal_tail(1), (-ball("0.5")).exp()


@confirms("T.P3 outside", Says.ABOVE)
def sampling_at_large_rho() -> "tuple[arb, arb]":
    """D_2/(2ρs²) of sampled Gaussian noise against 13: ρ = 5, s = 1e-40, where log(1/s)/ρ = 18.4; log(1/s)/4ρ = 4.6."""
    return sampled_gaussian("5", "1e-40", 2), ball(13)


@confirms("T.P3 repaired", Says.AT_MOST)
def sampling_at_rho_one() -> "tuple[arb, arb]":
    """The same at ρ = 1, s = 1e-4."""
    return sampled_gaussian("1", "1e-4", 2), ball(13)


def sampled_gaussian(rho: Given, share: Given, order: int) -> "arb":
    """Return D_order(sP + (1-s)Q || Q) / (order ρs²) of Gaussians, by the binomial theorem.

    The mean of (1 - s + s e^L)^a under Q is the sum of C(a, k) (1-s)^(a-k) s^k e^(k(k-1)ρ), and the chances sum to 1.
    """
    rho, s = ball(rho), ball(share)
    chances = (flint().arb.bin_uiui(order, k) * (1 - s) ** (order - k) * s**k for k in range(2, order + 1))
    excess = sum((chance * (k * (k - 1) * rho).expm1() for k, chance in enumerate(chances, 2)), ball(0))
    return excess.log1p() / (order - 1) / (order * rho * s**2)


@confirms("T.1.2a", Says.APART)
def reflected_arsinh() -> "tuple[arb, arb]":
    """arsinh(-y) against arsinh(y) at y = 10."""
    return ball(-10).asinh(), ball(10).asinh()


@confirms("T.1.2a odd", Says.EQUAL)
def odd_arsinh() -> "tuple[arb, arb]":
    """log(-y + √(y² + 1)) against -arsinh(y) at y = 10."""
    return (ball(-10) + ball(101).sqrt()).log(), -ball(10).asinh()


@confirms("T.1.2b repaired", Says.AT_MOST)
def gaussian_before_the_knee() -> "tuple[arb, arb]":
    """The same at x = ωΔ/√m, m = 4."""
    return _density_ratio(4, "0.5"), ball(2)


def _density_ratio(m: Given, share: Given) -> "arb":
    """Return the ratio at x = share knee, for knee/scale = √2 m: e^(-m²(u² - sinh² u)) / cosh u at u = share."""
    m, u = ball(m), ball(share)
    return (m**2 * (u.sinh() ** 2 - u**2)).exp() / u.cosh()


@confirms("T.1.2d at useful k", Says.AT_MOST)
def maxima_by_theorem_17() -> "tuple[arb, arb]":
    """Median of the largest of k = 1000 errors: Gaussian noise against sinh-normal by Theorem 17, ρ = 0.01, ω = 5."""
    z, rho, omega = _median_of_largest(1000), ball("0.01"), 5
    knee = ball(8 * omega)
    return z / (2 * rho).sqrt(), knee * ((8 / rho).sqrt() / knee * z).asinh()


@confirms("T.1.2g all k", Says.AT_MOST)
def form_of_proposition_5() -> "tuple[arb, arb]":
    """50 times Corollary 27's bound against ω log(1 + √(log k/ρ)/ω): ω = 11.45, ρ = 0.1, k = 1e12."""
    omega, rho, log_k = ball("11.45"), ball("0.1"), 12 * ball(10).log()
    return 50 * _corollary_27(omega, rho, log_k), omega * (1 + (log_k / rho).sqrt() / omega).log()


@confirms("T.1.3e", Says.ABOVE)
def tail_of_two_outputs() -> "tuple[arb, arb]":
    """P[Z > 2ε]/δ against 10 at ε = 0.01, δ = 1e-6, two outputs."""
    rare, spent, _ = two_outcomes("0.01")
    return rare / spent, ball(10)


@confirms("T.3b", Says.ABOVE)
def right_half_of_condition_5() -> "tuple[arb, arb]":
    """(ω' - 2) s exp(ρω') at ω' = log(1/s)/2ρ against 1: ρ = s = 0.01."""
    return _right_half("0.01", "0.01"), ball(1)


@confirms("T.3b repaired", Says.AT_MOST)
def right_half_of_condition_5_repaired() -> "tuple[arb, arb]":
    """The same at ρ = 0.1, s = 9.2e-4."""
    return _right_half("0.1", "9.2e-4"), ball(1)


@confirms("T.3.1c step", Says.ABOVE)
def right_half_at_another_order() -> "tuple[arb, arb]":
    """The same at ω' twice the order log(1/s)/3ρ + 1/2: ρ = 0.1, s = 1.867e-5."""
    rho, s = ball("0.1"), ball("1.867e-5")
    omega = 2 * (-s.log() / (3 * rho) + ball("0.5"))
    return (omega - 2) * s * (rho * omega).exp(), ball(1)


@confirms("T.3.1b step", Says.ABOVE)
def order_above_the_bound() -> "tuple[arb, arb]":
    """The order 691 against log(1/s)/(ρ(1 - 10 s²)): ρ = 0.01, s = 1e-3."""
    s = ball("1e-3")
    return ball(691), -s.log() / (ball("0.01") * (1 - 10 * s**2))


def _right_half(rho: Given, share: Given) -> "arb":
    rho, s = ball(rho), ball(share)
    omega = -s.log() / (2 * rho)
    return (omega - 2) * s * (rho * omega).exp()


@confirms("T.1.2b printed", Says.ABOVE)
def densities_at_the_knee() -> "tuple[arb, arb]":
    """The Gaussian density over the sinh-normal one at x = ωΔ against 2: m = ω√ρ = 4."""
    m, one = ball(4), ball(1)
    z = one.sinh() * m * ball(2).sqrt()  # the normal quantile at which sinh-normal noise equals its knee
    return (z**2 / 2 - m**2).exp() / one.cosh(), ball(2)


@confirms("T.3c", Says.AT_MOST)
def constant_13() -> "tuple[arb, arb]":
    """The same against 13."""
    return _proved("0.1"), ball(13)


def _proved(rho: Given) -> "arb":
    rho = ball(rho)
    return 4 * (2 * rho).expm1() / rho + ball(1).exp()


@confirms("T.4a", Says.ABOVE)
def laplace_of_that_deviation() -> "tuple[arb, arb]":
    """δ(ε) of Laplace noise of standard deviation 1/ε on ±log(1/δ)/ε against δ = 1e-6: ε = 2."""
    epsilon, delta = ball(2), ball("1e-6")
    return _truncated_laplace(1 / (ball(2).sqrt() * epsilon), -delta.log() / epsilon, epsilon), delta


@confirms("T.4a repaired", Says.AT_MOST)
def laplace_of_that_scale() -> "tuple[arb, arb]":
    """δ(ε) of Laplace noise of scale 1/ε on 1.1 times the least support against δ = 1e-6: ε = 2."""
    epsilon, delta = ball(2), ball("1e-6")
    least = (1 + epsilon.expm1() / (2 * delta)).log() / epsilon
    return _truncated_laplace(1 / epsilon, ball("1.1") * least, epsilon), delta


def _truncated_laplace(scale: "arb", bound: "arb", epsilon: "arb") -> "arb":
    """Return δ(ε) at shift 1: the loss (|x - 1| - |x|)/b falls with x, and exceeds ε up to c = (1 - εb)/2.

    P[Z <= c] - e^ε P[Z <= c - 1], 0 <= c < 1/2. For εb = 1 the loss is ε up to 0, and any c in (1 - bound, 0) does.
    """
    mass = 1 - (-bound / scale).exp()

    def below(x: "arb") -> "arb":  # P[Z <= x], -bound <= x <= 0
        return ((x / scale).exp() - (-bound / scale).exp()) / (2 * mass)

    c = (1 - epsilon * scale) / 2
    if not c > 0:  # all of the excess lies where Q has no mass
        return below(1 - bound)
    return 1 - below(-c) - epsilon.exp() * below(c - 1)


@confirms("T.C18p proof's noise", Says.ABOVE)
def noise_of_the_proof() -> "tuple[arb, arb]":
    """2 D_a/(ρa) of the proof's sinh-normal noise against 1: ω√ρ = 1/8, ρ = 1e-4, a = 12.49 < ω = 12.5."""
    return _two_bins(SinhNormal(400, 100), "12.49", "1e-4"), ball(1)


@confirms("T.C18p", Says.AT_MOST)
def noise_that_makes_it_hold() -> "tuple[arb, arb]":
    """The largest 2 D_a/(ρa) at seven orders of noise e^(-2ω²ρ sinh²(t/8ω)) against 0.97: ω√ρ = 1/8, ρ = 1e-4."""
    noise = SinhSquared(400, 100)  # scale 4/√ρ, knee 8ω
    return largest(_two_bins(noise, order, "1e-4") for order in ORDERS), ball("0.97")


@confirms("T.C18p repaired", Says.AT_MOST)
def noise_where_it_is_proved() -> "tuple[arb, arb]":
    """2 D_a/(ρa) of sinh-normal noise against 1 at ω√ρ = √½, ρ = 1e-4, a = 70.7 < ω."""
    omega = ball(5000).sqrt()
    return _two_bins(SinhNormal(400, 8 * omega), "70.7", "1e-4"), ball(1)


def _two_bins(noise: SinhNormal, order: Given, rho: Given) -> "arb":
    return 2 * renyi(noise, 1, order) / (ball(order) * ball(rho))


@confirms("T.T20 privacy", Says.ABOVE)
def selection_by_one_query() -> "tuple[arb, arb]":
    """D_8 of Algorithm 21 against two-fold composition of N(0, 4²): k = 1000, a gap of 2 and a tie."""
    k, order, noise = 1000, 8, Gaussian(4)
    density = noise.log_density()

    def leads(z: "acb", analytic: bool) -> "acb":
        below = (-(z + 2) / (4 * ball(2).sqrt())).erfc() / 2
        return (density(z, analytic) + (k - 1) * below.log(analytic=analytic)).exp()

    reach = ball(80)
    beyond = between(0, 2 * noise.tail(reach).upper())  # the integrand is at most the density
    p, q = integral(leads, [-reach, reach]) + beyond, 1 / ball(k)
    moment = p**order * q ** (1 - order) + (k - 1) * ((1 - p) / (k - 1)) ** order * q ** (1 - order)
    return moment.log() / (order - 1), ball(Fraction(order, 16))


@confirms("T.5.2b", Says.ABOVE)
def algorithm_22_at_that_gap() -> "tuple[arb, arb]":
    """P[Algorithm 22 fails] against 0.05: Gaussian noise, σ = 10, k = 1e9, P[|X| ≥ gap/2] = 0.01/k."""
    k = ball(10) ** 9
    half_gap = 10 * _normal_quantile(ball("0.005") / k)
    return normal_cdf(_normal_quantile(1 / k) - (half_gap - 1) / 10), ball("0.05")


@confirms("T.A22 T.5.2a", Says.AT_MOST)
def algorithm_22_at_its_gap() -> "tuple[arb, arb]":
    """P[Algorithm 22 fails] against 1/k at the gap 4t + 4, two above the least: σ = 10, k = 1e6."""
    k = ball(10) ** 6
    t = 10 * _normal_quantile(1 / k)
    return normal_cdf((t - (2 * t + 1)) / 10), 1 / k


def _normal_quantile(tail: "arb") -> "arb":
    """Return z with P[N > z] = tail."""
    return ball(2).sqrt() * (1 - 2 * tail).erfinv()


def _median_of_largest(count: Given) -> "arb":
    """Return the median of the largest |N| of `count` normal draws."""
    return _normal_quantile((1 - (-ball(2).log() / ball(count)).exp()) / 2)


@confirms("T.P24", Says.APART)
def right_answers() -> "tuple[arb, arb]":
    """The right answers among all: 16 data sets of two records in [4], j = 1 to 5, f = q_j."""
    return _right_answers(1)


@confirms("T.P24 repaired", Says.EQUAL)
def right_answers_of_shares() -> "tuple[arb, arb]":
    """The same with f = q_j/2."""
    return _right_answers(2)


def _right_answers(divisor: int) -> "tuple[arb, arb]":
    right = []
    for one, other in product(range(1, 5), repeat=2):
        f = [Fraction((one <= j) + (other <= j), divisor) for j in range(5)] + [Fraction(1)]
        right += [(f[j] > 0 and f[j - 1] < 1) == (min(one, other) <= j <= max(one, other)) for j in range(1, 6)]
    return ball(sum(right)), ball(len(right))


@confirms("T.5.3e", Says.ABOVE)
def jump_between_children() -> "tuple[arb, arb]":
    """f(x, 2) - f(x, 1) of a jump at leaf 2 against 4/5; its children have f(1) - f(1) = f(2) - f(2) = 0 < 2/5."""
    return ball(1), ball(Fraction(4, 5))


@confirms("T.5.3e repaired", Says.AT_MOST)
def children_add_up() -> "tuple[arb, arb]":
    """The node above children of 3/10 each, steps of 1/10, against 4/5: with f(x, j1 - 1) the values add up."""
    return 2 * ball(Fraction(3, 10)), ball(Fraction(4, 5))


@confirms("T.6c", Says.AT_MOST)
def corollary_27_is_tight() -> "tuple[arb, arb]":
    """The printed upper bound against 50 times Corollary 27: ω = 2, ρ = 0.3133, log k = 8.263."""
    omega, rho, log_k = ball(2), ball("0.3133"), ball("8.263")
    most = 16 * omega * ((log_k + ball(2).log()) / (2 * omega**2 * rho)).sqrt().asinh()
    return most, 50 * _corollary_27(omega, rho, log_k)


@confirms("T.6c repaired", Says.AT_MOST)
def sharper_bound_is_tight() -> "tuple[arb, arb]":
    """The same against 8 times max{log(1 + log(k/4)/2ω(ω-1)ρ)/log(ω/(ω-1)), min(ω, √(log(k/4)/2ρ))}."""
    omega, rho, k = ball("11.45"), ball("0.1"), ball(10) ** 12
    told = (k / 4).log()
    grown = (1 + told / (2 * omega * (omega - 1) * rho)).log() / (omega / (omega - 1)).log()
    return _records(omega, rho, k), 8 * grown.max(omega.min((told / (2 * rho)).sqrt()))


def _corollary_27(omega: "arb", rho: "arb", log_k: "arb") -> "arb":
    """Return (ω - 1) log(log(k/4)/2ω²ρ)."""
    return (omega - 1) * ((log_k - ball(4).log()) / (2 * omega**2 * rho)).log()


def _records(omega: "arb", rho: "arb", k: "arb") -> "arb":
    """Return twice the median of the largest error: Gaussian noise or Corollary 18's, whichever takes less."""
    z = _median_of_largest(k)
    knee = 8 * omega
    sinh_normal = knee * (4 / rho.sqrt() / knee * z).asinh()
    return 2 * sinh_normal.min(z / rho.sqrt())
