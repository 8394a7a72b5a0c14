"""Docs and README name only what exists: modules, commands, keys, groups, extras, make targets and folders."""

import importlib.util
import re
import tomllib
from functools import cache

import pytest
import yaml
from words_of_code import ROOT, files

from benchmarks.__main__ import ASKED, BENCHMARKS
from tcdp_sim.cli.commands import COMMANDS
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.study import groups

PAGES = sorted(name for name in files() if name == "README.md" or (name.startswith("docs/") and name.endswith(".md")))
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCED = re.compile(r"^```(?!python|toml|yaml)\w*\n(.*?)^```", re.M | re.S)
INDENTED = re.compile(r"^ {4,}(\S.*)", re.M)
COMMAND = re.compile(r"(?:^|[;&|$] ?|`)\s*tcdp-sim +(.+)")
KEY = re.compile(r"['\"]?\+?([a-z_][a-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)=(.*)")
FOLDER = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
WRITTEN = ("results/", "docs/_build", "figures/")  # folders that a run or a build writes
TOP = ("tests", "docs", "conf", "examples", "benchmarks", "experiments", "tcdp_sim")
GROUPS = ("experiment", "cluster", "data", "mechanism")
ENTRY_POINTS = {f"tcdp_sim.{group}" for group in ("noise", "mechanism", "experiment", "sweep")}
OBJECTS = ("report.",)  # a report of an audit, which bears the name of a package
ENDINGS = (".py", ".yaml", ".md", ".toml", ".zarr")
OF_PLUGINS = {"noisy_mean"}  # names that examples/plugin adds


@cache
def site_names():
    spec = importlib.util.spec_from_file_location("site_names", ROOT / "docs" / "_site" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def keys() -> frozenset[str]:
    """Return the keys of a study, the groups, and the keys of all commands."""
    study = yaml.safe_load((ROOT / "conf" / "config.yaml").read_text("utf-8"))
    return frozenset({*study, *GROUPS, "noise", *(key for each in COMMANDS.values() for key in each.keys)})


@cache
def axes() -> frozenset[str]:
    """Return the axes of all mechanisms, and the other keys of `sweep`."""
    mechanisms = map(mechanism_class, groups.options("mechanism"))
    return frozenset({"data", "zip", "where", "cells", *(axis for each in mechanisms for axis in each.axes)})


@cache
def targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


@cache
def extras() -> frozenset[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return frozenset(project["optional-dependencies"])


def code(text: str) -> list[str]:
    """Return the pieces of a page that are code: spans in backticks, and lines of blocks that are not Python."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    blocks = [line for block in FENCED.findall(text) for line in block.splitlines()]
    return [*SPAN.findall(prose), *INDENTED.findall(prose), *blocks]


def wrong(piece: str) -> list[str]:
    """Return what a piece of code names and does not exist."""
    found = [name for name in re.findall(r"tcdp_sim\[(\w+)\]", piece) if name not in extras()]
    found += [f"make {name}" for name in re.findall(r"(?:^|[;&] ?)make ([a-z-]+)", piece) if name not in targets()]
    found += [name for name in re.findall(r"python -m benchmarks (\w+)", piece) if name not in BENCHMARKS | ASKED]
    bare = piece.strip().removesuffix("()")
    elsewhere = bare.endswith(ENDINGS) or bare.startswith(OBJECTS) or bare in ENTRY_POINTS
    if site_names().is_ours(bare) and not elsewhere and not site_names().exists(bare):
        found.append(bare)
    if FOLDER.fullmatch(bare) and bare.split("/")[0] in TOP and not bare.startswith(WRITTEN):
        found += [] if is_there(bare.rstrip("/")) else [bare]
    command = COMMAND.search(piece.split("  #")[0])
    return found + (wrong_words(command[1]) if command else [])


def is_there(path: str) -> bool:
    return any(f"/{each}".endswith(f"/{path}") or each.startswith(f"{path}/") for each in files())


def wrong_words(line: str) -> list[str]:
    """Return the words of a command line of ours that do not exist: the command, keys, and members of groups."""
    first, *_ = words = line.split()
    if re.fullmatch(r"[a-z][a-z-]*", first) and first not in COMMANDS:
        return [f"tcdp-sim {first}"]
    if "sweep" in words:
        return []  # the axes are those of a user's function
    own = COMMANDS[first].details if first in COMMANDS and COMMANDS[first].reads_all else ""
    valid = keys() | set(re.findall(r"\w+", own))
    return [word for word in words if (key := KEY.match(word)) and not is_key(*key.groups(), valid)]


def is_key(name: str, inner: str, value: str, valid: frozenset[str]) -> bool:
    """Return True if a word NAME.INNER=VALUE has a key that exists, with a value that exists if it is a group's."""
    axis, member = inner.strip(".").split(".")[0].removeprefix("log10_"), value.strip("'\"")
    if name == "sweep" and axis:
        return axis in axes()
    if name in GROUPS and not inner and re.fullmatch(r"[a-z_0-9]+", member):
        return member in groups.options(name) or member in OF_PLUGINS
    return name in valid


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_exists(page):
    pieces = code((ROOT / page).read_text("utf-8"))
    assert [(piece, word) for piece in pieces for word in wrong(piece)] == []


@pytest.mark.parametrize(
    "piece",
    [
        "exact.hokey_stick",
        "tests/rigourous",
        "tcdp-sim explode results/mine",
        "tcdp-sim experiment=no_such trials=10",
        "tcdp-sim trails=10",
        "tcdp-sim sweep.no_such_axis=1",
        "make no-such",
        "python -m benchmarks no_such",
        "pip install 'tcdp_sim[no_such]'",
    ],
)
def test_what_does_not_exist_is_found(piece):
    assert wrong(piece)


@pytest.mark.parametrize(
    "piece",
    [
        "exact.hockey_stick()",
        "tests/rigorous",
        "tcdp-sim status study.yaml",
        "tcdp-sim name=mine 'sweep.log10_k={from: 1, to: 24, num: 47}' cluster=slurm",
        "make docs",
        "results/mine/figures",
        "a/b",
    ],
)
def test_what_exists_is_not(piece):
    assert wrong(piece) == []


def test_code_is_spans_and_blocks_but_python():
    page = "a `span`, no\nspan\n\n    indented\n\n```text\nfenced\n```\n\n```python\nnot this\n```\n"
    assert code(page) == ["span", "indented", "fenced"]


def test_the_design_page_has_every_folder_of_code():
    page = (ROOT / "docs" / "project" / "design.md").read_text("utf-8")
    code = {name for name in files() if name.startswith("tcdp_sim/") and name.endswith(".py")}
    folders = {name.removeprefix("tcdp_sim/").rpartition("/")[0] for name in code} - {""}
    assert {folder for folder in folders if f"`{folder}/`" not in page} == set()
