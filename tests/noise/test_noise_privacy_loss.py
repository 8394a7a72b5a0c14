"""Privacy losses against the difference of the log densities in 50 digits."""

import mpmath as mp
import numpy as np
import pytest
from noise_examples import ALL, EXAMPLES
from noise_references import reference

from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, SinhSquared, TruncatedLaplace

every = pytest.mark.parametrize("noise", ALL, ids=repr)
RATIOS = (1e-9, 1e-3, 0.3, 1.0, 2.5)


def losses(noise):
    """Outputs, shifts and exact losses, from the middle of the two densities to the far tails of either."""
    exact, width = reference(noise), noise.isf(0.1)
    for shift in [sign * ratio * width for ratio in RATIOS for sign in (1, -1)]:
        outer = noise.isf(np.array([0.4, 0.1, 1e-3, 1e-20, 1e-100, 1e-299]))
        middle = 0.5 * shift * np.array([1 - 1e-9, 1 + 1e-12, 0.5, 1.9])
        for y in np.concatenate([-outer, middle, outer, 0.999 * outer]):
            if exact.pdf(y) > 0 and exact.pdf(mp.mpf(float(y)) - mp.mpf(float(shift))) > 0:
                yield float(y), float(shift), exact.loss(float(y), float(shift))


def scale_of_terms(noise, y, shift):
    """What cancels in the loss: the two terms of the sinh-normal's; for the others there is none."""
    if noise.family != "sinh_normal":
        return mp.mpf(0)
    y, other, knee = mp.mpf(y), mp.mpf(y) - mp.mpf(shift), mp.mpf(noise.knee)
    return abs(mp.log(mp.cosh(y / knee) / mp.cosh(other / knee)))


@every
def test_loss_is_the_exact_difference_of_the_log_densities(noise):
    checked = 0
    for y, shift, exact in losses(noise):
        terms = max(abs(exact), scale_of_terms(noise, y, shift))
        assert abs(noise.privacy_loss(y, shift) - exact) <= mp.mpf(1e-12) * terms, (y, shift)
        checked += 1
    assert checked > 60


@every
def test_loss_is_the_difference_of_logpdf(noise):
    y, shift = noise.isf(np.linspace(0.02, 0.98, 49)), 0.7 * noise.isf(0.3)
    with np.errstate(invalid="ignore"):
        direct = noise.logpdf(y) - noise.logpdf(y - shift)
    np.testing.assert_allclose(noise.privacy_loss(y, shift), direct, rtol=1e-10, atol=1e-10)


@every
def test_loss_is_odd_about_half_the_shift(noise):
    """Powers of two keep shift - y and y - shift exact."""
    unit = 2.0 ** np.floor(np.log2(noise.isf(0.1)))
    shift, y = 0.5 * unit, unit * np.arange(-64, 65) / 32
    np.testing.assert_array_equal(noise.privacy_loss(shift - y, shift), -noise.privacy_loss(y, shift))
    assert noise.privacy_loss(shift / 2, shift) == 0
    np.testing.assert_array_equal(noise.privacy_loss(-y, -shift), noise.privacy_loss(y, shift))


@every
def test_no_shift_no_loss(noise):
    y = np.append(noise.isf(np.array([1e-300, 1e-10, 0.2, 0.5, 0.8])), 0.0)
    np.testing.assert_array_equal(noise.privacy_loss(y, 0.0), np.zeros(6))
    np.testing.assert_array_equal(noise.privacy_loss(y, 0), np.zeros(6))


@every
def test_loss_broadcasts(noise):
    y, shifts = noise.isf(np.array([0.2, 0.4, 0.6])), np.array([[0.1], [0.4]]) * noise.isf(0.1)
    table = noise.privacy_loss(y, shifts)
    assert table.shape == (2, 3)
    np.testing.assert_allclose(table[1, 2], noise.privacy_loss(y[2], shifts[1, 0]), rtol=1e-13)


@every
def test_loss_of_an_output_is_the_same_seen_from_either_side(noise):
    """Swapping the centres and reflecting: loss(y, t) = -loss(y - t, -t), up to the rounding of y - t."""
    y, shift = noise.isf(np.array([0.1, 0.3, 0.45, 0.8])), noise.isf(0.4)
    np.testing.assert_allclose(noise.privacy_loss(y, shift), -noise.privacy_loss(y - shift, -shift), rtol=1e-9)


@pytest.mark.parametrize(("shift", "y", "loss"), [(1.0, 1e10, -0.5), (1e-3, 1e12, -5e-4), (-3.0, 1e300, 1.5)])
def test_laplace_loss_is_exact_far_out(shift, y, loss):
    """|y - shift| - |y| computed as written has lost all its digits here."""
    assert Laplace(2.0).privacy_loss(y, shift) == loss
    assert Laplace(2.0).privacy_loss(-y, shift) == -loss


def test_laplace_loss_is_bounded_by_the_shift():
    loss = Laplace(2.0).privacy_loss(np.linspace(-9, 9, 181), 3.0)
    assert loss.max() == 1.5
    assert loss.min() == -1.5


def test_gaussian_loss_is_linear():
    y = np.array([-1e8, -2.0, 0.0, 3.0, 1e8, 1e150])
    np.testing.assert_allclose(Gaussian(2.0).privacy_loss(y, 3.0), 9 / 8 - 3 * y / 4, rtol=1e-15)


@pytest.mark.parametrize("noise", EXAMPLES["gaussian"] + EXAMPLES["sinh_normal"] + EXAMPLES["sinh_squared"], ids=repr)
def test_unbounded_losses_at_infinity(noise):
    ends = np.array([-np.inf, np.inf])
    np.testing.assert_array_equal(noise.privacy_loss(ends, noise.scale), [np.inf, -np.inf])
    np.testing.assert_array_equal(noise.privacy_loss(ends, -noise.scale), [-np.inf, np.inf])


def test_laplace_loss_at_infinity_is_its_limit():
    np.testing.assert_array_equal(Laplace(2.0).privacy_loss([-np.inf, np.inf], 3.0), [1.5, -1.5])


@pytest.mark.parametrize("y", [1e6, 1e100, 1e300])
@pytest.mark.parametrize("noise", [SinhNormal(2.0, 5.0), SinhSquared(2.0, 5.0)], ids=repr)
def test_losses_of_doubly_exponential_tails_beyond_the_doubles_are_infinite(noise, y):
    assert noise.privacy_loss(y, 1.0) == -np.inf
    assert noise.privacy_loss(-y, 1.0) == np.inf
    assert noise.privacy_loss(y, 0.0) == 0


@pytest.mark.parametrize(
    ("shift", "y", "loss"),
    [
        (1.0, -2.5, np.inf),
        (1.0, 3.5, -np.inf),
        (1.0, 4.5, np.nan),
        (1.0, -3.5, np.nan),
        (1.0, -3.0, np.inf),
        (1.0, 3.0, -0.5),  # both supports are closed
        (1.0, -2.0, 0.5),
        (1.0, 4.0, -np.inf),
        (-1.0, 2.5, np.inf),
        (-1.0, -3.5, -np.inf),
        (7.0, 3.5, np.nan),  # between two supports that do not meet
        (7.0, 2.0, np.inf),
        (7.0, 5.0, -np.inf),
        (1.0, np.inf, np.nan),
        (1.0, -np.inf, np.nan),
        (0.0, 3.5, np.nan),
    ],
)
def test_truncated_laplace_loss_outside_one_support_or_both(shift, y, loss):
    np.testing.assert_equal(float(TruncatedLaplace(2.0, 3.0).privacy_loss(y, shift)), loss)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_truncated_laplace_is_epsilon_delta_private_as_it_says(epsilon, delta):
    """With the bound of the docstring, losses stay within epsilon but on a mass of delta."""
    scale = 1 / epsilon
    noise = TruncatedLaplace(scale, scale * np.log1p(np.expm1(epsilon) / (2 * delta)))
    y = np.linspace(1 - noise.bound, noise.bound, 1001)[1:-1]
    assert np.abs(noise.privacy_loss(y, 1.0)).max() == pytest.approx(epsilon, rel=1e-12)
    assert noise.cdf(1 - noise.bound) == pytest.approx(delta, rel=1e-10)
