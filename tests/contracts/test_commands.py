"""The contract of commands: every line of the table has help, and a mistake is one line that leaves nothing behind."""

import pytest

from tcdp_sim.cli.commands import COMMANDS

pytestmark = pytest.mark.kept
OWN_WORDS = ("completion",)  # called by a shell, whose words are whatever stands on its line
asked = pytest.mark.parametrize("name", [name for name in COMMANDS if name not in OWN_WORDS])


def is_refused(command, tmp_path, *words):
    code, out, err = command(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("tcdp-sim: ")
    assert len(err) < 1000
    assert list(tmp_path.iterdir()) == []
    return err


@pytest.mark.parametrize("name", COMMANDS)
def test_each_has_a_line_of_help(command, name):
    code, out, _ = command(name, "--help")
    assert code == 0
    assert out.startswith(f"tcdp-sim {name}")
    assert f"tcdp-sim {name}" in command("--help")[1]


@asked
def test_what_is_nowhere_and_no_key_is_one_line(command, tmp_path, name):
    err = is_refused(command, tmp_path, name, "nowhere", "nonsense=3")
    assert "nowhere" in err or "nonsense" in err


@pytest.mark.parametrize("name", [name for name, each in COMMANDS.items() if not each.takes and name not in OWN_WORDS])
def test_a_key_of_a_command_without_places_is_one_line(command, tmp_path, name):
    assert "nonsense" in is_refused(command, tmp_path, name, "nonsense=3")


@pytest.mark.parametrize("name", [name for name, each in COMMANDS.items() if each.of_runs])
def test_a_name_that_no_file_system_has_is_one_line(command, tmp_path, name):
    others = [place for place in COMMANDS[name].takes[1:] if not place.startswith("[")]
    is_refused(command, tmp_path, name, "x" * 5000, *others)
