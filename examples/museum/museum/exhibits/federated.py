"""Bugs of private learning: NVIDIA FLARE, Fed-BioMed and an example of JAX, written anew from their threads."""

import numpy as np

from museum.exhibit import Exhibit, pair
from tcdp_sim.audits import GaussianDP
from tcdp_sim.privacy import PureDP

# The sparse vector technique of NVIDIA FLARE: accepted values that are not chosen keep their true value.

GAMMA, TAU, FRACTION = 1.0, 0.1, 0.5
EPSILON, NOISE = 0.5, 0.5  # its arguments epsilon and noise_var
SIZE = 6
UPLOADED = int(np.ceil(SIZE * FRACTION))
SECOND = EPSILON * (2 * UPLOADED) ** (2 / 3)  # the budget of the noisy comparisons, as the code has it
WEIGHTS = pair([0.5] * SIZE, [-0.5] + [0.5] * (SIZE - 1), "one weight moves by 1")


def _selected(weights: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the chosen places, with noise for them, and the places that were never accepted."""
    threshold = TAU + rng.laplace(0, 2 * GAMMA / EPSILON)
    accepted: list[int] = []
    left = np.arange(SIZE)
    while len(accepted) < UPLOADED:
        noise = rng.laplace(0, 4 * GAMMA * UPLOADED / SECOND, left.size)
        above = np.abs(np.clip(weights[left], -GAMMA, GAMMA)) + noise >= threshold
        accepted += left[above].tolist()
        left = left[~above]
    return rng.choice(accepted, UPLOADED), left


def _noisy(weights: np.ndarray, chosen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.clip(weights[chosen] + rng.laplace(0, 2 * GAMMA / NOISE, UPLOADED), -GAMMA, GAMMA)


def overwritten_weights(weights: list[float], rng: np.random.Generator) -> np.ndarray:
    """Return the weights, overwritten where they were chosen or never accepted."""
    output = np.array(weights)
    chosen, left = _selected(output, rng)
    output[chosen] = _noisy(output, chosen, rng)
    output[left] = 0.0
    return output


def new_weights(weights: list[float], rng: np.random.Generator) -> np.ndarray:
    """Return zeros, except for the chosen weights with noise."""
    chosen, _ = _selected(np.array(weights), rng)
    output = np.zeros(SIZE)
    output[chosen] = _noisy(np.array(weights), chosen, rng)
    return output


# Clipping for each parameter: P tensors of norm C each have the norm C sqrt(P) together.

TENSORS, SIGMA = 4, 2.0
UPDATE = pair(np.full(TENSORS, 1.0), np.zeros(TENSORS), "one update added or removed")


def clipped_each(update: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the update, each of its tensors clipped to norm 1, with normal noise."""
    return np.clip(update, -1, 1) + rng.normal(0, SIGMA, (trials, TENSORS))


def clipped_together(update: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the update, clipped to norm 1 as a whole, with normal noise."""
    return update / max(np.linalg.norm(update), 1) + rng.normal(0, SIGMA, (trials, TENSORS))


# One key of the random generator for two parameters of the same shape: their noise is the same.

GRADIENT = pair(np.array([1.0, 0.0]), np.array([0.0, 0.0]), "one gradient of norm 1 added or removed")


def same_key(gradient: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the gradients of two parameters with the same noise."""
    return gradient + rng.normal(0, 1, (trials, 1))


def split_keys(gradient: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return the gradients of two parameters with noise of their own."""
    return gradient + rng.normal(0, 1, (trials, 2))


EXHIBITS = [
    Exhibit(
        "nvflare_svt", ("NVIDIA/NVFlare/issues/343", "NVIDIA/NVFlare/pull/348"), "before March 2022", True,
        "SVTPrivacy overwrites the weights in place. Weights that are accepted but not chosen for the upload "
        "keep their true value. The claim adds up its three budgets.",
        "the upload begins with zeros", overwritten_weights, new_weights, PureDP(EPSILON + SECOND + NOISE), WEIGHTS,
        trials=5000,
    ),
    Exhibit(
        "fedbiomed_clipping", ("fedbiomed/fedbiomed/issues/1443",), "open since September 2025", True,
        "Central privacy clips each tensor of an update to the norm, not the update as a whole.",
        "the whole update clipped", clipped_each, clipped_together, GaussianDP(1 / SIGMA), UPDATE,
    ),
    Exhibit(
        "jax_key_reuse", ("jax-ml/jax/pull/3646",), "the example of private SGD before July 2020", True,
        "The noise of several parameters is drawn with the same random key. Parameters of the same shape get "
        "the same noise, and their difference has none.",
        "a key for each parameter", same_key, split_keys, GaussianDP(1.0), GRADIENT,
    ),
]  # fmt: skip
