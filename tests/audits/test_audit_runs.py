"""Audits on workers and in a folder: the same bits everywhere, resumed where they stopped; mistakes in one line."""

import json
import os
from dataclasses import replace
from functools import partial

import audited
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits import answers, counting, sampling
from tcdp_sim.core.errors import UserError
from tcdp_sim.core.identity import identity
from tcdp_sim.privacy import ApproxZCDP, PureDP
from tcdp_sim.store import journal

AUDIT = {"neighbours": audited.ONE, "claim": PureDP(1.0), "trials": 20_000}


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
    given = {"neighbours": answers(3), "trials": 50_000, "claim": PureDP(1.0)}
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
    assert len(drawn) == done + 1 > 6  # one chunk of the pair is drawn again, to see that it comes out the same
    del drawn[-1]
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
    assert [chunk for stage, chunk in drawn if stage == "bound"] == [2, 3, 4]
    assert len(drawn) == 4  # and one chunk of an earlier stage, drawn again
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
    one, other = (identity(each) for each in (audited.one_at_a_time, two_arguments))
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
    "one number": (lambda data, rng, n: 3.0, r"pair 0, pilot: .* of type float; valid: 50 outputs, one for each trial"),
    "too few": (lambda data, rng, n: ["a"] * (n - 1), "pair 0, pilot: .* there are 49 outputs; valid: 50"),
    "objects": (lambda data, rng, n: [object()] * n, "output is of type object; valid: numbers, texts, None"),
    "columns": (lambda data, rng, n: {"a": np.zeros(n), "b": [1]}, "a column of the outputs has another length"),
    "raises": (lambda data, rng, n: 1 / 0, r"an exception for every input \(ZeroDivisionError: division by zero\)"),
    "raises later": (partial(tcdp_sim.audit, raising, errors="raise"), "pair 0, chunk 0: RuntimeError: no such thing"),
}


@pytest.mark.parametrize("name", BAD_OUTPUTS)
def test_outputs_that_are_none_are_one_line(name):
    mechanism, message = BAD_OUTPUTS[name]
    audit = mechanism if isinstance(mechanism, partial) else partial(tcdp_sim.audit, mechanism)
    with pytest.raises(UserError, match=message) as told:
        audit(**AUDIT)
    assert "\n" not in str(told.value)


BAD_ARGUMENTS = {
    "neighbours": ([(np.zeros(1), np.zeros(1))], "pair 0: both inputs are equal"),
    "neighbours ": ([(np.zeros(1),)], r"pair 0 is not valid; valid: two inputs"),
    "neighbours  ": ([], "neighbours is not valid; valid: records"),
    "neighbours     ": (None, "neighbours is missing; valid: records"),
    "neighbours   ": (5, r"neighbours = 5 is not clear; valid: answers\(5\) for 5 answers that move, records\(data\)"),
    "neighbours    ": ("abc", "neighbours is not valid; valid: records"),
    "errors": ("ignore", "errors = 'ignore' is not valid; valid: 'output', 'raise'"),
    "seconds": (5.0, "trials and seconds are both given"),
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
    with pytest.raises(UserError, match="is not a mechanism; valid: a function"):
        tcdp_sim.audit(3, neighbours=audited.ONE)
    far = [(np.zeros(1), np.full(1, 2.0))]
    report = tcdp_sim.audit(audited.laplace, neighbours=far, trials=20_000)
    assert 1.5 < report.epsilon < 2


@audited.WEAK
def test_a_claim_out_of_reach_is_told_before_the_run(capsys):
    report = tcdp_sim.audit(audited.laplace, neighbours=audited.ONE, claim=PureDP(20.0), trials=1000)
    assert report.notes[0].startswith("no sample of 1,000 outputs of each input could refute epsilon <= 20; ")
    assert report.notes[0] in capsys.readouterr().err
    assert not report.refuted


def test_a_studys_folder_is_left_alone(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "run.json").write_text("{}")
    with pytest.raises(UserError, match="belongs to a study"):
        tcdp_sim.audit(audited.laplace, **AUDIT, name="study", results_dir=tmp_path)


def from_the_environment(data, rng, trials):
    """Randomised response whose chance of the truth no source tells."""
    return (rng.random(trials) < float(os.environ["KEEP"])) == (data[0] > 0.5)


def test_old_counts_of_a_mechanism_that_has_changed_unseen_are_discarded(tmp_path, monkeypatch, small_chunks, capsys):
    """log(0.52 / 0.48) = 0.08 first, log(0.9 / 0.1) = 2.2 then: the claim of 0.1 is refuted, as in a new folder."""
    given = {"neighbours": audited.ONE, "claim": PureDP(0.1), "trials": 20_000, "name": "env", "results_dir": tmp_path}
    monkeypatch.setenv("KEEP", "0.52")
    assert not tcdp_sim.audit(from_the_environment, **given).refuted
    monkeypatch.setenv("KEEP", "0.9")
    report = tcdp_sim.audit(from_the_environment, **given)
    fresh = tcdp_sim.audit(from_the_environment, **given | {"name": "fresh"})
    assert report.refuted
    assert numbers(report) == numbers(fresh)
    assert report.resumed == 0
    assert "outputs differ from the kept ones" in report.notes[-1]
    assert "outputs differ from the kept ones" in capsys.readouterr().err
    again = tcdp_sim.audit(from_the_environment, **given)
    assert (again.resumed, again.notes) == (again.drawn, ())
    assert numbers(again) == numbers(fresh)


def test_that_counts_of_another_source_are_not_used_is_said(tmp_path):
    given = {**AUDIT, "name": "one", "results_dir": tmp_path}
    assert tcdp_sim.audit(audited.laplace, **given).notes == ()
    assert (
        "belong to another mechanism, source, seed or size" in tcdp_sim.audit(audited.half_laplace, **given).notes[-1]
    )


def _tripled(record):
    record["cells"] = [[[3 * n for n in column] for column in side] for side in record["cells"]]


TAMPERED = {  # what a record says that no chunk can have counted
    "three times the trials": _tripled,
    "a negative count": lambda record: record["cells"][0][0].extend([-1, 1]),
    "a fraction": lambda record: record["cells"][0][0].append(0.0),
    "no key": lambda record: record.pop("key"),
    "a key of another kind": lambda record: record.update(key=["x"]),
    "a chunk below none": lambda record: record.update(chunk=-1),
    "no trials": lambda record: record.update(trials=0),
    "trials in words": lambda record: record.update(trials="many"),
    "one side": lambda record: record["cells"].pop(),
    "a column too few": lambda record: record["cells"][0].pop(),
    "no cells": lambda record: record.update(cells=None),
    "numbers beyond a machine's": lambda record: record["cells"][0].__setitem__(0, [10**30]),
    "ends out of order": lambda record: record["low"][0].__setitem__(0, [2.0, 1.0]),
    "an end that is no number": lambda record: record["high"][0].__setitem__(0, [float("nan")]),
    "more ends than trials": lambda record: record["low"][0].__setitem__(0, [0.0] * (record["trials"] + 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_a_record_that_cannot_be_is_named_and_drawn_again(tmp_path, small_chunks, name):
    """Every record is rewritten, with a right digest."""
    given = {**AUDIT, "name": "one", "results_dir": tmp_path}
    first = tcdp_sim.audit(audited.laplace, **given)
    records = [payload for _, _, payload in journal.read(tmp_path / "one" / "journal")]
    for path in (tmp_path / "one" / "journal").glob("*.seg"):
        path.unlink()
    with journal.Writer(tmp_path / "one" / "journal") as writer:
        for payload in records:
            record = json.loads(payload[1:])
            TAMPERED[name](record)
            writer.append(payload[:1] + json.dumps(record).encode())
    report = tcdp_sim.audit(audited.laplace, **given)
    assert numbers(report) == numbers(first)
    assert report.resumed == 0
    assert report.notes[0].startswith(f"journal/{writer.path.name}: {len(records)} damaged records")


def test_a_record_of_other_columns_or_of_no_json_is_not_used(tmp_path, small_chunks):
    given = {**AUDIT, "name": "one", "results_dir": tmp_path}
    first = tcdp_sim.audit(audited.laplace, **given)
    records = [json.loads(payload[1:]) for _, _, payload in journal.read(tmp_path / "one" / "journal")]
    with journal.Writer(tmp_path / "one" / "journal") as writer:
        writer.append(b"A{")
        for record in records:
            record["cells"] = [[[*column, 0] for column in side] for side in record["cells"]]
            writer.append(b"A" + json.dumps(record).encode())
    os.rename(writer.path, writer.path.with_name("zzz.seg"))  # read last
    report = tcdp_sim.audit(audited.laplace, **given)
    assert (numbers(report), report.resumed) == (numbers(first), 0)
    assert report.notes[0] == "journal/zzz.seg: 1 damaged records; their chunks are drawn again"


def test_counts_are_alike_if_all_of_their_numbers_are():
    """Outputs may stay in their cells and move all the same: the extremes tell."""
    one = sampling.Counts(3, *(([np.array(ends)], [np.array(ends)]) for ends in ([1, 2], [0.5, 0.7], [2.0, 3.0])))
    assert counting.alike(one, replace(one))
    assert not counting.alike(one, replace(one, trials=4))
    for name, ends in (("cells", [2, 1]), ("low", [0.5, 0.6]), ("high", [2.0, 3.5])):
        same = getattr(one, name)[0]
        for changed in ((same, [np.array(ends)]), ([np.array(ends)], same)):
            assert not counting.alike(one, replace(one, **{name: changed})), name
