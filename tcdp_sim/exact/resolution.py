"""Panels that are fine enough for any noise, and the effect of rounding on its privacy loss.

Quantiles resolve a density with one peak. They say nothing about the density between two peaks. So for a noise that is
not known to be log-concave panels are graded, and halved until quadrature of the density finds the mass that the tails
say is there.
"""

import numpy as np

from tcdp_sim.core.arrays import Floats, RealFunction
from tcdp_sim.core.numerics import gauss_panels
from tcdp_sim.noise import Noise

ROUNDING = 4e-15  # relative error of a log density or a loss, with a margin over that of the formulas
_STEEPEST = 3.0  # the ratio of neighbouring panels
_CLOSE, _LEAST = 1e-8, 1e-10  # relative to a panel's mass, and to that of the uncut panel in case of a jump
_TAIL = 1e-12  # relative to the tail, whose rounding spoils the mass of a narrow panel
_FAINTEST = 1e-290
_ROUNDS = 45
_MOST = 2**15
_TAILS = np.concatenate([0.5 - 10.0 ** -np.arange(15.0, 1, -1), np.linspace(0.45, 0.05, 9)])
_TAILS = np.concatenate([_TAILS, 10.0 ** -np.geomspace(2, 300, 40)])


def graded(x: Floats) -> Floats:
    """Return ascending points with more in between, until no panel is over three times as long as its neighbour."""
    x = np.unique(x)
    while len(x) < _MOST:
        width = np.diff(x)
        beside = np.fmin(np.append(width[1:], np.inf), np.append(np.inf, width[:-1]))
        wide = np.flatnonzero(width > _STEEPEST * beside)
        middle = 0.5 * (x[wide] + x[wide + 1])
        middle = middle[(middle > x[wide]) & (middle < x[wide + 1])]
        if not len(middle):
            break
        x = np.sort(np.concatenate([x, middle]))
    return x


def with_kinks(noise: Noise, arm: Floats) -> Floats:
    """Return points of one side of a noise, its centre and the kinks of its density on that side, ascending."""
    kinks = noise.kinks
    return np.unique(np.concatenate([[0.0], arm, kinks[kinks > 0]]))


def need_density(noise: Noise) -> None:
    """Raise ValueError for a discrete noise: quadrature would find nothing between its values."""
    if noise.is_discrete:
        raise ValueError(f"noise = {noise!r} has no density; valid: a noise with one, such as its `with_density()`")


def resolved(noise: Noise, edges: Floats) -> Floats:
    """Return the edges, with more of them if the density of a noise that may have several peaks needs them.

    A noise that says it is log-concave needs none, and a staircase needs the ends of its steps. The mass beyond the
    first and the last edge is left out. Raises ValueError if density and tails do not fit together.
    """
    if noise.log_concave:
        return edges
    if noise.is_staircase:
        return np.unique(np.concatenate([edges, noise.kinks]))
    arm = noise.isf(_TAILS)
    x = np.concatenate([-arm, arm, [0.0], edges, noise.kinks])
    x = graded(x[np.abs(x) < 1e300])
    seen = np.flatnonzero(noise.pdf(x) > _FAINTEST)  # further out heavy tails have mass, but no density that is a float
    x = x[seen[0] : seen[-1] + 1]
    left, right = x[:-1], x[1:]
    mass, tail = _between(noise, left, right), noise.sf(np.minimum(np.abs(left), np.abs(right)))
    allowed = np.maximum(_LEAST * mass, _TAIL * tail + 1e-300)
    points, todo = [x], (left, right, mass, allowed)
    unit, weight = gauss_panels(np.array([0.0, 1.0]), 20)
    for _ in range(_ROUNDS):
        left, right, mass, allowed = todo
        width = (right - left)[:, None]
        rule = (noise.pdf(left[:, None] + width * unit) * width) @ weight
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(rule - mass) <= np.maximum(_CLOSE * mass, allowed))
        if not bad.any():
            return np.unique(np.concatenate(points))
        left, right, allowed = left[bad], right[bad], allowed[bad]
        middle = 0.5 * (left + right)
        points.append(middle)
        if sum(map(len, points)) > _MOST:
            break
        left, right, allowed = np.concatenate([left, middle]), np.concatenate([middle, right]), np.tile(allowed, 2)
        todo = left, right, _between(noise, left, right), allowed
    raise ValueError(
        f"noise = {noise!r}: logpdf does not integrate to sf between {left.min():.6g} and {right.max():.6g}; "
        "valid: logpdf, sf and isf of one law, symmetric about zero, good to 1e-10"
    )


def sign_changes(f: RealFunction, level: float, edges: Floats, parts: int = 4) -> Floats:
    """Return the points where f crosses the level, to the last bit, one crossing for each part of a panel.

    NaN is below.
    """
    share = np.arange(parts) / parts
    x = np.append((edges[:-1, None] + share * np.diff(edges)[:, None]).ravel(), edges[-1])
    over = f(x) > level
    at = np.flatnonzero(over[1:] != over[:-1])
    low, high, at_low = x[at], x[at + 1], over[at]
    for _ in range(100):
        middle = 0.5 * (low + high)
        same = (f(middle) > level) == at_low
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([low, high])


def loss_error(noise: Noise, x: Floats, shift: float) -> Floats:
    """Return the largest change of noise.privacy_loss(x, shift) by rounding, in nats.

    If the noise gives its loss, that is the loss's last digits. Otherwise the loss is a difference of log densities,
    and the last digits of both and of x - shift count.
    """
    with np.errstate(all="ignore"):
        if noise.gives_loss:
            size = ROUNDING * np.abs(noise.privacy_loss(x, shift))
        else:
            y, typical = np.subtract(x, shift), np.abs(noise.logpdf(noise.isf(0.25)))
            size = ROUNDING * (1 + typical + np.abs(noise.logpdf(x)) + np.abs(noise.logpdf(y)))
            size = size + argument_error(noise, x) + argument_error(noise, y)
    return np.where(np.isfinite(size), size, 0.0)


def argument_error(noise: Noise, x: Floats) -> Floats:
    """Return the change of the log density by rounding of x, to which peaks far from zero are sensitive."""
    with np.errstate(all="ignore"):
        moved = np.abs(noise.logpdf(x * (1 + 2.0**-26)) - noise.logpdf(x * (1 - 2.0**-26)))
    return 2.0**-26 * np.where(np.isfinite(moved), moved, 0.0)  # twice the slope times 2^-52 |x|


def _between(noise: Noise, left: Floats, right: Floats) -> Floats:
    """Return P[left < Z <= right] of panels that do not straddle zero, from the nearer tail."""
    upper = left >= 0
    return np.where(upper, noise.sf(left) - noise.sf(right), noise.cdf(right) - noise.cdf(left))
