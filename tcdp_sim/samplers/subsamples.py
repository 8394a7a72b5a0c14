"""The number of records of every bin in a random subsample, drawn by its law or record by record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from tcdp_sim.core.arrays import Ints
from tcdp_sim.core.errors import choice

Sampler = Callable[..., Ints]
LARGEST = 10**9  # the limit of numpy's hypergeometric law
MOST_BY_RECORD = 10_000


def subsample_counts(
    counts: Ints, scheme: str, fraction: float, draws: int, size: int, *, rng: np.random.Generator
) -> Ints:
    """Return the counts of `size` independent subsamples, shape (size, bins).

    `counts` holds the records of every bin, shape (bins,). A scheme whose name begins with "poisson" keeps each record
    with probability `fraction`. The scheme "without_replacement" draws `draws` records, and any other scheme draws as
    many with replacement. Rows add up to `draws`, except for Poisson schemes. The cost is one random number per bin.
    """
    if scheme.startswith("poisson"):
        return rng.binomial(counts, fraction, (size, len(counts)))
    if scheme == "without_replacement":
        return rng.multivariate_hypergeometric(counts, draws, size, method="marginals")
    return rng.multinomial(draws, counts / counts.sum(), size)


def subsample_records(
    counts: Ints, scheme: str, fraction: float, draws: int, size: int, *, rng: np.random.Generator
) -> Ints:
    """Return draws from the law of `subsample_counts` record by record, for small data sets."""
    bins, n = len(counts), int(counts.sum())
    bin_of = np.repeat(np.arange(bins), counts)
    if scheme.startswith("poisson"):
        drawn = rng.random((size, n)) < fraction
        return np.stack([drawn[:, bin_of == j].sum(axis=1) for j in range(bins)], axis=1)
    if scheme == "without_replacement":
        chosen = np.argsort(rng.random((size, n)), axis=1)[:, :draws]
    else:
        chosen = rng.integers(0, n, (size, draws))
    return np.stack([(bin_of[chosen] == j).sum(axis=1) for j in range(bins)], axis=1)


@dataclass(frozen=True, eq=False)
class Sampling:
    """A distribution of random subsamples of records in bins.

    `scheme`: the scheme of `subsample_counts`. `fraction`: the sampling probability of each record for a Poisson
    scheme, else the number of draws over the number of records.
    """

    counts: Ints
    scheme: str
    fraction: float
    path: str = "counts"

    PATHS: ClassVar[Mapping[str, Sampler]] = MappingProxyType(
        {"counts": subsample_counts, "records": subsample_records}
    )

    def __post_init__(self) -> None:
        choice("path", self.path, self.PATHS)
        if self.n < 1 or self.n >= LARGEST:
            raise ValueError(f"data of {self.n} records cannot be sampled; valid: 1 to {LARGEST - 1:,}")
        if self.path == "records" and self.n > MOST_BY_RECORD:
            valid = f"valid: at most {MOST_BY_RECORD:,} records, not {self.n:,}"
            raise ValueError(f"path = records is for small data; {valid}")

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @property
    def draws(self) -> int:
        """The number of records in a subsample; for Poisson sampling the expected number, rounded."""
        return round(self.fraction * self.n)

    @property
    def work(self) -> float:
        """The approximate number of random numbers per subsample."""
        return float(len(self.counts) * (1 + (self.n if self.path == "records" else 0)))

    def draw(self, size: int, *, rng: np.random.Generator) -> Ints:
        """Return the counts of `size` independent subsamples, shape (size, bins)."""
        return self.PATHS[self.path](self.counts, self.scheme, self.fraction, self.draws, size, rng=rng)


def realised_fraction(fraction: float, scheme: str, records: int) -> float:
    """Return the fraction for Poisson sampling, else the fraction of a whole number of draws, at least one."""
    if scheme.startswith("poisson") or records < 1:
        return fraction
    return max(round(fraction * records), 1) / records
