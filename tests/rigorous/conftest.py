"""Every test of this folder compares balls at 256 bits."""

import pytest

from tcdp_sim.experiments.papers.balls.arithmetic import BITS, flint


@pytest.fixture(autouse=True)
def _many_bits():
    with flint().ctx.workprec(BITS):
        yield
