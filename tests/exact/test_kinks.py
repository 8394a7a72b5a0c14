"""Small shifts of a density with kinks: between a kink and its image, a small shift away, the whole loss falls.

The oracles are closed forms (total variation distance is P[|Z| < shift / 2] for a density that falls from 0), and
mpmath between the kinks.
"""

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from composed_pairs import hockey_stick_between, renyi_divergence_between
from foreign_noises import Bent

from tcdp_sim import exact
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.exact.per_record import record_epsilon, record_profile
from tcdp_sim.exact.products import product_profile
from tcdp_sim.noise import Laplace
from tcdp_sim.noise.generalized_gaussian import GeneralizedGaussian
from tcdp_sim.per_record import AdditiveRelease

SHIFTS = (1e-9, 1e-6, 1e-4, 1e-3, 0.03, 0.7, 3.0)


def contains(bounds, truth, width=1e-9):
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.upper - bounds.lower <= width * bounds.upper


@pytest.mark.parametrize("share", [0, 1 / 3, 0.9])
@pytest.mark.parametrize("shift", SHIFTS)
def test_power_one_is_laplace_noise(shift, share):
    epsilon = shift * share
    with mp.workdps(40):
        truth = -mp.expm1((mp.mpf(epsilon) - mp.mpf(shift)) / 2)
        contains(record_profile(AdditiveRelease(GeneralizedGaussian(1.0, 1.0)), shift, epsilon), truth)
        contains(exact.hockey_stick(Laplace(1.0), shift, epsilon), truth)
        pair = Mixture(GeneralizedGaussian(1.0, 1.0)), Mixture(GeneralizedGaussian(1.0, 1.0), (shift,))
        contains(hockey_stick_between(*pair, epsilon), truth)


@pytest.mark.parametrize("shift", [1e-6, 1e-4, 0.03])
def test_the_epsilon_of_power_one_is_that_of_laplace_noise(shift):
    delta = shift / 3
    with mp.workdps(40):
        truth = mp.mpf(shift) + 2 * mp.log1p(-mp.mpf(delta))
        contains(record_epsilon(AdditiveRelease(GeneralizedGaussian(1.0, 1.0)), shift, delta), truth)


@pytest.mark.parametrize("knows", [True, False])
@pytest.mark.parametrize("shift", SHIFTS)
def test_a_kink_away_from_the_centre(shift, knows):
    noise = Bent(knows)
    with mp.workdps(40):
        half = mp.mpf(shift) / 2
        truth = 2 * mp.quad(noise.mp_pdf, sorted({mp.mpf(0), min(half, mp.mpf(1)), half}))
        contains(exact.hockey_stick(noise, shift, 0.0), truth)
        contains(hockey_stick_between(Mixture(noise), Mixture(noise, (shift,)), 0.0), truth)


def excess_of(noise, shift, epsilon):
    """The integral of (p - e^epsilon q)_+ between all kinks and crossings of the two laws, by mpmath."""
    t = mp.mpf(shift)

    def loss(x):
        return noise.mp_log_pdf(x) - noise.mp_log_pdf(x - t)

    ends = sorted({c + m for c in (-1, 0, 1) for m in (0, t)} | {t / 2, mp.mpf(-20), mp.mpf(20)})
    cuts = list(ends)
    for a, b in pairwise(ends):  # the loss is linear between the kinks
        at_a, at_b = loss(a) - epsilon, loss(b) - epsilon
        if at_a * at_b < 0:
            cuts.append(a + (b - a) * at_a / (at_a - at_b))
    return mp.quad(lambda x: noise.mp_pdf(x) * max(-mp.expm1(epsilon - loss(x)), mp.mpf(0)), sorted(cuts))


@pytest.mark.parametrize("share", [0.2, 1, 2, 2.9])
@pytest.mark.parametrize("shift", [1e-6, 1e-4, 0.03])
def test_the_profile_beyond_a_kink(shift, share):
    noise, epsilon = Bent(), shift * share
    with mp.workdps(40):
        truth = excess_of(noise, shift, mp.mpf(epsilon))
        contains(exact.hockey_stick(noise, shift, epsilon), truth, 2e-8)  # of the loss 4e-15 is left in doubt
        contains(hockey_stick_between(Mixture(noise), Mixture(noise, (shift,)), epsilon), truth, 2e-8)


@pytest.mark.parametrize("order", [1, 2, 17.5])
@pytest.mark.parametrize("shift", [1e-6, 1e-4, 0.03, 0.7])
def test_divergences_beyond_a_kink(shift, order):
    noise = Bent()
    with mp.workdps(60):
        t, s = mp.mpf(shift), mp.mpf(order) - 1
        cuts = sorted(
            {c + m for c in (-1, 0, 1) for m in (0, t)} | {t / 2, mp.mpf(-30), mp.mpf(-5), mp.mpf(5), mp.mpf(30)}
        )

        def term(x):
            loss = noise.mp_log_pdf(x) - noise.mp_log_pdf(x - t)
            return noise.mp_pdf(x) * (mp.expm1(s * loss) + s * mp.expm1(-loss) if s else loss + mp.expm1(-loss))

        mean = mp.quad(term, cuts)
        truth = mp.log1p(mean) / s if s else mean
        for bounds in (
            exact.renyi_divergence(noise, shift, order),
            renyi_divergence_between(Mixture(noise), Mixture(noise, (shift,)), order),
        ):
            assert bounds.lower <= truth <= bounds.upper
            assert bounds.upper - bounds.lower <= 1e-8 * truth


def test_two_coordinates_of_power_one():
    one, other = GeneralizedGaussian(1.0, 1.0), Laplace(1.0)
    for shift in (1e-4, 1e-2):
        found, known = product_profile(one, shift, shift / 3), product_profile(other, shift, shift / 3)
        assert found.lower <= known.upper
        assert known.lower <= found.upper
        assert found.estimate == pytest.approx(known.estimate, rel=1e-9)
        assert np.isfinite(found.upper)
