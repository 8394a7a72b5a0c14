"""Audits on workers and in a folder: the same bits everywhere, resumed where they stopped; mistakes in one line."""

import json

import audited
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits import answer_pairs, counting, sampling
from tcdp_sim.audits.arguments import vectorised
from tcdp_sim.audits.identity import identity
from tcdp_sim.errors import UserError
from tcdp_sim.privacy import ApproxZCDP, PureDP

AUDIT = {"pairs": audited.ONE, "claim": PureDP(1.0), "trials": 20_000}


def numbers(report):
    return report.bound, report.hits, report.event, report.pair_index, report.violation


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(counting, "CHUNK", 4000)


@pytest.fixture
def drawn(monkeypatch):
    """How many chunks of which stage have been drawn."""
    counted = []
    right = sampling._chunk

    def noted(task, chunk, trials):
        counted.append((task.stage, chunk))
        return right(task, chunk, trials)

    monkeypatch.setattr(sampling, "_chunk", noted)
    return counted


def test_the_same_bits_on_any_number_of_workers(small_chunks):
    given = {"pairs": answer_pairs(3), "trials": 50_000, "claim": PureDP(1.0)}
    alone = tcdp_sim.audit(audited.noisy_max, **given)
    both = tcdp_sim.audit(audited.noisy_max, **given, cluster={"name": "local", "workers": 2})
    assert numbers(alone) == numbers(both)
    assert all((a == b).all() for a, b in zip(alone.counts, both.counts))
    other = tcdp_sim.audit(audited.noisy_max, **given, seed=1)
    assert other.hits != alone.hits


def test_a_lambda_runs_on_workers_too():
    report = tcdp_sim.audit(
        lambda data, rng, n: data + rng.laplace(size=(n, 1)), **AUDIT, cluster={"name": "local", "workers": 1}
    )
    assert report.bound > 0.8


def test_what_is_there_is_not_drawn_again(tmp_path, small_chunks, drawn):
    given = {**AUDIT, "name": "first", "results_dir": tmp_path}
    first = tcdp_sim.audit(audited.laplace, **given)
    done = len(drawn)
    again = tcdp_sim.audit(audited.laplace, **given)
    assert len(drawn) == done > 5
    assert numbers(again) == numbers(first)
    assert again.resumed == again.drawn == first.drawn
    assert numbers(tcdp_sim.audit(audited.laplace, **AUDIT)) == numbers(first)
    kept = json.loads((tmp_path / "first" / "audit.json").read_text())
    assert kept["bound"] == first.bound
    assert kept["verdict"] == first.verdict


def test_a_killed_audit_goes_on(tmp_path, small_chunks, drawn, monkeypatch):
    given = {**AUDIT, "name": "killed", "results_dir": tmp_path}
    right = sampling.run

    def stops(task):
        if task.stage == "bound" and task.chunks[0][0] >= 2:
            raise KeyboardInterrupt
        return right(task)

    monkeypatch.setattr(sampling, "run", stops)
    with pytest.raises(KeyboardInterrupt):
        tcdp_sim.audit(audited.laplace, **given)
    monkeypatch.setattr(sampling, "run", right)
    drawn.clear()
    report = tcdp_sim.audit(audited.laplace, **given)
    assert {stage for stage, _ in drawn} == {"bound"}
    assert [chunk for _, chunk in drawn] == [2, 3, 4]
    assert numbers(report) == numbers(tcdp_sim.audit(audited.laplace, **AUDIT))


def test_other_code_and_settings_are_other_runs(tmp_path, drawn):
    given = {**AUDIT, "name": "one", "results_dir": tmp_path}
    tcdp_sim.audit(audited.Known(1.0), **given)
    before = len(drawn)
    report = tcdp_sim.audit(audited.Known(0.5), **given)
    assert report.resumed == 0
    assert report.refuted
    assert len(drawn) == 2 * before


def test_lambdas_are_not_resumed_and_that_is_said(tmp_path, capsys, drawn):
    given = {**AUDIT, "name": "nameless", "results_dir": tmp_path}
    for _ in range(2):
        report = tcdp_sim.audit(lambda data, rng, n: data + rng.laplace(size=(n, 1)), **given)
    assert report.resumed == 0
    assert "nothing is resumed" in report.notes[0]
    assert "nothing is resumed" in capsys.readouterr().err


def test_identities_tell_mechanisms_apart():
    def made(scale, inner=audited.laplace):
        return lambda data, rng, n: data + scale

    def closed(scale):
        def mechanism(data, rng, trials):
            return data + rng.laplace(0, scale, (trials, 1))

        return mechanism

    def opaque(thing):
        def mechanism(data, rng, trials):
            return thing(data)

        return mechanism

    assert identity(audited.laplace) != identity(audited.half_laplace)
    assert identity(audited.laplace) == identity(audited.laplace)
    assert identity(closed(1.0)) != identity(closed(2.0))
    assert identity(closed(1.0)) == identity(closed(1.0))
    assert identity(audited.Known(1.0)) != identity(audited.Known(2.0))
    assert identity(made(1.0)) is None
    assert identity(opaque(object())) is None
    assert identity(opaque(audited.laplace)) != identity(opaque(audited.gaussian))
    assert identity(np.add) is None
    one, other = (identity(vectorised(each)) for each in (audited.one_at_a_time, two_arguments))
    assert None not in (one, other)
    assert one != other


def test_a_mechanism_that_is_no_function_of_its_rng_is_marked(tmp_path, capsys):
    own = np.random.default_rng(3)

    def stubborn(data, rng, trials):
        return data + own.laplace(size=(trials, 1))

    report = tcdp_sim.audit(stubborn, **AUDIT, name="stubborn", results_dir=tmp_path)
    assert not report.reproducible
    assert "not reproducible" in capsys.readouterr().err
    assert tcdp_sim.audit(audited.laplace, **AUDIT).reproducible


def two_arguments(data, rng):
    return data[0]


def raising(data, rng, trials):
    if trials > 1000:
        raise RuntimeError("no such\nthing")
    return np.arange(trials) + data[0]


BAD_OUTPUTS = {
    "one short": (lambda data, rng, n: np.zeros(n - 1), r"outputs have shape \(49,\); valid: \(50, ...\)"),
    "one number": (lambda data, rng, n: 3.0, r"outputs have shape \(\); valid"),
    "NaN": (lambda data, rng, n: np.where(rng.random(n) < 0.5, np.nan, 0), "an output is NaN; valid"),
    "objects": (lambda data, rng, n: np.array([{}] * n), "outputs are of type object; valid: numbers"),
    "raises": (lambda data, rng, n: 1 / 0, "pair 0, pilot: ZeroDivisionError: division by zero"),
    "raises later": (raising, r"pair 0, chunk 0: RuntimeError: no such thing"),
}


@pytest.mark.parametrize("name", BAD_OUTPUTS)
def test_outputs_that_are_none_are_one_line(name):
    mechanism, message = BAD_OUTPUTS[name]
    with pytest.raises(UserError, match=message) as told:
        tcdp_sim.audit(mechanism, **AUDIT)
    assert "\n" not in str(told.value)
    assert "pair 0" in str(told.value)


BAD_ARGUMENTS = {
    "pairs": ([(np.zeros(1), np.zeros(1))], "pair 0: both inputs are equal"),
    "pairs ": ([(np.zeros(1), np.full(1, 5.0))], "pair 0: an entry differs by 5, so the inputs are no neighbours"),
    "pairs  ": ([(np.zeros(1), np.ones(2))], r"pair 0: inputs of shapes \(1,\) and \(2,\) are no neighbours"),
    "pairs   ": ([(np.zeros(1),)], r"pair 0 is not valid; valid: two inputs"),
    "pairs    ": ([], "pairs is not valid; valid: a list of pairs"),
    "pairs     ": (0, "d = 0 is not valid"),
    "trials": (10, "trials = 10 is not valid; valid: a whole number from 100"),
    "level": (1.0, "level = 1 is not valid"),
    "seed": (-1, "seed = -1 is not valid"),
    "claim": (ApproxZCDP(0.1, 0.1), "cannot be audited; valid: PureDP"),
    "claim ": (0.1, "claim = 0.1 cannot be audited"),
    "name": ("../x", "name = '../x' is not valid"),
    "cluster": ("moon", "moon"),
}


@pytest.mark.parametrize("key", BAD_ARGUMENTS)
def test_mistakes_are_one_line(key):
    value, message = BAD_ARGUMENTS[key]
    with pytest.raises(UserError, match=message) as told:
        tcdp_sim.audit(audited.laplace, **{**AUDIT, key.strip(): value})
    assert "\n" not in str(told.value)


def test_no_mechanism_and_no_neighbours_on_purpose():
    with pytest.raises(UserError, match="is no mechanism; valid: a function"):
        tcdp_sim.audit(3)
    far = [(np.zeros(1), np.full(1, 2.0))]
    report = tcdp_sim.audit(audited.laplace, pairs=far, trials=20_000, sensitivity=None)
    assert 1.5 < report.epsilon < 2


def test_a_claim_out_of_reach_is_told_before_the_run(capsys):
    report = tcdp_sim.audit(audited.laplace, pairs=audited.ONE, claim=PureDP(20.0), trials=1000)
    assert report.notes[0].startswith("no sample of 1,000 outputs of each input could refute epsilon <= 20; ")
    assert report.notes[0] in capsys.readouterr().err
    assert not report.refuted


def test_a_studys_folder_is_left_alone(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "run.json").write_text("{}")
    with pytest.raises(UserError, match="belongs to a study"):
        tcdp_sim.audit(audited.laplace, **AUDIT, name="study", results_dir=tmp_path)
