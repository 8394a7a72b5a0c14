"""Guarantees as values: validated, frozen, comparable, printed."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, ApproxTCDP, ApproxZCDP, Guarantee, MeanConcentratedDP, PureDP

EXAMPLES = [
    (PureDP, {"epsilon": 0.5}, "0.5-DP"),
    (ApproxDP, {"epsilon": 1.0, "delta": 1e-6}, "(1, 1e-06)-DP"),
    (ZCDP, {"rho": 0.125}, "0.125-zCDP"),
    (ZCDP, {"rho": 0.125, "xi": 0.25}, "(0.25, 0.125)-zCDP"),
    (ApproxZCDP, {"delta": 1e-6, "rho": 0.125}, "1e-06-approximate 0.125-zCDP"),
    (ApproxZCDP, {"delta": 1e-6, "rho": 0.125, "xi": 0.25}, "1e-06-approximate (0.25, 0.125)-zCDP"),
    (MeanConcentratedDP, {"mu": 0.25, "tau": 0.5}, "(0.25, 0.5)-mCDP"),
    (RDP, {"epsilon": 0.5, "order": 8.0}, "(8, 0.5)-RDP"),
    (TCDP, {"rho": 1 / 3, "omega": 20.0}, "(0.333334, 20)-tCDP"),
    (ApproxTCDP, {"rho": 1 / 3, "delta": 1e-6, "omega": 20.0}, "1e-06-approximate (0.333334, 20)-tCDP"),
]
every = pytest.mark.parametrize(("kind", "values", "text"), EXAMPLES)

RANGES = {
    (PureDP, "epsilon"): "valid: 0 <= epsilon < inf",
    (ApproxDP, "epsilon"): "valid: 0 <= epsilon < inf",
    (ApproxDP, "delta"): "valid: 0 < delta <= 1",
    (ApproxZCDP, "delta"): "valid: 0 <= delta <= 1",
    (ApproxZCDP, "rho"): "valid: 0 <= rho < inf",
    (ApproxZCDP, "xi"): "valid: 0 <= xi < inf",
    (MeanConcentratedDP, "mu"): "valid: 0 <= mu < inf",
    (MeanConcentratedDP, "tau"): "valid: 0 < tau < inf",
    (RDP, "order"): "valid: 1 < order <= inf",
    (RDP, "epsilon"): "valid: 0 <= epsilon < inf",
    (ZCDP, "rho"): "valid: 0 < rho < inf",
    (ZCDP, "xi"): "valid: 0 <= xi < inf",
    (TCDP, "rho"): "valid: 0 < rho < inf",
    (TCDP, "omega"): "valid: 1 < omega <= inf",
    (ApproxTCDP, "delta"): "valid: 0 <= delta <= 1",
    (ApproxTCDP, "rho"): "valid: 0 < rho < inf",
    (ApproxTCDP, "omega"): "valid: 1 < omega <= inf",
}
INVALID = [
    (PureDP, "epsilon", [-1e-300, -1, np.nan, np.inf, -np.inf]),
    (ApproxDP, "epsilon", [-1e-300, np.nan, np.inf]),
    (ApproxDP, "delta", [0, -1e-9, 1 + 2.0**-52, 1.5, np.nan, np.inf]),
    (ApproxZCDP, "delta", [-1e-9, 1 + 2.0**-52, np.nan]),
    (ApproxZCDP, "rho", [-1e-300, np.nan, np.inf]),
    (ApproxZCDP, "xi", [-1e-300, np.nan, np.inf]),
    (MeanConcentratedDP, "mu", [-1e-300, np.nan, np.inf]),
    (MeanConcentratedDP, "tau", [0, -1, np.nan, np.inf]),
    (RDP, "order", [1, 0.5, -2, np.nan, -np.inf]),
    (RDP, "epsilon", [-1e-300, np.nan, np.inf]),
    (ZCDP, "rho", [0, -1, np.nan, np.inf]),
    (ZCDP, "xi", [-1e-9, np.nan, np.inf]),
    (TCDP, "rho", [0, -1, np.nan, np.inf]),
    (TCDP, "omega", [1, 0.5, 0, -2, np.nan, -np.inf]),
    (ApproxTCDP, "delta", [-1e-9, 1 + 2.0**-52, np.nan]),
    (ApproxTCDP, "rho", [0, -1, np.nan, np.inf]),
    (ApproxTCDP, "omega", [1, 0.5, np.nan, -np.inf]),
]
VALID = [
    (PureDP, "epsilon", [0, 5e-324, 1e300]),
    (ApproxDP, "epsilon", [0, 1e300]),
    (ApproxDP, "delta", [5e-324, 1 - 2.0**-53, 1]),
    (ApproxZCDP, "delta", [0, 5e-324, 1]),
    (ApproxZCDP, "rho", [0, 5e-324, 1e300]),
    (ApproxZCDP, "xi", [0, 1e300]),
    (MeanConcentratedDP, "mu", [0, 1e300]),
    (MeanConcentratedDP, "tau", [5e-324, 1e300]),
    (RDP, "order", [1 + 2.0**-52, 1e300, np.inf]),
    (RDP, "epsilon", [0, 1e300]),
    (ZCDP, "rho", [5e-324, 1e300]),
    (ZCDP, "xi", [0, 1e300]),
    (TCDP, "rho", [5e-324, 1e300]),
    (TCDP, "omega", [1 + 2.0**-52, 1e300, np.inf]),
    (ApproxTCDP, "delta", [0, 5e-324, 1]),
    (ApproxTCDP, "rho", [5e-324, 1e300]),
    (ApproxTCDP, "omega", [1 + 2.0**-52, 1e300, np.inf]),
]


def flat(table):
    return [(kind, name, value) for kind, name, values in table for value in values]


def example(kind):
    return next(values for other, values, _ in EXAMPLES if other is kind)


def test_every_definition_has_an_example_and_its_ranges():
    kinds = {kind for kind in Guarantee.__subclasses__() if kind.__module__.startswith("tcdp_sim.")}
    assert {kind for kind, _, _ in EXAMPLES} == kinds
    for table in (RANGES, {row[:2] for row in INVALID}, {row[:2] for row in VALID}):
        assert set(table) == {(kind, field.name) for kind in kinds for field in fields(kind) if field.name != "source"}


@every
def test_text(kind, values, text):
    assert str(kind(**values)) == text


@every
def test_text_keeps_six_digits(kind, values, text):
    assert "0.123457" in str(kind(**{**values, next(iter(values)): 0.123456789}))


@every
def test_values_are_kept_as_floats(kind, values, text):
    guarantee = kind(**values)
    assert isinstance(guarantee, Guarantee)
    for name, value in values.items():
        assert getattr(guarantee, name) == value
        assert type(getattr(guarantee, name)) is float
        assert type(getattr(kind(**{**values, name: np.float64(value)}), name)) is float


@every
def test_equality(kind, values, text):
    guarantee, twin = kind(**values), kind(**dict(reversed(values.items())))
    assert guarantee == twin
    assert hash(guarantee) == hash(twin)
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee
    for name, value in values.items():
        assert guarantee != kind(**{**values, name: np.nextafter(value, 0)})
    assert len({other(**arguments) for other, arguments, _ in EXAMPLES}) == len(EXAMPLES)


def test_notions_differ_even_at_equal_numbers():
    assert ApproxDP(0.5, 0.25) != ZCDP(0.5, 0.25)
    assert ZCDP(0.5) == ZCDP(0.5, 0)


@every
def test_frozen(kind, values, text):
    guarantee = kind(**values)
    for name in values:
        with pytest.raises(FrozenInstanceError):
            setattr(guarantee, name, 0.75)
    assert guarantee == kind(**values)


@pytest.mark.parametrize(("kind", "name", "value"), flat(INVALID))
def test_values_out_of_range_are_refused(kind, name, value):
    with pytest.raises(ValueError, match="is not valid") as failure:
        kind(**{**example(kind), name: value})
    assert str(failure.value) == f"{name} = {value:g} is not valid; {RANGES[kind, name]}"


@pytest.mark.parametrize(("kind", "name", "value"), flat(VALID))
def test_values_at_the_ends_of_their_range_are_taken(kind, name, value):
    assert getattr(kind(**{**example(kind), name: value}), name) == value


@pytest.mark.parametrize(("kind", "name"), RANGES)
@pytest.mark.parametrize("value", ["0.5", "half", None, True, 1j, {}], ids=repr)
def test_what_is_no_number_is_refused(kind, name, value):
    with pytest.raises(ValueError, match="is not a number") as failure:
        kind(**{**example(kind), name: value})
    assert str(failure.value) == f"{name} = {value!r} is not a number; {RANGES[kind, name]}"


@pytest.mark.parametrize("make", [PureDP, lambda rho: ZCDP(rho), lambda rho: TCDP(rho, 2.0)])
def test_a_guarantee_is_one_number_not_an_array(make):
    with pytest.raises(ValueError, match="is not one number"):
        make([0.1, 0.2])


def test_the_source_of_a_guarantee_is_told_but_not_compared():
    derived = ApproxDP(1, 1e-6, "tight: by a theorem")
    assert derived.source == "tight: by a theorem"
    assert "by a theorem" in repr(derived)
    assert ApproxDP(1, 1e-6).source == ""
    assert derived == ApproxDP(1, 1e-6)
    assert hash(derived) == hash(ApproxDP(1, 1e-6))
    assert len({derived, ApproxDP(1, 1e-6, "another")}) == 1
    assert pickle.loads(pickle.dumps(derived)).source == derived.source
    with pytest.raises(ValueError, match="source = 3"):
        ApproxDP(1, 1e-6, 3)


def test_values_are_taken_in_the_order_of_their_names():
    assert ApproxZCDP(0.1, 0.2, 0.3) == ApproxZCDP(delta=0.1, rho=0.2, xi=0.3)
    assert MeanConcentratedDP(0.1, 0.2) == MeanConcentratedDP(mu=0.1, tau=0.2)
    assert RDP(2, 0.1) == RDP(order=2, epsilon=0.1)
    assert TCDP(0.1, 2) == TCDP(rho=0.1, omega=2)
