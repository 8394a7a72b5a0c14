"""The epsilons of training runs: against dp_accounting, closed forms, and the ledgers of each sampler."""

import json
from math import exp, sqrt

import dp_accounting as google
import pytest
from dp_accounting.pld import PLDAccountant
from scipy import optimize, stats

from tcdp_sim.accounting import Additive, Ledger, Sampled, Shuffled, training_noise, training_report
from tcdp_sim.accounting.training import SAMPLERS
from tcdp_sim.calibration import calibrate_releases
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ApproxDP

RUN = {"sigma": 0.8, "records": 60_000, "batch": 60, "epochs": 5, "delta": 1e-6}


def delta_of_known_order(sigma, epochs, epsilon):
    """The closed profile of Gaussian noise with m = sqrt(epochs) / sigma."""
    m = sqrt(epochs) / sigma
    return stats.norm.cdf(m / 2 - epsilon / m) - exp(epsilon) * stats.norm.cdf(-m / 2 - epsilon / m)


def known_order(sigma, epochs, delta):
    return optimize.brentq(lambda e: delta_of_known_order(sigma, epochs, e) - delta, 0, 60, xtol=1e-10)


def epsilons(report):
    return {row.relation: row.epsilon for row in report.rows if row.epsilon is not None}


@pytest.mark.parametrize(
    ("sigma", "steps", "epochs", "each", "once"),
    [(0.8, 1000, 5, 9.84, 16.6107), (1.0, 500, 10, 6.77, 19.4237), (0.6, 1000, 1, 8.83, 8.8334)],
)
def test_the_three_numbers(sigma, steps, epochs, each, once):
    """The least epsilons of an independent prototype, to its printed digits; the printed one of dp_accounting."""
    run = {"sigma": sigma, "records": 60 * steps, "batch": 60, "epochs": epochs, "delta": 1e-6}
    event = google.PoissonSampledDpEvent(1 / steps, google.GaussianDpEvent(sigma))
    accountant = PLDAccountant().compose(google.SelfComposedDpEvent(event, steps * epochs))
    for sampler, least in (("shuffle_each_epoch", each), ("shuffle_once", once)):
        report = training_report(sampler, **run)
        assert report.printed == pytest.approx(accountant.get_epsilon(1e-6), rel=5e-3)
        found = epsilons(report)["zero_out"]
        assert found.lower == pytest.approx(least, rel=1e-3)
        assert found.upper == pytest.approx(known_order(sigma, epochs, 1e-6), rel=2e-4)
        assert found.lower > 4 * report.printed


@pytest.mark.parametrize("sampler", [name for name in SAMPLERS if name != "poisson_cut"])
def test_rows_are_ledgers(sampler):
    """Every relation has a row: a bracket, or a reason why there is none."""
    report = training_report(sampler, **RUN)
    assert [row.relation for row in report.rows] == ["add_remove", "zero_out", "substitute"]
    assert all(row.reason for row in report.rows)
    assert epsilons(report)
    for found in epsilons(report).values():
        assert 0 < found.lower <= found.upper
    if sampler == "poisson":
        assert report.printed == epsilons(report)["add_remove"].upper == epsilons(report)["zero_out"].upper
    if sampler == "fixed_size":
        step = Sampled(Additive(Gaussian(0.8), 2.0), 0.001, "without_replacement")
        assert epsilons(report)["substitute"] == Ledger([(step, 5000)], "substitute").epsilon(1e-6)


def test_a_limit_on_samples():
    report = training_report("poisson_cut", **RUN, most=120)
    ledger = Ledger([(Sampled(Additive(Gaussian(0.8)), 0.001, records=60_000, most=120), 5000)], "zero_out")
    assert epsilons(report) == {"zero_out": ledger.epsilon(1e-6)}


@pytest.mark.parametrize(
    ("records", "batch", "drop_last", "steps"), [(100, 30, False, 4), (100, 30, True, 3), (10, 10, False, 1)]
)
def test_steps_of_an_epoch(records, batch, drop_last, steps):
    report = training_report("shuffle_once", 1.0, records, batch, 2, 1e-5, drop_last=drop_last)
    assert report.about["steps"] == steps
    assert epsilons(report)["zero_out"] == Ledger([Shuffled(1.0, steps, 2, "once")], "zero_out").epsilon(1e-5)


def test_the_report_as_text_and_as_plain_data():
    report = training_report("shuffle_each_epoch", **RUN)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["printed"] == report.printed
    assert [row["least"] is None for row in data["epsilons"]] == [True, False, False]
    text = str(report)
    assert "60,000 records" in text
    rows = {line.split()[0]: line.split()[1:3] for line in text.splitlines()}
    assert rows["zero_out"] == ["9.841", "16.62"]
    assert rows["add_remove"] == ["-", "-"]
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("release", [Shuffled(1.0, 100, 3), Shuffled(1.0, 100, 3, "once"), Shuffled(1.0, 7)])
def test_the_least_noise_for_a_run(release):
    """By the closed profile of a known order, which is the proved end: delta(4) is 1e-6."""
    found = calibrate_releases([release], ApproxDP(4.0, 1e-6), relation="zero_out")
    ((noisy, _),) = found.ledger.entries
    assert 0.999e-6 <= delta_of_known_order(noisy.sigma, noisy.epochs, 4.0) <= 1e-6 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sampler": "shuffle"}, "sampler = 'shuffle' is not known"),
        ({"sigma": -1}, "sigma"),
        ({"batch": 10**6}, "batch"),
        ({"epochs": 0}, "epochs"),
        ({"delta": 1.5}, "delta"),
        ({"most": 3}, "most = 3 is not valid with sampler"),
        ({"sampler": "poisson_cut"}, "most = None is not valid"),
    ],
)
def test_mistakes_are_one_line(given, told):
    with pytest.raises(ValueError, match=told):
        training_report(**({"sampler": "poisson"} | RUN | given))


@pytest.mark.parametrize(
    ("sampler", "relation", "more"),
    [
        ("poisson", "add_remove", {}),
        ("same_bins", "zero_out", {"drop_last": True}),
        ("shuffle_once", "substitute", {}),
    ],
)
def test_the_noise_of_a_run_is_the_least_one(sampler, relation, more):
    """At the noise found the report's upper end is the epsilon asked for, and just above it with less noise."""
    run = {"records": 1050, "batch": 100, "epochs": 2, "delta": 1e-5, **more}
    sigma = training_noise(sampler, 2.0, relation=relation, **run)
    for factor, low, high in ((1.0, 1.99, 2.0 + 1e-3), (0.999, 2.0, 2.02)):
        rows = training_report(sampler, factor * sigma, **run).rows
        assert low <= next(row.epsilon.upper for row in rows if row.relation == relation) <= high


def test_the_noise_of_shuffled_batches_is_that_of_the_normal_law():
    """mu = sqrt(epochs) / sigma of Gaussian DP."""
    sigma = training_noise("shuffle_each_epoch", 1.0, 1000, 10, 4, 1e-5)
    mu = 2 / sigma
    delta = stats.norm.sf(1 / mu - mu / 2) - exp(1) * stats.norm.sf(1 / mu + mu / 2)
    assert 1e-5 * (1 - 1e-3) <= delta <= 1e-5 * (1 + 1e-9)


def test_no_noise_without_a_proved_pair():
    with pytest.raises(ValueError, match="sampler = 'fixed_size' has no answer under relation = 'zero_out': the size"):
        training_noise("fixed_size", 1.0, 1000, 10, 4, 1e-5)


class Accountant:
    """As opacus has it."""

    def __init__(self):
        self.history = [(0.8, 0.001, 2500), (0.8, 0.001, 2500)]


@pytest.mark.parametrize("counted", [
    Accountant(),
    Accountant().history,
    google.SelfComposedDpEvent(google.PoissonSampledDpEvent(0.001, google.GaussianDpEvent(0.8)), 5000),
], ids=["accountant", "history", "event"])  # fmt: skip
def test_what_a_library_has_counted_is_the_same_run(counted):
    assert training_report("shuffle_once", counted, records=60_000, delta=1e-6) == training_report(
        "shuffle_once", **RUN
    )


def test_the_rate_of_opacus_is_one_over_the_number_of_batches():
    """60,000 records in batches of 64 are 938 batches; the last one is short."""
    report = training_report("shuffle_once", [(1.0, 1 / 938, 3 * 938)], records=60_000, delta=1e-5)
    assert [report.about[key] for key in ("batch", "epochs", "steps")] == [64, 3, 938]


@pytest.mark.parametrize(("counted", "told"), [
    ([(0.8, 0.001, 2500), (0.9, 0.001, 2500)], "what was counted has different steps"),
    ([(0.8, 0.001, 5001)], "5,001 steps are no whole epochs of 1,000 steps"),
    ([(0.8, 0.00123, 5000)], "a batch has 73.8 records"),
    (google.GaussianDpEvent(1.0), "what was counted has Additive"),
    ([], "what was counted has no steps"),
    ({}, "has no release"),
])  # fmt: skip
def test_what_is_no_such_run_is_refused(counted, told):
    with pytest.raises(ValueError, match=told):
        training_report("shuffle_once", counted, records=60_000, delta=1e-6)
    with pytest.raises(ValueError, match="batch and epochs follow from what the library has counted"):
        training_report("shuffle_once", counted, records=60_000, batch=60, delta=1e-6)


def test_a_run_of_fixed_size_has_all_steps_of_all_epochs():
    (row,) = [row for row in training_report("fixed_size", 2.0, 1000, 20, 3, 1e-5).rows if row.epsilon]
    step = Sampled(Additive(Gaussian(2.0), 2.0), 0.02, "without_replacement")
    assert row.epsilon == Ledger([(step, 3 * 50)], "substitute").epsilon(1e-5)
