"""The axis s: a name of sampling_fraction in sweeps, and the coordinate in results."""

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.core.errors import UserError
from tcdp_sim.study.compose import composed
from tcdp_sim.study.settings import settings
from tcdp_sim.study.study import prepare

KEYS = {"experiment": "subsampling", "also": None, "trials": 1000, "chunk": 1000, "cluster": "serial"}
SWEEP = {"noise": "gaussian", "rho": 0.1, "scheme": "poisson", "k": 2}


def ids(sweep, **more):
    return list(prepare(settings(composed(KEYS | {"sweep": SWEEP | sweep} | more))).plan.cells.ids())


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"s": [0.01, 0.1]}, {"sampling_fraction": [0.01, 0.1]}),
        ({"log10_s": [-2, -1]}, {"log10_sampling_fraction": [-2, -1]}),
        (
            {"s": [0.01, 0.1], "rho": [0.1, 0.2], "zip": [["s", "rho"]]},
            {"sampling_fraction": [0.01, 0.1], "rho": [0.1, 0.2], "zip": [["sampling_fraction", "rho"]]},
        ),
        (
            {"s": [0.01, 0.1], "where": ["s < 0.05"]},
            {"sampling_fraction": [0.01, 0.1], "where": "sampling_fraction < 0.05"},
        ),
        ({"cells": [{"s": 0.2}]}, {"cells": [{"sampling_fraction": 0.2}]}),
    ],
    ids=lambda sweep: "-".join(sweep),
)
def test_cells_keep_the_ids_that_they_have(short, long):
    assert ids(short) == ids(long)


def test_shared_streams_and_further_blocks_take_the_name():
    assert ids({"s": [0.01, 0.1]}, share=["s"]) == ids({"s": [0.01, 0.1]}, share=["sampling_fraction"])
    one, other = ({"more": {name: 0.3, "unless_given": ["delta"]}} for name in ("s", "sampling_fraction"))
    assert ids({"s": 0.1}, also=one) == ids({"s": 0.1}, also=other)
    absent, present = ({"more": {"s": 0.3, **more}} for more in ({"unless_given": ["s"]}, {}))
    assert len(ids({"s": 0.1}, also=absent)) == len(ids({"s": 0.1}, also=present)) - 1


def test_both_names_are_one_axis_given_twice():
    with pytest.raises(UserError, match="the axis sampling_fraction is given twice, also as s"):
        ids({"sampling_fraction": 0.1, "s": 0.2})


def test_words_replace_the_axis_of_a_file_by_either_name(command, tmp_path):
    (tmp_path / "study.yaml").write_text("experiment: subsampling\nalso: null\nsweep: {sampling_fraction: 0.5, k: 2}\n")
    words = ("sweep.s=0.25", "sweep.noise=gaussian", "sweep.rho=0.1", "sweep.scheme=poisson")
    assert "1 cells" in command("plan", "study.yaml", *words)[1]
    assert command("study.yaml", *words, "trials=1000", "chunk=1000", "cluster=serial")[0] == 0
    assert tcdp_sim.open_results("results/subsampling")["s"].item() == 0.25


def test_results_have_the_coordinate_s(tmp_path):
    keys = KEYS | {"results_dir": tmp_path, "name": "x"}
    found = tcdp_sim.run(sweep=SWEEP | {"sampling_fraction": [0.01, 0.1]}, **keys)
    np.testing.assert_allclose(found["s"], [0.01, 0.1])
    assert found["s"].attrs["units"] == "1"
    assert "sampling_fraction" not in found.coords
    for name in ("s", "sampling_fraction"):
        one = tcdp_sim.distribution(tmp_path / "x", "privacy_loss", **{name: 0.01})
        assert one.sizes["bin"] > 1
        table = tcdp_sim.table(tmp_path / "x", quantity="privacy_loss_mean", rows=name, where={name: [0.01]})
        assert table.index.name == "s"
        assert len(table) == 1


def test_a_function_of_a_users_own_keeps_its_names():
    found = tcdp_sim.sweep(
        lambda rng, trials, s, sampling_fraction: rng.random(trials), {"s": 1, "sampling_fraction": 2}
    )
    assert {"s", "sampling_fraction"} <= set(found.coords)
