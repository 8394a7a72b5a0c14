"""What `make test` takes of many cases: enough to show every value, and the same everywhere."""

import ast
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from fast_cases import mark_slow, picked

AXES = {"k": (10, 1e6, 1e12), "noise": ("a", "b", "c", "d"), "rho": (0.1, 0.2, 0.3, 0.4, 0.5)}
WHOLLY_SLOW = {"test_clusters_slurm.py", "test_copied_while_running.py"}  # files of which `make test` runs nothing
GRID = [(f"test[{i}]", dict(zip(AXES, values))) for i, values in enumerate(product(*AXES.values()))]


def shown(names):
    return {(axis, value) for name, case in GRID if name in names for axis, value in case.items()}


def test_a_few_of_many_combinations_show_every_value():
    """No fewer than the longest axis can; each case shows three new values as long as there are any."""
    every = shown({name for name, _ in GRID})
    assert shown(picked(GRID, 5)) == every
    assert len(shown(picked(GRID, 3))) == 9
    assert len(picked(GRID, 17)) == 17
    assert picked(GRID, 60) == picked(GRID, 1000) == {name for name, _ in GRID}


def test_a_value_counts_for_its_own_parameter():
    square = [(f"test[{x}-{y}]", {"x": x, "y": y}) for x, y in product(range(4), repeat=2)]
    kept = [case for name, case in square if name in picked(square, 4)]
    assert [{case[axis] for case in kept} for axis in "xy"] == [{0, 1, 2, 3}] * 2


def test_cases_that_are_kept_come_first_and_the_others_show_what_they_do_not():
    always = {"test[0]", "test[1]"}  # which differ in rho alone
    found = picked(GRID, 5, always)
    assert always <= found
    assert len(found) == 5
    assert shown(found) == shown({name for name, _ in GRID})
    assert picked(GRID, 2, always) == always
    with pytest.raises(ValueError, match=r"2 cases are marked kept: test\[0\], \.\.\.; valid: at most few\(1\)"):
        picked(GRID, 1, always)


def test_the_choice_depends_on_the_names_alone():
    assert picked(GRID, 7) == picked(GRID[::-1], 7)
    renamed = [(name.replace("test", "other"), case) for name, case in GRID]
    assert {name.replace("other", "test") for name in picked(renamed, 7)} != picked(GRID, 7)


def item(test, case, *marks):
    """A test case as pytest hands it over."""
    added = list(marks)
    return SimpleNamespace(
        nodeid=f"file::{test}[{case}]",
        originalname=test,
        parent=SimpleNamespace(nodeid="file"),
        callspec=SimpleNamespace(params={"case": case}),
        get_closest_marker=lambda name: next((mark for mark in marks if mark.name == name), None),
        add_marker=lambda mark: added.append(mark),
        added=added,
    )


def test_the_rest_of_a_test_is_slow_and_other_tests_are_left_alone():
    few = [item("one", case, pytest.mark.few(2).mark) for case in range(5)]
    more = [item("two", case, pytest.mark.few(3).mark) for case in range(5)]
    plain = [item("three", case) for case in range(5)]
    mark_slow([*few, *more, *plain])
    counts = [sum("slow" in [mark.name for mark in one.added] for one in items) for items in (few, more, plain)]
    assert counts == [3, 2, 0]


@pytest.mark.parametrize("case", range(5))
def test_a_case_that_is_marked_as_kept_is_not_slow(case):
    few = [item("one", i, pytest.mark.few(1).mark, *[pytest.mark.kept.mark] * (i == case)) for i in range(5)]
    mark_slow(few)
    assert [one.nodeid for one in few if "slow" not in [mark.name for mark in one.added]] == [f"file::one[{case}]"]


def is_slow(node):
    return any("mark.slow" in ast.unparse(each) for each in node.decorator_list)


def is_wholly_slow(path):
    """Whether all of its tests are marked slow, one by one or together."""
    body = ast.parse(path.read_text("utf-8")).body
    together = [node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"]
    if any("mark.slow" in ast.unparse(node.value) for node in together):
        return True
    tests = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and "test" in node.name.lower()]
    return all(is_slow(node) for node in tests)


def test_every_file_has_a_test_that_make_test_runs():
    found = {path.name for path in Path(__file__).parent.rglob("test_*.py") if is_wholly_slow(path)}
    assert found == WHOLLY_SLOW
