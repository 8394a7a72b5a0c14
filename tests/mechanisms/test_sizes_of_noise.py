"""Noise that a study asks for by its scale or by sigma: its parameter, and the guarantee that follows from it."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim import exact
from tcdp_sim.mechanisms.noise_axes import guarantee_of, noise_law
from tcdp_sim.noise import FAMILIES
from tcdp_sim.privacy import ZCDP, PureDP

AXES = {"gaussian": "sigma", "rounded_gaussian": "sigma", "discrete_gaussian": "sigma"}
TAKES = {"laplace", "discrete_laplace", "rounded_laplace", "generalized_gaussian", *AXES}
SHORT = {"trials": 2000, "chunk": 1000, "also": None, "cluster": "serial"}


def law(family, size, coordinates, axis=None):
    spec = {"family": family, "calibration": "tight"}
    return noise_law(spec, {axis or AXES.get(family, "scale"): size}, coordinates=coordinates)


def _loss_of_two(family, size):
    """Return the largest privacy loss of two coordinates that move by one, from the densities in mpmath."""
    w = (lambda x: abs(x) / size) if family != "generalized_gaussian" else (lambda x: mpmath.sqrt(abs(x) / size))
    return float(2 * max(abs(w(mpmath.mpf(x)) - w(mpmath.mpf(x) - 1)) for x in np.linspace(-20, 20, 4001)))


@pytest.mark.parametrize("family", sorted(TAKES))
@pytest.mark.parametrize("size", [0.7, 3.0, 250.0])
def test_the_guarantee_follows_from_the_parameter(family, size):
    found = law(family, size, 2)
    name = "sigma" if family == "discrete_gaussian" else "scale"
    assert found["parameters"][name] == size
    assert found["noise"] == {"family": family, "calibration": "given"}
    promise = guarantee_of(found)
    if family in AXES:
        assert isinstance(promise, ZCDP)
        assert promise.rho == pytest.approx(2 / (2 * size**2), rel=1e-13)
    else:
        assert found["target"]["rho"] == pytest.approx(_loss_of_two(family, size) ** 2 / 2, rel=1e-12)


@pytest.mark.parametrize("family", sorted(TAKES))
def test_the_noise_keeps_its_guarantee_and_no_much_better_one(family):
    found = law(family, 3.0, 1)
    noise, promise = FAMILIES[family](**found["parameters"]), guarantee_of(found)
    orders = [1.5, 2.0, 8.0, 64.0]
    spent = [exact.renyi_divergence(noise, 1.0, order).lower for order in orders]
    if isinstance(promise, PureDP):
        assert max(spent) <= promise.epsilon * (1 + 1e-12)
        assert exact.renyi_divergence(noise, 1.0, 1e4).upper >= 0.8 * promise.epsilon
    else:
        assert all(each <= order * promise.rho * (1 + 1e-12) for each, order in zip(spent, orders))
        largest = max(each / order for each, order in zip(spent, orders))
        assert largest >= (0.9 if family in AXES else 0.5) * promise.rho


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_takes_a_size_or_refuses_in_one_line(family):
    scaled = {"scale"} if "scale" in FAMILIES[family].parameters() else set()
    axes = [*scaled, *({"sigma"} if family in AXES else ())]
    for axis in axes:
        if family in TAKES:
            assert law(family, 2.0, 1, axis)["target"]
            with pytest.raises(ValueError, match=f"{axis} = -1"):
                law(family, -1.0, 1, axis)
        else:
            with pytest.raises(
                ValueError, match=f"{axis} alone says nothing about the guarantee of {family}; valid: rho"
            ):
                law(family, 2.0, 1, axis)


@pytest.mark.parametrize("size", [1e-300, 1e300])
@pytest.mark.parametrize("family", ["gaussian", "laplace", "discrete_gaussian"])
def test_a_size_whose_rho_is_no_float_is_refused(family, size):
    with pytest.raises(ValueError, match="is out of range; valid: a noise whose rho is a float"):
        law(family, size, 1)


@pytest.mark.parametrize("family", ["discrete_gaussian", "discrete_laplace", "rounded_laplace"])
def test_a_lattice_whose_step_does_not_divide_one_is_refused(family):
    """A record moves by one, which such noise would show."""
    spec = {"family": family, "calibration": "tight"}
    point = {AXES.get(family, "scale"): 3.0}
    assert noise_law(spec | {"step": 0.5}, point, coordinates=1)["parameters"]["step"] == 0.5
    for step in (2.0, 0.3):
        with pytest.raises(ValueError, match="valid: a multiple of its step"):
            noise_law(spec | {"step": step}, point, coordinates=1)


def test_rounding_makes_no_guarantee_too_good():
    """The rho of Gaussian noise, as a fraction, is at least c / (2 sigma^2)."""
    for sigma in np.random.default_rng(0).uniform(0.1, 10, 200):
        rho = law("gaussian", float(sigma), 2)["target"]["rho"]
        least = 1 / Fraction(float(sigma)) ** 2
        assert least * (1 - Fraction(1, 2**52)) <= Fraction(rho) <= least * (1 + Fraction(1, 10**13))


STUDIES = {
    "histogram": {"rho": None, "k": 2},
    "information": {"rho": None, "k": 2, "n": 10},
    "subsampling": {"rho": None, "k": 2, "scheme": "poisson", "s": 0.5},
}


@pytest.mark.parametrize("experiment", STUDIES)
def test_studies_with_sigma_publish_the_guarantee(experiment, tmp_path):
    """Each noise has its own axis; Gaussian noise of sigma gives c / (2 sigma^2)-zCDP if c numbers move by one."""
    sweep = {"noise": ["gaussian", "laplace"], "sigma": [2.0, 4.0], "scale": 3.0, **STUDIES[experiment]}
    tcdp_sim.run(experiment, sweep=sweep, results_dir=str(tmp_path), **SHORT)
    cells = tcdp_sim.results.open_cells(tmp_path / experiment).load()
    moves = 1 if experiment == "subsampling" else 2
    found = sorted(zip(*(cells[name].values for name in ("noise", "sigma", "scale", "rho", "guarantee"))), key=str)
    rho = {sigma: moves / (2 * sigma**2) for sigma in (2.0, 4.0)}
    epsilon = moves / 3
    wanted = [("gaussian", sigma, np.nan, rho[sigma], f"{rho[sigma]:g}-zCDP") for sigma in (2.0, 4.0)]
    wanted += [("laplace", np.nan, 3.0, epsilon**2 / 2, f"{epsilon:g}-DP")]
    assert [each[0] for each in found] == [each[0] for each in wanted]
    for each, right in zip(found, wanted):
        np.testing.assert_allclose(each[1:4], right[1:4], rtol=1e-13)
        assert each[4].startswith(right[4][:6])


def test_noise_of_a_given_size_without_a_guarantee_keeps_the_axis_rho(tmp_path):
    """Experiments with single noises promise nothing then. Their tables still have the column, without numbers."""
    sweep = {"noise": "laplace", "scale": 2.0, "rho": None}
    tcdp_sim.run("privacy_loss", sweep=sweep, results_dir=str(tmp_path), **SHORT)
    cells = tcdp_sim.results.open_cells(tmp_path / "privacy_loss").load()
    assert np.isnan(cells["rho"].values.astype(float)).all()
    assert cells["scale"].values.tolist() == [2.0] * cells.sizes["cell"]


def test_noise_with_two_parameters_is_refused_in_one_line(command):
    code, _, err = command("experiment=histogram", "also=null", "sweep.k=4", "sweep.noise=sinh_normal", "sweep.scale=3")
    assert (code, err.count("\n")) == (2, 1)
    assert "valid: rho and omega" in err
