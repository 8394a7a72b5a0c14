"""Numbers of a standard error of 0, and of trials that are NaN, against wrong and right exact values and bounds."""

import warnings

import numpy as np
import pytest

import tcdp_sim

FILE = """
import numpy as np


def two(rng, trials, n):
    return np.full(trials, 2.0)


def half_lost(rng, trials, n):
    return np.where(rng.random(trials) < 0.5, np.nan, 2.0)


def lost(rng, trials, n):
    return np.full(trials, np.nan)


def small(rng, trials, n):
    return np.full(trials, 1e-6)


def zero(rng, trials, n):
    return np.zeros(trials)


def yes(rng, trials, n):
    return np.ones(trials, bool)


def no(rng, trials, n):
    return np.zeros(trials, bool)


def right(n):
    return 2.0


def noisy_lost(rng, trials, n):
    return np.where(rng.random(trials) < 0.5, np.nan, rng.normal(2, 1, trials))
"""
CASES = [  # function, kind, value, and whether it contradicts; 1000 trials of two cells
    ("two", "exact", 3, True),
    ("two", "exact", -2, True),
    ("two", "exact", 2.1, True),
    ("two", "exact", 2, False),
    ("two", "exact", 2 + 1e-12, False),
    ("two", "exact", 2.0001, False),  # a trial of 4 in 20,000 would do this
    ("two", "bound", 1.9, True),
    ("two", "bound", 2, False),
    ("two", "bound", 3, False),
    ("half_lost", "exact", 3, False),  # it draws, and a rare value may not have come
    ("half_lost", "exact", 2, False),
    ("half_lost", "bound", 1.9, False),
    ("noisy_lost", "exact", 3, True),
    ("noisy_lost", "exact", 2, False),
    ("noisy_lost", "bound", 1, True),
    ("lost", "exact", 3, True),
    ("lost", "bound", 3, False),
    ("small", "exact", 2e-6, True),
    ("small", "exact", 1e-6, False),
    ("zero", "exact", 0.5, True),
    ("zero", "exact", 1e-4, False),  # a rare event, returned as a number
    ("zero", "exact", 0, False),
    ("yes", "exact", 0.9, True),
    ("yes", "exact", 0.9999, False),
    ("yes", "bound", 0.9, True),
    ("no", "exact", 0.1, True),
    ("no", "exact", 1e-4, False),
    ("no", "bound", 0, False),
]


@pytest.fixture
def functions(tmp_path):
    (tmp_path / "my_file.py").write_text(FILE)
    found = {}
    exec(FILE, found)
    return found


@pytest.mark.parametrize(("name", "kind", "value", "wrong"), CASES)
def test_in_memory(functions, name, kind, value, wrong):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tcdp_sim.sweep(functions[name], {"n": [1, 2]}, trials=1000, seed=1, **{kind: {"value": value}})
    assert [each.category for each in told] == [tcdp_sim.Contradiction] * wrong


@pytest.mark.parametrize(("name", "kind", "value", "wrong"), CASES[::2])
def test_from_the_shell(command, functions, name, kind, value, wrong):
    words = (f"my_file.py:{name}", "sweep.n=[1,2]", "trials=1000", "cluster=serial", f"{kind}.value={value}")
    code, out, err = command("sweep", *words)
    assert code == (3 if wrong else 0), out + err
    if "lost" in name:
        assert "value: trials of 2 cells are NaN or infinite" in out


def test_a_number_that_is_always_nan_is_no_crash(command, functions, figures):
    code, out, err = command("sweep", "my_file.py:lost", "sweep.n=[1,2]", "trials=10", "cluster=serial")
    assert code == 0, out + err
    assert "no mean has them: cell n=1: 10 of 10" in out
    for known in ((), ("exact.value=1",)):
        words = ("my_file.py:lost", "sweep.n=[1,2]", "trials=10", "cluster=serial", *known)
        assert command("sweep", *words)[0] == (3 if known else 0)
        for words in (("report",), ("draw",), ("table", "out.csv"), ("table", "out.tex")):
            code, out, err = command(words[0], "results/lost", *words[1:])
            assert (code, err) == (3 if known and words == ("draw",) else 0, ""), (words, out, err)


def test_equal_trials_have_no_interval_anywhere(functions, tmp_path):
    found = tcdp_sim.sweep(functions["two"], {"n": 1}, trials=100, name="two", results_dir=tmp_path)
    table = tcdp_sim.table(tmp_path / "two").query("quantity == 'value'")
    for end in ("lower", "upper"):
        assert np.isnan(found[f"value_{end}"]).all()
        assert table[end].isna().all()
