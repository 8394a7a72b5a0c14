"""Hyper-parameter problems: the accuracies of k candidate models, as losses against the best one."""

from functools import cache
from importlib import resources

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.core.errors import choice, whole
from tcdp_sim.data.readers import read_rows

FILE = "digits_svm.csv"
REAL = "digits_svm"
VALIDATED = 898  # images, on which the accuracies of the file were measured
SPREAD = 0.3  # the loss of the worst candidate of a synthetic problem
SHAPES = {"few_good": 0.25, "even": 1.0, "many_good": 4.0}
PROBLEMS = (*SHAPES, REAL)
MOST_CANDIDATES = 10_000


def accuracy_losses(problem: str, k: int) -> Floats:
    """Return the loss in accuracy of each of the k candidates of a problem against the best one, best first.

    A synthetic problem has the losses 0.3 (j / (k - 1))^b for j = 0, ..., k - 1, with b = 1/4 for "few_good", 1 for
    "even" and 4 for "many_good". The real one, "digits_svm", has 100 support vector machines on a grid of C and gamma,
    which were fitted to one half of scikit-learn's digits and measured on the other.

    `k`: the number of candidates, from 2 to 10,000; 100 for "digits_svm".
    """
    choice("problem", problem, PROBLEMS)
    k = whole("k", k, 2, MOST_CANDIDATES)
    if problem != REAL:
        return np.asarray(SPREAD * (np.arange(k) / (k - 1)) ** SHAPES[problem])
    correct = _correct()
    if k != len(correct):
        raise ValueError(f"k = {k} is not valid for problem = {REAL}; valid: {len(correct)}")
    return np.asarray((correct.max() - correct) / VALIDATED)


@cache
def _correct() -> Floats:
    """Return how many images each machine classifies correctly, most first."""
    with resources.as_file(resources.files(__name__.rpartition(".")[0]) / "files" / FILE) as path:
        counts = [float(cell or "") for (cell,) in read_rows(path, ("correct",))]
    return np.sort(np.array(counts))[::-1]
