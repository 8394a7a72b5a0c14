"""How many records of every bin a random subsample holds: drawn by its law, or record by record."""

import numpy as np


def subsample_counts(rng: np.random.Generator, counts, scheme: str, fraction: float, draws: int, size: int):
    """Counts of `size` independent subsamples, shape (size, bins); their rows add up to `draws` but for "poisson".

    counts: records of every bin, whole, shape (bins,); scheme: "poisson" (each record with chance `fraction`),
    "without_replacement" (`draws` of them), else with replacement. Cost: one number a bin, whatever the counts.
    """
    if scheme.startswith("poisson"):
        return rng.binomial(counts, fraction, (size, len(counts)))
    if scheme == "without_replacement":
        return rng.multivariate_hypergeometric(counts, draws, size, method="marginals")
    return rng.multinomial(draws, counts / counts.sum(), size)


def subsample_records(rng: np.random.Generator, counts, scheme: str, fraction: float, draws: int, size: int):
    """The same law, the plain way: every record is drawn or not; for small data sets."""
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
