"""What is public: every package says so, and docs/reference/api.md lists it."""

import ast
import importlib

import pytest
from public_names import PACKAGES, PAGE, meaning, members, package, page
from words_of_code import ROOT, files

INITS = sorted(name for name in files() if name.startswith("tcdp_sim/") and name.endswith("/__init__.py"))


@pytest.mark.parametrize("path", [name for name in INITS if name.count("/") <= 2])
def test_every_package_lists_its_public_names(path):
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assigned = [
        target for node in ast.walk(tree) for target in getattr(node, "targets", [getattr(node, "target", None)])
    ]
    assert "__all__" in {target.id for target in assigned if isinstance(target, ast.Name)}


@pytest.mark.parametrize("path", [name for name in INITS if name.count("/") == 2])
def test_what_is_not_on_the_page_is_empty(path):
    name = path.split("/")[1]
    if name not in PACKAGES:
        assert importlib.import_module(f"tcdp_sim.{name}").__all__ == []


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_are_there_and_are_no_modules_private_or_double(name):
    listed = importlib.import_module(package(name)).__all__
    assert len(listed) == len(set(listed))
    assert {public for public, _ in members(name)} == {*listed} - {"__version__"}
    assert not [public for public in listed if public.startswith("_") and public != "__version__"]


@pytest.mark.parametrize("name", PACKAGES)
def test_each_public_name_has_a_meaning_in_words(name):
    assert [public for public, thing in members(name) if not meaning(name, public, thing)[:1].isupper()] == []


def test_there_are_at_most_300_public_names():
    assert sum(len(list(members(name))) for name in PACKAGES) <= 300


def test_the_page_is_what_the_code_says():
    assert PAGE.read_text("utf-8") == page(), "run `make doc-numbers`"
