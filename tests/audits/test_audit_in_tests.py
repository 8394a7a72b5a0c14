"""The fixture of the plug-in for pytest, in a project of its own, and the command `tcdp-sim audit`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import audited
import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.audits import assert_private, parse, pytest_plugin, records
from tcdp_sim.cli import audit as command
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import RDP, TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.report.terminal import Terminal

EXAMPLE = Path(__file__).parents[2] / "examples/audit_in_ci/test_privacy.py"


def test_a_fresh_project_has_the_fixture_and_one_red_test(tmp_path):
    """The failure shows event, counts and a script; the script runs and refutes the claim again."""
    shutil.copy(EXAMPLE, tmp_path)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE.name],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "1 failed, 2 passed" in ran.stdout
    said = [line.removeprefix("E").strip() for line in ran.stdout.splitlines() if line.startswith("E")]
    assert said[0].startswith("AssertionError: two independent audits refute the claim 1-DP: epsilon >= ")
    assert said[0].endswith("(false alarm: at most 1e-06)")
    assert any(line.startswith("1-DP is refuted: epsilon >= ") for line in said)
    assert any(line.startswith("event: output ") for line in said)
    assert any(line.startswith("hits: ") for line in said)
    script = said[said.index("import sys") : said.index("to see it again:") + 20]
    script = script[: next(place for place, line in enumerate(script) if line.startswith("print(")) + 1]
    assert len(script) <= 10
    again = subprocess.run([sys.executable, "-c", "\n".join(script)], capture_output=True, text=True, check=False)
    assert "1-DP is refuted" in again.stdout, again.stderr


AUDITS = """
import numpy as np
from tcdp_sim.audits import records
from tcdp_sim.privacy import PureDP

def right(data, rng, trials):
    return len(data) + rng.laplace(0, 1, trials)

def same(data, rng, trials):
    return rng.laplace(0, 1, trials)

def test_right(assert_private):
    assert_private(right, PureDP(1.0), neighbours=records([1, 2], domain=[9]))

def test_wrong(assert_private):
    assert_private(right, PureDP(0.5), neighbours=records([1, 2]))

def test_weak(assert_private):
    assert_private(same, PureDP(1.0), neighbours=records([1, 2]))

def test_other():
    assert True
"""


@pytest.mark.parametrize("processes", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_a_session_shares_its_time_and_tells_of_each_audit(tmp_path, processes):
    (tmp_path / "test_it.py").write_text(AUDITS)
    words = ("-n", processes, "--audit-seconds", "3", "--audit-badge", "badge.json", "--junit-xml", "found.xml")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    lines = [line for line in ran.stdout.splitlines() if line.startswith("test_it.py::") and ": " in line]
    said = dict(sorted(line.split(": ", 1) for line in lines))
    assert list(said) == [f"test_it.py::test_{name}" for name in ("right", "weak", "wrong")]
    assert said["test_it.py::test_right"].startswith("1-DP is not refuted: epsilon >= 0.")
    assert said["test_it.py::test_right"].endswith(" would have been found")
    assert said["test_it.py::test_wrong"].startswith("0.5-DP is refuted: epsilon >= 0.")
    badge = json.loads((tmp_path / "badge.json").read_text())
    assert (badge["message"], badge["color"]) == ("1 of 3 refuted, 1 weak", "red")
    tree = ElementTree.parse(tmp_path / "found.xml")
    found = [each.attrib["value"] for each in tree.iter("property") if each.attrib["name"] == "privacy_audit"]
    assert sorted(found) == sorted(said.values())


def test_the_time_of_a_session_is_not_exceeded():
    """Each audit has an equal share of what is left for the tests to come, its own included."""
    budget = pytest_plugin.Budget(30.0, 3)
    assert budget.share("a") == 10
    budget.spend(4)
    assert budget.share("a") == pytest.approx(26 / 3)  # a second audit of the same test
    budget.spend(6)
    assert budget.share("b") == 10
    budget.spend(10)
    assert budget.share("c") == 10
    budget.spend(25)
    assert budget.share("c") == pytest_plugin.SHORTEST


@pytest.mark.parametrize(
    ("lines", "weak", "message", "colour"),
    [
        ([], 0, "0 not refuted", "lightgrey"),
        (["1-DP is not refuted: x"] * 2, 0, "2 not refuted", "brightgreen"),
        (["1-DP is not refuted: x"] * 2, 1, "2 not refuted, 1 weak", "yellow"),
        (["1-DP is not refuted: x", "1-DP is refuted: x"], 0, "1 of 2 refuted", "red"),
    ],
)
def test_badges(lines, weak, message, colour):
    badge = pytest_plugin._badge(lines, weak)
    assert badge == {"schemaVersion": 1, "label": "privacy audits", "message": message, "color": colour}


def test_a_budget_that_is_none_is_refused(tmp_path):
    (tmp_path / "test_it.py").write_text(AUDITS)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--audit-seconds", "0"]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert "--audit-seconds 0 is not valid; valid: a positive number of seconds" in ran.stdout + ran.stderr


def test_the_plug_in_loads_nothing_heavy():
    code = (
        "import sys, pytest; before = set(sys.modules); import tcdp_sim.audits.pytest_plugin; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new & {'numpy', 'scipy', 'pandas', 'xarray', 'dask', 'matplotlib', 'rich', 'zarr'}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_one_refutation_is_not_enough(monkeypatch):
    """An audit that errs only once does not fail a test; two seeds of one mechanism share no random stream."""
    seen = []
    right = tcdp_sim.audits.assertion.run.run

    def first_errs(audit, cluster, tell):
        report = right(audit, cluster, tell)
        seen.append(audit.seed)
        object.__setattr__(report, "refuted", len(seen) == 1)
        return report

    monkeypatch.setattr("tcdp_sim.audits.assertion.run.run", first_errs)
    assert_private(audited.laplace, PureDP(1.0), neighbours=audited.ONE, seconds=1, seed=5)
    assert seen == [5, 5 + 2**64]


def test_a_broken_claim_fails_twice():
    with pytest.raises(AssertionError, match="two independent audits refute the claim") as told:
        assert_private(audited.half_laplace, PureDP(1.0), neighbours=audited.ONE, seconds=1)
    assert "from audited import half_laplace" in str(told.value)


CLAIMS = {
    "PureDP(1)": PureDP(1.0),
    "ApproxDP(1, 1e-6)": ApproxDP(1.0, 1e-6),
    "ApproxDP(epsilon=1, delta=1e-6)": ApproxDP(1.0, 1e-6),
    " ZCDP( 0.5 ) ": ZCDP(0.5),
    "TCDP(0.1, 5)": TCDP(0.1, 5.0),
    "RDP(2, 0.5)": RDP(2.0, 0.5),
}


@pytest.mark.parametrize("text", CLAIMS)
def test_claims_are_parsed(text):
    assert parse.claim(text) == CLAIMS[text]


def test_neighbours_are_parsed():
    assert [other for _, other in parse.neighbours("records([1, 2], domain=[9])").pairs] == [[2], [1], [1, 2, 9]]
    assert parse.neighbours("answers(2, 5.0)").relation == "all 2 answers move by up to 5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os').getcwd()", "cannot be read; valid: PureDP"),
        ("PureDP(__import__('os').getpid())", "cannot be read; valid: PureDP"),
        ("(lambda: 1)()", "cannot be read"),
        ("PureDp(1)", "did you mean PureDP"),
        ("PureDP(-1)", "epsilon = -1"),
        ("PureDP(1, 2)", "too many positional arguments"),
        ("ApproxDP(1)", "missing a required argument: 'delta'"),
        ("1", "cannot be read"),
        ("(" * 5000, "cannot be read"),
    ],
)
def test_texts_that_are_no_claims_are_one_line_and_never_run(text, message):
    with pytest.raises(UserError, match=message) as told:
        parse.claim(text)
    assert "\n" not in str(told.value)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"mine_{tmp_path.name}.py").write_text(
        "def count(data, rng, trials):\n    return len(data) + rng.laplace(0, 1, trials)\n\n\n"
        "def half(data, rng):\n    return {'n': len(data) + rng.laplace(0, 0.5)}\n\n\n"
        "PAIRS = [([1, 2], [1])]\n"
    )
    return f"mine_{tmp_path.name}.py"


def test_the_command_says_so_by_its_exit_code(file, capsys):
    console = Terminal(highlight=False, soft_wrap=True)
    given = ["--neighbours", "records([1, 2])", "--trials", "5000", "claim=PureDP(1)"]
    assert command.main(console, [f"{file}:count", *given]) == 0
    assert "1-DP is not refuted" in capsys.readouterr().out
    wrong = [f"{file}:half", "neighbours=PAIRS", "trials=5e3", "--claim=PureDP(1)", "--json"]
    assert command.main(console, wrong) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["refuted"]
    assert report["event"].startswith("output['n'] ")
    assert report["pair"] == [[1, 2], [1]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "audit needs one function; valid: FILE.py:FUNCTION"),
        (["mine.py:f", "level"], "audit needs one function"),
        (["mine.py:f", "--level"], "--level needs a value"),
        (["mine.py:f", "levels=1"], "did you mean level"),
        (["nowhere.py:f"], "nowhere.py is not a file"),
        (["FILE:count", "level=high"], "level = high"),
        (["FILE:count", "bits=perhaps"], "bits = perhaps"),
        (["FILE:count", "neighbours=5"], "neighbours = 5 cannot be read"),
        (["FILE:count", "neighbours=NONE"], "has no function 'NONE'"),
        (["FILE:count", "claim=PureDP(1)"], r"audit needs neighbours; valid: records\("),
        (["FILE:count", "neighbours=PAIRS", "trials=1e4", "seconds=3"], "trials and seconds are both given"),
    ],
)
def test_mistakes_in_the_command_are_one_line(file, words, message):
    with pytest.raises(UserError, match=message) as told:
        command.main(None, [word.replace("FILE", file) for word in words])
    assert "\n" not in str(told.value)


def test_records_of_arrays_can_be_written_in_the_script():
    report = tcdp_sim.audit(audited.half_laplace, neighbours=records(np.ones(2), domain=[0.0]), trials=500)
    lines = tcdp_sim.audits.repeated.script(audited.half_laplace, report)
    assert any(line.strip().startswith("first_input = np.array(") for line in lines)
