"""Releases as pairs of output laws, drawn from in either world and by importance sampling.

P is the law of the output on one data set and Q that on its neighbour. The loss of an output is log(P / Q), in nats.
Laws come from definitions and from the noises' own densities and samplers. Nothing is shared with exact laws of losses.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np

from tcdp_sim.core.arrays import Floats
from tcdp_sim.noise import Noise
from tcdp_sim.samplers.importance_sampling import ImportanceSampler, fit_importance_sampler
from tcdp_sim.samplers.losses import noise_nodes

_DEEPEST = 1e-300  # probability beyond the points of a lattice that are kept
_RANGE_NODES = 257


@dataclass(frozen=True, eq=False)
class Tilted:
    """Draws of finite losses from a law near P e^(tilt L), with the logs of their weights.

    `loss`, `log_weight`: the losses of the outcomes, or of the middles of the steps, and the logs of P-mass over
    `probability`. `probability`: the probabilities of outcomes or steps. `sampler`: the sampler of outputs; None if the
    outcomes are all that there is.
    """

    loss: Floats
    log_weight: Floats
    probability: Floats
    sampler: ImportanceSampler | None = None
    pair: Any = None
    tilt: float = 0.0

    @property
    def log_total(self) -> float:
        """The log of E e^(tilt L) over finite losses, about."""
        logs = self.log_weight + self.tilt * self.loss
        return float(logs.max() + np.log((self.probability * np.exp(logs - logs.max())).sum()))

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and variance of the loss under the tilted law, about."""
        weight = self.probability * np.exp(self.log_weight + self.tilt * self.loss - self.log_total)
        mean = float((weight * self.loss).sum())
        return mean, float((weight * (self.loss - mean) ** 2).sum())

    def draw(self, size: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return losses and the logs of their weights; the weighted mean of f(loss) is E[f(L); L finite] under P."""
        if self.sampler is None:
            place = np.searchsorted(np.cumsum(self.probability[:-1]), rng.random(size), side="right")
            return self.loss[place], self.log_weight[place]
        x, log_share = self.sampler.points(size, rng=rng)
        loss = np.where(np.isfinite(log_share), self.pair.loss(x), 0.0)  # outputs of infinite loss have no weight
        return loss, np.log(self.sampler.area) + log_share - self.tilt * loss


class ReleasePair(Protocol):
    """A pair of laws of an output.

    `lost`: the probability under P of an output that Q cannot give.
    """

    @property
    def lost(self) -> float: ...

    def draw(self, first: bool, size: int, *, rng: np.random.Generator) -> Floats:
        """Return outputs of P (`first`) or of Q as numbers."""

    def loss(self, outputs: Floats) -> Floats:
        """Return the losses of outputs."""

    def tilted(self, tilt: float) -> Tilted:
        """Return draws from near P e^(tilt L)."""


@dataclass(frozen=True, eq=False)
class AtomPair:
    """Outputs 0, 1, ..., n - 1 with given losses and probabilities.

    `values`: the loss of each output: inf if Q cannot give it, -inf if P cannot. `p`, `q`: the probabilities.
    """

    values: Floats
    p: Floats
    q: Floats

    @property
    def lost(self) -> float:
        return float(self.p[self.values == np.inf].sum())

    def draw(self, first: bool, size: int, *, rng: np.random.Generator) -> Floats:
        probability = self.p if first else self.q
        return np.searchsorted(np.cumsum(probability[:-1]), rng.random(size), side="right").astype(np.float64)

    def loss(self, outputs: Floats) -> Floats:
        return self.values[outputs.astype(np.int64)]

    def tilted(self, tilt: float) -> Tilted:
        known = np.isfinite(self.values) & (self.p > 0)
        loss, p = self.values[known], self.p[known]
        log_chance = np.log(p) + tilt * loss
        log_total = np.logaddexp.reduce(log_chance)
        return Tilted(loss, log_total - tilt * loss, np.exp(log_chance - log_total), tilt=tilt)

    def swapped(self) -> "AtomPair":
        """Return the pair in the other direction."""
        return AtomPair(-self.values, self.q, self.p)


@dataclass(frozen=True, eq=False)
class NoisePair:
    """Continuous noise on an answer that is 0 under P and `shift` under Q, on a Poisson sample if s < 1.

    Of a sample, P is the mixture if the record is in `first`, else Q is.
    """

    noise: Noise
    shift: float
    s: float = 1.0  # the sampling probability
    mixed_first: bool = True

    @cached_property
    def lost(self) -> float:
        if self.s < 1 and not self.mixed_first:
            return 0.0  # what the answer without the record gives, the mixture gives too
        width = float(self.noise.isf(0.0))
        return 0.0 if np.isinf(width) else self.s * float(self.noise.sf(width - self.shift))

    def draw(self, first: bool, size: int, *, rng: np.random.Generator) -> Floats:
        noise = np.asarray(self.noise.sample(size, rng=rng), np.float64)
        if self.s == 1:
            return noise if first else noise + self.shift
        if first != self.mixed_first:
            return noise + self.shift
        return noise + self.shift * (rng.random(size) >= self.s)

    def loss(self, outputs: Floats) -> Floats:
        plain = np.asarray(self.noise.privacy_loss(outputs, self.shift), np.float64)
        if self.s == 1:
            return plain
        with np.errstate(over="ignore"):
            far = np.logaddexp(np.log1p(-self.s), np.log(self.s) + plain)
            mixed = np.where(plain < 1, np.log1p(self.s * np.expm1(plain)), far)
        return mixed if self.mixed_first else -mixed

    def log_density(self, outputs: Floats) -> Floats:
        """Return the log of the density of P."""
        if self.s == 1:
            return np.asarray(self.noise.logpdf(outputs), np.float64)
        other = np.asarray(self.noise.logpdf(outputs - self.shift), np.float64)
        if not self.mixed_first:
            return other
        return np.logaddexp(np.log(self.s) + self.noise.logpdf(outputs), np.log1p(-self.s) + other)

    def tilted(self, tilt: float) -> Tilted:
        return _stepped(self, noise_nodes(self.noise, self.shift), tilt)


@dataclass(frozen=True, eq=False)
class RangePair:
    """The pair of densities e^(l/2) / (4 sinh(epsilon/2)) and the same times e^-l, of losses l in [-epsilon, epsilon].

    It is the worst pair for one release of bounded range. An output is its own loss.
    """

    epsilon: float
    lost = 0.0

    def draw(self, first: bool, size: int, *, rng: np.random.Generator) -> Floats:
        loss = 2 * np.log(rng.random(size) * 2 * np.sinh(self.epsilon / 2) + np.exp(-self.epsilon / 2))
        return loss if first else -loss

    def loss(self, outputs: Floats) -> Floats:
        return outputs

    def log_density(self, outputs: Floats) -> Floats:
        """Return the log of the density of P."""
        inside = np.abs(outputs) <= self.epsilon
        return np.where(inside, outputs / 2 - np.log(4 * np.sinh(self.epsilon / 2)), -np.inf)

    def tilted(self, tilt: float) -> Tilted:
        end = self.epsilon
        beyond = np.nextafter(end, np.inf)
        return _stepped(self, np.concatenate([[-beyond], np.linspace(-end, end, _RANGE_NODES), [beyond]]), tilt)


def _stepped(pair: NoisePair | RangePair, nodes: Floats, tilt: float) -> Tilted:
    """Return the importance sampler of the tilted density of P over finite losses."""

    def log_f(y: Floats) -> Floats:
        loss = pair.loss(y)
        finite = np.isfinite(loss)
        return np.where(finite, pair.log_density(y) + tilt * np.where(finite, loss, 0.0), -np.inf)

    sampler = fit_importance_sampler(log_f, nodes)
    if not 0 < sampler.area < np.inf:
        raise ValueError(
            f"E e^(t L) of {pair!r} is not finite at t = {tilt:g}; valid: a smaller epsilon or larger delta"
        )
    middle = 0.5 * (sampler.edges[1:] + sampler.edges[:-1])
    with np.errstate(all="ignore"):
        log_share, loss = log_f(middle) - sampler.heights, pair.loss(middle)
    probability = np.diff(sampler.edges) * np.exp(sampler.heights) / sampler.area
    kept = np.isfinite(log_share)
    log_weight = np.log(sampler.area) + log_share[kept] - tilt * loss[kept]
    return Tilted(loss[kept], log_weight, probability[kept], sampler, pair, tilt)


def response_pair(epsilon: float, k: int = 2, delta: float = 0.0) -> AtomPair:
    """Return k-ary randomised response, of which a share delta of the outputs shows the data set."""
    total = 1 + (k - 1) * np.exp(-epsilon)
    top, low = 1 / total, np.exp(-epsilon) / total
    values = np.array([epsilon, -epsilon, 0.0, np.inf, -np.inf])
    p = np.array([top, low, (k - 2) * low, 0.0, 0.0]) * (1 - delta) + np.array([0, 0, 0, delta, 0])
    q = np.array([low, top, (k - 2) * low, 0.0, 0.0]) * (1 - delta) + np.array([0, 0, 0, 0, delta])
    return AtomPair(values, p, q)


def range_atoms(epsilon: float, t: float) -> AtomPair:
    """Return the pair of bounded range with the losses t and t - epsilon."""
    p = -np.expm1(t - epsilon) / -np.expm1(-epsilon)
    values = np.array([t, t - epsilon])
    probability = np.array([p, 1 - p])
    return AtomPair(values, probability, probability * np.exp(-values))


def vector_pair(p: Any, q: Any) -> AtomPair:
    """Return a pair of probability vectors."""
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where((p > 0) | (q > 0), np.log(p) - np.log(q), 0.0)
    return AtomPair(values, p, q)


@lru_cache(maxsize=64)
def lattice_pair(noise: Noise, shift: float, s: float = 1.0) -> AtomPair:
    """Return noise on a lattice, on an answer that moves by a multiple of the lattice's step.

    With s < 1 the answer is for a Poisson sample, and P is the mixture of both laws.
    """
    step = float(noise.step_length or 0.0)
    offset, end = float(getattr(noise, "offset", 0.0)), float(noise.isf(_DEEPEST))
    count = int(np.ceil((end + abs(shift)) / step)) + 1
    points = step * (np.arange(-count, count + 1) + offset)
    points = np.concatenate([points, points[-1] + step * np.arange(1, int(np.rint(shift / step)) + 1)])
    with np.errstate(all="ignore"):
        p, q = np.exp(noise.logpdf(points)), np.exp(noise.logpdf(points - shift))
        values = np.asarray(noise.privacy_loss(points, shift), np.float64)
    known = (p > 0) | (q > 0)
    if s < 1:
        with np.errstate(over="ignore"):
            p, q = (1 - s) * q + s * np.exp(noise.logpdf(points)), q
            values = np.log1p(s * np.expm1(values))
    return AtomPair(values[known], p[known], q[known])
