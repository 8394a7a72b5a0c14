"""Every public function at both ends of every range that its docstring states: it answers, or refuses in one line.

The calls are those of the examples in the docstrings, in which one number at a time is replaced: by the ends of its
range, by numbers beyond them, and by what is no number. No call gives NaN, warns of arithmetic, or raises a raw error.
"""

import ast
import doctest
import inspect
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from public_names import members
from stated_ranges import Range, numeric_parameters, stated
from test_guarantees_in_arguments import Given, ast_call

ROOMS = ("exact", "accounting", "calibration", "privacy", "candidates")
NO_RANGE: set[tuple[str, str]] = set()  # state the range in the docstring
NAN_IS_VALID = {"Bounds"}  # an end of which nothing is known
SPECIAL = (math.nan, math.inf, -math.inf)
NO_NUMBERS = ("nonsense", None, [[1.0]])


def numbers() -> Iterator[Any]:
    for room in ROOMS:
        for name, thing in members(room):
            if name in NAN_IS_VALID or (inspect.isclass(thing) and not ast_call(thing, name)):
                continue
            for argument, kind, body in numeric_parameters(thing):
                if argument in inspect.signature(thing).parameters:
                    yield pytest.param(thing, name, argument, kind, body, id=f"{room}.{name}-{argument}")


def call(thing: Any, name: str, argument: str, value: Any) -> Any:
    """Return the answer of the example's call with another value of an argument."""
    scope = {**vars(inspect.getmodule(thing)), name: thing, "GIVEN": value}
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(thing) or ""):
        given = Given(thing, name, argument)
        tree = given.visit(ast.parse(example.source))
        if not given.done:
            exec(compile(example.source, "example", "exec"), scope)
            continue
        node = next(
            each
            for each in ast.walk(tree)
            if isinstance(each, ast.Call) and any(_is_given(own) for own in (*each.args, *map(_value, each.keywords)))
        )
        try:
            return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "example", "eval"), scope)
        except NameError:  # a call within a comprehension
            return exec(compile(ast.fix_missing_locations(tree), "example", "exec"), scope)
    pytest.fail(f"no example in the docstring calls {name}")


def _value(keyword: ast.keyword) -> ast.expr:
    return keyword.value


def _is_given(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "GIVEN"


def has_nan(answer: Any) -> bool:
    parts = answer if isinstance(answer, tuple) else (answer,)
    found = (np.asarray(part) for part in parts if isinstance(part, float | np.ndarray))
    return any(part.dtype.kind == "f" and np.isnan(part).any() for part in found)


def faults(thing: Any, name: str, argument: str, values: Any, refused: bool) -> list[str]:
    """Return what is wrong with the answers for some values; with `refused` an answer is wrong too."""
    told = []
    for value in values:
        try:
            answer = call(thing, name, argument, value)
        except (ValueError, TypeError) as error:
            told += [f"{value!r}: {error!r}"] if "\n" in str(error) or not str(error) else []
        except Exception as error:  # whatever it is, it is raw
            told.append(f"{value!r}: {error!r}")
        else:
            told += [f"{value!r}: {answer!r}"] if refused or has_nan(answer) else []
    return told


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("thing", "name", "argument", "kind", "body"), list(numbers()))
def test_an_end_of_a_range_is_answered_or_refused(thing, name, argument, kind, body):
    range_ = stated(body) or Range()
    assert faults(thing, name, argument, [*range_.ends(), *SPECIAL[1:]], False) == []
    assert faults(thing, name, argument, [*range_.outside(), math.nan], True) == []
    assert faults(thing, name, argument, [value for value in NO_NUMBERS if value is not None], False) == []


def test_every_number_has_a_stated_range():
    without = {(case.values[1], case.values[2]) for case in numbers() if stated(case.values[4]) is None}
    assert without == NO_RANGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("delta, in (0, 1].", Range(0, 1, (False, True))),
        ("in nats, at least 0.", Range(0, math.inf, (True, False))),
        ("above 0 and at most 1e6.", Range(0, 1e6, (False, True))),
        ("The order, 1 <= order < inf.", Range(1, math.inf, (True, False))),
        ("from 1 to 10^7.", Range(1, 10**7, (True, True))),
        ("from 1e-9 to below 1.", Range(1e-9, 1, (True, False))),
        ("epsilon, finite, >= 0.", Range(0, math.inf, (True, False))),
        ("> 1 or inf", Range(1, math.inf, (False, False))),
        ("of either sign", Range()),
        ("The first one.", None),
    ],
)
def test_ranges_are_read(text, expected):
    assert stated(text) == expected


def test_there_are_many_of_them():
    assert len(list(numbers())) > 120
