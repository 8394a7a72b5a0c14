"""What the audit of a row has found, kept as a file: the table is made of these."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = "audit_gallery"


@dataclass(frozen=True)
class Outcome:
    """One audit. bound: what it shows of `measure`.

    ratios: whether it was given the mechanism's likelihood ratios; trials: outputs of each input for the bound; drawn:
    of each input in all. seconds: of the whole audit, by the clock; cpu: of this process and of its workers;
    sampling: CPU seconds for as many outputs as were drawn, by the mechanism alone.
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
        """The name of its file."""
        return f"{self.name}_{'ratios' if self.ratios else 'outputs'}_{self.trials}_{self.level:g}_{self.seed}"


def keep(outcome: Outcome, results: Path) -> None:
    """Write the outcome into its file below the folder of results."""
    (results / FOLDER).mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(outcome), indent=1)
    (results / FOLDER / f"{outcome.key}.json").write_text(text + "\n", "utf-8")


def kept(results: Path) -> list[Outcome]:
    """All outcomes below a folder of results."""
    files = sorted((results / FOLDER).glob("*.json"))
    return [Outcome(**json.loads(path.read_text("utf-8"))) for path in files]
