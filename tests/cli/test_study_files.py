"""Studies in files: the same study as by words and by Python, mistakes with their lines, files that are written."""

import json
import re
import shutil
import tomllib
from importlib import invalidate_caches
from pathlib import Path

import jsonschema
import pytest
from test_registry import CACHES

import tcdp_sim
from tcdp_sim.cli import overrides, schema, study_words
from tcdp_sim.core.errors import UserError
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.store.digests import tree_digest
from tcdp_sim.study import groups, plain_yaml, rerun, study_file
from tcdp_sim.study.compose import composed
from tcdp_sim.study.settings import settings
from tcdp_sim.study.study import prepare

EXAMPLES = Path(__file__).parents[2] / "examples"
STUDIES = sorted((EXAMPLES / "studies").glob("*.yaml"))
SMALL = """\
# a small study
sweep:
  k: [10, 1e3]
  noise: [gaussian, laplace]
  rho: 0.1
also: {more: {k: 30, noise: gaussian}, real: null, squared: null}
trials: 1e3
chunk: 500
cluster: {name: local, workers: 3}
"""
WORDS = ("sweep.k=[10,1e3]", "sweep.noise=[gaussian,laplace]", "sweep.rho=0.1", "+also.more={k: 30, noise: gaussian}")
WORDS += ("also.real=null", "also.squared=null", "trials=1e3", "chunk=500")
GIVEN = {"sweep": {"k": [10, 1e3], "noise": ["gaussian", "laplace"], "rho": 0.1}, "trials": 1e3, "chunk": 500}
GIVEN |= {"also": {"more": {"k": 30, "noise": "gaussian"}, "real": None, "squared": None}}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """write(text, name) -> the name; files of studies and a table in an empty folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x,n\na,5\nb,7\n")

    def write_text(text, name="study.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
        return name

    return write_text


def config_of(path, *words):
    return study_words.runs(words, path)[0].settings.config


def snapshot(folder):
    return tree_digest((Path("results") / folder / "results.zarr").resolve())


# The same study


def test_by_file_by_words_and_by_python_the_bytes_are_the_same(command, write):
    write(SMALL)
    assert command("run", "study.yaml", "cluster=serial", "name=by_file")[0] == 0
    assert command(*WORDS, "cluster=serial", "name=by_words")[0] == 0
    tcdp_sim.run(**GIVEN, cluster="serial", name="by_python")
    tcdp_sim.run(study="study.yaml", cluster="serial", name="by_both")
    assert len({snapshot(name) for name in ("by_file", "by_words", "by_python", "by_both")}) == 1


SAME = [
    (
        "experiment: gap_max\ntrials: 5e3\nseed: 1180591620717411303424\n",
        ["experiment=gap_max", "trials=5e3", f"seed={2**70}"],
    ),
    ("data: zipf\n", ["data=zipf"]),
    ("data: {n: 50}\n", ["data.n=50"]),
    ("data: {name: zipf, n: 50}\n", ["data=zipf", "data.n=50"]),
    ("data: {name: steep, shape: zipf, exponent: 2}\n", ["data=zipf", "data.name=steep", "data.exponent=2"]),
    (
        "data: {path: t.csv, column: x, count: n, domain: [a, b, 'no']}\n",
        ["data=csv", "data.path=t.csv", "data.column=x", "data.count=n", "data.domain=[a,b,no]"],
    ),
    (
        "sweep: {log10_k: {from: 1, to: 3, num: 3}, where: ['k > 10']}\n",
        ["sweep.log10_k={from: 1, to: 3, num: 3}", "sweep.where=['k > 10']"],
    ),
    ("sweep:\n", []),
    ("also:\n", ["also=null"]),
    ("also: {real: {rho: 0.1}}\n", ["+also.real.rho=0.1"]),
    (
        "target_mcse: {linf_error: {relative: 1e-2}}\nmax_trials: 2e6\n",
        ["target_mcse={linf_error: {relative: 1e-2}}", "max_trials=2e6"],
    ),
    ("share: noise\nmechanism: {beta: 0.1}\n", ["share=noise", "mechanism.beta=0.1"]),
    (
        "experiment: sinh_normal\nmechanism: noise\n",
        ["experiment=sinh_normal", "mechanism=noise"],
    ),
    ("experiment: {name: tightness, axes: {rho: 0.01}}\n", ["experiment=tightness", "experiment.axes.rho=0.01"]),
    ("cluster: {name: slurm, workers: 40}\nname: mine\n", ["cluster=slurm", "cluster.workers=40", "name=mine"]),
    (
        "share: &a [noise]\nsweep: {zip: [*a]}\n",
        ["share=[noise]", "sweep.zip=[[noise]]"],
    ),
]


@pytest.mark.parametrize(("text", "words"), SAME, ids=lambda part: part[:20] if isinstance(part, str) else "")
def test_a_file_is_the_config_of_its_words_and_of_python(write, text, words):
    path = write(text)
    (by_words,) = overrides.configs(words)
    assert config_of(path) == settings(by_words).config
    assert settings(composed({}, study_file.read(path).keys)).config == settings(by_words).config


OVERRIDDEN = [  # a file, words after it, and the words of the same study
    ("sweep: {k: 10, rho: 1}\n", ["sweep.k=20"], ["sweep.k=20", "sweep.rho=1"]),
    ("sweep: {k: 10, rho: 1}\n", ["sweep.log10_k=2"], ["sweep.log10_k=2", "sweep.rho=1"]),
    ("sweep: {log10_k: [1, 2]}\n", ["sweep.k=20"], ["sweep.k=20"]),
    ("sweep: {omega: 5}\n", ["sweep.omega_sqrt_rho=2"], ["sweep.omega_sqrt_rho=2"]),
    (
        "sweep: {k: {from: 10, to: 1e6, num: 6, scale: log}}\n",
        ["sweep.k={from: 1, to: 3, num: 3}"],
        ["sweep.k={from: 1, to: 3, num: 3}"],
    ),
    ("cluster: {name: slurm, workers: 40}\n", ["cluster=serial"], ["cluster=serial"]),
    ("cluster: {name: slurm, workers: 40}\n", ["cluster.workers=3"], ["cluster=slurm", "cluster.workers=3"]),
    ("data: {path: t.csv, column: x, domain: 5}\n", ["data=zipf"], ["data=zipf"]),
    ("data: {name: zipf, n: 50}\n", ["data.n=60"], ["data=zipf", "data.n=60"]),
    ("also: {more: {k: 30}}\n", ["also.more.k=40"], ["+also.more={k: 40}"]),
    ("also: {more: {k: 30}}\n", ["also=null"], ["also=null"]),
    ("seed: 3\ntrials: 500\n", ["trials=1e6"], ["seed=3", "trials=1e6"]),
]


@pytest.mark.parametrize(("text", "more", "words"), OVERRIDDEN, ids=lambda part: "".join(part)[:30])
def test_words_override_the_file(write, text, more, words):
    path = write(text)
    expected = settings(overrides.configs(words)[0]).config
    found = config_of(path, *more)
    for config in (expected, found):  # the file's place of an axis is kept, with null
        config["sweep"] = {key: value for key, value in config["sweep"].items() if value is not None}
    assert found == expected


def test_a_range_and_a_list_replace_each_other_whole(write):
    """Hydra alone would refuse the first two, and give the last one the scale of the default."""
    path = write("""\
experiment: gap_max
also:
  success: {gap: [10, 20], algorithm: {from: 1, to: 2, num: 3}, k: 5}
  theorem_20: {k: {from: 1, to: 3, num: 3}}
""")
    blocks = config_of(path)["also"]
    assert (blocks["success"]["gap"], blocks["success"]["k"]) == ([10, 20], 5)
    assert blocks["success"]["algorithm"] == {"from": 1, "to": 2, "num": 3}
    assert blocks["theorem_20"]["k"] == {"from": 1, "to": 3, "num": 3}
    assert blocks["theorem_20"]["noise"] == "gaussian"  # of the default


def test_arguments_of_python_override_the_file(write):
    path = write(SMALL + "name: mine\n")
    plan = tcdp_sim.plan(study=path, cluster="serial", sweep={"log10_k": 2}, trials=500, also=None)
    assert (list(plan.cells["k"]), plan.trials, plan.folder) == ([100.0] * 2, 500, Path("results/mine"))
    with pytest.raises(UserError, match=r"^study = 5"):
        tcdp_sim.run(study=5)
    write("# two\n# comments\nsweep: {k: [10, a], rho: 0.1}\n")
    with pytest.raises(UserError, match=r"^study.yaml:3: k = 'a'"):
        tcdp_sim.run(study=Path("study.yaml"))


def test_paths_of_data_are_relative_to_the_file_and_those_of_words_to_the_shell(command, write, tmp_path):
    (tmp_path / "labels.csv").write_text("x\na\nb\nc\n")
    write("data: {path: ../t.csv, column: x, count: n, domain: {file: ../labels.csv, column: x}}\n", "far/study.yaml")
    data = config_of("far/study.yaml")["data"]
    assert (data["path"], data["domain"]["file"]) == ("far/../t.csv", "far/../labels.csv")
    assert config_of("far/study.yaml", "data.path=t.csv")["data"]["path"] == "t.csv"
    small = ("cluster=serial", "sweep.rho=0.1", "sweep.noise=gaussian", "trials=10", "chunk=10")
    assert "data t.x: 12 records" in command("plan", "far/study.yaml", *small)[1]
    write(f"data: {{path: {tmp_path}/t.csv, column: x}}\n", "far/absolute.yaml")
    assert config_of("far/absolute.yaml")["data"]["path"] == f"{tmp_path}/t.csv"
    write("experiment: thresholds\nmechanism: {records: {ages: {path: a.csv, column: x}}}\n", "far/records.yaml")
    assert config_of("far/records.yaml")["mechanism"]["records"]["ages"]["path"] == "far/a.csv"


def test_every_command_of_a_run_takes_a_file(command, write):
    write(SMALL + "name: mine\n")
    serial = ("study.yaml", "cluster=serial")
    assert command(*serial)[0] == 0  # also without a command
    assert "8 of 8 chunks" in command("status", *serial)[1].replace("10 of 10", "8 of 8")
    assert command("table", "study.yaml", "out.csv")[0] == 0
    assert command("run", "study.yaml", "cluster=serial", "seed=3", "name=other")[0] == 0
    assert "same within Monte Carlo error" in command("diff", "study.yaml", "results/other")[1]
    code, out, _ = command("plan", "-m", *serial, "seed=1,2", "name=s${seed}")
    assert (code, "s1: " in out, "s2: " in out) == (0, True, True)
    assert "did you mean run?" in command("rnu", "study.yaml")[2]
    assert "takes RUN FOLDER, not RUN" in command("merge", "study.yaml")[2]
    (Path("results") / "mine").rename("results/is.yaml")  # the folder of a run may have any name
    assert command("status", "results/is.yaml")[0] == 0


# Mistakes

MISTAKES = [
    ("", [], "study.yaml:1: the file is empty; `tcdp-sim new histogram`"),
    ("# nothing\n", [], "study.yaml:1: the file is empty"),
    ("- a\n- b\n", [], "study.yaml:1: the file is no study; valid: keys and their values"),
    ("just text\n", [], "study.yaml:1: the file is no study"),
    ("\nsed: 3\n", [], "study.yaml:2: 'sed' is not a key; valid: .*did you mean seed"),
    ("rho: 3\n", [], "study.yaml:1: 'rho' is not a key; .*did you mean sweep.rho"),
    ("sweep:\n  rho: 1\n  kk: 3\n", [], "study.yaml:3: sweep.kk is not an axis; valid: .*; did you mean sweep.k"),
    ("sweep:\n  noise: [laplace]\n  kk: 3\n", [], "study.yaml:3: sweep.kk is not an axis"),
    ("sweep:\n  cells:\n  - k: 3\n  - {k: 3,\n     kk: 3}\n", [], "study.yaml:5: sweep.cells.kk is not an axis"),
    ("\nsweep: {rho: 1, omega: 5, omega_sqrt_rho: 2}\n", [], "study.yaml:2: sweep: give omega or omega_sqrt_rho"),
    ("trials: -5\n", [], "study.yaml:1: trials = -5 is not valid; valid: a whole number from 1"),
    ("sweep:\n  noise: laplce\n", [], "study.yaml:2: sweep.noise = laplce is not known; .*did you mean laplace"),
    ("sweep:\n\trho: 1\n", [], "study.yaml:2: cannot be read as YAML .*indent with spaces"),
    ("seed: 1\nseed: 2\n", [], "study.yaml:2: seed is given twice, also in line 1"),
    ("trials: ${seed}\n", [], "study.yaml:1: .* would be an interpolation"),
    ("sweep: {noise: [laplace]}\n", ["sweep.kk=3"], "sweep.kk is not an axis"),
    ("sweep:\n  k: 3\n  rho: a\n", [], "study.yaml:3: sweep"),
    ("sweep: {k: {from: 1, to: 2}}\n", [], "study.yaml:1: sweep.k: a range needs"),
    ("sweep: [1]\n", [], "study.yaml:1: sweep = .* is not valid; valid: keys and their values"),
    ("sweep: {k: 3, log10_k: 1}\n", [], "study.yaml:1: sweep: the axis k is given twice"),
    ("sweep:\n  where: [k ~ 3]\n", [], "study.yaml:2: sweep.where: .* is not a condition"),
    ("also:\n  x: {k: 1}\n  y:\n    kk: 1\n", [], "study.yaml:4: also.y.kk is not an axis"),
    ("also: {real: [1]}\n", [], "study.yaml:1: also.real = "),
    ("also: 5\n", [], "study.yaml:1: also = 5 is not valid"),
    ("\nexperiment: histogrm\n", [], "study.yaml:2: experiment = 'histogrm' is not known; .*did you mean histogram"),
    ("experiment: 5\n", [], "study.yaml:1: experiment = 5 is not valid"),
    ("data: zpif\n", [], "study.yaml:1: data = 'zpif' is not known"),
    ("data:\n  name: zpif\n", [], "study.yaml:2: data.name = 'zpif' is not known; .*did you mean zipf"),
    ("data:\n  name: zipf\n  m: 4\n", [], "study.yaml:3: data zipf: unknown key 'm'"),
    ("data: {path: no.csv, column: x, domain: 5}\n", [], "study.yaml:1: no.csv: there is no such file"),
    ("data:\n  path: t.csv\n", [], "study.yaml:1: data .*column is not given|study.yaml:1: data.column is not given"),
    ("seed: 1\ndata: {path: t.csv, column: y, domain: 5}\n", [], "study.yaml:2: t.csv: column 'y' is not there"),
    ("data:\n  path: t.csv\n  column: x\n  domain:\n    from: a\n", [], "study.yaml:[45]: .*"),
    ("figures:\n  width: 1\n", [], "study.yaml:2: figures.width = 1 is not valid"),
    ("figures:\n  title: false\n  form: png\n", [], "study.yaml:1: figures = "),
    (
        "cluster:\n  name: local\n  wokers: 3\n",
        [],
        "study.yaml:3: cluster: 'wokers' is not a key; .*did you mean workers",
    ),
    ("mechanism:\n  bta: 3\n", [], "study.yaml:2: mechanism: 'bta' is not a key; .*did you mean beta"),
    ("trials: many\n", [], "study.yaml:1: trials = 'many' is not valid"),
    ("trials: [1]\n", [], r"study.yaml:1: trials = \[1\] is not valid"),
    ("seed: 1\ninvalid: nope\n", [], "study.yaml:2: invalid = 'nope' is not known; valid: refuse, skip"),
    ("target_mcse: {linf: {relative: 1}}\n", [], "study.yaml:1: target_mcse.linf is not an observable"),
    ("share: [nose]\n", [], "study.yaml:1: share: 'nose' is not an axis"),
    ("name: a/b\n", [], "study.yaml:1: name = 'a/b' is not valid"),
    ("defaults: [x]\n", [], "study.yaml:1: defaults is not read: a file is data"),
    ("seed: 1\nhydra: {x: 1}\n", [], "study.yaml:2: hydra is not read: a file is data"),
    ("sweep.k: 3\n", [], "study.yaml:1: 'sweep.k' is not a key; write k in its own line under sweep:"),
    ("sweep: {k: 3}\n", ["sweep.k=a"], "k = 'a' is not valid"),
    ("sweep:\n  k: a\n", ["sweep.rho=1"], "study.yaml:2: k = 'a' is not valid"),
    ("seed: 1\n", ["sed=3"], "sed is not a key; valid: "),
    ("k: !!python/object/apply:os.mkdir [ran]\n", [], "study.yaml:1: the tag "),
]


@pytest.mark.parametrize(("text", "words", "message"), MISTAKES, ids=lambda part: repr(part)[:30])
def test_a_mistake_is_one_line_that_names_the_line_of_the_file(command, write, tmp_path, text, words, message):
    path = write(text)
    code, out, err = command("plan", path, "cluster=serial" if "cluster" not in text else "seed=1", *words)
    assert (code, err.count("\n")) == (2, 1), out
    assert re.match(f"tcdp-sim: (?:{message})", err), err
    assert {path.name for path in tmp_path.iterdir()} == {"study.yaml", "t.csv"}


def test_what_words_got_wrong_is_not_blamed_on_the_file(command, write):
    path = write("sweep: {k: 3}\ndata: {name: zipf, n: 5}\n")
    for words in (["sweep.k=a"], ["sweep.kk=3"], ["data.n=a"], ["sweep={kk: 1}"], ["seed=x"]):
        code, _, err = command("plan", path, "cluster=serial", *words)
        assert (code, "study.yaml:" in err) == (2, False), err


def test_a_file_that_is_none_is_one_line(command, write, tmp_path):
    (tmp_path / "folder.yaml").mkdir()
    for path, said in (
        ("folder.yaml", "is a directory"),
        ("no.yaml", "there is no such file"),
        ("study", "is no command"),
    ):
        code, out, err = command(path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
    write("a: b: c\n", "x.YML")
    assert "x.YML:1: cannot be read as YAML" in command("plan", "x.YML")[2]


def test_the_refusal_of_a_folder_of_configs_names_the_file_of_a_study(command):
    assert "a study in a file that is read as data: `tcdp-sim run study.yaml`" in command("--config-dir", "x")[2]


# Files that are written


@pytest.fixture
def plugged(tmp_path, monkeypatch):
    """The plug-in of examples/plugin, as if pip had brought it."""
    about = tomllib.loads((EXAMPLES / "plugin" / "pyproject.toml").read_text("utf-8"))["project"]
    home = tmp_path / "site" / f"{about['name']}-{about['version']}.dist-info"
    home.mkdir(parents=True)
    (home / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n", "utf-8"
    )
    entries = (
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items()) for group, of in about["entry-points"].items()
    )
    (home / "entry_points.txt").write_text("".join(entries), "utf-8")
    monkeypatch.syspath_prepend(str(home.parent))
    monkeypatch.syspath_prepend(str(EXAMPLES / "plugin"))
    forget()
    yield
    monkeypatch.undo()
    forget()


def forget():
    invalidate_caches()
    for cached in CACHES:
        cached.cache_clear()


ROUND = [
    {},
    {"experiment": "gap_max", "trials": 5000, "chunk": 500, "seed": 2**70},
    {"also": None, "sweep": {"k": [10, 1e6], "rho": {"from": 0.01, "to": 0.1, "num": 3}, "where": ["k > 10"]}},
    {"also": {"real": None, "more": {"k": 30, "blocks": [{"rho": 1}, {"rho": 2}]}}, "name": "other: name"},
    {"data": {"path": "t.csv", "column": "x", "count": "n", "domain": ["a", "b", "no"]}, "also": None},
    {"data": {"name": "zipf", "n": 50}, "mechanism": {"beta": 0.01}, "invalid": "skip"},
    {"data": {"name": "steep", "shape": "zipf", "exponent": 2}, "sweep": {"k": 5}},
    {"experiment": "gap_max_data", "data": {"name": "mine", "file": "nyc2013_tailnum.csv", "outside": "drop"}},
    {"experiment": "thresholds", "mechanism": {"records": {"mine": {"path": "t.csv", "column": "n", "log2_k": 4}}}},
    {"target_mcse": {"linf_error": {"relative": 1e-3}}, "share": ["noise"], "max_trials": 1e7},
    {"target": {"linf_error": {"across": "noise", "within": 0.1, "failure": 0.01}, "top_stays": {"events": 100}}},
    {"target": {"linf_error": {"threshold": 3}, "mean_abs_error": {"across": "noise"}}},
    {"cluster": {"name": "slurm", "workers": 7}, "results_dir": "runs", "sweep": {"cells": [{"k": 1, "rho": 0.5}]}},
    {"experiment": "noisy_mean", "trials": 100},
]


@pytest.mark.usefixtures("plugged")
@pytest.mark.parametrize("given", ROUND, ids=lambda given: " ".join(given) or "default")
def test_the_file_that_show_writes_is_the_same_study(write, given):
    asked_for = settings(composed(given))
    path = write(rerun.file(asked_for.config), "shown.yaml")
    file = study_file.read(path)
    assert file.keys["cluster"] == given.get("cluster", {"name": "local"})  # without what follows from other keys
    found = settings(composed({}, file.keys))
    assert found.config == {**asked_for.config, "also": found.config["also"]}
    assert {name: block for name, block in found.also.items() if block is not None} == {
        name: block for name, block in asked_for.also.items() if block is not None
    }
    if given.get("experiment") == "noisy_mean" or "where" in str(given):
        assert prepare(found).config_hash == prepare(asked_for).config_hash


def test_a_removed_block_and_a_removed_key_stay_away(write):
    config = composed({"sweep": {"k": 5}}) | {"also": {}}
    del config["data"]["axes"]["rho"]
    path = write(rerun.file(config))
    found = composed({}, study_file.read(path).keys)
    assert found["also"] == {"real": None, "squared": None}
    assert found["data"]["axes"]["rho"] is None


def test_show_of_a_folder_runs_it_again(command, write):
    write(SMALL + "name: mine\n")
    assert command("run", "study.yaml", "cluster=serial", "data=zipf")[0] == 0
    write(command("show", "results/mine")[1], "again.yaml")
    code, out, _ = command("run", "again.yaml")
    assert (code, "nothing to simulate" in out) == (0, True)
    assert command("run", "again.yaml", "name=anew")[0] == 0
    assert snapshot("anew") == snapshot("mine")
    assert "relative to this file" not in command("show", "results/mine")[1]
    shown = command("show", "data=csv", "data.path=t.csv", "data.column=x")[1]
    assert "# Paths of data are relative to this file" in shown


def live(text):
    """The text of `tcdp-sim new` with the defaults made live: a comment has one space behind its #."""
    return re.sub(r"(?m)^( *)#(?=\S|  )", r"\1", text)


@pytest.mark.usefixtures("plugged")
@pytest.mark.parametrize("experiment", [*groups.options("experiment"), "noisy_mean"])
def test_new_writes_a_file_that_is_the_default_study(command, write, experiment):
    code, text, err = command("new", experiment)
    assert (code, err) == (0, "")
    file = study_file.read(write(text, f"{experiment}.yaml"))
    default = composed({"experiment": experiment})
    assert composed({}, file.keys) == default
    full = study_file.read(write(live(text), "live.yaml")).keys
    axes = mechanism_class(default["mechanism"]["name"]).axes
    assert {key.removeprefix("log10_") for key in full["sweep"]} - {"zip"} == set(axes)
    assert all(" ".join(axis.meaning.split()) in " ".join(text.replace("#", " ").split()) for axis in axes.values())
    by_data = default["data"]["axes"] if "data" in axes else {}
    given = by_data | default["experiment"]["axes"] | {k: v for k, v in default["sweep"].items() if v is not None}
    assert full["sweep"] | given == full["sweep"]
    assert set(full) >= set(default) - {"data", "also"}
    assert list(jsonschema.Draft202012Validator(schema.schema()).iter_errors(full)) == []
    whole = composed({}, {**full, "sweep": {}})
    assert {**whole, "share": None} == {**default, "share": None}


def test_new_refuses_what_is_no_experiment(command):
    assert "did you mean histogram?" in command("new", "histogrm")[2]
    assert "new takes EXPERIMENT, not nothing" in command("new")[2]


# The schema


@pytest.fixture(scope="module")
def checker():
    jsonschema.Draft202012Validator.check_schema(schema.schema())
    return jsonschema.Draft202012Validator(schema.schema())


def test_schema_prints_json(command, checker):
    code, out, err = command("schema")
    assert (code, err) == (0, "")
    assert json.loads(out) == checker.schema
    assert out.startswith('{\n "$schema": "https://json-schema.org/draft/2020-12/schema"')
    k = checker.schema["$defs"]["histogram_k"]
    assert k["description"] == "number of bins; valid: 1 to 1e300, or declared"


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_examples_fit_the_schema(checker, path):
    assert list(checker.iter_errors(plain_yaml.read(path)[0])) == []


@pytest.mark.parametrize("given", ROUND[:-1], ids=lambda given: " ".join(given) or "default")
def test_whole_configs_fit_the_schema(checker, given):
    assert list(checker.iter_errors(json.loads(json.dumps(composed(given))))) == []


GOOD = ["trials: '+500'", "sweep: {k: declared}", "mechanism: noise\nsweep: {scale: 3}", "sweep: {rho: null}"]
GOOD += ["data: {path: x.csv, column: a}", "mechanism: {beta: 0.2}", "share: noise", "also: {real: null}", "cluster:"]
GOOD += ["figures: {width: 3.5, title: false, format: svg}"]
GOOD += ["experiment: per_record_policy\nsweep: {influence: [max, 3], nonnegative: true}", "name: 3", "seed: 1e6"]
BAD = ["sed: 1", "trials: many", "sweep: {kk: 1}", "sweep: {rho: a}", "sweep: {noise: gausian}", "invalid: nope"]
BAD += ["experiment: gap_max\nsweep: {algorithm: x}", "experiment: histogrm", "cluster: {name: slurm, wokers: 3}"]
BAD += ["data: zpif", "data: {name: zpif}", "data: {name: zipf, m: 3}", "mechanism: {beta: a}", "sweep: {k: []}"]
BAD += ["sweep: {k: {from: 1, to: 2}}", "also: {x: {kk: 1}}", "also: {x: 5}", "target_mcse: {lin: {relative: 1}}"]
BAD += [
    "target: {linf_error: {across: noise, threshold: 1}}",
    "target: {lin: {across: noise}}",
    "target: {linf_error: {}}",
]
BAD += ["target_mcse: {linf_error: 1}", "sweep: {where: [k ~ 3]}", "mechanism: noise\nsweep: {k: 3}", "trials: 0"]
BAD += ["figures: {width: 2}", "figures: {format: gif}", "figures: svg"]
BAD += ["seed: -1", "seed: 1.5", "sweep: {zip: [[k, roh]]}", "sweep: {cells: [{kk: 1}]}", "sweep: 5", "share: [1]"]
BAD += ["experiment: gap_max\nsweep: {gap: 3, data: zipf}", "{}"]


@pytest.mark.parametrize("text", GOOD)
def test_a_valid_key_fits_the_schema(checker, write, text):
    assert list(checker.iter_errors(plain_yaml.read(write(text))[0])) == []


@pytest.mark.parametrize("text", BAD)
def test_a_planted_mistake_does_not_fit_the_schema(checker, write, text):
    assert list(checker.iter_errors(plain_yaml.read(write(text))[0])) != []


# The examples

FEWER = {  # where a few trials of the whole study would still take seconds
    "median_age": ("sweep.n=200", "sweep.smooth_noise=student_t"),
    "breach_sums": ("sweep.value_high=10", "sweep.release=fourth_root"),
    "noise_crossover": ("sweep.log10_k=[2,6]",),
    "many_quantiles": (*("sweep.records=bell", "sweep.log2_k=8", "sweep.m=[1,3]", "sweep.n=1000"), "also=null"),
}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_it_answers(command, tmp_path, path):
    assert path.read_text("utf-8").partition("\n")[0].startswith("# ")
    assert path.read_text("utf-8").partition("\n")[0].endswith("?")
    shutil.copytree(path.parent, tmp_path / "studies")
    few = ("cluster=serial", "trials=20", "chunk=10", "max_trials=20", *FEWER.get(path.stem, ()))
    code, out, err = command("run", f"studies/{path.name}", *few)
    assert (code, err) == (0, "")
    assert f"results: results/{path.stem}/results.zarr" in out


def test_there_are_six_examples():
    assert len(STUDIES) == 6


def test_the_file_of_the_docs_is_a_study(tmp_path, monkeypatch, checker):
    page = (EXAMPLES.parent / "docs" / "howto" / "study_files.md").read_text("utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    shutil.copy(EXAMPLES / "studies" / "clinics.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("study.yaml").write_text(text, "utf-8")
    assert list(checker.iter_errors(plain_yaml.read("study.yaml")[0])) == []
    assert len(prepare(study_words.runs([], "study.yaml")[0].settings).plan.laws) == 9
