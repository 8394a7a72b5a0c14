"""The faults of faults.toml: small mistakes of the kind that people make, each with the tests that should notice it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """One fault: in `file`, `new` stands where `old` stood; `tests`: the folders and files that should notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def put_into(self, home: Path) -> None:
        """Change the file of a copy of the tree. Raises ValueError unless the old text stands there exactly once."""
        text = (home / self.file).read_text("utf-8")
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: the old text stands in {self.file} {count} times; valid: once")
        (home / self.file).write_text(text.replace(self.old, self.new), "utf-8")


def faults() -> list[Fault]:
    """Return all faults, in the order of the file."""
    raw = tomllib.loads(Path(__file__).with_name("faults.toml").read_text("utf-8"))
    return [Fault(one["name"], one["file"], one["old"], one["new"], tuple(one["tests"])) for one in raw["fault"]]
