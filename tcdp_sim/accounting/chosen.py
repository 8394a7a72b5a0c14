"""The best of a random number of runs of a list of releases, such as training runs of which the best model is kept."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import exp, inf, log, log1p
from typing import Any, Protocol

import numpy as np

from tcdp_sim.accounting.brackets import cases_of_list, infinite_loss, least_delta, least_epsilon
from tcdp_sim.accounting.composed_pairs import Entries, all_attained
from tcdp_sim.accounting.releases.atoms import of_vectors
from tcdp_sim.accounting.releases.release import NOTHING, Case, Laws, Release
from tcdp_sim.accounting.renyi import total_renyi
from tcdp_sim.candidates.best_run import best_cells, best_profile, largest_bend, mirrored, powers_of_tests
from tcdp_sim.candidates.theorems import ORDERS, theorem_of_curve
from tcdp_sim.candidates.tries import Tries
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.numerics import ULP, Bounds
from tcdp_sim.exact.losses.grid_law import AtomicLoss
from tcdp_sim.exact.losses.profile_law import profile_law
from tcdp_sim.exact.losses.profile_table import profile_table
from tcdp_sim.privacy.relation import known_relation

Table = tuple[Floats, Floats, Floats]  # places, lower ends, upper ends
MOST_CASES, STEEPEST = 8, 1e9
_RARE = 1e-30  # delta of the last epsilon at which the profile of a run is known
_PLACES, _FINER = 240, 512  # of the profile of a run, and of the best one, from 0 to the last epsilon
_LEAST = 1e-9  # nats: the last epsilon at least
_ROUNDING = 1e-12  # relative, of powers and of sums of some hundred terms


class Run(Protocol):
    """A ledger, which imports this module's readers and so is known here by what it holds."""

    entries: Entries
    relation: str | None

    def __init__(self, releases: Iterable[tuple[Any, int]], relation: str | None) -> None: ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, repr=False)
class Chosen(Release):
    """The best of a random number of runs of the same list, where only the best one is released.

    Which run is the best may depend on outputs of the runs alone: a score from private data is a release of the run's
    list. The number of runs is drawn in secret, from a law that is fixed in advance. If it is 0, nothing is released.

    Notes
    -----
    The upper end holds for every order of outputs: a run that is worse with the probability x under one neighbour is
    worse with at most the power of the best test at x under the other one. The lower end is attained by releases that
    fit the list. Both are derived here. Renyi divergences, and epsilons where they are less, are by the theorems of
    Papernot and Steinke (2022), Theorems 2 and 6 [PS22], which hold for any Renyi curve of a run.

    Parameters
    ----------
    ledger : Ledger
        The releases of one run, with at most 8 composed cases. Its relation is the one of the list to which this
        release belongs.
    tries : tcdp_sim.candidates.Tries
        The law of the number of runs.

    Raises
    ------
    ValueError
        If an argument is not of these kinds, or the law of the number of runs is too steep for floats.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, Chosen, Ledger
    >>> from tcdp_sim.candidates import tries_of
    >>> from tcdp_sim.noise import Gaussian
    >>> run = Ledger([Additive(Gaussian(5.0))])
    >>> low, _, high = Ledger([Chosen(run, tries_of("geometric", 40.0))]).epsilon(1e-6)
    >>> run.epsilon(1e-6).upper < low < high < 1.05 * low
    True
    """

    ledger: Run
    tries: Tries

    def __post_init__(self) -> None:
        if not isinstance(getattr(self.ledger, "entries", None), tuple):
            raise ValueError(f"ledger = {self.ledger!r} is not valid; valid: a Ledger with the releases of one run")
        if not isinstance(self.tries, Tries):
            raise ValueError(f"tries = {self.tries!r} is not valid; valid: PoissonTries or NegativeBinomialTries")
        if not self.tries.steepness <= STEEPEST:
            most = f"a mean, or (1 + shape) / stop, of at most {STEEPEST:g}"
            raise ValueError(f"tries = {self.tries!r} is not valid, because rounding hides so many runs; valid: {most}")

    def __repr__(self) -> str:
        return f"Chosen({_named(self.ledger)}, {self.tries!r})"

    def cases(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return pairs that dominate the best run, one for each composed case of a run."""
        self._need(relation)
        return tuple(_times(case, times) for case in _upper(self.ledger, self.tries))

    def attained(self, relation: str | None, times: int) -> tuple[Case, ...]:
        """Return pairs of some orders of the outputs."""
        self._need(relation)
        return tuple(_times(case, times) for case in _lower(self.ledger, self.tries))

    @property
    def has_profile(self) -> bool:
        return True

    @property
    def profile_is_best(self) -> bool:
        return True

    def profile(self, epsilon: float) -> Bounds:
        """Return delta at an epsilon >= 0: what some order reveals, and at most what any order can."""
        at = np.array([epsilon])
        high = [
            float(best_profile(self.tries, places, h, at)[0])
            for ways in _tables(self.ledger, False)
            for places, _, h in ways
        ]
        error = _ROUNDING + 8 * ULP * self.tries.steepness
        low = max((_reached(p, q, epsilon, error) for _, p, q in _cells(self.ledger, self.tries)), default=0.0)
        upper = min(max(high, default=0.0), _theorem_delta(self.ledger, self.tries, epsilon))
        return Bounds(low, upper, upper).clipped(0.0, 1.0)

    def class_pairs(self, times: int) -> int:
        """Return `times`, because the worst order of each release is not that of all of them."""
        return times

    @property
    def has_scale(self) -> bool:
        entries = self.ledger.entries
        return bool(entries) and all(isinstance(item, Release) and item.has_scale for item, _ in entries)

    def scaled(self, factor: float) -> "Chosen":
        scaled = [(item.scaled(factor), times) for item, times in self.ledger.entries if isinstance(item, Release)]
        return replace(self, ledger=type(self.ledger)(scaled, self.ledger.relation))

    def _need(self, relation: str | None) -> None:
        own = self.ledger.relation
        if own is not None and relation != own:
            told = "none" if relation is None else repr(known_relation(relation))
            raise ValueError(
                f"the runs of {self!r} have relation = {own!r}, and their ledger {told}; give both the same"
            )


def _named(ledger: Run) -> str:
    """Return the releases of a run in one line."""
    parts = ", ".join(repr(item) if times == 1 else f"({item!r}, {times})" for item, times in ledger.entries)
    return f"Ledger([{parts}])" if ledger.relation is None else f"Ledger([{parts}], {str(ledger.relation)!r})"


@dataclass(frozen=True, kw_only=True)
class BestRunLoss(AtomicLoss):
    """A law that dominates the best run in one direction, with the published bound on its Renyi divergence."""

    ledger: Run
    tries: Tries

    def renyi(self, order: float) -> Bounds:
        """Return the published bound as the upper end."""
        upper = _theorem(self.ledger, self.tries, order)
        return Bounds(0.0, upper, upper)


@lru_cache(maxsize=256)
def _theorem(ledger: Run, tries: Tries, order: float) -> float:
    entries, relation = ledger.entries, ledger.relation
    if order == 1 or order == inf:
        return inf if order == inf else min(_theorem(ledger, tries, each) for each in (1.5, 2.0, 4.0))
    return theorem_of_curve(
        order, partial(_run_renyi, ledger), lambda e: least_delta(entries, relation, e, 1e-3).upper, tries
    )


@lru_cache(maxsize=1024)
def _run_renyi(ledger: Run, order: float) -> float:
    return total_renyi(ledger.entries, ledger.relation, order).upper


def _theorem_delta(ledger: Run, tries: Tries, epsilon: float) -> float:
    """Return delta by the published bound at a few orders, by Canonne et al. (2020), Proposition 12 [CKS20]."""
    found = [
        (order - 1) * (_theorem(ledger, tries, order) - epsilon + log1p(-1 / order)) - log(order)
        for order in ORDERS.tolist()
    ]
    return exp(min(*found, 0.0))


def _times(case: Case, times: int) -> Case:
    forward: Laws = tuple((law, times) for law, _ in case.forward)
    backward: Laws = tuple((law, times) for law, _ in case.backward)
    return Case(forward, forward if case.backward is case.forward else backward)


def _places(ledger: Run) -> Floats:
    """Return the epsilons at which the profile of a run is tabulated, from 0 to the largest loss, or nearly so."""
    entries, relation = ledger.entries, ledger.relation
    rare = max(_RARE, 1.01 * infinite_loss(entries, relation))
    last = least_epsilon(entries, relation, rare, 1e-2).upper if rare < 1 else inf
    if last == inf:
        raise ValueError(f"a run of {_named(ledger)} has no finite epsilon at delta = {rare:g}; valid: a private run")
    places, top = np.linspace(0, max(last, _LEAST), _PLACES), least_epsilon(entries, relation, 0.0, 1e-2).upper
    return np.append(places, top) if last < top < inf else places


def _tables(ledger: Run, attained: bool) -> tuple[tuple[Table, ...], ...]:
    """Return places from -e to e with lower and upper ends of the profile, for both directions of every case."""
    return _known_tables(ledger, attained and not all_attained(ledger.entries, ledger.relation))


@lru_cache(maxsize=32)
def _known_tables(ledger: Run, attained: bool) -> tuple[tuple[Table, ...], ...]:
    if not least_delta(ledger.entries, ledger.relation, 0.0, 1e-2).upper:  # a run reveals nothing
        return ()
    places, found = _places(ledger), []
    cases = cases_of_list(ledger.entries, ledger.relation, attained)
    if len(cases) > MOST_CASES:
        raise ValueError(f"a run of {_named(ledger)} has {len(cases)} cases; valid: at most {MOST_CASES}")
    for case in cases:
        forward = profile_table(case.forward, places)
        backward = forward if case.forward is case.backward else profile_table(case.backward, places)
        ways = [(forward, backward)] if forward is backward else [(forward, backward), (backward, forward)]
        found.append(tuple(_mirrored(places, *way) for way in ways))
    return tuple(found)


def _mirrored(places: Floats, there: tuple[Floats, Floats], back: tuple[Floats, Floats]) -> Table:
    (e, low), (_, high) = (mirrored(places, *ends) for ends in zip(there, back))
    return e, low, high


@lru_cache(maxsize=32)
def _upper(ledger: Run, tries: Tries) -> tuple[Case, ...]:
    cases = []
    for ways in _tables(ledger, False):
        laws = [((_upper_law(ledger, tries, places, high), 1),) for places, _, high in ways]
        cases.append(Case(laws[0], laws[-1]))
    return tuple(cases) or (NOTHING,)


def _upper_law(ledger: Run, tries: Tries, places: Floats, high: Floats) -> BestRunLoss:
    rise = max(log(largest_bend(tries, places, high)), 0.0)
    last = places[places <= 2 * places[-2]][-1] + rise  # the largest loss may be far off
    at = last / _FINER * np.arange(-_FINER, _FINER + 1.0)
    law = profile_law(at, best_profile(tries, places, high, at))
    parts = {name: getattr(law, name) for name in ("loss", "mass", "spacing", "relative", "slack")}
    if high[-1]:
        return BestRunLoss(**parts, infinite=law.infinite, ledger=ledger, tries=tries)
    bound = (places[-1] + rise) * (1 + _ROUNDING)
    return BestRunLoss(**parts, beyond=(law.infinite[1], bound), ledger=ledger, tries=tries)


@lru_cache(maxsize=32)
def _cells(ledger: Run, tries: Tries) -> tuple[tuple[bool, Floats, Floats], ...]:
    """Return pairs of laws on cells that the best run attains, and whether they are of the first direction."""
    return tuple(
        (i == 0, p, q)
        for ways in _tables(ledger, True)
        for i, (places, low, high) in enumerate(ways)
        for p, q in best_cells(tries, *powers_of_tests(places, low, high))
    )


def _reached(p: Floats, q: Floats, epsilon: float, error: float) -> float:
    """Return the delta that a pair of laws on cells attains at least."""
    with np.errstate(over="ignore", invalid="ignore"):
        excess = p * (1 - error) - np.exp(epsilon) * q * (1 + error)
    return float(np.maximum(np.nan_to_num(excess), 0.0).sum())


@lru_cache(maxsize=32)
def _lower(ledger: Run, tries: Tries) -> tuple[Case, ...]:
    """Return the laws of cells. In the other direction their small masses are not known, so they reveal nothing."""
    laws = [(first, ((_cell_law(tries, p, q), 1),)) for first, p, q in _cells(ledger, tries)]
    cases = [Case(law, NOTHING.backward) if first else Case(NOTHING.forward, law) for first, law in laws]
    return tuple(cases) or (NOTHING,)


def _cell_law(tries: Tries, p: Floats, q: Floats) -> AtomicLoss:
    """Return the law of cells. The masses of the best run change by up to its steepness times the rounding of ranks."""
    law, error = of_vectors(p, q), _ROUNDING + 8 * ULP * tries.steepness
    return replace(law, relative=law.relative + error, slack=law.slack + 2 * error)
