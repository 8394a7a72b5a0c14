"""What a release says about n equal records, as a mechanism of the framework.

Seeds are fixed; for a fresh seed a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pytest

from tcdp_sim import exact
from tcdp_sim.mechanisms.information import Information
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace
from tcdp_sim.study import groups

POINT = {"rho": 0.1, "omega": 4.0, "delta": 1e-6, "n": 5, "k": 10}


def law(noise, **more):
    return Information.law({"noise": groups.named("noise", noise), **POINT, **more}, {}, None)


def test_one_count_is_a_query_and_a_histogram_moves_two_bins():
    one, many = (Information.build(law("gaussian", k=k), np.zeros(0)).noise for k in (1, 2))
    assert one == Gaussian(np.sqrt(5.0))
    assert many == Gaussian(np.sqrt(10.0))


@pytest.mark.parametrize("k", [1, 2, 40, 3000])
@pytest.mark.parametrize("noise", [Gaussian(3.0), Laplace(2.0), SinhNormal(3, 10), TruncatedLaplace(2, 10)], ids=repr)
def test_its_mean_is_the_mutual_information(noise, k):
    for n in (2, 8):
        drawn = Information(noise, None, n, k).simulate(np.random.default_rng(n), 40_000 if k < 100 else 1000)
        nats = drawn["information"]
        truth = exact.mutual_information(noise, [0, n]) if k == 1 else exact.histogram_information(noise, n, k)
        assert abs(nats.mean() - truth.estimate) <= 5.5 * nats.std() / np.sqrt(len(nats))
        assert (nats >= 0).all()
        assert (nats <= np.log(max(k, 2)) * (1 + 1e-12)).all()
        assert nats.std() > 0


def test_a_release_of_two_bins_against_bayes_written_out():
    """The same stream, by densities: the divergence of the law of U given the release from the uniform one."""
    noise, n, k = Laplace(2.0), 3, 4
    found = Information(noise, None, n, k).simulate(np.random.default_rng(5), 50)["information"]
    release = noise.sample((50, k), rng=np.random.default_rng(5)) + n * (np.arange(k) == 0)
    joint = np.array([noise.pdf(release - n * (np.arange(k) == u)).prod(axis=1) for u in range(k)]).T
    posterior = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, (posterior * np.log(k * posterior)).sum(axis=1), rtol=1e-9, atol=1e-13)


def test_disjoint_releases_tell_all():
    for k in (1, 7):
        nats = Information(TruncatedLaplace(1, 2), None, 9, k).simulate(np.random.default_rng(1), 100)["information"]
        np.testing.assert_allclose(nats, np.log(max(k, 2)), rtol=1e-12)


def test_trials_do_not_depend_on_how_many_are_drawn_at_a_time():
    mechanism = Information(Gaussian(2.0), None, 3, 60_000)  # four rows a tile
    drawn = mechanism.simulate(np.random.default_rng(3), 9)["information"]
    assert drawn.shape == (9,)
    assert len(np.unique(drawn)) == 9
