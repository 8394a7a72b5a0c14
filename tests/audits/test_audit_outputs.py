"""Outputs of any kind, exceptions among them, and mechanisms that are no function of input and rng."""

import itertools
import time
from collections import namedtuple
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import partial

import audited
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim.audits import arguments, events, layout, pace, records, stages
from tcdp_sim.audits.events import Thresholds
from tcdp_sim.audits.outputs import Raised, alike
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import PureDP

AUDIT = {"claim": PureDP(1.0), "trials": 3000, "learn": False}
TWO = records(["a", "b"])


@dataclass(frozen=True)
class Answer:
    count: float
    name: str


Pair = namedtuple("Pair", "count name")


def yes(data, rng):
    """Say yes or no, the truth about a first record with 95%."""
    return (rng.random() < 0.95) == (len(data) > 0 and data[0] == "a")


KINDS = {  # each tells the data with and without "a" apart, by log(.95 / .05) = 2.9; and the event in words
    "label": (
        lambda data, rng: "yes" if yes(data, rng) else "no",
        ("output = 'yes'", "output != 'yes'", "output = 'no'"),
    ),
    "none": (
        lambda data, rng: None if yes(data, rng) else 0.5,
        ("there is", "output = None", "output != None", "output >=", "output <"),
    ),
    "tuple": (lambda data, rng: ("x", yes(data, rng), rng.random()), ("output[1] = ", "output[1] != ")),
    "dict": (lambda data, rng: {"mean": rng.random(), "top": "A" if yes(data, rng) else "B"}, ("output['top']",)),
    "missing": (lambda data, rng: {"a": 1.0} if yes(data, rng) else {}, ("there is output['a']", "there is no output")),
    "set": (
        lambda data, rng: {"a", "b"} if yes(data, rng) else {"b"},
        ("'a' in output", "'a' not in output", "length"),
    ),
    "list": (lambda data, rng: [3.0] * (2 if yes(data, rng) else 1), ("length of output", "sum", "output[1]")),
    "nested": (lambda data, rng: {"x": [{"y": 7 if yes(data, rng) else 1}]}, ("output['x'][0]['y']",)),
    "record": (lambda data, rng: Answer(1.0, "A" if yes(data, rng) else "B"), ("output['name']",)),
    "named": (lambda data, rng: Pair(1.0, "A" if yes(data, rng) else "B"), ("output['name']",)),
    "frame": (
        lambda data, rng: pd.DataFrame({"key": ["u", "v" if yes(data, rng) else "w"], "n": [1, 2]}),
        ("'v'", "'w'"),
    ),
    "series": (lambda data, rng: pd.Series([1.0, 2.0], ["u", "v" if yes(data, rng) else "w"]), ("'v'", "'w'")),
    "array": (lambda data, rng: np.ones(2 if yes(data, rng) else 3), ("length of output", "sum of", "output[2]")),
    "nan": (lambda data, rng: np.nan if yes(data, rng) else 1.0, ("output is NaN", "output is not NaN", "output >=")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_of_every_kind_are_read(kind):
    mechanism, words = KINDS[kind]
    few = {"trials": 600} if kind in ("frame", "series") else {}
    report = tcdp_sim.audit(mechanism, neighbours=[(["a"], ["b"])], **{**AUDIT, **few})
    assert report.refuted
    assert 2.0 < report.bound < np.log(0.95 / 0.05)
    assert any(word in report.event for word in words), report.event
    rng = np.random.default_rng(1)
    held = report.holds([mechanism(["a"], rng) for _ in range(100)])
    assert held.shape == (100,)
    assert held.mean() > 0.8 if report.toward == "first" else held.mean() < 0.2


def test_a_reader_answers_as_a_plain_loop_does():
    """Against questions that are answered by hand."""
    outputs = [{"a": 1, "s": {"x"}}, {"a": float("nan"), "s": {"x", "y"}}, {"s": set()}, {"a": 2, "s": {"y"}}]
    reader = layout.reader(outputs)
    table = dict(zip([each.words for each in reader.questions], reader(outputs).T.tolist()))
    assert table["output['a']"] == [1.0, -np.inf, -np.inf, 2.0]
    assert table["output['a'] is NaN"] == [0.0, 1.0, 0.0, 0.0]
    assert table["there is output['a']"] == [1.0, 1.0, 0.0, 1.0]
    assert table["'x' in output['s']"] == [1.0, 1.0, 0.0, 0.0]
    assert table["length of output['s']"] == [1.0, 2.0, 0.0, 1.0]
    assert reader([None, 7, "text", [1], {}]).shape == (5, len(reader.questions))  # what no pilot has shown


def test_a_vectorised_mechanism_may_return_objects():
    def columns(data, rng, trials):
        return {"n": rng.random(trials), "yes": (rng.random(trials) < 0.95) == (data[0] == "a")}

    report = tcdp_sim.audit(columns, neighbours=[(["a"], ["b"])], **AUDIT)
    assert report.refuted
    assert "output['yes']" in report.event
    frame = pd.DataFrame({"n": [1, 2], "t": ["x", "y"]})
    assert alike(frame, 2) == [{"n": 1, "t": "x"}, {"n": 2, "t": "y"}]
    assert alike(["a", 1], 2) == ["a", 1]  # numpy would make a text of the number
    assert alike([(1, 2), (3, 4)], 2).tolist() == [[1, 2], [3, 4]]


def crashes(data, rng):
    if len(data) < 2 and rng.random() < 0.5:
        raise ZeroDivisionError("no data")
    return rng.random()


def test_exceptions_that_depend_on_the_data_are_outputs():
    report = tcdp_sim.audit(crashes, neighbours=TWO, **AUDIT)
    assert report.refuted
    assert report.event == "the mechanism raises ZeroDivisionError"
    assert 0 in report.hits
    with pytest.raises(UserError, match=r"pair 0, pilot: ZeroDivisionError: no data"):
        tcdp_sim.audit(crashes, neighbours=TWO, **AUDIT, errors="raise")
    assert repr(Raised("KeyError", "x")) == "raised KeyError"


def test_an_exception_of_a_whole_call_counts_for_single_outputs():
    """A call of many outputs fails with one of them: 10% of single calls fail, and nearly all calls of a thousand."""

    def of_one_in_ten(data, rng, trials):
        outputs = rng.random(trials)
        if len(data) < 2 and outputs.min() < 0.1:
            raise ValueError
        return outputs

    report = tcdp_sim.audit(of_one_in_ten, neighbours=[(["a"], ["a", "b"])], **AUDIT)
    assert report.event == "the mechanism raises ValueError"
    assert abs(report.hits[0] / 3000 - 0.1) < 5 * np.sqrt(0.09 / 3000)
    assert report.hits[1] == 0


def test_a_rare_exception_that_no_pilot_shows_is_an_output_too():
    def seldom(data, rng, trials):
        outputs = rng.random((trials, 2))
        if len(data) < 2 and (outputs[:, 0] < 1e-3).any():
            raise ValueError
        return outputs

    given = {**AUDIT, "trials": 20_000, "claim": PureDP(0.1)}
    report = tcdp_sim.audit(seldom, neighbours=[(["a"], ["a", "b"])], **given, seed=2)
    assert report.refuted
    assert report.bound > 0.5


class CountsItsCalls:
    """Correct noise, on an answer that grows with every call."""

    def __init__(self):
        self.calls = itertools.count()

    def __call__(self, data, rng, trials):
        return data[0] + next(self.calls) * 0.1 + rng.laplace(0, 1, trials)


class ChangesLate:
    """Correct noise, on an answer that is another one after some calls."""

    def __init__(self, after):
        self.after, self.calls = after, 0

    def __call__(self, data, rng, trials):
        self.calls += 1
        return data[0] + 10 * (self.calls > self.after) + rng.laplace(0, 1, trials)


def by_the_clock(data, rng, trials):
    return data[0] + time.perf_counter() + rng.laplace(0, 1, trials)


UNSTEADY = {
    "calls": CountsItsCalls,
    "clock": lambda: by_the_clock,
    **{f"late {after}": partial(ChangesLate, after) for after in (2, 9, 15)},
}


@pytest.mark.parametrize("kind", UNSTEADY)
def test_outputs_that_depend_on_more_than_input_and_rng_refute_no_true_claim(kind):
    """Drawn one input after the other, all of these would be refuted. The chance of a false alarm is 1e-4 each."""
    mechanism = UNSTEADY[kind]()
    report = tcdp_sim.audit(mechanism, neighbours=audited.ONE, **{**AUDIT, "trials": 20_000}, level=1 - 1e-4)
    assert not report.refuted
    if not isinstance(mechanism, ChangesLate):
        assert not report.reproducible
        assert "calls in turn" in str(report).splitlines()[0]


def test_a_late_change_within_a_task_is_noticed(capsys):
    """The change comes in the midst of the outputs that the bound is computed from."""
    before = CountingLaplace()
    tcdp_sim.audit(before, neighbours=audited.ONE, **{**AUDIT, "trials": 50_000})
    report = tcdp_sim.audit(ChangesLate(before.calls - 4), neighbours=audited.ONE, **{**AUDIT, "trials": 50_000})
    assert "the audit begins again" in capsys.readouterr().err
    assert not report.reproducible
    assert not report.refuted


class CountingLaplace:
    def __init__(self):
        self.calls = 0

    def __call__(self, data, rng, trials):
        self.calls += 1
        return data[0] + rng.laplace(0, 1, trials)


def test_interleaved_calls_still_find_a_bug():
    own = np.random.default_rng(1)
    report = tcdp_sim.audit(lambda data, rng: data[0] + own.laplace(0, 0.5), neighbours=audited.ONE, **AUDIT)
    assert report.refuted
    assert not report.reproducible


@audited.WEAK
@pytest.mark.slow
def test_interleaved_audits_of_a_true_claim_err_seldom():
    """400 audits at level 0.9 of a mechanism whose answer drifts; more than 71 refutations have a chance of 1e-6."""
    wrong = 0
    for seed in range(400):
        own = np.random.default_rng(seed)
        drift = itertools.count()
        mechanism = lambda data, rng: data[0] + 0.01 * next(drift) + own.laplace(0, 1)  # noqa: B023, E731
        wrong += tcdp_sim.audit(mechanism, neighbours=audited.ONE, claim=PureDP(1.0), trials=300, level=0.9).refuted
    assert wrong <= 71


def test_a_mechanism_that_changes_its_input_is_refused():
    def grows(data, rng):
        data.append(1)
        return rng.random()

    with pytest.raises(UserError, match="it changes its input; valid: a mechanism that works on a copy"):
        tcdp_sim.audit(grows, neighbours=records([1, 2]), **AUDIT)


@pytest.mark.parametrize("pairs", [1, 9])
@pytest.mark.parametrize("cost", [1e-3, 1e-6])
def test_seconds_decide_the_number_of_trials(monkeypatch, pairs, cost):
    """The outputs of all stages take the time given, and a twentieth more trials would not fit."""
    monkeypatch.setattr(pace, "_seconds_per_output", lambda audit, seconds, most_at_once: cost)
    monkeypatch.setattr(time, "perf_counter", lambda: 7.0)
    neighbours = [(np.zeros(1), np.full(1, 1.0 + place)) for place in range(pairs)]
    checked = arguments.checked(
        audited.laplace, neighbours, None, None, 20.0, 0.95, 0, "output", False, False, None, "results"
    )
    trials = pace.paced(checked, 7.0, 1).trials
    cost += pace.COUNTING
    assert 2 * cost * stages.outputs_needed(trials, pairs) <= 20
    assert 2 * cost * stages.outputs_needed(int(1.1 * trials) + 2, pairs) > 20
    assert replaced(checked, trials=trials).seconds == 20


def noisy_parts(data, rng):
    """Twelve noisy numbers that tell nothing, in a row."""
    return dict(zip("abcdefghijkl", (len(data) + rng.laplace(0, 20, 12)).tolist()))


def of_dicts(data, rng):
    return {**noisy_parts(data, rng), "seen": bool(rng.random() < (0.01 if len(data) > 2 else 0.0))}


def of_frames(data, rng):
    frame = pd.DataFrame({"name": ["x", "y"], "count": rng.laplace(len(data), 20, 2), "age": rng.laplace(0, 20, 2)})
    if len(data) > 2 and rng.random() < 0.03:
        frame.loc[1, "age"] = 5e9
    return frame


@pytest.mark.parametrize(("mechanism", "seed"), [(of_dicts, 0), (of_dicts, 1), (of_dicts, 2), (of_frames, 1)])
def test_a_part_that_leaks_seldom_is_found_among_noisy_ones(mechanism, seed):
    """The leak happens once or three times in 100 runs. It shows epsilon = 2 alone, and sums of all parts show 0.1."""
    report = tcdp_sim.audit(
        mechanism, neighbours=records([1, 2, 3], domain=[9]), claim=PureDP(1.0), trials=3000, learn=False, seed=seed
    )
    assert report.refuted
    assert "seen" in report.event or "['age']" in report.event
    assert max(report.hits) > 15
    assert min(report.hits) <= 2


@pytest.mark.parametrize(("likely", "rare"), [([7], [0]), ([7, 3, 0], [0, 3, 0]), ([40, 12], [22, 1]), ([], [])])
def test_evidence_is_an_exact_p_value_shared_by_the_thresholds(likely, rare):
    seen = Thresholds(np.arange(len(likely)), np.array(likely, int), np.array(rare, int), 100)
    hits = [(likely, rare), (rare, likely)]
    hits += [(100 - np.array(one, int), 100 - np.array(other, int)) for one, other in hits]
    found = [
        stats.binomtest(int(a), int(a + b), alternative="greater").pvalue for pair in hits for a, b in zip(*pair) if a
    ]
    exact = max(0.0, -np.log10(min(found, default=1.0) * max(len(likely), 1)))
    assert events.evidence(seen) == pytest.approx(exact)


class Slow:
    """Laplace noise of the mechanism's own, if it has a generator; a call takes .1 ms and 1 us an output on a clock.

    From some call on it draws from its own generator, if `steady_calls` is not None.
    """

    def __init__(self, monkeypatch, steady_calls=None):
        self.now, self.calls, self.steady_calls = 0.0, 0, steady_calls
        self.own = np.random.default_rng(3)
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def __call__(self, data, rng, trials):
        self.now += 1e-4 + 1e-6 * trials
        self.calls += 1
        if self.steady_calls is not None and self.calls > self.steady_calls:
            rng = self.own
        return data[0] + rng.laplace(0, 1, trials)


@pytest.mark.parametrize("steady_calls", [None, 0, 60], ids=["steady", "a state", "a state that shows late"])
def test_an_audit_takes_the_time_given(monkeypatch, steady_calls):
    """Calls of one output cost more than calls of many: the time is that of the calls that an audit makes."""
    slow = Slow(monkeypatch, steady_calls)
    report = tcdp_sim.audit(slow, neighbours=audited.ONE, claim=PureDP(2.0), seconds=3.0)
    assert report.reproducible == (steady_calls is None)
    assert 1.0 < slow.now <= 3.2


def test_a_slow_mechanism_is_audited_in_the_time_given():
    report = tcdp_sim.audit(
        lambda data, rng: data[0] + rng.laplace(0, 0.2), neighbours=audited.ONE, claim=PureDP(1.0), seconds=2.0
    )
    assert report.refuted
    assert report.trials > 100  # few under load


class Alternates:
    """An output that only tells whether the number of calls is even, after some calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, data, rng):
        self.calls += 1
        return self.calls % 2 if self.calls > 60 else 0


def test_the_order_of_interleaved_calls_is_random():
    """With one input always first, the parity of the calls would tell the inputs apart. False alarm: 1e-4."""
    given = {**AUDIT, "claim": PureDP(0.5)}
    assert not tcdp_sim.audit(Alternates(), neighbours=audited.ONE, **given, level=1 - 1e-4).refuted


@pytest.mark.parametrize("trials", [5000, 50_000])
def test_an_audit_draws_no_more_outputs_than_its_plan(trials):
    """Counted by the mechanism itself: at most the plan and the few outputs that test reproducibility."""
    drawn = []

    def counted(data, rng, trials):
        drawn.append(trials)
        return data[0] + rng.laplace(0, 1, trials)

    tcdp_sim.audit(counted, neighbours=audited.ONE, claim=PureDP(1.0), trials=trials, learn=False)
    planned = 2 * stages.outputs_needed(trials, 1)
    assert 0.5 * planned < sum(drawn) <= planned + 1000
