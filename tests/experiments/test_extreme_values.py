"""Every number of every axis of every experiment at its extremes is simulated or refused in one line."""

from pathlib import Path

import pytest
import yaml

import tcdp_sim

pytestmark = [
    pytest.mark.usefixtures("odd_studies"),
    # numbers may overflow or vanish, and runs go on
    pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:(Data has no positive values|Attempt to set non-positive):UserWarning"),
]
CONF = Path(tcdp_sim.__file__).parent / "conf" / "experiment"
EXPERIMENTS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(CONF.glob("*.yaml"))}
EXTREMES = ("0", "-1", "1e-300", "1e-9", "0.5", "1e9", "1e300", "nan", "inf")
FEW = ["also=null", "trials=2", "chunk=2", "cluster=serial"]


def first(value):
    """Return the first value of a suggested axis; None for a range, or without one."""
    while isinstance(value, list):
        value = value[0]
    return None if isinstance(value, dict) else value


def questions(extremes):
    """Yield the experiments and their words: the first cell of the default study, but for one axis."""
    for name, config in EXPERIMENTS.items():
        suggested = {axis: first(value) for axis, value in config["experiment"].get("axes", {}).items()}
        for axis in config.get("sweep") or {}:
            if isinstance(suggested.get(axis), str):
                continue
            others = [f"sweep.{a}={v}" for a, v in suggested.items() if a in config["sweep"] and v is not None]
            others = [word for word in others if not word.startswith(f"sweep.{axis}=")]
            for extreme in extremes:
                yield pytest.param(name, [*others, f"sweep.{axis}={extreme}"], id=f"{name}-{axis}={extreme}")


def is_answered_or_refused(command, name, words):
    """Exit code 3, a contradiction, would be a false alarm: two trials say little."""
    code, _, err = command("run", f"experiment={name}", *words, *FEW)
    assert code in (0, 2), err
    assert code == 0 or err.count("\n") == 1, err


@pytest.mark.parametrize(("name", "words"), list(questions(["1e-300", "1e300"])))
def test_the_ends_of_floats(command, name, words):
    is_answered_or_refused(command, name, words)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), list(questions(EXTREMES)))
def test_extreme_values(command, name, words):
    is_answered_or_refused(command, name, words)
