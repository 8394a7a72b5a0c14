"""The laws of discrete noises, written down again in 50 digits from their definitions, in steps of the lattice."""

from functools import cache

import mpmath as mp
from noise_references import GaussianReference, LaplaceReference, SinhNormalReference, SinhSquaredReference

from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace

mp.mp.dps = 50
ROUNDED = {
    "rounded_gaussian": GaussianReference,
    "rounded_laplace": LaplaceReference,
    "rounded_sinh_normal": SinhNormalReference,
    "rounded_sinh_squared": SinhSquaredReference,
}


class Proportional:
    """P[Z = i] proportional to a term that falls with |i|; tails are sums of terms, from outside inwards."""

    def __init__(self, terms):
        self.terms = terms
        self.tails = [mp.mpf(0)]
        for term in reversed(terms):
            self.tails.append(self.tails[-1] + term)
        self.tails.reverse()
        self.total = 2 * self.tails[0] - terms[0]

    def mass(self, i):
        return self.terms[int(i)] / self.total

    def tail(self, i):
        return self.tails[int(i)] / self.total

    def moment(self, n):
        return 2 * mp.fsum(mp.mpf(i) ** n * term for i, term in enumerate(self.terms)) / self.total


class Geometric:
    """The discrete Laplace law in closed form, for any length of its tail."""

    def __init__(self, fall):
        self.q = mp.exp(-fall)

    def mass(self, i):
        return (1 - self.q) / (1 + self.q) * self.q ** int(i)

    def tail(self, i):
        return self.q ** int(i) / (1 + self.q)

    def moment(self, n):
        q = self.q
        whole = q * (1 + q) / (1 - q) ** 3 if n == 2 else q * (1 + q * (11 + q * (11 + q))) / (1 - q) ** 5
        return 2 * whole * (1 - q) / (1 + q)


class OfCells:
    """A continuous law rounded: a point has the mass of the cell around it."""

    def __init__(self, continuous, step):
        self.continuous, self.step = continuous, mp.mpf(step)
        self.tail = cache(self.tail)

    def tail(self, i):
        edge = (mp.mpf(int(i)) - mp.mpf(1) / 2) * self.step
        return self.continuous.sf(edge) if edge > 0 else 1 - self.continuous.sf(-edge)

    def mass(self, i):
        return self.tail(i) - self.tail(i + 1)

    def moment(self, n):
        """Return the sum over i of (i^n - (i - 1)^n) P[Z >= i], twice."""
        i, total = 1, mp.mpf(0)
        while (term := (mp.mpf(i) ** n - mp.mpf(i - 1) ** n) * self.tail(i)) > total * mp.mpf(10) ** -16:
            total, i = total + term, i + 1
        return 2 * total


@cache
def law(noise):
    """Return the law of a noise; its points are whole numbers of steps."""
    if isinstance(noise, DiscreteLaplace):
        return Geometric(mp.mpf(noise.step) / mp.mpf(noise.scale))
    if isinstance(noise, DiscreteGaussian):
        sigma = mp.mpf(noise.sigma) / mp.mpf(noise.step)
        count = int(50 * sigma) + 100
        return Proportional([mp.exp(-(mp.mpf(i) ** 2) / (2 * sigma**2)) for i in range(count)])
    names = noise.rounds.parameters()
    return OfCells(ROUNDED[noise.family](*(getattr(noise, name) for name in names)), noise.step)
