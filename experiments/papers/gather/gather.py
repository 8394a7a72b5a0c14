"""Evidence on claims, and the tables of exhibits: read from records, or gathered now and recorded."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from tcdp_sim.core.errors import Failure, UserError, reason
from tcdp_sim.core.log import Tell
from tcdp_sim.experiments.papers.balls import CONFIRMED, SAYS, in_floats
from tcdp_sim.experiments.papers.gather import code, studies
from tcdp_sim.experiments.papers.gather.records import Content, Origin, Records, digest_of, points_digest
from tcdp_sim.experiments.papers.judge.balls import are_apart
from tcdp_sim.experiments.papers.judge.classes import ClaimClass, shown_class
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Point
from tcdp_sim.experiments.papers.judge.power import Power, power
from tcdp_sim.experiments.papers.judge.verdict import Judgement, judge
from tcdp_sim.experiments.papers.library import Claim
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, evidence_of, function_of, points_of

EVIDENCE = "evidence"  # name of the records' folder in the folder of the papers
FAST, FULL = "fast", "full"
DRAWER = "tcdp_sim.report.svg"
READER = "tcdp_sim.experiments.papers.gather.runs"  # the module that shows results of studies to claims


@dataclass(frozen=True)
class Result:
    """A claim with its evidence and the verdict on it."""

    claim: Claim
    evidence: Evidence
    judgement: Judgement
    balls: Point | None = None  # both sides in ball arithmetic, at the point that decides

    @property
    def changed(self) -> bool:
        """True if the verdict differs from the recorded one."""
        return self.judgement.verdict != self.claim.expected

    @property
    def shown(self) -> ClaimClass:
        """The class that the page shows."""
        confirmed = self.balls is not None and are_apart(self.claim.kind, self.balls)
        return shown_class(self.claim.claim_class, self.judgement.verdict, confirmed)

    @property
    def says(self) -> str:
        """The sign between the two sides that the balls show; "" where there are no balls."""
        return SAYS[self.claim.id].sign if self.balls is not None and self.claim.id in SAYS else ""

    @property
    def power(self) -> Power:
        """The wrong statements that the points would not have caught."""
        return power(self.claim.kind, self.evidence, self.judgement)


class Gatherer:
    """A gatherer of missing evidence in a folder, which keeps it there.

    If `render`, it only reads records and raises UserError where one is missing.
    """

    def __init__(
        self, folder: Path, full: bool, cluster: str | Mapping[str, Any], tell: Tell, render: bool = False
    ) -> None:
        self.folder, self.full, self.cluster, self._tell, self._render = folder, full, cluster, tell, render
        self._runs = studies.Opened(folder)
        self._records = Records(folder / EVIDENCE)
        self._has_flint = find_spec("flint") is not None
        if not self._has_flint:
            tell("nothing is confirmed in ball arithmetic: python-flint is missing (pip install 'tcdp_sim[rigorous]')")
        if self._records.damaged:
            tell(f"{folder / EVIDENCE}: {self._records.damaged} damaged stretches; their contents are gathered again")

    def __enter__(self) -> "Gatherer":
        return self

    def __exit__(self, *_: object) -> None:
        self._records.close()

    def run_studies(self, things: Iterable[Claim | Exhibit]) -> None:
        """Run the studies that the claims and exhibits need and that are not yet published with enough trials."""
        names = sorted({name for thing in things for name in thing.needs})
        if not self._render:
            studies.run_all(names, self.full, self.folder, self.cluster, self._tell)

    def results(self, claims: Iterable[Claim]) -> Iterator[Result]:
        """Yield the result of each claim, in the order of the claims."""
        for claim in claims:
            evidence = evidence_of(claim, self._points(claim))
            yield Result(claim, evidence, judge(claim.kind, evidence), self._balls(claim))

    def _points(self, claim: Claim) -> tuple[Point, ...]:
        function = function_of(claim)
        if function is None:
            return ()
        return self._known(f"claim {claim.id}", function, claim.needs, partial(points_of, claim))

    def _balls(self, claim: Claim) -> Point | None:
        """Return both sides of a claim in ball arithmetic, or None if it has none or python-flint is missing."""
        sides = CONFIRMED.get(claim.id)
        if sides is None or not self._has_flint:
            return None
        (point,) = self._known(f"balls {claim.id}", sides, (), lambda _: (in_floats(sides),))
        return point

    def missing(self, claims: Iterable[Claim], exhibits: Iterable[Exhibit]) -> list[str]:
        """Return the names of the claims and exhibits that are not recorded for this code and these runs."""
        functions: list[tuple[str, Callable[[Budget], Any] | None, tuple[str, ...]]]
        functions = [(f"claim {one.id}", function_of(one), one.needs) for one in claims]
        functions += [(f"exhibit {one.name}", one.table, one.needs) for one in exhibits]
        return [
            what
            for what, function, needs in functions
            if function and self._records.get(self._origin(what, function, needs)) is None
        ]

    def missing_claims(self, claims: Iterable[Claim]) -> list[str]:
        """Return the ids of the claims whose points are not recorded for this code and these runs."""
        return [one.id for one in claims if self.missing([one], ())]

    def is_same(self, result: Result) -> bool:
        """Return True if the points of a claim, computed now, equal those of the result to the last bit."""
        again = points_of(result.claim, Budget(self.full, self._runs))
        return points_digest(again) == points_digest(result.evidence.points)

    def table(self, exhibit: Exhibit) -> pd.DataFrame:
        """Return the numbers of an exhibit."""
        return self._known(f"exhibit {exhibit.name}", exhibit.table, exhibit.needs, exhibit.table)

    def picture(self, exhibit: Exhibit, table: pd.DataFrame) -> str:
        """Return the figure of an exhibit as SVG, drawn now if its table or the code that draws it has changed."""
        draw = exhibit.draw
        assert draw is not None, f"{exhibit.name} is shown as a table"
        made_of = {"table": digest_of(table), "matplotlib": version("matplotlib")}
        origin = Origin(f"figure {exhibit.name}", "", code.digest(draw.__module__, DRAWER), made_of)
        known = self._records.get(origin)
        if known is None:
            from tcdp_sim.report.svg import drawn

            known = drawn(draw, table)
            self._keep(origin, known)
        return str(known)

    def _known(self, what: str, function: Callable[..., Any], needs: Iterable[str], compute: Callable[..., Any]) -> Any:
        """Return the points or table recorded under a name for this code, or compute and record them now."""
        origin = self._origin(what, function, needs)
        content = self._records.get(origin)
        return self._gathered(what, origin, compute) if content is None else content

    def _origin(self, what: str, function: Callable[..., Any], needs: Iterable[str]) -> Origin:
        runs = {name: studies.snapshot(self.folder, name) for name in needs}
        modules = (function.__module__, *((READER,) if runs else ()))
        budget = (FULL if self.full else FAST) + ("" if self._has_flint else " without balls")
        return Origin(what, budget, code.digest(*modules), runs)

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
        self._keep(origin, content)
        return content

    def _keep(self, origin: Origin, content: Content) -> None:
        try:
            self._records.keep(origin, content)
        except OSError as problem:
            raise UserError(f"the evidence cannot be kept ({reason(problem)}); name another folder=") from None
