"""The mean of all products of k entries of a row: an elementary symmetric polynomial over a binomial coefficient."""

import numpy as np
from scipy.special import gammaln

from tcdp_sim.core.arrays import Floats


def log_mean_products(y: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the logs of the mean product of k - 1 and of k different entries of each row.

    The coefficients of z^j in the product of all 1 + y z are sums of products. They are computed by a binary tree of
    polynomials. All terms are positive, so nothing cancels.

    `y`: the entries, each above 0, shape (rows, n).
    """
    rows, n = y.shape
    if k == 1:
        total = y.sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.zeros(rows), np.log(total) - np.log(max(n, 1))
    scale = y.sum(axis=1) / k  # the sums of products of y / scale are moderate
    with np.errstate(divide="ignore"):
        coefficients = np.log(_product(y / scale[:, None], k))
    fewer, all_factors = (
        coefficients[:, j] + j * np.log(scale) - _log_choose(n, j) if j <= n else np.full(rows, -np.inf)
        for j in (k - 1, k)
    )
    return fewer, all_factors


def _product(y: Floats, k: int) -> Floats:
    """Return the coefficients up to z^k of the product of 1 + y z over each row, shape (rows, k + 1)."""
    polynomials = np.stack([np.ones_like(y), y])  # coefficient, row, factor
    while polynomials.shape[2] > 1:
        half = polynomials.shape[2] // 2
        left, right = polynomials[..., :half], polynomials[..., half : 2 * half]
        joined = _times(left, right, k)
        if polynomials.shape[2] % 2:
            odd = np.zeros((*joined.shape[:2], 1))
            odd[: len(polynomials), :, 0] = polynomials[..., -1]
            joined = np.concatenate([joined, odd], axis=2)
        polynomials = joined
    found = np.zeros((y.shape[0], k + 1))
    found[:, : len(polynomials)] = polynomials[: k + 1, :, 0].T
    return found


def _times(left: Floats, right: Floats, k: int) -> Floats:
    """Return the products of polynomials of one degree that begin with 1, up to z^k."""
    degree = len(left) - 1
    result = np.zeros((min(2 * degree, k) + 1, *left.shape[1:]))
    result[: degree + 1] = right
    for i in range(1, degree + 1):
        last = min(degree, len(result) - 1 - i) + 1
        result[i : i + last] += left[i] * right[:last]
    return result


def _log_choose(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
