"""Ordered records from tables: samples, the user's own, and mistakes."""

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.ordered import ordered_records
from tcdp_sim.study import groups

SAMPLES = groups.named("mechanism", "thresholds")["records"]


@pytest.mark.parametrize(
    ("name", "n", "first"), [("delays", 328521, 357), ("departures_OO", 29, None), ("departures_AS", 712, 444)]
)
def test_samples(name, n, first):
    """Totals of the files' manifest; the earliest delay is -43 minutes, told from -400 on."""
    values, counts, log2_k, done = ordered_records(name, SAMPLES[name])
    assert done == {}
    assert sum(counts) == n
    assert first is None or values[0] == first
    assert values == sorted(set(values))
    assert values[-1] < 2**log2_k


def test_a_table_of_the_users(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n30,f\n31,m\n30,f\n-2,f\n")
    spec = {"path": str(tmp_path / "t.csv"), "column": "age", "only": {"sex": "f"}, "from": -2, "log2_k": 8, "finer": 2}
    assert ordered_records("ages", spec) == ([0, 128], [1, 2], 8, {})


ROWS = "age,times\n-3,4\n5,1\n,7\n15,2\n16,3\n40,1\n7,\n"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"outside": "drop"}, ([5, 15], [1, 2], 4, {"dropped": 8, "empty": 2})),
        ({"outside": "clip"}, ([0, 5, 15], [4, 1, 6], 4, {"clipped": 8, "empty": 2})),
        ({"outside": "clip", "log2_k": 5}, ([0, 5, 15, 16, 31], [4, 1, 2, 3, 1], 5, {"clipped": 5, "empty": 2})),
        ({"outside": "clip", "finer": 2, "from": 14}, ([0, 4, 8, 12], [5, 2, 3, 1], 4, {"clipped": 6, "empty": 2})),
        ({"outside": "error", "from": -3, "log2_k": 6}, ([0, 8, 18, 19, 43], [4, 1, 2, 3, 1], 6, {"empty": 2})),
    ],
)
def test_what_does_not_fit_is_dropped_or_moved_and_counted(tmp_path, changed, expected):
    """Worked out by hand; records by their counts."""
    (tmp_path / "t.csv").write_text(ROWS)
    spec = {"path": str(tmp_path / "t.csv"), "column": "age", "count": "times", "log2_k": 4, "nulls": "drop"}
    assert ordered_records("ages", spec | changed) == expected


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"nulls": "drop"}, "-3 lies outside the declared domain; valid: 0 to 15, or outside = drop or clip"),
        ({"nulls": "drop", "from": -3}, "40 lies outside the declared domain; valid: -3 to 12, or"),
        ({"outside": "clip"}, "2 rows have an empty cell; valid: none, or nulls = drop"),
        ({"outside": "lose"}, "outside = 'lose'"),
        ({"outside": ["drop"]}, "outside = .'drop'."),
        ({"nulls": "clip"}, "nulls = 'clip'"),
        ({"nulls": "drop", "outside": "drop", "from": 1000}, "no record is left"),
    ],
)
def test_what_does_not_fit_is_an_error_unless_it_is_said_what_to_do(tmp_path, changed, said):
    (tmp_path / "t.csv").write_text(ROWS)
    spec = {"path": str(tmp_path / "t.csv"), "column": "age", "count": "times", "log2_k": 4} | changed
    with pytest.raises(UserError, match=said) as mistake:
        ordered_records("ages", spec)
    assert "\n" not in str(mistake.value)


def test_empty_cells_count_in_the_rows_that_are_chosen_alone(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n3,f\n,m\n,f\n,\n")
    spec = {"path": str(tmp_path / "t.csv"), "column": "age", "log2_k": 4, "only": {"sex": "f"}, "nulls": "drop"}
    assert ordered_records("ages", spec) == ([3], [1], 4, {"empty": 1})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"log2_k": 4}, "31 lies outside the declared domain; valid: 0 to 15"),
        ({"log2_k": 61}, "log2_k"),
        ({"column": "weight"}, "weight"),
        ({"column": "sex"}, "whole numbers in every row"),
        ({"only": {"sex": "x"}}, "no record is left"),
        ({"only": 1e12}, "only = 1000000000000.0"),
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
