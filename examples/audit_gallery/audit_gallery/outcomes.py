"""The outcomes of audits, one file each, from which the table is made."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = "audit_gallery"


@dataclass(frozen=True)
class Size:
    """The size of an audit: its number of trials or the seconds that decide it, its confidence level and its seed."""

    trials: int | None
    seconds: float | None
    level: float
    seed: int


@dataclass(frozen=True)
class Outcome:
    """The outcome of one audit.

    - ratios: True if the audit was given the mechanism's likelihood ratios
    - trials, drawn: outputs of each input for the bound, and in all
    - bound: the lower confidence bound on `measure`
    - seconds: the clock time of the whole audit
    - cpu: the CPU seconds of this process and of its workers
    - sampling: the CPU seconds of the mechanism alone for as many outputs as were drawn
    """

    name: str
    ratios: bool
    trials: int
    level: float
    workers: int
    measure: str
    bound: float
    refuted: bool
    pair: str
    event: str
    drawn: int
    seconds: float
    cpu: float
    sampling: float
    seed: int = 1

    @property
    def key(self) -> str:
        """The name of the outcome's file."""
        return self.key_of(self.name, self.ratios, Size(self.trials, None, self.level, self.seed))

    @staticmethod
    def key_of(name: str, ratios: bool, size: Size) -> str:
        """Return the name of the file of an outcome of a number of trials."""
        return f"{name}_{'ratios' if ratios else 'outputs'}_{size.trials}_{size.level:g}_{size.seed}"


def keep(outcome: Outcome, results: Path) -> None:
    """Write the outcome into its file below the folder of results."""
    (results / FOLDER).mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(outcome), indent=1)
    (results / FOLDER / f"{outcome.key}.json").write_text(text + "\n", "utf-8")


def kept(results: Path) -> list[Outcome]:
    """Return all outcomes below a folder of results."""
    files = sorted((results / FOLDER).glob("*.json"))
    return [Outcome(**json.loads(path.read_text("utf-8"))) for path in files]
