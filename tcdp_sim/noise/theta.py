"""Sums of exp(-x^2 / (2 sigma^2)) over the whole numbers: totals, tails, moments, and totals moved by a fraction.

Tails of a narrow noise are a table of logs that is summed from outside inwards. Those of a wide one are the midpoint
rule of Euler and Maclaurin, whose error is below 1e-14 where a term is at most e^(1/2) times the next one. Further out
the terms fall so fast that some of them are the sum.
"""

from functools import cached_property

import numpy as np
from scipy.special import bernoulli, erfcx, factorial, ndtri_exp

from tcdp_sim.core.arrays import Floats

HALF_LOG_TWO_PI = 0.5 * np.log(2 * np.pi)
_SMOOTH = 2.0  # sigma from which on sums over all whole numbers are integrals: they differ by e^-79
_WIDE = 64.0  # sigma from which on tails are integrals with corrections
_STEEP = 0.5  # fall of the log from a term to the next
_TERMS = 96  # of a steep tail: e^(-96 / 2) of the first one is lost
_NONE = 1e-17  # a term that no longer matters beside the first one
_TABLE = 40.0  # length of the table of tails, in sigmas; at least _LEAST points
_LEAST = 40
_ORDERS = np.arange(2, 17, 2)
_CORRECTIONS = bernoulli(16)[_ORDERS] * (2.0 ** (1 - _ORDERS) - 1) / factorial(_ORDERS)  # B_2k(1/2) / (2k)!


class Theta:
    """The sums for one sigma above 0."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    def log_term(self, x: Floats) -> Floats:
        """Return -x^2 / (2 sigma^2)."""
        z = np.divide(x, self.sigma)
        with np.errstate(over="ignore"):
            return -0.5 * z * z

    @cached_property
    def log_total(self) -> float:
        """The log of the sum over all whole numbers."""
        if self.sigma >= _SMOOTH:
            return float(np.log(self.sigma) + HALF_LOG_TWO_PI)
        return float(np.log1p(2 * np.exp(self.log_term(self._few)).sum()))

    def moment(self, n: int) -> float:
        """Return the mean of x^n under the law, for n = 2 or 4."""
        if self.sigma >= 2 * _SMOOTH:
            return self.sigma**n * (1.0 if n == 2 else 3.0)
        return float(2 * (self._few**n * np.exp(self.log_term(self._few) - self.log_total)).sum())

    def log_ratio(self, moved: Floats) -> Floats:
        """Return the log of the sum over the whole numbers moved by a fraction, over that not moved; at most 0.

        The fraction lies in [-1/2, 1/2]. The two differ by a sum of squares, so nothing cancels near 0.
        """
        if self.sigma >= _SMOOTH:
            return np.zeros_like(moved)
        t, x = np.abs(moved), self._few[:, None]
        rise = x * t / self.sigma**2
        more = np.exp(rise + self.log_term(x) - self.log_total) * np.expm1(-rise) ** 2
        return np.minimum(self.log_term(t) + np.log1p(more.sum(axis=0)), 0.0)

    def log_tail(self, i: Floats) -> Floats:
        """Return the log of the sum over all x >= i, for whole i >= 0."""
        i = np.asarray(i, dtype=np.float64)
        if self.sigma < _WIDE:
            steep = ~(i < len(self._table))
            tail = self._table[np.where(steep, 0, i).astype(np.int64)]
        else:
            steep = ~(i <= _STEEP * self.sigma**2)
            tail = self._log_integral(np.where(steep, 0.0, i))
        if steep.any():
            tail = np.where(steep, self._log_steep(i), tail)
        return tail

    def place(self, log_tail: Floats) -> Floats:
        """Return the t at which a smooth form of `log_tail` has this value, to well within 1."""
        log_tail = np.asarray(log_tail, dtype=np.float64)
        if self.sigma >= _WIDE:
            share = np.minimum(log_tail - np.log(self.sigma) - HALF_LOG_TWO_PI, 0.0)
            return 0.5 - self.sigma * ndtri_exp(share)
        inside = np.interp(-log_tail, -self._table, np.arange(len(self._table)))
        with np.errstate(invalid="ignore"):
            far = self.sigma * np.sqrt(2 * np.maximum(self._at_end - log_tail, 0.0))
        return np.where(log_tail < self._table[-1], np.maximum(far, len(self._table) - 1), inside)

    @cached_property
    def _few(self) -> Floats:
        """The whole numbers from 1 on whose terms are floats, for sums of a narrow noise."""
        return np.arange(1.0, np.ceil(_TABLE * min(self.sigma, 2 * _SMOOTH)) + 2)

    @cached_property
    def _table(self) -> Floats:
        """The logs of the tails at 0, 1, 2, ..."""
        terms = self.log_term(np.arange(max(np.ceil(_TABLE * self.sigma), _LEAST)))
        terms[-1] += self._log_steep_ratio(np.array([len(terms) - 1.0]))[0]
        return np.asarray(np.logaddexp.accumulate(terms[::-1])[::-1])

    @cached_property
    def _at_end(self) -> float:
        """The log of the tail over its first term at the end of the table, which further out hardly changes."""
        return float(self._log_steep_ratio(np.array([len(self._table) - 1.0]))[0])

    def _log_integral(self, i: Floats) -> Floats:
        """Return `log_tail` of a wide noise from the integral from i - 1/2 on and the derivatives there."""
        start = i - 0.5
        ratio = self.sigma * np.sqrt(np.pi / 2) * erfcx(start / (self.sigma * np.sqrt(2)))
        slope, curve = start / self.sigma**2, 1 / self.sigma**2
        before, now = np.ones_like(start), slope  # -1 to the n times the nth derivative over the term, n = 0, 1
        for n, correction in zip(_ORDERS, _CORRECTIONS):
            ratio = ratio + correction * now
            for m in (n - 1, n):
                before, now = now, slope * now - m * curve * before
        return self.log_term(start) + np.log(ratio)

    def _log_steep(self, i: Floats) -> Floats:
        return self.log_term(i) + self._log_steep_ratio(i)

    def _log_steep_ratio(self, i: Floats) -> Floats:
        """Return the log of the tail from i on over its first term, where terms fall by e^-_STEEP or more."""
        ratio = np.ones(np.shape(i))
        with np.errstate(over="ignore", invalid="ignore"):
            rate = np.divide(i, self.sigma) / self.sigma
            for k in range(1, _TERMS):
                term = np.exp(-k * rate - 0.5 * (k / self.sigma) ** 2)
                ratio = ratio + term
                if not (term > _NONE).any():
                    break
        return np.log(ratio)
