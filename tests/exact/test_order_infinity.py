"""Divergences of order infinity: their bounds contain the largest loss of mpmath, and no finite order passes it."""

import mpmath as mp
import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.exact.selection.outputs import divergence_of_outputs
from tcdp_sim.noise import Laplace
from tcdp_sim.noise.dithered_lattice import DitheredLattice
from tcdp_sim.noise.exponential_polylogarithmic import ExponentialPolylogarithmic
from tcdp_sim.noise.generalized_gaussian import GeneralizedGaussian
from tcdp_sim.noise.lattice import LatticeNoise

SHIFTS = (1e-9, 0.3, 1.7, 33.3, 1e9)
ORDERS = np.array([1.0, 1.5, 2.0, 30.0, 1e4, 1e12, np.inf])
TABLE = (-1.0, -1.37, -2.59)


def largest(noise, shift):
    """log f(0) - log f(shift) in 50 digits: where the density falls from 0 and its log is convex beyond."""
    t = mp.mpf(shift)
    if isinstance(noise, Laplace):
        return t / mp.mpf(noise.scale)
    if isinstance(noise, GeneralizedGaussian):
        return (t / mp.mpf(noise.scale)) ** mp.mpf(noise.power)
    power, offset = mp.mpf(noise.power), mp.mpf(noise.offset)
    return mp.mpf(noise.rate) * (mp.log(offset + t / mp.mpf(noise.scale)) ** power - mp.log(offset) ** power)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize(
    "noise",
    [
        Laplace(0.7),
        GeneralizedGaussian(1.3, 1.0),
        GeneralizedGaussian(1.3, 0.3),
        GeneralizedGaussian(0.7, 0.9),
        ExponentialPolylogarithmic(1.3, 2.0, 5.0, 3.0),
        ExponentialPolylogarithmic(0.7, 1.0, 5.0, 3.5),
    ],
    ids=repr,
)
def test_the_largest_loss_is_contained(noise, shift):
    with mp.workdps(50):
        truth = largest(noise, shift)
        found = exact.renyi_divergence(noise, shift, np.inf)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 3e-14 * found.upper
        curve = exact.renyi_divergence(noise, shift, ORDERS)
        assert all(part.max() <= found.upper for part in curve)
        assert all(part.min() >= 0 for part in curve)


@pytest.mark.parametrize("offset", [0.0, 0.5])
@pytest.mark.parametrize("fall", [0.3, 1.1])
@pytest.mark.parametrize("shift", [1, 2, 3, 7])
def test_the_largest_loss_on_a_lattice_by_exact_arithmetic(offset, fall, shift):
    noise = LatticeNoise(offset, TABLE, fall)

    def log_mass(i):
        i = abs(i + mp.mpf(offset)) - mp.mpf(offset)
        inside = mp.mpf(noise.log_mass[min(int(i), 2)])
        return inside - mp.mpf(fall) * max(i - 2, 0)

    with mp.workdps(50):
        truth = max(abs(log_mass(i) - log_mass(i - shift)) for i in range(-30, 40))
        for bounds in (
            exact.renyi_divergence(noise, float(shift), np.inf),
            exact.renyi_divergence(DitheredLattice.of_lattice(noise), float(shift), np.inf),
        ):
            assert bounds.lower <= truth <= bounds.upper
            assert bounds.upper - bounds.lower <= 1e-13 * max(truth, 1)
        far = exact.renyi_divergence(noise, float(shift), ORDERS)
        assert far.upper.max() <= exact.renyi_divergence(noise, float(shift), np.inf).upper


def test_outputs_whose_probabilities_are_known_exactly():
    """log(p / q) is rounded where p and q are not: the ends go outwards by that."""
    rng = np.random.default_rng(11)
    with mp.workdps(40):
        for _ in range(200):
            p, q = (10.0 ** -rng.uniform(0, 300, 2) for _ in range(2))
            found = divergence_of_outputs(Bounds(p, p, p), Bounds(q, q, q), np.inf)
            truth = max(mp.log(a) - mp.log(b) for a, b in zip(map(mp.mpf, p), map(mp.mpf, q)))
            assert found.lower <= max(truth, 0) <= found.upper
            assert found.upper - found.lower <= 1e-12


def test_a_lattice_whose_sums_have_no_end_is_refused():
    slow = LatticeNoise(0.0, TABLE, 1e-9)
    with pytest.raises(ValueError, match="sums of 5e"):
        exact.renyi_divergence(slow, 1e9, 2.0)
    quick = exact.renyi_divergence(LatticeNoise(0.0, TABLE, 0.3), 1e9, 2.0)
    assert quick.lower <= quick.upper < np.inf


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_a_far_shift_on_a_lattice_by_summing_all_points(order):
    """Points between the tables count until their masses underflow."""
    noise, shift = LatticeNoise(0.0, TABLE, 0.3), 120
    with mp.workdps(40):

        def log_mass(i):
            return mp.mpf(noise.log_mass[min(abs(i), 2)]) - mp.mpf(0.3) * max(abs(i) - 2, 0)

        rows = [(log_mass(i), log_mass(i) - log_mass(i - shift)) for i in range(-500, 700)]
        if order == 1:
            truth = mp.fsum(mp.exp(p) * loss for p, loss in rows)
        else:
            truth = mp.log(mp.fsum(mp.exp(p + (order - 1) * loss) for p, loss in rows)) / (order - 1)
        found = exact.renyi_divergence(noise, float(shift), order)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 1e-10 * truth


@pytest.mark.parametrize("order", [1.0, 1.01])
def test_a_table_longer_than_the_floats_tails_counts_whole(order):
    """A fall of 5 a point is over after 160 points, and the table has 600: its points add up to all that is lost."""
    table, fall, shift = tuple(-1e-3 * i for i in range(600)), 5.0, 1000
    noise = LatticeNoise(0.0, table, fall)
    i = np.arange(-700, 1701)

    def log_mass(i):
        size = np.abs(i)
        return noise.log_mass[0] - 1e-3 * np.minimum(size, 599) - fall * np.maximum(size - 599.0, 0)

    log_p, loss = log_mass(i), log_mass(i) - log_mass(i - shift)
    moment = np.exp(log_p) @ loss if order == 1 else np.logaddexp.reduce(log_p + (order - 1) * loss) / (order - 1)
    assert exact.renyi_divergence(noise, float(shift), order).estimate == pytest.approx(moment, rel=1e-10)
