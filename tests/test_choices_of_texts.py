"""Every public argument with a fixed set of valid texts refuses any other text, before it computes anything.

The sets stand in the docstrings, as in `relation : {"add_remove", "substitute"}`. The calls are those of the examples
in the docstrings, in which the argument is replaced.
"""

import ast
import doctest
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
from public_names import PACKAGES, members

from tcdp_sim.accounting import Additive
from tcdp_sim.calibration import calibrate_releases
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.quantiles import Independent
from tcdp_sim.privacy import ApproxDP, PureDP

NONSENSE = "nonsense"
NO_CALL = {  # what has no example that the argument fits -> a call with the text
    ("calibrate_releases", "relation"): lambda: calibrate_releases([GAUSSIAN], TARGET, relation=NONSENSE),
    ("Method", "relation"): lambda: Independent.of((0.5,), NONSENSE, PureDP(1.0)),  # an abstract class
}
GAUSSIAN, TARGET = Additive(Gaussian(1.0)), ApproxDP(1.0, 1e-6)
LISTED = re.compile(r'^\s*(\w+(?:, \w+)*) : \{(.*"\w.*)\}', re.MULTILINE)


def choices(thing: Any) -> list[str]:
    """Return the parameters of a function or class whose docstring lists their valid texts."""
    try:
        names = set(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return []
    found = LISTED.findall(inspect.getdoc(thing) or "")
    return [name for listed, _ in found for name in listed.split(", ") if name in names]


def arguments() -> Iterator[Any]:
    for package in PACKAGES:
        for name, thing in members(package):
            for argument in choices(thing):
                yield pytest.param(thing, name, argument, id=f"{package}.{name}-{argument}")


class Replaced(ast.NodeTransformer):
    """The first call of a name, with one argument replaced."""

    def __init__(self, thing: Any, name: str, argument: str) -> None:
        self.names, self.name, self.argument = list(inspect.signature(thing).parameters), name, argument
        self.done = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called != self.name or self.done:
            return node
        self.done = True
        at = self.names.index(self.argument)
        if at < len(node.args):
            node.args[at] = ast.Constant(NONSENSE)
            return node
        kept = [keyword for keyword in node.keywords if keyword.arg != self.argument]
        node.keywords = [*kept, ast.keyword(self.argument, ast.Constant(NONSENSE))]
        return node


@pytest.mark.parametrize(("thing", "name", "argument"), list(arguments()))
def test_another_text_is_refused(thing, name, argument):
    if (name, argument) in NO_CALL:
        with pytest.raises(ValueError, match=NONSENSE):
            NO_CALL[name, argument]()
        return
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    scope = {**vars(inspect.getmodule(thing)), name: thing}
    for example in examples:
        replaced = Replaced(thing, name, argument)
        code = ast.fix_missing_locations(replaced.visit(ast.parse(example.source)))
        if replaced.done:
            with pytest.raises(ValueError, match=NONSENSE) as refused:
                exec(compile(code, "example", "exec"), scope)
            assert "\n" not in str(refused.value)
            return
        exec(compile(example.source, "example", "single"), scope)
    pytest.fail(f"no example in the docstring calls {name}")


def test_there_are_many_of_them():
    assert len(list(arguments())) > 30
