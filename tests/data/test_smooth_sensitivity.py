"""Smooth sensitivity against its definition over every data set of a small domain, and against the printed formulas."""

from itertools import product

import numpy as np
import pytest

from tcdp_sim.data.smooth_sensitivity import robust_statistic, smooth_sensitivity

DOMAIN = (0.0, 1.0, 4.0, 9.0)
STATISTICS = ("median", ("quantile", 0.3), ("trimmed_mean", 1), ("trimmed_mean", 0))


def value(records, statistic):
    """By hand, with Python's sort."""
    x, n = sorted(records), len(records)
    if statistic == "median":
        return x[(n + 1) // 2 - 1]
    name, parameter = statistic
    if name == "quantile":
        return x[-int(-parameter * n // 1) - 1]
    return sum(x[parameter : n - parameter]) / (n - 2 * parameter)


@pytest.fixture(scope="module")
def brute_force():
    """Over all 4^5 data sets: their distances, and each one's local sensitivity."""
    sets = np.array(list(product(range(4), repeat=5)))
    distances = (sets[:, None, :] != sets[None, :, :]).sum(axis=2)
    records = np.array(DOMAIN)[sets]
    local = {}
    for statistic in STATISTICS:
        f = np.array([value(x, statistic) for x in records])
        gaps = np.abs(f[:, None] - f[None, :])
        local[statistic] = np.where(distances == 1, gaps, 0).max(axis=1)
    return records, distances, local


@pytest.mark.parametrize("smoothing", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_against_the_definition(brute_force, statistic, smoothing):
    """Distances between multisets are those of the orderings that agree most; all orderings are among the sets."""
    records, distances, local = brute_force
    exact = (np.exp(-smoothing * distances) * local[statistic]).max(axis=1)
    for i in range(0, len(records), 13):
        here = smooth_sensitivity(records[i], (0, 9), smoothing, statistic)
        assert here == pytest.approx(exact[i], rel=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_it_is_smooth_and_above_the_local_sensitivity(brute_force, statistic):
    records, distances, local = brute_force
    rows = range(0, len(records), 101)
    s = np.array([smooth_sensitivity(records[i], (0, 9), 0.2, statistic) for i in rows])
    ratio = np.abs(np.log(s[:, None] / s[None, :]))
    assert (ratio <= 0.2 * distances[np.ix_(rows, rows)] + 1e-12).all()
    assert (s >= local[statistic][list(rows)] - 1e-12).all()


def quadratic(records, bounds, t, low, high, width):
    """The printed formulas: max over k and l, with ranks beyond the data at the bounds."""
    n = len(records)
    x = dict(enumerate(sorted(records), 1))

    def at(i):
        return bounds[0] if i < 1 else bounds[1] if i > n else x[i]

    best = 0.0
    for k in range(2 * n + 2):
        gaps = [at(high + 1 + k - each) - at(low - each) for each in range(k + 2)]
        best = max(best, np.exp(-k * t) * max(gaps))
    return best / width


@pytest.mark.parametrize("seed", range(6))
def test_against_the_quadratic_formula(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    kinds = [rng.normal(size=n), np.round(rng.normal(size=n)), rng.standard_t(1, size=n).clip(-50, 50), np.zeros(n)]
    for records in kinds:
        bounds = (records.min() - 1, records.max() + rng.random() * 20)
        for t in (0.01, 0.1, 1.0):
            m, cut = (n + 1) // 2, int(rng.integers(0, (n + 1) // 2))
            expected = quadratic(records, bounds, t, m, m, 1)
            assert smooth_sensitivity(records, bounds, t) == pytest.approx(expected, rel=1e-12)
            expected = quadratic(records, bounds, t, cut + 1, n - cut, n - 2 * cut)
            assert smooth_sensitivity(records, bounds, t, ("trimmed_mean", cut)) == pytest.approx(expected, rel=1e-12)


def test_one_record_and_the_mean():
    """One record may be moved by 7; by 10 once it is another. A mean may always be moved by its global sensitivity."""
    assert smooth_sensitivity([3.0], (0, 10), 0.1) == pytest.approx(10 * np.exp(-0.1), rel=1e-12)
    assert smooth_sensitivity([3.0], (0, 10), 2.0) == pytest.approx(7, rel=1e-12)
    assert smooth_sensitivity([0.0, 4.0, 10.0], (0, 10), 0.1, ("trimmed_mean", 0)) == pytest.approx(10 / 3, rel=1e-12)


def test_a_million_records():
    """Evenly spaced: (1 + k) e^(-k t) is largest at k = 1 / t - 1."""
    exact = 100 * np.exp(-99 / 100) / 10**6
    assert smooth_sensitivity(np.arange(10**6) / 10**6, (0, 1), 0.01) == pytest.approx(exact, rel=1e-9)


def test_ends_of_the_domain_that_are_far_away():
    """The median, rank 51 of 101 records at 0 or 1, is at the far bound once 51 records are moved: after 50 of them."""
    records = np.repeat([0.0, 1.0], [1, 100])
    assert smooth_sensitivity(records, (-1e12, 2.0), 0.3) == pytest.approx((1 + 1e12) * np.exp(-0.3 * 50), rel=1e-9)
    assert smooth_sensitivity(records, (0.0, 1e12), 0.3) == pytest.approx(1e12 * np.exp(-0.3 * 50), rel=1e-9)


def test_corners_of_records_bounds_and_smoothing():
    """Records at a bound, all equal ones, smoothing of almost nothing and beyond all data: positive floats."""
    for records in ([0.0], [1.0], [0.5] * 1000, [0.0, 1.0], [0.0] * 5):
        for statistic in ("median", ("quantile", 0.999), ("trimmed_mean", 0)):
            values = [smooth_sensitivity(records, (0, 1), t, statistic) for t in (1e-300, 1e-9, 0.1, 1e3, 1e308)]
            assert (np.diff(values) <= 0).all()
            width = len(records) if "trimmed_mean" in statistic else 1
            assert values[0] == pytest.approx(1 / width, rel=1e-12)
            assert values[-1] >= 1e-300


def test_many_equal_records_leave_little():
    records = np.repeat([0.0, 1.0, 2.0], [100, 1001, 100])
    assert smooth_sensitivity(records, (0, 2), 0.1) == pytest.approx(np.exp(-50.0), rel=1e-12)
    assert smooth_sensitivity(np.ones(10**5), (0, 2), 0.1) == 1e-300


@pytest.mark.parametrize(
    ("records", "bounds", "smoothing", "statistic"),
    [
        ([], (0, 1), 0.1, "median"),
        ([2.0], (0, 1), 0.1, "median"),
        ([np.nan], (0, 1), 0.1, "median"),
        ([0.5], (1, 0), 0.1, "median"),
        ([0.5], (0, 1), 0.0, "median"),
        ([0.5], (0, 1), 0.1, "mode"),
        ([0.5], (0, 1), 0.1, ("quantile", 1.0)),
        ([0.5, 0.6], (0, 1), 0.1, ("trimmed_mean", 1)),
        ([0.5, 0.6, 0.7], (0, 1), 0.1, ("trimmed_mean", 0.5)),
        ([0.5, np.nan], (0, 1), 0.1, "median"),
        ([np.inf], (0, 1), 0.1, "median"),
        ([0.5], (0, np.inf), 0.1, "median"),
        ([0.5], (-1e308, 1e308), 0.1, "median"),
        ([0.5], (0, 1, 2), 0.1, "median"),
        ([0.5], 1, 0.1, "median"),
        ([0.5], (0, 1), np.nan, "median"),
        ([0.5], (0, 1), 0.1, 3),
        ([0.5], (0, 1), 0.1, ("quantile", "a")),
        ([0.5], (0, 1), 0.1, ("trimmed_mean", np.nan)),
        ([0.5], (0, 1), 0.1, "trimmed_mean"),
        ([0.5], (0, 1), 0.1, "quantile"),
        ([0.5], (0, 1), 0.1, ("median", 0.7)),
    ],
)
def test_mistakes_are_one_line(records, bounds, smoothing, statistic):
    with pytest.raises(ValueError, match="valid"):
        smooth_sensitivity(records, bounds, smoothing, statistic)


def test_values_of_the_statistics():
    records = [5.0, 1.0, 2.0, 9.0]
    assert [robust_statistic(records, s) for s in ("median", ("quantile", 0.9), ("trimmed_mean", 1))] == [2.0, 9.0, 3.5]


@pytest.mark.parametrize("records", [[], [np.nan, 1.0]])
def test_no_statistic_of_nothing(records):
    with pytest.raises(ValueError, match="valid: one number or more"):
        robust_statistic(records)
