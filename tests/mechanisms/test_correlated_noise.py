"""Training with correlated noise as a mechanism: draws against quadrature, the accountant and plain draws of outputs.

Seeds are fixed. For a fresh seed, a comparison at 5.5 standard errors has a false-alarm rate of 4e-8.
"""

import numpy as np
import pytest
from matrix_references import bin_means, two_bins_delta

from tcdp_sim.accounting import Bands, Cyclic, Fixed, Ledger, MatrixMechanism, SameBin
from tcdp_sim.mechanisms.correlated_noise import CorrelatedNoise
from tcdp_sim.samplers.correlated_noise import DIRECTIONS, BinOutputs, sample_delta

POINT = {"bands": 4, "steps": 8, "epochs": 4, "participation": "same_bins", "epsilon": 4.0, "delta": 1e-5}


def built(**change):
    return CorrelatedNoise.build(CorrelatedNoise.law(POINT | change, {}, None), None)


def close(values, truth):
    return abs(values.mean() - truth) < 5.5 * values.std() / np.sqrt(len(values)) + 1e-6 * truth


@pytest.mark.parametrize(("sigma", "epsilon"), [(3.0, 1.0), (1.0, 6.0), (2.0, 4.0)])
def test_draws_of_two_bins_have_the_mean_of_quadrature(sigma, epsilon):
    means = bin_means(np.tri(6) * np.linspace(1, 0.5, 6)[:, None], 2)
    found = sample_delta(BinOutputs(means / sigma), epsilon, 40_000, rng=np.random.default_rng(1))
    for values, truth in zip(found, two_bins_delta(means, sigma, epsilon)):
        assert close(values, truth)
        assert (values >= 0).all()


def test_log_ratios_are_those_of_densities():
    means = np.random.default_rng(2).uniform(size=(7, 3))
    y = np.random.default_rng(3).normal(size=(5, 7))
    basis = np.linalg.qr(means)[0]
    ratios = np.exp(y @ (1.7 * means) - 0.5 * 1.7**2 * (means**2).sum(axis=0)).mean(axis=1)
    np.testing.assert_allclose(BinOutputs(means).log_ratio(y @ basis, 1.7), np.log(ratios), rtol=1e-10)


@pytest.mark.parametrize("participation", ["same_bins", "cyclic", "known"])
@pytest.mark.parametrize("bands", [1, 4, 8])
def test_the_noise_that_is_found_has_about_the_delta(participation, bands):
    run = built(participation=participation, bands=bands)
    drawn = run.simulate(np.random.default_rng(4), 20_000)
    worse = max((drawn[way] for way in DIRECTIONS), key=np.mean)
    assert 0.8 < worse.mean() / 1e-5 < 1.2
    proved = Ledger([run.release], "zero_out").delta(4.0)
    assert proved.lower <= worse.mean() + 5.5 * worse.std() / np.sqrt(len(worse))
    assert worse.mean() <= proved.upper + 5.5 * worse.std() / np.sqrt(len(worse))
    if participation != "same_bins":
        assert 0.999e-5 < proved.upper <= 1e-5 * (1 + 1e-3)
        assert close(worse, proved.estimate)


def test_the_accountant_simulates_the_same_delta():
    run = built(bands=8)
    found = run.release.simulate(4.0, 100_000, 0.9999, rng=np.random.default_rng(5))
    worse = max((values for values in run.simulate(np.random.default_rng(6), 50_000).values()), key=np.mean)
    error = 5.5 * worse.std() / np.sqrt(len(worse))
    assert found.lower - error <= worse.mean() <= found.upper + error


def test_groups_and_bins_have_the_batches_of_an_epoch():
    for participation in ("same_bins", "cyclic", "known"):
        assert built(participation=participation).release.participation.rate == 1 / 8


@pytest.mark.parametrize("participation", ["same_bins", "cyclic", "known"])
def test_its_release_has_the_steps_of_an_epoch_and_the_epochs(participation):
    mechanism = CorrelatedNoise(2, 5, 3, participation, 1.0, 1e-5, 4.0, ())
    given = {"same_bins": SameBin(5), "cyclic": Cyclic(2, 2 / 5), "known": Fixed(5, 3)}[participation]
    assert mechanism.release == MatrixMechanism(Bands(2, 15), given, 4.0)
