"""The pages that the build writes from the code: the API, the commands, the keys of a study, and the experiments.

They are written before Sphinx looks for pages, and only if they have changed, so an unchanged page is not read again.
"""

import re
from collections.abc import Iterable, Iterator
from inspect import isclass, ismodule, isroutine
from io import StringIO
from pathlib import Path

import gallery
import public_names
from rich.console import Console

from tcdp_sim.cli import help_text, template
from tcdp_sim.cli.commands import COMMANDS
from tcdp_sim.cli.describe import suggested, valid_values
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.study import groups
from tcdp_sim.study.compose import composed
from tcdp_sim.study.settings import settings

RULE = re.compile(r"\s*\|(-+\|)+\s*$")  # the second row of a Markdown table
SPECIAL = re.compile(r"(?<!\\)(\||(?<=[\w(, {\[])\*+(?=\w)|(?<=\w)_(?=[\s.,;)]))")
FIRST = (
    "index",
    "start/index",
    "explained/tcdp",
    "explained/brackets",
    "howto/results",
)  # pages whose figures the build makes
SMALLER = {"error_vs_k_one_bin": "histogram", "loss_tail": "privacy_loss"}  # a figure, and the example with fewer lines
SMALLER |= {"bracket": "bracket", "equal": "equal"}  # the build draws them anew
KEYS = """# Keys of a study

These are all keys with their defaults, as `tcdp-sim new histogram` prints them for a study in a
[file](../howto/study_files.md). In the command line a key is a word such as `trials=1e6`.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path of every written page below `docs/`, with its text."""
    shown: dict[int, str] = {}  # a name that two packages have is described in the first
    for name in public_names.PACKAGES:
        yield f"reference/api/{public_names.package(name)}.rst", package(name, shown)
    yield "reference/commands.md", commands()
    yield "reference/keys.md", keys()
    yield "experiments/gallery.md", gallery.page()
    for name in groups.options("experiment"):
        yield f"experiments/studies/{name}.md", experiment(name)


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n\n"


def package(name: str, shown: dict[int, str]) -> str:
    """Return the page of a package in reStructuredText: the docstrings of its public names."""
    whole = public_names.package(name)
    parts = [heading(whole, "="), f".. automodule:: {whole}\n   :no-members:\n   :no-index:\n\n"]
    parts.append(f".. currentmodule:: {whole}\n\n")
    for public, thing in public_names.members(name):
        parts.append(heading(public, "-"))
        described_at = shown.setdefault(id(thing), f"{whole}.{public}")
        if described_at != f"{whole}.{public}":
            parts.append(f".. py:data:: {public}\n\n   The same as :py:obj:`{described_at}`.\n\n")
        elif isclass(thing):
            parts.append(f".. autoclass:: {public}\n   :members:\n\n")
        elif isroutine(thing):
            parts.append(f".. autofunction:: {public}\n\n")
        elif ismodule(thing):
            parts.append(f"The module :mod:`{thing.__name__}`.\n\n")
        else:
            parts.append(f".. py:data:: {public}\n\n   {public_names.meaning(name, public, thing)}\n\n")
    return "".join(parts)


def block(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.strip()}\n```\n"


def commands() -> str:
    """Return the page of the commands, each with its `--help`."""
    parts = ["# Commands\n\nEach section is what `tcdp-sim COMMAND --help` prints.\n"]
    parts += [f"\n## {name}\n\n{block(help_text.of(name, command))}" for name, command in COMMANDS.items()]
    return "".join(parts)


def keys() -> str:
    """Return the page of the keys of a study."""
    printed = StringIO()
    template.main("histogram", Console(file=printed, width=120))
    return f"{KEYS}\n{block(printed.getvalue(), 'yaml')}"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [head, ["---"] * len(list(head)), *rows]
    return "".join("| " + " | ".join(cell(each) for each in line) + " |\n" for line in lines) + "\n"


def cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("*", "\\*").replace("\n", " ")


def experiment(name: str) -> str:
    """Return the page of an experiment: its example from the gallery, its axes, and what a trial yields."""
    study = settings(composed({"experiment": name}))
    mechanism, given = mechanism_class(study.mechanism["name"]), suggested(study)
    axes = [
        (f"`{key}`", axis.meaning, axis.unit, valid_values(axis), "yes" if key in mechanism.required else "")
        for key, axis in mechanism.axes.items()
    ]
    yields = [(f"`{key}`", each.meaning, each.unit) for key, each in mechanism.observables.items()]
    yields += [(f"`{key}`", f"whether {meaning}", "yes or no") for key, meaning in mechanism.events.items()]
    return "".join(
        [
            f"# {name}\n\n{study.experiment.question}\n\n",
            gallery.example(name),
            "## Axes\n\n",
            table(("axis", "meaning", "unit", "valid", "must be given"), axes),
            f"The default study sweeps {', '.join(f'`{key}`' for key in given)}.\n\n" if given else "",
            "## What a trial yields\n\n",
            table(("name", "meaning", "unit"), yields) if yields else "",
        ]
    )


def write(app, config) -> None:
    """Write every page whose text has changed, after the figures that it shows."""
    gallery.make()
    for name, text in pages():
        path = Path(app.srcdir) / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def linked(app, docname, source) -> None:
    """Link the tables of experiments and of public names to the written pages, and show figures of the gallery.

    On GitHub these pages show the figures of the default studies, which have more lines.
    """
    if docname in FIRST:
        for drawn, name in SMALLER.items():
            source[0] = source[0].replace(f"results/reference/{drawn}.png", f"docs/_build/gallery/{name}.png")
    if docname == "experiments/index":
        source[0] = _with_studies(source[0])
    if docname == "reference/api":
        source[0] = _with_names(source[0])


def _with_studies(text: str) -> str:
    names = groups.options("experiment")
    lines = text.splitlines()
    for name in names:
        link = f"[`{name}`](studies/{name}.md)"
        lines = [line.replace(f"`{name}`", link) if line.startswith(("| `", "| [`")) else line for line in lines]
    return "\n".join(lines) + toctree(f"studies/{name}" for name in names)


def _with_names(text: str) -> str:
    lines, name = [], ""
    for line in text.splitlines():
        if line.startswith("## "):
            name = line.removeprefix("## ")
            line = f"## [{name}](api/{name}.rst)"
        elif name and line.startswith("| `"):
            public, rest = line.removeprefix("| `").split("`", 1)
            line = f"| {{py:obj}}`{public} <{name}.{public}>`{rest}"
        lines.append(line)
    return "\n".join(lines) + toctree(f"api/{public_names.package(each)}" for each in public_names.PACKAGES)


def toctree(entries: Iterable[str]) -> str:
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"


def plain(app, kind, name, thing, options, lines) -> None:
    """Make a docstring reStructuredText: its tables are Markdown, and its bars and asterisks are plain characters."""
    text, code = [], False
    for place, line in enumerate(lines):
        code = bool(line.strip()) and (code or line.lstrip().startswith(">>>"))  # a session ends with an empty line
        below = lines[place + 1] if place + 1 < len(lines) else ""
        if RULE.match(below):
            indent = line[: len(line) - len(line.lstrip())]
            text += ["", f"{indent}.. list-table::", f"{indent}   :header-rows: 1", "", *_row(line)]
        elif line.lstrip().startswith("| "):
            text += _row(line)
        elif not RULE.match(line):
            text.append(line if code else SPECIAL.sub(r"\\\g<0>", line))
    lines[:] = text


def _row(line: str) -> list[str]:
    """Return a row of a Markdown table as a row of a list-table."""
    row = line.strip()
    cells = [SPECIAL.sub(r"\\\g<0>", each.strip()) for each in row.strip("|").split("|")]
    marks = ["* - ", *["  - "] * (len(cells) - 1)]
    indent = " " * (len(line) - len(line.lstrip()) + 3)
    return [f"{indent}{mark}{text}".rstrip() for mark, text in zip(marks, cells, strict=True)]


def setup(app):
    """Register the handlers."""
    app.connect("autodoc-process-docstring", plain, priority=400)  # before numpydoc
    app.connect("config-inited", write)
    app.connect("source-read", linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
