"""Sweeps with a folder: the bits of those in memory, resuming, changed code, and every command on such a run."""

import os
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import tcdp_sim
from tcdp_sim import UserError
from tcdp_sim.results import open_cells, published
from tcdp_sim.store import table, zarr_tree
from tcdp_sim.store.digests import tree_digest

CODE = """
import numpy as np

SCALE = 1.0


def helper(x):
    return SCALE * abs(x)


def median_error(rng, trials, n, epsilon=1.0):
    x = rng.laplace(0, 1 / epsilon, (trials, n))
    return {"error": helper(np.median(x, axis=1)), "large": x[:, 0] > 1}


def large(epsilon):
    return 0.5 * np.exp(-epsilon)


def slow(rng, trials, n):
    import time
    time.sleep(0.02)
    return rng.random(trials)
"""
WORDS = ("sweep.n=[1,5]", "sweep.epsilon=[0.5,1]", "trials=300", "chunk=100", "cluster=serial", "exact.large=large")


def largest(rng, trials, n):
    return {"value": rng.random((trials, n)).max(axis=1), "half": rng.random(trials) < 0.5}


def sometimes_infinite(rng, trials, n):
    return {"value": np.where(rng.random(trials) < 0.2, np.inf, n), "a": rng.random(trials) < 0.5}


def bits(folder):
    """The digest of the published numbers."""
    return tree_digest((folder / "results.zarr").resolve())


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my_file.py"
    path.write_text(CODE)
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results"


def test_a_folder_has_the_numbers_of_a_sweep_in_memory(folder):
    asked = {"trials": 3000, "chunk": 1000, "exact": {"half": 0.5, "value": lambda n: n / (n + 1)}}
    alone = tcdp_sim.sweep(largest, {"n": [1, 4]}, **asked)
    kept = tcdp_sim.sweep(largest, {"n": [1, 4]}, name="kept", results_dir=folder, **asked)
    opened = tcdp_sim.open_results(folder / "kept")
    assert [*alone.variables] == [*kept.variables] == [*opened.variables]
    for name in alone.variables:
        np.testing.assert_array_equal(alone[name], kept[name])
        np.testing.assert_array_equal(alone[name], opened[name])
        assert alone[name].dims == kept[name].dims
    assert opened["n"].dtype == np.int64


@pytest.mark.parametrize("function", [largest, sometimes_infinite])
def test_results_read_from_the_disk_are_those_of_the_first_call(folder, monkeypatch, function):
    """The first call returns the table that it has published, unless that is large; the second one reads it."""
    asked = {"axes": {"n": [1, 4]}, "trials": 30, "chunk": 10, "share": "n", "bound": {"value": lambda n: n + 0.5}}
    first, again = (tcdp_sim.sweep(function, name="kept", results_dir=folder, **asked) for _ in range(2))
    monkeypatch.setattr(zarr_tree, "SMALL", 0)
    large = tcdp_sim.sweep(function, name="large", results_dir=folder, **asked)
    for other in (again, large):
        assert [*other.variables] == [*first.variables]
        assert other.attrs.keys() == first.attrs.keys()
        assert other.drop_attrs(deep=False).identical(first.drop_attrs(deep=False))


@pytest.mark.parametrize("function", ["vectorised", "single"])
def test_small_cells_have_the_same_bits_in_a_folder(folder, function):
    def single(rng, n, kind):
        return n * rng.random()

    def vectorised(rng, trials, n, kind):
        return n * rng.random(trials)

    asked = {"trials": 7, "function": single if function == "single" else vectorised}
    axes = {"n": [1, 2.5], "kind": ["a", None, (1, True)]}
    alone, kept = (tcdp_sim.sweep(axes=axes, name=name, results_dir=folder, **asked) for name in (None, "kept"))
    for name in alone.variables:
        np.testing.assert_array_equal(alone[name], kept[name])


def test_nothing_is_written_without_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=10)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_workers_and_this_process_give_the_same_bits(folder):
    for name, cluster in (("one", "serial"), ("two", {"name": "local", "workers": 2})):
        tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=300, chunk=100, name=name, results_dir=folder, cluster=cluster)
    assert bits(folder / "one") == bits(folder / "two")
    alone = tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=300, chunk=100)
    there = tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=300, chunk=100, cluster={"name": "local", "workers": 2})
    assert alone.identical(there)


def test_the_same_call_resumes_and_more_trials_build_on_the_old_ones(folder, capsys):
    for trials, todo in ((200, "4 of 4 chunks"), (200, "nothing to simulate"), (300, "2 of 6 chunks")):
        tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=trials, chunk=100, name="kept", results_dir=folder)
        assert todo in capsys.readouterr().err
    fresh = tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=300, chunk=100)
    np.testing.assert_array_equal(fresh["value"], tcdp_sim.open_results(folder / "kept")["value"])


def test_a_first_try_with_few_trials_may_grow(folder, capsys):
    for trials, todo in ((30, "2 of 2 chunks"), (100, "6 of 8 chunks"), (20, "nothing to simulate")):
        tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=trials, name="kept", results_dir=folder)
        assert todo in capsys.readouterr().err
    for other in ({"chunk": 20}, {"seed": 1}):
        with pytest.raises(UserError, match="belongs to another run"):
            tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=100, name="kept", results_dir=folder, **other)
    with pytest.raises(UserError, match="chunk = 30 there, 100 here"):
        tcdp_sim.sweep(lambda rng, n: rng.random(), {"n": 1}, trials=100, name="kept", results_dir=folder)


def test_a_lambda_runs_and_is_not_resumed(folder, capsys):
    for _ in range(2):
        tcdp_sim.sweep(lambda rng, n: n * rng.random(), {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
        told = capsys.readouterr().err
        assert "2 of 2 chunks to simulate" in told
        assert "nothing is resumed" in told


def test_a_function_that_reads_something_new_is_noticed(folder, capsys, monkeypatch):
    def by_environment(rng, trials, n):
        return n * rng.random(trials) + float(os.environ["SWEEP_SHIFT"])

    for shift, told in (("0", "2 of 2"), ("0", "nothing to simulate"), ("1", "2 of 2")):
        monkeypatch.setenv("SWEEP_SHIFT", shift)
        found = tcdp_sim.sweep(by_environment, {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
        said = capsys.readouterr().err
        assert told in said
        assert ("draws other numbers than before" in said) == (shift == "1")
    assert (found["value"] > 1).all()


def chunks(folder):
    """The chunks in a folder's journal, by file."""
    return {path.name: path.read_bytes() for path in folder.glob("journal/*.seg")}


def test_a_lambda_never_replaces_chunks_of_a_function_that_can_be_resumed(folder):
    tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
    before = chunks(folder / "kept"), bits(folder / "kept")
    with pytest.raises(UserError, match=r"kept belongs to another run \(function = .*:largest' there, .*; choose"):
        tcdp_sim.sweep(lambda rng, n: n * rng.random(), {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
    assert (chunks(folder / "kept"), bits(folder / "kept")) == before


def drawing(from_elsewhere):
    def f(rng, trials, n):
        return (np.random.default_rng() if from_elsewhere else rng).random(trials)

    return f


@pytest.mark.filterwarnings("ignore:.* does not draw all its random numbers")
def test_a_function_that_has_lost_its_identity_replaces_no_chunks(folder):
    tcdp_sim.sweep(drawing(False), {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
    before = chunks(folder / "kept"), bits(folder / "kept")
    with pytest.raises(UserError, match=r"kept holds chunks of .*f, which can be resumed.*choose another name"):
        tcdp_sim.sweep(drawing(True), {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
    assert (chunks(folder / "kept"), bits(folder / "kept")) == before


def test_changed_numbers_discard_the_chunks_of_that_function_alone(folder, capsys, monkeypatch):
    def by_environment(rng, trials, n):
        return n * rng.random(trials) + float(os.environ["SWEEP_SHIFT"])

    for shift in "01":
        monkeypatch.setenv("SWEEP_SHIFT", shift)
        tcdp_sim.sweep(by_environment, {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
        assert len(chunks(folder / "kept")) == 1
    assert "its stored chunks are discarded" in capsys.readouterr().err


def test_a_function_of_another_name_is_refused_and_replaces_nothing(folder):
    def other(rng, trials, n):
        return n + rng.random(trials)

    tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
    before = chunks(folder / "kept"), bits(folder / "kept")
    with pytest.raises(UserError, match=r"another run \(function = .*:largest' there, .*other' here\); choose another"):
        tcdp_sim.sweep(other, {"n": [1, 4]}, trials=20, name="kept", results_dir=folder)
    assert (chunks(folder / "kept"), bits(folder / "kept")) == before


def test_changed_source_starts_again_and_says_so(command, file, folder):
    assert command("sweep", "my_file.py:median_error", *WORDS)[0] == 0
    before = bits(folder / "median_error")
    run_in_a_process(file, "import my_file")
    file.write_text(CODE.replace("SCALE = 1.0", "SCALE = 2.0"))
    out = run_in_a_process(
        file, "from tcdp_sim.cli.main import main; main()", "sweep", "my_file.py:median_error", *WORDS
    )
    assert "another source of this function" in out
    assert "12 of 12 chunks to simulate" in out
    assert bits(folder / "median_error") != before


def run_in_a_process(file, code, *words):
    """Run Python code beside the file, and return what it prints."""
    code = f"import sys; sys.argv[1:] = {list(map(str, words))!r}; {code}"
    done = subprocess.run([sys.executable, "-c", code], cwd=file.parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_shell_and_python_give_the_same_bytes(command, file, folder):
    assert command("sweep", "my_file.py:median_error", *WORDS)[0] == 0
    code = """
        import tcdp_sim
        from my_file import large, median_error
        tcdp_sim.sweep(median_error, {"n": [1, 5], "epsilon": [0.5, 1]}, trials=300, chunk=100, exact={"large": large},
                       name="python")
    """
    script = file.with_name("script.py")
    script.write_text(textwrap.dedent(code))
    run_in_a_process(file, "import script")
    assert bits(folder / "median_error") == bits(folder / "python")


def test_a_file_that_is_run_has_the_identity_of_the_same_file_imported(command, file, folder):
    call = 'tcdp_sim.sweep(median_error, {"n": 2}, trials=20, name="as_main")'
    file.write_text(CODE + f'\nif __name__ == "__main__":\n    import tcdp_sim\n    {call}\n')
    subprocess.run([sys.executable, file.name], cwd=file.parent, check=True, capture_output=True, timeout=300)
    code, out, _ = command("verify", folder / "as_main", "function=my_file.py:median_error")
    assert (code, "1 of 1 chunks are the stored bits" in out) == (0, True)


def test_every_command_works_on_a_sweep(command, file, folder, figures):
    code, out, _ = command("sweep", "my_file.py:median_error", *WORDS)
    assert code == 0
    assert "none contradicts it beyond chance" in out
    run, function = folder / "median_error", "function=my_file.py:median_error"
    assert (run / "figures" / "error_vs_n.png").stat().st_size > 10_000
    cells = open_cells(run)
    cell = str(cells["id"].values[(cells["n"] == 5) & (cells["epsilon"] == 1)].item())
    file.rename(file.with_name("elsewhere.py"))  # a folder needs no code for these
    for words, text in (
        (("status", run), "12 of 12 chunks, 4 of 4 cells done"),
        (("draw", run), "current: "),
        (("table", run), "5.0,1.0,error,"),
        (("list", folder), "median_error "),
        (("report", run), "report: "),
        (("diff", run, run), "identical: 4 cells"),
        (("show", run), "median_error"),
    ):
        code, out, err = command(*words)
        assert (code, text in out) == (0, True), (words, out, err)
    assert "tcdp-sim sweep my_file.py:median_error" in (run / "report.html").read_text()
    for words in (("verify", run), ("replay", run, f"cell={cell}")):
        code, _, err = command(*words)
        assert (code, "give function=FILE.py:FUNCTION" in err) == (2, True)
    file.with_name("elsewhere.py").rename(file)
    code, out, _ = command("verify", run, function)
    assert (code, "12 of 12 chunks are the stored bits" in out) == (0, True)
    assert "4 of 4 published cells" in out
    code, out, _ = command("replay", run, f"cell={cell}", "index=2", function)
    assert (code, "the same bits as stored" in out) == (0, True)
    code, _, err = command("verify", run, "function=my_file.py:helper")
    assert (code, "its source differs" in err) == (2, True)


def test_a_number_has_one_name_and_one_interval_everywhere(folder):
    found = tcdp_sim.sweep(largest, {"n": [1, 4]}, trials=100, name="kept", results_dir=folder)
    table = tcdp_sim.table(folder / "kept").query("quantity == 'value'")
    drawn = pd.DataFrame(published.read(folder / "kept", None).table).query("quantity == 'value'")
    for end in ("mcse", "lower", "upper"):
        np.testing.assert_array_equal(table[end], found[f"value_{end}"])
        np.testing.assert_array_equal(drawn[end], found[f"value_{end}"])
    np.testing.assert_array_equal(table["value"], found["value"])


def test_verify_notices_a_published_number_that_is_not_of_its_chunks(folder, command, file, monkeypatch):
    assert command("sweep", "my_file.py:median_error", *WORDS)[0] == 0
    mean = table.mean
    monkeypatch.setattr(table, "mean", lambda d: tuple(1.001 * x for x in mean(d)))
    code, out, _ = command("verify", folder / "median_error", "function=my_file.py:median_error")
    assert (code, "NOT what the stored chunks give" in out) == (1, True)


def test_a_contradiction_has_exit_code_3(command, file):
    code, out, _ = command(
        "sweep", "my_file.py:median_error", "sweep.n=1", "trials=2000", "cluster=serial", "exact.large=0.3"
    )
    assert (code, "CONTRADICTION: 1 of 1" in out) == (3, True)
    code, out, _ = command(
        "sweep", "my_file.py:median_error", "sweep.n=1", "trials=2000", "cluster=serial", "bound.error=0.2"
    )
    assert (code, "1 of 1 simulated numbers" in out) == (3, True)
    assert "simulated, bound 0.2. All:" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "sweep needs a function first"),
        (("sweep.n=1",), "sweep needs a function first"),
        (("my_file.py",), "'my_file.py' names no function"),
        (("my_file.txt:f",), "names no function"),
        (("nothing.py:f",), "nothing.py is not a file"),
        (("my_file.py:median_erro",), "did you mean median_error?"),
        (("broken.py:f",), "broken.py cannot be imported (line 2: SyntaxError"),
        (("failing.py:f",), "failing.py cannot be imported (line 1: ZeroDivisionError"),
        (("leaving.py:f",), "leaving.py cannot be imported (line 1: SystemExit"),
        (("my_file.py:median_error", "sweep.m=1"), "median_error takes no 'm'; its axes: n, epsilon"),
        (("my_file.py:median_error", "seeed=1"), "'seeed' is not a key"),
        (("my_file.py:median_error", "sweep.n=[1"), "cannot be read"),
        (("my_file.py:median_error", "sweep.n=1,2"), "write sweep.n=[1,2] for a list"),
        (("my_file.py:median_error", "sweep.n=1", "exact.large=larg"), "did you mean large?"),
        (("my_file.py:median_error", "sweep.n=1", "exact=large"), "valid: exact.NAME=FUNCTION"),
        (("my_file.py:median_error", "sweep.n=1", "hydra.run.dir=x"), "could run code"),
    ],
)
def test_mistakes_on_the_command_line(command, file, words, told):
    file.with_name("broken.py").write_text("\ndef f(:\n")
    file.with_name("failing.py").write_text("1 / 0")
    file.with_name("leaving.py").write_text("raise SystemExit(3)")
    code, _, err = command("sweep", *words)
    assert (code, told in err) == (2, True), err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('tcdp_sim.sweep(slow, {"n": 1}, trials=1, name="slow")', "a sweep"),
        ("run()", "a sweep"),
        ('tcdp_sim.run("histogram", sweep={"k": 10}, trials=10, cluster="serial")', "a study"),
        ("tcdp_sim.audit(slow, neighbours=[])", "an audit"),
    ],
)
def test_a_file_that_simulates_while_it_is_imported_is_told_where_to_put_that(command, file, folder, line, what):
    start = 'import tcdp_sim\n\n\ndef run():\n    tcdp_sim.sweep(slow, {"n": 1}, trials=1, name="slow")\n\n\n'
    file.write_text(f"{CODE}\n{start}{line}\n")
    place = len(file.read_text().splitlines())
    code, _, err = command("sweep", "my_file.py:slow", "sweep.n=1", "trials=1")
    told = f"my_file.py:{place} runs {what} while it is imported; put what should not run then under `if __name__"
    assert (code, told in " ".join(err.split()), err.count("\n")) == (2, True, 1), err
    assert not folder.exists()


def test_another_study_takes_no_function(command, file, folder):
    assert (
        command(
            "sweep.k=10", "sweep.rho=0.1", "sweep.noise=gaussian", "trials=100", "chunk=100", "cluster=serial", "name=x"
        )[0]
        == 0
    )
    code, _, err = command("verify", folder / "x", "function=my_file.py:median_error")
    assert (code, "is no sweep" in err) == (2, True)


@pytest.mark.slow
def test_a_killed_sweep_goes_on_from_its_chunks(file, folder):
    words = ["sweep", "my_file.py:slow", "sweep.n=[1,2]", "trials=1000", "chunk=20", "cluster=serial"]
    code = f"import sys; sys.argv[1:] = {words!r}; from tcdp_sim.cli.main import main; main()"
    killed = subprocess.Popen(
        [sys.executable, "-c", code], cwd=file.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not any(path.stat().st_size > 5000 for path in (folder / "slow").glob("journal/*.seg")):
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    out = run_in_a_process(file, "from tcdp_sim.cli.main import main; main()", *words)
    todo = int(out.split(" of 100 chunks to simulate")[0].split()[-1])
    assert 0 < todo < 100
    run_in_a_process(file, "from tcdp_sim.cli.main import main; main()", *words, "name=fresh")
    assert bits(folder / "slow") == bits(folder / "fresh")


def test_a_name_that_is_no_folder_is_refused(folder):
    with pytest.raises(UserError, match="a folder name"):
        tcdp_sim.sweep(largest, {"n": 1}, trials=10, name="a/b", results_dir=folder)


def test_shared_random_numbers_are_compared_in_the_folder(folder):
    def shifted(rng, trials, n, shift):
        return rng.random((trials, n)).max(axis=1) + shift

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tcdp_sim.sweep(shifted, {"n": 2, "shift": [0, 1]}, trials=200, share="shift", name="kept", results_dir=folder)
        tcdp_sim.draw(folder / "kept")
    assert (folder / "kept" / "differences.csv").exists()


def test_merging_two_sweeps_gives_the_cells_of_both(command, file, folder):
    words = ("sweep", "my_file.py:median_error", "trials=100", "cluster=serial")
    assert command(*words, "sweep.n=[1,2]", "name=a")[0] == 0
    assert command(*words, "sweep.n=[2,3]", "name=b")[0] == 0
    assert command(*words, "sweep.n=[1,2,3]", "name=whole")[0] == 0
    code, out, _ = command("merge", folder / "a", folder / "b")
    assert (code, "3 cells x 100 trials now, those of both" in out) == (0, True)
    assert bits(folder / "a") == bits(folder / "whole")
    assert command(*words, "sweep.n={from: 5, to: 9, num: 3}", "name=c")[0] == 0
    assert command("merge", folder / "a", folder / "c")[0] == 0
    assert tcdp_sim.open_results(folder / "a")["n"].values.tolist() == [1, 2, 3, 5, 7, 9]
    assert command("sweep", "my_file.py:slow", "sweep.n=1", "trials=100", "cluster=serial", "name=d")[0] == 0
    code, _, err = command("merge", folder / "a", folder / "d")
    assert (code, "belongs to another run (function = 'my_file:slow' there" in err) == (2, True), err


def test_merging_keeps_exact_values_and_bounds(command, file, folder):
    words = ("sweep", "my_file.py:median_error", "sweep.epsilon=1", "trials=100", "cluster=serial")
    known = ("exact.large=large", "bound.error=9", "bound.large=0.6")
    assert command(*words, "sweep.n=[1,2]", "name=a", *known)[0] == 0
    assert command(*words, "sweep.n=[2,3]", "name=b", *known)[0] == 0
    assert command(*words, "sweep.n=[1,2,3]", "name=whole", *known)[0] == 0
    file.unlink()
    code, out, _ = command("merge", folder / "a", folder / "b")
    assert (code, "9 simulated numbers have" in out) == (0, True), out
    assert bits(folder / "a") == bits(folder / "whole")
    merged = tcdp_sim.open_results(folder / "a")
    np.testing.assert_array_equal(merged["large_exact"].sel(n=3), 0.5 * np.exp(-1.0))


def test_merging_leaves_unknown_exact_values_out_and_refuses_different_ones(command, file, folder):
    words = ("sweep", "my_file.py:median_error", "sweep.epsilon=1", "trials=100", "cluster=serial")
    for name, known in (("a", "exact.large=large"), ("b", "seed=0"), ("c", "exact.large=0.3")):
        command(*words, f"sweep.n=[{2 if name == 'c' else 1},{3 if name == 'b' else 2}]", f"name={name}", known)
    code, _, err = command("merge", folder / "a", folder / "c")
    assert (code, "differ in large_exact at" in err, err.count("\n")) == (2, True, 1)
    assert command("merge", folder / "a", folder / "b")[0] == 0
    exact = tcdp_sim.open_results(folder / "a")["large_exact"]
    np.testing.assert_array_equal(exact, [0.5 * np.exp(-1.0)] * 2 + [np.nan])
