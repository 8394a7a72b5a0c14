"""No call of a public function takes longer than about ten CPU seconds, with any family of noise.

The count of evaluations stands for the time, so that the tests do not depend on the machine. Each method of a noise is
counted from outside: its calls and the elements of its answers, at the cost that was measured on one core of an AMD
EPYC (November 2026). A call that counts more than the limit fails at once.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import composed_pairs as of_pairs
import numpy as np
import pytest
from noise_examples import TABLE

from tcdp_sim import exact
from tcdp_sim.accounting import Additive, Ledger, Sampled, tight_rho
from tcdp_sim.exact import Mixture
from tcdp_sim.per_record import AdditiveRelease

WHOLE = os.environ.get("TCDP_SIM_WORK") == "whole"
LIMIT = 10.0  # CPU seconds
PER_CALL = 1e-5  # seconds, with the arithmetic around it
PER_ELEMENT = 1.5e-8  # seconds, with the arithmetic around it
OF_DENSITIES = {"laplace_log_normal": 3e-7, "rounded_sinh_normal": 3e-7, "rounded_sinh_squared": 1e-6}
OF_TAILS = {"discrete_gaussian": 2e-7, "exponential_polylogarithmic": 1.3e-5, "student_t": 3e-7}
OF_QUANTILES = {  # the others take no longer than a tail
    "exponential_polylogarithmic": 4e-5,
    "generalized_gaussian": 2e-6,
    "laplace_log_normal": 3e-4,
    "student_t": 7e-6,
    "uniform_log_normal": 5e-6,
}
COSTS = {
    "logpdf": OF_DENSITIES,
    "pdf": OF_DENSITIES,
    "privacy_loss": OF_DENSITIES,
    "affine_loss": OF_DENSITIES,
    "sf": OF_TAILS,
    "cdf": OF_TAILS,
    "logsf": OF_TAILS,
    "logcdf": OF_TAILS,
    "isf": OF_QUANTILES,
    "ppf": OF_QUANTILES,
    "isf_log": OF_QUANTILES,
}


class Meter:
    """The time that the evaluations of a noise stand for, in seconds. Methods that a method calls are part of it."""

    def __init__(self, patch: pytest.MonkeyPatch, noise: Any) -> None:
        self.seconds, self.inside = 0.0, False
        for name, costs in COSTS.items():
            owner = next((each for each in type(noise).__mro__ if name in vars(each)), None)
            if owner is not None:
                patch.setattr(owner, name, self.counted(vars(owner)[name], costs.get(noise.family, PER_ELEMENT)))

    def counted(self, method: Callable[..., Any], cost: float) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self.inside:
                return method(*args, **kwargs)
            self.inside = True
            try:
                value = method(*args, **kwargs)
            finally:
                self.inside = False
            self.seconds += PER_CALL + max(PER_ELEMENT, cost) * np.size(value)
            if self.seconds > LIMIT:
                pytest.fail(f"more than {LIMIT:g} CPU seconds")
            return value

        return call


def fresh(noise: Any) -> Any:
    """Return an equal noise that no cache knows."""
    return type(noise)(*(getattr(noise, name) for name in noise.__dataclass_fields__))


def two(noise: Any, shift: float) -> tuple[Mixture, Mixture]:
    return tuple(Mixture(noise, (0.0, side * shift), (0.6, 0.4)) for side in (1, -1))  # type: ignore[return-value]


def listed(noise: Any, times: int) -> Ledger:
    return Ledger([(Sampled(Additive(noise), 0.02), times)], "add_remove")


SHIFTS, EPSILONS, DELTAS = (1e-6, 1.0, 50.0, 1e4), (0.0, 0.3, 50.0), (1e-300, 1e-6, 1 - 1e-9)
ORDERS, TIMES = (1 + 1e-9, 1.5, 1e6, np.inf), (1, 100, 10_000)
ALGORITHM, K = ("noisy_max",), (2, 1000, 1e9)
CALLS: dict[str, tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = {  # name -> (call, values of its arguments)
    "hockey_stick": (exact.hockey_stick, (SHIFTS, EPSILONS)),
    "product_profile": (exact.product_profile, (SHIFTS, EPSILONS)),
    "profile_from_losses": (exact.profile_from_losses, (SHIFTS, EPSILONS)),
    "subsampled_hockey_stick": (
        of_pairs.subsampled_hockey_stick,
        (SHIFTS, EPSILONS, (1e-6, 0.4), ("forward", "reverse")),
    ),
    "hockey_stick_between": (lambda n, s, e: of_pairs.hockey_stick_between(*two(n, s), e), (SHIFTS, EPSILONS)),
    "renyi_divergence": (exact.renyi_divergence, (SHIFTS, ORDERS)),
    "subsampled_renyi": (of_pairs.subsampled_renyi, (SHIFTS, ORDERS, (0.4,), ("forward", "reverse"))),
    "renyi_divergence_between": (
        lambda n, s, a: of_pairs.renyi_divergence_between(*two(n, s), a),
        (SHIFTS, ORDERS),
    ),
    "affine_divergence": (exact.affine_divergence, ((0.5,), SHIFTS, ORDERS[:-1])),
    "record_epsilon": (lambda n, s, d: exact.record_epsilon(AdditiveRelease(n), s, d), (SHIFTS, DELTAS)),
    "record_policy": (lambda n, s, w: exact.record_policy(AdditiveRelease(n), s, w), (SHIFTS, (1.5, 1e3, np.inf))),
    "mutual_information": (lambda n, s: exact.mutual_information(n, [0, s, 2 * s]), (SHIFTS,)),
    "max_abs_quantile": (exact.max_abs_quantile, ((1, 1e6, 1e300), (1e-300, 0.5, 1 - 1e-9))),
    "histogram_information": (exact.histogram_information, ((1.0, 1e6), (1.0, 1e6))),
    "top_stays_probability": (exact.top_stays_probability, (([5, 3, 1], [10**9, 10**9 - 1]), (3, 1e9))),
    "selection_failure": (
        lambda n, a, gap, k: exact.selection_failure(a, n, gap, k),
        (ALGORITHM, (0.0, 1.0, 100.0), K),
    ),
    "required_gap": (lambda n, a, k, f: exact.required_gap(a, n, k, f), (ALGORITHM, K, (1e-12, 0.9))),
    "worst_pairs": (lambda n, a, k: exact.worst_renyi(exact.worst_pairs(a, n, k), 2.0), (ALGORITHM, K)),
    "Ledger.epsilon": (lambda n, t, d: listed(n, t).epsilon(d), (TIMES, DELTAS)),
    "Ledger.delta": (lambda n, t, e: listed(n, t).delta(e), (TIMES, EPSILONS)),
    "Ledger.renyi": (lambda n, t, a: listed(n, t).renyi(a), (TIMES, ORDERS)),
    "Ledger.posterior": (lambda n, t, p: listed(n, t).posterior(p, 0.3), (TIMES, (1e-9, 0.01, 0.99))),
    "Ledger.tradeoff": (lambda n, t, a: listed(n, t).tradeoff(a), (TIMES, (1e-9, 0.1, 0.999))),
    "tight_rho": (lambda n, w: tight_rho(Additive(n), w), ((1.5, 1e3, np.inf),)),
}


FORMER = {"record_epsilon-rounded_sinh_squared-9"}  # had no end


def cases() -> Iterator[Any]:
    """Yield a part in which all calls and families occur, or with TCDP_SIM_WORK=whole all of them, for six minutes."""
    for i, (name, (ask, values)) in enumerate(CALLS.items()):
        grid = list(product(*values))
        for j, (family, entry) in enumerate(TABLE.items()):
            for k, arguments in enumerate(grid):
                noise = entry.noises[k % len(entry.noises)]
                stride = max(len(grid) // 3, 1)
                if (k + i + j) % stride:
                    continue
                about = f"{name}-{family}-{k}"
                if WHOLE or about in FORMER or (k < stride and (i + j) % 3 == 0):
                    marks = [pytest.mark.kept] * (about in FORMER)
                    yield pytest.param(ask, noise, arguments, id=about, marks=marks)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("ask", "noise", "arguments"), list(cases()))
def test_a_call_ends_within_its_limit(ask, noise, arguments, monkeypatch):
    meter = Meter(monkeypatch, noise)
    with suppress(ValueError):  # a refusal is an answer
        ask(fresh(noise), *arguments)
    assert meter.seconds < LIMIT


def test_the_meter_counts_what_is_evaluated(monkeypatch):
    noise = TABLE["student_t"].noises[0]
    meter = Meter(monkeypatch, noise)
    noise.sf(np.zeros(1000))
    noise.logpdf(0.0)
    assert meter.seconds == pytest.approx(2 * PER_CALL + 1000 * 3e-7 + PER_ELEMENT)
    meter.seconds = LIMIT
    with pytest.raises(pytest.fail.Exception, match="CPU seconds"):
        noise.sf(0.0)
