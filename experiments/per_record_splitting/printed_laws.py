"""Tables 2 and 3 and Section 5.1 of Finley et al. 2024: printed formulas against quadrature that uses none of them."""

from collections.abc import Iterator
from math import e, inf, pi, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.special import comb, factorial, gamma, ndtr, ndtri, rgamma

from tcdp_sim.experiments.per_record_splitting.claims import Claim, digits
from tcdp_sim.noise import ExponentialPolylogarithmic
from tcdp_sim.per_record import Identity, Log, Root, Transform, TransformedRelease


def _root_variance(k: int, sigma: float, size: float) -> float:
    """Return the variance of a root's estimator by Theorem 4.9 and Table 2, as printed."""
    terms = (comb(k, i) ** 2 * factorial(k - i) * sigma ** (2 * (k - i)) * size ** (2 * i / k) for i in range(k))
    return float(sum(terms))


def estimators(q: float = 7.0, a: float = 3.0, sigma: float = 0.9) -> Iterator[Claim]:
    """Yield Table 2 at one point: means and variances of the estimators by quadrature."""
    size = q + a
    fourth = 24 * sigma**8 + 96 * sigma**6 * size**0.5 + 72 * sigma**4 * size + 16 * sigma**2 * size**1.5
    rows: list[tuple[str, Transform, float]] = [
        ("identity", Identity(), sigma**2),
        ("square root", Root(2, a), 2 * sigma**4 + 4 * sigma**2 * size),
        ("fourth root", Root(4, a), fourth),
        *((f"root, k = {k}", Root(k, a), _root_variance(k, sigma, size)) for k in range(1, 8)),
        ("log", Log(a), (np.exp(sigma**2) - 1) * size**2),
    ]
    for name, transform, variance in rows:
        mean, computed = _moments(TransformedRelease(transform, sigma), q)
        yield Claim("Table 2", f"mean of the estimator, {name}", digits(q), mean)
        yield Claim("Table 2", f"variance of the estimator, {name}", digits(variance), computed)


def _moments(release: TransformedRelease, q: float) -> tuple[float, float]:
    """Return the mean and variance of the estimator of a noisy transform, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    values = np.asarray(release.law.value(release.transform.forward(q) + release.scale * nodes))
    mean = float(weights @ values)
    return mean, float(weights @ (values - mean) ** 2)


def powers() -> Iterator[Claim]:
    """Yield Corollary 5.6 at power 0, and the variance that Section 5.1 gives."""
    p = 1e-3  # the density of power 0 is the limit, which is 0 everywhere
    mass = quad(lambda z: p * rgamma(1 / p) / 2 * np.exp(-(abs(z) ** p)), -1e6, 1e6)[0]
    yield Claim("Corollary 5.6", "mass of the density as the power goes to 0", "1", mass)
    density, norm = (quad(lambda z, k=k: 2 * z**k * np.exp(-sqrt(z)), 0, inf, epsrel=1e-12)[0] for k in (2, 0))
    variance = gamma(3 / 0.5) / gamma(1 / 0.5)
    yield Claim("Section 5.1", "variance of the generalised Gaussian, power 1/2", digits(variance), density / norm)


def polylogarithmic() -> Iterator[Claim]:
    """Yield Table 3 for powers 1 and 2."""
    yield from _polylogarithmic_1()
    yield from _polylogarithmic_2()


def _polylogarithmic_1(sigma: float = 3.0, a: float = 2.0, d: float = 5.0, z: float = 4.0) -> Iterator[Claim]:
    """Yield Table 3 for power 1 at one point; tails and variance by quadrature of the unnormalised density."""
    density, where = _Density(sigma, 1.0, a, d), "Table 3, p = 1"
    at = (d - 1) / (2 * sigma) * a ** (d - 1) * (z / sigma + a) ** -d
    yield Claim(where, "density", digits(at), density.pdf(z))
    yield Claim(where, "CDF", digits(0.5 + 0.5 * (1 - (z / (sigma * a) + 1) ** (1 - d))), density.cdf(z))
    variance = sigma**2 * a**2 * (d - 1) * (1 / (d - 3) - 1 / (d - 2) + 1 / (d - 1))
    yield Claim(where, "variance", digits(variance), density.variance())
    quantile = float(ExponentialPolylogarithmic(sigma, 1.0, a, d).ppf(0.9))
    yield Claim(where, "quantile of level 0.9", "", quantile)


def _polylogarithmic_2(sigma: float = 3.0, d: float = 1.5, z: float = 4.0, u: float = 0.9) -> Iterator[Claim]:
    """Yield Table 3 for power 2 and offset e.

    kappa(x, m) = Phi(sqrt(2 d) (log x - m / d)) is the reading that makes the lines of the table agree.
    """
    a, where = e, "Table 3, p = 2"
    density = _Density(sigma, 2.0, a, d)
    root = sqrt(2 * d)

    def kappa(x: float, m: float) -> float:
        return float(ndtr(root * (np.log(x) - m / d)))

    rest = 1 - kappa(a, 0.5)
    at = sqrt(d) * np.exp(-d * np.log(z / sigma + a) ** 2) / (2 * np.exp(1 / (4 * d)) * sigma * sqrt(pi) * rest)
    yield Claim(where, "density", digits(at), density.pdf(z))
    yield Claim(where, "CDF", digits(0.5 + 0.5 * (kappa(z / sigma + a, 0.5) - kappa(a, 0.5)) / rest), density.cdf(z))
    quantile = sigma * (np.exp(ndtri(2 * (u - 0.5) * rest + kappa(a, 0.5)) / root + 1 / (2 * d)) - a)
    yield Claim(where, "quantile of level 0.9: CDF there", digits(u), density.cdf(float(quantile)))
    bracket = np.exp(2 / d) * (1 - kappa(a, 1.5)) - 2 * a * np.exp(3 / (4 * d)) * (1 - kappa(a, 1.0))
    yield Claim(where, "variance, as far as the text goes", digits(sigma**2 * bracket / rest), density.variance())
    yield Claim(
        where, "variance, with + offset^2 added", digits(sigma**2 * (bracket / rest + a**2)), density.variance()
    )


class _Density:
    """A density proportional to exp(-d log(|z| / sigma + a)^p), evaluated by adaptive quadrature alone."""

    def __init__(self, sigma: float, p: float, a: float, d: float) -> None:
        self.sigma, self.p, self.a, self.d = sigma, p, a, d
        self.mass = 2 * self._integral(0, 0.0, inf)

    def pdf(self, z: float) -> float:
        return float(self._height(z) / self.mass)

    def cdf(self, z: float) -> float:
        """Return the CDF at z > 0."""
        return 0.5 + self._integral(0, 0.0, z) / self.mass

    def variance(self) -> float:
        return 2 * self._integral(2, 0.0, inf) / self.mass

    def _height(self, z: float) -> float:
        return float(np.exp(-self.d * np.log(z / self.sigma + self.a) ** self.p))

    def _integral(self, k: int, low: float, high: float) -> float:
        return float(quad(lambda z: z**k * self._height(z), low, high, epsabs=0, epsrel=1e-12, limit=500)[0])
