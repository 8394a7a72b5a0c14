"""Plain values of a YAML file, with the line of each key. Nothing in the file is ever run.

The file may hold mappings, lists and scalars. A scalar without quotes means what it means in a word of the command
line: 1e5 is a number, and 010, yes and 2018-01-01 are texts. Tags, keys of Hydra and interpolations are refused.
Aliases are replaced by the values that their anchors name, as long as these stay few.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, nan
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tcdp_sim.core.errors import UserError, reason

MOST_BYTES = 1_000_000  # of a file, and characters of its values after aliases are replaced
DEEPEST = 20  # levels of mappings and lists
LONGEST_NUMBER = 400  # characters; longer ones stay texts
_WHOLE = r"(?:0|[1-9](?:_?\d)*)"  # the numbers of Hydra's grammar
_POINT = rf"(?:{_WHOLE}\.|{_WHOLE}?\.\d(?:_?\d)*)"
INT = re.compile(rf"[+-]?{_WHOLE}", re.ASCII)
FLOAT = re.compile(rf"[+-]?(?:{_POINT}|(?:{_POINT}|{_WHOLE})e[+-]?\d(?:_?\d)*|\.?inf|\.?nan)", re.ASCII | re.IGNORECASE)
WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_HYDRAS = re.compile(r"_\w+_")  # keys such as _target_, which name code
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Dumper(yaml.SafeDumper):
    """A writer of plain values that puts every text in quotes which `read` or YAML 1.1 would take for another value."""


def _float(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    """Write a float by its exponent where that is shorter: 1.0e+12 instead of 1000000000000.0."""
    short = f"{value:.1e}"
    if len(short) < len(repr(value)) and float(short) == value:
        return dumper.represent_scalar("tag:yaml.org,2002:float", short)
    return yaml.SafeDumper.represent_float(dumper, value)


_Dumper.add_representer(float, _float)
for _number in (INT, FLOAT):
    _pattern = re.compile(f"(?:{_number.pattern})$", _number.flags)
    _Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _pattern, None)


def dump(value: Any, flow: bool | None = False) -> str:
    """Return plain values as text that `read` turns back into them; with flow=None innermost lists are on one line."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=flow, width=118)


def read(path: str | Path) -> tuple[Any, dict[str, int]]:
    """Return the value in a YAML file, and the line of each key by its place, such as also.more.k or sweep.cells[0].k.

    Raises UserError that names the file and the line.
    """
    text = _text(path)
    reader = _Reader(str(path), yaml.parse(text, Loader=_LOADER))
    try:
        return reader.document(), reader.lines
    except yaml.MarkedYAMLError as mistake:
        mark = mistake.problem_mark or mistake.context_mark
        line = min(mark.line if mark else 0, text.count("\n"))
        tabs = "\t" in (text.split("\n")[line])
        advice = "indent with spaces, not with tabs" if tabs else "see https://yaml.org, or put texts in quotes"
        raise UserError(f"{path}:{line + 1}: cannot be read as YAML ({mistake.problem}); {advice}") from None
    except yaml.reader.ReaderError as mistake:  # the position is in bytes with one loader, in characters with another
        at = next((place for place, one in enumerate(text) if ord(one) == mistake.character), 0)
        line = text.count("\n", 0, at) + 1
        raise UserError(
            f"{path}:{line}: cannot be read as YAML (a control character, #x{mistake.character:04x})"
        ) from None


def _text(path: str | Path) -> str:
    """Return the content of a file of at most MOST_BYTES in UTF-8."""
    file = Path(path)
    if file.exists() and not file.is_file():
        raise UserError(f"{path} is a directory or a device; valid: a file")
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file (looked in {Path.cwd()})") from None
    except OSError as problem:
        raise UserError(f"{path} cannot be read ({reason(problem)})") from None
    except ValueError:
        raise UserError(f"{str(path)!r} is not a path") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"{path} is too large; valid: at most {MOST_BYTES:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as mistake:
        line = content[: mistake.start].count(b"\n") + 1
        raise UserError(f"{path}:{line}: is not text in UTF-8; save the file as UTF-8") from None


@dataclass
class _Reader:
    """A reader of the events of a YAML parser, which builds plain values and notes the line of each key."""

    path: str
    events: Iterator[Any]
    lines: dict[str, int] = field(default_factory=dict)
    size: int = 0  # characters of all values
    deepest: int = 0  # levels
    anchors: dict[str, tuple[Any, int, int]] = field(default_factory=dict)  # value, size and levels

    def document(self) -> Any:
        """Return the value of the only document, None for an empty file."""
        started = [next(self.events), next(self.events)]
        if isinstance(started[1], yaml.StreamEndEvent):
            return None
        value = self._value(next(self.events), "", 0)
        next(self.events)  # the end of the document
        if not isinstance(after := next(self.events), yaml.StreamEndEvent):
            self._refuse(after, "a second document begins here; valid: one")
        return value

    def _value(self, event: Any, place: str, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event, depth)
        if event.tag is not None:
            self._refuse(event, f"the tag {event.tag} is not read; write the value without a tag")
        before, deepest = self.size, self.deepest
        self.size, self.deepest = self.size + 1, 0
        self._descend(event, depth)
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(place, depth)
        else:
            value = self._list(place, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = value, self.size - before, self.deepest - depth
        self.deepest = max(self.deepest, deepest)
        return value

    def _descend(self, event: Any, depth: int) -> None:
        self.deepest = max(self.deepest, depth)
        if depth > DEEPEST:
            self._refuse(event, f"this is nested too deeply; valid: at most {DEEPEST} levels")

    def _repeated(self, event: Any, depth: int) -> Any:
        if event.anchor not in self.anchors:
            self._refuse(event, f"*{event.anchor} names no value above; write &{event.anchor} in front of the value")
        value, size, levels = self.anchors[event.anchor]
        self._descend(event, depth + levels)
        self.size += size
        if self.size > MOST_BYTES:
            self._refuse(event, f"*{event.anchor} makes the file too large; valid: at most {MOST_BYTES:,} characters")
        return value

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        self.size += len(text)
        if "${" in text:
            self._refuse(event, f"{text[:60]!r} would be an interpolation; a file holds plain values")
        if text == "???":  # OmegaConf's sign of a missing value
            self._refuse(event, "??? is no value; write a value, or leave the key out")
        return text if event.style else _typed(text)

    def _mapping(self, place: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event)
            where = f"{place}.{key}" if place else key
            if key in found:
                self._refuse(event, f"{where} is given twice, also in line {self.lines[where]}")
            self.lines[where] = event.start_mark.line + 1
            found[key] = self._value(next(self.events), where, depth + 1)
        return found

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent) or event.tag is not None or not event.value:
            self._refuse(event, "a key is not valid; valid: text, as in `seed: 1`")
        self._scalar(event)  # refuses an interpolation
        if _HYDRAS.fullmatch(event.value):
            self._refuse(event, f"{event.value} is no key: a file is data, and names no code")
        return str(event.value)

    def _list(self, place: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            found.append(self._value(event, f"{place}[{len(found)}]", depth + 1))
        return found

    def _refuse(self, event: Any, message: str) -> NoReturn:
        raise UserError(f"{self.path}:{event.start_mark.line + 1}: {message}")


def _typed(text: str) -> Any:
    """Return the value of a scalar without quotes."""
    if len(text) > LONGEST_NUMBER:
        return text
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if INT.fullmatch(text):
        return int(text)
    if FLOAT.fullmatch(text):
        number = text.lower().lstrip("+-")
        special = {"inf": inf, "nan": nan}.get(number.lstrip("."))
        return float(text) if special is None else -special if text.startswith("-") else special
    return text
