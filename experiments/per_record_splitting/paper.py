"""The tables and examples of Finley et al. 2024, computed. Only the numbers that the paper prints are written here."""

from collections.abc import Iterator
from functools import cache
from math import inf, nan, sqrt

import numpy as np
import pandas as pd

from tcdp_sim import exact
from tcdp_sim.experiments.per_record_policy.exact_values import label
from tcdp_sim.experiments.per_record_policy.looseness import NOISES, influence_at
from tcdp_sim.experiments.per_record_splitting.claims import LIMIT, POLICY, Claim, digits
from tcdp_sim.experiments.per_record_splitting.printed_laws import estimators, polylogarithmic, powers
from tcdp_sim.noise import Gaussian
from tcdp_sim.per_record import AdditiveRelease, Log, Release, Root, TransformedRelease, UnitSplitRelease
from tcdp_sim.privacy import ZCDP, PerRecordZCDP, group_of_records

EMPLOYEES = (5.0, 5.0, 10.0, 20.0, 30.0, 10000.0)  # Table 1
SPLIT = UnitSplitRelease(10.0, sqrt(50))  # Example 2.16
FOURTH_ROOT, LOG = TransformedRelease(Root(4), 2.0), TransformedRelease(Log(1.0), 2.0)  # Examples 4.6 and 4.8


@cache
def claims() -> tuple[Claim, ...]:
    """Return all claims, in the paper's order."""
    return (
        *_splitting(),
        *_groups(),
        *_sublinear(),
        *_transformed("Example 4.6", FOURTH_ROOT, ("0.3", "0.3", "0.4", "0.6", "0.7", "12.5")),
        *_transformed("Example 4.8", LOG, ("0.4", "0.4", "0.7", "1.2", "1.5", "10.6")),
        *estimators(),
        *_additive(),
        *powers(),
        *polylogarithmic(),
    )


def table() -> pd.DataFrame:
    """Return one row for each claim: `where`, `claim`, `printed_text`, `computed`, `verdict`, `factor` (a quotient)."""
    return pd.DataFrame([claim.row for claim in claims()])


def _policy(release: Release, influence: float) -> float:
    return float(exact.record_policy(release, influence).estimate)


def _splitting() -> Iterator[Claim]:
    printed = ("1", "1", "1", "4", "9", "1,000,000")
    for i, (value, text) in enumerate(zip(EMPLOYEES, printed), 1):
        what = f"P of establishment {i}, {value:,.0f} employees"
        yield Claim("Example 2.16", f"{what}: by its formula", text, float(SPLIT.policy(value)))
        yield Claim("Example 2.16", f"{what}: exact", text, _policy(SPLIT, value), POLICY)
    ratio, formula = (f(EMPLOYEES[-1]) / f(EMPLOYEES[0]) for f in (lambda t: _policy(SPLIT, t), SPLIT.policy))
    yield Claim("Table 1", "P of establishment 6 over that of 1: by the formula", "1,000,000", float(formula))
    yield Claim("Table 1", "P of establishment 6 over that of 1: exact", "1,000,000", float(ratio))


def _groups() -> Iterator[Claim]:
    """Yield Lemma 2.15 for Gaussian noise, at influences with policies 0.1, 0.4 and 2.5."""
    policies = (0.1, 0.4, 2.5)
    release = AdditiveRelease(Gaussian(1.0))
    influences = [sqrt(2 * rho) for rho in policies]
    by_lemma = group_of_records(PerRecordZCDP(release.policy), influences, "printed")
    rho = by_lemma.rho if isinstance(by_lemma, ZCDP) else nan
    what = "J sum P of a group with P = 0.1, 0.4, 2.5"
    yield Claim("Lemma 2.15", what, digits(rho), _policy(release, sum(influences)), POLICY)


def _sublinear() -> Iterator[Claim]:
    """Yield the growth of the policy when a large influence is doubled. A sublinear policy does not double."""
    for name, transform in (("square root", Root(2)), ("fourth root", Root(4)), ("log", Log(1.0))):
        release = TransformedRelease(transform, 1.0)
        growth = float(release.policy(2e9) / release.policy(1e9))
        yield Claim("Section 3", f"sublinear policy, P(2t)/P(t) below 2: {name}", "2", growth, LIMIT)


def _transformed(where: str, release: TransformedRelease, printed: tuple[str, ...]) -> Iterator[Claim]:
    for i, (value, text) in enumerate(zip(EMPLOYEES, printed), 1):
        yield Claim(where, f"P of establishment {i}, {value:,.0f} employees", text, _policy(release, value))
    total = sum(EMPLOYEES)
    rmse = float(np.sqrt(release.mse(total)))
    fair = AdditiveRelease(Gaussian(rmse))
    ratios = [_policy(release, value) / _policy(fair, value) for value in EMPLOYEES]
    yield Claim(where, f"RMSE of the total, {total:,.0f}", "", rmse)
    yield Claim(where, "P of establishment 6 by Gaussian noise of that RMSE", "", _policy(fair, EMPLOYEES[-1]))
    name = '"significantly smaller" P: the least over that of Gaussian noise'
    yield Claim(where, name, "1", min(ratios), LIMIT)


def _additive() -> Iterator[Claim]:
    gaussian = AdditiveRelease(Gaussian(2.0))
    yield Claim("Section 5", "P of Gaussian noise, t^2/sigma^2 at t = 3, sigma = 2", "2.25", _policy(gaussian, 3.0))
    for noise in NOISES:
        release = AdditiveRelease(noise)
        t, name = influence_at(release, 0.1), label(release)
        largest = float(exact.record_renyi(release, t, inf).estimate)
        zcdp = _policy(release, t)
        yield Claim("Theorem 5.5", f"PRDP policy at P = 0.1: {name}", "0.1", largest, POLICY)
        yield Claim("Theorem 5.5", f"PRzCDP policy at P = 0.1: {name}", digits(0.1 * np.tanh(0.05)), zcdp, POLICY)
