"""A bug of private synthetic data: the JAM mechanism of mbi, written anew from its thread."""

import numpy as np

from museum.exhibit import Exhibit, pair
from tcdp_sim.privacy import PureDP

EPSILON = 1.0
Errors = list[tuple[float, float]]  # of each marginal: the model's, and that of public data
MARGINALS = pair([(10.0, 10.0), (10.0, 10.0)], [(12.0, 8.0), (8.0, 12.0)], "each error of a marginal moves by up to 2")


def _selected(errors: Errors, sensitivity: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return chosen marginals. The score of one is the model's error minus the error of public data."""
    scores = np.array([model - public for model, public in errors])
    return np.argmax(scores + rng.gumbel(0, 2 * sensitivity / EPSILON, (trials, len(scores))), axis=1)


def sensitivity_of_one(errors: Errors, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return marginals chosen as if one error alone moved."""
    return _selected(errors, 2.0, rng, trials)


def sensitivity_of_both(errors: Errors, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Return marginals chosen with noise for both errors."""
    return _selected(errors, 4.0, rng, trials)


EXHIBITS = [
    Exhibit(
        "mbi_jam", ("ryan112358/mbi/issues/65",), "open since December 2025", True,
        "JAM selects a marginal by the difference of two errors. Each may move by 2, in opposite directions, "
        "but the declared sensitivity is 2.",
        "sensitivity 4", sensitivity_of_one, sensitivity_of_both, PureDP(EPSILON), MARGINALS, trials=100_000,
    )
]  # fmt: skip
