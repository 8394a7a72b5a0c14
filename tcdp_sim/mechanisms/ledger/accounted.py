"""The ledger of releases that are given as plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    BoundedRangePair,
    Claimed,
    Distributions,
    Ledger,
    RandomisedResponse,
    Release,
    Sampled,
)
from tcdp_sim.mechanisms.ledger.releases import built_noise
from tcdp_sim.privacy import ApproxDP, PureDP


def accounted(relation: str, releases: Sequence[Mapping[str, Any]]) -> Ledger:
    """Return the ledger of checked releases, as `read_list` returns them."""
    return Ledger([(release_of(item), item["times"]) for item in releases], relation)


def release_of(item: Mapping[str, Any]) -> Release:
    """Return a checked release as the ledger takes it."""
    match item:
        case {"noise": _, "sensitivity": shift}:
            additive = Additive(built_noise(item), shift)
            return Sampled(additive, item["sampled"]) if "sampled" in item else additive
        case {"response": epsilon, "k": k}:
            return RandomisedResponse(epsilon, k)
        case {"bounded_range": epsilon, "larger_loss": t}:
            return BoundedRangePair(epsilon, t)
        case {"bounded_range": epsilon}:
            return BoundedRange(epsilon)
        case {"epsilon": epsilon, "delta": delta}:
            return Claimed(ApproxDP(epsilon, delta) if delta else PureDP(epsilon))
    return Distributions(item["p"], item["q"])
