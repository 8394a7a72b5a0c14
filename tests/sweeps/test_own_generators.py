"""Functions with generators of their own, streams that are spawned, and objects and functions on workers."""

import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim.core import user_files
from tcdp_sim.core.streams import generator, generators
from tcdp_sim.mechanisms.functions import calling
from tcdp_sim.sweeps.foreign_randomness import _p_value, _ranks
from tcdp_sim.sweeps.pilot import looks_random


def vectors_of_one_seed(rng, trials, n):
    return {"a": np.random.default_rng(n).random(trials), "b": rng.random(trials)}


class OfOneSeed:
    def __init__(self, n):
        self._n = n

    def simulate(self, rng, trials):
        return np.random.RandomState(self._n).normal(size=trials) > 0


FIXED = [
    (vectors_of_one_seed, r"^vectors_of_one_seed gives the same random-looking numbers with every generator \(a\): "),
    (OfOneSeed, r"^OfOneSeed gives the same random-looking numbers with every generator \(value\): "),
    (lambda rng, trials, n: np.random.default_rng(0).random((trials, n)).max(axis=1), r"standard errors are too small"),
]


@pytest.mark.parametrize(("function", "told"), FIXED)
@pytest.mark.parametrize("name", [None, "kept"])
def test_a_generator_with_a_fixed_seed_is_told(function, told, name, tmp_path):
    with pytest.warns(UserWarning, match=told) as caught:
        tcdp_sim.sweep(function, {"n": [3, 4]}, trials=50, name=name, results_dir=tmp_path)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def beside(made):
    return lambda rng, trials, n: rng.standard_normal(trials) + made(trials)


def fixed(trials):
    return np.random.default_rng(0).random(trials)


COMMON = [
    beside(lambda trials: np.random.default_rng(0).standard_normal(trials)),
    beside(lambda trials: 0.7 * np.random.default_rng(5).standard_normal(trials) + np.arange(trials) * 1e-3),
    beside(lambda trials: np.random.RandomState(0).exponential(size=trials)),
    beside(lambda trials: [random.Random(1).gauss(0, 1), *np.random.Generator(np.random.PCG64(2)).random(trials - 1)]),
    lambda rng, trials, n: {"ok": rng.random(trials), "bad": fixed(trials) > rng.random(trials)},
]


@pytest.mark.parametrize("function", COMMON)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", [None, "kept"])
def test_draws_of_a_fixed_seed_beside_those_of_rng_are_told(function, seed, name, tmp_path):
    with pytest.warns(
        UserWarning, match=r"adds the same random-looking numbers with every generator \((value|bad)\): "
    ):
        tcdp_sim.sweep(function, {"n": [3, 4]}, trials=1000, seed=seed, name=name, results_dir=tmp_path)


def strata(rng, trials, n):
    return (np.arange(trials) + rng.random(trials)) / trials


def pairs(rng, trials, n):
    half = rng.standard_normal((trials + 1) // 2)
    return np.concatenate([half, -half])[:trials]


DATA = np.random.default_rng(1).integers(0, 50, 300)
OTHERWISE = [
    strata,
    pairs,
    lambda rng, trials, n: rng.standard_normal(trials) + 0.1 * np.arange(trials),
    lambda rng, trials, n: rng.standard_normal(trials) + np.arange(trials) % 4,
    lambda rng, trials, n: rng.standard_normal(trials) + 3 * (np.arange(trials) < 20),
    lambda rng, trials, n: rng.standard_cauchy(trials),
    lambda rng, trials, n: rng.random(trials) < 0.001,
    lambda rng, trials, n: np.where(rng.random(trials) < 0.5, np.nan, rng.random(trials)),
    lambda rng, trials, n: DATA.mean() + rng.standard_normal(trials),
    lambda rng, trials, n: np.random.default_rng(7).integers(0, 50, 300).mean() + rng.standard_normal(trials),
    lambda rng, trials, n: rng.choice(DATA, (trials, 20)).mean(axis=1),
]


@pytest.mark.parametrize("function", OTHERWISE)
@pytest.mark.filterwarnings("error")
def test_patterns_and_data_of_a_fixed_seed_are_no_mistake(function):
    """Data of a fixed seed are the same for all trials; strata, trends, groups and first trials are patterns."""
    for seed in range(5):
        tcdp_sim.sweep(function, {"n": [3, 4]}, trials=1000, seed=seed)


def test_exchangeable_trials_seldom_have_a_common_part():
    """The p-value of Friedman's test is below its level as often as it says: 2% of 2000 is 40, and 61 has 1e-3."""
    rng = np.random.default_rng(8)
    ranks = (_ranks([{"x": rng.integers(0, 9, 60)} for _ in range(6)], "x") for _ in range(2000))
    assert sum(_p_value(each) < 0.02 for each in ranks) <= 60
    values = rng.standard_normal((6, 60))
    expected = stats.friedmanchisquare(*values.T).pvalue
    assert _p_value(_ranks([{"x": row} for row in values], "x")) == pytest.approx(expected, rel=1e-9)


HASHED = [  # of so many values that two hashes are never alike
    lambda rng, trials, n: rng.random(trials) + hash("some text") % 10**9,
    lambda rng, trials, n: np.random.default_rng(abs(hash(("a", n)))).random(trials) + rng.random(trials),
    lambda rng, n: rng.random() * (hash(frozenset([str(n)])) % 10**9),
]


@pytest.mark.parametrize("function", HASHED)
@pytest.mark.parametrize("where", [{}, {"name": "kept"}])
@pytest.mark.filterwarnings("ignore:.*adds the same random-looking")
def test_numbers_that_depend_on_the_hash_of_a_text_cannot_be_repeated(function, where, tmp_path):
    with pytest.warns(UserWarning, match=r"depends on hash\(\) of a text or an object") as caught:
        tcdp_sim.sweep(function, {"n": 1}, trials=30, results_dir=tmp_path, **where)
    assert len(caught) == 1
    with pytest.raises(tcdp_sim.UserError, match=r"cluster = 'local' is not valid for .*, which depends on hash\(\)"):
        tcdp_sim.sweep(function, {"n": 1}, trials=30, cluster="local")
    assert hash("some text") == "some text".__hash__()


@pytest.mark.filterwarnings("error")
def test_hashes_of_numbers_are_the_same_in_every_process():
    tcdp_sim.sweep(lambda rng, trials, n: rng.random(trials) + hash(n) + hash(0.5), {"n": [1, 2]}, trials=30)


DETERMINISTIC = [
    lambda rng, trials, n: np.full(trials, 0.5),
    lambda rng, trials, n: np.full(trials, np.nan),
    lambda rng, trials, n: np.arange(trials),
    lambda rng, trials, n: np.linspace(1, 0, trials),
    lambda rng, trials, n: np.arange(trials) % 3 == 0,
    lambda rng, trials, n: {"group": np.arange(trials) % 4, "x": rng.random(trials)},
    lambda rng, trials, n: np.arange(trials) < 5,
    lambda rng, trials, n: np.where(np.arange(trials) < 4, np.nan, 3.0),
    lambda rng, n: n / 2,
    lambda rng, n: np.random.default_rng(n).random(),  # a constant, as far as anybody can see
    lambda rng, n: rng.random(),
    lambda rng, trials, n: np.random.default_rng(rng.integers(2**63)).random(trials),
    lambda rng, trials, n: rng.spawn(1)[0].random(trials),
]


@pytest.mark.parametrize("function", DETERMINISTIC)
@pytest.mark.filterwarnings("error")
def test_deterministic_functions_and_seeds_from_rng_are_no_mistake(function):
    for chunk in (50, 3):
        tcdp_sim.sweep(function, {"n": [3, 4]}, trials=50, chunk=chunk)


def test_random_numbers_look_random():
    """Of 2,000 sequences of 20 coin flips, each not with probability 0.0020: more than 15 happen once in 10^5 tests."""
    rng = np.random.default_rng(5)
    assert all(looks_random(rng.random(20)) for _ in range(200))
    assert sum(not looks_random(rng.random(20) < 0.5) for _ in range(2000)) <= 15
    assert not looks_random(rng.random(9))


@pytest.mark.filterwarnings("ignore:.*two calls with one seed differ")
@pytest.mark.parametrize("where", [{}, {"name": "kept"}])
def test_other_generators_are_told_once(where, tmp_path):
    for function in (
        lambda rng, trials, n: np.random.random(trials),  # noqa: NPY002 (what people write)
        lambda rng, trials, n: np.random.default_rng().random(trials),
        lambda rng, n: np.random.normal(),  # noqa: NPY002
    ):
        with pytest.warns(UserWarning, match="two calls with one seed differ") as caught:
            tcdp_sim.sweep(function, {"n": 1}, trials=30, results_dir=tmp_path, **where)
        assert len(caught) == 1


def test_streams_made_together_spawn_as_those_made_one_by_one():
    ids = [f"{n:064x}" for n in (0, 7**70, 2**255)]
    for cell, rng in zip(ids, generators(3, ids, 2)):
        alone = generator(3, cell, 2)
        for count in (2, 1):  # children go on from the last one
            assert [child.random() for child in rng.spawn(count)] == [child.random() for child in alone.spawn(count)]
        assert rng.random() == alone.random()
        assert rng.bit_generator.spawn(1)[0].random_raw() == alone.bit_generator.spawn(1)[0].random_raw()


def spawning(rng, trials, n):
    first, second = rng.spawn(2)
    return first.random(trials) * n + second.random(trials) + rng.random(trials)


def test_small_cells_may_spawn_and_have_the_bits_of_a_folder(tmp_path):
    axes = {"n": [1, 2, 3]}
    found = tcdp_sim.sweep(spawning, axes, trials=40)
    again = tcdp_sim.sweep(spawning, axes, trials=40)
    kept = tcdp_sim.sweep(spawning, axes, trials=40, name="kept", results_dir=tmp_path)
    longer = tcdp_sim.sweep(spawning, {"n": [2, 9]}, trials=40)
    for name in ("value", "value_sd", "value_min"):
        assert found[name].values.tolist() == again[name].values.tolist() == kept[name].values.tolist()
        assert longer[name].values[0] == found[name].values[1]
    assert len(set(found["value_min"].values / [1, 2, 3])) == 3


FILE = """
class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def method(self, rng, trials, n):
        return rng.spawn(1)[0].random(trials) * self.scale * n

    def simulate(self, rng, trials, n):
        return self.method(rng, trials, n)


class OfAxes:
    def __init__(self, n, scale=2.0):
        self.n, self.scale = n, scale

    def simulate(self, rng, trials):
        return rng.random(trials) * self.scale * self.n


def method(rng, trials, n):
    return 0


thing, other = Scaled(3.0), Scaled(2.0).method
"""
ELSEWHERE = """
import pickle, sys
from tcdp_sim.core.streams import generator
call = pickle.load(sys.stdin.buffer)
print(repr(float(call(generator(0, "0" * 64, 0), 1, {"n": 2})["value"][0])))
"""


@pytest.fixture
def things(tmp_path):
    path = tmp_path / f"{tmp_path.parent.name}_things.py".replace("-", "_")
    path.write_text(FILE)
    yield path
    sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("name", ["thing", "other", "OfAxes"])
def test_what_stands_in_a_file_arrives_in_another_process(name, things):
    """The method of an object has the name of a function of its class, which workers must not take for it."""
    call = calling(user_files.load(f"{things}:{name}"), ["n"])
    alone = subprocess.run([sys.executable, "-c", ELSEWHERE], input=pickle.dumps(call), capture_output=True, check=True)
    assert float(alone.stdout) == call(generator(0, "0" * 64, 0), 1, {"n": 2})["value"][0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["thing", "other", "OfAxes", ""])
def test_methods_objects_and_classes_have_the_same_bits_on_workers(name, things, tmp_path):
    offset = 0.25
    function = user_files.load(f"{things}:{name}") if name else lambda rng, n: rng.random() + offset * n
    more = {"name": "kept", "results_dir": tmp_path} if name == "thing" else {}
    here, there = (
        tcdp_sim.sweep(function, {"n": [1, 2]}, trials=60, chunk=20, **each)
        for each in ({}, {"cluster": {"name": "local", "workers": 1}, **more})
    )
    for of_value in ("value", "value_mcse", "value_min", "value_max"):
        assert here[of_value].values.tobytes() == there[of_value].values.tobytes()


def test_a_function_that_calls_opendp_is_told_to_use_a_generator_of_its_own():
    """OpenDP draws from the machine's entropy, so its numbers cannot be repeated, and workers are refused."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")

    def noisy(rng, trials, scale):
        release = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale)
        return abs(np.array([release(0.0) for _ in range(trials)]))

    with pytest.warns(UserWarning, match="two calls with one seed differ"):
        found = tcdp_sim.sweep(noisy, {"scale": [1.0, 3.0]}, trials=2000)
    error = abs(found["value"] - [1.0, 3.0]) / found["value_mcse"]
    assert (error < 6).all()  # the mean of |Laplace(scale)| is its scale
    with pytest.raises(tcdp_sim.UserError, match="cluster = 'local' is not valid for noisy"):
        tcdp_sim.sweep(noisy, {"scale": 1.0}, trials=10, cluster="local")


def test_a_function_that_calls_diffprivlib():
    mechanisms = pytest.importorskip("diffprivlib.mechanisms", exc_type=ImportError)

    def noisy(rng, epsilon):
        return abs(
            mechanisms.Laplace(epsilon=epsilon, sensitivity=1, random_state=int(rng.integers(2**31))).randomise(0)
        )

    found = tcdp_sim.sweep(noisy, {"epsilon": [1.0, 2.0]}, trials=500)
    assert (abs(found["value"] - [1.0, 0.5]) < 6 * found["value_mcse"]).all()
