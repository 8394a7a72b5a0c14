"""`tcdp_sim.check` and `tcdp-sim check`: mistakes in classes of noises and mechanisms."""

import textwrap
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms import Mechanism, NoiseDraw
from tcdp_sim.mechanisms.base import Observable
from tcdp_sim.noise import Gaussian, Laplace


@dataclass(frozen=True)
class Coin(Mechanism):
    """A mechanism by hand; the mistakes below change one thing each."""

    guarantee = None
    work = 1.0
    observables: ClassVar = {"share": Observable("1", "a share", 0.0, 1.0)}
    events: ClassVar = {"heads": "the coin shows heads"}
    name: ClassVar = "coin"
    version: ClassVar = 1
    options: ClassVar = ()
    required: ClassVar = ()

    @classmethod
    def uses(cls, point):
        return ()

    @classmethod
    def law(cls, point, options, counts):
        return {}

    @classmethod
    def build(cls, law, counts):
        return cls()

    def simulate(self, rng, trials):
        share = rng.random(trials)
        return {"share": share, "heads": share < 0.5}


def draws(**changed):
    """A simulation that yields something else."""

    def simulate(self, rng, trials):
        found = Coin.simulate(self, rng, trials)
        return found | {name: value(found["share"]) for name, value in changed.items()}

    return {"simulate": simulate}


MISTAKES = {
    "which is not declared": draws(other=lambda share: share),
    "the range that it declares": draws(share=lambda share: share + 1),
    "of bool": draws(heads=lambda share: share),
    "of float64": draws(share=lambda share: share.astype(str)),
    "of shape (199,)": draws(share=lambda share: share[:-1]),
    "all randomness from rng": draws(share=lambda share: np.random.default_rng().random(len(share))),
    "work is 0": {"work": 0},
    "an object of tcdp_sim.privacy": {"guarantee": 0.5},
    "thresholds names 'other'": {"thresholds": {"other": {"bound": 1.0}}},
    "draw_losses yields 'privacy_loss', which is not declared": {
        "draw_losses": lambda self, rng, trials: {"privacy_loss": rng.random(trials)}
    },
    "raises TypeError": {"simulate": lambda self, rng: {}},
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_of_a_mechanism_is_named(words):
    lines = tcdp_sim.check(type("Wrong", (Coin,), MISTAKES[words])())
    assert words in " ".join(lines)
    assert all("; valid: " in line and "\n" not in line for line in lines)


def test_right_things_are_right():
    assert tcdp_sim.check(Coin()) == []
    assert tcdp_sim.check(NoiseDraw(Gaussian(2.0), None)) == []
    assert tcdp_sim.check(Laplace(0.1)) == []
    assert tcdp_sim.check("sinh_normal") == []
    assert tcdp_sim.check(Gaussian) == []


@pytest.mark.parametrize("name", ["noise", "privacy_loss", "information"])
def test_mechanisms_of_the_package_are_right(name):
    assert tcdp_sim.check(name) == []


def test_an_exact_value_that_contradicts_is_named(monkeypatch):
    from tcdp_sim.experiments import privacy_loss

    wrong = {name: (lambda mechanism, f=f: f(mechanism) + 1) for name, f in privacy_loss.EXACT.items()}
    monkeypatch.setattr(privacy_loss, "EXACT", wrong)
    assert "experiment=privacy_loss" in " ".join(tcdp_sim.check("privacy_loss"))


def test_a_law_that_build_does_not_invert_is_named(monkeypatch):
    build, calls = NoiseDraw.build.__func__, []

    def other(cls, law, counts):
        calls.append(law)
        return (
            build(cls, law | {"noise": law["noise"]}, counts) if len(calls) % 2 else NoiseDraw(Gaussian(1.2345), None)
        )

    monkeypatch.setattr(NoiseDraw, "build", classmethod(other))
    assert "law and build are inverse" in " ".join(tcdp_sim.check(NoiseDraw))


@pytest.mark.parametrize(
    ("thing", "words"), [(3, "cannot be checked"), ("nonsense", "neither a noise nor a mechanism")]
)
def test_what_is_nothing_of_the_kind_is_refused(thing, words):
    with pytest.raises(UserError, match=words):
        tcdp_sim.check(thing)


NOISE = textwrap.dedent("""
    from dataclasses import dataclass
    import numpy as np
    from tcdp_sim.noise import Laplace

    @dataclass(frozen=True, eq=False)
    class Mine(Laplace):
        family = "mine"
        def var(self):
            return FACTOR * self.scale**2
""")


@pytest.mark.parametrize(
    ("factor", "code", "words"), [(2, 0, "nothing wrong was found"), (1, 1, "WRONG: Mine.var() is")]
)
def test_the_command_says_what_is_wrong(command, tmp_path, factor, code, words):
    (tmp_path / "mine.py").write_text(NOISE.replace("FACTOR", str(factor)))
    found, out, _ = command("check", "mine.py:Mine", "scale=3")
    assert found == code
    assert words in out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("check",), "takes one name"),
        (("check", "gaussian", "scale=x"), "is not PARAMETER=NUMBER"),
        (("check", "gaussian", "size=1"), "size"),
        (("check", "gausian"), "neither a noise nor a mechanism"),
    ],
)
def test_mistakes_of_the_command_are_one_line(command, given, words):
    code, _, err = command(*given)
    assert code == 2
    assert err.count("\n") == 1
    assert words in err
