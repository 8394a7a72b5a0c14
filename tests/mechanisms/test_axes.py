"""The axes of sweeps: declared once, by the mechanism; what study/ and the command line make of that."""

import math

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms import MECHANISMS, Axis, Mechanism, NoiseDraw, declared
from tcdp_sim.mechanisms.axes import COMMON, DELTA, RHO, K, scaled_omega
from tcdp_sim.study.compose import composed
from tcdp_sim.study.points import points
from tcdp_sim.study.settings import settings
from tcdp_sim.study.study import prepare

WEIGHT = Axis("weight", "weight of a record", "1", "above 0")
COLOUR = Axis("colour", "name of a colour", valid="red, blue", kind="text")
ROUND = Axis("round", "true if numbers are rounded", valid="true, false", kind="flag")
OWN = declared(K, WEIGHT, COLOUR, ROUND, DELTA)


def test_an_axis_is_declared_once_and_in_order():
    again = Axis("weight", "something else")
    assert list(declared(RHO, WEIGHT, again, RHO)) == ["rho", "weight"]
    assert declared(WEIGHT, again)["weight"] is WEIGHT
    with pytest.raises(TypeError):
        declared(WEIGHT)["weight"] = again


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("weight", 3, [3.0]),
        ("log10_weight", [1, 2], [10.0, 100.0]),
        ("weight", {"from": 1, "to": 2, "num": 3}, [1.0, 1.5, 2.0]),
        ("weight", "heavy", ["heavy"]),  # a word that the mechanism may know
        ("k", {"from": 10, "to": 1000, "num": 4, "scale": "log"}, [10.0, 46.0, 215.0, 1000.0]),
        ("colour", ["red", "red", "blue"], ["red", "blue"]),
        ("round", [True, False], ["true", "false"]),
        ("round", "true", ["true"]),
    ],
)
def test_the_kind_of_an_axis_says_how_its_values_are_read(key, value, found):
    assert [point[key.removeprefix("log10_")] for point in points({key: value}, OWN)] == found


@pytest.mark.parametrize("name", ["colour", "round"])
def test_what_is_no_number_has_no_exponent(name):
    with pytest.raises(UserError, match=f"log10_{name} is not an axis: a name has no exponent; valid: {name}"):
        points({f"log10_{name}": 2}, OWN)
    with pytest.raises(UserError, match=r"cells\.log10_colour is not an axis: a name has no exponent"):
        points({"cells": [{"log10_colour": 2}]}, OWN)


def test_a_misspelt_axis_is_told_of_the_mechanisms_own():
    with pytest.raises(UserError, match=r"sweep\.wieght is not an axis; valid: k, .*did you mean sweep\.weight\?"):
        points({"wieght": 2}, OWN)


def test_omega_follows_from_its_scaled_form():
    assert scaled_omega({"omega_sqrt_rho": 3, "rho": 0.04}) == pytest.approx(15, rel=1e-15)
    assert scaled_omega({"omega_sqrt_rho": math.inf, "rho": 0.04}) == math.inf
    assert scaled_omega({"omega": 3, "rho": 0.04}) is None
    assert scaled_omega({"omega_sqrt_rho": 3}) is None
    with pytest.raises(ValueError, match="rho = -1"):
        scaled_omega({"omega_sqrt_rho": 3, "rho": -1})


def test_an_axis_of_one_name_may_mean_different_things():
    loss, size = MECHANISMS["subsampled"].axes["threshold"], MECHANISMS["per_record_sum"].axes["threshold"]
    assert (loss.unit, size.unit) == ("nats", "counts")
    assert loss.meaning != size.meaning


def test_names_alone_declare_no_axes():
    with pytest.raises(TypeError, match=r"^the axes of Named are not declared; write axes = declared\(NOISE, Axis\("):

        class Named(NoiseDraw):
            """A mechanism that lists names."""

            axes = (*NoiseDraw.axes, "mean")


def test_a_mechanism_without_axes_has_none():
    class Bare(Mechanism):
        """A mechanism that no sweep can ask for."""

        axes = declared()

    assert dict(Bare.axes) == {}


def cells(sweep, **given):
    study = prepare(settings(composed({"also": None, "trials": 10, "chunk": 10, "sweep": sweep} | given)))
    return study.config_hash, [cell.coords for cell in study.plan.cells]


def test_common_axes_are_multiplied_out_in_one_order_whoever_writes_them_down():
    sweep = {"noise": ["gaussian", "laplace"], "k": [10, 20], "rho": [0.1, 0.2], "omega_sqrt_rho": [1, 2]}
    backwards = dict(reversed(sweep.items()))
    assert cells(sweep) == cells(backwards)
    assert [c["rho"] for c in cells(backwards)[1]][:2] == [0.1, 0.2]  # noise and k stay, rho changes first
    logarithms = {"log10_rho": [-1, -2], "log10_k": [1, 2], "noise": "gaussian"}
    assert cells(logarithms) == cells({"noise": "gaussian", "k": [10, 100], "rho": [0.1, 0.01]})


def test_data_are_an_axis_of_those_mechanisms_that_read_them():
    assert {c["data"] for c in cells({"noise": "gaussian", "k": 10, "rho": 0.1})[1]} == {"one_bin"}
    (cell,) = cells({"noise": "gaussian", "scale": 2}, mechanism="noise", experiment="sinh_normal")[1]
    assert "data" not in cell
    with pytest.raises(UserError, match=r"sweep\.data is missing"):
        cells({"noise": "gaussian", "k": 10, "rho": 0.1, "data": None})


def test_the_command_line_takes_an_axis_that_no_yaml_file_names(command):
    assert "bound" in MECHANISMS["noise"].axes
    words = ("sweep.noise=truncated_laplace", "sweep.scale=1", "sweep.bound=[2,3]", "sweep.knee=null", "also=null")
    code, out, err = command("plan", "experiment=sinh_normal", "cluster=serial", *words)
    assert (code, err) == (0, "")
    assert out.startswith("sinh_normal: 2 cells")
    code, _, err = command("plan", "experiment=sinh_normal", "sweep.bond=2")
    assert code == 2
    assert "sweep.bond is not an axis" in err
    assert "did you mean sweep.bound?" in err


def test_the_common_axes_are_declared_for_every_mechanism_that_names_them():
    for mechanism in MECHANISMS.values():
        for name, axis in mechanism.axes.items():
            if name in COMMON and name != "k":  # bins, candidates
                assert axis is COMMON[name]
