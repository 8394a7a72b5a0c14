"""The statements of the papers: one data file for each paper, read and checked. It contains no verdict."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tcdp_sim.experiments.papers.judge.classes import ClaimClass
from tcdp_sim.experiments.papers.judge.evidence import Growth, Kind, Proof
from tcdp_sim.experiments.papers.judge.verdict import Verdict

FILES = ("zcdp", "tcdp", "variants", "couplings", "per_record")  # in the order of the page
MOST_WORDS = 40  # words in a quote
CHECKED = set(Kind) - {Kind.DEFINITION, Kind.NOT_CHECKABLE}


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(_Entry):
    """The place of a statement in the text at hand: its section, its name there ("Theorem 17"), the line."""

    section: str
    number: str = ""
    line: int = Field(0, ge=0)

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        return ", ".join(word for word in (f"section {self.section}", self.number, line) if word)


class Claim(_Entry):
    """A statement, as the data file of its paper has it.

    `judge.evidence.Evidence` documents measures, universe, proof, why, tolerance, growth, vacuous and reason.

    - `id`: the id as people type it ("T.C18p repaired").
    - `of`: id of the statement that a part belongs to; "" for a statement itself.
    - `ids`: all statements that it covers.
    - `claim_class`: meaning of the verdict for the paper (`class` in the file).
    - `quote`, `no_quote`: the paper's own words, or the reason why there are none.
    - `digest`: digest of the quote without white space.
    - `hypotheses`: the hypotheses in force at that place.
    - `recovered`: True if formulas of the quote are lost and were recovered from elsewhere.
    - `withdrawn`: the statement of the first version of the page, and the reason for its withdrawal.
    - `expected`: the recorded verdict, which is only compared.
    - `needs`: studies whose results it reads.
    - `repaired`: id of the statement that stands in its place.
    """

    id: str
    of: str = ""
    ids: tuple[str, ...] = ()
    title: str
    place: Place
    claim_class: Annotated[ClaimClass, Field(alias="class")]
    quote: str = ""
    digest: str = ""
    no_quote: str = ""
    hypotheses: str = ""
    recovered: bool = False
    withdrawn: str = ""
    kind: Kind
    expected: Verdict
    measures: str = ""
    universe: str = ""
    proof: Proof | None = None
    why: str = ""
    tolerance: float = Field(0.0, ge=0)
    growth: Growth = Growth.BOTH
    vacuous: str = ""
    reason: str = ""
    needs: tuple[str, ...] = ()
    erratum: str = ""
    figure: str = ""
    printed: str = ""
    correct: str = ""
    consequence: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> "Claim":
        if bool(self.quote) == bool(self.no_quote):
            raise ValueError("give a quote, or no_quote with the reason")
        if len(self.quote.split()) > MOST_WORDS:
            raise ValueError(f"the quote has {len(self.quote.split())} words; valid: at most {MOST_WORDS}")
        if self.claim_class is ClaimClass.OURS and self.quote:
            raise ValueError("a sentence of ours has no quote")
        if self.kind in CHECKED and not self.measures:
            raise ValueError("a claim that is checked needs `measures`: the two sides that are compared")
        if self.kind not in CHECKED and not self.reason:
            raise ValueError("a claim that is not checked needs a reason")
        if self.proof is not None and not self.why:
            raise ValueError("a proof needs `why`: one line that says what makes it one")
        return self

    @property
    def ours(self) -> bool:
        """True if the sentence is this project's and not the paper's."""
        return self.claim_class is ClaimClass.OURS

    @property
    def paper(self) -> str:
        """The letter of its paper."""
        return self.id[0]

    @property
    def statement(self) -> str:
        """The id of the statement that it belongs to: its own, or that of the whole if it is a part."""
        return self.of or self.id


class Finding(_Entry):
    """A result that matters to a practitioner, with the claims that show it."""

    text: str
    ids: tuple[str, ...]


class Paper(_Entry):
    """A paper and its claims.

    `name` is the full name, `title` a short one, and `short` the one in filters. `version` and `text` tell which text
    was read, in a few words and in full. `withdrawn` maps the id of a removed claim to the reason. `statements` maps a
    numbered statement to the id of its claim.
    """

    letter: str = Field(pattern="^[A-Z]$")
    name: str
    title: str
    short: str
    version: str
    text: str
    findings: tuple[Finding, ...] = ()
    withdrawn: Mapping[str, str] = Field(default_factory=dict)
    statements: Mapping[str, str]
    claims: Mapping[str, Claim]


@cache
def papers() -> Mapping[str, Paper]:
    """Return letter -> paper, in the order of the page. Raise ValueError for a data file that is not valid."""
    read = (_read(name) for name in FILES)
    return MappingProxyType({paper.letter: paper for paper in read})


@cache
def claims() -> Mapping[str, Claim]:
    """Return id -> claim, in the order of the papers and of their data files."""
    return MappingProxyType({one.id: one for paper in papers().values() for one in paper.claims.values()})


def _read(name: str) -> Paper:
    text = resources.files("tcdp_sim.experiments.papers").joinpath(f"{name}.yaml").read_text("utf-8")
    return parsed(text, f"{name}.yaml")


def parsed(text: str, source: str) -> Paper:
    """Return the paper in the text of a data file. Raise ValueError that names the source and the claim."""
    plain = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    entries: dict[str, Claim] = {}
    for identity, entry in plain.pop("claims").items():
        one = _entry(identity, entry, source)
        if one.of and (one.of not in entries or entries[one.of].of):
            raise ValueError(f"{source}: {identity}: of = {one.of!r} is no statement that stands before it")
        ids = entries[one.of].ids if one.of else one.ids or (identity,)
        entries[identity] = one.model_copy(update={"ids": ids})
    try:
        return Paper(claims=entries, **plain.pop("paper"), **plain)
    except ValidationError as problem:
        raise ValueError(f"{source}: {_first(problem)}") from None


def _entry(identity: str, entry: Mapping[str, object], source: str) -> Claim:
    try:
        return Claim.model_validate({"id": identity, **entry})
    except ValidationError as problem:
        raise ValueError(f"{source}: {identity}: {_first(problem)}") from None


def _first(problem: ValidationError) -> str:
    error = problem.errors()[0]
    return ": ".join([*map(str, error["loc"]), error["msg"].removeprefix("Value error, ")])
