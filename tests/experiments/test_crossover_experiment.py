"""From how many bins on tCDP beats zCDP, against closed forms written down here."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tcdp_sim.calibration import LargestError, calibrate
from tcdp_sim.experiments.crossover import crossover
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import TCDP


def quantile_of_normal(k):
    """The 95% quantile of the largest of k absolute standard normals, from the tail: right for any k >= 1."""
    return stats.norm.isf(-np.expm1(np.log(0.95) / k) / 2)


@pytest.mark.parametrize(("rho", "omega"), [(0.01, 7.1), (0.01, 10.0), (1e-4, 71.0), (0.25, 1.7)])
def test_with_the_papers_constants_it_is_hopeless(rho, omega):
    """Corollary 18: 8 omega arsinh(sqrt(16 / rho) z / (8 omega)) against z / sqrt(rho), for two bins that change."""
    k = crossover(rho, omega, "paper", 0.0)
    z = quantile_of_normal(k)
    ours = 8 * omega * np.arcsinh(np.sqrt(16 / rho) * z / (8 * omega))
    assert ours == pytest.approx(z / np.sqrt(rho), rel=1e-3)
    assert k > 1e70


@pytest.mark.parametrize(("gain", "omega"), [(0.01, 10.0), (0.1, 10.0), (0.1, 20.0)])
def test_tight_calibration_crosses_where_it_says(gain, omega):
    k = crossover(0.01, omega, "tight", gain)
    for bins, sign in ((k / 1.1, 1), (k * 1.1, -1)):
        objective = LargestError(bins, 0.95)
        noise = calibrate("sinh_normal", TCDP(0.01, omega), coordinates=2, objective=objective).noise
        assert np.sign(objective(noise) / objective(Gaussian(10.0)) - (1 - gain)) == sign


def test_errata_s1_crossings_of_the_medians_do_not_depend_on_rho():
    found = [np.log10(crossover(rho, 1 / np.sqrt(2 * rho) * 1.0001, "paper", 0.0)) for rho in (1e-4, 1e-2)]
    assert found[0] == pytest.approx(found[1], rel=1e-3)
    assert found[0] == pytest.approx(75, abs=2)


def test_never_and_always():
    assert crossover(0.01, 30.0, "paper", 0.0) == np.inf
    assert crossover(0.01, 10.0, "tight", 0.0 - 1e-2) == 1.0  # one percent worse is no crossing at all
    with pytest.raises(ValueError, match="needs omega >="):
        crossover(0.01, 2.0, "paper", 0.0)


def test_from_the_command_to_figures(command, tmp_path):
    words = ("experiment=crossover", "cluster=serial", "trials=2000", "chunk=1000", "sweep.omega_sqrt_rho=[0.75,2]")
    code, out, err = command(*words, "sweep.k=[10,1e6,1e300]")
    assert (code, err) == (0, "")
    assert "beats the Gaussian" in out
    folder = tmp_path / "results" / "crossover" / "figures"
    table = pd.read_csv(folder / "error_over_gaussian.csv")
    assert len(table) == 15
    inside = table["ratio_exact"].between(table["ratio_lower"], table["ratio_upper"])
    assert inside.sum() >= 11  # 15 intervals of 95%: fewer by chance once in 2,000
    gaussian = table[table["noise"] == "gaussian"]
    np.testing.assert_allclose(gaussian["ratio_exact"], 1, rtol=1e-9)
    tuned = table[table["noise"] == "sinh_normal_tuned"]
    assert (tuned["ratio_exact"] <= 1.0006).all()
    assert (folder / "crossover.png").exists()
