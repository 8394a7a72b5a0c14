"""`tcdp-sim account`: its page and files against the ledger of the same releases, and its refusals."""

import json
from functools import partial
from importlib import resources

import jsonschema
import pytest
import yaml

from tcdp_sim.accounting import Additive, Claimed, Ledger, RandomisedResponse, Sampled, training_noise, training_report
from tcdp_sim.cli import account_schema
from tcdp_sim.noise import DiscreteGaussian, Gaussian
from tcdp_sim.privacy import ZCDP
from tcdp_sim.study import plain_yaml

SCHEMA = json.loads(resources.files("tcdp_sim.accounting.statements").joinpath("schema.json").read_text())
LIST = """
relation: zero_out
unit: one household
releases:
  - {noise: discrete_gaussian, sigma: 20, times: 12}
  - {noise: gaussian, scale: 1, sampled: 0.01, times: 5000}
  - {response: 0.2}
  - {kind: Claimed, guarantee: {kind: ZCDP, rho: 0.05}}
"""
LEDGER = Ledger(
    [
        (Additive(DiscreteGaussian(20.0)), 12),
        (Sampled(Additive(Gaussian(1.0)), 0.01), 5000),
        RandomisedResponse(0.2),
        Claimed(ZCDP(0.05)),
    ],
    "zero_out",
)


@pytest.fixture
def run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return partial(command, "account")


def test_a_list_has_the_numbers_of_its_ledger(run, tmp_path):
    (tmp_path / "mine.yaml").write_text(LIST)
    code, out, _ = run("mine.yaml", "delta=1e-6,1e-9", "epsilon=1")
    assert code == 0
    text = (tmp_path / "mine.statement.json").read_text()
    data = json.loads(text)
    jsonschema.validate(data, SCHEMA)
    assert Ledger.from_statement(text) == LEDGER
    assert [row["upper"] for row in data["epsilon"]] == [LEDGER.epsilon(delta).upper for delta in (1e-6, 1e-9)]
    assert data["delta"][0]["upper"] == LEDGER.delta(1.0).upper
    assert data["unit"] == "one household"
    assert (tmp_path / "mine.statement.md").read_text().strip() in out
    code, out, _ = run("mine.statement.json")
    assert (code, out) == (0, "confirmed: 3 brackets of 5,014 releases\n")


def test_other_numbers_in_a_statement_are_not_confirmed(run, tmp_path):
    (tmp_path / "mine.yaml").write_text(LIST)
    run("mine.yaml", "folder=out")
    data = json.loads((tmp_path / "out" / "mine.statement.json").read_text())
    data["epsilon"][0] |= {"lower": 1.0, "upper": 1.1}
    (tmp_path / "other.json").write_text(json.dumps(data))
    code, out, _ = run("other.json")
    assert code == 3
    assert out.startswith("not confirmed: epsilon at delta = 1e-06 is stated from 1 to 1.1")


def test_a_training_run(run, tmp_path):
    words = "training: {sampler: shuffle_once, sigma: 0.8, records: 60000, batch: 60, epochs: 5}\ndelta: [1e-6, 1e-5]\n"
    (tmp_path / "run.yaml").write_text(words)
    code, out, _ = run("run.yaml")
    assert code == 0
    reports = [training_report("shuffle_once", 0.8, 60_000, 60, 5, delta) for delta in (1e-6, 1e-5)]
    assert out.startswith("\n".join(map(str, reports)))
    assert json.loads((tmp_path / "run.training.json").read_text()) == [report.to_dict() for report in reports]


def test_a_plan_of_a_budget(run, tmp_path):
    words = (
        "releases:\n  - {name: total, deviation: 5}\n  - {name: top, gap: 40, k: 12}\ndelta: 1e-6\nbudget: {rho: 0.1}\n"
    )
    (tmp_path / "plan.yaml").write_text(words)
    code, out, _ = run("plan.yaml", "delta=1e-6")
    assert code == 0
    assert "Statement of privacy" in out
    assert json.loads((tmp_path / "plan.statement.json").read_text())["releases"]


def test_the_noise_of_a_training_run(run, tmp_path):
    text = "training: {sampler: no_shuffle, epsilon: 2, records: 100, batch: 10, epochs: 1, delta: 1e-5}"
    (tmp_path / "run.yaml").write_text(text)
    code, out, _ = run("run.yaml")
    assert code == 0
    assert out.startswith("noise multiplier 1.994 under zero_out\n")
    (report,) = json.loads((tmp_path / "run.training.json").read_text())
    assert report["sigma"] == training_noise("no_shuffle", 2.0, 100, 10, 1, 1e-5)


def test_the_template_is_a_file_that_works(command, run, tmp_path):
    code, out, _ = command("new", "account")
    assert code == 0
    (tmp_path / "new.yaml").write_text(out)
    code, out, _ = run("new.yaml")
    assert code == 0
    assert out.count("to be filled in by the publisher") == 4
    assert "| 1e-06 |" in out


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("relation: add_remove\n", (), "either the key releases"),
        ("releases: []\n", (), "releases = [] is not valid"),
        ("releases: [3]\n", (), "release 1"),
        ("releases: [{noise: laplce, scale: 1}]\n", (), "did you mean laplace"),
        ("releases: [{noise: laplace, scale: -1}]\n", (), "scale"),
        ("releases: [{kind: Nothing}]\n", (), "'Nothing' is not known"),
        ("releases: [{response: 1}]\nrelation: sideways\n", (), "sideways"),
        ("releases: [{response: 1}]\nunits: one\n", (), "did you mean unit"),
        ("releases: [{response: 1}]\n", ("delta=many",), "delta = 'many'"),
        ("releases: [{response: 1}]\n", ("delta=2",), "delta = 2"),
        ("releases: [{response: 1}]\n", ("alpha=2",), "'alpha' is not a key of this command"),
        ("training: 3\n", (), "training = 3"),
        ("training: {sampler: shuffle}\n", (), "training"),
        ("training: {sampler: poisson, sigma: 1, records: 10, batch: 20, epochs: 1}\n", (), "batch = 20"),
        ("releases: [\n", (), "cannot be read as YAML"),
    ],
)
def test_mistakes_are_one_line_with_exit_code_2(run, tmp_path, text, words, told):
    (tmp_path / "wrong.yaml").write_text(text)
    code, out, err = run("wrong.yaml", *words)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"wrong.yaml"}


def test_files_that_are_not_there_or_no_statements(run, tmp_path):
    assert run("nothing.yaml")[0] == run("nothing.json")[0] == 2
    (tmp_path / "a.json").write_text("{}")
    code, _, err = run("a.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "no format" in err


LACKS = "the statement lacks"
WRITTEN = "valid: a statement that tcdp-sim account wrote"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"epsilon": [{"delta": 1e-6, "upper": 1.0}]}, f"{LACKS} 'lower' in epsilon[0]; {WRITTEN}"),
        ({"epsilon": [{"lower": 0.5, "upper": 1.0}]}, f"{LACKS} 'delta' in epsilon[0]; {WRITTEN}"),
        ({"delta": [3]}, f"{LACKS} 'epsilon' in delta[0]; {WRITTEN}"),
        ({"delta": None}, f"{LACKS} 'delta', a list of brackets; {WRITTEN}"),
        ({"epsilon": [{"delta": 1e-6, "lower": "low", "upper": 1}]}, "epsilon[0].lower = 'low' is not"),
        ({"epsilon": [{"delta": 1e-6, "lower": float("nan"), "upper": 1}]}, "epsilon[0].lower = nan is not valid"),
    ],
)
def test_a_statement_that_lacks_a_number_is_one_line_that_names_it(run, tmp_path, changed, told):
    data = json.loads(Ledger([RandomisedResponse(0.2)]).statement("json")) | changed
    (tmp_path / "mine.json").write_text(json.dumps(data))
    code, out, err = run("mine.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"mine.json: {told}" in err


def test_a_statement_without_its_answers_is_refused(run, tmp_path):
    data = json.loads(Ledger([RandomisedResponse(0.2)]).statement("json"))
    del data["epsilon"]
    (tmp_path / "mine.json").write_text(json.dumps(data))
    code, _, err = run("mine.json")
    assert (code, err.count("\n")) == (2, 1)
    assert f"{LACKS} 'epsilon'" in err


SCHEMA_OF_FILES = account_schema.schema()


def test_the_schema_takes_the_template_and_every_form():
    template, _ = plain_yaml.read(str(resources.files("tcdp_sim.cli").joinpath("templates", "account.yaml")))
    training = {"training": {"sampler": "poisson", "sigma": 1.0, "records": 10, "batch": 2, "epochs": 1}}
    forms = [
        {"response": 0.1, "k": 3},
        {"p": [0.5, 0.5], "q": [0.4, 0.6]},
        {"kind": "Shuffled", "sigma": 1, "steps": 2},
    ]
    for value in (template, training, {"releases": forms, "delta": "1e-6,1e-7", "relation": "zero_out"}):
        jsonschema.validate(value, SCHEMA_OF_FILES)
    assert json.loads(account_schema.text()) == SCHEMA_OF_FILES


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"releases": []},
        {"releases": [{"noise": "gaussian", "scale": 1, "sampeld": 0.1}]},
        {"releases": [{"noise": "gausian", "scale": 1}]},
        {"releases": [{"response": 1}], "training": {}},
        {"training": {"sampler": "shuffle", "sigma": 1.0, "records": 10, "batch": 2, "epochs": 1}},
        {"releases": [{"response": 1}], "relation": "add-remove"},
        {"releases": [{"response": 1}], "delat": 1e-6},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_command_refuses(value, run, tmp_path):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA_OF_FILES)
    path = tmp_path / "file.yaml"
    path.write_text(yaml.safe_dump(value))
    assert run(str(path))[0] == 2
