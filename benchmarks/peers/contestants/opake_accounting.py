"""opake-accounting: privacy-loss distributions in Rust.

This file calls its Rust module directly. On some Pythons (3.11.7) the import of the package around it fails after that
module has been loaded.
"""

import contextlib
import importlib

from benchmarks.peers.answers import upper

CLAIM = "as documented: the smallest {} achieving (ε, δ)-DP"


def _rust():
    with contextlib.suppress(TypeError):
        importlib.import_module("opake.accounting")
    return importlib.import_module("opake.api.accounting.core.opake_accounting")


def gaussian_profile(sigma, epsilons):
    rust = _rust()
    law = rust.gaussian_pld(sigma, rust.DiscretizationConfig())
    return upper([law.delta_at(epsilon) for epsilon in epsilons], CLAIM.format("δ"))


def _subsampled(sigma, rate):
    rust = _rust()
    return rust.poisson_pld(rust.gaussian_pld(sigma, rust.DiscretizationConfig()), rate)


def subsampled_gaussian_1000(rate, releases, delta):
    return upper(_subsampled(1.0, rate).self_compose(releases).epsilon_at(delta), CLAIM.format("ε"))


subsampled_gaussian_100000 = subsampled_gaussian_1000


def twenty_kinds(kinds, delta):
    from functools import reduce

    laws = [_subsampled(sigma, rate).self_compose(count) for sigma, rate, count in kinds]
    return upper(reduce(lambda one, other: one.compose(other), laws).epsilon_at(delta), CLAIM.format("ε"))


def first_result():
    return subsampled_gaussian_1000(0.1, 10, 1e-3)["value"]
