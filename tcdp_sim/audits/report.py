"""The report of an audit, for people and for programs."""

import reprlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tcdp_sim.accounting import Ledger
from tcdp_sim.audits import tradeoff
from tcdp_sim.audits.events import Event
from tcdp_sim.audits.outputs import alike
from tcdp_sim.audits.stated_curves import Stated
from tcdp_sim.audits.tradeoff import GaussianDP
from tcdp_sim.core.arrays import Bools, Floats, Ints
from tcdp_sim.core.texts import LONGEST_OF_A_NOTEBOOK, in_html, shortened
from tcdp_sim.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_RECORDS, MOST_LETTERS = 12, 60  # of an input that a printed report shows


class WeakAudit(UserWarning):
    """The warning that an audit shows little: it tested nothing, tried ordinary records, or would miss twice the claim.

    Examples
    --------
    >>> import warnings
    >>> import tcdp_sim
    >>> from tcdp_sim.audits import WeakAudit
    >>> from tcdp_sim.privacy import PureDP
    >>> def size(data, rng, trials):
    ...     return len(data) + rng.laplace(0, 2, trials)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     report = tcdp_sim.audit(size, neighbours=[([1.0], [0.0])], claim=PureDP(0.1), trials=10_000)
    >>> told[0].category is WeakAudit
    True
    >>> report.tested
    False
    """


@dataclass(frozen=True, eq=False)
class Scores:
    """The distribution of the scores in the sample that chose the event, for the figure.

    `first` and `second` count each input's outputs in the cells between `edges`.
    """

    words: str
    edges: Floats
    first: Ints
    second: Ints


@dataclass(frozen=True, eq=False)
class Holds:
    """An event of outputs as the mechanism gives them."""

    event: Event
    read: Callable[[Any], Any]

    def __call__(self, outputs: Any) -> Bools:
        """Return a boolean for each of the outputs, shape (trials,)."""
        return self.event(self.read(alike(outputs, len(outputs))))


@dataclass(frozen=True, eq=False)
class AuditReport:
    """The result of an audit, correct at confidence level `level` for everything the audit has tried.

    Attributes
    ----------
    measure : str
        The bounded number in words, such as "epsilon at delta = 1e-05".
    claim : Guarantee, GaussianDP, Ledger, StatedProfile, StatedCurve or None
        The claimed guarantee, or what claims a whole trade-off curve.
    level : float
        The confidence level, in (0, 1).
    trials : int
        Outputs of each input that the bound is computed from.
    seed : int
        The seed of all random streams.
    relation : str
        What neighbouring inputs may differ in, in words.
    drawn : int
        Outputs of each input in all stages together.
    resumed : int
        How many of these were stored by an earlier call.
    reproducible : bool
        False if the mechanism uses randomness from outside its `rng`.
    notes : tuple of str
        The notices that were printed during the audit.
    folder : Path or None
        The folder with the stored counts.
    tried : tuple of str
        The differences of the pairs in words, in their order; empty for pairs of one's own.
    ordinary : bool
        True if no records were added or put in but copies of the data's own.
    planned : int
        Outputs of each input that the bound of an audit that may end early would be computed from at most, else 0.
    until : str, float or None
        What ends the audit early: "refuted", or also a value that would have been found; None if nothing does.
    failure : float or None
        The share of the failure probability 1 - level of the look at which an audit ended that may end early.
    bound : float
        The lower confidence bound on `measure`, in nats, at least 0; inf if every value is refuted.
    refuted : bool
        True if the bound exceeds the claim.
    violation : float
        The smallest true value on this event that would have been found about every second time. It is NaN without a
        claim, and inf if no value would have been found.
    tested : bool
        False if both inputs of every pair gave the same outputs from the same random stream. Such an audit has tested
        nothing.
    finds_double : bool
        True if twice the claim (twice epsilon or twice delta) would have been found about every second time. Also true
        without a claim, for a claim of 0, and for a ledger, which have no double.
    pair, pair_index : tuple of ndarray, int
        The two inputs and their place in the list of pairs.
    event : str
        The event in words, or the reason why there is none.
    holds : callable or None
        The event as a function from outputs to booleans; None if the bound comes from a moment.
    toward : str
        The input that makes the event likelier, "first" or "second".
    hits : tuple of int
        Outputs of the first and of the second input in the event, out of `trials` each.
    counts : tuple of ndarray
        The counts in the cells that the bound is computed from, for each input.
    scores : Scores or None
        The distribution of the scores, for the figure.

    Examples
    --------
    >>> import numpy as np
    >>> import tcdp_sim
    >>> from tcdp_sim.privacy import PureDP
    >>> def too_precise(data, rng, trials):
    ...     return data[0] + rng.laplace(0, 1, trials)
    >>> one_answer = tcdp_sim.audits.answers(1)
    >>> report = tcdp_sim.audit(too_precise, neighbours=one_answer, claim=PureDP(0.1), trials=10_000)
    >>> report.refuted
    True
    >>> 0.8 < report.epsilon < 1.0
    True
    """

    inputs: ClassVar[tuple[str, str]] = ("first input", "second input")  # their names in the figure
    measure: str
    claim: Guarantee | GaussianDP | Ledger | Stated | None
    level: float
    trials: int
    seed: int
    relation: str
    drawn: int
    resumed: int
    reproducible: bool
    notes: tuple[str, ...]
    folder: Path | None
    tried: tuple[str, ...] = ()
    ordinary: bool = False
    planned: int = 0
    until: str | float | None = None
    failure: float | None = None
    bound: float = 0.0
    refuted: bool = False
    violation: float = float("nan")
    tested: bool = True
    finds_double: bool = True
    pair: tuple[Any, Any] | None = None
    pair_index: int = -1
    event: str = "none"
    holds: Callable[[Any], Any] | None = None
    toward: str = ""
    hits: tuple[int, int] = (0, 0)
    counts: tuple[Any, Any] = ((), ())
    scores: Scores | None = None

    @property
    def epsilon(self) -> float:
        """The bound on epsilon, NaN if another number is measured."""
        return self.bound if self.measure.startswith("epsilon") else float("nan")

    @property
    def rho(self) -> float:
        """The bound on rho of zCDP or tCDP, NaN if another number is measured."""
        return self.bound if self.measure.startswith("rho") else float("nan")

    @property
    def verdict(self) -> str:
        """One line that says refuted, not refuted or no claim, with the numbers and the relation."""
        shown = f"{self.measure} >= {self.bound:.6g} at level {self.level:g} ({self._ground})"
        if self.claim is None:
            return f"no claim: {shown}"
        if self.refuted:
            return f"{self.claimed} is refuted: {shown}"
        least = f"; {self.violation:.4g} or more would have been found" if np.isfinite(self.violation) else ""
        return f"{self.claimed} is not refuted: {shown}{least}"

    @property
    def claimed(self) -> str:
        """The claim in words."""
        return "the ledger's trade-off curve" if isinstance(self.claim, Ledger) else str(self.claim)

    @property
    def tradeoff(self) -> "tradeoff.TradeOff | None":
        """The empirical trade-off curve of the chosen score with simultaneous bands; None without a score."""
        if self.scores is None:
            return None
        counts = self.scores.first, self.scores.second
        failure = 1 - self.level if self.failure is None else self.failure
        return tradeoff.of_counts(*(counts if self._favours_first else counts[::-1]), failure)

    @property
    def _favours_first(self) -> bool:
        """True if large scores are likelier under the first input."""
        upper = self.holds.event.upper if isinstance(self.holds, Holds) else True
        return (self.toward in ("first", "inside")) == upper

    @property
    def _ground(self) -> str:
        """The relation of neighbours, and that calls were interleaved where the outputs depend on other things too."""
        turns = "" if self.reproducible else "; calls in turn, since outputs depend on more than input and rng"
        return f"neighbours: {self.relation}{turns}"

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """The lines that say why the audit is weak; none if the claim is refuted."""
        return () if self.refuted else tuple(self._weaknesses())

    def _weaknesses(self) -> Iterator[str]:
        if not self.tested:
            same = "both inputs of every pair give the same outputs from the same random stream"
            yield f"{same}: the audit has tested nothing; give neighbours that the mechanism tells apart"
        elif not self.finds_double:
            least = f"{self.violation:.4g} or more" if np.isfinite(self.violation) else "no value"
            found = f"of {self.measure}, {least} would have been found on the event of this audit"
            yield f"the audit could not have found twice the claim ({found}): give more seconds or trials"
        if self.ordinary:
            yield (
                "no records were added or put in but copies of the data's own: give records() a domain= with those "
                "that tell more, the least and the largest possible ones and new keys"
            )

    def warn(self, stacklevel: int) -> None:
        """Issue a `WeakAudit` for each weakness, at a place that is `stacklevel` frames up, as `warnings.warn` does."""
        for line in self.weaknesses:
            warnings.warn(line, WeakAudit, stacklevel=stacklevel)

    def __str__(self) -> str:
        lines = [self.verdict]
        if self.pair is not None:
            data, other = (_short(side) for side in self.pair)
            lines.append(f"pair {self.pair_index}: {data} and {other}")
            if self.tried:
                lines.append(shortened(f"pairs tried: {'; '.join(self.tried)}", LONGEST_OF_A_NOTEBOOK))
            lines.append(f"event: {self.event}; likelier under the {self.toward}")
            lines.append(self._sample)
        if self.planned:
            lines.append(f"ended with {self.trials:,} of {self.planned:,} outputs of each input for the bound")
        return "\n".join([*lines, *self.notes, *self.weaknesses])

    def _repr_html_(self) -> str:
        """Return the report for a notebook."""
        return in_html(str(self).splitlines())

    @property
    def _sample(self) -> str:
        if self.holds is None:
            return f"means of {self.trials:,} outputs of each input"
        return f"hits: {self.hits[0]:,} and {self.hits[1]:,} of {self.trials:,} each"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, as in `audit.json`: NaN as None, infinities and bytes as text."""
        sides = None if self.pair is None else [_input_as_json(side) for side in self.pair]
        plain = {name: as_json(getattr(self, name)) for name in _PLAIN}
        return {**plain, "claim": self.claimed if self.claim else None, "verdict": self.verdict, "pair": sides}

    def figure(self) -> "Figure":
        """Return a matplotlib figure of the scores under both inputs, with the event shaded."""
        from tcdp_sim.audits.drawing import figure

        return figure(self)


def _short(data: Any) -> str:
    """Return an input in one line or, for a frame, in a few."""
    if isinstance(data, np.ndarray):
        return np.array2string(data, threshold=12, precision=6)
    if hasattr(data, "iloc"):
        return f"{type(data).__name__} of {len(data)} rows"
    short = reprlib.Repr()
    short.maxlist = short.maxtuple = short.maxset = short.maxdict = MOST_RECORDS
    short.maxstring = short.maxother = MOST_LETTERS
    return short.repr(data)


def as_json(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value


def _input_as_json(data: Any) -> Any:
    """Return an input as JSON can hold it: arrays and lists of numbers or texts as lists, others in words."""
    if isinstance(data, np.ndarray | np.generic | list | tuple | bytes | str):
        listed = np.asarray(data, dtype=object if isinstance(data, list | tuple) else None).tolist()
        flat = listed if isinstance(listed, list) else [listed]
        if all(isinstance(each, list | str | bytes | int | float | None) for each in flat):
            return as_json(listed)
    return _short(data)


_PLAIN: tuple[str, ...] = (
    "measure",
    "relation",
    "bound",
    "refuted",
    "violation",
    "level",
    "trials",
    "pair_index",
    "event",
    "toward",
    "hits",
)
_PLAIN += (
    "tried",
    "ordinary",
    "planned",
    "until",
    "drawn",
    "seed",
    "reproducible",
    "tested",
    "finds_double",
    "notes",
    "weaknesses",
)
