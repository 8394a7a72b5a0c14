"""The command `tcdp-sim audit-scores`: files that engineers have, the report, and mistakes of one line."""

import json

import numpy as np
import pytest


def write(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", "utf-8")


@pytest.fixture
def files(tmp_path):
    """Scores of 400 runs at epsilon = 2 (Laplace noise), and 1,000 canaries of one run with as much noise each."""
    rng = np.random.default_rng(5)
    sides = np.arange(400) % 2
    write(tmp_path / "runs.csv", "run,score,in", zip(range(400), 2 * sides + rng.laplace(size=400), sides))
    coins = (rng.random(1000) < 0.5).astype(int)
    scores = 2 * coins + rng.laplace(size=1000)
    write(
        tmp_path / "canaries.csv", "canary,run,in,score", [(i, "a", *each) for i, each in enumerate(zip(coins, scores))]
    )
    return tmp_path


@pytest.mark.usefixtures("files")
def test_scores_of_runs_refute_half_of_epsilon(command):
    code, out, _ = command("audit-scores", "runs.csv", "claim=PureDP(1)")
    assert code == 1
    assert out.startswith("1-DP is refuted: epsilon >= 1.")
    assert "200 scores inside and 200 outside" in out
    assert "mu of Gaussian DP >= " in out
    assert command("audit-scores", "runs.csv", "--claim", "PureDP(2)")[0] == 0


@pytest.mark.usefixtures("files")
def test_canaries_of_one_run(command):
    code, out, _ = command("audit-scores", "canaries.csv", "runs=one", "claim=ApproxDP(1, 1e-6)", "larger=inside")
    assert code == 1
    assert "of one run inside" in out
    assert command("audit-scores", "canaries.csv", "runs=one", "claim=PureDP(2)")[0] == 0


@pytest.mark.parametrize("sides", [("TRUE", "FALSE"), (" 1", "0 "), ("True", "false"), ("1.0", "0.0")])
def test_sides_as_spreadsheets_write_them(command, tmp_path, sides):
    write(tmp_path / "scores.csv", "in,score", [(sides[i % 2], 5 - 5 * (i % 2) + i / 100) for i in range(100)])
    code, out, _ = command("audit-scores", "scores.csv", "claim=PureDP(1)", "larger=inside")
    assert code == 1
    assert "50 scores inside and 50 outside" in out


@pytest.mark.usefixtures("files")
def test_true_is_true_in_any_case(command):
    outs = {command("audit-scores", "runs.csv", f"sequential={word}")[1] for word in ("true", "True", "TRUE")}
    assert len(outs) == 1
    assert "while scores arrive" in outs.pop()


@pytest.mark.usefixtures("files")
def test_json_has_the_bounds_and_the_band(command):
    code, out, _ = command("audit-scores", "runs.csv", "delta=0.01", "level=0.9", "--json")
    plain = json.loads(out)
    assert code == 0
    assert plain["level"] == 0.9
    assert plain["claim"] is None
    assert plain["bounds"]["epsilon at delta = 0.01"] == plain["bound"] > 0.8
    assert len(plain["band"]["alpha"]) > 10


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("words", "message"), [
    (["canaries.csv"], "canaries.csv: run a has 1,000 scores, which may depend on each other; valid: one score for"),
    (["runs.csv", "runs=one"], "runs.csv: column run has 400 runs; valid: one run, or runs=many"),
    (["runs.csv", "runs=two"], "runs = 'two' is not valid; valid: 'many', 'one'"),
    (["runs.csv", "clam=PureDP(1)"], "audit-scores: 'clam' is not a key"),
    (["runs.csv", "claim=PureDP(x)"], "claim = PureDP(x) cannot be read"),
    (["runs.csv", "delta=x"], "delta = x is not valid; valid: a number"),
    (["runs.csv", "larger=up"], "larger = 'up' is not valid"),
    (["none.csv"], "none.csv: there is no such file"),
    (["runs.txt"], "runs.txt: the file type is not known"),
    ([], "audit-scores needs one file; valid: FILE.csv"),
    (["a.csv", "b.csv"], "audit-scores needs one file"),
])  # fmt: skip
def test_mistakes_are_one_line(command, words, message):
    code, _, told = command("audit-scores", *words)
    assert code == 2
    assert message in told
    assert told.count("\n") == 1


FILES = {
    "column 'in' is not there; its columns: 'score', 'inside'": ("score,inside", [(1, 1)]),
    "1 of 3 scores are missing; valid: numbers, and -inf or inf": ("score,in", [(1, 1), ("", 0), (2, 0)]),
    "2 of 3 scores are missing": ("score,in", [("nan", 1), ("NaN", 0), (2, 0)]),
    "score '1_05' is no number": ("score,in", [("1_05", 1), (1, 0)]),
    "score 'x' is no number": ("score,in", [("x", 1), (1, 0)]),
    "in = 2 is not valid; valid: 1 (inside), 0 (outside)": ("score,in", [(1, 2)]),
    "in = empty is not valid": ("score,in", [(1, "")]),
    "fewer than two rows have in = 0": ("score,in", [(1, 1), (2, 1), (3, 0)]),
    "column run has empty cells": ("score,in,run", [(1, 1, "")]),
    "canary b is not as often inside as outside": ("score,in,canary", [(1, 1, "a"), (2, 0, "a"), (1, 1, "b")]),
}


@pytest.mark.parametrize("message", FILES)
def test_files_that_are_no_scores_are_refused(command, tmp_path, message):
    write(tmp_path / "s.csv", *FILES[message])
    code, _, told = command("audit-scores", "s.csv")
    assert code == 2
    assert f"s.csv: {message}" in told
    assert told.count("\n") == 1


def test_canaries_are_checked(command, tmp_path):
    """A canary twice in one run is refused; a canary in and out in runs of their own is not."""
    rows = [(k % 7, k % 2, k // 2) for k in range(40)]
    write(tmp_path / "s.csv", "score,in,canary", rows)
    assert command("audit-scores", "s.csv")[0] == 0
    assert "canary 0 has 2 scores; valid: one for each canary" in command("audit-scores", "s.csv", "runs=one")[2]


def test_infinite_and_equal_scores(command, tmp_path):
    write(tmp_path / "s.csv", "score,in", [("-inf" if k % 4 else 3.5, k % 2) for k in range(100)])
    assert command("audit-scores", "s.csv", "claim=PureDP(0.1)")[0] == 1
    write(tmp_path / "s.csv", "score,in", [(1, k % 2) for k in range(100)])
    code, out, _ = command("audit-scores", "s.csv", "claim=PureDP(0.1)")
    assert code == 2
    assert "all scores are equal" in out


def test_compressed_and_parquet_files(command, files):
    import gzip

    import pandas as pd

    first = command("audit-scores", "runs.csv", "claim=PureDP(1)")[:2]
    (files / "runs.csv.gz").write_bytes(gzip.compress((files / "runs.csv").read_bytes()))
    table = pd.read_csv(files / "runs.csv").astype({"in": bool})
    table.to_parquet(files / "runs.parquet")
    table.to_csv(files / "pandas.csv", index=False)
    assert command("audit-scores", "pandas.csv", "claim=PureDP(1)")[:2] == first
    assert command("audit-scores", "runs.csv.gz", "claim=PureDP(1)")[:2] == first
    assert command("audit-scores", "runs.parquet", "claim=PureDP(1)")[:2] == first
