"""The composed pairs of a ledger: every kind of neighbours that its releases distinguish.

A ledger of several cases is composed in each of them, in both directions. The worst composed pair counts. Taking the
worst case or direction of every single release first would be sound, but larger than the truth.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations, cycle, islice, product
from math import inf, prod

from tcdp_sim.accounting.releases.additive import gaussian_case, gaussian_ratio
from tcdp_sim.accounting.releases.claimed import (
    Claimed,
    added,
    class_cases,
    example_cases,
    is_renyi,
    tests_cases,
)
from tcdp_sim.accounting.releases.release import NOTHING, Case, Laws, Release
from tcdp_sim.privacy.definitions import Guarantee, RenyiLine

MOST_WORLDS, FEW_WORLDS = 512, 16
Entry = tuple["Release | Split", int]
Entries = tuple[Entry, ...]


class Split:
    """Several lists of releases on disjoint parts of the records."""

    def __init__(self, blocks: tuple[Entries, ...]) -> None:
        self.blocks = blocks

    def __repr__(self) -> str:
        return f"{len(self.blocks)} disjoint parts"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Split) and self.blocks == other.blocks

    def __hash__(self) -> int:
        return hash(self.blocks)

    def touched(self, relation: str | None) -> Iterator[Entries]:
        """Return the releases that a record of the neighbours can touch.

        Under add/remove the record is in one part. Under substitution it may leave a part and enter another one.
        """
        if relation != "substitute" or len(self.blocks) == 1:
            yield from self.blocks
        else:
            yield from (one + other for one, other in combinations(self.blocks, 2))


def merged(entries: Iterable[Entry]) -> Entries:
    """Return the entries with the times of equal ones added, in the order of their first appearance."""
    times: dict[Release | Split, int] = {}
    for item, count in entries:
        times[item] = times.get(item, 0) + count
    return tuple(times.items())


def flat(entries: Entries, relation: str | None) -> Iterator[tuple[tuple[Release, int], ...]]:
    """Return the lists of releases without splits, one for every choice of parts."""
    choices = [
        [((item, times),)] if isinstance(item, Release) else _flat_split(item, times, relation)
        for item, times in entries
    ]
    for parts in product(*choices):
        yield merged(entry for part in parts for entry in part)  # type: ignore[misc]


def _flat_split(split: Split, times: int, relation: str | None) -> list[tuple[tuple[Release, int], ...]]:
    inner = [entries for block in split.touched(relation) for entries in flat(merged(block), relation)]
    return [tuple((release, times * count) for release, count in entries) for entries in inner]


def worlds(entries: Entries, relation: str | None, attained: bool) -> list[Case]:
    """Return all composed cases that dominate, or with `attained` the cases that some releases attain."""
    found = []
    for releases in flat(entries, relation):
        for parts in _combined(_choices(releases, relation, attained), attained):
            parts = parts or (NOTHING,)
            case = Case(_joined(part.forward for part in parts), _joined(part.backward for part in parts))
            found.append(case if _differ(case) else Case(case.forward, case.forward))
            if len(found) > MOST_WORLDS:
                raise ValueError(f"the ledger has more than {MOST_WORLDS} cases; valid: fewer thresholds or parts")
    return found


def _combined(choices: list[tuple[Case, ...]], attained: bool) -> Iterator[tuple[Case, ...]]:
    """Return all combinations of cases. Lower ends need only some of them if there are many."""
    if attained and prod(map(len, choices)) > FEW_WORLDS:
        return zip(*(islice(cycle(cases), max(map(len, choices))) for cases in choices))
    return product(*choices)


def all_attained(entries: Entries, relation: str | None) -> bool:
    """Return True if the dominating pairs of all releases are attained, one of them by a choice after the others."""
    return all(_is_attained(releases, relation) for releases in flat(entries, relation))


def has_loose_pairs(entries: Entries, relation: str | None) -> bool:
    """Return True if the list has several pairs of classes, of which only one at a time is attained."""
    lists = flat(entries, relation)
    return any(sum(release.class_pairs(times) for release, times in releases) > 1 for releases in lists)


def _is_attained(releases: tuple[tuple[Release, int], ...], relation: str | None) -> bool:
    chosen = [(release, times) for release, times in releases if release.attained(relation, times) is not None]
    return not chosen or (len(chosen) == 1 and _is_attained_last(*chosen[0], relation))


def _is_attained_last(release: Release, times: int, relation: str | None) -> bool:
    last = release.attained_last(relation, times)
    return not is_renyi(release) and last is not None and _keys(last) == _keys(release.cases(relation, times))


def _keys(cases: tuple[Case, ...]) -> list[list[list[tuple[int, int]]]]:
    """Return what tells cases apart: their laws, as objects, with their times."""
    return [[sorted((id(law), times) for law, times in way) for way in case] for case in cases]


def _choices(releases: tuple[tuple[Release, int], ...], relation: str | None, attained: bool) -> list[tuple[Case, ...]]:
    """Return the cases of each release.

    Gaussian releases are added up first, and so are black boxes with bounds on Renyi divergences.
    """
    others = [(release, times) for release, times in releases if not is_renyi(release)]
    claims = _claims(releases)
    ratios = [(gaussian_ratio(release), times) for release, times in others]
    plain = [entry for entry, (ratio, _) in zip(others, ratios) if ratio is None]
    gaussian = [(ratio, times) for ratio, times in ratios if ratio is not None]
    choices: list[tuple[Case, ...]] = [(gaussian_case(gaussian),)] if gaussian else []
    if attained:
        return choices + _attained(plain, claims, relation)
    choices += [release.cases(relation, times) for release, times in plain]
    return [*choices, class_cases(added(claims))] if claims else choices


def _attained(
    plain: Iterable[tuple[Release, int]], claims: list[tuple[Guarantee, int]], relation: str | None
) -> list[tuple[Case, ...]]:
    """Return the cases that each release attains. The one with the largest mean of its loss is chosen last."""
    found: list[tuple[tuple[Case, ...], Callable[[], tuple[Case, ...] | None] | None]] = []
    for release, times in plain:
        cases = release.attained(relation, times)
        last = None if cases is None else partial(release.attained_last, relation, times)
        found.append((cases or release.cases(relation, times), last))
    if claims:
        found.append((example_cases(claims), partial(tests_cases, claims)))
    sizes = [_mean(cases) if last else -inf for cases, last in found]
    largest = sizes.index(max(sizes)) if sizes else 0
    return [(last() if last and i == largest else None) or cases for i, (cases, last) in enumerate(found)]


def _mean(cases: tuple[Case, ...]) -> float:
    """Return the mean of the loss in the first case."""
    crude = [(law.crude(), times) for law, times in cases[0].forward]
    return float(sum(times * (atoms.mass * atoms.loss).sum() for atoms, times in crude))


def _claims(releases: Iterable[tuple[Release, int]]) -> list[tuple[Guarantee, int]]:
    """Return the guarantees of all black boxes with bounds on Renyi divergences, with their numbers."""
    return [
        (release.guarantee, times) for release, times in releases if isinstance(release, Claimed) and is_renyi(release)
    ]


def renyi_total(releases: Iterable[tuple[Release, int]]) -> RenyiLine | None:
    """Return the bound of all black boxes with Renyi divergences together, or None if there are none."""
    claims = _claims(releases)
    return added(claims) if claims else None


def cases_of(release: Release, relation: str | None, times: int, attained: bool) -> tuple[Case, ...]:
    """Return the cases of one release."""
    return (release.attained(relation, times) if attained else None) or release.cases(relation, times)


def _joined(parts: Iterable[Laws]) -> Laws:
    """Return all laws, with the times of the same law added."""
    times: dict[int, int] = {}
    laws = {}
    for part in parts:
        for law, count in part:
            laws[id(law)] = law
            times[id(law)] = times.get(id(law), 0) + count
    return tuple((law, times[key]) for key, law in laws.items())


def _differ(case: Case) -> bool:
    """Return True if the two directions have different laws."""
    forward, backward = _keys((case,))[0]
    return forward != backward
