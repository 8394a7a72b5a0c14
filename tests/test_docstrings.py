"""Docstrings as docs/project/style.md asks: first lines of functions, numpydoc's sections of public names, examples."""

import ast
import doctest
import importlib
import inspect
import pydoc
import re
from enum import Enum

import numpydoc.validate
import pytest
from public_names import PACKAGES, members, package
from words_of_code import ROOT, files

MODULES = sorted(n for n in files() if n.endswith(".py") and n.startswith(("tcdp_sim/", "experiments/", "benchmarks/")))
# No first line begins so. The rules of ruff that are selected in pyproject.toml ask more of public names.
RIDDLES = re.compile(r"(Of|To|Those|Its|As|What|How|Whether|Which|Who|Whom|Whose|Where|Whatever|From|For|In|By|With)\b")
PUBLISHED = (  # first lines that are published with results, as a variable's long name or a point's place
    "What is printed of the Renyi divergence of the cell's order.",
    "What a coupling puts on pairs at the nearest distance against 0.99",
)
CODES = {  # of numpydoc: https://numpydoc.readthedocs.io/en/latest/validation.html
    *("SS03", "SS05"),  # the summary ends with a full stop and begins with an infinitive
    *("PR01", "PR02", "PR04", "PR07"),  # every parameter has its line, type and meaning
    *("RT01", "RT03"),  # what is returned is said
    "EX01",  # there is an example
}


def docstrings(path):
    """Yield (line, first line) of the docstring of every function of a file, but for properties and tests' helpers."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text, decorators = ast.get_docstring(node), " ".join(map(ast.unparse, node.decorator_list))
        if text and "property" not in decorators:
            yield node.lineno, text.partition("\n")[0]


def test_no_docstring_of_a_function_begins_as_a_riddle():
    found = [(path, line, first) for path in MODULES for line, first in docstrings(path) if RIDDLES.match(first)]
    assert [each for each in found if not each[2].startswith(PUBLISHED)] == []


def public_functions_and_classes():
    for name in PACKAGES:
        for public, thing in members(name):
            if inspect.isclass(thing) or inspect.isroutine(thing):
                yield f"{package(name)}.{public}"


def described_otherwise(thing):
    """Return whether a class documents its fields as attributes, or leaves its parameters to a public base."""
    if not inspect.isclass(thing):
        return False
    return issubclass(thing, Enum) or "Attributes\n" in thing.__doc__ or "The parameters are those of" in thing.__doc__


@pytest.mark.parametrize("name", list(public_functions_and_classes()))
def test_a_public_name_has_the_sections_of_numpydoc(name):
    wanted = CODES - {"PR01"} if described_otherwise(pydoc.locate(name)) else CODES
    found = numpydoc.validate.validate(name)["errors"]
    assert [error for error in found if error[0] in wanted] == []


def with_sections(tree, public):
    """Yield the functions and classes with sections of a file that are neither public nor in a public class."""
    for node in ast.iter_child_nodes(tree):
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if inside and node.name not in public:
            if re.search(r"\n-{4,}\n", ast.get_docstring(node) or ""):
                yield node.name
            yield from with_sections(node, public)


def test_only_public_names_have_sections():
    things = [inspect.unwrap(thing) for name in PACKAGES for _, thing in members(name)]
    public = {(each.__module__, each.__name__) for each in things if inspect.isclass(each) or inspect.isroutine(each)}
    for path in (name for name in MODULES if name.startswith("tcdp_sim/")):
        module = path.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        assert list(with_sections(tree, {name for home, name in public if home == module})) == [], path


def with_examples():
    """Return the modules whose docstrings have examples."""
    ours = [name for name in MODULES if name.startswith("tcdp_sim/")]
    return [name for name in ours if ">>>" in (ROOT / name).read_text("utf-8")]


@pytest.mark.parametrize("name", with_examples())
def test_the_examples_in_docstrings_are_right(name):
    module = importlib.import_module(name.removesuffix("/__init__.py").removesuffix(".py").replace("/", "."))
    assert doctest.testmod(module).failed == 0
