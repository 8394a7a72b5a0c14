"""Ordered records from tables: samples, the user's own, and mistakes."""

import pytest

from tcdp_sim import config
from tcdp_sim.data.ordered import ordered_records
from tcdp_sim.errors import UserError

SAMPLES = config.named("mechanism", "thresholds")["records"]


@pytest.mark.parametrize(
    ("name", "n", "first"), [("delays", 328521, 357), ("departures_OO", 29, None), ("departures_AS", 712, 444)]
)
def test_samples(name, n, first):
    """Totals of the files' manifest; the earliest delay is -43 minutes, told from -400 on."""
    values, counts, log2_k = ordered_records(name, SAMPLES[name])
    assert sum(counts) == n
    assert first is None or values[0] == first
    assert values == sorted(set(values))
    assert values[-1] < 2**log2_k


def test_a_table_of_the_users(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n30,f\n31,m\n30,f\n-2,f\n")
    spec = {"path": str(tmp_path / "t.csv"), "column": "age", "only": {"sex": "f"}, "from": -2, "log2_k": 8, "finer": 2}
    assert ordered_records("ages", spec) == ([0, 128], [1, 2], 8)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"log2_k": 4}, "31 lies outside the declared domain; valid: 0 to 15"),
        ({"log2_k": 61}, "log2_k"),
        ({"column": "weight"}, "weight"),
        ({"column": "sex"}, "whole numbers in every row"),
        ({"only": {"sex": "x"}}, "no record is left"),
        ({"only": 1e12}, "only = 1000000000000.0 is not valid; valid: {column: text}"),
        ({"only": {1: "a"}}, "is not valid; valid: {column: text}"),
        ({"file": "nyc2013_dest.csv"}, "one of file and path"),
        ({"path": None}, "one of file and path"),
        ({"colour": 1}, "unknown key"),
        ({"from": 0.5}, "from"),
        ({"finer": 9}, "finer"),
    ],
)
def test_mistakes_are_one_line(tmp_path, changed, said):
    (tmp_path / "t.csv").write_text("age,sex\n30,f\n31,m\n")
    spec = {"path": str(tmp_path / "t.csv"), "column": "age", "log2_k": 8} | changed
    with pytest.raises(UserError, match=said) as mistake:
        ordered_records("ages", spec)
    assert "\n" not in str(mistake.value)
