"""The speed from random numbers to errors."""

import time
from statistics import median

import numpy as np

from tcdp_sim.core.streams import generator
from tcdp_sim.mechanisms import Histogram
from tcdp_sim.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, RoundedGaussian, SinhNormal, SinhSquared
from tcdp_sim.privacy import ZCDP
from tcdp_sim.samplers import sample_abs_max

ROUNDS = 15
TRIALS = 20_000


def seconds(*functions, rounds=ROUNDS):
    """Return the median seconds of each function. The calls are interleaved, so that noise hits all alike."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, spent in zip(functions, times):
            started = time.perf_counter()
            function()
            spent.append(time.perf_counter() - started)
    return [median(spent) for spent in times]


def maximum():
    """Measure the largest of k errors by order statistics, whose cost does not depend on k."""
    rng = generator(1, "0" * 64, 0)
    noise = SinhNormal(4.0, 20.0)
    few, many, middle = seconds(
        *(lambda k=k: sample_abs_max(noise, k, TRIALS, rng=rng) for k in (1e3, 1e12, 1e6)),
    )
    bins = np.empty(1_000_000)

    def draw_every_bin():
        noise.fill(bins, rng=rng)
        np.abs(bins, out=bins).max()

    (every,) = seconds(draw_every_bin, rounds=5)
    yield "largest error, k = 1e12 against k = 1e3: cost ratio", f"{many / few:.2f}", "<= 1.2"
    yield "k = 1e6: every bin drawn against order statistics", f"{every / (middle / TRIALS):,.0f} x", ">= 10,000 x"
    yield "  nanoseconds a trial, any k", f"{1e9 * middle / TRIALS:.0f}", ""


def doubly_exponential():
    """Compare a draw of sinh-squared noise, which is no transform of a normal draw, with one of sinh-normal noise.

    The table of sinh-squared noise exists already.
    """
    rng, out = generator(3, "0" * 64, 0), np.empty(1_000_000)
    noises = SinhNormal(5.0, 5.0), SinhSquared(5.0, 5.0)
    normal, squared = seconds(*(lambda noise=noise: noise.fill(out, rng=rng) for noise in noises), rounds=9)
    yield "a draw of sinh-squared against sinh-normal noise: cost ratio", f"{squared / normal:.2f}", "<= 1.1"


def discrete():
    """Compare draws of discrete noise with as many numpy draws of the continuous one. The tables exist already."""
    rng, out = generator(4, "0" * 64, 0), np.empty(1_000_000)
    pairs = {
        "discrete Gaussian": (DiscreteGaussian(3.0), rng.normal),
        "discrete Laplace": (DiscreteLaplace(3.0), rng.laplace),
        "rounded Gaussian": (RoundedGaussian(3.0), rng.normal),
    }
    for name, (noise, continuous) in pairs.items():
        noise.fill(out, rng=rng)
        drawn, plain = seconds(
            lambda noise=noise: noise.fill(out, rng=rng), lambda draw=continuous: draw(0.0, 3.0, out.size), rounds=9
        )
        yield f"a draw of {name} noise against numpy's continuous one: cost ratio", f"{drawn / plain:.2f}", "<= 1.5"


def dense():
    """Compare the plain path, with all observables, with numpy's generator alone."""
    rng = generator(2, "0" * 64, 0)
    bins, trials = 10_000, 200
    counts = np.full(100, 50)
    mechanism = Histogram(Gaussian(10.0), ZCDP(0.01), counts, bins, sampling="dense")
    buffer = np.empty(2**15)

    def generator_alone():
        for _ in range(bins * trials // buffer.size):
            rng.standard_normal(out=buffer)

    alone, whole = seconds(generator_alone, lambda: mechanism.simulate(rng, trials))
    drawn = bins * trials // buffer.size * buffer.size
    share = (bins * trials / whole) / (drawn / alone)
    yield "dense path (Gaussian), share of numpy's bare generator", f"{share:.0%}", ">= 70%"
