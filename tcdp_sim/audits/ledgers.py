"""Mechanisms made from the entries of a ledger, for audits of the ledger's claims."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_sim.accounting import (
    Additive,
    BoundedRange,
    BoundedRangePair,
    Claimed,
    Distributions,
    Ledger,
    PermuteAndFlip,
    RandomisedResponse,
    Release,
    Sampled,
)
from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import UserError
from tcdp_sim.samplers.release_pairs import (
    NoisePair,
    RangePair,
    ReleasePair,
    lattice_pair,
    range_atoms,
    response_pair,
    vector_pair,
)

MOST = 1000  # releases of an audited ledger


@dataclass(frozen=True, eq=False)
class LedgerMechanism:
    """A mechanism that makes all releases of a ledger, on a data set with the record and on one without it.

    The input is one number: 1 for the data set with the record (or with the true one of two records), 0 for its
    neighbour. An output has a number for each release. Black boxes of pure and approximate DP are the worst ones of
    their class: randomised response, which shows the data set with probability delta.

    Parameters
    ----------
    ledger : Ledger
        A ledger of at most 1,000 releases: Additive, Sampled with Poisson sampling, RandomisedResponse, BoundedRange,
        BoundedRangePair, PermuteAndFlip, Distributions, Claimed with PureDP or ApproxDP, and releases of one's own
        with a `drawn_pair`.

    Raises
    ------
    UserError
        If the ledger is empty or too long, or one of its releases cannot be drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from tcdp_sim.accounting import Additive, Ledger, RandomisedResponse
    >>> from tcdp_sim.noise import Laplace
    >>> mechanism = LedgerMechanism(Ledger([Additive(Laplace(2.0)), (RandomisedResponse(0.5), 3)]))
    >>> mechanism(np.array([1.0]), np.random.default_rng(0), 5).shape
    (5, 4)
    """

    ledger: Ledger

    def __post_init__(self) -> None:
        if not isinstance(self.ledger, Ledger) or not 0 < self.ledger.releases <= MOST:
            raise UserError(f"ledger = {self.ledger!r} cannot be audited; valid: a Ledger of 1 to {MOST:,} releases")
        pairs = [(_pair(release), times) for release, times in self.ledger.entries]
        object.__setattr__(self, "_released", [pair for pair, times in pairs for _ in range(times)])

    @property
    def pairs(self) -> list[tuple[list[float], list[float]]]:
        """The neighbours, for the argument `pairs` of an audit."""
        return [([1.0], [0.0])]

    def __call__(self, data: Floats, rng: np.random.Generator, trials: int) -> Floats:
        """Return outputs of shape (trials, releases)."""
        first = bool(data[0])
        released: list[ReleasePair] = self._released  # type: ignore[attr-defined]
        return np.stack([pair.draw(first, trials, rng=rng) for pair in released], axis=1)

    def log_likelihood_ratio(self, outputs: Floats, data: Floats, other: Floats) -> Floats:
        """Return the sum of the losses of all releases, in nats, from `data` to `other`."""
        released: list[ReleasePair] = self._released  # type: ignore[attr-defined]
        total: Floats = sum(pair.loss(column) for pair, column in zip(released, outputs.T))  # type: ignore[assignment]
        return total * (np.sign(data[0] - other[0]))


def _noisy(release: Additive) -> ReleasePair:
    pair = lattice_pair if release.noise.is_discrete else NoisePair
    return pair(release.noise, release.sensitivity)


def _sampled(release: Sampled) -> ReleasePair | None:
    if not release.is_poisson:
        return None
    pair = lattice_pair if release.release.noise.is_discrete else NoisePair
    return pair(release.release.noise, release.release.sensitivity, release.sampling_probability)


def _claimed(release: Claimed) -> ReleasePair | None:
    pair = release.guarantee.epsilon_delta
    return None if pair is None else response_pair(pair[0], 2, pair[1])


# The pairs share no code with the laws of the ledger. A release from outside of the package has its own `drawn_pair`.
_PAIRS: Mapping[type[Release], Callable[[Any], ReleasePair | None]] = {
    Additive: _noisy,
    Sampled: _sampled,
    RandomisedResponse: lambda release: response_pair(release.epsilon, release.k),
    BoundedRange: lambda release: RangePair(release.epsilon),
    BoundedRangePair: lambda release: range_atoms(release.epsilon, release.t),
    PermuteAndFlip: lambda release: response_pair(release.epsilon),
    Distributions: lambda release: vector_pair(release.p, release.q),
    Claimed: _claimed,
}


def _pair(release: Any) -> ReleasePair:
    """Return the pair that a release attains. Raises UserError for a release that cannot be drawn."""
    if type(release) in _PAIRS:
        pair = _PAIRS[type(release)](release)
    else:
        pair = release.drawn_pair() if isinstance(release, Release) else None
    if pair is None:
        valid = ", ".join(kind.__name__ for kind in _PAIRS)
        raise UserError(f"{release!r} cannot be drawn; valid: {valid} with PureDP or ApproxDP, or a `drawn_pair`")
    return pair
