"""Box searches in ball arithmetic: the search itself, and Theorems 11 and 12 in it."""

from math import exp, inf, log

import mpmath
import numpy as np
import pytest
from scipy.special import lambertw

from tcdp_sim.core.numerics import Bounds
from tcdp_sim.experiments.papers.balls.arithmetic import ball, between, flint
from tcdp_sim.experiments.papers.balls.boxes import BITS, Searched, as_point, search
from tcdp_sim.experiments.papers.gather.gather import Gatherer
from tcdp_sim.experiments.papers.gather.records import Origin, Records, points_digest
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Kind, Point, Proof, constant
from tcdp_sim.experiments.papers.judge.verdict import Scope, Verdict, judge
from tcdp_sim.experiments.papers.library import papers
from tcdp_sim.experiments.papers.page.wording import scope
from tcdp_sim.experiments.papers.tcdp import sampling_boxes
from tcdp_sim.privacy import TCDP, renyi_bound
from tcdp_sim.privacy.amplification.concentrated import certified_tcdp
from tcdp_sim.privacy.amplification.renyi import _log_tail, certified_excess

MP = mpmath.mp.clone()
MP.dps = 20
POINTS = [(0.1, 0.1, 1.5), (0.1, 0.1, 5.7), (0.1, 1e-4, 3.0), (0.02, 0.01, 40.0), (1e-3, 1e-3, 900.0), (1e-4, 0.1, 2.0)]
points = pytest.mark.parametrize(("rho", "s", "alpha"), POINTS)


@pytest.fixture(autouse=True)
def _bits_of_a_search():
    with flint().ctx.workprec(BITS):
        yield


def hill(cell):
    """x (2 - x) y / 2 for x and y of a cell: at most 1 on [0.5, 1.5] x [1, 2], at (1, 2) alone."""
    x, y = (between(*side) for side in cell)
    return (1 - (x - 1) ** 2) * y / 2


HILL = ((0.5, 1.5), (1.0, 2.0))


def test_a_search_finds_what_holds_and_what_does_not():
    found = search(HILL, hill, 1.001)
    assert found.holds
    assert 1 <= found.largest <= 1.001
    tightened = search(HILL, hill, 0.99)
    assert not tightened.holds
    (x_low, x_high), (y_low, y_high) = tightened.refuted
    assert all(1 - (x - 1) ** 2 > 2 * 0.99 / y_low for x in (x_low, x_high))
    assert y_low < y_high


def test_an_equality_stays_undecided():
    found = search(HILL, hill, 1.0, most=500)
    assert (found.holds, found.refuted, found.largest) == (False, None, inf)
    assert 500 < found.cells <= 502
    assert found.undecided > 0


def test_cells_cover_the_box():
    """Each decided cell is disjoint from the others and their volumes in logs add up to that of the box."""
    decided = []

    def noted(cell):
        value = hill(cell)
        if value.upper() <= 1.01:
            decided.append(np.prod([log(high / low) for low, high in cell]))
        return value

    assert search(HILL, noted, 1.01).holds
    assert len(decided) > 10
    assert sum(decided) == pytest.approx(log(3) * log(2), rel=1e-12)


def integral_of_step_3(rho, s, alpha, omega):
    """By mpmath: the best order of step 4 up to omega, and Pinsker's bound."""

    def delta(epsilon):
        def bound(beta):
            return MP.exp((beta - 1) * (rho * beta - epsilon)) * (1 - 1 / beta) ** beta / (beta - 1)

        orders = (max((epsilon + rho) / (2 * rho) + shift, MP.mpf("1.05")) for shift in (0, 0.25, 0.5, 0.75, 1))
        return min(MP.sqrt(rho / 2), *(bound(min(order, omega)) for order in orders))

    def integrand(epsilon):
        x = 1 + s * MP.expm1(epsilon)
        return (x ** (alpha - 2) + x ** (-alpha - 1)) * MP.exp(epsilon) * delta(epsilon)

    rho, s, alpha, omega = map(MP.mpf, (rho, s, alpha, omega))
    width = MP.sqrt(2 * rho)
    return MP.quad(integrand, [0, width, 2 * width, 4 * width, 8 * width, 16 * width, 40 * width])


@points
def test_the_bound_at_a_point_against_mpmath(rho, s, alpha):
    """The sum over panels is above the integral, by no more than 15%."""
    y = alpha * (alpha - 1) * s * s
    truth = float(MP.log1p(y * integral_of_step_3(rho, s, alpha, log(1 / s) / (2 * rho))) / (y * rho))
    low, high = map(float, ends(sampling_boxes.theorem_11(((rho, rho), (s, s), (alpha, alpha)))))
    assert low <= 0
    assert truth * (1 - 1e-9) <= high < 1.15 * truth


def ends(number):
    return number.lower(), number.upper()


def spent(base, s, alpha):
    """Our other bound on D over s^2 rho alpha, by the package: quadrature of chords of the profile."""
    return certified_excess(renyi_bound(base), s, alpha) / ((alpha - 1) * alpha * s * s * base.rho)


def cells(rho, s, alpha, seed=5):
    """Cells around a point, of several widths and places."""
    rng = np.random.default_rng(seed)
    for width in (1.01, 1.2, 1.6):
        low = [width ** -rng.random() for _ in range(3)]
        yield tuple((max(v * f, least), v * f * width) for v, f, least in zip((rho, s, alpha), low, (0, 0, 1)))


@points
def test_the_bound_of_a_cell_is_above_all_its_points(rho, s, alpha):
    for cell in cells(rho, s, alpha):
        most = float(sampling_boxes.theorem_11(cell).upper())
        for place in corners(cell):
            if place[2] < log(1 / place[1]) / (4 * place[0]):
                base = TCDP(place[0], log(1 / place[1]) / (2 * place[0]))
                assert spent(base, *place[1:]) <= most, (cell, place)


@pytest.mark.parametrize(
    ("alpha", "s"), [((12.0, 12.0), (0.01, 0.3)), ((1.05, 1.05), (1e-3, 1.0)), ((1.5, 9.0), (0.1, 0.1))]
)
def test_the_integral_of_a_range_is_above_that_of_each_place(alpha, s):
    """Above mpmath's integral at each end, and by at most 40% above the largest."""
    omega = 40.0
    most = float(sampling_boxes._integral(0.1, s, alpha, omega).upper())
    truths = [float(integral_of_step_3(0.1, share, order, omega)) for share in s for order in alpha]
    assert max(truths) <= most < 1.4 * max(truths)


@pytest.mark.parametrize("place", [*POINTS, (1e-4, 0.1, 5000.0), (0.1, 1e-3, 1.05)])
@pytest.mark.parametrize("side", range(3))
@pytest.mark.parametrize("width", [1.02, 1.5])
def test_a_cell_that_is_wide_in_one_parameter_is_above_its_ends(place, side, width):
    """Up to 1%, as a point has panels of its own. The bound is no more than 2 width^3 times that of a point."""
    ends = place[side] / width, place[side]
    cell = tuple((max(ends[0], 1.001 if i == 2 else 0), ends[1]) if i == side else (v, v) for i, v in enumerate(place))
    most = float(sampling_boxes.theorem_11(cell).upper())
    for end in cell[side]:
        at = tuple((end, end) if i == side else (v, v) for i, v in enumerate(place))
        point = float(sampling_boxes.theorem_11(at).upper())
        assert 0.99 * point <= most <= 2 * width**3 * point


def test_the_orders_that_a_cell_uses_are_allowed_at_all_its_places(monkeypatch):
    """Up to omega' everywhere in the cell; for Theorem 12 what condition (5) or an order below omega'/2 implies."""
    monkeypatch.setattr(sampling_boxes, "_share", lambda cell, omega: omega)
    for rho, s, alpha in POINTS:
        for cell in cells(rho, s, alpha):
            allowed = [log(1 / place[1]) / (2 * place[0]) for place in corners(cell)]
            assert min(allowed) * (1 - 1e-9) < sampling_boxes.theorem_11(cell) < min(allowed)
    for rho, s in ((0.1, 0.1), (0.1, 1e-4), (1e-3, 1e-3)):
        for cell in cells(rho, s, 1.2):
            least = min(condition_5(*place[:2])[0] for place in corners(cell))
            assert least * (1 - 1e-9) < sampling_boxes.theorem_12(cell) <= least
            wide = (*cell[:2], (least, 2 * least))
            assert sampling_boxes.theorem_12(wide) in (2 * least, ball(0))


@pytest.mark.parametrize(("rho", "s", "alpha"), [(0.1, 0.1, 5.7), (0.1, 1e-3, 1.5), (0.05, 0.1, 11.0)])
def test_the_part_beyond_the_last_panel(rho, s, alpha):
    """Against mpmath, beyond the last edge E, with delta(E) e^(-(omega-1)(eps-E)) there; too large by e^5 at most."""
    omega = log(1 / s) / (2 * rho)
    end, delta = sampling_boxes._edges(rho, omega)[-1], MP.mpf("0.01")

    def integrand(x):
        ratio = 1 + s * MP.expm1(end + x)
        return (ratio ** (alpha - 2) + ratio ** (-alpha - 1)) * MP.exp(end + x) * delta * MP.exp(-(omega - 1) * x)

    truth = MP.quad(integrand, [0, 0.2, 1, 4, 20])
    log_x = (ball(s) * ball(end).expm1()).log1p()
    bound = float(sampling_boxes._tail(rho, omega, ball("0.01"), log_x, ball(alpha)).upper())
    assert truth <= bound < truth * exp(5)


def corners(cell):
    return [(rho, s, max(alpha, 1.0001)) for rho in cell[0] for s in cell[1] for alpha in cell[2]]


@pytest.mark.parametrize(("rho", "s"), [(0.1, 0.1), (0.1, 1e-4), (0.02, 0.01), (0.01, 0.12), (1e-3, 1e-3)])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_the_bound_of_a_cell_under_condition_5(rho, s, share):
    """For the least and the largest omega' of the condition at every corner, and orders below half of them."""
    tried = 0
    for omega in condition_5(rho, s):
        alpha = 1 + share * (omega / 2 - 1)
        for cell in cells(rho, s, alpha):
            most = float(sampling_boxes.theorem_12(cell).upper())
            for place in corners(cell):
                least, largest = condition_5(*place[:2])
                for inner in (least, largest) if least <= largest else ():
                    if place[2] < inner / 2:
                        tried += 1
                        assert spent(TCDP(place[0], inner), *place[1:]) <= most, (cell, place)
    assert tried


def condition_5(rho, s):
    """The least and the largest omega' by mpmath's root and Lambert's W."""

    def left(omega):
        return omega - 2 - MP.log(1 / MP.mpf(rho), 2) - MP.log(1 / ((omega - 2) * s), 2)

    least = float(MP.findroot(left, (MP.mpf("2.001"), 200), solver="anderson"))
    return least, 2 + float(lambertw(rho * exp(-2 * rho) / s).real) / rho


@pytest.mark.parametrize(("rho", "s"), [(0.1, 0.1), (0.01, 1e-5), (0.05, 0.14), (1e-3, 1.0)])
def test_ends_of_condition_5(rho, s):
    least, largest = condition_5(rho, s)
    assert 1 - 1e-9 < sampling_boxes._least_omega(rho, s) / least <= 1 + 1e-15
    assert 1 - 1e-12 <= sampling_boxes._largest_omega(rho, s) / largest < 1 + 1e-9


@pytest.mark.parametrize("theorem", [sampling_boxes.theorem_11, sampling_boxes.theorem_12])
def test_a_search_fails_if_the_inequality_is_tightened_somewhere(theorem):
    """To 99% of the bound at one point of a box. It holds on the same box with a little more than the largest one."""
    rho, s, alpha = 0.1, 0.01, 4.0
    box = tuple((v / 1.05, v) for v in (rho, s, alpha))
    at_point = float(theorem(tuple((v / 1.02, v / 1.02) for v in (rho, s, alpha))).upper())
    assert not search(box, theorem, 0.99 * at_point, most=3000).holds
    assert search(box, theorem, 1.1 * at_point, most=3000).holds


def test_both_boxes_are_certified():
    for found, aim in (
        (sampling_boxes.searched_11(), sampling_boxes.AIM_11),
        (sampling_boxes.searched_12(), sampling_boxes.AIM_12),
    ):
        assert found.holds
        assert 2.6 < found.largest <= aim < 13
        assert found.cells > 1000
    least, most = sampling_boxes.RHO_11
    words = f"a constant of {sampling_boxes.AIM_11:g} in place of 13 for ρ from {_short(least)} to {most:g}"
    assert any(words in finding.text for finding in papers()["T"].findings)


def _short(value):
    return f"1e{round(log(value) / log(10))}"


def test_hypotheses_of_theorem_11_hold_on_its_square():
    """log(1/s) >= 3 rho (2 + log2(1/rho)), whose right side rises up to 0.1, and log(1/s)/2rho >= 3."""
    rho = np.geomspace(1e-12, 0.1, 2001)
    right = 3 * rho * (2 + np.log2(1 / rho))
    assert (np.diff(right) > 0).all()
    assert right[-1] < log(10)
    assert log(10) / 0.2 >= 3


def boxed(*others, proof=None):
    points = [as_point("all x in [1, 2]", Searched(6.0, 9), 13.0), *others]
    return Evidence(points, proof=proof, why="so" if proof else "")


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([], ""),
        ([3], ", and at the one point tried"),
        ([3, 4], ", and on the 2 points tried"),
    ],
)
def test_the_words_of_a_box(others, words):
    judgement = judge(Kind.INEQUALITY, boxed(*(Point(f"x = {x}", constant(1), constant(13)) for x in others)))
    assert (judgement.verdict, judgement.scope, judgement.points) == (Verdict.HOLDS, Scope.BOX, len(others))
    assert scope(judgement) == f"for all x in [1, 2], by ball arithmetic{words}"


def test_a_box_that_is_not_certified_leaves_a_claim_open():
    found = as_point("all x", Searched(inf, 9, undecided=2), 13.0)
    assert judge(Kind.INEQUALITY, Evidence([found, Point("x = 3", constant(1), constant(13))])).verdict is Verdict.OPEN


def test_a_counter_example_beside_a_box_refutes():
    assert judge(Kind.INEQUALITY, boxed(Point("x = 3", constant(14), constant(13)))).verdict is Verdict.FALSE


def test_a_proof_says_more_than_a_box():
    judgement = judge(Kind.INEQUALITY, boxed(proof=Proof.SYMBOLIC))
    assert (judgement.scope, scope(judgement)) == (Scope.ALL, "for all")


def test_a_box_is_recorded_as_one(tmp_path):
    kept, origin = tuple(boxed(Point("x", Bounds(0, 1, 2), constant(3))).points), Origin("claim", "fast", "code")
    records = Records(tmp_path)
    records.keep(origin, kept)
    records.close()
    again = Records(tmp_path).get(origin)
    assert points_digest(again) == points_digest(kept)
    assert [point.box for point in again] == [True, False]


def test_evidence_without_flint_is_not_taken_for_evidence_with_it(tmp_path, monkeypatch):
    def origin():
        with Gatherer(tmp_path, False, "serial", lambda line: None) as gatherer:
            return gatherer._origin("claim T.T11", sampling_boxes.theorem_11, ())

    with_flint = origin()
    monkeypatch.setattr("tcdp_sim.experiments.papers.gather.gather.find_spec", lambda name: None)
    assert origin() != with_flint


def test_without_flint_there_is_no_box(monkeypatch):
    assert sampling_boxes.points_of_theorem_11(13.0)
    monkeypatch.setattr(sampling_boxes, "find_spec", lambda name: None)
    assert sampling_boxes.points_of_theorem_11(13.0) == sampling_boxes.points_of_theorem_12(13.0) == ()


def test_amplification_where_no_loss_of_the_profile_reaches_log_1_over_s():
    """The tail of the certified bound was e^770 here, so that nothing was gained by sampling."""
    base = TCDP(1e-3, 500.0)
    amplified = certified_tcdp(base, 1e-3, 250.0)
    box = float(sampling_boxes.theorem_11(((1e-3, 1e-3), (1e-3, 1e-3), (250.0, 250.0))).upper())
    assert 1 < amplified.rho / (1e-6 * base.rho) < box < 3


@pytest.mark.parametrize(
    ("end", "decay", "s", "order"),
    [
        (1.53, 572.0, 1e-3, 142.0),
        (1.5, 40.0, 0.3, 9.0),
        (9.0, 30.0, 0.1, 12.0),
        (3.0, 0.9, 0.2, 1.5),
        (2.0, 5.0, 1.0, 3.0),
    ],
)
def test_the_tail_of_the_profile_is_bounded(end, decay, s, order):
    """Its log against mpmath's integral of (w^(a-2) + w^(-a-1)) e^eps e^(-decay (eps - end)); at most 5 nats above."""

    def integrand(x):
        w = 1 + s * MP.expm1(end + x)
        return (w ** (order - 2) + w ** (-order - 1)) * MP.exp(end + x - decay * x)

    step = 1 / MP.mpf(max(decay - order, decay / 10))
    truth = MP.log(MP.quad(integrand, [0, step, 3 * step, 10 * step, 30 * step, 100 * step]))
    assert 0 <= _log_tail(end, 0.0, decay, s, order) - truth < 5
