"""Google's dp-accounting: privacy-loss distributions, rounded so that losses grow."""

from benchmarks.peers.answers import upper


def gaussian_profile(sigma, epsilons):
    from dp_accounting.pld import privacy_loss_distribution as pld

    return upper(pld.from_gaussian_mechanism(sigma).get_delta_for_epsilon(epsilons))


def subsampled_gaussian_1000(rate, releases, delta):
    from dp_accounting.pld import privacy_loss_distribution as pld

    law = pld.from_gaussian_mechanism(1.0, sampling_prob=rate)
    return upper(law.self_compose(releases).get_epsilon_for_delta(delta))


def subsampled_laplace_1000(rate, releases, delta):
    from dp_accounting.pld import privacy_loss_distribution as pld

    law = pld.from_laplace_mechanism(1.0, sampling_prob=rate)
    return upper(law.self_compose(releases).get_epsilon_for_delta(delta))


subsampled_gaussian_100000 = subsampled_gaussian_1000
subsampled_laplace_100000 = subsampled_laplace_1000


def twenty_kinds(kinds, delta):
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant()
    for sigma, rate, count in kinds:
        accountant.compose(PoissonSampledDpEvent(rate, GaussianDpEvent(sigma)), count)
    return upper(accountant.get_epsilon(delta))


def equal_gaussians(scale, releases, delta):
    from dp_accounting.pld import privacy_loss_distribution as pld

    return upper(pld.from_gaussian_mechanism(scale).self_compose(releases).get_epsilon_for_delta(delta))


def equal_laplaces(scale, releases, delta):
    from dp_accounting.pld import privacy_loss_distribution as pld

    return upper(pld.from_laplace_mechanism(scale).self_compose(releases).get_epsilon_for_delta(delta))


def discrete_gaussians(variances, delta):
    from dp_accounting.pld import privacy_loss_distribution as pld

    total = None
    for variance in variances:
        law = pld.from_discrete_gaussian_mechanism(variance**0.5)
        total = law if total is None else total.compose(law)
    return upper(total.get_epsilon_for_delta(delta))


discrete_gaussians_far = discrete_gaussians


def zcdp_conversion(rho, delta):
    from dp_accounting import ZCDpEvent
    from dp_accounting.rdp import RdpAccountant

    return upper(RdpAccountant().compose(ZCDpEvent(rho)).get_epsilon(delta), "at its default orders")


def tcdp_conversion(rho, omega, delta):
    from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon

    orders = [1 + (omega - 1) * i / 100 for i in range(1, 101)]
    return upper(compute_epsilon(orders, [rho * order for order in orders], delta)[0], "at 100 orders up to ω, by hand")


def best_of_tries(sigma, tries, delta):
    from dp_accounting.dp_event import GaussianDpEvent, RepeatAndSelectDpEvent
    from dp_accounting.rdp import RdpAccountant

    event = RepeatAndSelectDpEvent(GaussianDpEvent(sigma), tries, float("inf"))  # infinity is its name for Poisson
    return upper(RdpAccountant().compose(event).get_epsilon(delta), "Papernot and Steinke's theorem, at default orders")


def first_result():
    from dp_accounting import GaussianDpEvent
    from dp_accounting.rdp import RdpAccountant

    return RdpAccountant().compose(GaussianDpEvent(2.0)).get_epsilon(1e-6)
