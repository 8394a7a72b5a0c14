"""The search for a least value, against scipy's bounded method and known minima."""

import math

import pytest
from scipy.optimize import minimize_scalar

from tcdp_sim.privacy.minimum import least

CASES = {
    "parabola": (lambda x: (x - 1.3) ** 2, 0.0, 5.0, 1.3),
    "cosh": (math.cosh, -3.0, 7.0, 0.0),
    "kink": (lambda x: abs(x - 0.7), 0.0, 1.0, 0.7),
    "left end": (lambda x: x, 0.0, 1.0, 0.0),
    "right end": (lambda x: -x, 0.0, 1.0, 1.0),
    "infinite on the left": (lambda x: math.inf if x < 0.5 else (x - 0.6) ** 2, 0.0, 1.0, 0.6),
    "steep": (lambda x: math.exp(x) - 3 * x, -5.0, 9.0, math.log(3)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_minimum_is_found_in_as_few_steps_as_scipy_takes(case):
    f, low, high, place = CASES[case]
    asked = []

    def counted(x):
        asked.append(x)
        return f(x)

    value, found = least(counted, low, high, 1e-6)
    assert found == pytest.approx(place, abs=4e-6)
    assert value == min(map(f, asked))
    assert low <= min(asked) <= max(asked) <= high
    if "infinite" not in case:  # there scipy warns
        assert len(asked) <= minimize_scalar(f, bounds=(low, high), method="bounded", options={"xatol": 3e-6}).nfev + 2


@pytest.mark.parametrize("case", ["parabola", "cosh", "kink", "steep"])
@pytest.mark.parametrize("offset", [-0.4, 0.01, 0.3])
def test_known_points_save_evaluations(case, offset):
    f, low, high, place = CASES[case]
    asked, alone = [], []

    def counted(x, into):
        into.append(x)
        return f(x)

    middle = place + offset * (high - place if offset > 0 else place - low)
    known = tuple((x, f(x)) for x in (low, middle, high))
    value, found = least(lambda x: counted(x, asked), low, high, 1e-6, known)
    assert found == pytest.approx(place, abs=4e-6)
    assert value == f(found) == min([f(middle), *map(f, asked)])
    least(lambda x: counted(x, alone), low, high, 1e-6)
    assert len(asked) <= len(alone) + (0 if offset == 0.01 else 3)


def test_an_interval_of_one_point():
    assert least(lambda x: x * x, 2.0, 2.0, 1e-6) == (4.0, 2.0)
