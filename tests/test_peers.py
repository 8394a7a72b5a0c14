"""`make bench-peers` without any peer: its tables, its missing peers, its measure, and the values that it trusts."""

import importlib
import inspect
import math
from types import SimpleNamespace

import mpmath as mp
import pytest
from dp_accounting.pld import privacy_loss_distribution as google
from rich.console import Console

from benchmarks.peers import answers, compare, environments, measure, page, trusted
from benchmarks.peers.__main__ import CONTESTANTS, STARTS
from benchmarks.peers.questions import QUESTIONS, Question

NAMED = {question.name: question for question in QUESTIONS}
EPSILON = "subsampled_gaussian_1000"
TRUTH = 2.124515171


def run(who, answer, cpu, question=EPSILON):
    return {"who": who, "question": question, "answer": answer, "cpu": cpu, "wall": cpu}


RUNS = [
    run("ours", answers.bracket(TRUTH - 5e-5, TRUTH + 5e-5), 0.3),
    run("fake", answers.upper(TRUTH + 1e-3, "a | remark"), 0.15),
    run("wrong", answers.upper(TRUTH - 1e-3), 3.0),
    run("close", answers.upper(TRUTH + 1e-5), 0.9),
    run("farther", answers.upper(TRUTH + 7e-5), 0.9),  # above our upper end, by less than our width
    run("narrow", answers.bracket(TRUTH + 1e-6, TRUTH + 2e-6), 0.9),
    {"who": "broken", "question": EPSILON, "failed": "ImportError: no such thing"},
    run("ours", answers.bracket(0.0, 9.0), 0.2),
    run("ours", answers.bracket(0.0, 9.0), 7.0),
    run("ours", None, 0.5, "first_result"),
]


def rows():
    return {row.who: row for row in compare.compared(RUNS)[0][1]}


def test_costs_are_medians_and_ratios_and_errors_are_from_the_trusted_value():
    found = rows()
    assert next(iter(found)) == "ours"
    assert found["ours"].cpu == 0.3
    assert found["fake"].ratio == pytest.approx(0.5)
    assert found["ours"].error == pytest.approx(1e-4, rel=1e-6)
    assert found["fake"].error == pytest.approx(1e-3, rel=1e-3)
    assert found["ours"].told == "width 1.0e-04"
    assert found["fake"].told == "+1.0e-03"


def test_a_claim_that_the_trusted_value_contradicts_is_told():
    found = rows()
    assert found["wrong"].told == "no upper bound: -1.0e-03"
    assert found["narrow"].told == "width 1.0e-06; the truth is outside by 1.0e-06"


def test_the_page_names_wins_and_losses_failures_and_missing_peers():
    report, missing = compare.compared(RUNS), {"gone": "No matching distribution found for gone==1.0"}
    about = {"date": "2026-01-02", "machine": "2 cores", "python": "3.11", "repeats": 3}
    text = page.markdown(report, {"fake": "1.2"}, missing, about)
    title = NAMED[EPSILON].title
    assert f"- {title}: cheaper: fake; nearer: close\n" in text
    assert "| fake 1.2 | 2.125515 | upper bound | +1.0e-03 | 0.15 | 0.5 | a \\| remark |" in text
    assert "| broken | none | failed |  |  |  | ImportError: no such thing |" in text
    assert "- gone was not measured: No matching distribution found for gone==1.0" in text
    console = Console(width=300, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: SIM115
    page.terminal(report, {"fake": "1.2"}, missing, console)
    printed = console.export_text()
    console.file.close()
    assert "fake 1.2" in printed
    assert "gone was not measured: No matching distribution found for gone==1.0" in printed


def test_who_draws_less_is_scaled_up():
    few = run("few", answers.draws([4.0] * 1000), 0.1, "gaussian_draws")
    (_, found), *_ = compare.compared([run("ours", answers.draws([4.0, -4.0]), 1e-6, "gaussian_draws"), few])
    assert found[1].cpu == pytest.approx(100.0)
    assert found[1].told == "+0.0 s.e."


def test_a_peer_that_cannot_be_installed_is_named_with_pips_reason(monkeypatch, tmp_path):
    def pip(command, **_):
        bad = "prv-accountant" in command
        said = "WARNING: old\nERROR: Could not find a version\nERROR: No matching distribution found\n"
        return SimpleNamespace(returncode=int(bad), stderr=said if bad else "")

    monkeypatch.setattr(environments.subprocess, "run", pip)
    found = environments.installed(tmp_path / "python", tmp_path / "pins.txt", ("autodp", "prv-accountant", "joblib"))
    assert found == {"prv-accountant": "Could not find a version"}
    assert environments.one_line("Killed\n") == "Killed"
    assert environments.one_line("") == "pip gave no reason"


def test_an_environment_with_the_same_pins_is_used_again(monkeypatch, tmp_path):
    asked = []

    def start(command, **_):
        asked.append(command)
        (tmp_path / "root" / "tumult").mkdir(parents=True, exist_ok=True)
        return SimpleNamespace(returncode=0, stderr="")

    pins = tmp_path / "pins.txt"
    pins.write_text("tmlt.core==1\n")
    monkeypatch.setattr(environments, "PINS", {"tumult": pins})
    monkeypatch.setattr(environments.subprocess, "run", start)
    environments.made("tumult", tmp_path / "root")
    before = len(asked)
    python, missing = environments.made("tumult", tmp_path / "root")
    assert (python, missing, len(asked)) == (tmp_path / "root" / "tumult" / "bin" / "python", {}, before)
    pins.write_text("tmlt.core==2\n")
    environments.made("tumult", tmp_path / "root")
    assert len(asked) == 2 * before


def test_all_peers_are_pinned():
    for name, pins in environments.PINS.items():
        lines = pins.read_text().splitlines()
        assert set(environments.PEERS[name]) <= {line.partition("==")[0] for line in lines}
        assert all(line.count("==") == 1 for line in lines)


def test_no_kept_answer_helps():
    seen = []

    def function(x, cells):
        seen.append((x, cells))
        return answers.upper(x)

    question = Question("", "", "", {"x": 2.0, "cells": 3}, {"x": 5.0, "cells": 1})
    found = measure.measured(function, question)
    assert seen[:2] == [(5.0, 1), (2.0, 3)]
    assert found["answer"]["value"] == 2.0
    assert len(set(seen)) == len(seen)
    assert all(x == pytest.approx(2.0, rel=2e-6) and cells == 3 for x, cells in seen[1:])


@pytest.mark.parametrize("module", CONTESTANTS)
def test_contestants_answer_questions_that_there_are(module):
    contestant = importlib.import_module(f"benchmarks.peers.contestants.{module}")
    starts = {function for name, function, _ in STARTS if name == module}
    public = {name: value for name, value in vars(contestant).items() if inspect.isfunction(value)}
    own = {name for name, value in public.items() if value.__module__ == contestant.__name__ and name[0] != "_"}
    assert starts <= own
    assert own - starts <= set(NAMED)
    for name in own - starts:
        inspect.signature(public[name]).bind(**NAMED[name].parameters)
        inspect.signature(public[name]).bind(**NAMED[name].warm)


def test_our_own_answers_hold():
    from benchmarks.peers.contestants import numpy, ours

    small = {"rate": 0.1, "releases": 100, "delta": 1e-4}
    for noise in ("gaussian", "laplace"):
        found = getattr(ours, f"subsampled_{noise}_1000")(**small)
        assert found["low"] <= getattr(trusted, f"subsampled_{noise}")(**small) <= found["high"]
    asked = {"sigma": 1.5, "epsilons": [0.1, 2.0]}
    truth, found = trusted.gaussian_profile(**asked), ours.gaussian_profile(**asked)
    assert all(low <= true <= high for low, true, high in zip(found["low"], truth, found["high"]))
    assert numpy.gaussian_profile(**asked)["value"] == pytest.approx(truth, rel=1e-10)
    kinds = [[2.0, 0.05, 100], [1.5, 0.02, 30]]
    found = ours.twenty_kinds(kinds, 1e-4)
    assert found["low"] <= trusted.twenty_kinds(kinds, 1e-4) <= found["high"] <= found["low"] + 2e-4
    assert ours.sweep_in_memory(3)["count"] == ours.sweep_seeded(3)["count"] == 3
    answer = ours.per_record_draws(100_000)()
    mean, deviation = trusted.per_record_draws(1)
    assert abs(answer["mean_square"] - mean) < 5 * deviation / 100_000**0.5  # fails by chance less than once in 1e5


def test_our_own_selections_and_allocations_hold():
    from benchmarks.peers.contestants import numpy, ours

    for epsilon in (0.5, 2.0):
        assert ours.selection_rho(epsilon)["value"] == pytest.approx(trusted.selection_rho(epsilon), rel=1e-12)
    asked = {"epsilon": 0.3, "candidates": 20, "count": 20_000}
    mean, deviation = trusted.selections(**asked)
    for contestant in (ours, numpy):
        answer = contestant.selections(**asked)()
        assert answer["count"] == 20_000
        assert abs(answer["mean_square"] - mean) < 5 * deviation / 20_000**0.5  # fails by chance once in 1e6
    found = ours.allocation(2.0, 10, 1e-3)
    assert 0.3 < found["low"] <= found["high"] < found["low"] + 2e-4


def test_the_best_of_tries_costs_more_than_one_run_and_less_than_the_theorem():
    """One run is a Gaussian release; dp_accounting has the theorem of Papernot and Steinke."""
    from benchmarks.peers.contestants import dp_accounting, ours

    asked = {"sigma": 20.0, "tries": 5.0, "delta": 1e-5}
    one = trusted.zcdp_conversion(0.5 / 20**2, 1e-5)
    assert one < ours.best_of_tries(**asked)["value"] < dp_accounting.best_of_tries(**asked)["value"]


def test_what_ours_is_worth_stands_where_others_are_cheaper():
    asked = [run("ours", answers.upper(2.2), cpu, "zcdp_conversion") for cpu in (2.0, 2.0, 2.0)]
    cheap, dear = (run("fake", answers.upper(2.2), cpu, "zcdp_conversion") for cpu in (1.0, 3.0))
    worth = NAMED["zcdp_conversion"].worth
    assert next(iter(page.losses(compare.compared([*asked, cheap])))).endswith(f"cheaper: fake; {worth}")
    assert worth not in next(iter(page.losses(compare.compared([*asked, dear]))))


def test_by_hand_and_by_sweep_a_cell_has_the_same_law():
    from benchmarks.peers.contestants.cell import seeded

    mean, error = seeded(6.0)
    assert abs(mean - 3.5) < 0.5
    assert 0 < error < 0.3
    assert (mean, error) == seeded(6.0)


# The trusted values


def test_bounded_range_is_the_largest_mean_loss():
    """The worst pair has the losses t and t - epsilon; its masses under Q sum to 1, and t is the worst one."""
    for epsilon, printed in ((1.0, 0.1233), (2.0, 0.4745)):
        t = [epsilon * i / 4000 for i in range(1, 4000)]
        p = [(math.exp(epsilon - x) - 1) / (math.exp(epsilon - x) - math.exp(-x)) for x in t]
        mean = max(share * x + (1 - share) * (x - epsilon) for share, x in zip(p, t))
        assert trusted.selection_rho(epsilon) == pytest.approx(printed, abs=5e-5)
        assert trusted.selection_rho(epsilon) == pytest.approx(mean, rel=1e-6)


def test_moments_of_a_selection_between_two():
    """Scores 0 and 1: the square is 1 with probability e^(epsilon / 2) / (1 + e^(epsilon / 2))."""
    chance = 1 / (1 + mp.exp(-0.35))
    assert trusted.selections(0.7, 2, 1) == pytest.approx((float(chance), float(mp.sqrt(chance * (1 - chance)))))


def test_plain_gaussians_add_up():
    """Without sampling, n releases of noise sigma are one of sigma / sqrt(n), in closed form."""
    found = trusted.composed([(trusted.gaussian_losses(2.0, 1.0), 5)], 1e-5)
    assert trusted.gaussian_profile(2.0 / 5**0.5, [found])[0] == pytest.approx(1e-5, rel=1e-9)


def test_the_closed_form_is_an_integral():
    with mp.workdps(30):
        for epsilon in (0.0, 1.3):
            start = mp.mpf(epsilon) + mp.mpf(1) / 2  # where the loss of sigma = 1 exceeds epsilon

            def excess(x, epsilon=epsilon):
                return mp.npdf(x, 1) - mp.exp(epsilon) * mp.npdf(x)

            truth = float(mp.quad(excess, [start, start + 3, start + 12]))
            assert trusted.gaussian_profile(1.0, [epsilon])[0] == pytest.approx(truth, rel=1e-12)


def test_kinds_that_are_the_same_are_one():
    both = trusted.twenty_kinds([[1.0, 0.01, 600], [1.0, 0.01, 400]], 1e-6)
    assert both == pytest.approx(trusted.subsampled_gaussian(0.01, 1000, 1e-6), abs=1e-9)
    assert both == pytest.approx(TRUTH, abs=1e-8)


def test_sampled_laplace_lies_between_googles_bounds():
    """Their pessimistic distribution, and their optimistic one, 100 releases at a rate of 0.05."""
    found = trusted.subsampled_laplace(0.05, 100, 1e-6)
    laws = [
        google.from_laplace_mechanism(
            1.0,
            value_discretization_interval=1e-4,
            sampling_prob=0.05,
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
        ).self_compose(100)
        for pessimistic in (True, False)
    ]
    most, least = (law.get_epsilon_for_delta(1e-6) for law in laws)
    assert least <= found <= most
    assert most - found < 1e-4


def test_moments_of_the_draws():
    """E|x|^2 and E|x|^4 of density exp(-sqrt|x|) / 4."""
    moments = [float(mp.quad(lambda x, k=k: x**k * mp.exp(-mp.sqrt(x)) / 2, [0, 10, 100, 1000, 40000])) for k in (2, 4)]
    assert trusted.per_record_draws(1) == pytest.approx((moments[0], (moments[1] - moments[0] ** 2) ** 0.5), rel=1e-9)
