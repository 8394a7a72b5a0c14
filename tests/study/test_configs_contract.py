"""Every yaml file of the package: new ones are tested as soon as they are there."""

import importlib
import pkgutil
import shlex
from importlib import resources
from pathlib import Path

import pytest
from omegaconf import OmegaConf

import tcdp_sim
from tcdp_sim import experiments
from tcdp_sim.calibration.families import METHODS
from tcdp_sim.cli.commands import COMMANDS
from tcdp_sim.core import registry
from tcdp_sim.data import load_counts
from tcdp_sim.engine import clusters
from tcdp_sim.mechanisms import MECHANISMS
from tcdp_sim.mechanisms.axes import COMMON
from tcdp_sim.study import groups
from tcdp_sim.study.points import points

ROOT = Path(tcdp_sim.__file__).parent.parent
CONF = Path(str(resources.files("tcdp_sim.conf")))
GROUPS = ("cluster", "data", "experiment", "mechanism", "noise")
NEEDS = {"csv": ["data.path=t.csv", "data.column=x", "data.domain=5"]}  # what these data sets ask of the user
PLAN = ("plan", "trials=10", "chunk=10", "cluster=serial", "also=null", "invalid=skip")


def names(group):
    return groups.options(group)


def read(group, name):
    return OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))


def table(folder):
    (folder / "t.csv").write_text("x\na\na\nb\n")


def targets(value):
    """Every key of a config that would have Hydra run code."""
    if isinstance(value, dict):
        yield from (key for key in value if key.startswith("_"))
        for item in value.values():
            yield from targets(item)
    elif isinstance(value, list):
        for item in value:
            yield from targets(item)


def test_every_file_is_in_a_known_group():
    found = {path.relative_to(CONF).parts for path in CONF.rglob("*.yaml")} - {("config.yaml",)}
    assert found == {(group, f"{name}.yaml") for group in GROUPS for name in names(group)}


def test_no_file_can_run_code():
    paths = sorted(CONF.rglob("*.yaml"))
    assert len(paths) > 50
    for path in paths:
        assert list(targets(OmegaConf.to_container(OmegaConf.load(path)))) == [], path
        assert "${oc." not in path.read_text("utf-8"), path


@pytest.mark.parametrize("name", names("noise"))
def test_a_noise_has_a_known_family_and_calibration_and_a_label(name):
    spec = read("noise", name)
    assert set(spec) - {"objective"} == {"family", "calibration", "label"}
    assert spec["family"] in registry.names("noise")
    assert spec["calibration"] in METHODS
    assert spec["label"]
    assert "objective" not in spec or spec["calibration"] == "tight"


def test_no_two_noises_have_one_label():
    assert len({read("noise", name)["label"] for name in names("noise")}) == len(names("noise"))


@pytest.mark.parametrize("name", names("mechanism"))
def test_a_mechanism_is_registered_and_its_options_are_the_keys(name):
    spec = read("mechanism", name)
    mechanism = MECHANISMS[spec["name"]]
    assert name == spec["name"] == mechanism.name
    assert set(spec) == {"name", *mechanism.options}
    assert set(mechanism.required) <= set(mechanism.axes)


def test_every_mechanism_has_its_file():
    assert sorted(MECHANISMS) == names("mechanism")


@pytest.mark.parametrize("name", names("cluster"))
def test_a_cluster_is_known_and_says_its_workers(name):
    spec = read("cluster", name)
    assert spec["name"] == name
    needed = {"scheduler": {"address": "localhost:8786"}}.get(name, {})
    assert clusters.worker_count(spec | needed | ({"folder": "jobs"} if "folder" in spec else {})) >= 1


@pytest.mark.parametrize("name", names("data"))
def test_a_data_set_loads_at_the_first_of_its_own_k(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(tmp_path)
    spec = read("data", name) | dict(word.removeprefix("data.").split("=") for word in NEEDS.get(name, []))
    if "domain" in spec and str(spec["domain"]).isdigit():
        spec["domain"] = int(spec["domain"])
    assert spec["name"] == name
    first = next(iter(points(spec["axes"], COMMON)))
    counts = load_counts(spec, None if first["k"] == "declared" else first["k"])
    assert counts.counts.sum() > 0
    assert counts.k >= len(counts.counts)


@pytest.mark.slow
@pytest.mark.parametrize("data", names("data"))
def test_every_data_set_gives_a_plan_with_every_noise(command, tmp_path, data):
    table(tmp_path)
    for noise in names("noise"):
        few = ["sweep.rho=0.1"] if noise == "optimal" else []  # far below, the search is refused
        code, out, err = command(*PLAN, f"data={data}", *NEEDS.get(data, []), f"sweep.noise={noise}", *few)
        assert (code, err) == (0, "")
        assert " cells x 10 trials" in out
        assert "left out" not in out


SOON_PLANNED = ("gap_max", "histogram", "ledger")  # a plan of others searches for noises, for half a minute
PLANNED = [pytest.param(name, marks=[pytest.mark.kept] * (name in SOON_PLANNED)) for name in names("experiment")]


@pytest.mark.parametrize("name", PLANNED)
def test_an_experiment_composes_plans_and_has_its_module(command, name):
    code, out, err = command("plan", f"experiment={name}", "cluster=serial")
    assert (code, err) == (0, "")
    assert out.startswith(f"{name}: ")
    assert "left out" not in out
    spec = read("experiment", name)
    assert set(spec["experiment"]) <= {"name", "question", "axes"}
    assert spec["experiment"]["name"] == name
    module = importlib.import_module(f"tcdp_sim.experiments.{name}")
    assert all(callable(getattr(module, part)) for part in ("rows", "report", "figures"))


def test_a_plan_says_which_block_is_not_part_of_the_study(command):
    code, out, err = command("plan", "cluster=serial", "sweep.rho=0.1", "sweep.k=10", "sweep.noise=gaussian")
    assert (code, err) == (0, "")
    assert out.startswith("histogram: 1 cells")
    assert "also.real is not part of this study: sweep.k is given\n" in out


@pytest.mark.parametrize("words", ["also={x: {k: 20}}", "also.x={k: 20}", "also.real.rho=0.1"])
def test_who_adds_a_block_without_a_plus_is_told_of_it(command, words):
    code, out, err = command("plan", words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "with + in front: '+also.x={k: 20}'" in err


PAGES = ("README.md", "docs/start/index.md", "docs/howto/studies.md")


def test_the_sweeps_of_the_readme_and_the_first_pages_are_planned(command):
    """Each cheap: one noise."""
    text = "".join((ROOT / page).read_text("utf-8") for page in PAGES)
    lines = [line.split(" #")[0] for line in text.splitlines() if line.startswith("    tcdp-sim ")]
    others = (
        "data=csv",
        "trials=+",
        "cluster=",
        "across: noise",  # needs several noises
        *(f"tcdp-sim {name} " for name in set(COMMANDS) - {"plan"}),
    )
    commands = [
        shlex.split(line.replace(" plan ", " "))[1:] for line in lines if not any(word in f"{line} " for word in others)
    ]
    assert len(commands) >= 6
    assert any("also" in word for words in commands for word in words)
    for words in commands:
        code, out, err = command("plan", *words, "cluster=serial", "sweep.noise=gaussian")
        assert (code, err) == (0, ""), words
        assert " cells x " in out


def test_every_experiment_module_has_its_file():
    modules = {module.name for module in pkgutil.iter_modules(experiments.__path__)} - {
        "plain",
        "laws",
        "losses",
        "pair_divergences",
        "per_record",
        "papers",
    }  # which several share
    assert modules == set(names("experiment"))
