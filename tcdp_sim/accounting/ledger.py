"""A list of releases, and the brackets that follow from all of them together."""

import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

from tcdp_sim.accounting import risk
from tcdp_sim.accounting.brackets import cases_of_list, infinite_loss, least_delta, least_epsilon
from tcdp_sim.accounting.composed_pairs import Entries, Split, merged
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.renyi import total_renyi
from tcdp_sim.accounting.table import DELTA, html, table_rows, text
from tcdp_sim.core.errors import choice, scalar, whole
from tcdp_sim.core.numerics import ULP, Bounds
from tcdp_sim.core.rounded import from_above
from tcdp_sim.privacy.relation import Relation, known_relation

MOST_RELEASES = 10**7
_FINE = 1e-4  # relative tolerance of an advantage
_MU = 1e-6  # absolute tolerance of a mu
_PRINTED = 1e-3  # relative tolerance of a table, which has four digits


@dataclass(frozen=True, init=False, repr=False)
class Ledger:
    """A list of unequal releases of the same data, with two-sided brackets for their joint privacy loss.

    The list is fixed in advance, and the queries may depend on earlier answers. Each answer is a bracket for the tight
    value: no smaller value holds for every release that fits its entry. The upper end of an epsilon, delta, risk or
    divergence is the safe end; the safe end of a trade-off is its lower end.

    Source: Zhu et al. (2022), Theorem 10 [ZDW22], for adaptive composition. The numerical error bounds are derived in
    `tcdp_sim.exact.losses.convolved`.

    Parameters
    ----------
    releases : iterable
        Releases, or pairs (release, times) with whole times from 1.
    relation : {"add_remove", "substitute", "zero_out", None}
        The neighbouring relation, in which all sensitivities are stated. None is for lists in which no release depends
        on it.

    Raises
    ------
    ValueError
        If an entry is no release, or has no pair for the relation, or the list has more than 10^7 releases.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, Ledger, RandomisedResponse
    >>> from tcdp_sim.noise import Gaussian, Laplace
    >>> ledger = Ledger([(Additive(Gaussian(10.0)), 20), Additive(Laplace(5.0)), RandomisedResponse(0.1)])
    >>> round(ledger.epsilon(1e-6).upper, 2)
    2.18
    """

    entries: Entries
    relation: str | None

    def __init__(self, releases: Iterable[Any] = (), relation: str | None = None) -> None:
        if relation is not None:
            relation = known_relation(relation, Relation)
        if isinstance(releases, Release) or not isinstance(releases, Iterable):
            raise ValueError(f"releases = {releases!r} is not valid; valid: a list of releases or (release, times)")
        object.__setattr__(self, "relation", relation)
        object.__setattr__(self, "entries", merged(_entry(item) for item in releases))
        if self.releases > MOST_RELEASES:
            raise ValueError(f"the ledger has {self.releases:,} releases; valid: at most {MOST_RELEASES:,}")
        cases_of_list(self.entries, relation, False)  # refuses a release without a pair for the relation

    @classmethod
    def from_events(cls, event: Any, relation: str = "add_remove") -> "Ledger":
        """Return the ledger of an event tree of dp_accounting.

        See https://github.com/google/differential-privacy/tree/main/python/dp_accounting.

        Parameters
        ----------
        event : DpEvent
            The tree, or its named tuple: composed and self-composed events, Gaussian, Laplace and discrete Laplace
            noise, samples of these (Poisson, with a limit, with and without replacement), mixtures of Gaussians, trees
            of one epoch, randomised response, zCDP. Its noise is for values of norm at most 1, which move a sum by 2
            under substitution.
        relation : {"add_remove", "substitute", "zero_out"}
            The neighbouring relation. dp_accounting calls them ADD_OR_REMOVE_ONE, REPLACE_ONE and REPLACE_SPECIAL.
            Under "zero_out", the empty record of a randomised response has a uniform answer.

        Returns
        -------
        Ledger
            The releases of the tree. dp_accounting itself is not needed.

        Raises
        ------
        ValueError
            If an event has no release in this relation.
        """
        from tcdp_sim.accounting.imports.events import of_event  # imported late, as few ledgers need it

        return cls(of_event(event, known_relation(relation, Relation)), relation)

    @classmethod
    def from_opacus(cls, history: Any, relation: str = "add_remove") -> "Ledger":
        """Return the ledger of an opacus accountant, or of its history.

        Parameters
        ----------
        history : list of (float, float, int), or an accountant
            Noise multiplier, sample rate and number of steps, each time they changed.
        relation : {"add_remove", "zero_out"}
            The neighbouring relation.

        Returns
        -------
        Ledger
            Poisson samples with Gaussian noise. A run whose batches are shuffled is another mechanism.

        Raises
        ------
        ValueError
            If the history has another form.
        """
        from tcdp_sim.accounting.imports.histories import of_opacus

        return cls(of_opacus(history), relation)

    @classmethod
    def from_opendp(cls, measurement: Any, d_in: Any, relation: str | None = None) -> "Ledger":
        """Return the ledger of what an OpenDP measurement states about inputs at a distance.

        Parameters
        ----------
        measurement : Measurement
            A measurement whose loss is an epsilon, a rho, or an epsilon with a fixed delta.
        d_in : number
            The distance of neighbouring inputs in the measurement's metric.
        relation : {"add_remove", "substitute", "zero_out", None}
            The neighbouring relation that the distance stands for.

        Returns
        -------
        Ledger
            One black box (`Claimed`).

        Raises
        ------
        ValueError
            If the loss is of another kind, or infinite.
        """
        from tcdp_sim.accounting.imports.histories import of_opendp

        return cls(of_opendp(measurement, d_in), relation)

    @property
    def releases(self) -> int:
        """The number of releases, with all parts of a split."""
        return sum(times * _count(item) for item, times in self.entries)

    def epsilon(self, delta: float, tolerance: float = 1e-4) -> Bounds:
        """Return the least epsilon >= 0 with (epsilon, delta)-differential privacy.

        Parameters
        ----------
        delta : float
            delta, in [0, 1].
        tolerance : float
            The aim for the distance of the ends, relative to the upper one, above 0.

        Returns
        -------
        Bounds
            epsilon in nats, inf if an infinite loss has a probability above delta. A delta that equals this probability
            to rounding gives a warning.
        """
        delta = scalar("delta", delta, 0, 1, closed=True, finite=False)
        share = scalar("tolerance", tolerance, 0)
        found = least_epsilon(self.entries, self.relation, delta, share)
        if found.lower < found.upper == inf and 0 < delta <= infinite_loss(self.entries, self.relation):
            told = "equals the probability of an infinite loss to rounding, so that epsilon may be infinite"
            warnings.warn(f"delta = {delta!r} {told}; valid: a larger delta", stacklevel=2)
        return found

    def delta(self, epsilon: float, tolerance: float = 1e-3) -> Bounds:
        """Return the least delta with (epsilon, delta)-differential privacy.

        Parameters
        ----------
        epsilon : float
            epsilon in nats, at least 0.
        tolerance : float
            The aim for the distance of the ends, relative to the upper one, above 0.

        Returns
        -------
        Bounds
            delta.
        """
        epsilon, share = scalar("epsilon", epsilon, 0, closed=True), scalar("tolerance", tolerance, 0)
        return least_delta(self.entries, self.relation, epsilon, share)

    def renyi(self, order: float) -> Bounds:
        """Return the Renyi divergence of an order, the larger one of both directions.

        Parameters
        ----------
        order : float
            The order, at least 1, or inf.

        Returns
        -------
        Bounds
            The divergence in nats.

        Raises
        ------
        ValueError
            If the order is out of range, or a release has no known divergence.
        """
        return total_renyi(self.entries, self.relation, scalar("order", order, 1, closed=True, finite=False))

    def tradeoff(self, alpha: float) -> Bounds:
        """Return the least type II error of a test for the record, at a type I error of alpha.

        Source: Dong et al. (2022) [DRS22].

        Parameters
        ----------
        alpha : float
            The type I error (false positive rate), in [0, 1].

        Returns
        -------
        Bounds
            The type II error of the worst composed pair, in its worse direction. The lower end is the safe one. As a
            function of alpha it need not be convex: the two directions of a pair have curves of their own.
        """
        alpha = scalar("alpha", alpha, 0, 1, closed=True, finite=False)
        return risk.tradeoff(self.entries, self.relation, alpha)

    def gaussian_mu(self, delta: float = 0.0) -> Bounds:
        """Return the least mu of Gaussian DP that the list satisfies: no test does better than between normal laws.

        Rarely sampled Gaussian noise has the mu of all records, because the largest losses are those of a record that
        is in every sample. With a small delta > 0 such losses do not count.

        Source: Dong et al. (2022) [DRS22].

        Parameters
        ----------
        delta : float
            The list satisfies delta(epsilon) <= max(delta of mu-GDP at epsilon, this delta) at every epsilon >= 0, in
            [0, 1). With 0 it is mu-GDP.

        Returns
        -------
        Bounds
            mu, with ends at most 1e-6 apart, unless the transforms or the search end before.

        Raises
        ------
        ValueError
            If delta is out of range, or 0 for a list of unbounded losses that are not of Gaussian noise alone.
        """
        from tcdp_sim.accounting.gaussian_mu import least_mu  # imported late, as few ledgers need it

        return least_mu(self.entries, self.relation, scalar("delta", delta, 0, 1, closed=True, finite=False), _MU)

    def advantage(self) -> Bounds:
        """Return the largest difference of true and false positive rate of an attack: the total variation distance.

        Source: Kulynych et al. (2024) [Kul24].

        Returns
        -------
        Bounds
            The advantage, in [0, 1].
        """
        return self.delta(0.0, _FINE)

    def attack(self, prior: float) -> Bounds:
        """Return the largest probability of guessing right whether the record is there.

        Parameters
        ----------
        prior : float
            The prior probability that it is there, in (0, 1).

        Returns
        -------
        Bounds
            The probability of success. Without any release it is max(prior, 1 - prior).
        """
        return risk.attack(self.entries, self.relation, scalar("prior", prior, 0, 1))

    def posterior(self, prior: float, failure: float) -> Bounds:
        """Return the posterior probability that an adversary reaches or exceeds with a given failure probability.

        Parameters
        ----------
        prior : float
            The prior probability of the true data set, in (0, 1).
        failure : float
            The failure probability: how often, under the true data set, the posterior may be larger, in (0, 1).

        Returns
        -------
        Bounds
            The quantile of the posterior of the true data set, for the worst composed pair and direction. A dominated
            pair, such as the pair of a smaller move, may have a larger quantile at a probability near 1.
        """
        prior, failure = scalar("prior", prior, 0, 1), scalar("failure", failure, 0, 1)
        return risk.posterior(self.entries, self.relation, prior, failure)

    def reconstruction(self, candidates: float) -> Bounds:
        """Return the largest probability of finding the true record among equally likely candidates.

        Source: Hayes et al. (2023) [HMB23].

        Parameters
        ----------
        candidates : float
            The number of candidates, at least 1, or 1 over the success of the best guess without any release.

        Returns
        -------
        Bounds
            The probability of success.
        """
        alpha = 1 / scalar("candidates", candidates, 1, closed=True)
        rounded = Bounds(1 - ULP, 1.0, 1 + ULP)  # the power is concave in alpha
        return (risk.power(self.entries, self.relation, alpha) * rounded).clipped(0.0, 1.0)

    def statement(
        self,
        form: str = "md",
        *,
        delta: float | Iterable[float] = 1e-6,
        epsilon: float | Iterable[float] = (),
        tolerance: float = 1e-4,
        title: str | None = None,
        unit: str | None = None,
        population: str | None = None,
        period: str | None = None,
        contact: str | None = None,
    ) -> str:
        """Return a statement of what the list reveals, for readers or for their programs.

        It has the relation, every release with its parameters and times, brackets at the deltas and epsilons that are
        asked for, the risks of attacks, and the way to get the same numbers again.

        Parameters
        ----------
        form : {"md", "json"}
            One page of Markdown with numbers that are rounded to the safe side, or JSON with all digits, of the schema
            `tcdp_sim/accounting/statements/schema.json`.
        delta, epsilon : float or iterable of float
            The deltas at which epsilon is stated, in [0, 1], and the epsilons at which delta is stated, at least 0.
        tolerance : float
            The aim for the distance of the ends of an epsilon, relative to the upper one, above 0.
        title, unit, population, period, contact : str, optional
            What only the publisher knows. The page says where such a text is missing.

        Returns
        -------
        str
            The statement.

        Raises
        ------
        ValueError
            If an argument is out of range, or a release is of a class that a reader does not have.

        Examples
        --------
        >>> from tcdp_sim.accounting import Additive, Ledger
        >>> from tcdp_sim.noise import Gaussian
        >>> text = Ledger([(Additive(Gaussian(10.0)), 20)]).statement("json", unit="one person")
        >>> round(Ledger.from_statement(text).epsilon(1e-6).upper, 3)
        1.995
        """
        from tcdp_sim.accounting.statements import page, statement

        choice("form", form, ("md", "json"))
        given = (title, unit, population, period, contact)
        about = dict(zip(statement.PUBLISHER, given, strict=True))
        found = statement.statement(self, delta, epsilon, scalar("tolerance", tolerance, 0), about)
        return page.markdown(found) if form == "md" else json.dumps(found, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_statement(cls, text: str) -> "Ledger":
        """Return the ledger of a statement in JSON, which gives the same numbers.

        Parameters
        ----------
        text : str
            What `statement("json")` returned.

        Returns
        -------
        Ledger
            The ledger.

        Raises
        ------
        ValueError
            If the text is no such statement, or a release in it is not valid.
        """
        from tcdp_sim.accounting.statements import plain, statement

        data = statement.read(text)
        return _ledger(plain.to_entries(data["releases"], _ledger), data.get("relation"))

    def times(self, times: int) -> "Ledger":
        """Return the ledger of this list, released several times.

        Parameters
        ----------
        times : int
            The number of repetitions, from 1 to 10^7.

        Returns
        -------
        Ledger
            The longer ledger.
        """
        count = whole("times", times, 1, MOST_RELEASES)
        return _ledger(((item, count * each) for item, each in self.entries), self.relation)

    def parallel(self, *others: "Ledger") -> "Ledger":
        """Return the ledger of lists that are released on disjoint parts of the records.

        Under add/remove a record is in one part, so the worst part counts. Under substitution it may leave one part and
        enter another one. The entries of a part must then cover a record that leaves or enters the part.

        Parameters
        ----------
        *others : Ledger
            The lists of the other parts, in the same relation.

        Returns
        -------
        Ledger
            The joint ledger. Add the releases on all records to it.
        """
        blocks = tuple(ledger.entries for ledger in (self, *others))
        return _ledger([(Split(blocks), 1)], _common(self, *others))

    def __add__(self, other: "Ledger") -> "Ledger":
        if not isinstance(other, Ledger):
            return NotImplemented
        return _ledger((*self.entries, *other.entries), _common(self, other))

    def __repr__(self) -> str:
        return text(*_table(self)) if self.entries else f"Ledger([], relation={self.relation!r})"

    def _repr_html_(self) -> str:
        return html(*_table(self))


def _entry(item: Any) -> tuple[Release, int]:
    release, times = item if isinstance(item, tuple) and len(item) == 2 else (item, 1)
    if not isinstance(release, Release):
        raise ValueError(f"{item!r} is no entry of a ledger; valid: a release or (release, times)")
    return release, whole("times", times, 1, MOST_RELEASES)


def _ledger(entries: Iterable[Any], relation: str | None) -> Ledger:
    """Return the ledger of checked entries, which may be splits."""
    ledger = Ledger((), relation)
    object.__setattr__(ledger, "entries", merged(entries))
    if ledger.releases > MOST_RELEASES:
        raise ValueError(f"the ledger has {ledger.releases:,} releases; valid: at most {MOST_RELEASES:,}")
    cases_of_list(ledger.entries, relation, False)
    return ledger


def _common(*ledgers: Ledger) -> str | None:
    """Return the relation of all ledgers. A ledger without a relation fits any."""
    relations = {ledger.relation for ledger in ledgers if isinstance(ledger, Ledger)} - {None}
    if len(relations) > 1 or not all(isinstance(ledger, Ledger) for ledger in ledgers):
        raise ValueError(
            f"ledgers in the relations {sorted(map(str, relations))} cannot be joined; valid: one relation"
        )
    return relations.pop() if relations else None


def _count(item: Any) -> int:
    if isinstance(item, Release):
        return 1
    return sum(times * _count(inner) for block in item.blocks for inner, times in block)


def _table(ledger: Ledger) -> tuple[list[tuple[str, ...]], str]:
    """Return the rows of the printed table, and its last line."""

    def alone(entry: tuple[Any, int]) -> float:
        return _ledger([entry], ledger.relation).epsilon(DELTA, _PRINTED).upper

    def laws(entry: tuple[Any, int]) -> Any:
        item, times = entry
        return [(law, n * times) for law, n in cases_of_list(((item, 1),), ledger.relation, False)[0].forward]

    total = from_above(ledger.epsilon(DELTA, _PRINTED).upper)
    where = f" under {ledger.relation}" if ledger.relation else ""
    return table_rows(ledger.entries, alone, laws), f"{ledger.releases:,} releases: ({total}, {DELTA:g})-DP{where}"
