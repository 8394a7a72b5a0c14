"""OpenDP: measurements with proofs; noise by exact samplers."""

from benchmarks.peers.answers import draws, upper

SHARE = 0.01  # share of the requested numbers that is drawn


def _enabled():
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics")
    return dp


def zcdp_conversion(rho, delta):
    dp = _enabled()
    sigma = (0.5 / rho) ** 0.5
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    approximate = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=sigma))
    return upper(approximate.map(1.0).epsilon(delta), "of a Gaussian measurement that has this zCDP")


def gaussian_draws(sigma, count):
    import numpy as np

    dp = _enabled()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    sample = dp.m.make_gaussian(*space, scale=sigma)(np.zeros(max(int(SHARE * count), 1)))
    return lambda: draws(sample, "discrete, on a grid finer than floats tell, exact")


def _noisy_max(scale):
    dp = _enabled()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)


def selection_rho(epsilon):
    return upper(_noisy_max(2 / epsilon).map(1.0), "of noisy max with Gumbel noise: ε²/8")


def selections(epsilon, candidates, count):
    mechanism, scores = _noisy_max(2 / epsilon), [float(score) for score in range(candidates)]
    chosen = [mechanism(scores) for _ in range(max(int(SHARE * count), 1))]
    return lambda: draws(chosen, "Gumbel noise, exact")


def first_result():
    return zcdp_conversion(0.1, 1e-6)["value"]
