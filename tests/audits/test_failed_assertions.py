"""The message of a failed assertion: it is short, and its script runs again, whatever mechanism and inputs are."""

import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import audited
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcdp_sim import privacy
from tcdp_sim.accounting import Additive, Ledger, RandomisedResponse
from tcdp_sim.audits import AuditReport, GaussianDP, LedgerMechanism, repeated
from tcdp_sim.audits.data_sets import digestible
from tcdp_sim.audits.literals import Written
from tcdp_sim.core.identity import digest
from tcdp_sim.noise import Laplace

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Table:
    """An input of a class of the user's own."""

    rows: list
    name: str


def evaluated(value):
    """Return what a script makes of the expression of a value."""
    script = Written()
    text = script.expression(value)
    space = {}
    lines = [*script.imports, *(line for each in script.definitions.values() for line in each), f"value = {text}"]
    exec("\n".join(lines), space)
    return space["value"]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(width=64) | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.frozensets(st.integers() | st.text(max_size=3), max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_plain_data_come_back(value):
    again = evaluated(value)
    assert type(again) is type(value)
    assert digest(again) == digest(value)


FRAME = pd.DataFrame({"age": [31, 44], "name": ["a", "b"], "pay": [0.5, np.nan], 7: [True, False]})
INPUTS = {
    "frame": FRAME,
    "frame with labels": FRAME.set_index("name"),
    "part of a frame": FRAME.iloc[1:],
    "frame without rows": FRAME.iloc[:0],
    "frame with categories": FRAME.astype({"name": "category"}),
    "small numbers": FRAME.astype({"age": np.int8, "pay": np.float32}),
    "nullable": FRAME.astype({"age": "Int64"}),
    "times": pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-05-05"])}),
    "series": FRAME["pay"],
    "texts": FRAME["name"],
    "numbers": np.arange(6, dtype=np.int32).reshape(2, 3),
    "no rows": np.zeros((0, 3)),
    "special numbers": np.array([np.nan, np.inf, -0.0, 5e-324]),
    "array of texts": np.array(["a", "bc"]),
    "days": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "numbers of numpy": [np.float64(0.1), np.int16(3), np.bool_(True)],
    "bytes": b"\x00\xff",
    "a set": {3, 1},
    "own class": Table([1, 2.0], "x"),
    "named tuple": Point(1, [2]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_come_back(name):
    value = INPUTS[name]
    again = evaluated(value)
    assert type(again) is type(value)
    if isinstance(value, pd.DataFrame):
        pd.testing.assert_frame_equal(again, value)
    else:
        assert digest(digestible(again)) == digest(digestible(value))


def guarantees():
    """Return an example of every guarantee that an audit takes."""
    found = [privacy.PureDP(0.1), privacy.ApproxDP(1.0, 1e-6), privacy.ZCDP(0.1), privacy.TCDP(0.1, 3.0)]
    return [*found, privacy.RDP(2.0, 0.1), privacy.RDP(np.inf, 1.0), GaussianDP(0.5), None]


@pytest.mark.parametrize("claim", guarantees(), ids=str)
def test_claims_come_back(claim):
    assert evaluated(claim) == claim


def test_a_ledger_comes_back():
    ledger = Ledger([(Additive(Laplace(2.0)), 3), RandomisedResponse(0.5)], "add_remove")
    again = evaluated(ledger)
    assert (again.entries, again.relation) == (ledger.entries, ledger.relation)
    mechanism = evaluated(LedgerMechanism(ledger))
    assert isinstance(mechanism, LedgerMechanism)


@dataclass(frozen=True)
class Scaled:
    """A mechanism that is an object, and one that is a method."""

    scale: float

    def __call__(self, data, rng, trials):
        return len(data) + rng.laplace(0, self.scale, trials)

    def half(self, data, rng, trials):
        return self(data, rng, trials) / 2


def mechanisms():
    """Return mechanisms of all kinds, those inside a function with what they read."""
    scale, weights = 0.5, np.array([0.5])

    def helper(data):
        return weights[0] * len(data)

    def inside(data, rng, trials):
        return [Point(helper(data), each) for each in rng.laplace(0, scale, trials)]

    return {
        "function": audited.half_laplace,
        "inside": inside,
        "partial": partial(audited.half_laplace, trials=3),
        "object": Scaled(0.5),
        "method": Scaled(0.5).half,
    }


@pytest.mark.parametrize("name", mechanisms())
def test_mechanisms_come_back(name):
    data = np.ones(1)
    mechanism = mechanisms()[name]
    given = (data, np.random.default_rng(1)) if name == "partial" else (data, np.random.default_rng(1), 3)
    again = (data, np.random.default_rng(1), *given[2:])
    assert str(evaluated(mechanism)(*again)) == str(mechanism(*given))


WHY = {
    "a lambda, which has no name": (lambda data, rng, trials: trials, [1], [2]),
    "an object is of type Fraction": (audited.half_laplace, [Fraction(1)], [2]),
    "list has 5,000 characters": (audited.half_laplace, ["a" * 4996], [2]),
    "an array is of type object": (audited.half_laplace, np.array([None]), [2]),
}


@pytest.mark.parametrize("reason", WHY)
def test_what_cannot_be_written_is_told_with_a_call_instead(reason):
    mechanism, data, other = WHY[reason]
    report = AuditReport("epsilon", privacy.PureDP(1.0), 0.9, 100, 7, "", 0, 0, True, (), None, pair=(data, other))
    lines = repeated.script(mechanism, report)
    assert reason in lines[0]
    assert "neighbours=[pairs[-1]], claim=claim, trials=100, level=0.9, seed=7" in lines[-1]


PROJECT = """
import numpy as np
import pandas as pd
import pytest

from tcdp_sim.audits import records
from tcdp_sim.privacy import ApproxDP, PureDP

FRAME = pd.DataFrame({"age": [31.0, 44.0, 58.0], "town": ["A", "B", "A"]})
NOISE = 0.2


def total(frame, rng):
    return {"sum": frame["age"].sum() + rng.laplace(0, 50), "n": len(frame)}


def test_a_frame(assert_private):
    assert_private(total, PureDP(1.0), neighbours=records(FRAME), seconds=2)


@pytest.mark.parametrize("scale", [0.1])
def test_a_function_inside(assert_private, scale):
    def shift(numbers):
        return sum(numbers) + NOISE

    def noisy(numbers, rng, trials):
        return shift(numbers) + rng.laplace(0, scale, trials)

    assert_private(noisy, ApproxDP(1.0, 1e-6), neighbours=records([1, 2]), seconds=1)


def test_a_lambda(assert_private):
    pairs = records([1, 2])
    assert_private(lambda data, rng, n: len(data) + rng.laplace(0, 0.1, n), PureDP(1.0), neighbours=pairs, seconds=1)


def test_a_mistake(assert_private):
    assert_private(total, PureDP(1.0), neighbours=5)
"""


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """The text of each failure in a project in which all four tests fail."""
    folder = tmp_path_factory.mktemp("project") / "tests"
    folder.mkdir()
    (folder / "test_mine.py").write_text(PROJECT)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    ran = subprocess.run(words, cwd=folder.parent, capture_output=True, text=True, check=False)
    assert "4 failed" in ran.stdout, ran.stdout + ran.stderr
    parts = ran.stdout.partition("= FAILURES =")[2].partition("= short test summary")[0].split("\n____")[1:]
    return {part.split(" _")[0].strip("_ ").partition("[")[0]: part for part in parts}


def test_the_traceback_is_the_test_and_the_verdict(failures):
    """No line of the package is shown: neither its code nor its files."""
    for name, text in failures.items():
        assert "tcdp_sim/audits" not in text
        assert sum(not line.startswith("E") for line in text.splitlines()) < 25, name
    first = next(line for line in failures["test_a_frame"].splitlines() if line.startswith("E"))
    assert "two independent audits refute the claim 1-DP: epsilon >= " in first
    assert "neighbours = 5 is not clear" in failures["test_a_mistake"]


@pytest.mark.parametrize("name", ["test_a_frame", "test_a_function_inside"])
def test_the_script_refutes_the_claim_again(failures, name, tmp_path):
    lines = [line.removeprefix("E").removeprefix("       ") for line in failures[name].splitlines() if line[:1] == "E"]
    script = lines[next(place for place, line in enumerate(lines) if "to see it again" in line) + 2 :]
    script = "\n".join(line.removeprefix("    ") for line in script)
    again = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "is refuted: epsilon" in again.stdout, script + again.stderr


def test_the_frame_is_refuted_by_its_plain_part(failures):
    assert "event: output['n'] " in failures["test_a_frame"]


def test_a_lambda_is_told_why(failures):
    assert "a lambda" in failures["test_a_lambda"]
