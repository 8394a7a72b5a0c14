"""riskcal: trade-off curves and risks, by dp-accounting's privacy-loss distributions; epsilon is its by-product."""

from benchmarks.peers.answers import upper


def subsampled_gaussian_1000(rate, releases, delta):
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [(1.0, rate, releases)]
    return upper(accountant.get_epsilon(delta=delta))


subsampled_gaussian_100000 = subsampled_gaussian_1000


def twenty_kinds(kinds, delta):
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [tuple(kind) for kind in kinds]
    return upper(accountant.get_epsilon(delta=delta))


def first_result():
    return subsampled_gaussian_1000(0.1, 10, 1e-3)["value"]
