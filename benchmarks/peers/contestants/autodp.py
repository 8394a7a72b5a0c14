"""autodp: Rényi divergences as functions, converted at the best order."""

from math import exp, inf

from benchmarks.peers.answers import estimate, upper


def gaussian_profile(sigma, epsilons):
    from autodp.dp_bank import get_logdelta_ana_gaussian

    return estimate([exp(get_logdelta_ana_gaussian(sigma, epsilon)) for epsilon in epsilons], "closed form")


def _subsampled(mechanism, rate):
    from autodp.transformer_zoo import AmplificationBySampling

    return AmplificationBySampling(PoissonSampling=True)(mechanism, rate, improved_bound_flag=True)


def _composed(mechanisms, counts, delta):
    from autodp.transformer_zoo import Composition

    return upper(Composition()(mechanisms, counts).get_approxDP(delta), "by Rényi divergences")


def subsampled_gaussian_1000(rate, releases, delta):
    from autodp.mechanism_zoo import GaussianMechanism

    return _composed([_subsampled(GaussianMechanism(1.0), rate)], [releases], delta)


def subsampled_laplace_1000(rate, releases, delta):
    from autodp.mechanism_zoo import LaplaceMechanism

    return _composed([_subsampled(LaplaceMechanism(1.0), rate)], [releases], delta)


subsampled_gaussian_100000 = subsampled_gaussian_1000
subsampled_laplace_100000 = subsampled_laplace_1000


def twenty_kinds(kinds, delta):
    from autodp.mechanism_zoo import GaussianMechanism

    mechanisms = [
        _subsampled(GaussianMechanism(sigma, name=f"gaussian{i}"), q) for i, (sigma, q, _) in enumerate(kinds)
    ]
    return _composed(mechanisms, [n for _, _, n in kinds], delta)


def zcdp_conversion(rho, delta):
    from autodp.mechanism_zoo import zCDP_Mechanism

    return upper(zCDP_Mechanism(rho=rho, xi=0).get_approxDP(delta))


def tcdp_conversion(rho, omega, delta):
    from autodp.converter import rdp_to_approxdp

    found = rdp_to_approxdp(lambda order: rho * order if order <= omega else inf)(delta)
    return upper(found, "infinite beyond ω, by hand")


def first_result():
    return zcdp_conversion(0.1, 1e-6)["value"]
