"""IBM's diffprivlib: mechanisms that return one number at a time."""

from benchmarks.peers.answers import draws, estimate

SHARE = 0.02  # share of the requested numbers that is drawn


def gaussian_draws(sigma, count):
    from diffprivlib.mechanisms import GaussianAnalytic

    mechanism = GaussianAnalytic(epsilon=1.0, delta=1e-6, sensitivity=1.0)
    mechanism._scale = sigma
    sample = [mechanism.randomise(0.0) for _ in range(max(int(SHARE * count), 1))]
    return lambda: draws(sample, "continuous, in floating point, made safe against attacks on its bits; σ set by hand")


def selections(epsilon, candidates, count):
    from diffprivlib.mechanisms import Exponential

    mechanism = Exponential(epsilon=epsilon, sensitivity=1.0, utility=[float(score) for score in range(candidates)])
    chosen = [mechanism.randomise() for _ in range(max(int(SHARE * count), 1))]
    return lambda: draws(chosen, "probabilities in floating point")


def first_result():
    from diffprivlib.mechanisms import Laplace

    return estimate(Laplace(epsilon=1.0, sensitivity=1.0).randomise(0.0))
