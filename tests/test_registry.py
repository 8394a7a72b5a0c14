"""Plug-ins: found by entry points, imported when asked for, refused in one line that names the distribution."""

import sys
from importlib import invalidate_caches

import pytest

import tcdp_sim
from tcdp_sim.core import registry
from tcdp_sim.core.errors import UserError
from tcdp_sim.engine.simulate import Batch, Task, run
from tcdp_sim.mechanisms import MECHANISMS
from tcdp_sim.noise import FAMILIES
from tcdp_sim.study import groups

CACHES = (registry._by_kind, registry.plug_ins, registry.config_folders, groups._files, groups.named)
NOISE = """
from tcdp_sim.noise import Gaussian
class Other(Gaussian):
    family = "other"
class Unnamed(Gaussian):
    pass
from tcdp_sim.noise import Noise
class Half(Noise):
    family = "half"
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """installed(distribution, entry points, source of its module, yaml files): as if pip had brought it."""

    def forget():
        invalidate_caches()
        for cached in CACHES:
            cached.cache_clear()

    def install(name, entries, source=NOISE, files=()):
        about = tmp_path / f"{name}-2.1.dist-info"
        package = tmp_path / f"{name}_pkg"
        about.mkdir()
        package.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.1\n", "utf-8")
        groups_of = {kind: [line for of, line in entries if of == kind] for kind, _ in entries}
        lines = [line for kind, listed in groups_of.items() for line in (f"[tcdp_sim.{kind}]", *listed)]
        (about / "entry_points.txt").write_text("\n".join(lines), "utf-8")
        (package / "__init__.py").write_text(source, "utf-8")
        for path, text in files:
            (package / "conf" / path).parent.mkdir(parents=True, exist_ok=True)
            (package / "conf" / path).write_text(text, "utf-8")
        forget()

    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield install
    monkeypatch.undo()
    for module in set(sys.modules) - before:
        if module.endswith("_pkg"):
            del sys.modules[module]
    forget()


def test_the_names_of_the_package_come_first_and_need_no_plug_in():
    assert registry.names("noise")[: len(FAMILIES)] == tuple(FAMILIES)
    assert registry.names("mechanism")[: len(MECHANISMS)] == tuple(MECHANISMS)
    assert all(registry.noise(family) is noise for family, noise in FAMILIES.items())
    assert all(registry.mechanism(name) is mechanism for name, mechanism in MECHANISMS.items())
    assert registry.experiment("histogram").__name__ == "tcdp_sim.experiments.histogram"
    assert registry.origins(("noise", "laplace"), ("mechanism", "histogram")) == {}


def test_a_plug_in_is_imported_when_it_is_asked_for(installed):
    files = [("noise/other.yaml", "family: other\ncalibration: paper\nlabel: other\n")]
    installed("alpha", [("noise", "other = alpha_pkg:Other")], files=files)
    assert registry.names("noise")[-1] == "other"
    assert "other" in groups.options("noise")
    assert groups.named("noise", "other")["family"] == "other"
    assert registry.origins(("noise", "other"), ("mechanism", "histogram")) == {"alpha": "2.1"}
    assert registry.distributions() == {"alpha": "2.1"}
    assert "alpha_pkg" not in sys.modules
    assert registry.noise("other").__module__ == "alpha_pkg"


@pytest.mark.parametrize(
    ("entry", "source", "message"),
    [
        ("other = alpha_pkg:Missing", NOISE, "noise other of distribution alpha 2.1 cannot be loaded"),
        ("other = nowhere_pkg:Other", NOISE, "noise other of distribution alpha 2.1 cannot be loaded"),
        ("other = alpha_pkg:Other", "1 / 0", "alpha 2.1 cannot be loaded .ZeroDivisionError: division by zero"),
        ("other = alpha_pkg:Other", "raise SystemExit(3)", "alpha 2.1 cannot be loaded .SystemExit: 3"),
        ("other = alpha_pkg:Other", "Other = 3", "alpha 2.1 is not a Noise: it is 3"),
        ("other = alpha_pkg:Other", "class Other: pass", "alpha 2.1 is not a Noise"),
        ("half = alpha_pkg:Half", NOISE, "noise half of distribution alpha 2.1 has no isf, which every noise gives"),
        ("other = alpha_pkg:Unnamed", NOISE, "alpha 2.1 calls itself 'gaussian'; valid: family = 'other'"),
    ],
)
def test_what_is_no_noise_is_refused_in_one_line(installed, entry, source, message):
    installed("alpha", [("noise", entry)], source)
    with pytest.raises(UserError, match=message) as refusal:
        registry.noise(entry.split(" ")[0])
    assert "\n" not in str(refusal.value)
    assert registry.noise("gaussian") is FAMILIES["gaussian"]  # what is built in does not suffer


def test_a_name_that_is_built_in_is_refused(installed):
    installed("alpha", [("noise", "laplace = alpha_pkg:Other")])
    with pytest.raises(UserError, match=r"noise laplace of distribution alpha 2.1 has a name that is built in"):
        registry.names("noise")


def test_a_name_of_two_distributions_is_refused(installed):
    installed("alpha", [("mechanism", "other = alpha_pkg:Other")])
    installed("beta", [("mechanism", "other = beta_pkg:Other")])
    with pytest.raises(UserError, match=r"mechanism other of distribution beta 2.1 is also brought by alpha 2.1"):
        registry.mechanism("other")


@pytest.mark.parametrize("path", ["noise/laplace.yaml", "data/zipf.yaml", "experiment/histogram.yaml"])
def test_a_yaml_file_whose_name_is_taken_is_refused(installed, path):
    group, name = path.removesuffix(".yaml").split("/")
    name = groups.options(group)[0]
    installed("alpha", [("noise", "other = alpha_pkg:Other")], files=[(f"{group}/{name}.yaml", "x: 1")])
    with pytest.raises(
        UserError, match=f"distribution alpha 2.1 brings conf/{group}/{name}.yaml, a name that is taken"
    ):
        groups.options(group)


def test_a_plug_in_adds_no_cluster(installed):
    before = groups.options("cluster")
    installed("alpha", [("noise", "other = alpha_pkg:Other")], files=[("cluster/mine.yaml", "name: mine")])
    assert groups.options("cluster") == before


def test_an_experiment_is_a_module_with_three_functions(installed):
    source = "def rows(cell): ...\ndef report(table, console): ...\n"
    installed("alpha", [("experiment", "mine = alpha_pkg")], source)
    with pytest.raises(
        UserError, match=r"experiment mine of distribution alpha 2.1 is not an experiment: it has no figures"
    ):
        registry.experiment("mine")
    installed("beta", [("experiment", "whole = beta_pkg")], source + "def figures(table): ...\n")
    assert registry.experiment("whole").__name__ == "beta_pkg"


@pytest.mark.parametrize("name", ["os.path", "gap_max.series", "../plain", "tcdp_sim", "antigravity"])
def test_no_name_is_a_path_to_code(name):
    """A name that is neither built in nor an entry point imports nothing: such an experiment is a yaml file alone."""
    before = set(sys.modules)
    assert registry.experiment(name).__name__ == "tcdp_sim.experiments.plain"
    assert "antigravity" not in set(sys.modules) - before
    with pytest.raises(UserError, match=r"is not known; valid: .*laplace"):
        registry.noise(name)


def test_another_version_than_the_one_asked_for_is_refused(installed):
    installed("alpha", [("noise", "other = alpha_pkg:Other")])
    registry.require({})
    registry.require({"plug_ins": {"alpha": "2.1"}})
    with pytest.raises(UserError, match=r"needs alpha 2.2, and the version that is installed here is 2.1"):
        registry.require({"plug_ins": {"alpha": "2.2"}})
    with pytest.raises(UserError, match="needs beta 1, and the version that is installed here is none"):
        registry.require({"plug_ins": {"beta": "1"}})


def test_a_chunk_of_another_version_is_an_error_and_no_number():
    law = {"mechanism": "noise", "version": 1, "noise": {"family": "gaussian", "calibration": "given"}}
    law |= {"parameters": {"scale": 2.0}}
    for more, errors in (({}, 0), ({"plug_ins": {"alpha": "2.2"}}, 1)):
        (record,) = run(Task(1, 10, (Batch("0" * 64, law | more, None, (0,)),))).records
        assert len(record.problems) == errors
        assert (record.summary is None) == bool(errors)


def test_an_interruption_that_a_plug_in_raises_itself_is_none(installed):
    installed("delta", [("noise", "delta = delta_pkg:Delta")], "raise KeyboardInterrupt('mine')")
    with pytest.raises(UserError, match=r"noise delta of distribution delta 2\.1 cannot be loaded \(KeyboardInterrupt"):
        registry.noise("delta")


SWEEP = '''
def largest(rng, trials, n, scale=1.0):
    """The largest of n uniform numbers."""
    return scale * rng.random((trials, n)).max(axis=1)
NUMBER = 3
'''


def test_a_function_of_a_plug_in_is_swept_by_its_name(installed, command):
    installed("kappa", [("sweep", "largest = kappa_pkg:largest"), ("sweep", "number = kappa_pkg:NUMBER")], SWEEP)
    found = tcdp_sim.sweep("largest", {"n": [1, 4]}, trials=20_000)
    assert (abs(found["value"] - found["n"] / (found["n"] + 1)) < 5 * found["value_mcse"]).all()
    with pytest.raises(UserError, match=r"function = 'larges' is not known.*did you mean largest"):
        tcdp_sim.sweep("larges", {"n": 1})
    with pytest.raises(UserError, match=r"sweep number of distribution kappa 2\.1 is not a function: it is 3"):
        tcdp_sim.sweep("number", {"n": 1})
    code, out, _ = command("describe", "largest")
    assert (code, "largest: The largest of n uniform numbers." in out, "n*" in out) == (0, True, True)
    assert command("sweep", "largest", "sweep.n=[1,4]", "trials=50", "cluster=serial")[0] == 0
    code, out, _ = command("verify", "results/largest", "function=largest")
    assert (code, "2 of 2 chunks are the stored bits" in out) == (0, True)
