"""What holds for every noise of the registry, on the examples of noise_examples.py."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from noise_examples import ALL, EXAMPLES, PROBABILITIES, TABLE, points, stacked
from scipy.integrate import quad

from tcdp_sim.noise import FAMILIES, Noise

OF_X = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
OF_P = ("ppf", "isf")
every = pytest.mark.parametrize("noise", ALL, ids=repr)
each_family = pytest.mark.parametrize("family", EXAMPLES)


def test_every_family_has_an_entry_in_the_table():
    assert set(TABLE) == set(FAMILIES)
    for family, entry in TABLE.items():
        assert len(set(entry.noises)) >= 2
        assert {type(noise) for noise in entry.noises} == {FAMILIES[family]}
        assert not entry.apart or (Path(__file__).parent / entry.apart).is_file()


def test_registry_names_are_the_families():
    assert all(name == noise.family and issubclass(noise, Noise) for name, noise in FAMILIES.items())


@every
def test_distribution_functions_are_monotone(noise):
    x = points(noise)
    for method in ("cdf", "logcdf", "ppf"):
        values = getattr(noise, method)(PROBABILITIES if method == "ppf" else x)
        assert all(low <= high for low, high in pairwise(values)), method
    for method in ("sf", "logsf", "isf"):
        values = getattr(noise, method)(PROBABILITIES if method == "isf" else x)
        assert all(low >= high for low, high in pairwise(values)), method
    assert noise.cdf(x[-2]) > noise.cdf(0.0) > noise.cdf(x[1])


@every
def test_cdf_and_sf_are_complements(noise):
    x = points(noise)
    np.testing.assert_allclose(noise.cdf(x) + noise.sf(x), 1, rtol=1e-15)


@every
def test_a_density_is_smooth_where_no_kink_is_named(noise):
    """At the centre its slope jumps from s to -s, and is zero without a kink; the ends of a support are named."""
    h = 1e-6 * noise.isf(0.25)
    slope = (noise.logpdf(h) - noise.logpdf(0.0)) / h * noise.isf(0.25)
    assert abs(slope) < 1e-4 or 0 in noise.kinks
    ends = noise.isf(0.0) * np.array([-1, 1])
    assert set(ends[np.isfinite(ends)]) | set(noise.steps) <= set(noise.kinks)


@every
def test_symmetry_is_exact(noise):
    x = points(noise)
    np.testing.assert_array_equal(noise.pdf(x), noise.pdf(-x))
    np.testing.assert_array_equal(noise.logpdf(x), noise.logpdf(-x))
    np.testing.assert_array_equal(noise.cdf(x), noise.sf(-x))
    np.testing.assert_array_equal(noise.logcdf(x), noise.logsf(-x))
    np.testing.assert_array_equal(noise.ppf(PROBABILITIES), -noise.isf(PROBABILITIES))
    assert noise.mean() == 0
    assert noise.sf(0.0) == noise.cdf(0.0) == 0.5
    assert noise.isf(0.5) == noise.ppf(0.5) == 0


@every
def test_logs_are_the_logs(noise):
    """exp makes the absolute error of the log, a few times half an ulp of 700, a relative one."""
    x = points(noise)
    for method in ("pdf", "cdf", "sf"):
        values, logs = getattr(noise, method)(x), getattr(noise, "log" + method)(x)
        seen = values > 1e-300
        np.testing.assert_allclose(np.exp(logs[seen]), values[seen], rtol=2e-12)
        assert np.all(logs[~seen] < np.log(1.1e-300))


@every
def test_quantiles_invert_the_tails(noise):
    """p lies between the tails a few ulp on either side of its quantile."""
    x = noise.isf(PROBABILITIES)
    ulps = 8 * np.spacing(np.abs(x))
    assert np.all(noise.sf(x - ulps) >= PROBABILITIES * (1 - 1e-12))
    assert np.all(noise.sf(x + ulps) <= PROBABILITIES * (1 + 1e-12))


@every
def test_density_integrates_to_the_distribution(noise):
    x = np.concatenate([[0], noise.isf(np.array([0.49, 0.4, 0.2, 0.05, 1e-3, 1e-6, 1e-10]))])
    for low, high in pairwise(x):
        mass, _ = quad(noise.pdf, low, high, epsabs=0, epsrel=1e-11, limit=200)
        assert mass == pytest.approx(noise.sf(low) - noise.sf(high), rel=1e-10)


@every
def test_variance_is_the_second_moment(noise):
    cuts = np.concatenate([[0], noise.isf(np.array([0.4, 0.2, 0.05, 1e-3, 1e-6, 1e-10, 1e-20]))])
    parts = [
        quad(lambda x: x * x * noise.pdf(x), low, high, epsabs=0, epsrel=1e-11, limit=200)[0]
        for low, high in pairwise(cuts)
    ]
    # Beyond the last cut: a mass of 2e-20, and squares of at most a few hundred variances.
    assert noise.var() == pytest.approx(2 * sum(parts), rel=1e-10)


@every
def test_scalars_in_scalars_out(noise):
    for method in OF_X:
        assert isinstance(getattr(noise, method)(0.1), float), method
        assert isinstance(getattr(noise, method)(0), float), method
    for method in OF_P:
        assert isinstance(getattr(noise, method)(0.1), float), method
        assert isinstance(getattr(noise, method)(1), float), method
    assert isinstance(noise.privacy_loss(0, 1), float)
    assert isinstance(noise.sample(rng=np.random.default_rng(1)), float)
    assert isinstance(noise.mean(), float)
    assert isinstance(noise.var(), float)
    assert noise.shape == ()


@every
@pytest.mark.parametrize("convert", [list, tuple, np.array, lambda x: np.array(x).reshape(2, 1, 2)])
def test_arrays_are_taken_entry_by_entry(noise, convert):
    for method, raw in [(m, [-1.0, 0.0, 0.25, 3.0]) for m in OF_X] + [(m, [0.0, 0.25, 0.5, 1.0]) for m in OF_P]:
        one_by_one = [getattr(noise, method)(value) for value in raw]
        values = getattr(noise, method)(convert(raw))
        assert values.shape == np.shape(convert(raw))
        # SIMD and scalar loops may round differently in the last place.
        np.testing.assert_allclose(values.ravel(), one_by_one, rtol=1e-13)


@every
@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int32, np.float32])
def test_narrow_and_unsigned_numbers_are_taken_as_floats(noise, kind):
    x, shift = np.array([0, 1, 2, 100], dtype=kind), 3
    for method in OF_X:
        values = getattr(noise, method)(x)
        assert values.dtype == np.float64
        np.testing.assert_array_equal(values, getattr(noise, method)(x.astype(float)))
    loss = noise.privacy_loss(x, shift)
    assert loss.dtype == np.float64
    np.testing.assert_array_equal(loss, noise.privacy_loss(x.astype(float), float(shift)))
    p = np.array([0, 1], dtype=kind)
    for method in OF_P:
        np.testing.assert_array_equal(getattr(noise, method)(p), getattr(noise, method)(p.astype(float)))
        assert getattr(noise, method)(p).dtype == np.float64


@each_family
def test_array_parameters_broadcast(family):
    column, noises = stacked(family), EXAMPLES[family]
    assert column.shape == (len(noises), 1)
    x = np.array([-3.0, -0.01, 0.0, 0.5, 20.0])
    p = np.array([0.0, 1e-9, 0.3, 0.5, 0.9, 1.0])
    for method, argument in [(m, x) for m in OF_X] + [(m, p) for m in OF_P]:
        expected = [getattr(noise, method)(argument) for noise in noises]
        np.testing.assert_allclose(getattr(column, method)(argument), expected, rtol=1e-13, err_msg=method)
        at_one_point = getattr(column, method)(argument[1])
        np.testing.assert_allclose(at_one_point[:, 0], np.array(expected)[:, 1], rtol=1e-13, err_msg=method)
    loss = [noise.privacy_loss(x, 0.5) for noise in noises]
    np.testing.assert_allclose(column.privacy_loss(x, 0.5), loss, rtol=1e-13)
    np.testing.assert_allclose(column.var()[:, 0], [noise.var() for noise in noises], rtol=1e-13)
    np.testing.assert_array_equal(column.mean(), np.zeros(column.shape))


@every
def test_at_infinity(noise):
    ends = np.array([-np.inf, np.inf])
    np.testing.assert_array_equal(noise.pdf(ends), [0, 0])
    np.testing.assert_array_equal(noise.logpdf(ends), [-np.inf, -np.inf])
    np.testing.assert_array_equal(noise.cdf(ends), [0, 1])
    np.testing.assert_array_equal(noise.sf(ends), [1, 0])
    np.testing.assert_array_equal(noise.logcdf(ends), [-np.inf, 0])
    np.testing.assert_array_equal(noise.logsf(ends), [0, -np.inf])


@every
def test_quantiles_at_the_ends_of_the_support(noise):
    end = noise.isf(0.0)
    assert end > 0
    assert noise.sf(end) == 0
    np.testing.assert_array_equal(noise.isf(np.array([0, 1])), [end, -end])
    np.testing.assert_array_equal(noise.ppf(np.array([0, 1])), [-end, end])


@every
def test_huge_arguments(noise):
    for x in (1e10, 1e100, 1e300):
        assert noise.sf(x) == noise.pdf(x) == noise.cdf(-x) == 0
        assert noise.cdf(x) == noise.sf(-x) == 1
        assert noise.logcdf(x) == noise.logsf(-x) == 0
        assert noise.logsf(x) < -1e6
        assert noise.logpdf(-x) < -1e6


@every
def test_what_is_no_probability_has_no_quantile(noise):
    p = np.array([-1e-300, -0.5, 1 + 1e-15, 2, np.inf, -np.inf, np.nan])
    for method in OF_P:
        assert np.isnan(getattr(noise, method)(p)).all()
        assert np.isnan(getattr(noise, method)(-0.1))


@every
def test_nan_propagates(noise):
    for method in (*OF_X, *OF_P):
        assert np.isnan(getattr(noise, method)(np.nan)), method
        assert list(np.isnan(getattr(noise, method)([0.25, np.nan, 0.25]))) == [False, True, False]
    for y, shift in ((np.nan, 1.0), (1.0, np.nan), (np.nan, 0.0)):
        assert np.isnan(noise.privacy_loss(y, shift))


@every
def test_equal_parameters_make_equal_values(noise):
    twin = type(noise)(**{field.name: getattr(noise, field.name) for field in fields(noise)})
    assert noise == twin
    assert hash(noise) == hash(twin)
    assert noise != "noise"
    for field in fields(noise):
        changed = {f.name: getattr(noise, f.name) for f in fields(noise)}
        changed[field.name] = np.nextafter(changed[field.name], np.inf)
        assert noise != type(noise)(**changed)
    assert len(set(ALL)) == len(ALL)


@each_family
def test_equality_of_array_parameters(family):
    one, two = stacked(family), stacked(family)
    assert one == two
    assert hash(one) == hash(two)
    assert one != EXAMPLES[family][0]
    flat = type(one)(**{field.name: getattr(one, field.name).ravel() for field in fields(one)})
    assert one != flat  # another shape broadcasts otherwise


@each_family
def test_parameters_are_frozen(family):
    noise, column = EXAMPLES[family][0], stacked(family)
    for field in fields(noise):
        assert type(getattr(noise, field.name)) is float
        with pytest.raises(FrozenInstanceError):
            setattr(noise, field.name, 1.0)
        with pytest.raises(ValueError, match="read-only"):
            getattr(column, field.name)[0] = 1.0


@each_family
def test_the_callers_array_is_copied(family):
    names = [field.name for field in fields(EXAMPLES[family][0])]
    mine = np.array([1.0, 2.0])
    noise = FAMILIES[family](**dict.fromkeys(names, mine))
    before = noise.var()
    mine[:] = 7.0
    np.testing.assert_array_equal(noise.var(), before)
    np.testing.assert_array_equal(getattr(noise, names[0]), [1.0, 2.0])


@each_family
def test_values_travel_to_workers(family):
    for noise in (*EXAMPLES[family], stacked(family)):
        assert pickle.loads(pickle.dumps(noise)) == noise
        assert copy.deepcopy(noise) == noise


BAD = [0, 0.0, -1, -1e-300, np.nan, np.inf, -np.inf]
NOT_NUMBERS = ["2", "two", None, True, 1j, b"2", [1, "a"], [1, None], [[1], [1, 2]], {}]


@each_family
@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_invalid_parameters_are_refused_by_name_value_and_range(family, bad):
    good = {field.name: 1.5 for field in fields(FAMILIES[family])}
    for name in good:
        for value in (bad, [1.0, bad, 2.0], np.array([[bad]])):
            with pytest.raises(ValueError, match="is not valid") as failure:
                FAMILIES[family](**{**good, name: value})
            assert str(failure.value).startswith(f"{name} = {bad:g} is not valid; valid: ")
            assert f"valid: 0 < {name} < inf" in str(failure.value)


@each_family
@pytest.mark.parametrize("bad", NOT_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused(family, bad):
    good = {field.name: 1.5 for field in fields(FAMILIES[family])}
    for name in good:
        with pytest.raises(ValueError, match="is not a number") as failure:
            FAMILIES[family](**{**good, name: bad})
        assert str(failure.value) == f"{name} = {bad!r} is not a number; valid: 0 < {name} < inf"


@every
def test_log_concave_is_what_the_density_is(noise):
    """Second differences of the log density inside the support: never positive if the noise says so, else somewhere."""
    x = np.linspace(-1, 1, 4001) * float(noise.isf(1e-12)) * (1 - 1e-9)
    density = noise.logpdf(x)
    bend = np.diff(density, 2) - 1e-12 * np.abs(density[1:-1]).max()
    assert noise.log_concave == bool((bend <= 0).all())


def test_array_valued_noise_is_log_concave_if_all_of_it_is():
    sinh = FAMILIES["sinh_normal"]
    assert sinh(np.array([1.0, 2.0]), 2.0).log_concave is True
    assert sinh(np.array([1.0, 3.0]), 2.0).log_concave is False


def test_noise_without_known_parameters_equals_itself_alone():
    """Not a dataclass: two of them may differ in what nobody can see, and a cache must not take one for the other."""
    plain = type("Plain", (Noise,), dict.fromkeys(Noise.__abstractmethods__))
    one, other = plain(), plain()
    assert one == one
    assert one != other
    assert one.shape == ()
    assert not one.log_concave
    assert not one.gives_loss
