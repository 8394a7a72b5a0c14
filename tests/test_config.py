"""What a config means: checked keys, names looked up, and the blocks of the sweep."""

from pathlib import Path

import pytest

from tcdp_sim import config
from tcdp_sim.config import MAX_SEED, blocks, known_keys, named, options, settings
from tcdp_sim.errors import UserError

GOOD = {
    "name": "study",
    "mode": "run",
    "seed": 2018,
    "trials": 100000,
    "chunk": 20000,
    "results_dir": "results",
    "invalid": "refuse",
    "numerics": "warn",
    "sweep": {"data": "one_bin"},
    "also": {},
    "experiment": {"name": "histogram"},
    "mechanism": {"name": "histogram", "sampling": "order_statistics", "beta": 0.05},
    "data": {"name": "one_bin", "kind": "shape"},
    "cluster": {"name": "serial"},
}


def refused(call, *words):
    with pytest.raises(UserError) as caught:
        call()
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


# Settings


def test_good_settings_come_back():
    found = settings(GOOD)
    assert (found.name, found.experiment, found.mode, found.seed) == ("study", "histogram", "run", 2018)
    assert (found.trials, found.chunk, found.invalid, found.numerics) == (100000, 20000, "refuse", "warn")
    assert found.folder == Path("results/study")


@pytest.mark.parametrize(
    ("trials", "chunk", "chunks"), [(1, 1, 1), (1, 10, 1), (10, 10, 1), (11, 10, 2), (1e5, 2e4, 5), (1e12, 1, 10**12)]
)
def test_trials_are_rounded_up_to_whole_chunks(trials, chunk, chunks):
    found = settings(GOOD | {"trials": trials, "chunk": chunk})
    assert found.chunks == chunks
    assert isinstance(found.trials, int)


@pytest.mark.parametrize("seed", [0, 7, 1e5, MAX_SEED - 1])
def test_seeds(seed):
    assert settings(GOOD | {"seed": seed}).seed == seed


def test_names_may_look_like_numbers():
    found = settings(GOOD | {"name": 2018, "results_dir": 7})
    assert found.folder == Path("7/2018")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("mode", "nope", ["'nope'", "run, plan, draw"]),
        ("mode", None, ["None", "run, plan, draw"]),
        ("mode", ["run"], ["['run']"]),
        ("seed", -1, ["-1", "from 0"]),
        ("seed", MAX_SEED, [str(MAX_SEED - 1)]),
        ("seed", 1.5, ["1.5", "whole number"]),
        ("seed", "abc", ["'abc'"]),
        ("seed", True, ["True"]),
        ("seed", float("nan"), ["nan"]),
        ("trials", 0, ["0", "from 1 to 1000000000000"]),
        ("trials", -5, ["-5"]),
        ("trials", 1.5, ["1.5"]),
        ("trials", "1e5", ["'1e5'"]),
        ("trials", float("inf"), ["inf"]),
        ("trials", 10**12 + 1, ["1000000000001"]),
        ("trials", True, ["True"]),
        ("trials", None, ["None"]),
        ("chunk", 0, ["0", "from 1 to 10000000"]),
        ("chunk", 10**7 + 1, ["10000001"]),
        ("chunk", [1], ["[1]"]),
        ("name", "", ["''", "folder name"]),
        ("name", "a/b", ["'a/b'"]),
        ("name", "..", ["'..'"]),
        ("name", ".", ["'.'"]),
        ("name", "a\nb", ["a\\nb"]),
        ("name", None, ["None"]),
        ("name", True, ["True"]),
        ("name", ["a"], ["['a']"]),
        ("results_dir", "", ["''", "path of a folder"]),
        ("results_dir", None, ["None"]),
        ("results_dir", "a\0b", ["a\\x00b"]),
        ("results_dir", ["a"], ["['a']"]),
        ("invalid", "ignore", ["'ignore'", "refuse, skip"]),
        ("numerics", "loose", ["'loose'", "warn, strict"]),
        ("experiment", {"name": "nope"}, ["experiment.name = 'nope'", "histogram"]),
        ("experiment", {}, ["experiment.name = None"]),
        ("experiment", {"name": "histogram", "foo": 1}, ["'foo' is not a key"]),
        ("experiment", None, ["None", "histogram"]),
        ("mechanism", {"name": "nope"}, ["mechanism.name = 'nope'", "histogram"]),
        ("mechanism", "histogram", ["'histogram'"]),
        ("cluster", {"name": "nope"}, ["cluster.name = 'nope'", "local", "serial"]),
        ("cluster", {"name": "local", "foo": 1}, ["'foo' is not a key", "workers"]),
        ("cluster", 3, ["3", "local", "serial"]),
        ("data", None, ["None", "one_bin"]),
        ("data", {"name": None}, ["data.name = None"]),
        ("data", {"name": "a/b"}, ["data.name = 'a/b'", "without slashes"]),
        ("data", {"name": "[/x]"}, ["data.name = '[/x]'", "brackets"]),
        ("sweep", None, ["None"]),
        ("sweep", [1], ["[1]"]),
    ],
)
def test_a_bad_value_is_named(key, value, words):
    refused(lambda: settings(GOOD | {key: value}), key, *words)


@pytest.mark.parametrize("key", GOOD)
def test_every_key_is_needed(key):
    refused(lambda: settings({k: v for k, v in GOOD.items() if k != key}), repr(key), "missing")


def test_unknown_keys_are_refused():
    refused(lambda: settings(GOOD | {"trails": 1}), "'trails' is not a key", "trials")
    refused(lambda: known_keys("here", ["a", "b"], ["a"]), "here", "'b'", "valid: a")


# Names


def test_the_options_of_a_group_are_its_files():
    assert {"gaussian", "laplace", "sinh_normal", "truncated_laplace"} <= set(options("noise"))
    assert options("noise") == sorted(options("noise"))
    assert {"local", "serial"} <= set(options("cluster"))


def test_named_reads_a_file_of_a_group():
    assert named("noise", "gaussian")["family"] == "gaussian"
    assert named("data", "flights_dest")["domain"] == 17576


@pytest.mark.parametrize("name", ["nope", "../config", "", None, 3, "/etc/passwd"])
def test_named_refuses_what_is_no_option(name):
    refused(lambda: named("noise", name), "noise = ", ", ".join(options("noise")))


# Blocks


def composed(sweep=(), data=(), also=(), experiment=()):
    own = {"name": "one_bin", "kind": "shape", "axes": dict(data)}
    chosen = {"data": "one_bin"} | dict(sweep)
    return GOOD | {"sweep": chosen, "data": own, "also": dict(also), "experiment": {"axes": dict(experiment)}}


def block(**parts):
    (found,) = blocks(composed(**parts)).values()
    return {axis: value for axis, value in found.items() if axis != "data"}


def test_the_sweep_comes_before_the_experiment_and_that_before_the_data():
    suggested = {"k": 1, "rho": 1, "omega": 1}
    found = block(data=suggested, experiment={"rho": 2, "omega": 2}, sweep={"omega": 3, "k": None})
    assert found == {"k": 1, "rho": 2, "omega": 3}


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        ({"k": 1}, {"log10_k": 3}, {"log10_k": 3}),
        ({"log10_k": 3}, {"k": 1}, {"k": 1}),
        ({"omega": 3}, {"omega_sqrt_rho": 1}, {"omega_sqrt_rho": 1}),
        ({"omega_sqrt_rho": 1}, {"omega": 3}, {"omega": 3}),
        ({"omega_sqrt_rho": 1, "k": 1}, {"rho": 2}, {"omega_sqrt_rho": 1, "k": 1, "rho": 2}),
        ({"k": 1}, {"k": None, "log10_k": None}, {"k": 1}),
        ({"where": "k < 3"}, {"where": ["k < 5"]}, {"where": ["k < 5"]}),
    ],
)
@pytest.mark.parametrize("layer", ["data", "experiment"])
def test_an_axis_replaces_its_other_form(below, above, expected, layer):
    assert block(**{layer: below}, sweep=above) == expected


def test_also_blocks_start_from_the_sweep():
    found = blocks(composed(data={"k": 1}, sweep={"rho": 2}, also={"more": {"rho": 3}, "big": {"log10_k": 9}}))
    assert list(found) == ["sweep", "also.more", "also.big"]
    assert found["also.more"] == {"data": "one_bin", "rho": 3}
    assert found["also.big"] == {"data": "one_bin", "rho": 2, "log10_k": 9}


def test_a_block_with_its_own_data_gets_the_axes_of_that_data():
    also = {"real": {"data": "flights_dest"}, "fixed": {"data": "flights_dest", "rho": 0.5}}
    found = blocks(composed(experiment={"omega": 7}, sweep={"rho": 2, "k": 3}, also=also))
    assert found["also.real"]["k"] == "declared"
    assert found["also.real"]["rho"] == named("data", "flights_dest")["axes"]["rho"]
    assert found["also.real"]["omega"] == 7
    assert found["also.fixed"] == {"omega": 7, "k": "declared", "data": "flights_dest", "rho": 0.5}


def test_only_with_keeps_a_block_for_its_data_set():
    also = {"here": {"only_with": "one_bin", "k": 1}, "there": {"only_with": "zipf", "k": 2}}
    found = blocks(composed(also=also))
    assert list(found) == ["sweep", "also.here"]
    assert "only_with" not in found["also.here"]


def test_no_further_blocks():
    assert list(blocks(composed() | {"also": None})) == ["sweep"]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("also", 3, ["also = 3"]),
        ("also", [1], ["also = [1]"]),
        ("also", {"more": 3}, ["also.more = 3"]),
        ("also", {"more": {"data": "nope"}}, ["'nope'", "one_bin"]),
        ("data", {"name": "one_bin", "axes": 3}, ["data.axes = 3"]),
        ("experiment", {"axes": [1]}, ["experiment.axes = [1]"]),
    ],
)
def test_what_is_no_block_is_refused(key, value, words):
    refused(lambda: blocks(composed() | {key: value}), *words)


def test_the_data_set_of_a_name_is_the_chosen_one_or_one_of_the_package():
    chosen = composed(data={"k": 5})
    assert config.data_spec(chosen, "one_bin") is chosen["data"]
    assert config.data_spec(chosen, "zipf") == named("data", "zipf")
