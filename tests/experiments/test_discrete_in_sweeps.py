"""Discrete noises in sweeps: histograms, subsamples, selections and sums; refused where answers move by fractions.

Simulated numbers are compared with exact ones by the command itself, at 1% false discoveries.
"""

import numpy as np
import pytest

from tcdp_sim import results
from tcdp_sim.mechanisms import noise_axes
from tcdp_sim.mechanisms.subsampled.histogram import SubsampledHistogram
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace
from tcdp_sim.privacy import ZCDP
from tcdp_sim.results.cells import cell_mechanism

WORDS = ("cluster=serial", "trials=4000", "chunk=2000", "also=null")
NOISES = "sweep.noise=[discrete_gaussian,discrete_laplace,rounded_gaussian]"
ROUNDED = "sweep.noise=[rounded_laplace,rounded_sinh_normal,rounded_sinh_squared,rounded_gaussian]"


def test_a_histogram_has_its_exact_values(command, tmp_path):
    few = ("sweep.k=[1000,1e6]", "sweep.rho=[0.1,2]", "sweep.data=[one_bin,zipf]")
    code, out, err = command("experiment=histogram", *WORDS, NOISES, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out
    flat = results.open_cells(tmp_path / "results" / "histogram").load()
    exact = flat["linf_error_quantile_exact"].sel(quantile=0.95).to_numpy()
    assert (exact == exact.round()).all()  # points of the lattice
    noise = cell_mechanism(flat, 0).noise
    assert noise == DiscreteGaussian(10**0.5)  # two bins change by one: sigma^2 = 2 / (2 rho)
    assert set(flat["guarantee"].to_numpy()) == {"0.1-zCDP", "2-zCDP", "0.447214-DP", "2-DP"}


@pytest.mark.slow
def test_a_histogram_with_rounded_noise_has_its_exact_values(command):
    few = ("sweep.k=[1000,1e6]", "sweep.rho=[0.1,0.5]", "sweep.omega_sqrt_rho=1", "sweep.data=zipf")
    code, out, err = command("experiment=histogram", *WORDS, ROUNDED, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out


@pytest.mark.parametrize("algorithm", ["generalized_histogram", "obvious_answer"])
def test_a_selection_breaks_ties(command, tmp_path, algorithm):
    few = ("sweep.k=1000", "sweep.rho=0.5", "sweep.gap=[4,20]", "sweep.accounting=tight")
    few = (*few, "sweep.noise=[discrete_gaussian,discrete_laplace]", f"sweep.algorithm={algorithm}")
    code, out, err = command("experiment=gap_max", *WORDS, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out
    flat = results.open_cells(tmp_path / "results" / "gap_max").load()
    assert cell_mechanism(flat, 0).noise.family == "dithered_discrete_gaussian"


@pytest.mark.parametrize("noise", [DiscreteGaussian(2.0), DiscreteLaplace(3.0)], ids=repr)
def test_the_loss_of_a_subsampled_record_is_a_sum(noise):
    """A false alarm in 1e-5 of seeds each: 4.5 standard errors."""
    s, threshold, y = 0.3, 0.05, np.arange(-200.0, 201.0)
    q, p = noise.pmf(y), noise.pmf(y - 1)
    mixed = (1 - s) * q + s * p
    loss = np.log(mixed[q > 0] / q[q > 0])
    truth = {"loss_tail": mixed[q > 0][loss > threshold].sum()}
    truth["hockey_stick"] = np.maximum(mixed - np.exp(threshold) * q, 0).sum()
    histogram = SubsampledHistogram(noise, ZCDP(1.0), np.array([50, 3]), 10.0, "poisson", s, threshold)
    draws = histogram.simulate(np.random.default_rng(1), 20_000)
    for name, known in truth.items():
        assert abs(draws[name].mean() - known) < 4.5 * draws[name].std() / len(draws[name]) ** 0.5 + 1e-12
    losses = SubsampledHistogram(noise, ZCDP(1.0), np.array([50, 3]), 10.0, "poisson", s)
    seen = losses.simulate(np.random.default_rng(2), 20_000)["privacy_loss"] > threshold
    assert abs(seen.mean() - truth["loss_tail"]) < 4.5 * (truth["loss_tail"] / len(seen)) ** 0.5


@pytest.mark.slow
def test_a_subsampled_histogram_has_its_losses(command):
    few = ("sweep.sampling_fraction=0.3", "sweep.data=one_bin", "sweep.threshold=0.1", "sweep.k=100", "sweep.rho=0.5")
    few = (*few, "sweep.scheme=poisson", "sweep.noise=discrete_gaussian")
    code, out, err = command("experiment=subsampling", *WORDS, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
def test_epsilon_and_delta_of_a_subsample(command, scheme):
    few = ("sweep.data=flights_dest", "sweep.k=declared", "sweep.epsilon=0.1", "sweep.delta=1e-6")
    few = (*few, "sweep.sampling_fraction=0.5", f"sweep.scheme={scheme}")
    code, out, err = command("experiment=subsampling", *WORDS, NOISES, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out


def test_per_record_sums_have_their_exact_errors(command):
    few = ("sweep.release=[discrete_gaussian,discrete_laplace]", "sweep.population=breaches", "sweep.answer=[100,1e5]")
    few = (*few, "sweep.accounting=zcdp", "sweep.influence_high=500", "sweep.value_high=1")
    code, out, err = command("experiment=per_record_error", *WORDS, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out


def test_a_sum_that_is_not_whole_is_refused(command):
    few = ("sweep.release=discrete_gaussian", "sweep.scale=3", "sweep.answer=2.5", "invalid=refuse")
    code, _, err = command("experiment=per_record_error", *WORDS, *few)
    assert (code, err.count("\n")) == (2, 1)
    assert "answer = 2.5" in err
    assert "valid: multiples of 1" in err


@pytest.mark.parametrize("experiment", ["interior_point", "thresholds", "privacy_loss", "tightness", "information"])
def test_elsewhere_they_are_refused_with_the_reason(command, experiment):
    code, _, err = command(f"experiment={experiment}", *WORDS, "sweep.noise=discrete_gaussian")
    assert (code, err.count("\n")) == (2, 1)
    assert "hides whole numbers alone" in err


def test_a_spec_may_choose_a_finer_lattice():
    spec = {"family": "discrete_laplace", "calibration": "tight", "step": 0.25}
    law = noise_axes.noise_law(spec, {"rho": 0.5}, coordinates=2)
    assert noise_axes.built(law["noise"]["family"], law["parameters"]) == DiscreteLaplace(2.0, 0.25)
    with pytest.raises(ValueError, match=r"sensitivity = 1 is not valid for noise on a lattice"):
        noise_axes.noise_law(spec | {"step": 2.0}, {"rho": 0.5})
    with pytest.raises(ValueError, match=r"step = 0\.25 is not valid for laplace"):
        noise_axes.noise_law(spec | {"family": "laplace"}, {"rho": 0.5})
