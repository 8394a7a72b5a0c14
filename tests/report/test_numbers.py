"""Numbers with their errors in parentheses: by hand, and read back with the decimal module."""

from decimal import Decimal

import numpy as np
import pytest

from tcdp_sim.report.numbers import with_error

NUMBERS = [
    (0.5082, 0.005, "0.5082(50)"),
    (12.9521, 0.0213, "12.952(21)"),
    (12.9521, 0.00996, "12.952(10)"),
    (4560.3, 123.0, "4560(120)"),
    (0.0, 0.02, "0.000(20)"),
    (-1.5, 1.24, "-1.5(12)"),
    (6.02e23, 1.4e22, "6.02(14)e23"),
    (1.23456e-7, 2.1e-9, "1.235(21)e-7"),
    (3.5, 0.0, "3.5"),
    (3.5, np.nan, "3.5"),
    (np.inf, 0.1, "inf"),
    (np.nan, 0.1, ""),
]


@pytest.mark.parametrize(("value", "error", "text"), NUMBERS)
def test_a_number_with_its_error(value, error, text):
    assert with_error(value, error) == text


def read(text):
    """The number and its error in a text such as 1.235(21)e-7."""
    number, _, rest = text.partition("(")
    last, _, power = rest.partition(")")
    unit = Decimal(1).scaleb(Decimal(number).as_tuple().exponent)
    factor = Decimal(1).scaleb(int(power[1:] or 0))
    return Decimal(number) * factor, Decimal(last) * unit * factor, unit * factor


def test_random_numbers_are_read_back_within_half_a_digit():
    rng = np.random.default_rng(5)
    for value, error in zip(rng.normal(size=300) * 10.0 ** rng.integers(-9, 9, 300), 10.0 ** rng.uniform(-9, 9, 300)):
        number, last, unit = read(with_error(value, error))
        assert abs(number - Decimal(float(value))) <= unit * Decimal("0.5001") or unit <= last / 10
        assert abs(last - Decimal(float(error))) <= Decimal("0.0501") * last
