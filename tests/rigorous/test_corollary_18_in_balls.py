"""Corollary 18 with sinh-squared noise, docs/experiments/histograms.md: two numbers and each step in balls."""

from itertools import pairwise

import pytest
from ball_brackets import assert_agrees

from tcdp_sim import exact, noise
from tcdp_sim.experiments.papers.balls.arithmetic import ball, flint
from tcdp_sim.experiments.papers.balls.divergences import renyi
from tcdp_sim.experiments.papers.balls.laws import SinhSquared

LEAST = "0.015625"  # x = omega^2 rho where the window begins
CORNERS = [(x, omega) for x in (LEAST, "0.25", "1", "100") for omega in ("1.000000000001", "1.01", "8", "125000")]
corners = pytest.mark.parametrize(("x", "omega"), CORNERS)


@pytest.fixture(autouse=True)
def _bits_for_large_arguments():
    """flint takes K_0(100) from a difference of numbers near e^100."""
    with flint().ctx.workprec(2000):
        yield


def bessel(index, x):
    value = x.bessel_k(index)
    assert value > 0
    assert value.rel_accuracy_bits() > 200
    return value


def gain(x, q):
    """log(K_0(x sqrt(1 - q)) / K_0(x))."""
    return (bessel(0, x * (1 - q).sqrt()) / bessel(0, x)).log()


def f(x):
    return 2 / x * gain(x, ball(1) / 16)


def test_the_two_numbers():
    assert ball("0.96198") < f(ball(LEAST)) < ball("0.96199")
    assert (8 * (ball(1) / 8).sinh()) ** 2 * f(ball(LEAST)) < ball("0.9671")


def test_where_f_is_one():
    assert f(ball("0.12189") ** 2) > 1 > f(ball("0.1219") ** 2)


@corners
def test_q_is_below_a_sixteenth(x, omega):
    omega, s = ball(omega), 1 / (8 * ball(omega))
    q, relative = 4 * omega * (omega - 1) * s.sinh() ** 2, (s.sinh() / s) ** 2
    assert (16 * q).overlaps((1 - 1 / omega) * relative)
    assert relative < (s * s / 3).exp()
    assert 16 * q < (-1 / omega + 1 / (192 * omega**2)).exp() < 1


@corners
def test_the_chord_and_the_share(x, omega):
    x, omega, s = ball(x), ball(omega), 1 / (8 * ball(omega))
    q, relative = 4 * omega * (omega - 1) * s.sinh() ** 2, (s.sinh() / s) ** 2
    assert gain(x, q) < 8 * x * f(x) * q
    share = gain(x, q) / (x / 2 * (1 - 1 / omega))
    assert share < relative * f(x) < ball("0.9671")
    assert not f(x) > f(ball(LEAST))
    assert not relative > (8 * (ball(1) / 8).sinh()) ** 2


@corners
def test_divergence_over_order_rises(x, omega):
    x, omega, s = ball(x), ball(omega), 1 / (8 * ball(omega))
    products = [a * (a - 1) for a in (1 + (omega - 1) * ball(part) for part in ("1e-6", "0.1", "0.5", "0.9", "1"))]
    ratios = [gain(x, 4 * y * s.sinh() ** 2) / y for y in products]
    assert all(low < high for low, high in pairwise(ratios))


@pytest.mark.parametrize("falls", [f, lambda x: bessel(1, x) / bessel(0, x)], ids=["f", "K_1/K_0"])
def test_what_falls(falls):
    values = [falls(ball(2) ** (ball(j) / 4)) for j in range(-24, 28)]
    assert all(high > low for high, low in pairwise(values))


@pytest.mark.parametrize(("scale", "knee"), [(3, 10), (40, 10), (400, 100)])
@pytest.mark.parametrize("share", ["0.05", "0.5", "0.9"])
def test_the_closed_form_is_the_integral(scale, knee, share):
    """share: of the way from order 1 to the largest one, 1 / (1 - e^(-2/knee))."""
    order = 1 + ball(share) * (1 / (1 - (-ball(2) / knee).exp()) - 1)
    assert renyi(SinhSquared(scale, knee), 1, order).overlaps(closed(noise.SinhSquared(scale, knee), 1.0, order))


def closed(law, shift, order):
    """D_order in nats by its closed form, and by its limit at order 1; all numbers as the floats that they are."""
    order, z = ball(order), (ball(law.knee) / ball(law.scale)) ** 2 / 4
    sinh = (ball(shift) / ball(law.knee)).sinh()
    if order == 1:
        return 2 * z * sinh**2 * bessel(1, z) / bessel(0, z)
    return gain(z, 4 * order * (order - 1) * sinh**2) / (order - 1)


@pytest.mark.parametrize(
    ("scale", "knee", "shift", "order"),
    [
        (4.0, 5.0, 1.0, 1.0001),
        (4.0, 5.0, 1e-6, 2.4e6),
        (4.0, 5.0, 1.0, 3.0332),  # the largest order is 3.03331...
        (1e6, 1.0, 15.0, 1 + 2.0**-44),
        (0.7, 0.2, 30.0, 1.0),  # 150 knees: what rounding takes from the shift over the knee is 150 times as much
        (0.04335615358930378, 0.06292294108269414, 4.041567285316426, 1.0),
        (3.482348499102452, 12.775812118987508, 1495.4368246539723, 1.0),
        (1e100, 1.0, 357.0, 1.0),  # e^714 lies beyond the floats, the divergence does not
        (1.0, 1.0, 400.0, 1.0),  # beyond the floats
        (1e6, 1.0, 1e-150, 1.0),  # the square of shift over scale lies below the floats
        (1e6, 1.0, 1e-150, 2.5e149),
        (4e6, 1e6, 1e-150, 1.0),  # the divergence itself does
        (1.0, 1.0, 1e-300, 2.0),
        (1e-128, 1e12, 1.2345e-300, 1e300),  # the shift over the knee lies below the floats that have all digits
    ],
)
def test_brackets_in_the_corners(scale, knee, shift, order):
    law = noise.SinhSquared(scale, knee)
    bracket = exact.renyi_divergence(law, shift, order)
    if bracket.upper < float("inf"):
        assert_agrees(bracket, closed(law, shift, order))
    else:
        assert ball(float(bracket.lower)) <= closed(law, shift, order)


def test_bounds_stay_narrow_where_floats_suffice():
    for scale, knee, shift in ((0.7, 0.2, 30.0), (1e100, 1.0, 354.0), (1e6, 1.0, 1e-150)):
        low, _, high = exact.renyi_divergence(noise.SinhSquared(scale, knee), shift, 1.0)
        assert high - low < 1e-12 * high
