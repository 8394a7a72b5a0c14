"""Every public function that takes a guarantee, with every notion: it answers, or refuses in one line.

The calls are those of the examples in the docstrings, in which the guarantee is replaced. A notion that a message calls
valid is accepted there.
"""

import ast
import doctest
import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from public_names import PACKAGES, members
from test_choices_of_texts import Replaced

from tcdp_sim.privacy import (
    RDP,
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxTCDP,
    ApproxZCDP,
    MeanConcentratedDP,
    PureDP,
)

GIVEN = {
    "PureDP": PureDP(0.5),
    "ApproxDP": ApproxDP(0.5, 1e-6),
    "ZCDP": ZCDP(0.1),
    "ApproxZCDP": ApproxZCDP(1e-7, 0.1),
    "TCDP": TCDP(0.1, 5.0),
    "ApproxTCDP": ApproxTCDP(1e-7, 0.1, 5.0),
    "RDP": RDP(5.0, 0.1),
    "MeanConcentratedDP": MeanConcentratedDP(0.1, 0.1),
}
ARGUMENTS = ("guarantee", "budget", "target", "promise")
NOT_CALLED = {
    "export",
    "group_of_records",
    "BudgetPlan",
    "Calibrated",
    "CalibratedReleases",
    "CheatSheetRow",
    "Method",
}  # a file, guarantees per record, results, and an abstract class
BESIDE = {  # (function, notion) -> why the example's other arguments do not go with a notion that messages call valid
    ("private_interior_point", "ZCDP"): "with noise='gaussian'",
    ("private_quantiles", "ZCDP"): "with noise='gaussian'",
    ("private_interior_point", "ApproxDP"): "the message is about the noise within",
    ("private_quantiles", "ApproxDP"): "the message is about the noise within",
    ("private_cdf", "ZCDP"): "with a method other than windows",
    ("plan_budget", "PureDP"): "with Laplace noise",
    ("calibrate_smooth", "ApproxDP"): "with another method",
    ("Filter", "ApproxDP"): "with the releases or orders that are expected",
}


class Given(Replaced):
    """The first call of a name, with the name GIVEN for one argument."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        found = super().visit_Call(node)
        for each in ast.walk(found):
            for field, value in ast.iter_fields(each):
                if isinstance(value, list):
                    setattr(each, field, [_given(item) for item in value])
                else:
                    setattr(each, field, _given(value))
        return found


def _given(node: Any) -> Any:
    is_it = isinstance(node, ast.Constant) and node.value == "nonsense"
    return ast.Name("GIVEN", ast.Load()) if is_it else node


def takers() -> Iterator[Any]:
    for package in PACKAGES:
        for name, thing in members(package):
            try:
                names = inspect.signature(thing).parameters
            except (TypeError, ValueError):
                continue
            called = inspect.isfunction(thing) or ast_call(thing, name)
            for argument in set(ARGUMENTS) & set(names):
                if called and name not in NOT_CALLED:
                    yield pytest.param(thing, name, argument, id=f"{package}.{name}")


def ast_call(thing: Any, name: str) -> bool:
    """Return True if an example in the docstring calls a class by its own name."""
    return re.search(rf"\b{name}\(", "".join(e.source for e in examples(thing))) is not None


@cache
def examples(thing: Any) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


def answer(thing: Any, name: str, argument: str, guarantee: Any) -> str:
    """Return "" if the example's call takes the guarantee, else its refusal; other errors are raised."""
    scope = {**vars(inspect.getmodule(thing)), name: thing, "GIVEN": guarantee}
    for example in examples(thing):
        given = Given(thing, name, argument)
        tree = given.visit(ast.parse(example.source))
        if not given.done:
            exec(compile(example.source, "example", "exec"), scope)
            continue
        call = next(
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and any(isinstance(each, ast.Name) and each.id == "GIVEN" for each in _own(node))
        )
        code = ast.fix_missing_locations(ast.Expression(call))
        try:
            eval(compile(code, "example", "eval"), scope)
        except ValueError as refusal:
            return str(refusal) or "no reason"
        return ""
    pytest.fail(f"no example in the docstring calls {name}")


def _own(node: ast.Call) -> list[ast.AST]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("thing", "name", "argument"), list(takers()))
def test_each_notion_is_answered_or_refused_and_what_is_called_valid_is_accepted(thing, name, argument):
    found = {notion: answer(thing, name, argument, guarantee) for notion, guarantee in GIVEN.items()}
    assert all("\n" not in refusal for refusal in found.values())
    assert "" in found.values()
    for refusal in filter(None, found.values()):
        valid = refusal.rpartition("valid:")[2] if "valid:" in refusal else ""
        promised = set(re.findall(r"\b(\w+DP)\b", valid)) & GIVEN.keys()
        broken = {notion for notion in promised if found[notion] and (name, notion) not in BESIDE}
        assert not broken, (refusal, {notion: found[notion] for notion in broken})


def test_there_are_many_of_them():
    assert len(list(takers())) > 25
