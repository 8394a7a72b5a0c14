"""The least rho of zCDP, as functions of epsilon: pure DP, bounded range, k-ary response, Laplace noise.

Each function gives the supremum of D_a / a over the orders a > 1. All but k-ary response on many values reach it in the
limit of order 1, so a finite omega of tCDP does not lower it. The proofs of the even cases have one form. Let x = (a -
1/2)^2, so that a (a - 1) = x - 1/4. The function g(x) = (a - 1) D_a vanishes at x = 1/4, and D_a / a is the slope of
its chord from there. If g is concave, the slope falls, and the limit at order 1 is the supremum.
"""

from collections.abc import Callable
from math import cosh, exp, expm1, factorial, fsum, inf, log, log1p, sinh, sqrt, tanh

from tcdp_sim.core.errors import scalar, whole
from tcdp_sim.core.numerics import root

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
_LARGE = 300.0  # nats, where e^-epsilon is far below the last digit of every result


def pure_rho(epsilon: float) -> float:
    """Return the least rho of epsilon-DP in nats, epsilon tanh(epsilon / 2), to the last digits.

    Proof: randomised response is the worst case at every order. Its g is log cosh(y) - log cosh(epsilon / 2) with y =
    sqrt(x) epsilon, and log cosh(y) is concave in y^2, because the derivative tanh(y) / 2y falls.

    Source: Bun and Steinke (2016), Proposition 4 [BS16], which has epsilon^2 / 2.
    """
    return epsilon * tanh(0.5 * epsilon)


def bounded_range_rho(epsilon: float) -> float:
    """Return the least rho of an epsilon-bounded-range release, such as the exponential mechanism.

    It is log((e^epsilon - 1) / epsilon) - 1 + epsilon / (e^epsilon - 1). With psi(s) = log(sinh(s/2) / (s/2)) this is
    psi + epsilon psi', which is epsilon^2 / 8 - epsilon^4 / 576 + ... The result is right to about 1e-14 relative.

    Proof: the largest D_a of the class is [G(a) - G(a - 1) - G(1)] / (a - 1) with G(v) = v psi(v epsilon). This is the
    integral of G''(s) at s = u + v over 0 < u < a - 1 and 0 < v < 1, divided by a - 1. So D_a / a is half the mean of
    G''(s) / s, where the density of (u, v) is in proportion to s. The law of s rises with a in likelihood ratio. And
    G''(s) / s falls: with psi(z) = sum_j log(1 + z^2 / c_j) and c_j = (2 pi j)^2 it is the sum of 2 epsilon^2 (z^2 + 3
    c_j) / (z^2 + c_j)^2 at z = s epsilon. So the mean falls.

    Source: Harrison and Manurangsi (2025) [HM25]; Cesar and Rogers (2021) [CR21], for epsilon^2 / 8.
    """
    if epsilon < 1:  # psi is the sum of B_2n s^2n / (2n (2n)!)
        pairs = enumerate(_BERNOULLI, start=1)
        return fsum((2 * n + 1) * b / (2 * n * factorial(2 * n)) * epsilon ** (2 * n) for n, b in pairs)
    if epsilon > _LARGE:
        return epsilon - log(epsilon) - 1
    return epsilon + log(-expm1(-epsilon) / epsilon) - 1 + epsilon / expm1(epsilon)


def response_rho(epsilon: float, k: int, omega: float = inf) -> float:
    """Return the least rho of k-ary randomised response at the orders below omega, to about 1e-14 relative.

    Epsilon is the log of the odds of the true value against each other value, in nats. With y = (a - 1/2) epsilon and c
    = (k - 2) e^(-epsilon/2) / 2, g is log(c + cosh y) and a constant. In y^2 it is convex while r(y) <= c and concave
    after that, where r(y) = (sinh(2y) / 2 - y) / (y cosh y - sinh y).

    Proof: the derivative sinh y / (2 y (c + cosh y)) rises if and only if coth y - 1/y >= sinh y / (c + cosh y), which
    is r(y) <= c. And r rises from r(0) = 2: the quotient of the coefficients of y^(2j+1) above and below is 4^j / 2j,
    which does not fall (Biernacki, Krzyz 1955).

    So if c <= r(epsilon / 2), D_a / a falls, and the limit at order 1 decides: the Kullback-Leibler divergence epsilon
    (e^epsilon - 1) / (e^epsilon + k - 1). This holds for every epsilon if k <= 6. Otherwise D_a / a rises to one
    maximum and falls after that, and the smaller one of that order and omega decides.
    """
    k = whole("k", k, 2, 10**300)
    first = epsilon * -expm1(-epsilon) / (1 + (k - 1) * exp(-epsilon))
    if k <= 6 or (k - 2) * _denominator(0.5 * epsilon) <= 2 * _numerator(0.5 * epsilon):
        return first
    rise = 1 / (1 + (k - 1) * exp(-epsilon))

    def height(excess: float) -> float:
        y = excess * epsilon
        moved = rise * -expm1(-y - epsilon)
        grown = log1p(moved * expm1(y)) if y < _LARGE else y + log(moved + exp(-y) * (1 - moved))
        return grown / (excess * (1 + excess))

    # With y = (a - 1) epsilon, g >= y - loss, and at the maximum g is its slope in y, which is below 1, times
    # y (y + epsilon) / (2 y + epsilon). So y^2 <= loss (2 y + epsilon) there.
    loss = log1p((k - 1) * exp(-epsilon))
    most = (loss + sqrt(loss * (loss + epsilon))) / epsilon
    from scipy.optimize import minimize_scalar  # imported late, as in `core.numerics.root`

    found = minimize_scalar(lambda x: -height(x), bounds=(0.0, most), method="bounded", options={"xatol": 1e-9 * most})
    best = float(found.x)
    return max(first, height(min(best, omega - 1)))


def laplace_rho(epsilon: float) -> float:
    """Return the least rho of Laplace noise, epsilon + e^-epsilon - 1 nats, with epsilon = sensitivity / scale.

    Proof: it is the limit of discrete Laplace noise with many steps, and the limit of concave g is concave.
    """
    if epsilon < 1:
        return fsum((-epsilon) ** n / factorial(n) for n in range(2, 20))
    return epsilon + expm1(-epsilon)


def discrete_laplace_rho(epsilon: float, steps: int) -> float:
    """Return the least rho of discrete Laplace noise on a shift of `steps` steps, with the largest loss epsilon.

    With b = epsilon / steps it is the Kullback-Leibler divergence epsilon - (1 - e^-epsilon) b / sinh b nats, computed
    to about 1e-15 relative.

    Proof: with q = e^-b, A = 1 / (1 - q), n steps and z = e^((2a - 1) b), e^g is z^(-n/2) (A z^n + z^(n-1) + ... + z +
    A) times a constant. The polynomial times z - 1 vanishes if z^n (z - q) = 1 - q z. For |z| > 1, |z - q| > |1 - q z|,
    and for |z| < 1 it is less, so all zeros have |z| = 1. So e^g is an even function of a - 1/2 of exponential type
    with imaginary zeros only, hence a product of factors 1 + x / t with t > 0 (Hadamard). So g is concave.
    """
    b = epsilon / whole("steps", steps, 1, 10**300)
    if b < 1:
        short = fsum(b ** (2 * j) / factorial(2 * j + 1) for j in range(1, 11))  # sinh(b) / b - 1
        lost = short / (1 + short)
    else:
        lost = 1 - 2 * b * exp(-b) / -expm1(-2 * b)
    return laplace_rho(epsilon) - expm1(-epsilon) * lost


def pure_epsilon(rho: float) -> float:
    """Return the largest epsilon whose epsilon-DP implies rho-zCDP, rounded down."""
    rho = scalar("rho", rho, 0)
    # x / (1 + x) <= tanh x <= min(x, 1)
    low, high = max(rho, sqrt(2) * sqrt(rho)), 0.5 * (rho + sqrt(rho) * sqrt(rho + 8))
    return _rounded_down(pure_rho, rho, low, high)


def bounded_range_epsilon(rho: float) -> float:
    """Return the largest epsilon whose bounded range implies rho-zCDP, rounded down."""
    rho = scalar("rho", rho, 0)
    # rho <= epsilon^2 / 8, and rho >= epsilon - 1 - log(epsilon) >= epsilon / 2 - 1
    low = sqrt(8) * sqrt(rho)
    high = low * (1 + 0.1 * rho) if rho < 1 else 2 * rho + 2
    return _rounded_down(bounded_range_rho, rho, low, high)


def _rounded_down(law: Callable[[float], float], rho: float, low: float, high: float) -> float:
    """Return a root of law(epsilon) = rho in [low, high], moved down until law(epsilon) <= rho."""
    low, high = low * (1 - 1e-14), high * (1 + 1e-14)
    epsilon = root(lambda x: law(x) - rho, low, high, 1e-300, 1e-15)
    for step in (0.0, 1e-16, 2e-16, 4e-16, 1e-15, 2e-15, 4e-15):
        if law(epsilon * (1 - step)) <= rho:
            return epsilon * (1 - step)
    return low


def _numerator(y: float) -> float:
    """Return e^-y (sinh(2y) / 2 - y)."""
    if y < 1:
        return exp(-y) * fsum(4**j * y ** (2 * j + 1) / factorial(2 * j + 1) for j in range(1, 14))
    return 0.25 * (exp(y) - exp(-3 * y)) - y * exp(-y) if y < _LARGE else inf


def _denominator(y: float) -> float:
    """Return e^-2y (y cosh y - sinh y), so that c <= r(y) compares (k - 2) times this with 2 times the numerator."""
    if y < 1:
        return exp(-2 * y) * fsum(2 * j * y ** (2 * j + 1) / factorial(2 * j + 1) for j in range(1, 14))
    return exp(-2 * y) * (y * cosh(y) - sinh(y)) if y < _LARGE else 0.0
