"""What a transformed release gives away at a given answer: against quadrature of the densities of its outputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from tcdp_sim.exact import record_renyi
from tcdp_sim.noise import Laplace
from tcdp_sim.per_record import AdditiveRelease, Log, Root, TransformedRelease


def merged(density, low, high, order, atoms=None):
    """D_order of two densities of outputs over (low, high), and of the atoms' masses."""
    first, second = density
    p0, q0 = atoms or (0.0, 0.0)

    def term(x):
        p, q = first(x), second(x)
        if order == 1:
            return p * np.log(p / q) if p > 0 else 0.0
        return p * (p / q) ** (order - 1) if p > 0 else 0.0

    total = quad(term, low, high, limit=400, epsabs=0, epsrel=1e-11)[0]
    if p0:
        total += p0 * np.log(p0 / q0) if order == 1 else p0 * (p0 / q0) ** (order - 1)
    return total if order == 1 else np.log(total) / (order - 1)


def folded(centre):
    """The density of |V|: what the second Hermite polynomial leaves of V."""
    return lambda x: norm.pdf(x - centre) + norm.pdf(x + centre)


@pytest.mark.parametrize(("order", "ratio"), [(1.0, 0.163), (2.0, 0.217), (5.0, 0.361), (20.0, 0.465)])
@pytest.mark.parametrize("estimator", ["mean_unbiased", "plain"])
def test_a_square_root_leaves_the_size_of_the_noisy_number(order, ratio, estimator):
    release = TransformedRelease(Root(2), 1.0, estimator)
    found = record_renyi(release, 1.0, order, answer=0.0)
    truth = merged((folded(1.0), folded(0.0)), 0, 34, order)
    assert found.lower <= truth * (1 + 1e-10)
    assert truth * (1 - 1e-10) <= found.upper
    assert found.estimate == pytest.approx(truth, rel=1e-9)
    assert found.estimate / order == pytest.approx(ratio, abs=6e-4)
    assert found.upper / order < release.policy(1.0)  # the size alone says less than the number


def test_the_policy_is_where_the_order_grows():
    release = TransformedRelease(Root(4), 2.0)
    at = [record_renyi(release, 16.0, order, answer=0.0).estimate / order for order in (1.0, 10.0, 1000.0)]
    assert at[0] < at[1] < at[2] < release.policy(16.0) == pytest.approx(0.5)
    assert at[2] > 0.498


def test_four_pieces_of_a_polynomial():
    """The fourth Hermite polynomial by its roots: v^4 - 6 v^2 + 3 = x has v^2 = 3 +- sqrt(6 + x)."""
    first, second = 2**0.25, 0.0

    def density(centre):
        def pdf(x):
            squares = [3 + sign * np.sqrt(6 + x) for sign in (1, -1)]
            roots = [sign * np.sqrt(square) for square in squares if square > 0 for sign in (1, -1)]
            return sum(norm.pdf(v - centre) / abs(4 * v**3 - 12 * v) for v in roots)

        return pdf

    p, q = density(first), density(second)
    total = sum(
        quad(lambda x: p(x) ** 3 / q(x) ** 2, low, high, limit=400, epsrel=1e-10)[0]
        for low, high in ((-6.0, 3.0), (3.0, 30.0), (30.0, 3e4))
    )
    found = record_renyi(TransformedRelease(Root(4), 1.0), 2.0, 3.0, answer=0.0)
    assert found.estimate == pytest.approx(np.log(total) / 2, rel=1e-6)


@pytest.mark.parametrize("order", [1.0, 2.0, 12.0])
@pytest.mark.parametrize("answer", [0.0, 3.0])
def test_clamping_leaves_an_atom(order, answer):
    release = TransformedRelease(Log(2.0), 1.5, "median_unbiased", nonnegative=True)
    low, high = np.log(answer + 2.0), np.log(answer + 7.0)
    laws = [norm(high, 1.5), norm(low, 1.5)]
    truths = []
    for one, other in (laws, laws[::-1]):
        atoms = (one.cdf(np.log(2.0)), other.cdf(np.log(2.0)))
        truths.append(merged((one.pdf, other.pdf), np.log(2.0), 25, order, atoms))
    found = record_renyi(release, 5.0, order, answer=answer)
    assert found.estimate == pytest.approx(max(truths), rel=1e-8)


def test_what_merges_nothing_gives_the_whole_shift():
    release = TransformedRelease(Root(3, 8.0), 0.5, "median_unbiased")
    found = record_renyi(release, 19.0, [1.0, 4.0], answer=19.0)  # 27 -> 46
    assert found.estimate == pytest.approx(0.5 * ((46 ** (1 / 3) - 3) / 0.5) ** 2 * np.array([1.0, 4.0]), rel=1e-12)
    laplace = AdditiveRelease(Laplace(2.0))
    assert record_renyi(laplace, 1.0, 3.0, answer=50.0) == record_renyi(laplace, 1.0, 3.0)
    assert record_renyi(release, 0.0, 2.0, answer=1.0) == (0, 0, 0)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([2, 3, 4, 5]),
    st.floats(0, 5),
    st.floats(0.3, 3),
    st.floats(0, 30),
    st.floats(0.1, 50),
    st.sampled_from([1.0, 1.7, 6.0]),
    st.booleans(),
)
def test_no_answer_shows_more_than_the_noisy_number(degree, offset, scale, answer, influence, order, nonnegative):
    release = TransformedRelease(Root(degree, offset), scale, nonnegative=nonnegative)
    at_answer = record_renyi(release, influence, order, answer=answer)
    step = (answer + influence + offset) ** (1 / degree) - (answer + offset) ** (1 / degree)
    assert at_answer.lower <= order * step**2 / (2 * scale**2) * (1 + 1e-9) + 1e-13
    assert at_answer.lower <= record_renyi(release, influence, order).upper


@pytest.mark.parametrize(("order", "answer", "message"), [(2.0, -1.0, "answer = -1"), (2e4, 0.0, "order = 20000")])
def test_what_is_refused(order, answer, message):
    with pytest.raises(ValueError, match=message):
        record_renyi(TransformedRelease(Root(2), 1.0), 1.0, order, answer=answer)
