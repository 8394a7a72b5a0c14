"""Microsoft's prv-accountant: privacy random variables on a grid, with a proved error."""

from benchmarks.peers.answers import bracket

HALF_WIDTH = {1000: 1.2e-3, 100_000: 0.1}  # half the bracket's width, by number of releases; finer ones take minutes
DELTA_ERROR = 1e-3  # error of delta, as its documentation advises


def _epsilon(prvs, counts, delta, half):
    from prv_accountant import PRVAccountant

    accountant = PRVAccountant(prvs=prvs, max_self_compositions=counts, eps_error=half, delta_error=DELTA_ERROR * delta)
    low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=counts)
    return bracket(low, high)


def subsampled_gaussian_1000(rate, releases, delta):
    from prv_accountant import PoissonSubsampledGaussianMechanism

    prv = PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=1.0)
    return _epsilon([prv], [releases], delta, HALF_WIDTH.get(releases, 0.1))


subsampled_gaussian_100000 = subsampled_gaussian_1000


def twenty_kinds(kinds, delta):
    from prv_accountant import PoissonSubsampledGaussianMechanism

    prvs = [PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=s) for s, q, _ in kinds]
    return _epsilon(prvs, [n for _, _, n in kinds], delta, 0.02 if len(kinds) == 20 else 0.1)


def first_result():
    return subsampled_gaussian_1000(0.1, 10, 1e-3)["high"]
