"""Odd values in every key of a config: a plan, or one line that names the key and what would be valid."""

import copy
import math

import pytest
from omegaconf import OmegaConf

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import run
from tcdp_sim.study.groups import GROUPS, named
from tcdp_sim.study.settings import KEYS, settings

HUGE = 10**400
VALID = None  # the value is accepted


def config_file():
    return OmegaConf.to_container(OmegaConf.create((GROUPS / "config.yaml").read_text("utf-8")))


def composed():
    """The default study, small, as Hydra would compose it."""
    raw = {key: value for key, value in config_file().items() if key in KEYS}
    raw |= copy.deepcopy(dict(named("experiment", "histogram"))) | {"name": "odd", "trials": 10, "chunk": 10}
    raw |= {"mechanism": dict(named("mechanism", "histogram")), "cluster": {"name": "serial"}}
    raw["data"] = copy.deepcopy(dict(named("data", "one_bin"))) | {"axes": {"k": 10, "rho": 0.1}}
    raw["sweep"] |= {"noise": ["gaussian", "sinh_normal"], "data": "one_bin"}
    return raw


def changed(path, value):
    raw = composed()
    *parents, last = path.split("/")
    spot = raw
    for parent in parents:
        spot = spot[parent]
    spot[last] = value
    return raw


def test_the_config_is_a_study_before_it_is_changed():
    cells = run.prepare(settings(composed())).plan.cells
    assert {cell.coords["data"] for cell in cells} == {"one_bin", "flights_dest"}
    assert len(cells) == 3 + 3 * 9  # gaussian, sinh-normal at two omegas; 9 rho


ODD = [
    ("name", {"a": 1}, ["name = {'a': 1}"]),
    ("name", "ünï côde", VALID),
    ("seed", HUGE, ["seed = 1000"]),
    ("seed", {"a": 1}, ["seed = {'a': 1}"]),
    ("trials", [[]], ["trials = [[]]"]),
    ("trials", HUGE, ["trials = 1000"]),
    ("chunk", "ü", ["chunk = 'ü'"]),
    ("results_dir", {"a": [1]}, ["results_dir"]),
    ("invalid", ["skip"], ["invalid = ['skip']"]),
    ("numerics", {}, ["numerics = {}"]),
    ("experiment/name", ["histogram"], ["experiment.name = ['histogram']"]),
    ("experiment/axes", "ü", ["experiment.axes = 'ü'"]),
    ("experiment/axes", {3: 4}, ["experiment.axes: 3 is not a key"]),
    ("experiment/axes", None, ["sinh_normal needs omega"]),
    ("mechanism/name", {"a": 1}, ["mechanism.name = {'a': 1}"]),
    ("mechanism/beta", [0.1], ["mechanism.beta = [0.1] is not valid; valid: one number, 0 < beta < 1"]),
    ("mechanism/beta", {"a": 1}, ["mechanism.beta = {'a': 1}"]),
    ("mechanism/beta", None, ["mechanism.beta = None"]),
    ("mechanism/beta", True, ["mechanism.beta = True"]),
    ("mechanism/beta", math.nan, ["mechanism.beta = nan"]),
    ("mechanism/beta", HUGE, ["mechanism.beta = 1000"]),
    ("mechanism/beta", 1e-320, VALID),
    ("mechanism/sampling", ["dense"], ["mechanism.sampling = ['dense']", "order_statistics, dense"]),
    ("mechanism/sampling", {}, ["mechanism.sampling = {}"]),
    ("data/name", ["a"], ["data.name = ['a']"]),
    ("data/kind", ["shape"], ["kind = ['shape']", "shape, sample, table"]),
    ("data/shape", {"a": 1}, ["shape = {'a': 1}"]),
    ("data/n", -1, ["data.n = -1 is not valid"]),
    ("data/n", HUGE, ["data.n = 1000"]),
    ("data/n", {"a": 1}, ["data.n = {'a': 1}"]),
    ("data/axes", [1], ["data.axes = [1]"]),
    ("data/axes", {"k": {"a": 1}, "rho": 0.1}, ["sweep.k: unknown key a"]),
    ("cluster/name", ["serial"], ["cluster.name = ['serial']"]),
    ("sweep", {"noise": "gaussian"}, VALID),
    ("sweep/noise", {"a": 1}, ["sweep.noise = {'a': 1} is not known; valid: a name"]),
    ("sweep/noise", "ü", ["sweep.noise = ü is not known", "gaussian"]),
    ("sweep/noise", [None], ["sweep.noise = None"]),
    ("sweep/noise", [], ["sweep.noise is empty"]),
    ("sweep/data", {"a": 1}, ["sweep.data = {'a': 1} is not known; valid: a name"]),
    ("sweep/data", "ü", ["sweep.data = 'ü'", "one_bin"]),
    ("sweep/data", ["one_bin", "ü"], ["'ü' is not known", "one_bin"]),
    ("sweep/data", None, ["sweep.data is missing"]),
    ("sweep/data", ["one_bin"], VALID),
    ("sweep/k", {}, ["sweep.k: a range needs"]),
    ("sweep/k", "", ["k = ''"]),
    ("sweep/k", math.inf, ["k = inf"]),
    ("sweep/k", HUGE, ["sweep.k is too large"]),
    ("sweep/k", 10**90, VALID),
    ("sweep/k", {"from": -1e308, "to": 1e308, "num": 3}, ["sweep.k = nan"]),
    ("sweep/k", {"from": 1, "to": 2, "num": 3, "scale": ["log"]}, ["sweep.k: scale must be"]),
    ("sweep/k", {"from": 1, "to": 2, "num": 3, 4: 5}, ["sweep.k: unknown key 4"]),
    ("sweep/rho", 1e-320, ["cell ", "valid: 1e-60 to 1e+60"]),
    ("sweep/rho", 1e308, ["cell ", "valid: 1e-60 to 1e+60"]),
    ("sweep/log10_rho", -400, ["rho = 0 is not valid"]),
    ("sweep/log10_rho", [[1]], ["sweep.log10_rho = [1]"]),
    ("sweep/log10_noise", 1, ["sweep.log10_noise is not an axis"]),
    ("sweep/omega", math.inf, ["cell ", "finite omega"]),
    ("sweep/omega", 1e308, ["cell ", "valid: 1e-60 to 1e+60"]),
    ("sweep/omega_sqrt_rho", "", ["omega_sqrt_rho = ''"]),
    ("sweep/zip", {}, ["sweep.zip = {}"]),
    ("sweep/zip", [[]], VALID),
    ("sweep/zip", [["noise", ["omega_sqrt_rho"]]], ["sweep.zip"]),
    ("sweep/zip", [["noise", "omega_sqrt_rho"]], VALID),
    ("sweep/where", {}, ["sweep.where: {} is not a condition"]),
    ("sweep/where", [["k"]], ["sweep.where: ['k']"]),
    ("sweep/where", ["k <= 1e6", "omega > 1.5"], VALID),
    ("sweep/where", "ü < 1", ["sweep.where: ü is not an axis"]),
    ("sweep/cells", [{True: 1}], ["sweep.cells: True is not an axis", "omega_sqrt_rho"]),
    ("sweep/cells", [{"k": 5}, {None: 1}], ["sweep.cells: None is not an axis"]),
    ("also/x", {"cells": {1.5: 1}}, ["also.x.cells: 1.5 is not an axis"]),
    ("sweep/cells", [], ["sweep.cells is empty"]),
    ("sweep/cells", [None], ["sweep.cells: None is not a point"]),
    ("sweep/cells", {"k": {"a": 1}}, ["sweep.cells.k: unknown key a"]),
    ("sweep/cells", {"data": "nope"}, ["'nope' is not known"]),
    ("sweep/cells", {"k": 30, "noise": "gaussian"}, VALID),
    ("sweep/3", 1, ["sweep.3 is not an axis"]),
    ("also", None, VALID),
    ("also", [], ["also = []"]),
    ("also", {3: {"k": 4}}, ["also: 3 is not a key"]),
    ("also/real", None, VALID),
    ("also/real", [], ["also.real = []"]),
    ("also/real/data", ["flights_dest"], ["also.real: ", "k = 10; valid: at least the declared domain"]),
    ("also/real/data", {"a": 1}, ["also.real.data = {'a': 1}"]),
    ("also/real/k", 1e3, ["also.real: ", "k = 1000; valid: at least the declared domain"]),
    ("also/real/also", 3, ["also.real.also is not an axis"]),
    ("also/real/only_with", {}, ["also.real.only_with = {}"]),
    ("also/real/unless_given", "k", ["also.real.unless_given = 'k'"]),
    ("also/x", {}, VALID),
    ("also/x", {"k": 30}, VALID),
    ("also/x", {"rho": math.nan}, ["also.x.rho = nan"]),
    ("also/x", {"cells": []}, ["also.x.cells is empty"]),
    ("also/x", {"k": 0}, ["also.x: ", "k = 0"]),
    ("also/x", {"noise": "sinh_normal", "omega": 1}, ["also.x: cell ", "omega = 1"]),
    ("also/x", {"data": "zipf", "k": 30}, VALID),
    ("also/ü", {"k": "ü"}, ["also.ü: k = 'ü'"]),
]


@pytest.mark.parametrize(("path", "value", "words"), ODD, ids=lambda part: str(part)[:40])
def test_an_odd_value_is_a_study_or_one_line(path, value, words):
    raw = changed(path, value)
    if words is VALID:
        assert run.prepare(settings(raw)).plan.cells
        return
    with pytest.raises(UserError) as caught:
        run.prepare(settings(raw))
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said
    if path != "sweep/rho" and not path.startswith(("sweep/omega", "also/x", "experiment/axes")):
        assert "invalid=skip" not in said  # only a cell can be left out


OWN_POINTS = [{"rho": 0.2}, {"log10_k": 3}, {"k": [10, 20]}, {"where": "k <= 1e6"}, {"cells": {"k": 5}}]


@pytest.mark.parametrize("axes", OWN_POINTS)
def test_the_real_data_of_the_default_study_give_way_to_points_of_the_users_own(axes):
    raw = composed()
    raw["sweep"] |= axes
    assert {cell.coords["data"] for cell in run.prepare(settings(raw)).plan.cells} == {"one_bin"}


def test_what_has_no_points_of_its_own_reaches_the_real_data_of_the_default_study():
    raw = composed()
    raw["sweep"] |= {"noise": "gaussian", "delta": 1e-9}
    cells = run.prepare(settings(raw)).plan.cells
    assert {(cell.coords["data"], cell.coords["noise"]) for cell in cells} == {
        ("one_bin", "gaussian"),
        ("flights_dest", "gaussian"),
    }
