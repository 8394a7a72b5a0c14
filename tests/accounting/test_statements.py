"""Statements of ledgers: the same numbers again, numbers on the safe side, and the schema."""

import json
import re
from importlib import resources
from itertools import chain

import jsonschema
import pytest
from release_examples import EXAMPLES

from tcdp_sim.accounting import Additive, Allocated, Ledger, MixturePair, Sampled, Shuffled, training_report
from tcdp_sim.accounting.statements.statement import disagreements
from tcdp_sim.calibration.optimal import MeanSquaredError, optimal_noise
from tcdp_sim.exact import Mixture
from tcdp_sim.noise import DiscreteGaussian, Gaussian, Laplace, TruncatedLaplace
from tcdp_sim.privacy import ZCDP

SCHEMA = json.loads(resources.files("tcdp_sim.accounting.statements").joinpath("schema.json").read_text())
LEDGER = Ledger([(Additive(Gaussian(10.0)), 20), (Sampled(Additive(Laplace(5.0)), 0.1), 3)], "add_remove")
WHAT = {"title": "A census", "unit": "one person", "population": "all", "period": "2020", "contact": "nobody"}


@pytest.mark.parametrize(("release", "relation"), list(chain(*EXAMPLES.values())), ids=lambda each: type(each).__name__)
def test_every_release_comes_back(release, relation):
    ledger = Ledger([(release, 2)], relation)
    data = {"format": "tcdp_sim statement 1", "relation": relation, "releases": _stated(ledger)}
    assert Ledger.from_statement(json.dumps(data)) == ledger


def _stated(ledger):
    from tcdp_sim.accounting.statements.plain import of_entries

    return of_entries(ledger.entries)


@pytest.mark.parametrize(
    "ledger",
    [
        LEDGER,
        Ledger([]),
        Ledger([Additive(DiscreteGaussian(3.0, 0.5), 1.5)]),
        Ledger([Additive(TruncatedLaplace(2.0, 40.0))]),
        Ledger([Shuffled(2.0, 10, 2), Additive(Gaussian(4.0))], "zero_out"),
        Ledger([MixturePair(Mixture(Gaussian(2.0), (0.0, 1.0), (0.5, 0.5)), Mixture(Gaussian(2.0)))], "zero_out"),
        Ledger([Additive(Gaussian(1.0))]).parallel(Ledger([Additive(Gaussian(2.0))]), Ledger([])) + LEDGER,
    ],
)
def test_the_same_numbers_again(ledger):
    text = ledger.statement("json", delta=[1e-5, 1e-9], epsilon=[0.5], **WHAT)
    data = json.loads(text)
    jsonschema.validate(data, SCHEMA)
    again = Ledger.from_statement(text)
    assert again == ledger
    assert again.statement("json", delta=[1e-5, 1e-9], epsilon=[0.5], **WHAT) == text
    for row in data["epsilon"]:
        assert again.epsilon(row["delta"]) == pytest.approx((row["lower"], row["estimate"], row["upper"]), abs=0)
    assert data["risks"]["attack"]["upper"] == ledger.attack(0.5).upper
    assert data["risks"]["reconstruction"]["upper"] == ledger.reconstruction(100).upper
    assert {key: data[key] for key in WHAT} == WHAT
    assert disagreements(data, again) == []


def test_the_noise_of_an_optimum_is_a_table_that_comes_back():
    noise = optimal_noise(ZCDP(0.5), MeanSquaredError()).noise
    ledger = Ledger([Additive(noise)])
    assert Ledger.from_statement(ledger.statement("json")) == ledger


def test_infinite_ends_are_words():
    """JSON has no infinity."""
    ledger = Ledger([Additive(TruncatedLaplace(2.0, 3.0))])
    text = ledger.statement("json", delta=[1e-9])
    assert "Infinity" not in text
    jsonschema.validate(json.loads(text), SCHEMA)
    assert json.loads(text)["epsilon"][0]["upper"] == "inf"
    assert "| 1e-09 | inf | inf |" in ledger.statement(delta=[1e-9])


def test_the_page_is_rounded_to_the_safe_side():
    page = LEDGER.statement(delta=[1e-6, 1e-3], epsilon=[1.0])
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (\S+) \|$", page, flags=re.MULTILINE)
    found = {float(key): (float(most), float(least)) for key, most, least in rows if key[0].isdigit()}
    for delta in (1e-6, 1e-3):
        most, least = found[delta]
        exact = LEDGER.epsilon(delta)
        assert least <= exact.lower <= exact.upper <= most <= exact.upper * (1 + 1e-5)
    most, least = found[1.0]
    assert least <= LEDGER.delta(1.0).lower <= LEDGER.delta(1.0).upper <= most
    shares = [float(share) / 100 for share in re.findall(r"at most\s+([\d.]+)%", page)]
    truth = (LEDGER.attack(0.5).upper, LEDGER.advantage().upper, LEDGER.reconstruction(100).upper)
    assert len(shares) == 3
    assert all(value <= share <= value * 1.001 for value, share in zip(truth, shares))


def test_what_only_the_publisher_knows_is_asked_for():
    bare, whole = LEDGER.statement(), LEDGER.statement(**WHAT)
    assert bare.count("to be filled in by the publisher") == 4
    assert "to be filled in" not in whole
    assert all(text in whole for text in WHAT.values())
    assert "| 20 |" in bare
    assert "| 3 |" in bare


def test_a_changed_number_is_found():
    data = json.loads(LEDGER.statement("json", delta=[1e-6], epsilon=[1.0]))
    data["epsilon"][0] |= {"lower": 0.5, "upper": 0.6}
    data["delta"][0] |= {"lower": 0.5, "upper": 0.6}
    found = disagreements(data, Ledger.from_statement(json.dumps(data)))
    assert [line.split(" is stated")[0] for line in found] == ["epsilon at delta = 1e-06", "delta at epsilon = 1"]


class Own(Gaussian):
    """A noise that no reader has."""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nothing", "the statement is not JSON"),
        ("{}", "the text has no format"),
        ('{"format": "tcdp_sim statement 1"}', "no releases"),
        ('{"format": "tcdp_sim statement 1", "releases": 3}', "releases is not valid"),
        ('{"format": "tcdp_sim statement 1", "releases": [3]}', r"releases\[0\] is not valid"),
        ('{"format": "tcdp_sim statement 1", "releases": [], "relation": "sideways"}', "sideways"),
        ('{"format": "tcdp_sim statement 1", "releases": [{"kind": "Laplce"}]}', r"releases\[0\].kind = 'Laplce'"),
        ('{"format": "tcdp_sim statement 1", "releases": [{"kind": "gaussian", "scale": 1}]}', "is not a release"),
        ('{"format": "tcdp_sim statement 1", "releases": [{"kind": "BoundedRange", "e": 1}]}', "e is not a parameter"),
        ('{"format": "tcdp_sim statement 1", "releases": [{"kind": "BoundedRange", "epsilon": -1}]}', "epsilon = -1"),
        ('{"format": "tcdp_sim statement 1", "releases": [{"kind": "BoundedRange"}]}', r"releases\[0\]"),
        ('{"format": "tcdp_sim statement 1", "releases": [{"parts": [3]}]}', r"parts\[0\]"),
    ],
)
def test_mistakes_are_one_line_that_names_the_place(text, told):
    with pytest.raises(ValueError, match=told) as caught:
        Ledger.from_statement(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("times", [0, -1, 2.5, None, "2"])
def test_only_whole_times_from_1_are_read(times):
    """Releases that are taken -1 times would reveal nothing."""
    one = {"kind": "RandomisedResponse", "epsilon": 0.2, "times": times}
    two = {"parts": [[one]]}
    for item, where in ((one, r"releases\[0\]"), (two, r"releases\[0\].parts\[0\]\[0\]")):
        with pytest.raises(ValueError, match=rf"{where}.times = {times!r} is not valid; valid: a whole number"):
            Ledger.from_statement(json.dumps({"format": "tcdp_sim statement 1", "releases": [item]}))


def test_a_kind_that_is_no_text_is_named():
    text = '{"format": "tcdp_sim statement 1", "releases": [{"kind": ["Claimed"]}]}'
    with pytest.raises(ValueError, match=r"releases\[0\].kind = \['Claimed'\] is not known"):
        Ledger.from_statement(text)


def test_a_class_of_the_users_own_is_refused():
    with pytest.raises(ValueError, match="a reader has no Own"):
        Ledger([Additive(Own(2.0))]).statement("json")
    for given in ({"delta": 2.0}, {"delta": [1e-6, -1.0]}, {"epsilon": [-1.0]}, {"form": "pdf"}, {"tolerance": 0}):
        with pytest.raises(ValueError, match=next(iter(given))):
            LEDGER.statement(**given)


@pytest.mark.parametrize(
    ("release", "times", "relation", "sampler"),
    [
        (Shuffled(0.8, 1000, 5), 1, "zero_out", "shuffle_each_epoch"),
        (Allocated(0.8, 1000, epochs=5), 1, "zero_out", "balls_in_bins"),
        (Allocated(0.8, 1000, bins="same", epochs=5), 1, "zero_out", "same_bins"),
        (Sampled(Additive(Gaussian(0.8), 2.0), 0.001, "without_replacement"), 5000, "substitute", "fixed_size"),
        (Sampled(Additive(Gaussian(0.8)), 0.001, records=60_000, most=90), 5000, "zero_out", "poisson_cut"),
    ],
)
def test_a_statement_says_what_libraries_print(release, times, relation, sampler):
    ledger = Ledger([(release, times)], relation)
    data = json.loads(ledger.statement("json", delta=1e-6))
    jsonschema.validate(data, SCHEMA)
    most = {"most": 90} if sampler == "poisson_cut" else {}
    report = training_report(sampler, 0.8, 60_000, 60, 5, 1e-6, **most)
    (found,) = data["libraries"]["epsilon"]
    assert found["lower"] * (1 - 1e-3) <= report.printed <= found["upper"] * (1 + 1e-3)
    page = ledger.statement("md", delta=1e-6)
    assert f"in place of {type(release).__name__}, and print" in page
    assert f"ε = {found['upper']:.3f}"[:8] in page


def test_a_statement_of_poisson_samples_needs_no_such_line():
    assert "libraries" not in json.loads(LEDGER.statement("json", delta=1e-6))
    assert "Libraries" not in LEDGER.statement("md", delta=1e-6)
