"""The table of commands: dispatch, help, completion and suggestions follow from it, and a new command needs no more."""

import re
import subprocess

import pytest

from tcdp_sim.cli import commands
from tcdp_sim.cli.command import Command
from tcdp_sim.study import groups

SMALL = ("cluster=serial", "trials=10", "chunk=10", "also=null", "sweep.rho=0.1", "sweep.k=10", "sweep.noise=gaussian")


@pytest.fixture
def seed(monkeypatch):
    """The command of CONTRIBUTING.md, added to the table."""

    def print_seed(console, run, times=1):
        console.print(f"{run.settings.seed * times} in {run.folder.name}", markup=False)

    monkeypatch.setitem(
        commands.COMMANDS, "seed", Command(print_seed, ("RUN",), "print the seed of a run", {"times": 1})
    )


@pytest.mark.usefixtures("seed")
def test_a_line_in_the_table_is_all_that_a_command_needs(command):
    assert command(*SMALL, "seed=7")[0] == 0
    assert command("seed", "results/histogram", "times=2")[:2] == (0, "14 in histogram\n")
    assert command("seed", "seed=5")[:2] == (0, "5 in histogram\n")
    code, out, _ = command("seed", "-m", "seed=5,6", "times=10", "name=s${seed}")
    assert (code, out) == (0, "50 in s5\n60 in s6\n")
    assert re.search("\n  tcdp-sim seed RUN times=1 +print the seed of a run\n", command("--help")[1])
    code, out, _ = command("seed", "--help")
    assert (code, out.splitlines()[:2]) == (0, ["tcdp-sim seed RUN times=1", "  print the seed of a run"])
    assert "did you mean seed?" in command("sede", "results/histogram")[2]
    assert "did you mean times?" in command("seed", "results/histogram", "tims=2")[2]
    assert "times = 'x'" in command("seed", "results/histogram", "times=x")[2]


@pytest.mark.parametrize(
    ("words", "seeds"),
    [
        ((), [2018]),
        (("seed=3",), [3]),
        (("run", "seed=3"), [3]),
        (("run",), [2018]),
        (("--multirun", "seed=3,4"), [3, 4]),
        (("run", "seed=3,4", "-m"), [3, 4]),
    ],
)
def test_words_without_a_command_run_a_study(command, monkeypatch, words, seeds):
    ran = []
    monkeypatch.setattr("tcdp_sim.cli.run.main", lambda settings, console: ran.append(settings.seed) or 0)
    assert command(*words)[0] == 0
    assert ran == seeds


def test_the_exit_code_of_several_runs_is_the_largest(command, monkeypatch):
    codes = iter([0, 3, 0])
    monkeypatch.setattr("tcdp_sim.cli.run.main", lambda settings, console: next(codes))
    assert command("-m", "seed=3,4,5")[0] == 3


def test_a_run_is_resumed_by_its_folder(command, folder):
    assert command(*SMALL, "seed=7")[0] == 0
    (folder / "certificate.json").unlink()
    code, out, _ = command("run", "results/histogram")
    assert (code, "nothing to simulate" in out) == (0, True)
    assert (folder / "certificate.json").exists()
    assert "to simulate: 0 of 1 chunks" in command("plan", "results/histogram")[1]
    assert "seed: 7\n" in command("show", "results/histogram")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("mode=fly", "seed=3"), "mode is not a key; valid: "),
        (("status", "name=x", "index=3"), "index is not a key; valid: "),
        (("reproduce", "mode=plan"), "reproduce: 'mode' is not a key"),
        (("--cfg", "job"), "`tcdp-sim show` prints"),
        (("-sc", "install=bash"), "`tcdp-sim completion` says"),
        (("--info",), "valid: --multirun, --version, --help"),
        (("list", "--all"), "--all is not an option"),
        (("results/mine",), "'results/mine' is no command"),
        (
            ("run", "results", "seed=3"),
            "'seed' is not a key of this command; valid: tcdp-sim run [RUN] noise=FILE",
        ),
        (("seed=3", "nowhere"), "'nowhere' is neither KEY=VALUE nor a folder"),
        (("list", "seed=3"), "list: 'seed' is not a key of this command; valid: tcdp-sim list [FOLDER]"),
        (("merge", "name=x"), "merge takes RUN FOLDER, not RUN"),
        (("-m", "seed=interval(1,2)"), "has no end of values"),
    ],
    ids=str,
)
def test_what_is_no_command_or_key_is_one_line(command, tmp_path, words, said):
    (tmp_path / "results").mkdir()
    code, out, err = command(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_help_anywhere_in_a_study_is_the_whole_help(command):
    assert command("seed=3", "--help") == command("--help")
    assert command("-h")[1].startswith("tcdp-sim: ")
    assert "full=true" in command("reproduce", "--help")[1]


# Completion


@pytest.fixture
def completed(command, monkeypatch):
    """completed(line) -> what is offered for the word at its end."""

    def offered(line):
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_POINT", str(len(line)))
        code, out, err = command("completion", "tcdp-sim", "", "tcdp-sim")
        assert (code, err) == (0, "")
        return out.splitlines()

    return offered


def test_a_shell_completes_commands_keys_and_options(completed):
    assert completed("tcdp-sim re") == ["redraw=", "replay ", "report ", "reproduce ", "results_dir="]
    assert completed("tcdp-sim plan re") == ["redraw=", "results_dir="]
    assert completed("tcdp-sim plan sweep.log10_rh") == ["sweep.log10_rho="]
    assert set(completed("tcdp-sim plan sweep.")) >= {"sweep.k=", "sweep.noise=", "sweep.gap=", "sweep.zip="}
    assert completed("tcdp-sim plan swe") == ["sweep."]
    assert completed("tcdp-sim experiment=gap") == [n for n in groups.options("experiment") if n.startswith("gap")]
    assert completed("tcdp-sim plan seed=1 sweep.noise=") == groups.options("noise")
    assert completed("tcdp-sim seed=") == []
    assert {f"{name} " for name in commands.COMMANDS} < set(completed("tcdp-sim "))


def test_what_is_installed_is_a_line_of_bash(command, monkeypatch):
    monkeypatch.delenv("COMP_LINE", raising=False)
    code, out, _ = command("completion")
    assert code == 0
    shown = subprocess.run(["bash", "-c", f"{out}\ncomplete -p tcdp-sim"], capture_output=True, text=True, check=True)
    assert "-C 'tcdp-sim completion' tcdp-sim" in shown.stdout
