"""The names that exist: identifiers, strings that are names, keys of configs, files, libraries and commands."""

import ast
import builtins
import keyword
import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CODE = ("tcdp_sim", "conf", "experiments", "tests", "benchmarks", "examples")
NAME = re.compile(r"[A-Za-z_][\w.]*")
ENVIRONMENT = ("PYTHONHASHSEED",)  # variables that Python itself reads


@cache
def files() -> frozenset[str]:
    """Return the path of every file that is or may be committed, from the root of the repository."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return frozenset(name for name in listed if (ROOT / name).exists())


@cache
def names() -> frozenset[str]:
    """Return every word that is a name somewhere in the code, the configs, Python or an installed library."""
    found = {*dir(builtins), *keyword.kwlist, *sys.stdlib_module_names, *ENVIRONMENT}
    found |= {each.metadata["Name"].lower() for each in metadata.distributions()} | set(
        metadata.packages_distributions()
    )
    for path in map(Path, sorted(files())):
        if path.suffix == ".py" and path.parts[0] in CODE and not path.name.startswith("test_"):
            found |= set(_of_python((ROOT / path).read_text("utf-8"))) | {path.stem, *path.parts[:-1]}
        if path.suffix == ".yaml":
            found |= set(_of_yaml(yaml.safe_load((ROOT / path).read_text("utf-8")))) | {path.stem}
    return frozenset(found)


def _of_python(text: str):
    tree = ast.parse(text)
    docstrings = {id(doc) for doc in map(_docstring, ast.walk(tree)) if doc}
    for node in ast.walk(tree):
        for field in ("name", "id", "attr", "arg", "asname"):
            if isinstance(value := getattr(node, field, None), str):
                yield from value.split(".")
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from node.module.split(".")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from re.findall(r"\w+", node.value)


def _docstring(node):
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    return first.value if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else None


def _of_yaml(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _of_yaml(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_yaml(inner)
    elif isinstance(value, str):
        yield from re.findall(r"\w+", value)
