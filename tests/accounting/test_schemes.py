"""Ledgers of sampled releases against the other method of `composed_epsilon`, for every scheme of sampling."""

import composed_pairs as of_pairs
import pytest
from composed_pairs import composed_epsilon, composed_profile, dominating_pairs

from tcdp_sim.accounting import Additive, Ledger, Sampled
from tcdp_sim.noise import Gaussian, Laplace, SinhNormal, TruncatedLaplace

SCHEMES = [
    ("poisson", "add_remove", None),
    ("hybrid", "add_remove", 500),
    ("poisson_substitution", "substitute", None),
    ("without_replacement", "substitute", None),
    ("with_replacement", "substitute", 500),
]


@pytest.mark.parametrize(("scheme", "relation", "records"), SCHEMES)
@pytest.mark.parametrize("noise", [Gaussian(1.2), Laplace(1.5), SinhNormal(1.0, 3.0), TruncatedLaplace(1.0, 12.0)])
def test_both_engines_agree(scheme, relation, records, noise, monkeypatch):
    monkeypatch.setattr(of_pairs, "_law", lambda pair: None)  # not the method of ledgers
    rate, times, delta = 0.05, 12, 1e-4
    if records is not None and isinstance(noise, SinhNormal):
        records = 20  # few labels, because this noise is slow
    ledger = Ledger([(Sampled(Additive(noise), rate, scheme, records), times)], relation)
    pairs = dominating_pairs(noise, 1.0, rate, scheme, records)
    ours, theirs = ledger.epsilon(delta), composed_epsilon(pairs, times, delta)
    assert ours.lower <= theirs.upper
    assert theirs.lower <= ours.upper
    assert ours.upper - ours.lower <= 1e-4 * ours.upper + 1e-9
    ours, theirs = ledger.delta(0.3), composed_profile(pairs, times, 0.3)
    assert ours.lower <= theirs.upper
    assert theirs.lower <= ours.upper
    assert ours.upper - ours.lower <= 1e-3 * ours.upper
