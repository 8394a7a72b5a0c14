"""Current figures stay in place and are named so; they are drawn again once anything that they depend on changes."""

import json
import shutil
import subprocess
import sys
import tracemalloc
from hashlib import blake2b

import pytest
from matplotlib.figure import Figure
from progress_lines import without_progress

from tcdp_sim.core import registry
from tcdp_sim.experiments import histogram
from tcdp_sim.store import digests, figure_record, source

ONE = ("sweep.k=10", "sweep.noise=gaussian")
pytestmark = pytest.mark.usefixtures("figures")


@pytest.fixture
def run(tiny, tiny_once, folder):
    """Return the folder of a run of one cell, what it printed, and a function that draws it again -> (code, stdout)."""
    first = tiny_once(*ONE)
    assert "figure: " in first

    def again(*words):
        code, out, err = tiny(*ONE, "draw", *words)
        assert err == ""
        return code, out

    return folder, first, again


def files(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (folder / "figures").iterdir()}


def is_drawn(out):
    return "figure: " in out and "current: " not in out


def test_current_figures_stay_and_the_report_is_repeated_without_drawing(run, monkeypatch):
    folder, first, again = run
    before, record = files(folder), (folder / figure_record.NAME).read_bytes()
    monkeypatch.setattr(histogram, "rows", None)  # calling any of these would fail
    monkeypatch.setattr(histogram, "figures", None)
    monkeypatch.setattr(Figure, "savefig", None)
    code, out = again()
    assert code == 0
    assert out.splitlines() == first.replace("figure: ", "current: ").splitlines()[-len(out.splitlines()) :]
    assert "gaussian" in out
    assert (files(folder), (folder / figure_record.NAME).read_bytes()) == (before, record)


def test_another_width_of_the_terminal_repeats_the_report_but_leaves_the_figures(run, monkeypatch):
    folder, _, again = run
    before = files(folder)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(Figure, "savefig", None)
    _, out = again()
    assert "current: " in out
    assert files(folder) == before
    assert json.loads((folder / figure_record.NAME).read_text())["said"]["console"].startswith("300 ")


def test_the_digest_of_a_large_file_is_made_without_the_file_in_memory(tmp_path):
    """The CSV file of 200,000 cells has 118 MB."""
    content = bytes(range(256)) * 40_000
    (tmp_path / "table.csv").write_bytes(content)
    expected = blake2b(content, digest_size=16).hexdigest()
    tracemalloc.start()
    try:
        assert digests.of_file_if_any(tmp_path / "table.csv") == expected == digests.of_bytes(content)
        assert tracemalloc.get_traced_memory()[1] < len(content) / 10
    finally:
        tracemalloc.stop()
    assert digests.of_file_if_any(tmp_path / "lost.csv") is None


def code_changes(monkeypatch, folder):
    monkeypatch.setattr(source, "own", lambda: "other code")


def test_figures_of_a_plug_ins_experiment_are_always_drawn(run, monkeypatch):
    folder, *_ = run
    assert figure_record.inputs(folder) is not None
    monkeypatch.setattr(registry, "plug_ins", lambda kind: {"histogram": None})
    assert figure_record.inputs(folder) is None


def test_changed_code_draws_again(run, monkeypatch):
    _, _, again = run
    code_changes(monkeypatch, None)
    assert is_drawn(again()[1])
    assert "current: " in again()[1]


def test_a_changed_table_draws_again(run, tiny, folder):
    before = figure_record.inputs(folder)
    code, out, _ = tiny(*ONE, "trials=1500")
    assert code == 0
    assert is_drawn(out)
    assert figure_record.inputs(folder) != before


@pytest.mark.parametrize("name", ["figures/stability_one_bin.png", "contradictions.csv"])
def test_a_changed_file_is_named_and_drawn_again(run, name):
    folder, _, again = run
    text = (folder / name).read_bytes()
    (folder / name).write_bytes(text + b"x")
    _, out = again()
    assert is_drawn(out)
    assert f"{folder.name}/{name} was changed" in out
    assert (folder / name).read_bytes() == text


@pytest.mark.parametrize("ending", ["png", "pdf", "csv"])
def test_a_lost_file_is_found(run, ending):
    folder, *_ = run
    (path,) = (folder / "figures").glob(f"*.{ending}")
    path.unlink()
    figures, report, damage = figure_record.read(folder, figure_record.inputs(folder))
    assert (figures, report) == (None, None)
    assert damage.startswith(f"{path} was changed or lost")


def sealed(**changed):
    """Return a function that writes a record with other content and a right digest."""

    def write(path):
        known = json.loads(path.read_text())
        known.pop(digests.SEAL)
        digests.write_sealed(path, {**known, **changed})

    return write


SAID = {"console": "80 columns, utf-8", "report": "x", "lines": [], "contradictions": 0}
DAMAGES = {
    "flipped byte": lambda path: path.write_bytes(path.read_bytes().replace(b"gaussian", b"gaussiam", 1)),
    "no JSON": lambda path: path.write_text("{"),
    "a figure elsewhere": sealed(figures=["../../x.png"]),
    "a figure without digests": sealed(figures=["figures/x.png"]),
    "no lines": sealed(said={**SAID, "lines": 3}),
    "no number": sealed(said={**SAID, "contradictions": True}),
    "nothing": sealed(said=[]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record_is_noticed(run, damage):
    folder, *_ = run
    assert figure_record.read(folder, figure_record.inputs(folder))[0]
    damage(folder / figure_record.NAME)
    figures, report, line = figure_record.read(folder, figure_record.inputs(folder))
    assert (figures, report) == (None, None)
    assert line.startswith(f"{folder / figure_record.NAME} ")
    assert line.endswith("the figures are drawn again")


def test_a_damaged_record_is_named_and_replaced(run):
    folder, _, again = run
    record = (folder / figure_record.NAME).read_bytes()
    DAMAGES["flipped byte"](folder / figure_record.NAME)
    _, out = again()
    assert is_drawn(out)
    assert "drawn.json is damaged" in out
    assert (folder / figure_record.NAME).read_bytes() == record


def test_a_stored_report_cannot_command_the_terminal(run):
    folder, _, again = run
    known = json.loads((folder / figure_record.NAME).read_text())["said"]
    sealed(said={**known, "report": known["report"] + "\x1b]0;mine\x07\x1b[2J\x08"})(folder / figure_record.NAME)
    _, out = again()
    assert not set("\x1b\x07\x08") & set(out)
    assert "current: " in out


def test_a_damaged_snapshot_is_still_refused(run, tiny, folder):
    path = folder / "results.zarr" / "trials" / "zarr.json"
    path.write_bytes(path.read_bytes() + b" ")
    code, _, err = tiny(*ONE, "draw")
    assert code == 2
    assert "is damaged" in err


SCRIPT = """
import multiprocessing
import sys
import tcdp_sim.cli.draw
from tcdp_sim.cli.main import main
from tcdp_sim.report import saving

print("started")
tcdp_sim.cli.draw.ROWS = 1
saving.save_all = None  # the figures are saved by two processes
save_all = saving.SecondProcess.save_all


def observed(second, *figures):
    (child,) = multiprocessing.active_children()
    (blocked,) = [line.split()[1] for line in open(f"/proc/{child.pid}/status") if line.startswith("SigBlk")]
    print("deaf to Ctrl-C:", bool(int(blocked, 16) & 2))
    return save_all(second, *figures)


saving.SecondProcess.save_all = observed
sys.argv = ["tcdp-sim", "draw", sys.argv[1]]
main()
"""


@pytest.mark.slow
def test_a_script_without_a_main_guard_may_draw_in_two_processes(run, tmp_path):
    """A process that imported the script would draw in two processes, and so on."""
    folder, _, _ = run
    before = {name: content for name, (content, _) in files(folder).items()}
    (folder / figure_record.NAME).unlink()
    shutil.rmtree(folder / "figures")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)
    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    assert done.stdout.count("started") == 1
    assert "deaf to Ctrl-C: True" in done.stdout
    assert "figure: " in done.stdout
    assert {name: content for name, (content, _) in files(folder).items()} == before
