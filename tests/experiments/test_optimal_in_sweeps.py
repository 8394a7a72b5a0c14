"""sweep.noise=optimal: in histograms, subsamples and selections; refused where answers move by fractions.

Simulated numbers are compared with exact ones by the command itself, at 1% false discoveries; expected quantiles are
those of an independent convex solver.
"""

import numpy as np
import pytest

from tcdp_sim import results
from tcdp_sim.results.cells import cell_mechanism

WORDS = ("cluster=serial", "trials=4000", "chunk=2000", "sweep.noise=optimal")


def test_a_histogram_has_the_least_error(command, tmp_path):
    few = ("sweep.k=[1e4,1e6]", "sweep.rho=0.1", "sweep.omega_sqrt_rho=[0.75,inf]", "sweep.data=one_bin")
    code, out, err = command("experiment=histogram", *WORDS, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out
    flat = results.open_cells(tmp_path / "results" / "histogram").load()
    exact = flat["linf_error_quantile_exact"].sel(quantile=0.95).to_numpy()
    assert dict(zip(zip(flat["k"].to_numpy(), np.round(flat["omega"].to_numpy(), 1)), exact))[1e6, 2.4] == 12.5
    assert set(flat["guarantee"].to_numpy()) == {"(0.1, 2.3717)-tCDP", "0.1-zCDP"}
    mechanism = cell_mechanism(flat, 0)
    assert (mechanism.noise.family, len(mechanism.noise.log_mass) > 10) == ("lattice", True)
    assert len(str(flat["noise_law"].to_numpy()[0])) < 100  # people read it


@pytest.mark.slow
def test_a_subsampled_histogram_has_its_losses(command):
    few = ("sweep.sampling_fraction=[0.1,1]", "sweep.data=one_bin", "sweep.threshold=0.3")
    code, out, err = command("experiment=subsampling", *WORDS, *few)
    assert (code, err) == (0, "")
    assert "none contradicts" in out


@pytest.mark.parametrize("algorithm", ["generalized_histogram", "obvious_answer"])
def test_a_selection_breaks_ties(command, tmp_path, algorithm):
    few = ("sweep.k=1000", "sweep.rho=0.1", "sweep.gap=[20,40]", "sweep.accounting=tight")
    code, out, err = command("experiment=gap_max", *WORDS, *few, f"sweep.algorithm={algorithm}")
    assert (code, err) == (0, "")
    assert "none contradicts" in out
    flat = results.open_cells(tmp_path / "results" / "gap_max").load()
    assert cell_mechanism(flat, 0).noise.family == "dithered_lattice"


@pytest.mark.parametrize("experiment", ["interior_point", "thresholds", "privacy_loss", "tightness", "information"])
def test_elsewhere_it_is_refused_with_the_reason(command, experiment):
    code, _, err = command(f"experiment={experiment}", *WORDS)
    assert (code, err.count("\n")) == (2, 1)
    assert "hides whole numbers alone" in err


@pytest.mark.slow
def test_epsilon_and_delta_of_a_subsample(command):
    """Add-remove neighbours change one bin: (epsilon, delta) noise on a lattice; substitution changes two: refused."""
    few = ("sweep.data=flights_dest", "sweep.k=declared", "sweep.epsilon=0.1", "sweep.delta=1e-6")
    few = (*few, "sweep.sampling_fraction=0.5", "trials=200", "chunk=200")
    code, out, err = command("experiment=subsampling", *WORDS, *few, "sweep.scheme=poisson")
    assert (code, err) == (0, "")
    assert "none contradicts" in out
    code, _, err = command("experiment=subsampling", *WORDS, *few, "sweep.scheme=without_replacement")
    assert code == 2
    assert "coordinates = 2" in err
