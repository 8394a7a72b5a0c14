"""Releases as plain data, which JSON can hold, and back.

A release, a guarantee, a mixture and a noise are mappings of their parameters, with the name of their kind under the
key `kind`. A list of releases on disjoint parts of the records has the key `parts`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import inf, isfinite
from typing import Any

from tcdp_sim import privacy
from tcdp_sim.accounting.chosen import Chosen
from tcdp_sim.accounting.composed_pairs import Entries, Split
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.allocated import Allocated
from tcdp_sim.accounting.releases.bounded_range import BoundedRange, BoundedRangePair, PermuteAndFlip
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.distributions import Distributions
from tcdp_sim.accounting.releases.matrix import MatrixMechanism
from tcdp_sim.accounting.releases.mixtures import MixturePair
from tcdp_sim.accounting.releases.randomised_response import RandomisedResponse
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.accounting.releases.shuffled import Shuffled
from tcdp_sim.accounting.releases.thresholded import Thresholded
from tcdp_sim.candidates.tries import NegativeBinomialTries, PoissonTries, Tries
from tcdp_sim.core.errors import whole
from tcdp_sim.exact.correlated.participations import Cyclic, Fixed, MinSeparation, Participation, SameBin
from tcdp_sim.exact.correlated.strategies import Bands, Column, Strategy, Triangle
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.noise import FAMILIES, Noise
from tcdp_sim.privacy import Guarantee

KIND, LEDGER = "kind", "Ledger"
Make = Callable[[Sequence[tuple[Any, int]], str | None], Any]  # the ledger of entries with a relation
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Additive, Allocated, BoundedRange, BoundedRangePair, Chosen, Claimed, Distributions, MatrixMechanism),
        *(MixturePair, PermuteAndFlip, RandomisedResponse, Sampled, Shuffled, Thresholded, Mixture),
        *(Bands, Column, Triangle, Cyclic, Fixed, MinSeparation, SameBin),
        *(NegativeBinomialTries, PoissonTries),
    )
}
_STATED = Noise | Release | Guarantee | Mixture | Tries | Strategy | Participation
_ENDLESS = {"inf": inf, "-inf": -inf}
_FORM = "valid: a mapping with the key kind, or parts"


def of_entries(entries: Entries) -> list[dict[str, Any]]:
    """Return the entries of a ledger as plain data. Raises ValueError for a class of the user's own."""
    return [_entry(item, times) for item, times in entries]


def _entry(item: Any, times: int) -> dict[str, Any]:
    if isinstance(item, Split):
        return {"parts": [of_entries(block) for block in item.blocks], "times": times}
    return {**_plain(item), "times": times}


def _plain(thing: Any) -> Any:
    if isinstance(thing, float):
        return thing if isfinite(thing) else f"{thing:g}"
    if isinstance(thing, tuple | list):
        return [_plain(each) for each in thing]
    if hasattr(thing, "entries") and hasattr(thing, "relation"):  # a ledger, which imports this module
        return {KIND: LEDGER, "relation": thing.relation, "releases": of_entries(thing.entries)}
    if not isinstance(thing, _STATED):
        return thing
    name = thing.family if isinstance(thing, Noise) else type(thing).__name__
    if _class(name) is not type(thing):
        kind = type(thing).__name__
        raise ValueError(f"{thing!r} cannot be stated, because a reader has no {kind}; valid: kinds of tcdp_sim")
    return {KIND: name, **{each: _plain(getattr(thing, each)) for each in _parameters(type(thing))}}


def _parameters(kind: Any) -> list[str]:
    return [field.name for field in fields(kind) if field.init]


def _class(name: Any) -> Any:
    """Return the class of a kind, None if there is none."""
    if not isinstance(name, str):
        return None
    if name in KINDS or name in FAMILIES:
        return KINDS.get(name) or FAMILIES[name]
    found = getattr(privacy, name, None)
    return found if isinstance(found, type) and issubclass(found, Guarantee) and found is not Guarantee else None


def to_entries(data: Any, ledger: Make, where: str = "releases") -> list[tuple[Any, int]]:
    """Return the entries that plain data state. Raises ValueError that names the place of a mistake.

    `ledger` makes the ledger of a release that has one.
    """
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise ValueError(f"{where} is not valid; valid: a list of releases")
    return [_read_entry(item, ledger, f"{where}[{i}]") for i, item in enumerate(data)]


def _read_entry(item: Any, ledger: Make, where: str) -> tuple[Any, int]:
    if not isinstance(item, Mapping):
        raise ValueError(f"{where} is not valid; {_FORM}")
    times = whole(f"{where}.times", item.get("times", 1), 1, 2**53)  # a ledger takes fewer in all
    rest = {key: value for key, value in item.items() if key != "times"}
    if rest.keys() == {"parts"} and isinstance(rest["parts"], list):
        blocks = (to_entries(block, ledger, f"{where}.parts[{i}]") for i, block in enumerate(rest["parts"]))
        return Split(tuple(map(tuple, blocks))), times
    release = _read(rest, ledger, where)
    if not isinstance(release, Release):
        raise ValueError(f"{where} is not a release; {_FORM}")
    return release, times


def _read(data: Any, ledger: Make, where: str) -> Any:
    if isinstance(data, str):
        return _ENDLESS.get(data, data)
    if isinstance(data, Sequence):
        return tuple(_read(each, ledger, where) for each in data)
    if not isinstance(data, Mapping):
        return data
    if data.get(KIND) == LEDGER and data.keys() == {KIND, "relation", "releases"}:
        return ledger(to_entries(data["releases"], ledger, f"{where}.releases"), data["relation"])
    kind = _class(data.get(KIND))
    if kind is None:
        raise ValueError(f"{where}.kind = {data.get(KIND)!r} is not known; valid: a kind of tcdp_sim {_known()}")
    given = {key: _read(value, ledger, f"{where}.{key}") for key, value in data.items() if key != KIND}
    names = _parameters(kind)
    if strange := [key for key in given if key not in names]:
        raise ValueError(f"{where}.{strange[0]} is not a parameter of {kind.__name__}; valid: {', '.join(names)}")
    try:
        return kind(**given)
    except (ValueError, TypeError) as mistake:
        raise ValueError(f"{where}: {mistake}") from None


def _known() -> str:
    return f"({', '.join(KINDS)}, and kinds of noise and guarantees)"
