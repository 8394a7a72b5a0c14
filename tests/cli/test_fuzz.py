"""Random overrides of every experiment: each is a study that runs, or one line that says what is wrong."""

import copy
import random
from functools import cache

import pytest
from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from tcdp_sim.core.errors import UserError
from tcdp_sim.engine import run
from tcdp_sim.store.run_folder import open_run
from tcdp_sim.study import groups
from tcdp_sim.study.compose import our_configs
from tcdp_sim.study.settings import settings

SECTIONS = ("sweep", "mechanism", "data", "experiment", "also")
EACH, SEEDS = 25, range(80)  # 2,000 in all
LINES = 6  # whole command lines for each seed: Hydra composes one in 0.2 s
SMALL = {"trials": 8, "chunk": 4, "max_trials": 20}
MOST_CELLS, MOST_WORK = 60, 3e5  # of a study that is also run
EXPERIMENTS = groups.options("experiment")
NAMES = [name for group in ("noise", "data", "mechanism", "experiment", "cluster") for name in groups.options(group)]
AXES = ("noise", "data", "k", "rho", "omega", "omega_sqrt_rho", "delta", "zip", "where", "cells", "gap", "n", "method")
AXES += ("log10_k", "log10_rho", "algorithm", "m", "shift", "order", "sampling_fraction", "scheme", "log2_k", "base")
KEYS = ("seed", "trials", "chunk", "target_mcse", "max_trials", "results_dir", "invalid", "numerics", "on_error")
KEYS += ("share", "code")
PLAUSIBLE = {
    **{"sweep.k": (10, 1e6, "[3,1e12]"), "sweep.rho": (0.01, 0.5, "[0.1,1]"), "share": ("[noise]", "null")},
    **{"sweep.noise": ("gaussian", "laplace", "[gaussian,sinh_normal_tight]"), "sweep.omega_sqrt_rho": (0.75, "[1,3]")},
    **{"sweep.data": ("one_bin", "zipf", "uniform"), "seed": (1, 2**100), "chunk": (2, 8), "trials": (3, 16)},
    **{"target_mcse": ("null", "{linf_error: {relative: 0.5}}"), "sweep.log10_k": ("{from: 1, to: 9, num: 3}", 5)},
    **{"sweep.where": ("['rho > 0']", "null"), "on_error": ("stop", "continue"), "numerics": ("warn", "strict")},
    **{"code": ("same", "any")},
    **{"mechanism.beta": (0.01, 0.3), "data.n": (5, 50), "sweep.omega": (3, 40), "invalid": ("skip", "refuse")},
    **{"sweep.gap": (5, 50), "sweep.sampling_fraction": (0.01, 0.5), "sweep.delta": (1e-6, 1e-9), "max_trials": (50,)},
}
VALUES = [
    *(0, 1, -1, 2, 3, 10, 100, 1e3, 1e6, 1e12, 1e30, 1e300, 1e-3, 0.1, 0.5, 1.5, 5, 1e-300, -0.0, 2**64, 10**30),
    *("nan", "inf", "-inf", "null", "true", "false", "''", "' '", "a", "ü", "1e400", "0x1", "1_000", "'1'", "k"),
    *("${k}", "[]", "{}", "[1]", "[1,2]", "[10,1e6]", "[0.1,0.2,0.1]", "[[1,2],[3]]", "[null]", "[a,b]", "{a: 1}"),
    *("{a: {b: 1}}", "{from: 1, to: 10, num: 4}", "{from: 10, to: 1e6, num: 3, scale: log}", "{from: 1, to: 2}"),
    *("{from: 0, to: 1, num: 0}", "{from: 1, to: 10, num: 4, scale: cubic}", "{from: 5, to: 1, num: 3}", "{num: 3}"),
    *("{from: 1, to: 1e300, num: 1e9}", "[[k,rho]]", "['k > 10']", "['k >']", "['__import__(1)']"),
    *("[{k: 10, rho: 0.1}]", "{relative: 0.1}", "{linf_error: {absolute: 1}}", "[gaussian,laplace]", "[noise]"),
    *("histogram", "one_bin", "poisson", "gaussian", "skip", "continue", "+5", "serial"),
]


@cache
def composed(experiment):
    GlobalHydra.instance().clear()
    with our_configs():
        return OmegaConf.to_container(compose("config", [f"experiment={experiment}"]))


def leaves(raw, prefix=""):
    for key, value in raw.items():
        yield prefix + str(key)
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")


def words(rng, raw):
    """One to three overrides: half of them plausible, the others of a key that is there, an axis, a key of any kind."""
    known = [key for key in PLAUSIBLE if key.startswith("sweep.") or key in leaves(raw)]
    keys = [key for key in leaves(raw) if key.split(".")[0] in SECTIONS or key in KEYS]
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.6:
            key = rng.choice(known)
            yield f"{key}={rng.choice(PLAUSIBLE[key])}"
            continue
        key = rng.choice([rng.choice(keys), f"sweep.{rng.choice(AXES)}", rng.choice(KEYS)])
        value = rng.choice([rng.choice(VALUES), rng.choice(NAMES), rng.uniform(0, 3), 10 ** rng.uniform(-9, 20)])
        yield f"{key}={value}"


def overridden(raw, given):
    """The config with these words, by the means that Hydra uses, but without its 0.2 s. Raises what it raises."""
    out = OmegaConf.create(copy.deepcopy(raw))
    for override in OverridesParser.create().parse_overrides(given):
        OmegaConf.update(out, override.key_or_group, override.value(), force_add=True)
    return OmegaConf.to_container(out, resolve=True, throw_on_missing=True)


def small(prepared):
    cells = prepared.plan.laws
    work = sum(cell.work for cell in cells) * prepared.settings.trials
    return len(cells) <= MOST_CELLS and work <= MOST_WORK and prepared.settings.chunk <= 1000


def check(raw):
    """Whether it ran (True), was planned (None) or refused (False); anything else is an exception."""
    try:
        prepared = run.prepare(settings(raw))
        if small(prepared):
            run.execute(prepared, lambda line: None)
            assert not open_run(prepared).problems  # numpy has nothing to warn of either
            return True
    except UserError as mistake:
        told = str(mistake)
    else:
        return None
    assert "\n" not in told
    assert len(told) > 10
    return False


def few(raw):
    """The config with two values on each axis of its experiment, so that most of its studies are small."""
    axes = raw["experiment"]["axes"]
    short = {key: value[:2] if isinstance(value, list) else value for key, value in axes.items()}
    short |= {key: value | {"num": 2} for key, value in axes.items() if isinstance(value, dict) and "num" in value}
    return raw | {"experiment": raw["experiment"] | {"axes": short}}


def asked(rng, number):
    """The words of the next study, and its config: small, mostly without further blocks. Raises what Hydra raises."""
    raw = composed(rng.choice(EXPERIMENTS))
    given = [f"experiment={raw['experiment']['name']}", *words(rng, raw)]
    raw = few(raw) | {"also": {} if rng.random() < 0.9 else raw["also"]}
    out = overridden(raw, given[1:])
    small = {key: value for key, value in SMALL.items() if not any(word.startswith(f"{key}=") for word in given)}
    return given, out | small | {"name": f"n{number}", "cluster": {"name": "serial"}}


@pytest.mark.parametrize("seed", SEEDS)
def test_random_overrides_run_or_are_one_line(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)
    became = []
    for number in range(EACH):
        try:
            given, raw = asked(rng, number)
        except (HydraException, OmegaConfBaseException, ValueError):
            became.append(False)  # told by compose.py, see below
            continue
        try:
            became.append(check(raw))
        except Exception as problem:
            raise AssertionError(given) from problem
    assert {True, False} <= set(became)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_random_command_lines_end_with_0_or_2_and_one_line(seed, command):
    rng = random.Random(1000 + seed)
    for _ in range(LINES):
        experiment = rng.choice(EXPERIMENTS)
        given = [word for word in words(rng, composed(experiment)) if not word.startswith(("trials=", "chunk="))]
        extra = ("cluster=serial", "trials=4", "chunk=2")
        code, _, err = command("plan", f"experiment={experiment}", *extra, *given)
        assert code in (0, 2), given
        assert err.count("\n") == (code == 2), (given, err)
        assert "Traceback" not in err
