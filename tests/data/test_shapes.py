import mpmath
import numpy as np
import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.data.shapes import SHAPES, harmonic, one_bin, one_heavy, uniform, zipf


def dealt(n, bins):
    """n records dealt like cards to the bins: the evenest spread, by doing it."""
    counts = [0] * bins
    for record in range(n):
        counts[record % bins] += 1
    return [count for count in counts if count]


def largest_remainder(n, k, exponent):
    """The apportionment of n to k bins in 40 digits, bin by bin."""
    with mpmath.workdps(40):
        weights = [mpmath.mpf(j) ** -mpmath.mpf(exponent) for j in range(1, k + 1)]
        total = mpmath.fsum(weights)
        quotas = [n * weight / total for weight in weights]
        counts = [int(mpmath.floor(quota + mpmath.mpf(10) ** -30)) for quota in quotas]
        order = sorted(range(k), key=lambda j: (-round(float(quotas[j] - counts[j]), 12), j))
    for j in order[: n - sum(counts)]:
        counts[j] += 1
    return [count for count in counts if count]


@pytest.mark.parametrize("n", [0, 1, 7, 100, 101])
@pytest.mark.parametrize("k", [1, 2, 9.7, 100, 1000])
def test_uniform_deals_the_records(n, k):
    assert uniform(n, k).tolist() == dealt(n, int(k))


@pytest.mark.parametrize("exponent", [0, 0.3, 1, 1.0001, 2, 7.5, 100])
@pytest.mark.parametrize("k", [1, 2, 3, 40, 1500])
@pytest.mark.parametrize("n", [0, 1, 6, 1000, 123_457])
def test_zipf_is_the_largest_remainder_apportionment(n, k, exponent):
    assert zipf(n, k, exponent).tolist() == largest_remainder(n, k, exponent)


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 1 + 1e-9, 1.5, 3])
@pytest.mark.parametrize("k", [1001, 4000.8, 1e12, 1e300])
def test_zipf_on_domains_too_large_to_list(k, exponent):
    n = 10_000
    counts = zipf(n, k, exponent)
    assert counts.sum() == n
    assert (np.diff(counts) <= 0).all()
    assert counts[-1] >= 1
    assert counts.size <= min(n, k)
    with mpmath.workdps(340):
        total = exact_harmonic(int(k), exponent)
        weights = [mpmath.mpf(j) ** -mpmath.mpf(exponent) for j in range(1, min(20, counts.size) + 1)]
        quotas = np.array([float(n * weight / total) for weight in weights])
    shares = counts[: quotas.size]
    assert ((shares >= np.floor(quotas + 1e-9)) & (shares <= np.floor(quotas) + 1)).all()


def exact_harmonic(k, exponent):
    if exponent == 1:
        return mpmath.harmonic(k)
    if exponent == 0:
        return mpmath.mpf(k)
    if k <= 5000:
        return mpmath.fsum(mpmath.mpf(j) ** -mpmath.mpf(exponent) for j in range(1, k + 1))
    # zeta(s) - zeta(s, k + 1), the latter by the first terms of its asymptotic series: k is huge
    s, k = mpmath.mpf(exponent), mpmath.mpf(k)
    return mpmath.zeta(s) + k ** (1 - s) / (1 - s) + k**-s / 2 - s / 12 * k ** (-s - 1)


@pytest.mark.parametrize("exponent", [0, 0.5, 0.999999, 1, 1 + 1e-9, 1.5, 3, 30, 100])
@pytest.mark.parametrize("k", [1, 2, 1000, 1001, 1002, 5000, 10**9, int(1e300)])
def test_normaliser_against_forty_digits(k, exponent):
    with mpmath.workdps(340 if k > 10**20 else 40):
        expected = exact_harmonic(k, exponent)
        error = abs(mpmath.mpf(harmonic(k, exponent)) / expected - 1)
    assert error < (1e-12 if expected > 1e100 else 2e-14)


@pytest.mark.parametrize("exponent", [0, 0.2, 1, 2.3])
@pytest.mark.parametrize("k", [1, 3, 977, 100_003])
def test_zipf_keeps_every_record_of_the_largest_n(k, exponent):
    assert int(zipf(10**12, k, exponent).sum()) == 10**12


def test_true_ties_go_to_the_first_bin():
    # s = 0, k = 3: all three remainders of n = 7 are 1/3.
    assert zipf(7, 3, 0).tolist() == [3, 2, 2]
    # s = 1, k = 2: quotas 2n/3 and n/3 are whole, and rounding must not move a record.
    assert zipf(3 * 10**11, 2, 1).tolist() == [2 * 10**11, 10**11]


@pytest.mark.parametrize("fraction", [0, 0.25, 0.5, 0.9, 1])
@pytest.mark.parametrize(("n", "k"), [(0, 1), (0, 10), (10, 2), (11, 4.5), (1000, 10), (1000, 1e300)])
def test_one_heavy_deals_the_rest(n, k, fraction):
    heavy = round(fraction * n)
    rest = dealt(n - heavy, min(int(k), n + 2) - 1) if n - heavy else []
    assert one_heavy(n, k, fraction).tolist() == sorted(rest + [heavy] * (heavy > 0), reverse=True)


def test_one_heavy_needs_room_for_the_rest():
    assert one_heavy(10, 1, 1.0).tolist() == [10]
    with pytest.raises(UserError, match=r"k = 1: 5 records have no bin.*k >= 2"):
        one_heavy(10, 1.9, 0.5)


def test_one_bin_holds_all_records():
    assert one_bin(1000, 1e300).tolist() == [1000]
    assert one_bin(0, 3).tolist() == []


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_return_int64_for_no_records_too(name):
    own = {"zipf": [1.0], "one_heavy": [0.5]}.get(name, [])
    for n in (0, 5):
        counts = SHAPES[name](n, 7, *own)
        assert counts.dtype == np.int64
        assert counts.sum() == n


@pytest.mark.parametrize(
    "call",
    [
        lambda: uniform(10**12, 1e300),
        lambda: uniform(10**12, 1e8),
        lambda: zipf(10**12, 1e300, 1.0),
        lambda: zipf(10**12, 1e9, 0.1),
        lambda: one_heavy(10**9, 1e300, 0.5),
    ],
)
def test_too_many_occupied_bins_are_refused_before_they_are_made(call):
    with pytest.raises(UserError, match=r"occupy about .* bins; valid: at most 10,000,000") as caught:
        call()
    assert "\n" not in str(caught.value)


def test_ten_million_occupied_bins_are_allowed():
    assert zipf(10**7, 1e300, 0.5).size == 10**7
