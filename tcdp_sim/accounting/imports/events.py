"""Event trees of dp_accounting as lists of releases.

An event states its noise for values of norm at most 1. A record moves a sum by 1 then, and under substitution by 2.
"""

from collections.abc import Callable, Iterator
from math import ceil, inf, log1p, log2, sqrt
from typing import Any

from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.claimed import Claimed
from tcdp_sim.accounting.releases.distributions import Distributions
from tcdp_sim.accounting.releases.mixtures import MixturePair
from tcdp_sim.accounting.releases.randomised_response import RandomisedResponse
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.accounting.releases.sampled import Sampled
from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.exact.mixtures import Mixture
from tcdp_sim.noise import DiscreteLaplace, Gaussian, Laplace
from tcdp_sim.privacy import ZCDP

Entry = tuple[Release, int]
EVERYTHING = Distributions((1.0, 0.0), (0.0, 1.0))  # an output that shows the record


def of_event(event: Any, relation: str) -> list[Entry]:
    """Return the releases of an event tree with their times. Raises ValueError that names what has no release."""
    return list(_entries(event, relation, 1))


def _entries(event: Any, relation: str, times: int) -> Iterator[Entry]:
    name = _name(event)
    if name == "SelfComposedDpEvent":
        if event.count:
            yield from _entries(event.event, relation, times * int(event.count))
    elif name == "ComposedDpEvent":
        for each in event.events:
            yield from _entries(each, relation, times)
    elif name in _RELEASES:
        release = _RELEASES[name](event, relation)
        if release is not None:
            yield release, times
    else:
        raise ValueError(f"{_shown(event)} has no release; valid: {', '.join(sorted({*_RELEASES, *_TREES}))}")


def _name(event: Any) -> str:
    """Return the name of the class of an event, or of its named tuple."""
    found = getattr(event, "class_name", type(event).__name__)
    return found.decode() if isinstance(found, bytes) else str(found)


def _shown(event: Any) -> str:
    text = " ".join(repr(event).split())
    return f"event = {text if len(text) < 100 else _name(event)}"


def _move(relation: str) -> float:
    """Return how far a record of norm 1 moves a sum."""
    return 2.0 if relation == "substitute" else 1.0


def _additive(event: Any, relation: str) -> Additive | None:
    """Return the answer of an event with additive noise, None without noise. Raises ValueError for other events."""
    name, move = _name(event), _move(relation)
    if name == "GaussianDpEvent":
        return Additive(Gaussian(float(event.noise_multiplier)), move) if event.noise_multiplier else None
    if name == "LaplaceDpEvent":
        return Additive(Laplace(float(event.noise_multiplier)), move) if event.noise_multiplier else None
    if name == "DiscreteLaplaceDpEvent":
        scale = 1 / float(event.noise_parameter) if event.noise_parameter else inf
        return Additive(DiscreteLaplace(scale), move * event.sensitivity) if scale < inf else None
    valid = "GaussianDpEvent, LaplaceDpEvent, DiscreteLaplaceDpEvent"
    raise ValueError(f"a sample of {_shown(event)} has no release; valid: samples of {valid}")


def _plain(event: Any, relation: str) -> Release:
    return _additive(event, relation) or EVERYTHING


def _poisson(event: Any, relation: str) -> Release | None:
    if not event.sampling_probability:
        return None
    scheme = "poisson_substitution" if relation == "substitute" else "poisson"
    base = _additive(event.event, "add_remove")
    return Sampled(base, float(event.sampling_probability), scheme) if base else EVERYTHING


def _of_size(scheme: str) -> Callable[[Any, str], Release | None]:
    def sampled(event: Any, relation: str) -> Release | None:
        if relation != "substitute":
            raise ValueError(f"{_name(event)} has no release for relation = {relation!r}; valid: 'substitute'")
        if not event.sample_size:
            return None
        base, records = _additive(event.event, relation), int(event.source_dataset_size)
        rate = int(event.sample_size) / records
        return Sampled(base, rate, scheme, records if scheme == "with_replacement" else None) if base else EVERYTHING

    return sampled


def _cut(event: Any, relation: str) -> Release | None:
    if not (event.sampling_probability and event.truncated_batch_size and event.dataset_size):
        return None
    if not event.noise_multiplier:
        return EVERYTHING
    records, most = int(event.dataset_size), min(int(event.truncated_batch_size), int(event.dataset_size))
    noise = Additive(Gaussian(float(event.noise_multiplier)))
    return Sampled(noise, float(event.sampling_probability), records=records, most=most)


def _response(event: Any, relation: str) -> Release | None:
    """Return the pair of two true values, or under zero_out of a true value and of the record whose answer is uniform.

    The k - 1 other values have the same odds, so they are one output of the second pair.
    """
    if relation == "add_remove":
        raise ValueError(f"{_name(event)} has no release for relation = 'add_remove'; valid: zero_out, substitute")
    k = whole("num_buckets", event.num_buckets, 1, 2**53)
    share = scalar("noise_parameter", event.noise_parameter, 0, 1, closed=True, finite=False)
    if k == 1 or share == 1:
        return None
    if relation == "zero_out":
        return Distributions((1 - share + share / k, share * (k - 1) / k), (1 / k, (k - 1) / k))
    return RandomisedResponse(log1p(k * (1 - share) / share), k) if share else EVERYTHING


def _mixture(event: Any, relation: str) -> Release | None:
    if relation == "substitute":
        raise ValueError(f"{_name(event)} has no release for relation = 'substitute'; valid: add_remove, zero_out")
    if not event.standard_deviation:
        return EVERYTHING if any(event.sensitivities) else None
    noise = Gaussian(float(event.standard_deviation))
    shifts, weights = (tuple(map(float, values)) for values in (event.sensitivities, event.sampling_probs))
    return MixturePair(Mixture(noise, shifts, weights), Mixture(noise))


def _tree(event: Any, relation: str) -> Release | None:
    """Return the nodes above a record of one epoch, which all have the same noise: one longer vector.

    A record that is added would shift later ones into other steps.
    """
    if relation == "add_remove":
        raise ValueError(f"{_name(event)} has no release for relation = 'add_remove'; valid: zero_out, substitute")
    counts = [event.step_counts] if isinstance(event.step_counts, int) else list(event.step_counts)
    if not max(counts, default=0):
        return None
    if not event.noise_multiplier:
        return EVERYTHING
    depth = ceil(log2(max(counts) + 1))
    return Additive(Gaussian(float(event.noise_multiplier)), _move(relation) * sqrt(depth))


def _claimed(event: Any, relation: str) -> Release | None:
    rho, xi = float(event.rho), float(event.xi)
    return Claimed(ZCDP(rho, xi)) if rho or xi else None


_TREES = ("SelfComposedDpEvent", "ComposedDpEvent")
_RELEASES: dict[str, Callable[[Any, str], Release | None]] = {
    "NoOpDpEvent": lambda event, relation: None,
    "NonPrivateDpEvent": lambda event, relation: EVERYTHING,
    "GaussianDpEvent": _plain,
    "LaplaceDpEvent": _plain,
    "DiscreteLaplaceDpEvent": _plain,
    "RandomizedResponseDpEvent": _response,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _of_size("without_replacement"),
    "SampledWithReplacementDpEvent": _of_size("with_replacement"),
    "TruncatedSubsampledGaussianDpEvent": _cut,
    "MixtureOfGaussiansDpEvent": _mixture,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "ZCDpEvent": _claimed,
}
