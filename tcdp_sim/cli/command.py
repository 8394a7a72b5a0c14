"""A command of the command line: its arguments, and the function that reads places, words of a study and own keys."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tcdp_sim.core.errors import UserError, suggestion

RUN = "RUN"  # the folder of a run, the words of its study, or the file of its study and words that override it
EITHER = f"{RUN} is a folder, the words of a study, or a study in a file: FILE.yaml [KEY=VALUE ...]"
SEVERAL = ("--multirun", "-m")
GONE = {  # options of Hydra's own command line -> their replacement
    **dict.fromkeys(("--cfg", "-c", "--resolve"), "`tcdp-sim show` prints the config of a study"),
    **dict.fromkeys(("--shell-completion", "-sc"), "`tcdp-sim completion` says how to install it"),
}
FOREIGN = re.compile(r"-c[dnp]|--co|--e")  # --config-dir, -name, -path and --experimental-rerun, also abbreviated
FILES = (".yaml", ".yml")  # the endings of the files of studies
OF_A_STUDY = re.compile(r"[+~-]|[^/=]*=|\s*hydra/")  # the beginning of a word of a study; ./a=b is a folder


def is_study_file(word: str) -> bool:
    """Return True if a word names the file of a study: by its ending, unless it is the folder of a run."""
    return word.lower().endswith(FILES) and not Path(word, "run.json").is_file()


@dataclass(frozen=True)
class Words:
    """The words of a command, sorted: places in order, the words of a study, the command's own keys, a study's file."""

    places: list[str]
    study: list[str]
    keys: dict[str, Any]
    file: str | None = None


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    `does`: the function of the command. It is called with the console and the arguments, once for each run if the first
    place is a RUN. It returns the exit code or None. `takes`: the names of its places in order. A name in [brackets]
    may be left out. A name with dots stands for words that the function reads itself. `keys`: the keys that may be
    given as KEY=VALUE, each with an example of its type. `of_a_sweep`: the function for the words of a sweep over a
    user's function, which follow the word `sweep`; it is called with the console and these words.
    """

    does: Callable[..., int | None]
    takes: tuple[str, ...]
    about: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    details: str = ""
    of_a_sweep: Callable[..., int | None] | None = None

    @property
    def of_runs(self) -> bool:
        """True if the first place of the command is a run."""
        return bool(self.takes) and self.takes[0].strip("[]") == RUN

    @property
    def reads_all(self) -> bool:
        """True if the command's function reads the words itself."""
        return bool(self.takes) and "..." in self.takes[0]

    def usage(self, name: str) -> str:
        """Return the usage of the command in one line."""
        return " ".join(["tcdp-sim", name, *self.takes, *(f"{key}={value}" for key, value in self.keys.items())])

    def read(self, name: str, words: Sequence[str]) -> Words:
        """Return the words of the command, sorted by kind. Raises UserError if they do not fit the command."""
        found = Words([], [], {})
        for word in words:
            key, equals, value = word.partition("=")
            if equals and key in self.keys:
                found.keys[key] = _value(key, value, type(self.keys[key]))
            elif OF_A_STUDY.match(word):
                _refuse_option(word)
                found.study.append(word)
            else:
                found.places.append(word)
        if self.of_runs and found.places and is_study_file(found.places[0]):
            found = replace(found, places=found.places[1:], file=found.places[0])
        self._check(name, found)
        return found

    def _check(self, name: str, words: Words) -> None:
        """Raise UserError if words are missing or superfluous."""
        usage = f"{self.usage(name)}{f'; {EITHER}' if self.of_runs else ''}"
        named = bool(words.study or words.file) and self.of_runs  # they stand for the first place
        most, least = len(self.takes) - named, sum(not each.startswith("[") for each in self.takes) - named
        if named and len(words.places) > most and not Path(words.places[0]).exists():
            raise UserError(f"{name}: {words.places[0]!r} is neither KEY=VALUE nor a folder; valid: {usage}")
        if words.study and (not named or len(words.places) > most):
            key = words.study[0].partition("=")[0]
            raise UserError(
                f"{name}: {key!r} is not a key of this command; valid: {usage}{suggestion(key, tuple(self.keys))}"
            )
        if not least <= len(words.places) <= most:
            found = " ".join([RUN] * named + words.places) or "nothing"
            raise UserError(f"{name} takes {' '.join(self.takes) or 'no words'}, not {found}: {usage}")


def _refuse_option(word: str) -> None:
    """Raise UserError for an option that the command line does not have."""
    if not word.startswith("-") or word in SEVERAL:
        return
    if FOREIGN.match(word):
        instead = "give keys, as in seed=1, or a study in a file that is read as data: `tcdp-sim run study.yaml`"
        raise UserError(f"{word} is not available: files from elsewhere could run code; {instead}")
    instead = GONE.get(word.partition("=")[0], "valid: --multirun, --version, --help")
    raise UserError(f"{word} is not an option; {instead}; see --help")


def _value(key: str, text: str, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UserError(f"{key} = {text!r} is not valid; valid: a whole number") from None
