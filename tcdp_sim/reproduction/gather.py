"""Evidence on claims, and the tables of exhibits: read from records, or gathered now and recorded."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tcdp_sim.claims import Claim, Evidence, Judgement, judge
from tcdp_sim.errors import Failure, UserError, reason
from tcdp_sim.experiments.papers.registry import Budget, Exhibit
from tcdp_sim.log import Tell
from tcdp_sim.reproduction import code, studies
from tcdp_sim.reproduction.records import Origin, Records

EVIDENCE = "evidence"  # where records lie in the folder of the papers
FAST, FULL = "fast", "full"
READER = "tcdp_sim.experiments.papers.runs"  # through which claims see the results of studies


@dataclass(frozen=True)
class Result:
    """A claim with its evidence and the verdict on it."""

    claim: Claim
    evidence: Evidence
    judgement: Judgement

    @property
    def changed(self) -> bool:
        """Whether the verdict is not the recorded one."""
        return self.judgement.verdict != self.claim.expected


class Gatherer:
    """Gathers what is missing in a folder and keeps it there.

    render: only read what is recorded; UserError where something is missing.
    """

    def __init__(
        self, folder: Path, full: bool, cluster: str | Mapping[str, Any], tell: Tell, render: bool = False
    ) -> None:
        self.folder, self.full, self.cluster, self._tell, self._render = folder, full, cluster, tell, render
        self._runs = studies.Opened(folder)
        self._records = Records(folder / EVIDENCE)
        if self._records.damaged:
            tell(f"{folder / EVIDENCE}: {self._records.damaged} damaged stretches; what they held is gathered again")

    def __enter__(self) -> "Gatherer":
        return self

    def __exit__(self, *_: object) -> None:
        self._records.close()

    def run_studies(self, things: Iterable[Claim | Exhibit]) -> None:
        """Run the studies that these need, and whose results are not published for these trials."""
        names = sorted({name for thing in things for name in thing.needs})
        if not self._render:
            studies.run_all(names, self.full, self.folder, self.cluster, self._tell)

    def results(self, claims: Iterable[Claim]) -> Iterator[Result]:
        """Each claim judged, in their order."""
        for claim in claims:
            origin = self._origin(claim.id, claim.evidence, claim.needs)
            evidence = self._records.evidence(origin)
            if evidence is None:
                evidence = self._gathered(f"claim {claim.id}", origin, claim.evidence)
            yield Result(claim, evidence, judge(claim.kind, evidence))

    def table(self, exhibit: Exhibit) -> pd.DataFrame:
        """The numbers of an exhibit."""
        origin = self._origin(f"exhibit {exhibit.name}", exhibit.table, exhibit.needs)
        table = self._records.table(origin)
        return self._gathered(f"exhibit {exhibit.name}", origin, exhibit.table) if table is None else table

    def _origin(self, what: str, function: Callable[..., Any], needs: Iterable[str]) -> Origin:
        runs = {name: studies.snapshot(self.folder, name) for name in needs}
        modules = (function.__module__, *((READER,) if runs else ()))
        return Origin(what, FULL if self.full else FAST, code.digest(*modules), runs)

    def _gathered(self, what: str, origin: Origin, function: Callable[[Budget], Any]) -> Any:
        if self._render:
            raise UserError(f"{what} is not recorded in {self.folder} for this code; run without render=true")
        try:
            content = function(Budget(self.full, self._runs))
        except UserError:
            raise
        except Exception as problem:
            message = " ".join(f"{type(problem).__name__}: {problem}".split())
            raise Failure(f"{what} ended with an error: {message}") from problem
        try:
            self._records.keep(origin, content)
        except OSError as problem:
            raise UserError(f"the evidence cannot be kept ({reason(problem)}); name another folder=") from None
        return content
