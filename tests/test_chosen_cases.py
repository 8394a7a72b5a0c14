"""What `make test` takes of many cases: enough to show every value, and the same everywhere."""

import ast
import subprocess
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from chosen_cases import STALE, affordable, kept_cases, mark_kept, mark_slow, picked, stale_names
from cpu_times import test_of

AXES = {"k": (10, 1e6, 1e12), "noise": ("a", "b", "c", "d"), "rho": (0.1, 0.2, 0.3, 0.4, 0.5)}
ROOT = Path(__file__).parent.parent
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


def test_the_choice_depends_on_the_names_alone():
    assert picked(GRID, 7) == picked(GRID[::-1], 7)
    renamed = [(name.replace("test", "other"), case) for name, case in GRID]
    assert {name.replace("other", "test") for name in picked(renamed, 7)} != picked(GRID, 7)


def item(test, case, *marks):
    """A test case as pytest hands it over."""
    added = list(marks)
    return SimpleNamespace(
        nodeid=f"file::{test}[{case}]",
        callspec=SimpleNamespace(params={"case": case}),
        get_closest_marker=lambda name: next((mark for mark in marks if mark.name == name), None),
        add_marker=lambda mark: added.append(mark),
        added=added,
    )


class Item(SimpleNamespace):
    __hash__ = object.__hash__


def items_of(test, count, kept=()):
    def one(case):
        marks = [pytest.mark.kept.mark] if case in kept else []
        return Item(**vars(item(test, case, *marks)))

    return [one(case) for case in range(count)]


def slow(items):
    return [one for one in items if "slow" in [mark.name for mark in one.added]]


def test_as_many_cases_run_as_the_seconds_allow_and_one_at_least():
    cheap, dear, unknown, single = (items_of(name, n) for name, n in zip("abcd", (5, 5, 5, 1)))
    seconds = {"file::a": 0.1, "file::b": 0.9, "file::d": 0.9}
    mark_slow([*cheap, *dear, *unknown, *single], seconds, given=0.3)
    assert [len(slow(items)) for items in (cheap, dear, unknown, single)] == [2, 4, 0, 0]


def test_of_a_test_whose_case_takes_long_what_is_kept_runs():
    seconds = {"file::a": 7.0, "file::b": 7.0, "file::c": 0.1}
    plain, kept, quick = items_of("a", 5), items_of("b", 5, kept={3}), items_of("c", 1)
    mark_slow([*plain, *kept, *quick], seconds)
    assert slow(plain) == plain
    assert slow(kept) == kept[:3] + kept[4:]


def test_of_a_file_whose_tests_all_take_long_the_quickest_runs():
    seconds = {"file::a": 7.0, "file::b": 3.0}
    slower, quicker = items_of("a", 5), items_of("b", 5)
    mark_slow([*slower, *quicker], seconds)
    assert (len(slow(slower)), len(slow(quicker))) == (5, 4)


def test_of_a_file_whose_quickest_test_takes_very_long_nothing_runs():
    items = items_of("a", 5)
    mark_slow(items, {"file::a": 7.0})
    assert slow(items) == items


def sharing(name, count, fixture):
    """Items of a test with a fixture of their file."""
    items = items_of(name, count)
    made = SimpleNamespace(scope="module", baseid="file", argname=fixture)
    for item in items:
        item._fixtureinfo = SimpleNamespace(names_closure=[fixture], name2fixturedefs={fixture: [made]})
    return items


def test_a_shared_fixture_costs_each_case_its_part_and_the_only_test_of_a_file_all_of_it():
    seconds = {"file::data()": 9.0, "file::run()": 30.0}
    cheap, dear, plain = sharing("a", 30, "data"), sharing("b", 10, "run"), items_of("c", 1)
    mark_slow([*cheap, *dear, *plain], seconds)  # 0.3 and 3 seconds for a case
    assert [len(slow(items)) for items in (cheap, dear, plain)] == [29, 10, 0]
    only = sharing("b", 60, "run")
    mark_slow(only, seconds)
    assert len(slow(only)) == 59  # half a second for a case
    few = sharing("b", 20, "run")
    mark_slow(few, seconds)
    assert slow(few) == few
    assert len(affordable(few, seconds, 1.0)) == 1
    assert affordable(few, seconds, 0.04) == []


def test_at_least_one_case_is_affordable_unless_it_takes_very_long():
    seconds = {"file::b": 7.0}
    assert len(affordable(items_of("b", 5), seconds, 22.0)) == 3
    assert len(affordable(items_of("b", 5), seconds, 1.0)) == 1
    assert affordable(items_of("b", 5), seconds, 0.1) == []


def test_more_seconds_run_the_same_cases_and_more():
    few, more = (affordable(items_of("a", 20), {"file::a": 1.0}, given) for given in (3, 9))
    assert {one.nodeid for one in few} < {one.nodeid for one in more}


@pytest.mark.parametrize("case", range(5))
def test_a_case_that_is_marked_as_kept_always_runs(case):
    items = items_of("a", 5, kept={case})
    mark_slow(items, {"file::a": 1.0}, given=0.3)
    assert [one for one in items if one not in slow(items)] == [items[case]]


def test_a_case_that_the_file_names_is_marked_as_kept():
    items = items_of("a", 3)
    mark_kept(items, {items[1].nodeid, "file::b[1]"})
    assert [[mark.name for mark in one.added] for one in items] == [[], ["kept"], []]


def collected(*words):
    """Return the names of the tests that pytest would run."""
    call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "tests/test_bounds.py", *words]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_pytest_runs_what_the_seconds_allow():
    every = collected("-m", "")
    assert set(collected()) <= set(every)
    assert set(collected("-m", "", "--seconds=1000")) == set(every)
    few = collected("-m", "", "--seconds=0.1")
    assert set(map(test_of, few)) == set(map(test_of, every))
    assert few == [name for name in every if name in few]


def is_slow(node):
    return any("mark.slow" in ast.unparse(each) for each in node.decorator_list)


def is_there(name):
    """Whether a test has this name and is not marked slow."""
    file, function = test_of(name).split("::")
    nodes = ast.walk(ast.parse((ROOT / file).read_text("utf-8"))) if (ROOT / file).exists() else ()
    return any(isinstance(node, ast.FunctionDef) and node.name == function and not is_slow(node) for node in nodes)


def test_the_cases_of_the_file_are_there_and_run(request):
    """None has another name by now, or is marked as slow. Which cases a test has is known if it is collected, too."""
    names = kept_cases()
    assert names == sorted(set(names))
    assert [name for name in names if not is_there(name)] == []
    assert request.config.stash[STALE] == []


def test_names_without_a_case_and_names_of_slow_cases_are_found():
    items = [Item(**vars(item("a", 0))), Item(**vars(item("a", 1, pytest.mark.slow.mark)))]
    names = [f"file::{name}" for name in ("a[0]", "a[1]", "a[2]", "b[0]")]
    assert stale_names(items, names) == names[1:3]  # nothing is known of b, which was not collected


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
