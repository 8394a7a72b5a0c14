"""Mechanisms made from the entries of a ledger, for audits of the ledger's claims."""

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
from tcdp_sim.privacy import ApproxDP, PureDP
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
        BoundedRangePair, PermuteAndFlip, Distributions, and Claimed with PureDP or ApproxDP.

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


def _pair(release: Any) -> ReleasePair:
    """Return the pair that a release attains. Raises UserError for a release that cannot be drawn."""
    match release:
        case Additive(noise=noise, sensitivity=shift):
            return lattice_pair(noise, shift) if noise.is_discrete else NoisePair(noise, shift)
        case Sampled(release=base, sampling_probability=rate, is_poisson=True) if not base.noise.is_discrete:
            return NoisePair(base.noise, base.sensitivity, rate)
        case RandomisedResponse(epsilon=epsilon, k=k):
            return response_pair(epsilon, k)
        case PermuteAndFlip(epsilon=epsilon) | Claimed(guarantee=PureDP(epsilon=epsilon)):
            return response_pair(epsilon)
        case Claimed(guarantee=ApproxDP(epsilon=epsilon, delta=delta)):
            return response_pair(epsilon, 2, delta)
        case BoundedRange(epsilon=epsilon):
            return RangePair(epsilon)
        case BoundedRangePair(epsilon=epsilon, t=t):
            return range_atoms(epsilon, t)
        case Distributions(p=p, q=q):
            return vector_pair(p, q)
    undrawn = ("Thresholded", "MixturePair")
    valid = ", ".join(kind.__name__ for kind in Release.__subclasses__() if kind.__name__ not in undrawn)
    raise UserError(f"{release!r} cannot be drawn; valid: {valid}, and Claimed with PureDP or ApproxDP")
