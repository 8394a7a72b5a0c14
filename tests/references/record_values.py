"""The privacy loss of a record, with numpy alone: Gauss-Legendre panels in log |y| on the four pieces.

For noise with density e^-phi(|z|) / norm, phi increasing and concave, moved by t: the loss at -y < 0 is
phi(y + t) - phi(y), at 0 < x < t / 2 it is phi(t - x) - phi(x), and both return with the other sign beyond t / 2.
"""

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr

_X, _W = np.polynomial.legendre.leggauss(16)


def generalized_gaussian(scale, power):
    return lambda z: (z / scale) ** power


def polylogarithmic(scale, power, offset, rate):
    return lambda z: rate * np.log(z / scale + offset) ** power


def _panels(low, high):
    edges = np.linspace(low, high, int((high - low) / 0.4) + 2)
    half = np.diff(edges)[:, None] / 2
    u = (edges[:-1, None] + half + half * _X).ravel()
    return np.exp(u), (half * _W).ravel() * np.exp(u)


class Record:
    """A record of influence t under noise of log density -phi, with the masses and losses of all outputs."""

    def __init__(self, phi, t, widest=1e40):
        self.phi, self.t = phi, t
        far = np.log(t) + np.arange(0.0, np.log(widest), 0.5)
        far = far[: np.searchsorted(phi(np.exp(far)), 750.0) + 1][-1]  # beyond it the mass underflows
        self.ends = {"out": far, "within": np.log(t / 2)}  # of log |y|
        y, wide = _panels(np.log(t) - 60, self.ends["out"])
        x, narrow = _panels(np.log(t) - 60, self.ends["within"])
        self.norm = 2 * np.sum(wide * np.exp(-phi(y)))
        out, within = self.loss_at("out", y), self.loss_at("within", x)
        self.loss = np.concatenate([out, within, -within, -out])
        pieces = zip((wide, narrow, narrow, wide), (phi(y), phi(x), phi(t - x), phi(y + t)))
        self.mass = np.concatenate([weight * np.exp(-height) for weight, height in pieces]) / self.norm
        self.largest = phi(t) - phi(0.0)

    def loss_at(self, side, y):
        return self.phi(y + self.t) - self.phi(y) if side == "out" else self.phi(self.t - y) - self.phi(y)

    def renyi(self, order):
        """Return D_order, order >= 1, from E (e^(sL) - 1 - s (1 - e^-L)).

        All its terms are positive, and E (1 - e^-L) = 0."""
        s = order - 1
        if s == 0:
            return np.sum(self.mass * (self.loss + np.expm1(-self.loss)))
        return np.log1p(np.sum(self.mass * (np.expm1(s * self.loss) + s * np.expm1(-self.loss)))) / s

    def policy(self):
        """Return the largest D_order / order."""
        s = np.geomspace(1e-4, max(1e3, 1e3 / self.largest), 120)
        s = s[s * self.largest < 600]
        ratios = [self.renyi(1 + each) / (1 + each) for each in s]
        near = np.clip(np.argmax(ratios), 1, len(s) - 2)
        best = minimize_scalar(
            lambda u: -self.renyi(1 + np.exp(u)) / (1 + np.exp(u)),
            bounds=np.log(s[[near - 1, near + 1]]),
            method="bounded",
            options={"xatol": 1e-7},
        )
        return max(self.renyi(1.0), -best.fun)

    def delta(self, epsilon):
        """Integrate over the outputs on both sides of 0 whose loss exceeds epsilon. The loss falls with |y| there."""
        total = 0.0
        for side, end in self.ends.items():
            low = np.log(self.t) - 60
            if self.loss_at(side, np.exp(low)) <= epsilon:
                continue
            if self.loss_at(side, np.exp(end)) < epsilon:
                end = brentq(lambda u, side=side: self.loss_at(side, np.exp(u)) - epsilon, low, end, xtol=1e-14)
            y, weight = _panels(low, end)
            total += np.sum(weight * np.exp(-self.phi(y)) * -np.expm1(epsilon - self.loss_at(side, y))) / self.norm
        return total

    def epsilon(self, delta):
        if self.delta(0.0) <= delta:
            return 0.0
        return brentq(lambda epsilon: self.delta(epsilon) - delta, 0.0, self.largest, xtol=1e-13)


def gaussian_epsilon(theta, delta):
    """Return epsilon at delta of a Gaussian moved by theta standard deviations."""

    def excess(epsilon):
        first = log_ndtr(theta / 2 - epsilon / theta)
        second = epsilon + log_ndtr(-theta / 2 - epsilon / theta)
        return first + np.log(-np.expm1(second - first)) - np.log(delta)

    return brentq(excess, 0.0, theta * theta + 40 * theta, xtol=1e-13)
