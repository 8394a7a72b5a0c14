"""Every public function at both ends of every range that its docstring states: it answers, or refuses in one line.

The calls are those of the examples in the docstrings, in which one number at a time is replaced: by the ends of its
range, by numbers beyond them, and by what is no number. No call gives NaN, warns of arithmetic, or raises a raw error.
"""

import ast
import doctest
import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from public_names import members
from stated_ranges import Range, numeric_parameters, stated
from test_guarantees_in_arguments import Given, ast_call

from tcdp_sim.accounting import (
    Additive,
    Allocated,
    Bands,
    BoundedRange,
    Claimed,
    CountReleases,
    Distributions,
    Filter,
    Ledger,
    MatrixMechanism,
    Odometer,
    PermuteAndFlip,
    RandomisedResponse,
    SameBin,
    Sampled,
    Thresholded,
)
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, TruncatedLaplace
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP

ROOMS = ("exact", "accounting", "calibration", "privacy", "candidates")
NO_RANGE: set[tuple[str, str]] = set()  # state the range in the docstring
ALONG_OUTCOMES = {"delta_of_outputs", "divergence_of_outputs"}  # their arrays belong to one answer
NAN_IS_VALID = {"Bounds"}  # an end of which nothing is known
NO_NUMBERS = ("nonsense", [[1.0]])
GAUSSIAN = Additive(Gaussian(2.0))
LISTS = (  # each kind of release, little and much noise
    [],
    [(GAUSSIAN, 3)],
    [Additive(Gaussian(1e-6))],
    [Additive(Gaussian(1e9))],
    [Additive(Laplace(2.0))],
    [Additive(DiscreteGaussian(2.0))],
    [Additive(DiscreteLaplace(1e-3))],
    [Additive(TruncatedLaplace(2.0, 9.0))],
    [RandomisedResponse(0.5)],
    [BoundedRange(0.5), BoundedRange(1.0)],
    [PermuteAndFlip(0.5)],
    [Distributions([0.0, 1.0], [1.0, 0.0])],
    [Distributions([0.25, 0.75], [0.5, 0.5])],
    [Sampled(GAUSSIAN, 0.02)],
    [Sampled(GAUSSIAN, 0.0)],
    [Thresholded(Laplace(1.0), 9.0)],
    [Allocated(1.0, 10)],
    [Claimed(ZCDP(0.1))],
    [Claimed(PureDP(0.0))],
    [Claimed(ApproxDP(0.5, 1e-6)), GAUSSIAN],
    [Claimed(TCDP(0.1, 3.0))],
    [Claimed(RDP(2.0, 0.1))],
)
OBJECTS: dict[str, list[Callable[[], Any]]] = {
    "Ledger": [partial(Ledger, releases, "add_remove") for releases in LISTS],
    "CountReleases": [lambda: CountReleases([4.0, 9.0])],
    "Filter": [lambda: Filter(ZCDP(1.0)), lambda: Filter(PureDP(1.0)), lambda: Filter(ApproxDP(1.0, 1e-6), 10.0)],
    "Odometer": [lambda: Odometer(1e-6, 10.0)],
    "MatrixMechanism": [lambda: MatrixMechanism(Bands(2, 6), SameBin(3), 1.0)],
    "Allocated": [lambda: Allocated(1.0, 10)],
}
LONG = {  # take seconds each, and the code that they run is that of other arguments here
    "accounting.Ledger.posterior-chance",
    "accounting.Ledger.posterior-prior",
    "accounting.Ledger.reconstruction-candidates",
    "accounting.Ledger.tradeoff-alpha",
    "composed_pairs.composed_epsilon-releases",
    "exact.histogram_information-k",
}
ORDINARY = {  # the other arguments of a method
    "alpha": 0.1,
    "candidates": 10.0,
    "delta": 1e-6,
    "epsilon": 1.0,
    "factor": 2.0,
    "failure": 0.3,
    "order": 2.0,
    "prior": 0.1,
    "release": GAUSSIAN,
    "rng": np.random.default_rng(0),
    "times": 2,
}


def case(*values: Any, name: str) -> Any:
    return pytest.param(*values, id=name, marks=[pytest.mark.slow] * (name in LONG))


def numbers() -> Iterator[Any]:
    for room in ROOMS:
        for name, thing in members(room):
            if name in NAN_IS_VALID or (inspect.isclass(thing) and not ast_call(thing, name)):
                continue
            for argument, kind, body in numeric_parameters(thing):
                if argument in inspect.signature(thing).parameters:
                    yield case(thing, name, argument, kind, body, name=f"{room}.{name}-{argument}")


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


def faults(ask: Callable[[Any], Any], values: Iterable[Any], refused: bool = False) -> list[str]:
    """Return what is wrong with the answers for some values; with `refused` an answer is wrong too."""
    told = []
    for value in values:
        try:
            answer = ask(value)
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
    ask, range_ = partial(call, thing, name, argument), stated(body) or Range()
    assert faults(ask, [*range_.ends(), math.inf, -math.inf, *NO_NUMBERS]) == []
    assert faults(ask, [*range_.outside(), math.nan], refused=True) == []


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("thing", "name", "argument", "kind", "body"),
    [case for case in numbers() if case.values[3] == "float or array" and case.values[1] not in ALONG_OUTCOMES],
)
def test_an_array_is_answered_in_its_shape(thing, name, argument, kind, body):
    value = (stated(body) or Range()).inside()
    one, two = (call(thing, name, argument, given) for given in (value, [value, value]))
    for alone, both in zip(one, two):
        assert both.shape == (2,)
        assert both == pytest.approx([alone, alone], rel=1e-9)


def methods() -> Iterator[Any]:
    """Yield the methods of the ledger and of other results that take numbers."""
    for room in ROOMS:
        for name, thing in members(room):
            for method, function in inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else ():
                for argument, _, body in numeric_parameters(function):
                    if not method.startswith("_") and name not in {*NAN_IS_VALID, "Release"}:
                        yield case(name, method, argument, body, name=f"{room}.{name}.{method}-{argument}")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "method", "argument", "body"), list(methods()))
def test_an_end_of_a_range_of_a_method_is_answered_or_refused(name, method, argument, body):
    range_ = stated(body)
    for make in OBJECTS[name]:

        def ask(value, make=make):
            thing = make()
            names = inspect.signature(getattr(thing, method)).parameters
            given = {each: ORDINARY[each] for each, parameter in names.items() if parameter.default is parameter.empty}
            return getattr(thing, method)(**{**given, argument: value})

        assert faults(ask, [*range_.ends(), range_.inside(), math.inf, -math.inf, *NO_NUMBERS]) == []
        assert faults(ask, [*range_.outside(), math.nan], refused=True) == []


def test_every_number_has_a_stated_range():
    without = {(each.values[1], each.values[2]) for each in numbers() if stated(each.values[4]) is None}
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
