"""The 276 real selection problems."""

import csv
from pathlib import Path

import pytest

import tcdp_sim.data
from tcdp_sim.data.selection_problems import selection_problems

FILES = Path(tcdp_sim.data.__file__).parent / "files"


def test_the_problems_are_those_of_the_file():
    with (FILES / "babynames_gaps.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = selection_problems()
    assert len(found) == len(rows) == 276
    for problem, row in zip(found, rows):
        assert problem.name == f"{row['year']} {row['sex']}"
        assert (problem.best, problem.second) == (row["top1"], row["top2"])
        assert (problem.k, problem.n, problem.gap) == (float(row["k"]), float(row["n"]), float(row["gap"]))
        assert 0 < problem.gap < problem.n


def test_one_of_them_agrees_with_the_full_table():
    """Girls of 2017, of which the package has every name."""
    with (FILES / "babynames_2017F.csv").open(encoding="utf-8") as file:
        rows = [(int(row["n"]), row["name"]) for row in csv.DictReader(file)]
    (problem,) = (p for p in selection_problems() if p.name == "2017 F")
    best, second = sorted(rows, reverse=True)[:2]
    assert (problem.best, problem.second) == (best[1], second[1])
    assert problem.gap == best[0] - second[0]
    assert (problem.k, problem.n) == (len(rows), sum(n for n, _ in rows))


def test_another_number_of_records():
    problem = selection_problems()[0]
    assert problem.at(problem.n) == problem
    tenth = problem.at(problem.n / 10)
    assert (tenth.k, tenth.n, tenth.gap) == (problem.k, problem.n / 10, pytest.approx(problem.gap / 10))


@pytest.mark.parametrize("n", [0, -5, float("nan"), "many", [1, 2]])
def test_sizes_that_are_not_valid_are_refused(n):
    with pytest.raises(ValueError, match=r"n = .*valid: 0 < n"):
        selection_problems()[0].at(n)
