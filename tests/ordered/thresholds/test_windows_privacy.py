"""What T1 spends: every branch of its proof, exact laws that come near the promise, and variants that break it.

The points of the windows may come from any mechanism that keeps its own line of the ledger for one substitution in a
window. So beside the real one, which hardly uses up its line, there are two that are as bad as the proof allows:
`presence` says whether a record is in the window, `place` where the window begins.
"""

from functools import cache
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from interior_dense import noise_rho, output_pmf, renyi
from noisy_windows import gap_law, joint, joint_of_one_gap, order_statistics, point_laws
from scipy import stats

from tcdp_sim.core.errors import UserError
from tcdp_sim.noise import Gaussian
from tcdp_sim.ordered.interior.ledger import total
from tcdp_sim.ordered.interior.release import ReleaseParameters
from tcdp_sim.ordered.thresholds.medians import Medians, plan_medians
from tcdp_sim.ordered.thresholds.quantiles import plan_quantiles
from tcdp_sim.ordered.thresholds.records import Records
from tcdp_sim.ordered.thresholds.windows import GAP_SCALES, Windows, _least_gap, failed_moves, plan_windows
from tcdp_sim.privacy import TCDP
from tcdp_sim.privacy.least_rho import bounded_range_rho

OMEGA = 3.0
ORDERS = (1.02, 1.5, 2.0, OMEGA)


def most_rho(p, q):
    """The largest D_a / a between two laws, both ways."""
    return max(renyi(one, two, order) / order for one, two in ((p, q), (q, p)) for order in ORDERS)


def promised(count, gap, scale, m, point_rho):
    """The rho of the package's own ledger, and that of its lines by name."""
    finder = SimpleNamespace(guarantee=TCDP(point_rho, OMEGA), target=TCDP(point_rho, OMEGA), m=m)
    ledger = Windows(10**6, count, gap, scale, finder).ledger
    return total(ledger).rho, {step.name: step.guarantee.rho for step in ledger}


# One record moves from the first window to the last: both lines of changed windows are used up.


def test_the_line_of_both_changed_windows_is_used_up():
    m, gap, scale, old, new = 60, 24, 4.0, 107, 275  # odd numbers are the records looked for, one in each window
    shared = list(range(0, 400, 2))
    said = np.array([[0.62, 0.38], [0.38, 0.62]])  # randomised response on their presence

    def kernel(shown):
        return said[int(old in shown or new in shown)]

    rows = [point_laws(sorted([*shared, x]), m, 200, kernel) for x in (old, new)]
    p, q = (joint(laws, gap_law(gap, scale), m, 2) for laws in rows)
    claim, lines = promised(2, gap, scale, m, most_rho(*said))
    assert 0.78 < most_rho(p, q) / claim < 1
    assert most_rho(p, q) == pytest.approx(lines["changed window 1"] + lines["changed window 2"], rel=1e-4)
    assert most_rho(p, q) > claim - lines["changed window 2"]  # a ledger with one window is caught


def test_every_window_that_medians_of_medians_charge_for_may_change():
    """T2: points that tell apart whether an odd record is in their window tell it three times in two rounds."""
    said, told = np.array([[0.62, 0.38], [0.38, 0.62]]), {}
    shared = list(range(0, 60, 4))
    for new in (23, 51):  # left of the first cut and in its window; right of it and outside
        seen = told.setdefault(new, [])
        cuts = iter((31, 15, 47))

        def find(shown, rng, seen=seen, cuts=cuts):
            seen.append(int(any(x % 2 for x in shown if x not in (16, 31, 32, 63))))
            return next(cuts)

        guarantee = TCDP(most_rho(*said), OMEGA)
        plan = Medians(16, 2, 0, SimpleNamespace(find=find, m=8, k=64, guarantee=guarantee, ledger=()))
        plan.run(Records.of([*shared, new], 64), rng=np.random.default_rng(0))
    assert list(told.values()) == [[1, 1, 0], [0, 0, 1]]
    p, q = (np.einsum("i,j,k", *said[bits]).ravel() for bits in told.values())
    assert most_rho(p, q) == pytest.approx(total(plan.ledger).rho)


# A record moves past several windows, each of which says where it begins, modulo 5.

M, COUNT, GAP, SCALE, SIZE = 2, 6, 8, 0.7, 110
CIRCLE = np.exp(3.0 * np.cos(2 * np.pi * (np.arange(5) - np.arange(5)[:, None]) / 5))
CIRCLE /= CIRCLE.sum(axis=1, keepdims=True)


def place(shown):
    return CIRCLE[shown[0] // 2 % 5]


def moved(low, high):
    """Records 0, 2, 4, ..., and the same with that of rank `low` behind that of rank `high`."""
    ramp = list(range(0, 300, 2))
    return ramp, sorted([*ramp[: low - 1], *ramp[low:], 2 * high - 1])


def spent(low, high, gaps, law=joint, m=M, kernel=place):
    return most_rho(*(law(point_laws(xs, m, SIZE, kernel), gaps, m, COUNT) for xs in moved(low, high)))


@cache
def claim_of_places():
    return promised(COUNT, GAP, SCALE, M, most_rho(CIRCLE[0], CIRCLE[1]))


def test_places_change_as_little_as_is_claimed():
    """A window that begins two places on holds two other records: groups cost more, single substitutions do not."""
    assert place((10, 12)) is not place((12, 14))
    assert most_rho(CIRCLE[0], CIRCLE[1]) < most_rho(CIRCLE[0], CIRCLE[2])


@pytest.mark.parametrize("where", [(1, 42), (1, 80), (12, 52), (15, 16), (22, 42), (3, 9)])
def test_windows_that_say_where_they_begin_keep_the_promise(where):
    claim, _ = claim_of_places()
    assert spent(*where, gap_law(GAP, SCALE)) < claim


def test_the_largest_share_of_the_promise_that_places_reach():
    """0.17; a chain of Gaussians in their stead reaches 0.27 at most, so much the coupling gives away."""
    claim, _ = claim_of_places()
    assert spent(1, 42, gap_law(GAP, SCALE)) / claim > 0.15


@pytest.mark.parametrize(
    ("gaps", "law"),
    [
        ([0.0] * GAP + [1.0], joint),  # no noise
        (gap_law(GAP, SCALE / 5), joint),  # a fifth of the noise that is charged
        (gap_law(GAP, SCALE), joint_of_one_gap),  # one draw for all gaps
    ],
)
def test_gaps_that_are_not_blurred_as_claimed_are_caught(gaps, law):
    claim, _ = claim_of_places()
    assert spent(1, 42, gaps, law) > claim


def test_moved_gaps_that_are_not_charged_are_caught():
    scale = 0.25
    claim, lines = promised(COUNT, GAP, scale, M, most_rho(CIRCLE[0], CIRCLE[1]))
    windows = lines["changed window 1"] + lines["changed window 2"]
    assert windows < spent(1, 42, gap_law(GAP, scale)) < claim


def test_gaps_too_short_to_be_moved_are_caught():
    """A gap that is clamped at zero cannot be made shorter: without the line of failed moves too little is claimed."""
    sharp, scale = CIRCLE**4 / (CIRCLE**4).sum(axis=1, keepdims=True), 0.3
    point = most_rho(sharp[0], sharp[1])

    def kernel(shown):
        return sharp[shown[0] // 2 % 5]

    without = 2 * point + 1 / scale**2
    assert spent(1, 30, gap_law(0, scale), kernel=kernel) > 1.2 * without
    assert failed_moves(point, OMEGA, 0, scale) == np.inf
    with pytest.raises(ValueError, match="rho"):
        promised(COUNT, 0, scale, M, point)
    claim, _ = promised(COUNT, 8, scale, M, point)
    assert claim < without * (1 + 1e-3)
    assert spent(1, 60, gap_law(8, scale), kernel=kernel) < claim


# The release itself: its own code against the exact law, and its own points against the promise.


@pytest.mark.parametrize(("gap", "scale"), [(4, 1.0), (0, 1.5)])
def test_the_release_has_the_exact_law(gap, scale):
    """Joint law of three points, gaps often clamped at zero or never: p-values above 1e-6."""
    count, m, trials, found = 3, 2, 12000, []

    def find(shown, rng):
        assert tuple(shown) == order_statistics(shown, 0, m)
        found.append(int(rng.choice(5, p=place(shown))))
        return found[-1]

    data, rng = Records.of(range(0, 300, 2), 300), np.random.default_rng(5)
    plan = Windows(data.n, count, gap, scale, SimpleNamespace(find=find, m=m, k=300))
    for _ in range(trials):
        plan.run(data, rng=rng)
    seen = np.bincount(np.reshape(found, (trials, count)) @ [25, 5, 1], minlength=125)
    law = joint(point_laws(range(0, 300, 2), m, 60, place), gap_law(gap, scale), m, count)
    expected, often = trials * law, trials * law > 5
    seen, expected = (np.append(v[often], v[~often].sum()) for v in (seen, expected))
    kept = expected > 0
    assert seen[~kept].sum() == 0
    assert stats.chisquare(seen[kept], expected[kept] * trials / expected.sum()).pvalue > 1e-6


def test_real_points_of_three_windows():
    """Four elements, windows of 40 records with a border in each; they use up half of their own line at most."""
    k, m, gap, scale, count = 4, 40, 12, 2.0, 3
    parameters = ReleaseParameters(
        0.4, Gaussian(3.0), 1e-3, -1e6, float(m)
    )  # leaves, nearly always; all is spent on the node
    point = bounded_range_rho(0.4) + 2 * noise_rho(parameters.noise, 1.0, OMEGA) + 1e-6 / 8
    borders = [gap * (i + 1) + m * i + m // 2 for i in range(count)]
    xs = sorted(sum(x >= border for border in borders) for x in range(borders[-1] + m))
    law = cache(lambda shown: output_pmf(list(shown), k, parameters))
    size = count * (m + 2 * gap + 20)
    p, q = (
        joint(point_laws(data, m, size, law), gap_law(gap, scale), m, count) for data in (xs, sorted([*xs[1:], k - 1]))
    )
    claim, _ = promised(count, gap, scale, m, point)
    assert 0.08 < most_rho(p, q) / claim < 1
    fixed = [0.0] * gap + [1.0]
    p, q = (joint(point_laws(data, m, size, law), fixed, m, count) for data in (xs, sorted([*xs[1:], k - 1])))
    assert most_rho(p, q) > 1.5 * 0.1 * claim


# The ledger adds up to the promise, for every noise, also where omega is extreme.

NOISES = (("sinh_normal", "tight"), ("sinh_normal", "paper"), ("gaussian", "tight"), ("laplace", "paper"))


@pytest.mark.parametrize(("family", "calibration"), NOISES)
@pytest.mark.parametrize("scaled", [7, 20, 100])
@pytest.mark.parametrize("rho", [0.05, 0.5, 5.0])
def test_every_line_is_kept_and_all_add_up(family, calibration, scaled, rho):
    """Lines of points hold their noise, by a quadrature apart from the calibration; gaps hold the failed moves."""
    omega = scaled / np.sqrt(rho)
    plan = plan_windows(10**6, 2**11, TCDP(rho, omega), family=family, calibration=calibration, most=2)
    found = total(plan.ledger)
    assert isinstance(found, TCDP)
    assert found.omega == omega
    assert found.rho <= rho * (1 + 1e-12)
    assert found.rho > 0.999 * rho
    bought = {step.name: step.guarantee.rho for step in plan.finder.ledger}
    parameters = plan.finder.parameters
    for epsilon, step in ((parameters.epsilon_level, "level"), (parameters.epsilon_end, "end")):
        assert bounded_range_rho(epsilon) <= bought[step] * (1 + 1e-12)
    assert 2 * noise_rho(parameters.noise, 1.0, omega) <= bought["node"] * (1 + 1e-4)
    each = plan.finder.target.rho + 1 / (2 * plan.scale**2)
    top = omega * (omega - 1) * each
    log_risk = stats.norm.logsf((plan.gap - 0.5 - (omega - 1)) / plan.scale) + top
    assert 2 * np.exp(log_risk) / (1 - np.exp(log_risk)) / (omega * (omega - 1)) <= 1e-4 * rho * (1 + 1e-6)


@pytest.mark.parametrize(("family", "calibration"), NOISES)
@pytest.mark.parametrize("scaled", [7, 100])
@pytest.mark.parametrize("n", [1, 40, 3000])
def test_medians_and_quantiles_add_up_too(family, calibration, scaled, n):
    rho, omega = 0.5, scaled / np.sqrt(0.5)
    how = {"family": family, "calibration": calibration}
    for plan in (
        plan_medians(3, n, 2**11, TCDP(rho, omega), **how),
        plan_quantiles((0.2, 0.7), n, 2**11, TCDP(rho, omega), **how),
    ):
        found = total(plan.ledger)
        assert found.rho == pytest.approx(rho, rel=1e-9)
        assert 2 * noise_rho(plan.finder.parameters.noise, 1.0, omega) <= plan.finder.ledger[1].guarantee.rho * (
            1 + 1e-4
        )


@pytest.mark.parametrize("omega", [1.001, 2.0, 30.0, 1e4, 1e8])
@pytest.mark.parametrize("rho", [1e-4, 0.5, 100.0])
def test_gaps_are_as_long_as_failed_moves_need_and_not_much_longer(omega, rho):
    scale, spare = np.sqrt(10 / rho), 1e-4 * rho
    gap = _least_gap(0.45 * rho, omega, scale, spare)
    assert failed_moves(0.45 * rho, omega, gap, scale) <= spare
    shorter = int(gap - 2 * scale - 2 - 1e-6 * gap)
    assert gap <= GAP_SCALES * scale + omega + 1 or failed_moves(0.45 * rho, omega, shorter, scale) > spare


@pytest.mark.parametrize("n", [1, 2, 50])
def test_few_records_hold_no_window(n):
    with pytest.raises(UserError, match=rf"n = {n} records hold no window; valid: n >= \d+"):
        plan_windows(n, 2**11, TCDP(0.5, 100 / np.sqrt(0.5)))


def test_the_n_that_is_named_holds_a_window():
    with pytest.raises(UserError, match=r"n >= \d+") as told:
        plan_windows(3, 2**11, TCDP(0.5, OMEGA))
    needed = int(str(told.value).split("n >= ")[1].split()[0])
    assert plan_windows(needed, 2**11, TCDP(0.5, OMEGA)).count == 1
    with pytest.raises(UserError):
        plan_windows(needed - 1, 2**11, TCDP(0.5, OMEGA))


@pytest.mark.slow
def test_enormous_omega_is_answered_at_once():
    with pytest.raises(UserError, match="hold no window"):
        plan_windows(5000, 2**11, TCDP(0.5, 1e12), family="gaussian")


@pytest.mark.parametrize(
    ("rho", "omega", "gap", "scale"), [(0.02, 3.0, 30, 5.0), (0.3, 2.0, 12, 2.0), (1e-3, 20.0, 400, 40.0)]
)
def test_failed_moves_cost_what_their_definition_says(rho, omega, gap, scale):
    """2 log((1 - q) / (1 - q e^y)) / a by mpmath: never less, hardly more.

    a = omega (omega - 1), y = a (rho + 1 / (2 scale^2)).
    """
    with mpmath.workdps(60):
        a = mpmath.mpf(omega) * (mpmath.mpf(omega) - 1)
        y = a * (mpmath.mpf(rho) + 1 / (2 * mpmath.mpf(scale) ** 2))
        q = mpmath.ncdf(-(gap - mpmath.mpf("0.5") - (mpmath.mpf(omega) - 1)) / scale)
        defined = 2 * mpmath.log((1 - q) / (1 - q * mpmath.exp(y))) / a
        claimed = failed_moves(rho, omega, gap, scale)
        assert defined <= claimed <= (1 + 1e-6) * defined
