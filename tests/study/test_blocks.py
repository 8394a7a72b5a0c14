"""The blocks of a study: which axes hold where."""

import pytest
from configs import GOOD, refused

from tcdp_sim.study.blocks import absent_blocks, blocks, data_spec
from tcdp_sim.study.groups import named
from tcdp_sim.study.settings import settings


def composed(sweep=(), data=(), also=(), experiment=()):
    own = {"name": "one_bin", "kind": "shape", "axes": dict(data)}
    chosen = {"data": "one_bin", "k": None, "rho": None} | dict(sweep)
    asked = {"name": "histogram", "axes": dict(experiment)}
    return settings(GOOD | {"sweep": chosen, "data": own, "also": dict(also), "experiment": asked})


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
    assert "k" not in blocks(composed(data={"k": 1}, sweep={"data": None}))["sweep"]


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
    assert list(blocks(settings(GOOD | {"also": None}))) == ["sweep"]


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
    asked = {"experiment": {"name": "histogram"}, key: value}
    asked["experiment"] |= {"name": "histogram"}
    refused(lambda: blocks(settings(GOOD | asked)), *words)


def test_the_data_set_of_a_name_is_the_chosen_one_or_one_of_the_package():
    chosen = composed(data={"k": 5})
    assert data_spec(chosen, "one_bin") is chosen.data
    assert data_spec(chosen, "zipf") == named("data", "zipf")


def test_a_block_may_list_blocks_that_complete_it():
    listed = {"unless_given": ["k"], "rho": 3, "blocks": [{"log10_k": 2}, {"rho": 4}]}
    found = blocks(composed(data={"k": 1}, also={"more": listed}))
    assert list(found) == ["sweep", "also.more.blocks[0]", "also.more.blocks[1]"]
    assert found["also.more.blocks[0]"] == {"data": "one_bin", "rho": 3, "log10_k": 2}
    assert found["also.more.blocks[1]"] == {"data": "one_bin", "k": 1, "rho": 4}
    assert list(blocks(composed(sweep={"k": 1}, also={"more": listed}))) == ["sweep"]


@pytest.mark.parametrize("listed", [3, {"k": 1}, [3]])
def test_blocks_are_a_list_of_blocks(listed):
    refused(lambda: blocks(composed(also={"more": {"blocks": listed}})), "also.more.blocks", "valid: ")
