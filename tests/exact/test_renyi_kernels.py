"""The integrands of divergences against 60 digits, and the one choice of a way for every noise."""

import mpmath as mp
import numpy as np
import pytest
from foreign_noises import Bent, Logistic, OwnLogistic, SureLogistic

from tcdp_sim.exact.mixtures import log_mean
from tcdp_sim.exact.renyi.choice import Quantity, Way, way
from tcdp_sim.exact.renyi.kernels import (
    Nodes,
    divergence_of_mean,
    divergence_of_moment,
    excess_over_p,
    excess_over_q,
    scaled_moments,
    share_above,
)
from tcdp_sim.noise import (
    ArsinhNormal,
    DitheredLattice,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    LatticeNoise,
    SinhNormal,
    StudentT,
    UniformLogNormal,
)

LOSSES = np.array([-45.0, -29.0, -3.0, -0.3, -0.021, -1e-3, -1e-9, 1e-12, 1e-5, 0.009, 0.04, 0.5, 6.0, 31.0])
LATTICE = LatticeNoise(0.0, (-1.0, -1.9), 1.2)


def truth(loss, s):
    """P (e^(sL) - 1 + s (e^-L - 1)) at P = 1, or its limit over s."""
    with mp.workdps(60):
        loss, s = mp.mpf(float(loss)), mp.mpf(float(s))
        return loss + mp.expm1(-loss) if s == 0 else mp.expm1(s * loss) + s * mp.expm1(-loss)


@pytest.mark.parametrize("s", [0.0, 1e-4, 0.3, 1.0, 4.0, 17.0])
def test_both_forms_of_the_excess_keep_their_digits(s):
    """They are the same number: over Q the term is divided by s, and q = p e^-L."""
    over_p = excess_over_p(np.zeros_like(LOSSES), LOSSES, s, 0.0)
    over_q = excess_over_q(s, LOSSES, -LOSSES) * (s or 1.0)
    for loss, one, other in zip(LOSSES, over_p, over_q):
        exact = truth(loss, s)
        assert abs(one - exact) <= 3e-13 * exact
        assert abs(other - exact) <= 3e-13 * exact


def test_means_become_divergences():
    """D_order = log(1 + moment) / (order - 1), also where the moment is no float; at order 1 the mean itself."""
    assert divergence_of_moment(0.5, 0.0, 3.0) == pytest.approx(np.log(1.5) / 2, rel=1e-15)
    assert divergence_of_moment(0.5, 900.0, 3.0) == pytest.approx((900 + np.log(0.5)) / 2, rel=1e-15)
    assert divergence_of_moment(0.25, 0.0, 1.0) == divergence_of_mean(0.25, 1.0, 0.0) == 0.25
    assert divergence_of_mean(0.25, 3.0, 0.0) == pytest.approx(np.log(1.5) / 2, rel=1e-15)
    both = divergence_of_moment(np.array([0.5, 0.25]), np.zeros(2), np.array([3.0, 1.0]))
    assert both.tolist() == [divergence_of_moment(0.5, 0.0, 3.0), 0.25]


def test_half_of_the_outputs_is_enough():
    """Two outputs, of losses L and -L: both moments by hand."""
    loss, p = 0.7, 1 / (1 + np.exp(-0.7))
    s = np.array([0.5, 3.0])
    moment, slope = scaled_moments(Nodes(np.array([p]), np.array([loss]), np.array([0.0])), s)
    assert moment * np.exp(s * loss) == pytest.approx(p * np.exp(s * loss) + (1 - p) * np.exp(-s * loss) - 1, rel=1e-13)
    assert slope * np.exp(s * loss) == pytest.approx(loss * (p * np.exp(s * loss) - (1 - p) * np.exp(-s * loss)))


def test_small_kernels():
    assert share_above(1.0, np.array([0.5, 1.0, 2.0, np.inf])) == pytest.approx([0, 0, 1 - np.exp(-1), 1])
    assert log_mean(np.array([0.25, 0.0, 0.75]), np.array([[-800.0], [5.0], [-800.0]])) == pytest.approx(-800)


class Steep(OwnLogistic):
    """A noise that does not say that its slope is bounded, and whose loss has no bound."""

    bounded_slope = False

    def largest_loss(self, shift):
        return np.inf


D, P, R = Quantity.DIVERGENCE, Quantity.PROFILE, Quantity.LARGEST_RATIO
CHOICES = [
    (LATTICE, (Way.LATTICE, Way.LATTICE, Way.LATTICE)),
    (DitheredLattice(0.0, (-1.0, -1.9), 1.2), (Way.DITHERED, Way.DITHERED, None)),
    (GeneralizedGaussian(1.0, 0.4), (Way.FOLDED, Way.FOLDED, Way.FOLDED)),  # a cusp
    (Laplace(2.0), (Way.LOSS, Way.LOSS, Way.FOLDED)),
    (StudentT(1.0, 3.0), (Way.MIXTURE, Way.MIXTURE, Way.MIXTURE)),  # its largest loss alone
    (Gaussian(2.0), (Way.LOSS, Way.LOSS, Way.LOSS)),
    (SinhNormal(2.0, 9.0), (Way.LOSS, Way.LOSS, Way.LOSS)),
    (ArsinhNormal(1.0, 0.5), (Way.MIXTURE, None, Way.MIXTURE)),  # its largest loss is unknown
    (UniformLogNormal(1.0, 0.4), (Way.MIXTURE, None, Way.MIXTURE)),
    (Logistic(2.0), (Way.MIXTURE, Way.MIXTURE, Way.MIXTURE)),  # no loss of its own
    (OwnLogistic(2.0), (Way.MIXTURE, Way.LOSS, Way.MIXTURE)),  # a loss, but not its largest value
    (Steep(2.0), (Way.MIXTURE, Way.LOSS, Way.MIXTURE)),
    (SureLogistic(2.0), (Way.MIXTURE, Way.MIXTURE, Way.MIXTURE)),
]


@pytest.mark.parametrize(("noise", "ways"), CHOICES, ids=lambda each: type(each).__name__)
def test_the_way_of_every_kind_of_noise(noise, ways):
    """None: the way is not what is tested."""
    for quantity, expected in zip((D, P, R), ways):
        assert expected is None or way(noise, 1.0, quantity) is expected


def test_every_way_has_a_function():
    from tcdp_sim.exact import profile
    from tcdp_sim.exact.renyi import divergence

    assert set(divergence.WAYS) == set(profile.WAYS) == set(Way)
    assert way(Bent(), 0.5, D) in Way
