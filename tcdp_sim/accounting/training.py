"""The epsilons of a training run: the one that libraries print, the least one it can have, and the most it can have."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil
from numbers import Real
from typing import Any

from tcdp_sim.accounting.least_factor import least_factor
from tcdp_sim.accounting.ledger import Ledger
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.allocated import Allocated
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.accounting.releases.shuffled import Shuffled
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.core.rounded import from_above, from_below
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy.relation import Relation, known_relation

_KNOWN_ORDER = "at most: an adversary who knows the order; at least: an attack on the largest output"
_CLOSE = 1e-5  # relative distance of a noise multiplier from the least one
_EXACT = "attained; both ends differ by numerical errors"
_SHIFTED = "a record that is added shifts later ones: nothing is proved"


@dataclass(frozen=True)
class Run:
    """A training run: T steps an epoch, E epochs, q = batch / records."""

    sigma: float
    records: int
    batch: int
    epochs: int
    steps: int
    most: int | None

    @property
    def rate(self) -> float:
        """The share of the records in a batch."""
        return min(self.batch / self.records, 1.0)

    @property
    def noise(self) -> Gaussian:
        """The noise, in clipping lengths."""
        return Gaussian(self.sigma)


Entry = tuple[Release, int]
Found = dict[str, Entry | str]  # relation -> a release with its times, or the reason why there is none


def _poisson(run: Run) -> Found:
    times = run.steps * run.epochs
    step = Sampled(Additive(run.noise), run.rate)
    both = Sampled(Additive(run.noise), run.rate, "poisson_substitution")
    return {"add_remove": (step, times), "zero_out": (step, times), "substitute": (both, times)}


def _cut(run: Run) -> Found:
    step = Sampled(Additive(run.noise), run.rate, records=run.records, most=run.most)
    reason = "what is cut depends on the number of records: only zero_out has a proved pair"
    return {"add_remove": reason, "zero_out": (step, run.steps * run.epochs), "substitute": reason}


def _shuffled(order: str) -> Callable[[Run], Found]:
    def found(run: Run) -> Found:
        release = Shuffled(run.sigma, run.steps, run.epochs, order)
        return {"add_remove": _SHIFTED, "zero_out": (release, 1), "substitute": (release, 1)}

    return found


def _bins(bins: str) -> Callable[[Run], Found]:
    def found(run: Run) -> Found:
        try:
            release = Allocated(run.sigma, run.steps, bins=bins, epochs=run.epochs)
        except ValueError as mistake:
            return dict.fromkeys(("add_remove", "zero_out", "substitute"), str(mistake))
        reason = "no pair is known for two records in bins"
        return {"add_remove": (release, 1), "zero_out": (release, 1), "substitute": reason}

    return found


def _fixed_size(run: Run) -> Found:
    reason = "the size of a batch is fixed: only substitution has a proved pair"
    step = Sampled(Additive(run.noise, 2.0), run.rate, "without_replacement")
    return {"add_remove": reason, "zero_out": reason, "substitute": (step, run.steps * run.epochs)}


@dataclass(frozen=True)
class Sampler:
    """A way to choose batches: words, its releases by relation, what libraries assume, and the reason for the ends."""

    words: str
    releases: Callable[[Run], Found]
    assumed: str
    ends: str


_WRONG = "of Poisson samples, which this run does not draw: no guarantee for it"
SAMPLERS: dict[str, Sampler] = {
    "poisson": Sampler(
        "each record is in each batch with probability batch / records",
        _poisson,
        "of Poisson samples, as in this run",
        _EXACT,
    ),
    "poisson_cut": Sampler(
        "Poisson samples, of which at most `most` records are used",
        _cut,
        "of samples without a limit",
        "at most: proved; at least: data whose other records add nothing",
    ),
    "shuffle_each_epoch": Sampler(
        "batches of a data set that is shuffled anew in each epoch (the usual data loader)",
        _shuffled("each_epoch"),
        _WRONG,
        _KNOWN_ORDER,
    ),
    "shuffle_once": Sampler(
        "batches of a data set that is shuffled once, the same in each epoch", _shuffled("once"), _WRONG, _KNOWN_ORDER
    ),
    "no_shuffle": Sampler("batches in a known order", _shuffled("fixed"), _WRONG, _EXACT),
    "balls_in_bins": Sampler(
        "each record is put into a random step of each epoch", _bins("each_epoch"), _WRONG, _EXACT
    ),
    "same_bins": Sampler(
        "each record is put into a random step, the same in each epoch", _bins("same"), _WRONG, _EXACT
    ),
    "fixed_size": Sampler(
        "each batch is a random subset of fixed size, chosen anew in each step",
        _fixed_size,
        _WRONG,
        "at most: each step in the worse order of the two data sets; at least: data that attain one order",
    ),
}


@dataclass(frozen=True)
class TrainingRow:
    """The epsilons of a run in one relation.

    - relation: the neighbouring relation.
    - epsilon: the least and the largest epsilon that the run can have; None if nothing is proved.
    - reason: where the ends come from, or why there are none.
    """

    relation: str
    epsilon: Bounds | None
    reason: str


@dataclass(frozen=True)
class TrainingReport:
    """The epsilons of a training run at one delta.

    Attributes
    ----------
    printed : float
        The epsilon that libraries print: of Poisson samples under add/remove.
    assumed : str
        What that assumes, and whether it holds.
    rows : tuple of TrainingRow
        For each relation the least epsilon that the run can have and the largest one.
    about : mapping
        The sampler in words, and the numbers of the run.

    Examples
    --------
    >>> report = training_report("poisson", 1.0, 60_000, 60, 1, 1e-6)
    >>> print(str(report).splitlines()[1])
    60,000 records, batches of 60, 1 epochs of 1,000 steps, noise multiplier 1
    """

    printed: float
    assumed: str
    rows: tuple[TrainingRow, ...]
    about: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        about = self.about
        yield f"{about['sampler']}: {about['words']}"
        size = "{records:,} records, batches of {batch:,}, {epochs:,} epochs of {steps:,} steps"
        yield f"{size.format(**about)}, noise multiplier {about['sigma']:g}"
        heading = f"epsilon at delta = {about['delta']:g}"
        yield f"{heading:<26}{'at least':>10}{'at most':>10}"
        yield f"{'  libraries print':<36}{from_above(self.printed):>10}   {self.assumed}"
        for row in self.rows:
            least = most = "-"
            if row.epsilon is not None:
                least, most = from_below(row.epsilon.lower), from_above(row.epsilon.upper)
            reason = "" if row.epsilon is not None else f"   {row.reason}"
            yield f"{f'  {row.relation}':<26}{least:>10}{most:>10}{reason}"
        yield from dict.fromkeys(f"({row.reason})" for row in self.rows if row.epsilon is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; an end without a finite value is None."""
        rows = [
            {
                "relation": row.relation,
                "least": None if row.epsilon is None else _finite(row.epsilon.lower),
                "most": None if row.epsilon is None else _finite(row.epsilon.upper),
                "reason": row.reason,
            }
            for row in self.rows
        ]
        return {**self.about, "printed": _finite(self.printed), "assumed": self.assumed, "epsilons": rows}


def _finite(value: float) -> float | None:
    return float(value) if value < float("inf") else None


def training_report(
    sampler: str,
    sigma: Any,
    records: int,
    batch: int | None = None,
    epochs: int | None = None,
    delta: float | None = None,
    *,
    drop_last: bool = False,
    most: int | None = None,
) -> TrainingReport:
    """Return the epsilons of a run of DP-SGD: the printed one, the least one it can have, and the largest one.

    Parameters
    ----------
    sampler : str
        How batches are chosen: "poisson", "poisson_cut" (with `most`), "shuffle_each_epoch" (the usual data loader),
        "shuffle_once", "no_shuffle", "balls_in_bins", "same_bins" or "fixed_size".
    sigma : float
        The noise multiplier: the standard deviation of the noise in a sum of gradients over the clipping length, > 0.
        Several devices or accumulated gradients are one batch if their gradients are summed before the noise. Or what a
        library has counted: an opacus accountant, its history, or an event of dp_accounting, from which `batch` and
        `epochs` follow too.
    records : int
        The number of records, at least 1. It is public under zero_out and substitution.
    batch : int, optional
        The number of records in a batch, or its mean for Poisson samples, from 1 to `records`.
    epochs : int, optional
        The number of passes over the data, at least 1. A pass has records / batch steps, rounded up.
    delta : float
        delta, in (0, 1).
    drop_last : bool
        True if a last short batch of an epoch is left out, so that the number of steps is rounded down.
    most : int, optional
        The largest number of records that are used of a Poisson sample, from 1 to `records`.

    Returns
    -------
    TrainingReport
        The epsilons by relation, with the reason for each. `print` shows them, and `to_dict` has them as plain data.

    Examples
    --------
    >>> report = training_report("shuffle_once", 0.8, 60_000, 60, 5, 1e-6)
    >>> round(report.printed, 3), [round(row.epsilon.lower, 1) for row in report.rows if row.epsilon]
    (0.734, [16.6, 34.6])
    """
    delta = scalar("delta", delta, 0, 1)
    if not isinstance(sigma, Real | str | None):
        sigma, batch, epochs = _counted(sigma, records, batch, epochs)
    run = _run(sampler, sigma, records, batch, epochs, drop_last, most)
    named, steps = SAMPLERS[sampler], run.steps
    rows = tuple(_row(relation, found, named, delta) for relation, found in named.releases(run).items())
    poisson = Ledger([(Sampled(Additive(run.noise), run.rate), steps * run.epochs)], "add_remove")
    about = {"sampler": sampler, "words": named.words, "sigma": run.sigma, "records": run.records, "batch": run.batch}
    about |= {"epochs": run.epochs, "steps": steps, "delta": delta} | ({"most": most} if most is not None else {})
    return TrainingReport(poisson.epsilon(delta).upper, named.assumed, rows, about)


def training_noise(
    sampler: str,
    epsilon: float,
    records: int,
    batch: int,
    epochs: int,
    delta: float,
    *,
    relation: str = "zero_out",
    drop_last: bool = False,
    most: int | None = None,
) -> float:
    """Return the least noise multiplier, to 1e-5, with which a run of DP-SGD is proved to be (epsilon, delta)-DP.

    Parameters
    ----------
    sampler : str
        How batches are chosen, as in `training_report`.
    epsilon : float
        The epsilon that the run may have, in nats, above 0.
    records : int
        The number of records, at least 1.
    batch : int
        The number of records in a batch, or its mean, from 1 to `records`.
    epochs : int
        The number of passes over the data, at least 1.
    delta : float
        delta, in (0, 1).
    relation : {"add_remove", "substitute", "zero_out"}
        The neighbouring relation. Not every sampler has a proved pair for each.
    drop_last : bool
        True if a last short batch of an epoch is left out.
    most : int, optional
        The largest number of records that are used of a Poisson sample, from 1 to `records`.

    Returns
    -------
    float
        The noise multiplier, from above: the upper end of the run's delta at epsilon is at most delta.

    Raises
    ------
    ValueError
        If an argument is out of range, the sampler has no proved pair for the relation, or no noise suffices.

    Examples
    --------
    >>> from tcdp_sim.accounting import training_noise
    >>> [round(training_noise(each, 3.0, 60_000, 60, 5, 1e-6), 2) for each in ("poisson", "shuffle_once")]
    [0.59, 3.45]
    """
    epsilon, delta = scalar("epsilon", epsilon, 0), scalar("delta", delta, 0, 1)
    relation = known_relation(relation, Relation)

    def spent(sigma: float, tolerance: float) -> Bounds:
        run = _run(sampler, sigma, records, batch, epochs, drop_last, most)
        found = SAMPLERS[sampler].releases(run)[relation]
        if isinstance(found, str):
            raise ValueError(f"sampler = {sampler!r} has no answer under relation = {relation!r}: {found}")
        return Ledger([found], relation).delta(epsilon, tolerance)

    return least_factor(spent, delta, close=_CLOSE).factor


def _counted(counted: Any, records: Any, batch: Any, epochs: Any) -> tuple[float, int, int]:
    """Return the numbers of a run that a library has counted."""
    from tcdp_sim.accounting.imports.runs import numbers_of  # imported late, as few reports need it

    if batch is not None or epochs is not None:
        raise ValueError("batch and epochs follow from what the library has counted; valid: records alone")
    return numbers_of(counted, whole("records", records, 1, 2**53))


def _run(sampler: str, sigma: Any, records: Any, batch: Any, epochs: Any, drop_last: bool, most: int | None) -> Run:
    """Return the checked numbers of a run."""
    choice("sampler", sampler, tuple(SAMPLERS))
    sigma, records = scalar("sigma", sigma, 0), whole("records", records, 1, 2**53)
    batch, epochs = whole("batch", batch, 1, records), whole("epochs", epochs, 1, 10**4)
    if (sampler == "poisson_cut") != (most is not None):
        raise ValueError(f"most = {most!r} is not valid with sampler = {sampler!r}; valid: both poisson_cut and most")
    steps = max(records // batch if drop_last else ceil(records / batch), 1)
    return Run(sigma, records, batch, epochs, steps, most)


def _row(relation: str, found: Entry | str, sampler: Sampler, delta: float) -> TrainingRow:
    if isinstance(found, str):
        return TrainingRow(relation, None, found)
    return TrainingRow(relation, Ledger([found], relation).epsilon(delta), sampler.ends)
