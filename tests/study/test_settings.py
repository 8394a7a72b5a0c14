"""What a config means: checked keys, names looked up, and the blocks of the sweep."""

from pathlib import Path

import pytest

from tcdp_sim.errors import UserError
from tcdp_sim.study import settings as config
from tcdp_sim.study.settings import MAX_SEED, absent_blocks, blocks, known_keys, named, options, settings

GOOD = {
    "name": "study",
    "mode": "run",
    "seed": 2018,
    "trials": 100000,
    "chunk": 20000,
    "target_mcse": None,
    "max_trials": 10_000_000,
    "sample": 20,
    "cell": None,
    "index": 0,
    "other": None,
    "results_dir": "results",
    "invalid": "refuse",
    "numerics": "warn",
    "on_error": "raise",
    "share": None,
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


ADDED = [("+1", 501), ("+5e4", 50_500), ("+0", None), ("+0.5", None), ("+-1", None)]


@pytest.mark.parametrize(("added", "found"), ADDED)
def test_trials_are_added_to_those_that_are_there(tmp_path, added, found):
    tree = tmp_path / "study" / "results.zarr"
    tree.mkdir(parents=True)
    (tree / "zarr.json").write_text('{"attributes": {"trials_per_cell": 500}}')
    here = GOOD | {"results_dir": str(tmp_path), "trials": added}
    if found is None:
        refused(lambda: settings(here), "trials = ")
    else:
        assert settings(here).trials == found


@pytest.mark.parametrize("seed", [0, 7, 1e5, MAX_SEED - 1])
def test_seeds(seed):
    assert settings(GOOD | {"seed": seed}).seed == seed


def test_names_may_be_as_long_as_file_systems_allow():
    found = settings(GOOD | {"name": "é" * 127, "results_dir": "a/" * 1000, "data": {"name": "x" * 150}})
    assert found.name == "é" * 127


def test_names_may_look_like_numbers():
    found = settings(GOOD | {"name": 2018, "results_dir": 7})
    assert found.folder == Path("7/2018")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("mode", "nope", ["'nope'", "run, plan, draw"]),
        ("mode", None, ["None", "run, plan, draw"]),
        ("mode", ["run"], ["['run']"]),
        ("on_error", "stop", ["'stop'", "raise, continue"]),
        ("share", {"noise": 1}, ["{'noise': 1}", "a list of axes"]),
        ("share", [1], ["[1]", "a list of axes"]),
        ("trials", "+5", ["+5 adds to results", "study has none"]),
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
        ("name", "x" * 256, ["name = 'xxx", "too long", "255 bytes"]),
        ("name", "é" * 128, ["too long"]),
        ("name", "\udcff", ["'\\udcff'", "UTF-8"]),
        ("results_dir", "a/" + "z" * 256, ["too long"]),
        ("results_dir", "y/" * 2000, ["too long", "3000 for a path"]),
        ("data", {"name": "x" * 151}, ["data.name = 'xxx", "too long", "150 bytes"]),
        ("data", {"name": "a\udcff"}, ["UTF-8"]),
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
    chosen = {"data": "one_bin", "k": None, "rho": None} | dict(sweep)
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


def test_also_blocks_start_from_the_sweep_with_what_its_data_set_suggests():
    also = {"more": {"rho": 3}, "big": {"log10_k": 9}}
    found = blocks(composed(data={"k": 1, "delta": 4}, sweep={"rho": 2}, also=also))
    assert list(found) == ["sweep", "also.more", "also.big"]
    assert found["also.more"] == {"data": "one_bin", "k": 1, "delta": 4, "rho": 3}
    assert found["also.big"] == {"data": "one_bin", "delta": 4, "rho": 2, "log10_k": 9}


def test_an_empty_block_is_the_sweep_again():
    found = blocks(composed(data={"k": 1}, experiment={"omega": 2}, sweep={"rho": 2}, also={"same": {}}))
    assert found["also.same"] == found["sweep"]


def test_a_block_with_its_own_data_gets_the_axes_of_that_data():
    also = {"real": {"data": "flights_dest"}, "fixed": {"data": "flights_dest", "rho": 0.5}}
    found = blocks(composed(data={"k": 3, "delta": 4}, experiment={"omega": 7, "rho": 9}, also=also))
    suggested = named("data", "flights_dest")["axes"]
    assert found["also.real"] == {"omega": 7, "data": "flights_dest"} | suggested
    assert found["also.fixed"] == {"omega": 7, "data": "flights_dest", "k": "declared", "rho": 0.5}
    assert found["sweep"] == {"omega": 7, "rho": 9, "data": "one_bin", "k": 3, "delta": 4}


def test_what_the_sweep_gives_holds_in_every_block_unless_the_block_gives_it():
    also = {"real": {"data": "flights_dest"}, "fixed": {"data": "flights_dest", "k": "declared", "log10_rho": -2}}
    found = blocks(composed(experiment={"rho": 9}, sweep={"rho": 0.1, "log10_k": 6, "delta": None}, also=also))
    assert found["also.real"] == {"data": "flights_dest", "rho": 0.1, "log10_k": 6}
    assert found["also.fixed"] == {"data": "flights_dest", "k": "declared", "log10_rho": -2}


def test_the_sweep_may_name_another_data_set_and_gets_its_axes():
    found = blocks(composed(data={"k": 1}, sweep={"data": "flights_dest"}))
    assert found["sweep"]["k"] == "declared"
    assert blocks(composed(data={"k": 1}, sweep={"data": ["zipf", "uniform"]}))["sweep"]["k"] == 1
    assert "k" not in blocks(composed(data={"k": 1}) | {"sweep": {"data": None}})["sweep"]


def test_only_with_keeps_a_block_for_its_data_set():
    also = {"here": {"only_with": "one_bin", "k": 1}, "there": {"only_with": "zipf", "k": 2}}
    found = composed(also=also)
    assert list(blocks(found)) == ["sweep", "also.here"]
    assert "only_with" not in blocks(found)["also.here"]
    assert absent_blocks(found) == ["also.there is not part of this study: it goes with data zipf"]
    elsewhere = composed(also=also, sweep={"data": ["one_bin", "zipf"]})
    assert list(blocks(elsewhere)) == ["sweep"]


@pytest.mark.parametrize("axis", ["k", "log10_k", "rho", "log10_rho"])
def test_unless_given_leaves_a_block_out_of_a_sweep_with_axes_of_its_own(axis):
    also = {"real": {"unless_given": ["k", "rho"], "data": "flights_dest"}}
    untouched = composed(data={axis: 3}, experiment={axis: 4}, sweep={axis: None, "delta": 1e-9}, also=also)
    assert list(blocks(untouched)) == ["sweep", "also.real"]
    assert "unless_given" not in blocks(untouched)["also.real"]
    assert absent_blocks(untouched) == []
    given = composed(sweep={axis: 0}, also=also)
    assert list(blocks(given)) == ["sweep"]
    assert absent_blocks(given) == [f"also.real is not part of this study: sweep.{axis} is given"]


def test_a_block_that_is_null_is_none():
    assert list(blocks(composed(also={"real": None, "more": {"k": 3}}))) == ["sweep", "also.more"]


def test_no_further_blocks():
    assert list(blocks(composed() | {"also": None})) == ["sweep"]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("also", 3, ["also = 3"]),
        ("also", [1], ["also = [1]"]),
        ("also", {"more": 3}, ["also.more = 3"]),
        ("also", {"more": {"data": "nope"}}, ["also.more.data = 'nope'", "one_bin"]),
        ("also", {"more": {"only_with": "nope"}}, ["also.more.only_with = 'nope'", "one_bin"]),
        ("also", {"more": {"only_with": ["one_bin"]}}, ["also.more.only_with = ['one_bin']"]),
        ("also", {"more": {"unless_given": "k"}}, ["also.more.unless_given = 'k'", "[k, rho]"]),
        ("also", {"more": {"unless_given": ["foo"]}}, ["also.more.unless_given = ['foo']", "keys of sweep"]),
        ("also", {"more": {3: 4}}, ["also.more: 3 is not a key"]),
        ("sweep", {"data": "nope"}, ["sweep.data = 'nope'", "one_bin"]),
        ("also", 0, ["also = 0"]),
        ("also", "", ["also = ''"]),
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
