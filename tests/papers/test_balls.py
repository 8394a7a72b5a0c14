"""Ball arithmetic for the papers: its helpers against mpmath, and what it confirms."""

import sys
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb, inf

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

from tcdp_sim.core.errors import UserError
from tcdp_sim.experiments.papers import claims
from tcdp_sim.experiments.papers.balls import CONFIRMED, SAYS, Says, confirms, in_floats, shown
from tcdp_sim.experiments.papers.balls.arithmetic import (
    ball,
    between,
    far_enough,
    finite_delta,
    flint,
    floats,
    integral,
    normal_cdf,
    normal_tail,
    responses_delta,
)
from tcdp_sim.experiments.papers.balls.divergences import expectation, hockey_stick, kullback_leibler, renyi
from tcdp_sim.experiments.papers.balls.laws import (
    ExponentialPolylogarithmic,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    Law,
    SinhNormal,
    SinhSquared,
)
from tcdp_sim.experiments.papers.judge.balls import are_apart
from tcdp_sim.experiments.papers.judge.evidence import Kind
from tcdp_sim.experiments.papers.judge.verdict import Verdict

MP = mpmath.mp.clone()
MP.dps = 30


@pytest.fixture(autouse=True)
def _many_bits():
    with flint().ctx.workprec(160):
        yield


def _normal(x):
    return MP.exp(-x * x / 2) / MP.sqrt(2 * MP.pi)


CLAIMS = claims()
# law -> its density from its definition, normalised by mpmath where it has to be, and points where a quadrature is cut
LAWS = {
    Gaussian("0.7"): (lambda x: _normal(x / MP.mpf("0.7")) / MP.mpf("0.7"), (0, 2, 8, 30)),
    Laplace("1.5"): (lambda x: MP.exp(-x / MP.mpf("1.5")) / 3, (0, 2, 10, 60, 200)),
    GeneralizedGaussian(2, "0.5"): (lambda x: MP.exp(-MP.sqrt(x / 2)) / 8, (0, 0.01, 1, 10, 100, 1e3, 1e4, 2e4)),
    ExponentialPolylogarithmic(1, 1, 2, 5): (lambda x: 32 * (x + 2) ** -5, (0, 1, 10, 100, 1e4, inf)),
    ExponentialPolylogarithmic("0.5", 2, 3, 1): (
        lambda x: MP.exp(-(MP.log(2 * x + 3) ** 2)) / _polylogarithmic_mass(),
        (0, 1, 10, 100, 1e4, 1e6, inf),
    ),
    SinhNormal(2, 5): (lambda x: _normal(MP.sinh(x / 5) * 5 / 2) * MP.cosh(x / 5) / 2, (0, 3, 10, 20, 28)),
    SinhNormal(4, 1): (lambda x: _normal(MP.sinh(x) / 4) * MP.cosh(x) / 4, (0, 1, 3, 5, 6)),
    SinhSquared(2, 5): (lambda x: MP.exp(-25 / MP.mpf(8) * MP.sinh(x / 5) ** 2) / _sinh_mass(), (0, 3, 10, 20, 28)),
}
NAMED = {f"{type(law).__name__}-{i}": (law, *LAWS[law]) for i, law in enumerate(LAWS)}


@cache
def _polylogarithmic_mass():
    return 2 * MP.quad(lambda x: MP.exp(-(MP.log(2 * x + 3) ** 2)), [0, 1, 10, 100, 1e4, 1e6, inf])


@cache
def _sinh_mass():
    return 2 * MP.quad(lambda x: MP.exp(-25 / MP.mpf(8) * MP.sinh(x / 5) ** 2), [0, 3, 10, 20, 28])


def _holds(number, value, digits=18):
    """Whether a ball is narrow and within that many digits of mpmath's number, which has an error of its own."""
    low, high = (MP.mpf(end.str(40, radius=False)) for end in (number.lower(), number.upper()))
    slack = MP.mpf(10) ** -digits * abs(value)
    return low - slack <= value <= high + slack and high - low < slack


@pytest.mark.parametrize("name", NAMED)
def test_a_law_has_its_density_and_its_tail(name):
    law, density, cuts = NAMED[name]
    log_density = law.log_density()
    for x in ("0.125", "1", "3.5"):
        value = log_density(flint().acb(x), False).exp().real
        assert _holds(value, density(MP.mpf(x)))
    mass = MP.quad(density, [2, *[cut for cut in cuts if cut > 2]])
    tail = law.tail(ball(2))
    if isinstance(law, SinhSquared):
        assert tail.contains(0)  # a bound
        assert mass <= floats(tail)[2] < 3 * mass
    else:
        assert _holds(tail, mass)
    assert abs(2 * MP.quad(density, list(cuts)) - 1) < MP.mpf("1e-12")


@pytest.mark.parametrize("name", NAMED)
def test_divergences_against_mpmath(name):
    law, density, ends = NAMED[name]
    shift, order = MP.mpf("0.5"), MP.mpf("1.4")
    ends = [end for end in ends if end > 0.5]
    cuts = [*(-end for end in reversed(ends)), 0, 0.5, *ends]

    def loss(x):
        return MP.log(density(abs(x)) / density(abs(x - shift)))

    moment = MP.quad(lambda x: density(abs(x)) * MP.exp((order - 1) * loss(x)), cuts)
    mean = MP.quad(lambda x: density(abs(x)) * loss(x), cuts)
    assert _holds(renyi(law, "0.5", "1.4"), MP.log(moment) / (order - 1), 8)
    assert _holds(kullback_leibler(law, "0.5"), mean, 8)
    roots = _roots(lambda x: float(loss(x)) - 0.1, [cut for cut in cuts if abs(cut) < 1e6])
    pieces = np.unique([float(cut) for cut in cuts] + roots)
    gained = [MP.quad(lambda x: density(abs(x)) * (1 - MP.exp(MP.mpf("0.1") - loss(x))), p) for p in pairwise(pieces)]
    assert _holds(hockey_stick(law, "0.5", "0.1", "1e-12"), sum(part for part in gained if part > 0), 7)


def _roots(function, cuts):
    """Where it changes its sign: to a float, which is enough where a difference of densities is integrated to there."""
    grid = np.unique(np.concatenate([np.linspace(float(a), float(b), 60)[1:-1] for a, b in pairwise(cuts)]))
    values = [function(x) for x in grid]
    return [
        brentq(function, *grid[i : i + 2], xtol=1e-14) for i in range(len(grid) - 1) if values[i] * values[i + 1] < 0
    ]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("rest", ["0.05", "1e-4"])
def test_what_is_left_out_is_counted(name, rest):
    law = NAMED[name][0]
    for divergence in (renyi, hockey_stick):
        coarse, fine = divergence(law, "0.5", "1.4", rest), divergence(law, "0.5", "1.4", "1e-9")
        if divergence is hockey_stick:
            coarse, fine = (hockey_stick(law, "0.5", "0.1", left_out) for left_out in (rest, "1e-9"))
        assert coarse.overlaps(fine)
        assert coarse.rad() > 1000 * fine.rad()  # else the test says nothing
        assert fine.mid() > coarse.lower() + (coarse.upper() - coarse.lower()) / 100  # what is left out is no trifle
    coarse, fine = (kullback_leibler(law, "0.5", left_out) for left_out in (rest, "1e-9"))
    assert coarse.overlaps(fine)


EVERY_ORDER = [SinhNormal(3, 10), SinhSquared(3, 10), Gaussian(1), Laplace(1)]


@pytest.mark.parametrize(
    ("law", "order"),
    [(SinhNormal(4, 2), "1.001"), *((law, order) for law in EVERY_ORDER for order in ("1.001", "2", "4"))],
    ids=repr,
)
def test_the_bound_of_both_tails_is_above_their_integral(law: Law, order):
    """The tails from two reaches on, which a larger reach turns into an integral."""
    a, log_density = ball(order), law.log_density()
    far = 40.0 if not isinstance(law, SinhNormal) else 4.5 * float(law.knee)
    tried = 0
    for reach in (2.0, 6.0, 12.0, 20.0):
        bound = law.tilted_tails(ball(reach), ball(1), a)

        def left(x, _):
            return (a * log_density(x, False) + (1 - a) * log_density(x + 1, False)).exp()

        def right(x, _):
            return (a * log_density(x + 1, False) + (1 - a) * log_density(x, False)).exp()

        inside = sum(integral(f, [ball(reach), ball(far)]) for f in (left, right))
        if bound.is_finite():
            tried += 1
            assert bound.upper() >= inside.lower()
    assert tried >= 2


def test_orders_beyond_the_largest_have_no_bound():
    law = SinhNormal(3, 10)
    largest = 1 / (1 - (ball(-2) / 10).exp())
    with pytest.raises(ValueError, match="is not below"):
        renyi(law, 1, largest + 1)


def test_normal_probabilities():
    for x in ("-3", "0", "0.5", "8", "38"):
        assert _holds(normal_tail(x), MP.erfc(MP.mpf(x) / MP.sqrt(2)) / 2)
        assert _holds(normal_cdf(x), MP.ncdf(MP.mpf(x)))


def test_expectation_of_a_square():
    noise = Laplace(2)
    reach = 400
    rest = 2 * (ball(-reach) / 2).exp() * (reach**2 + 4 * reach + 8) / 2  # of x²/2 e^(-x/2)/2, twice
    assert _holds(expectation(noise, lambda x, _: x * x, reach, between(0, rest)), MP.mpf(8))


def test_responses_against_fractions():
    """e^epsilon = 2, e^total = 4: the sum over outcomes in exact fractions."""
    for k in (1, 5, 40):
        chances = [Fraction(comb(k, j) * 2**j, 3**k) for j in range(k + 1)]
        exact = sum(c * max(0, 1 - Fraction(4) / Fraction(2) ** (2 * j - k)) for j, c in enumerate(chances))
        value = responses_delta(k, ball(2).log(), ball(4).log())
        assert abs(floats(value)[1] - float(exact)) < 1e-12
        assert value.rad() < 1e-12


def test_finite_delta():
    third = Fraction(1, 3)
    assert finite_delta([third, 1 - third], [1 - third, third], Fraction(3, 2)).overlaps(ball(Fraction(1, 6)))


def test_floats_are_rounded_outwards():
    for number in (ball(1) / 3, ball("1e-400"), ball("-1e-400"), ball("1e400"), ball("0.1"), between(1, 2), ball(2)):
        low, middle, high = floats(number)
        assert ball(low) <= number.lower()
        assert number.upper() <= ball(high)
        assert low <= middle <= high
    assert floats(ball("1e-400")) == (0.0, 0.0, 5e-324)
    assert floats(ball(2)) == (2.0, 2.0, 2.0)
    low, _, high = floats(ball(1) / 3)
    assert high - low < 1e-16


def test_given_numbers_are_exact_or_enclosed():
    assert not ball(0.1).overlaps(ball("0.1"))  # a float is what it is


def test_a_tail_that_does_not_end_is_refused():
    with pytest.raises(ValueError, match="is not below"):
        far_enough(lambda reach: ball(1), "0.5")


def test_without_the_extra_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    for call in (lambda: normal_tail(1), lambda: ball(1), CONFIRMED["Z.6.1e"], lambda: renyi(Gaussian(1), 1, 2)):
        with pytest.raises(UserError, match=r"pip install 'tcdp_sim\[rigorous\]'"):
            call()


@pytest.mark.parametrize("identity", CONFIRMED)
def test_sides_are_as_said(identity):
    left, right = CONFIRMED[identity]()
    assert shown(SAYS[identity], left, right), f"{left} {SAYS[identity]} {right}"
    assert CONFIRMED[identity].__doc__


def test_what_is_called_false_is_confirmed():
    wrong = {one for one, claim in CLAIMS.items() if claim.expected in (Verdict.FALSE, Verdict.INCONSISTENT)}
    assert wrong <= CONFIRMED.keys()


def test_what_is_confirmed_is_what_the_page_says():
    """Balls that refute belong to a claim with the verdict false, and no other balls do."""
    assert CONFIRMED.keys() <= CLAIMS.keys()
    for identity in CONFIRMED:
        refuted = SAYS[identity] in (Says.ABOVE, Says.APART)
        assert refuted == (CLAIMS[identity].expected in (Verdict.FALSE, Verdict.INCONSISTENT)), identity


@pytest.mark.parametrize("identity", ["Z.6.1e", "T.C18p", "T.C18p proof's noise"])
def test_floats_on_the_page_contain_the_balls(identity):
    point, (left, right) = in_floats(CONFIRMED[identity]), CONFIRMED[identity]()
    for side, number in ((point.left, left), (point.right, right)):
        assert ball(side.lower) <= number.lower()
        assert ball(side.upper) >= number.upper()
    assert are_apart(Kind.INEQUALITY, point) == (SAYS[identity] is Says.ABOVE)


def test_shown_needs_balls_that_are_apart():
    wide, one = between(0, 2), ball(1)
    assert not any(shown(says, wide, one) for says in Says)
    assert shown(Says.ABOVE, ball(2), one)
    assert not shown(Says.ABOVE, one, ball(2))
    assert shown(Says.APART, one, ball(2))
    assert shown(Says.AT_MOST, one, ball(2))
    assert not shown(Says.AT_MOST, ball(2), one)
    assert shown(Says.EQUAL, one, ball(1))
    assert not shown(Says.EQUAL, one, ball(2))


def test_one_point_a_claim():
    with pytest.raises(ValueError, match="confirmed already"):
        confirms("Z.6.1e", Says.ABOVE)(lambda: (ball(1), ball(0)))
