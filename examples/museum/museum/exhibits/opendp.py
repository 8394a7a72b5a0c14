"""Bugs of OpenDP. Its own version 0.16.0 runs, except where it is repaired or needs Polars."""

from functools import cache
from typing import Any

import numpy as np

from museum.exhibit import Exhibit, pair
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP


@cache
def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    return dp


# Noisy max under zCDP: scores move by 1, scale 1, so epsilon = 2 and the claim is epsilon^2/8.

SCORES = pair([0, 0], [1, -1], "two scores move by up to 1")


def permute_and_flip(scores: list[int], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the index of the largest score with exponential noise, which is the law of permute-and-flip."""
    return np.argmax(np.asarray(scores) + rng.exponential(1.0, (trials, len(scores))), axis=1)


@cache
def _noisy_max() -> Any:
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T=int))
    return dp.m.make_noisy_max(domain, dp.linf_distance(T=int), dp.zero_concentrated_divergence(), scale=1.0)


def noisy_max(scores: list[int], rng: np.random.Generator, trials: int) -> list[int]:
    """Return outputs of OpenDP's own noisy max under zCDP."""
    return [_noisy_max()(scores) for _ in range(trials)]


# Thresholds: a count equal to the threshold is released, but the declared delta leaves it out.

THRESHOLD = 5
ONE_KEY = pair({"a": 1}, {}, "one record added or removed")


@cache
def _thresholded() -> Any:
    dp = _opendp()
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    return dp.m.make_laplace_threshold(domain, metric, scale=1.0, threshold=THRESHOLD)


def thresholded(counts: dict[str, int], rng: np.random.Generator, trials: int) -> list[dict[str, int]]:
    """Return outputs of OpenDP's own thresholded histogram."""
    return [_thresholded()(counts) for _ in range(trials)]


def _tail(distance: int) -> float:
    """Return the probability that discrete Laplace noise of scale 1 is at least `distance` > 0."""
    return float(np.exp(-distance) / (1 + np.exp(-1)))


DECLARED = ApproxDP(1.0, 0.004925833956035741)  # what its map says; a test compares
COUNTED = ApproxDP(1.0, _tail(THRESHOLD - 1))


# Population amplification: five amplified sums of the same sample are declared like sums of five samples.

POPULATION, SAMPLE, QUERIES = 10, 2, 5
PEOPLE = pair([0] * POPULATION, [1] + [0] * (POPULATION - 1), "one record of the population replaced")


@cache
def _amplified_sum() -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 1), T=int), size=SAMPLE), dp.symmetric_distance()
    total = dp.t.make_sum(*space)
    return dp.c.make_population_amplification(total >> dp.m.then_laplace(scale=1.0), POPULATION)


def _sums(samples: list[list[int]]) -> tuple[int, ...]:
    return tuple(_amplified_sum()(sample) for sample in samples)


def same_sample(people: list[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Return noisy sums of one sample, each by an amplified measurement of OpenDP."""
    return _sums([rng.choice(people, SAMPLE, replace=False).tolist()] * QUERIES)


def fresh_samples(people: list[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Return noisy sums, each of a sample of its own."""
    return _sums([rng.choice(people, SAMPLE, replace=False).tolist() for _ in range(QUERIES)])


AMPLIFIED = PureDP(QUERIES * float(np.log(1 + SAMPLE / POPULATION * (np.exp(1.0) - 1))))


# Sums of squared deviations: the rounding of the mean is not in the declared sensitivity.

HIGH, ROWS = 2.0**50, 1024
LEVEL = pair([0.25] * ROWS, [0.5] + [0.25] * (ROWS - 1), "one record replaced")


@cache
def _deviations(offset: float) -> Any:
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(bounds=(offset, offset + 1), nan=False), size=ROWS)
    transformation = dp.t.make_sum_of_squared_deviations(domain, dp.symmetric_distance())
    return transformation, dp.m.make_laplace(
        transformation.output_domain, transformation.output_metric, scale=transformation.map(2)
    )


def _noisy_deviations(values: list[float], offset: float, trials: int) -> list[float]:
    transformation, noise = _deviations(offset)
    exact = transformation([offset + x for x in values])  # without randomness, so once is enough
    return [noise(exact) for _ in range(trials)]


def deviations(values: list[float], rng: np.random.Generator, trials: int) -> list[float]:
    """Return noisy sums of squared deviations of 2^50 plus the values, by OpenDP."""
    return _noisy_deviations(values, HIGH, trials)


def shifted_deviations(values: list[float], rng: np.random.Generator, trials: int) -> list[float]:
    """Return noisy sums of squared deviations of the values themselves, by OpenDP. Shifts do not change deviations."""
    return _noisy_deviations(values, 0.0, trials)


# Grouped sums: a group of at most 3 rows can change by 6, since 3 rows may leave and 3 others enter.

LONGEST, HIGHEST = 3, 10
GROUP = pair([10, 10, 10], [-10, -10, -10], "all three rows of a group replaced (symmetric distance 6)")


def grouped_sum(rows: list[int], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the sum with noise for a change of `max_length` rows."""
    return sum(rows) + rng.laplace(0, LONGEST * HIGHEST, trials)


def grouped_sum_of_both(rows: list[int], rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the sum with noise for as many rows that leave as rows that enter."""
    return sum(rows) + rng.laplace(0, 2 * LONGEST * HIGHEST, trials)


EXHIBITS = [
    Exhibit(
        "opendp_noisy_max", ("opendp/opendp/issues/2911",), "0.15.1 (the thread; closed)", True,
        "The noisy maximum under zCDP is described as permute-and-flip with the zCDP of the exponential "
        "mechanism, eps^2/8. The wheels 0.14.1 to 0.16.0 that we tried draw by the exponential mechanism, so "
        "this is the law of the thread.",
        "opendp 0.16.0", permute_and_flip, noisy_max, ZCDP(0.5), SCORES, needs="opendp",
    ),
    Exhibit(
        "opendp_threshold", ("opendp/opendp/issues/2922",), "0.16.0", False,
        "make_laplace_threshold releases noisy counts that equal the threshold, but its delta does not count "
        "them.",
        "the same outputs under a delta that counts them", thresholded, thresholded, DECLARED, ONE_KEY,
        repaired_claim=COUNTED, needs="opendp",
    ),
    Exhibit(
        "opendp_amplification", ("opendp/opendp/issues/2933",), "0.16.0", False,
        "Measurements amplified by sampling are composed as if each had a sample of its own, but they share "
        "one.",
        "a fresh sample for each", same_sample, fresh_samples, AMPLIFIED, PEOPLE, trials=10_000, needs="opendp",
    ),
    Exhibit(
        "opendp_deviations", ("opendp/opendp/issues/2923",), "0.16.0", False,
        "The declared sensitivity of make_sum_of_squared_deviations leaves out that the mean is rounded, and "
        "a rounded mean moves every deviation.",
        "the same function on values without the offset 2^50", deviations, shifted_deviations, PureDP(1.0), LEVEL,
        trials=5000, needs="opendp",
    ),
    Exhibit(
        "opendp_max_length", ("opendp/opendp/issues/2945",), "0.16.0", True,
        "Noise of a grouped sum is scaled to a change of max_length rows, but as many rows can leave as "
        "enter.",
        "noise for both", grouped_sum, grouped_sum_of_both, PureDP(1.0), GROUP,
    ),
]  # fmt: skip
