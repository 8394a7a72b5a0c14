"""Functions that read a table of pandas: any change of it is another function, and the same table the same one."""

import json
import os
import subprocess
import sys
from datetime import date

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim.core.identity import digest

TABLE = {"state": ["CA", "TX", None], "people": [1, 2, 3], "share": [0.5, np.nan, -0.0]}
TIMES = pd.to_datetime(["2026-01-01", "2026-01-02", None])
MAKE = {
    "as it is": lambda: pd.DataFrame(TABLE),
    "a text": lambda: pd.DataFrame(TABLE | {"state": ["CA", "TX", "NY"]}),
    "an empty text": lambda: pd.DataFrame(TABLE | {"state": ["CA", "TX", ""]}),
    "a number": lambda: pd.DataFrame(TABLE | {"people": [1, 2, 4]}),
    "the last bit": lambda: pd.DataFrame(TABLE | {"share": [np.nextafter(0.5, 1), np.nan, -0.0]}),
    "a sign of zero": lambda: pd.DataFrame(TABLE | {"share": [0.5, np.nan, 0.0]}),
    "a type": lambda: pd.DataFrame(TABLE).astype({"people": "int32"}),
    "numbers that may be missing": lambda: pd.DataFrame(TABLE).astype({"people": "Int64"}),
    "texts of numbers": lambda: pd.DataFrame(TABLE).astype({"people": str}),
    "objects": lambda: pd.DataFrame(TABLE).astype(object),
    "categories": lambda: pd.DataFrame(TABLE).astype({"state": "category"}),
    "other categories": lambda: pd.DataFrame(TABLE).astype({"state": pd.CategoricalDtype(["TX", "CA"])}),
    "ordered ones": lambda: pd.DataFrame(TABLE).astype({"state": pd.CategoricalDtype(["TX", "CA"], ordered=True)}),
    "the order of rows": lambda: pd.DataFrame(TABLE).iloc[::-1],
    "the order of columns": lambda: pd.DataFrame(TABLE)[["people", "state", "share"]],
    "a name of a column": lambda: pd.DataFrame(TABLE).rename(columns={"people": "persons"}),
    "a row label": lambda: pd.DataFrame(TABLE, index=[0, 1, 3]),
    "the name of the rows": lambda: pd.DataFrame(TABLE).rename_axis("row"),
    "two levels of rows": lambda: pd.DataFrame(TABLE).set_index(["state", "people"]),
    "levels in turn": lambda: pd.DataFrame(TABLE).set_index(["people", "state"]),
    "a row less": lambda: pd.DataFrame(TABLE).head(2),
    "times": lambda: pd.DataFrame(TABLE).assign(people=TIMES),
    "times of a zone": lambda: pd.DataFrame(TABLE).assign(people=TIMES.tz_localize("UTC")),
    "days": lambda: pd.DataFrame(TABLE).assign(people=[date(2026, 1, day) for day in (1, 2, 3)]),
    "attributes": lambda: _with_attributes(pd.DataFrame(TABLE)),
    "a column": lambda: pd.DataFrame(TABLE)["people"],
    "another column": lambda: pd.DataFrame(TABLE)["share"],
    "its name": lambda: pd.DataFrame(TABLE)["share"].rename("part"),
    "days in a row": lambda: pd.date_range("2026-01-01", periods=3, freq="D"),
    "the same days": lambda: pd.DatetimeIndex(list(pd.date_range("2026-01-01", periods=3))),
    "an index": lambda: pd.Index(TABLE["state"]),
    "a range": lambda: pd.RangeIndex(3),
    "a longer range": lambda: pd.RangeIndex(4),
}


def _with_attributes(table):
    table.attrs["unit"] = "people"
    return table


def test_each_change_is_another_table_and_the_same_is_the_same():
    found = {name: digest(make()) for name, make in MAKE.items()}
    assert found == {name: digest(make()) for name, make in MAKE.items()}
    assert len(set(found.values())) == len(found)


def test_it_is_the_same_in_another_process():
    code = "import json; from test_tables_in_functions import MAKE, digest;"
    code += "print(json.dumps({name: digest(make()) for name, make in MAKE.items()}))"
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), *sys.path]), PYTHONHASHSEED="1")
    told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == {name: digest(make()) for name, make in MAKE.items()}


@pytest.mark.parametrize("held", [object(), pd.Series(range(100)), pd.DataFrame({"a": [1]}), [1], {"a": 1}])
def test_a_table_of_objects_has_no_identity(held):
    """Nor has one of tables: pandas shortens their texts."""
    with pytest.raises(TypeError, match=f"a table holds {type(held).__name__}"):
        digest(pd.DataFrame({"a": pd.Series([held], dtype=object)}))


TOLD = pd.DataFrame({"people": [1.0, 2.0]})


def total(rng, trials, n):
    return n + TOLD["people"].sum() * np.ones(trials) + 0 * rng.random(trials)


def test_a_sweep_is_resumed_and_begins_anew_with_another_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = {"trials": 100, "chunk": 100, "name": "t", "cluster": "serial"}
    assert float(tcdp_sim.sweep(total, {"n": 1}, **words)["value"]) == 4
    tcdp_sim.sweep(total, {"n": 1}, **words)
    assert "nothing to simulate" in capsys.readouterr().err
    monkeypatch.setitem(globals(), "TOLD", pd.DataFrame({"people": [1.0, 3.0]}))
    assert float(tcdp_sim.sweep(total, {"n": 1}, **words)["value"]) == 5
    assert "of another source of this function" in capsys.readouterr().err
