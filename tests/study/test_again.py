"""The command that runs a study again: given to the command line's own parser it gives the same config."""

import shlex

import pytest

from tcdp_sim.cli import overrides
from tcdp_sim.study import rerun
from tcdp_sim.study.compose import composed

GIVEN = [
    {"experiment": "histogram"},
    {"experiment": "gap_max", "trials": 5000, "chunk": 500, "seed": 2**70},
    {
        "data": "zipf",
        "sweep": {"k": [10, 1e6], "noise": ["gaussian", "laplace"], "rho": {"from": 0.1, "to": 1, "num": 3}},
    },
    {"data": {"path": "a b's.csv", "column": "true", "domain": {"from": 0, "to": 120}}},
    {"data": {"name": "mine", "path": "$x.csv", "column": "1e3", "domain": ["a,b", "null", "c:d"], "outside": "drop"}},
    {"experiment": "tightness", "also": None, "sweep": {"where": ["omega > 1.5"]}},
    {"also": {"more": {"k": 30, "noise": ["gaussian"]}}, "name": "other name"},
    {"target_mcse": {"linf_error": {"relative": 1e-3}}, "share": ["noise"]},
    {"target": {"linf_error": {"across": "noise"}, "top_stays": {"threshold": 0.5}}, "max_trials": 10**6},
]


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: next(iter(given)))
def test_the_command_composes_to_the_same_config(given, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    config = composed(given)
    command = rerun.command(config)
    (same,) = overrides.configs(shlex.split(command)[1:])
    left_out = {key: config[key] for key in rerun.NOT_ITS_OWN if key in config}
    assert {**same, **left_out} == config


def test_blocks_that_were_taken_away_are_taken_away_again():
    """As a run has recorded them: without `also`, and `share` without axes."""
    config = composed({"also": None, "share": None}) | {"also": {}, "share": []}
    assert rerun.words(config) == ["experiment=histogram", "~also.real", "~also.squared"]
    assert overrides.configs(rerun.words(config))[0]["also"] == {}


def test_a_default_study_needs_no_words_but_its_name():
    assert rerun.command(composed({})) == "tcdp-sim experiment=histogram"


@pytest.mark.parametrize(
    "words",
    [("data.name=mine",), ("data.n=50",), ("data=zipf", "data.name=steep", "data.exponent=2"), ("data.name=zipf",)],
    ids=" ".join,
)
def test_a_data_set_that_was_renamed_or_changed_is_asked_for_again(words):
    def config(*given):
        return overrides.configs(given)[0]

    first, option = config(*words), "data=zipf" if "data=zipf" in words else "data=one_bin"
    assert option in rerun.words(first)
    assert config(*rerun.words(first)) == first
