"""What a record gives away depends on its influence over the scale, however large or small both are."""

from math import e

import pytest
from foreign_noises import Cusped

from tcdp_sim.exact import record_epsilon, record_policy, record_profile, record_renyi
from tcdp_sim.noise import ExponentialPolylogarithmic, GeneralizedGaussian
from tcdp_sim.per_record import AdditiveRelease

NOISES = [(GeneralizedGaussian(1.0, 0.1), 6e7), (ExponentialPolylogarithmic(1.0, 2.0, e, 0.05), 2e14)]


@pytest.mark.filterwarnings("error")  # such as an overflow of the noise's outputs over its scale
@pytest.mark.parametrize("unit", [4e-5, 3e15, 1e-60])
@pytest.mark.parametrize(("noise", "t"), NOISES)
def test_units_do_not_matter(noise, t, unit):
    one, other = AdditiveRelease(noise), AdditiveRelease(noise.scaled(unit))
    for value in (record_policy, lambda *at: record_epsilon(*at, 1e-6), lambda *at: record_profile(*at, 0.3)):
        assert value(other, unit * t).estimate == pytest.approx(value(one, t).estimate, rel=1e-9)
    assert record_renyi(other, unit * t, 3.0).estimate == pytest.approx(record_renyi(one, t, 3.0).estimate, rel=1e-9)


@pytest.mark.filterwarnings("error")
def test_an_influence_whose_losses_underflow_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"shift = 7e-28 is not valid .*: all its losses underflow"):
        record_policy(AdditiveRelease(GeneralizedGaussian(1.0, 0.1)), 7e-28)


def test_a_noise_that_does_not_say_how_it_scales_is_taken_as_it_is():
    """What `Noise.scaled` falls back to would divide the power by the scale as well."""
    cusped = AdditiveRelease(Cusped(4.0, 0.5))
    assert record_renyi(cusped, 2.0, 3.0).estimate == pytest.approx(float(cusped.noise.mp_renyi(2.0, 3.0)), rel=1e-6)
    same = AdditiveRelease(GeneralizedGaussian(4.0, 0.5))
    assert record_epsilon(cusped, 8.0, 1e-3).estimate == pytest.approx(
        record_epsilon(same, 8.0, 1e-3).estimate, rel=1e-6
    )
