"""The fraction that a subsample of whole records has."""

import pytest

from tcdp_sim.samplers.subsamples import realised_fraction


@pytest.mark.parametrize("scheme", ["without_replacement", "with_replacement"])
@pytest.mark.parametrize(
    ("fraction", "records", "draws"), [(1e-6, 100, 1), (0.004, 100, 1), (0.024, 100, 2), (0.026, 100, 3), (1.0, 7, 7)]
)
def test_a_fraction_is_that_of_whole_draws_and_never_of_none(scheme, fraction, records, draws):
    assert realised_fraction(fraction, scheme, records) == draws / records


@pytest.mark.parametrize(("scheme", "records"), [("poisson", 100), ("without_replacement", 0)])
def test_where_nothing_is_counted_out_the_fraction_stays(scheme, records):
    assert realised_fraction(1e-6, scheme, records) == 1e-6
