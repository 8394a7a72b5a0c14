"""Commands about runs take a folder and read what they need from it; `describe` takes the name of an experiment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path

from tcdp_sim.core.errors import UserError, suggestion


@dataclass(frozen=True)
class Command:
    """places: names of its words, [in brackets] where they may be left out; keys: what is given as KEY=VALUE."""

    about: str
    places: tuple[str, ...]
    keys: Mapping[str, Callable] = field(default_factory=dict)


COMMANDS = {
    "status": Command("how far a run is, also while it is running", ("FOLDER",)),
    "draw": Command("draw the tables and figures of a run again", ("FOLDER",)),
    "verify": Command("compute random chunks (or claims) again and compare the bits", ("FOLDER",), {"sample": int}),
    "replay": Command("run one chunk again, here, with its traceback", ("FOLDER",), {"cell": str, "index": int}),
    "diff": Command("whether two runs give the same within Monte Carlo error", ("FOLDER", "FOLDER")),
    "merge": Command("add to a run what another run of the same study has", ("FOLDER", "FOLDER")),
    "table": Command("all published numbers, tidy: printed, or in FILE.csv or FILE.tex", ("FOLDER", "[FILE]")),
    "report": Command("one page on a run, to send: FOLDER/report.html, or FILE", ("FOLDER", "[FILE]")),
    "list": Command("the runs in a folder: when, how far, contradictions", ("[FOLDER]",)),
    "describe": Command("what an experiment asks, its axes, what it yields", ("EXPERIMENT",)),
}
SAMPLE = 20  # claims of a reproduction that are computed again
DIFFERENT = 1  # the exit code if something is not what was certified
WORDS = ("cheat-sheet", "reproduce")  # commands that take KEY=VALUE alone, and see to them


def is_command(word: str) -> bool:
    """Whether a first word is meant as a command: a word without any sign, as no key of a study is."""
    return word.replace("-", "").replace("_", "").isalpha() and not word.startswith("-")


def main(words: Sequence[str], console) -> int:
    """Run a command; its exit code. Raises UserError, also for a command that there is none of."""
    name, *rest = words
    if name not in COMMANDS:
        near = suggestion(name, (*COMMANDS, *WORDS))
        raise UserError(f"{name!r} is no command; valid: {', '.join((*COMMANDS, *WORDS))}, or KEY=VALUE{near}")
    if {"--help", "-h"} & set(rest):
        console.print(f"{usage(name)}\n  {COMMANDS[name].about}", markup=False)
        return 0
    places, keys = _read(name, rest)
    return _RUN[name](console, *places, **keys) or 0


def usage(name: str) -> str:
    """How a command is written."""
    command = COMMANDS[name]
    return " ".join(["tcdp-sim", name, *command.places, *(f"{key}=VALUE" for key in command.keys)])


def _read(name, words):
    command = COMMANDS[name]
    places, keys = [], {}
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key in command.keys:
            keys[key] = _value(key, value, command.keys[key])
        elif equals and key.isidentifier():
            near = suggestion(key, command.keys)
            raise UserError(f"{name}: {key!r} is not a key of it; valid: {usage(name)}{near}")
        else:
            places.append(word)
    needed = [place for place in command.places if not place.startswith("[")]
    if not len(needed) <= len(places) <= len(command.places):
        raise UserError(f"{name} takes {' '.join(command.places)}, not {' '.join(places) or 'nothing'}: {usage(name)}")
    return places, keys


def _value(key, text, kind):
    try:
        return kind(text)
    except ValueError:
        raise UserError(f"{key} = {text!r} is not valid; valid: a whole number") from None


def _settings(folder, **keys):
    """The settings of the run in a folder, with some keys of this command's own."""
    from tcdp_sim.store import recorded

    return recorded.settings_of(recorded.run_folder(folder), keys)


def _mode(name):
    """A command that is done by a mode, whose main takes settings."""

    def run(console, folder, **keys):
        return import_module(f"tcdp_sim.cli.modes.{name}").main(_settings(folder, **keys), console)

    return run


def _verify(console, folder, **keys):
    from tcdp_sim.experiments.papers import verify

    if not verify.is_reproduction(Path(folder)):
        return _mode("verify")(console, folder, **keys)
    from tcdp_sim.cli.say import say

    return 0 if verify.verify(Path(folder), keys.get("sample", SAMPLE), partial(say, console)) else DIFFERENT


def _draw(console, folder):
    from tcdp_sim.cli.modes.draw import draw
    from tcdp_sim.store.recorded import folder_of

    return draw(folder_of(folder), console)


def _diff(console, ours, theirs):
    from tcdp_sim.cli.modes.diff import compare
    from tcdp_sim.store.recorded import folder_of

    return compare(folder_of(ours), folder_of(theirs), console)


def _merge(console, ours, theirs):
    from tcdp_sim.cli.modes import merge

    return merge.main(_settings(ours, other=theirs), console)


def _table(console, folder, file=None):
    from tcdp_sim import results
    from tcdp_sim.store.recorded import folder_of

    if file is None:
        flat = results.open_cells(folder_of(folder), compute_later=False)
        with results.readable(folder):
            for i, rows in enumerate(results.tidy_blocks(flat)):
                console.print(rows.to_csv(index=False, header=not i).rstrip(), markup=False)
    else:
        console.print(f"table: {results.export(folder_of(folder), file)}", markup=False)


def _report(console, folder, file=None):
    from tcdp_sim.results import page
    from tcdp_sim.store.recorded import folder_of

    path = page.write(folder_of(folder), None if file is None else Path(file))
    console.print(f"report: {path}", markup=False)


def _list(console, folder=None):
    from tcdp_sim.cli import listing

    if folder is None and not Path("results").exists():
        console.print("no run has been started here: there is no folder results", markup=False)
        return 0
    return listing.main(Path(folder or "results"), console)


def _describe(console, experiment):
    from tcdp_sim.cli import describe

    return describe.main(experiment, console)


_RUN = {
    **{name: _mode(name) for name in ("status", "replay")},
    **{
        "verify": _verify,
        "draw": _draw,
        "diff": _diff,
        "merge": _merge,
        "table": _table,
        "report": _report,
        "list": _list,
        "describe": _describe,
    },
}
