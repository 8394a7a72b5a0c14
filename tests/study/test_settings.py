"""Settings: every key of a config, checked once."""

from pathlib import Path

import pytest
from configs import GOOD, refused

from tcdp_sim.core.errors import UserError
from tcdp_sim.study.more_trials import with_trials
from tcdp_sim.study.settings import MAX_SEED, settings


def test_good_settings_come_back():
    found = settings(GOOD)
    assert (found.name, found.experiment.name, found.seed) == ("study", "histogram", 2018)
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
        refused(lambda: with_trials(here), "trials = ")
    else:
        assert settings(with_trials(here)).trials == found


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
        ("on_error", "raise", ["'raise'", "stop, continue"]),
        ("share", {"noise": 1}, ["{'noise': 1}", "a list of axes"]),
        ("share", [1], ["[1]", "a list of axes"]),
        ("trials", "+5", ["'+5'", "whole number"]),
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
        ("experiment", {}, ["'experiment.name' is missing"]),
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
    refused(
        lambda: settings(GOOD | {"experiment": {"name": "histogram", "foo": 1}}), "experiment: 'foo'", "valid: name"
    )


@pytest.mark.parametrize(
    ("key", "meant"), [("trails", "trials"), ("Trials", "trials"), ("rho", "sweep.rho"), ("sede", "seed")]
)
def test_a_wrong_key_suggests_the_right_one(key, meant):
    refused(
        lambda: settings(GOOD | {"sweep": {"rho": None}, key: 1}), f"{key!r} is not a key", f"did you mean {meant}?"
    )


def test_what_means_nothing_suggests_nothing():
    with pytest.raises(UserError) as caught:
        settings(GOOD | {"zzz": 1})
    assert "did you mean" not in str(caught.value)


def test_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        settings(GOOD).seed = 3
