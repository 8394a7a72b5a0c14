"""The settings of two halves of a study: which cells they have together, against cells that are listed by hand."""

from itertools import permutations

import pytest

from tcdp_sim.core.errors import UserError
from tcdp_sim.study.compose import composed
from tcdp_sim.study.settings import settings
from tcdp_sim.study.study import prepare
from tcdp_sim.study.union import union

FIXED = {"k": 10, "rho": 0.1, "omega_sqrt_rho": 1, "noise": "laplace"}


def study(sweep, **keys):
    return prepare(settings(composed({"also": None, "chunk": 500, "trials": 1000, "sweep": FIXED | sweep, **keys})))


def points(one):
    return [(cell.coords["noise"], cell.coords["k"], cell.coords["rho"]) for cell in one.plan.cells]


def listed(noises=("laplace",), ks=(10.0,), rhos=(0.1,)):
    return {(noise, k, rho) for noise in noises for k in ks for rho in rhos}


@pytest.mark.parametrize(
    ("mine", "other", "both"),
    [
        ({"k": [10, 30]}, {"k": [20, 30]}, listed(ks=(10, 20, 30))),
        ({"k": None, "log10_k": [1, 2]}, {"k": {"from": 10, "to": 30, "num": 3}}, listed(ks=(10, 20, 30, 100))),
        ({"noise": ["laplace"]}, {"noise": ["gaussian"]}, listed(("laplace", "gaussian"))),
        ({"k": [10, 20]}, {"k": 10}, listed(ks=(10, 20))),
        ({"k": 10, "rho": 0.1}, {"k": 20, "rho": 0.2}, {("laplace", 10, 0.1), ("laplace", 20, 0.2)}),
        ({"where": ["k > 5"]}, {"k": 3, "rho": 0.2}, {("laplace", 10, 0.1), ("laplace", 3, 0.2)}),
        (
            {"k": [10, 20], "rho": [0.1, 0.2], "zip": [["k", "rho"]]},
            {"k": [30, 40]},
            {("laplace", 10, 0.1), ("laplace", 20, 0.2), ("laplace", 30, 0.1), ("laplace", 40, 0.1)},
        ),
    ],
)
def test_the_cells_are_those_of_both_in_either_order(mine, other, both):
    first, second = study(mine), study(other)
    one, two = union(first, second), union(second, first)
    assert set(points(one)) == both
    assert points(one) == points(two)
    assert one.config_hash == two.config_hash


def test_three_parts_in_any_order_give_the_same_study():
    parts = [study({"k": k, "noise": noise}) for k, noise in ((10, "laplace"), (20, "gaussian"), (30, "laplace"))]
    found = [union(union(x, y), z) for x, y, z in permutations(parts)]
    cells = {("laplace", 10, 0.1), ("gaussian", 20, 0.1), ("laplace", 30, 0.1)}
    assert all(set(points(each)) == cells for each in found)


def test_the_larger_number_of_trials_is_wanted_of_all_cells():
    both = union(study({"k": 10}, trials=1000), study({"k": 20}, trials=2000, max_trials=10**8))
    assert (both.settings.trials, both.settings.max_trials) == (2000, 10**8)
    assert union(study({}, trials=3000), study({}, trials=2000)).settings.trials == 3000


@pytest.mark.parametrize("skips", [(True, False), (False, True), (True, True), (False, False)])
def test_invalid_cells_are_skipped_if_one_of_them_skips_any(skips):
    """Else the union would refuse a cell that one of its halves has left out."""
    first, second = (study({"k": k}, invalid="skip" if skip else "refuse") for k, skip in zip((10, 20), skips))
    assert union(first, second).settings.invalid == ("skip" if any(skips) else "refuse")


def test_a_target_that_one_of_them_has_is_kept_and_two_are_refused():
    target, other = {"linf_error": {"relative": 0.1}}, {"linf_error": {"relative": 0.2}}
    assert union(study({}), study({"k": 20}, target_mcse=target)).settings.target_mcse == target
    with pytest.raises(UserError, match=r"have different targets .* `tcdp-sim merge WORDS "):
        union(study({}, target_mcse=other), study({"k": 20}, target_mcse=target))


def test_decisions_that_one_of_them_has_are_kept_and_other_targets_are_refused():
    target, other = {"linf_error": {"threshold": 0.1}}, {"linf_error": {"across": "k"}}
    precise = {"linf_error": {"relative": 0.1}}
    assert union(study({}), study({"k": 20}, target=target)).settings.target == target
    with pytest.raises(UserError, match=r"have different targets \(target = .* `tcdp-sim merge WORDS "):
        union(study({}, target={"linf_error": {"threshold": 0.2}}), study({"k": 20}, target=target))
    with pytest.raises(UserError, match=r"have a target and a target_mcse; give one of them to both"):
        union(study({}, target_mcse=precise), study({"k": 20}, target=target))
    with pytest.raises(UserError, match=r"no two cells differ in k alone"):
        study({}, target=other)


def test_another_mechanism_and_other_shared_numbers_are_refused():
    with pytest.raises(UserError, match=r"is of another study .*share = .* `tcdp-sim diff"):
        union(study({}), study({}, share=["noise"]))


def test_the_cells_of_both_stay_where_one_leaves_an_axis_to_its_experiment():
    """The histogram's own values of rho are [0.1, 1.0] as the config suggests; the other gives one."""
    mine, other = study({"rho": None}), study({"rho": 0.7})
    assert set(points(union(mine, other))) == set(points(mine)) | set(points(other))
    assert set(points(union(other, mine))) == set(points(mine)) | set(points(other))


def test_one_law_that_two_studies_name_by_other_axes_has_a_row_for_each():
    """omega = sqrt(10) is omega sqrt(rho) = 1 at rho = 0.1: the same law, and the same numbers, in two places."""
    mine = study({"noise": "sinh_normal"})
    (cell,) = mine.plan.cells
    other = study({"noise": "sinh_normal", "omega_sqrt_rho": None, "omega": cell.coords["omega"]})
    for both in (union(mine, other), union(other, mine)):
        assert {one.id for one in both.plan.cells} == {cell.id}
        assert sorted("omega_sqrt_rho" in one.coords for one in both.plan.cells) == [False, True]
