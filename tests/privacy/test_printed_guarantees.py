"""A printed guarantee is implied by the guarantee itself, for every notion and every size of its numbers."""

import re
from math import inf

import numpy as np
import pytest

from tcdp_sim import privacy
from tcdp_sim.core.rounded import from_above, from_below
from tcdp_sim.privacy import definitions

NOTIONS = {
    privacy.PureDP: ("+",),
    privacy.ApproxDP: ("+", "+"),
    privacy.ZCDP: ("+",),
    privacy.MeanConcentratedDP: ("+", "+"),
    privacy.RDP: ("-", "+"),
    privacy.TCDP: ("+", "-"),
    privacy.ApproxZCDP: ("+", "+"),
    privacy.ApproxTCDP: ("+", "+", "-"),
}
OF_DOUBLES = 1e-12  # what doubles lose is no promise


def test_all_notions_are_here():
    found = {each for each in vars(definitions).values() if isinstance(each, type)}
    assert {each for each in found if issubclass(each, privacy.Guarantee)} == {privacy.Guarantee, *NOTIONS}


def draw(notion, rng):
    sizes = 10.0 ** rng.uniform(-12, 3, len(NOTIONS[notion]))
    if notion is privacy.ApproxDP:
        return notion(sizes[0], 10.0 ** rng.uniform(-12, -0.1))
    if notion is privacy.RDP:
        return notion(1 + sizes[0], sizes[1])
    if notion is privacy.TCDP:
        return notion(sizes[0], 1 + sizes[1])
    if notion is privacy.ApproxZCDP:
        return notion(delta=min(sizes[1], 0.9), rho=sizes[0])
    if notion is privacy.ApproxTCDP:
        return notion(delta=min(sizes[2], 0.9), rho=sizes[0], omega=1 + sizes[1])
    return notion(*sizes)


@pytest.mark.parametrize("notion", NOTIONS)
def test_what_is_printed_is_implied(notion):
    rng = np.random.default_rng(5)
    for _ in range(300):
        guarantee = draw(notion, rng)
        written = [float(each) for each in re.findall(r"\d[\d.]*(?:e[+-]\d+)?", str(guarantee))]
        values = {
            name: getattr(guarantee, name)
            for name in ("rho", "omega", "epsilon", "delta", "order", "mu", "tau")
            if hasattr(guarantee, name)
        }
        assert len(written) == len(values)
        for name, value in values.items():
            near = min(written, key=lambda each: abs(each / value - 1))
            off = (near - value) / value
            assert abs(off) < 1e-5
            assert off <= OF_DOUBLES if name in ("omega", "order") else off >= -OF_DOUBLES


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        (1 / 3, "0.333334", "0.333333"),
        (0.1 + 0.2, "0.3", "0.3"),
        (2.0, "2", "2"),
        (9.9999999, "10", "9.99999"),
        (2 / 3e300, "6.66667e-301", "6.66666e-301"),
        (1.7976931348623157e308, "inf", "1.79769e+308"),
        (inf, "inf", "inf"),
        (0.0, "0", "0"),
    ],
)
def test_six_digits(value, above, below):
    assert (from_above(value, 6), from_below(value, 6)) == (above, below)
