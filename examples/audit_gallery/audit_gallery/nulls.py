"""python -m audit_gallery.nulls: audit true claims again and again, and count how often an audit refutes one.

Every claim is true, and most are exact: the true parameter is the claimed one. So an audit at level 0.95 may refute at
most 5% of them. The seeds are fixed, and the command gives the same numbers again.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from scipy import stats

import tcdp_sim
from tcdp_sim.accounting import Additive, Ledger, Sampled
from tcdp_sim.audits import WeakAudit, answers, records
from tcdp_sim.exact import hockey_stick
from tcdp_sim.noise import DiscreteGaussian, Gaussian
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, Guarantee, PureDP


@dataclass(frozen=True)
class Null:
    """A mechanism with a true claim: its function, neighbours and claim, and whether the claim is exact."""

    mechanism: Callable[..., Any]
    neighbours: Any
    claim: Guarantee
    exact: bool = True


def _laplace(data, rng, trials):
    return data + rng.laplace(0, 1, (trials, len(data)))


def _gaussian(data, rng, trials):
    return data + rng.normal(0, 1, (trials, len(data)))


def _discrete_laplace(data, rng, trials):
    q = np.exp(-1.0)
    return data[0] + rng.geometric(1 - q, trials) - rng.geometric(1 - q, trials)


def _discrete_gaussian(data, rng, trials):
    return data[0] + DiscreteGaussian(2.0).sample(size=trials, rng=rng)


def _response(data, rng, trials):
    return (rng.random(trials) < 0.75) == (data[0] > 0)


def _k_ary_response(data, rng, trials):
    return np.where(rng.random(trials) < 0.5, int(data[0]), (int(data[0]) + rng.integers(1, 6, trials)) % 6)


def _waiting(data, rng, trials):
    return data[0] + rng.exponential(1.0, trials)


def _truncated_laplace(data, rng, trials):
    uniform = rng.random(trials) * (1 - np.exp(-3.0))
    return data[0] - rng.choice([-1.0, 1.0], trials) * np.log1p(-uniform)


def _exponential_mechanism(data, rng, trials):
    return np.argmax(data / 2 + rng.gumbel(size=(trials, len(data))), axis=1)


def _permute_and_flip(data, rng, trials):
    return np.argmax(data / 2 + rng.exponential(size=(trials, len(data))), axis=1)


def _noisy_max(data, rng, trials):
    return np.argmax(data + rng.laplace(0, 2, (trials, len(data))), axis=1)


def _above_threshold(data, rng, trials):
    over = data + rng.laplace(0, 4, (trials, len(data))) >= 1 + rng.laplace(0, 2, (trials, 1))
    return np.where(over.any(axis=1), np.argmax(over, axis=1), len(data))


def _sampled_gaussian(data, rng, trials):
    return data[0] * (rng.random(trials) < 0.1) + rng.normal(0, 1, trials)


def _lognormal_scale(data, rng, trials):
    """Release an answer with Laplace noise of a random scale of at least 1, and the scale."""
    scale = np.maximum(rng.lognormal(0, 1, trials), 1.0)
    return np.stack([data[0] + rng.laplace(0, 1, trials) * scale, scale], axis=1)


def _tilted(data, rng, trials):
    """Release two noisy answers with common noise in a third number, so that no single column tells much."""
    common = rng.normal(0, 20, trials)
    return np.stack([2 * common + data[0] + rng.laplace(0, 1, trials), common], axis=1)


def _count(data, rng, trials):
    return len(data) + rng.laplace(0, 1, trials)


def _report(data, rng):
    """Release a label and a count, with half of the budget each, in a dict."""
    truth = rng.random() < np.exp(0.5) / (1 + np.exp(0.5))
    return {"any": "yes" if truth == (len(data) > 2) else "no", "count": len(data) + rng.laplace(0, 2)}


class _OwnGenerator:
    """A mechanism that draws from its own generator, so that its calls are interleaved."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(1)

    def __call__(self, data, rng, trials):
        return data[0] + self._rng.laplace(0, 1, trials)


def _delta(noise: Any, epsilon: float) -> float:
    return float(hockey_stick(noise, 1.0, epsilon).upper)


def nulls() -> dict[str, Null]:
    """Return the mechanisms by name, with their true claims."""
    one, three, people = answers(1), answers(3), records(["a", "b", "c"])
    vectors = [(np.zeros(5), np.full(5, 0.2))]
    sampled = Ledger([Sampled(Additive(Gaussian(1.0)), 0.1)], "add_remove").delta(0.5).upper
    return {
        "Laplace": Null(_laplace, one, PureDP(1.0)),
        "Laplace, zCDP": Null(_laplace, one, ZCDP(np.exp(-1.0))),
        "Laplace, five numbers": Null(_laplace, vectors, PureDP(1.0)),
        "Gaussian": Null(_gaussian, one, ApproxDP(1.0, _delta(Gaussian(1.0), 1.0))),
        "Gaussian, zCDP": Null(_gaussian, one, ZCDP(0.5)),
        "Gaussian, tCDP": Null(_gaussian, one, TCDP(0.5, 4.0)),
        "Gaussian, Renyi DP": Null(_gaussian, one, RDP(3.0, 1.5)),
        "discrete Laplace": Null(_discrete_laplace, one, PureDP(1.0)),
        "discrete Gaussian": Null(_discrete_gaussian, one, ApproxDP(0.5, _delta(DiscreteGaussian(2.0), 0.5))),
        "randomised response": Null(_response, [(np.zeros(1), np.ones(1))], PureDP(float(np.log(3)))),
        "6-ary response": Null(_k_ary_response, [(np.zeros(1), np.ones(1))], PureDP(float(np.log(5)))),
        "exponential noise": Null(_waiting, one, ApproxDP(1.0, float(-np.expm1(-1.0)))),
        "truncated Laplace": Null(_truncated_laplace, one, ApproxDP(1.0, 0.5 * np.expm1(1.0) / np.expm1(3.0))),
        "exponential mechanism": Null(_exponential_mechanism, three, PureDP(1.0), exact=False),
        "permute and flip": Null(_permute_and_flip, three, PureDP(1.0), exact=False),
        "noisy maximum": Null(_noisy_max, three, PureDP(1.0), exact=False),
        "sparse vector": Null(_above_threshold, three, PureDP(1.0), exact=False),
        "sampled Gaussian": Null(_sampled_gaussian, one, ApproxDP(0.5, sampled)),
        "noise of random scale": Null(_lognormal_scale, one, PureDP(1.0)),
        "common noise": Null(_tilted, one, PureDP(1.0)),
        "count of records": Null(_count, people, PureDP(1.0)),
        "label and count": Null(_report, people, PureDP(1.0)),
        "generator of its own": Null(_OwnGenerator(), one, PureDP(1.0)),
    }


def refutations(null: Null, audits: int, trials: int, level: float) -> int:
    """Return how many of `audits` independent audits of a true claim refute it. How weak they are does not matter."""
    given = {"neighbours": null.neighbours, "claim": null.claim, "trials": trials, "level": level}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakAudit)
        return sum(tcdp_sim.audit(null.mechanism, **given, seed=seed).refuted for seed in range(audits))


def interval(hits: int, total: int) -> tuple[float, float]:
    """Return Clopper and Pearson's 95% confidence interval of a probability."""
    low = stats.beta(hits, total - hits + 1).ppf(0.025) if hits else 0.0
    high = stats.beta(hits + 1, total - hits).ppf(0.975) if hits < total else 1.0
    return float(low), float(high)


def table(counts: dict[str, int], audits: int, level: float) -> str:
    """Return the results as a table in Markdown."""
    lines = ["| mechanism | true claim | exact | refuted |", "| --- | --- | --- | --- |"]
    known = nulls()
    for name, hits in counts.items():
        exact = "yes" if known[name].exact else "no"
        lines.append(f"| {name} | {_short(known[name].claim)} | {exact} | {hits} of {audits} |")
    total, hits = audits * len(counts), sum(counts.values())
    low, high = interval(hits, total)
    lines += ["", f"In all {hits} of {total:,} audits at level {level:g} refute a true claim: {hits / total:.2%}, with"]
    lines += [f"the 95% confidence interval from {low:.2%} to {high:.2%}. At most {1 - level:.2%} are allowed."]
    return "\n".join(lines)


def _short(claim: Guarantee) -> str:
    return str(claim) if len(str(claim)) < 30 else f"{str(claim)[:27]}..."


def main() -> int:
    """Audit the true claims, print the table, and return 1 if they are refuted more often than the level allows."""
    parser = argparse.ArgumentParser(prog="python -m audit_gallery.nulls", description=__doc__)
    parser.add_argument("--audits", type=int, default=50, help="audits of each mechanism")
    parser.add_argument("--trials", type=int, default=2000, help="outputs of each input for the bound")
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--page", type=Path, help="a file for the table")
    options = parser.parse_args()
    counts = {}
    for name, null in track(nulls().items(), "true claims", transient=True):
        counts[name] = refutations(null, options.audits, options.trials, options.level)
    text = table(counts, options.audits, options.level)
    print(text)
    if options.page:
        options.page.write_text(text + "\n", "utf-8")
    low, _ = interval(sum(counts.values()), options.audits * len(counts))
    return int(low > 1 - options.level)


if __name__ == "__main__":
    sys.exit(main())
