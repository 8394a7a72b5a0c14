"""Audits that say little and pass: without neighbours, on inputs that are told apart by nothing, too short."""

import inspect
import json
import subprocess
import sys

import audited
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim import audits
from tcdp_sim.audits import WeakAudit, assert_private, pytest_plugin
from tcdp_sim.cli import audit as command
from tcdp_sim.privacy import RDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.report.terminal import Terminal

FUNCTIONS = [tcdp_sim.audit, *(getattr(audits, name) for name in audits.__all__)]
ASK = [f for f in FUNCTIONS if inspect.isfunction(f) and "neighbours" in inspect.signature(f).parameters]
SHAPED = [([1.0], [0.0])]  # neighbours of the same length


def size(data, rng, trials):
    return len(data) + rng.laplace(0, 2, trials)


def now_and_then(data, rng, trials):
    """Return the first record in one of 500 outputs, else nothing."""
    return np.where(rng.random(trials) < 0.002, data[0], 0.0)


@pytest.mark.parametrize("function", ASK, ids=lambda f: f.__name__)
def test_neighbours_have_no_default(function):
    assert inspect.signature(function).parameters["neighbours"].default is inspect.Parameter.empty


def test_all_ways_to_audit_are_among_these():
    assert {tcdp_sim.audit, assert_private} <= set(ASK)
    assert "assert_private" in vars(pytest_plugin)


@pytest.mark.parametrize("neighbours", [SHAPED, [*SHAPED, ([3.0, 1.0], [1.0, 3.0])]], ids=["one pair", "two pairs"])
def test_inputs_that_are_told_apart_by_nothing(neighbours):
    with pytest.warns(WeakAudit, match="both inputs of every pair give the same outputs from the same random stream"):
        report = tcdp_sim.audit(size, neighbours=neighbours, claim=PureDP(0.1), trials=5000, learn=False)
    assert not report.tested
    assert "has tested nothing" in str(report)


TELL = {
    "another pair": (size, [*SHAPED, ([1.0], [1.0, 1.0])]),
    "a rare output": (now_and_then, SHAPED),
    "labels": (audited.labels, audited.ONE),
    "a generator of its own": (lambda data, _, trials: np.random.default_rng().random(trials), SHAPED),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", TELL)
def test_inputs_that_something_tells_apart(name):
    """The own generator's outputs differ at each call, so nothing is known about equal streams."""
    mechanism, neighbours = TELL[name]
    assert tcdp_sim.audit(mechanism, neighbours=neighbours, trials=20_000, learn=False).tested


SHORT = {
    "pure": (audited.laplace, PureDP(0.05)),
    "approximate": (audited.gaussian, ApproxDP(0.05, 1e-6)),
    "renyi": (audited.gaussian, RDP(2.0, 0.001)),
    "zcdp": (audited.gaussian, ZCDP(0.0005)),
}


@pytest.mark.parametrize("name", SHORT)
def test_too_few_outputs_for_twice_the_claim(name):
    """The noise keeps twenty times less than the claim; 200 outputs cannot tell twice the claim from the claim."""
    mechanism, claim = SHORT[name]

    def hidden(data, rng, trials):
        return mechanism(data / 1000, rng, trials)

    with pytest.warns(WeakAudit, match="could not have found twice the claim"):
        report = tcdp_sim.audit(hidden, neighbours=audited.ONE, claim=claim, trials=200, learn=False)
    assert not report.finds_double
    assert report.tested
    assert report.to_dict()["finds_double"] is False


ENOUGH = {
    "pure": (audited.laplace, PureDP(1.0)),
    "far more private than claimed": (lambda data, rng, n: audited.laplace(data / 100, rng, n), PureDP(1.0)),
    "approximate": (audited.gaussian, ApproxDP(4.4, 1e-5)),
    "zcdp": (audited.gaussian, ZCDP(0.5)),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ENOUGH)
def test_enough_outputs_do_not_warn_and_do_find_twice_the_claim(name):
    """Noise of half the size shows twice the claim or more, and these outputs do find it."""
    mechanism, claim = ENOUGH[name]
    given = {"neighbours": audited.ONE, "claim": claim, "trials": 20_000, "learn": False}
    assert tcdp_sim.audit(mechanism, **given).finds_double


def test_double_delta_is_double_the_claim():
    """An event that uses up delta and never happens otherwise: epsilon would be far beyond, and delta just above."""

    def reveals(data, rng, trials):
        return (rng.random(trials) < 0.1) & (data[0] > 0.5)

    report = tcdp_sim.audit(reveals, neighbours=audited.ONE, claim=ApproxDP(0.1, 0.1), trials=20_000)
    assert report.violation > 0.2
    assert report.finds_double


def test_no_claim_and_a_claim_of_zero_have_no_double():
    for claim in (None, PureDP(0.0)):
        with pytest.warns(WeakAudit, match="has tested nothing"):
            report = tcdp_sim.audit(size, neighbours=SHAPED, claim=claim, trials=1000, learn=False)
        assert report.finds_double


PROJECT = """
from tcdp_sim.privacy import PureDP

def size(data, rng, trials):
    return len(data) + rng.laplace(0, 200, trials)

def test_nothing(assert_private):
    assert_private(size, PureDP(0.1), neighbours=[([1.0], [0.0])], seconds=1)

def test_little(assert_private):
    assert_private(size, PureDP(0.00001), neighbours=[([1.0], [])], seconds=1)
"""


def test_the_summary_of_pytest_names_weak_audits(tmp_path):
    (tmp_path / "test_weak.py").write_text(PROJECT)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_weak.py"]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    summary = ran.stdout[ran.stdout.index("warnings summary") :]
    assert "2 passed, 2 warnings" in summary
    assert "WeakAudit: both inputs of every pair give the same outputs" in summary
    assert "WeakAudit: the audit could not have found twice the claim" in summary


def test_the_shell_ends_with_two_and_json_has_the_numbers(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"weak_{tmp_path.name}.py"
    (tmp_path / name).write_text(PROJECT)
    words = [f"{name}:size", "claim=PureDP(0.1)", "trials=1000", "--json"]
    console = Terminal(highlight=False, soft_wrap=True)
    assert command.main(console, [*words, "neighbours=answers(1)"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["tested"], told["finds_double"]) == (False, told["violation"] <= 0.2)
    assert "has tested nothing" in told["weaknesses"][0]
    assert command.main(console, [*words, "neighbours=records([1.0])"]) == 0
    assert json.loads(capsys.readouterr().out)["tested"]
