"""The settings that a sweep shares with a study: max_trials, numerics and on_error, with and without a folder."""

import warnings

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim import Failure, UserError

LOCAL = {"name": "local", "workers": 2}
FILE = """
import numpy as np


def inverse(rng, trials, n):
    return rng.random(trials) + 1 // n


def always(rng, trials, n):
    raise KeyError(n)
"""


def inverse(rng, trials, n):
    if n == 0:
        raise ZeroDivisionError("no inverse\nof zero")
    return {"x": rng.random(trials) / n, "small": rng.random(trials) < 0.5}


def wrong_later(rng, trials, n):
    return rng.random(trials) if n < 3 else rng.random((trials, n))


def noisy(rng, trials, n):
    return rng.standard_normal(trials) * n


@pytest.mark.parametrize(
    "where", ["memory", "one by one", "share", "folder", pytest.param("workers", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_an_error_leaves_its_cell_without_numbers(tmp_path, where, order):
    asked = {"memory": {}, "one by one": {"chunk": 50}, "share": {"share": "n"}, "workers": {"cluster": LOCAL}}
    asked |= {"folder": {"name": "kept", "results_dir": tmp_path}}
    with pytest.warns(
        UserWarning, match=r"^errors left 1 of 3 cells without numbers.*cell n=0: ZeroDiv.*no inverse of zero$"
    ):
        found = tcdp_sim.sweep(inverse, {"n": order}, trials=100, on_error="continue", **asked[where])
    alone = tcdp_sim.sweep(
        inverse, {"n": [1, 2]}, trials=100, **{k: v for k, v in asked[where].items() if k in ("chunk", "share")}
    )
    for name in alone.data_vars:
        np.testing.assert_array_equal(alone[name], found[name].sel(n=[1, 2]))
    lost = found.sel(n=0)
    assert lost["trials"] == 0
    assert np.isnan([lost["x"], lost["x_mcse"], lost["small"], lost["small_upper"]]).all()


def test_an_error_ends_a_sweep_by_default_and_keeps_its_chunks(tmp_path, capsys):
    asked = {"trials": 100, "name": "kept", "results_dir": tmp_path, "chunk": 50}
    with pytest.raises(
        Failure, match=r"^cell n=0: ZeroDivisionError: no inverse of zero; finished chunks are kept in .*kept"
    ) as told:
        tcdp_sim.sweep(inverse, {"n": [1, 0, 2]}, **asked)
    assert "\n" not in str(told.value)
    capsys.readouterr()
    tcdp_sim.sweep(inverse, {"n": [1, 2]}, **asked)
    assert "2 of 4 chunks to simulate" in capsys.readouterr().err


@pytest.mark.parametrize("name", [None, "kept"])
def test_a_result_of_a_wrong_form_is_passed_over_too(tmp_path, name):
    with pytest.warns(
        UserWarning, match="errors left 1 of 3 cells without numbers.*cell n=3: a trial of value has shape"
    ):
        found = tcdp_sim.sweep(
            wrong_later, {"n": [1, 2, 3]}, trials=10, on_error="continue", name=name, results_dir=tmp_path
        )
    assert found["value"].notnull().values.tolist() == [True, True, False]


@pytest.mark.parametrize("name", [None, "kept"])
def test_cells_with_errors_contradict_nothing(tmp_path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", tcdp_sim.Contradiction)
        with pytest.warns(UserWarning, match="errors left"):
            tcdp_sim.sweep(
                inverse, {"n": [0, 1]}, trials=100, exact={"x": lambda n: 0.5}, on_error="continue", name=name,
                results_dir=tmp_path,
            )  # fmt: skip
        if name:
            tcdp_sim.draw(tmp_path / name)


def test_a_function_that_always_fails_ends_the_sweep(command, tmp_path):
    (tmp_path / "my_file.py").write_text(FILE)
    words = ("trials=10", "cluster=serial", "on_error=continue")
    code, _, err = command("sweep", "my_file.py:always", "sweep.n=[1,2]", *words)
    assert (code, "cell n=1: KeyError: 1" in err, err.count("\n")) == (1, True, 1)
    code, _, err = command("sweep", "my_file.py:inverse", "sweep.n=[0,1]", *words)
    assert (code, "errors left 1 of 2 cells without numbers" in err, "cell n=0: ZeroDivisionError" in err) == (
        1,
        True,
        True,
    )
    code, _, err = command("sweep", "my_file.py:inverse", "sweep.n=[1,0]", *words[:2], "name=other")
    assert (code, "cell n=0: ZeroDivisionError" in err, err.count("\n")) == (1, True, 1)
    assert tcdp_sim.open_results("results/inverse")["value"].sel(n=1).notnull()


@pytest.mark.parametrize("where", ["memory", "folder", pytest.param("workers", marks=pytest.mark.slow)])
def test_a_target_stops_at_max_trials(tmp_path, where):
    asked = {"memory": {}, "folder": {"name": "kept", "results_dir": tmp_path}, "workers": {"cluster": LOCAL}}[where]
    wanted = {"value": {"absolute": 1e-9}}
    found = tcdp_sim.sweep(noisy, {"n": [1, 2]}, trials=100, chunk=100, target_mcse=wanted, max_trials=1000, **asked)
    assert (found["trials"] == 1000).all()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"max_trials": 0}, "max_trials = 0"),
        ({"max_trials": "many"}, "max_trials = 'many'"),
        ({"max_trials": 5, "target_mcse": {"value": {"absolute": 1}}}, "valid: at least trials = 100"),
        ({"numerics": "strikt"}, "numerics = 'strikt' is not known; valid: warn, strict; did you mean strict?"),
        ({"on_error": True}, "on_error = True"),
    ],
)
def test_mistakes(given, told):
    with pytest.raises(UserError) as caught:
        tcdp_sim.sweep(noisy, {"n": 1}, trials=100, **given)
    assert told in str(caught.value)


def test_numerics_reaches_the_workers(monkeypatch):
    """Workers whose bits differ are refused with "strict", and told of with "warn"."""
    asked = []
    connect = tcdp_sim.sweeps.run.clusters.connect
    monkeypatch.setattr(
        "tcdp_sim.engine.clusters.connect",
        lambda spec, numerics, tell: asked.append(numerics) or connect({"name": "serial"}),
    )
    for numerics in ("warn", "strict"):
        tcdp_sim.sweep(noisy, {"n": 1}, trials=10, numerics=numerics, cluster=LOCAL)
    assert asked == ["warn", "strict"]
