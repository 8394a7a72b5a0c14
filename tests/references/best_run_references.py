"""The largest divergence of the best of a Poisson number of Gaussian runs, by quadrature in 45 digits.

The order of the outputs is that of `tcdp_sim.candidates.gaussian_runs`. The integral is over the privacy loss, with
Gauss rules on pieces instead of sums over cells. Only the nodes are floats.
"""

from itertools import pairwise

import mpmath as mp
import numpy as np

DIGITS = 45


def _integral(function, ends, nodes):
    rule = np.polynomial.legendre.leggauss(nodes)
    total = mp.mpf(0)
    for low, high in pairwise(ends):
        half, middle = (high - low) / 2, (high + low) / 2
        total += half * mp.fsum(weight * function(middle + half * x) for x, weight in zip(*rule, strict=True))
    return total


class _Pair:
    """The functions of the privacy loss that the integral takes; a loss is l above zero and -t below."""

    def __init__(self, order, shift):
        self.a, self.d = mp.mpf(order), mp.mpf(shift)
        self.size = mp.exp(self.a * (self.a - 1) * self.d**2 / 2)
        self.turn = mp.log(self.a / (self.a - 1))

    def phi(self, loss):
        return 1 - self.a * mp.exp((1 - self.a) * loss) + (self.a - 1) * mp.exp(-self.a * loss)

    def density(self, loss):
        return self.size * mp.npdf(loss / self.d + self.d / 2 - self.a * self.d) / self.d

    def level(self, t, loss):
        """U, where the better outputs have losses below -t or above `loss`."""
        low, high = self.d / 2 - t / self.d, -loss / self.d - self.d / 2
        own = mp.ncdf(low - self.d) + mp.ncdf(high + self.d)
        return self.a * own - (self.a - 1) * (mp.ncdf(low) + mp.ncdf(high))

    def partner(self, loss):
        """The size of the loss on the other side of zero with the same phi: safeguarded Newton."""
        phi, sign = self.phi(loss), -mp.sign(loss)
        low = mp.mpf(0)
        high = self.turn if sign < 0 else 2 * (mp.log(self.a) - mp.log1p(-phi)) / (self.a - 1)
        x = min(abs(loss), high / 2)
        for _ in range(300):
            gap = self.phi(sign * x) - phi
            low, high = (x, high) if gap < 0 else (low, x)
            slope = self.a * (self.a - 1) * (mp.exp((1 - self.a) * sign * x) - mp.exp(-self.a * sign * x))
            y = x - gap / (sign * slope)
            y = y if low < y < high else (low + high) / 2
            if abs(y - x) < mp.mpf(10) ** (8 - DIGITS) * x:
                return y
            x = y
        raise ValueError("no partner")


def best_run_renyi(order, shift, mean, nodes=7):
    """The divergence in nats, as an mpf."""
    with mp.workdps(DIGITS):
        pair, m = _Pair(order, shift), mp.mpf(mean)
        a, d, turn = pair.a, pair.d, pair.turn

        def ends(low, high):
            centres = (a * d - d / 2, d / 2, -d / 2, d / 2 - a * d)
            inside = [(c + j) * d for c in centres for j in range(-40, 41, 2)]
            inside += [d * mp.mpf(2) ** j for j in range(-14, 8)] + [j * d for j in range(1, 60, 2)]
            inside += [turn * mp.mpf(2) ** j for j in range(-8, 5)] + [mp.mpf(2) ** j / a for j in range(-4, 8)]
            return sorted({low, high, *(x for x in inside if low < x < high)})

        def below(t):
            loss = pair.partner(-t) if t < turn else mp.inf
            return m * mp.exp(-m * pair.level(t, loss)) * pair.phi(-t) * pair.density(-t)

        def above(loss):
            return m * mp.exp(-m * pair.level(pair.partner(loss), loss)) * pair.phi(loss) * pair.density(loss)

        far = 40 * d + a * d * d
        total = _integral(below, ends(mp.mpf(0), min(turn, far)), nodes) + _integral(above, ends(mp.mpf(0), far), nodes)
        if turn < far:
            total += _integral(below, ends(turn, far), nodes)
        return mp.log1p(total) / (a - 1)
