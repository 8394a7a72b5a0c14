"""A function may return a DataFrame: it is read by its columns, as a dict is, and pandas is not loaded for it."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tcdp_sim
from tcdp_sim import Failure, UserError


class Polars:  # what a DataFrame of polars has of this: no attribute of pandas
    def __init__(self, **columns):
        self._columns, self.columns = columns, list(columns)
        self.shape = len(next(iter(columns.values()))), len(columns)

    def __getitem__(self, name):
        return self._columns[name]

    def __len__(self):
        return self.shape[0]


def drawn(rng, trials, n):
    error = rng.normal(size=trials) / n
    return {"error": error, "far": np.abs(error) > 0.5}


def one(rng, n):
    error = float(rng.normal()) / n
    return {"error": error, "far": abs(error) > 0.5}


def as_pandas(rng, trials, n):
    return pd.DataFrame(drawn(rng, trials, n), index=np.arange(trials) + 5)


def as_nullable(rng, trials, n):
    return pd.DataFrame(drawn(rng, trials, n)).astype({"far": "boolean"})


def as_polars(rng, trials, n):
    return Polars(**drawn(rng, trials, n))


def one_row_of_pandas(rng, n):
    return pd.DataFrame([one(rng, n)])


def one_row_of_polars(rng, n):
    return Polars(**{name: [value] for name, value in one(rng, n).items()})


def numbers(function):
    return tcdp_sim.sweep(function, {"n": [1, 2]}, trials=300, chunk=100, seed=3)


@pytest.mark.parametrize(
    ("table", "plain"),
    [
        (as_pandas, drawn),
        (as_nullable, drawn),
        (as_polars, drawn),
        (one_row_of_pandas, one),
        (one_row_of_polars, one),
    ],
)
def test_a_table_gives_the_numbers_of_a_dict(table, plain):
    found, expected = numbers(table), numbers(plain)
    for name in expected.data_vars:
        xr.testing.assert_equal(found[name].drop_attrs(), expected[name].drop_attrs())
    assert set(found.data_vars) == set(expected.data_vars)


WRONG = {
    "two columns": lambda trials: pd.DataFrame(np.zeros((trials, 2)), columns=["a", "a"]),
    "no name": lambda trials: pd.DataFrame(np.zeros((trials, 2))),
    "empty": lambda trials: pd.DataFrame(),
    "has shape": lambda trials: pd.DataFrame({"a": np.zeros(trials + 1)}),
    "valid: numbers": lambda trials: pd.DataFrame({"a": ["text"] * trials}),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_table_is_refused(words):
    def wrong(rng, trials, n):
        return WRONG[words](trials)

    with pytest.raises((UserError, Failure), match=words):
        numbers(wrong)


def test_pandas_is_not_loaded():
    code = """
import sys
import numpy as np
from tcdp_sim.mechanisms.functions.returned import checked
checked({"a": np.zeros(3)}, 3)
print("pandas" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
