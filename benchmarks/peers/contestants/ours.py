"""The project itself: tcdp_sim's answers to the questions."""

import tempfile
from pathlib import Path

from benchmarks.peers.answers import bracket, done, draws, upper

WIDTH = {1000: 4e-5, 100_000: 1e-4}  # requested width of the bracket over its upper end, by number of releases


def gaussian_profile(sigma, epsilons):
    from tcdp_sim.exact import hockey_stick
    from tcdp_sim.noise import Gaussian

    found = hockey_stick(Gaussian(sigma), 1.0, epsilons)
    return bracket(found.lower, found.upper, "closed form")


def _composed(noise, rate, releases, delta):
    from tcdp_sim.accounting import Additive, Ledger, Sampled

    ledger = Ledger([(Sampled(Additive(noise), rate), releases)], relation="add_remove")
    found = ledger.epsilon(delta, WIDTH.get(releases, 0.1))
    return bracket(found.lower, found.upper)


def subsampled_gaussian_1000(rate, releases, delta):
    from tcdp_sim.noise import Gaussian

    return _composed(Gaussian(1.0), rate, releases, delta)


def subsampled_laplace_1000(rate, releases, delta):
    from tcdp_sim.noise import Laplace

    return _composed(Laplace(1.0), rate, releases, delta)


subsampled_gaussian_100000 = subsampled_gaussian_1000
subsampled_laplace_100000 = subsampled_laplace_1000


def twenty_kinds(kinds, delta):
    from tcdp_sim.accounting import Additive, Ledger, Sampled
    from tcdp_sim.noise import Gaussian

    entries = [(Sampled(Additive(Gaussian(sigma)), rate), count) for sigma, rate, count in kinds]
    found = Ledger(entries, "add_remove").epsilon(delta, 9e-5)
    return bracket(found.lower, found.upper)


def equal_gaussians(scale, releases, delta):
    from tcdp_sim.accounting import Additive, Ledger
    from tcdp_sim.noise import Gaussian

    found = Ledger([(Additive(Gaussian(scale)), releases)]).epsilon(delta, 5e-6)
    return bracket(found.lower, found.upper)


def equal_laplaces(scale, releases, delta):
    from tcdp_sim.accounting import Additive, Ledger
    from tcdp_sim.noise import Laplace

    found = Ledger([(Additive(Laplace(scale)), releases)]).epsilon(delta, 1.1e-5)
    return bracket(found.lower, found.upper)


def discrete_gaussians(variances, delta):
    from tcdp_sim.accounting import Additive, Ledger
    from tcdp_sim.noise import DiscreteGaussian

    found = Ledger([Additive(DiscreteGaussian(variance**0.5)) for variance in variances]).epsilon(delta, 1e-6)
    return bracket(found.lower, found.upper)


discrete_gaussians_far = discrete_gaussians


def zcdp_conversion(rho, delta):
    from tcdp_sim.privacy import ZCDP, to_approx_dp

    return upper(to_approx_dp(ZCDP(rho), delta).epsilon)


def tcdp_conversion(rho, omega, delta):
    from tcdp_sim.privacy import TCDP, to_approx_dp

    return upper(to_approx_dp(TCDP(rho, omega), delta).epsilon, "the best binary test")


def allocation(sigma, steps, delta):
    from tcdp_sim.accounting import Allocated, Ledger

    found = Ledger([Allocated(sigma, steps)], "add_remove").epsilon(delta)
    return bracket(found.lower, found.upper)


def selection_rho(epsilon):
    from tcdp_sim.privacy.least_rho import bounded_range_rho

    return upper(bounded_range_rho(epsilon), "the least ρ of bounded range")


def best_of_tries(sigma, tries, delta):
    from tcdp_sim.candidates import gaussian_renyi, theorem_renyi, tries_of
    from tcdp_sim.privacy import RenyiBound, tightest_epsilon

    law, shift = tries_of("poisson", tries), 1 / sigma

    def curve(order):
        order = max(order, 1 + 1e-6)
        return min(gaussian_renyi(order, shift, law, 200).upper, theorem_renyi(order, shift, law))

    return upper(tightest_epsilon(RenyiBound(curve, 200.0), delta)[0], "the exact supremum of the Rényi divergence")


def selections(epsilon, candidates, count):
    from tcdp_sim.selection import exponential_mechanism
    from tcdp_sim.selection.scores import Scores

    scores = Scores(range(candidates), sensitivity=1.0)
    chosen = exponential_mechanism(epsilon).select(scores, count, rng=_generator())
    return lambda: draws(chosen.ravel(), "Gumbel noise, in floating point")


def gaussian_draws(sigma, count):
    from tcdp_sim.noise import Gaussian

    sample = Gaussian(sigma).sample(count, rng=_generator())
    return lambda: draws(sample, "continuous, in floating point")


def per_record_draws(count):
    from tcdp_sim.noise import GeneralizedGaussian

    sample = GeneralizedGaussian(1.0, 0.5).sample(count, rng=_generator())
    return lambda: draws(sample, "continuous, in floating point")


def _generator():
    from tcdp_sim.core.streams import generator

    return generator(1, "0" * 64, 0)


def sweep_in_memory(cells):
    found = _swept(_value, cells)
    return done(found["value"].size, "seeded and summarised, with standard errors and intervals; 4 trials a cell")


def sweep_durable(cells):
    with tempfile.TemporaryDirectory() as folder:
        found = _swept(_value, cells, name="cells", results_dir=folder)
        return done(found["value"].size, "as above, and a run: journal, snapshot and certificate, flushed to the disk")


def sweep_seeded(cells):
    from benchmarks.peers.contestants.cell import trial

    return done(_swept(trial, cells)["value"].size, "with intervals and quantiles besides")


def small_cells(cells):
    return done(_coverage(cells)["covered"].size, "with intervals and quantiles besides")


def small_cells_durable(cells):
    with tempfile.TemporaryDirectory() as folder:
        found = _coverage(cells, name="cells", results_dir=folder)
        return done(found["covered"].size, "a run: journal, snapshot and certificate, flushed to the disk")


def _coverage(cells, **kept):
    from benchmarks.peers.contestants.cell import axes, coverage
    from tcdp_sim import sweep

    return sweep(coverage, axes(cells), trials=100, **kept)


def _value(rng, k):
    from benchmarks.peers.contestants.cell import cell

    return cell(k)


def _swept(function, cells, **kept):
    from tcdp_sim import sweep

    return sweep(function, {"k": [float(k) for k in range(cells)]}, trials=4, **kept)


def first_result():
    from tcdp_sim.privacy import ZCDP, to_approx_dp

    return to_approx_dp(ZCDP(0.1), 1e-6).epsilon


def first_study():
    """Run one cell from a config to published results."""
    import os

    from tcdp_sim.api import run

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(sweep={"noise": "gaussian", "rho": 0.1, "k": 1000}, trials=100, cluster="serial")
        assert list(Path(folder).rglob("results.zarr"))
