"""What other libraries wrote, as ledgers: dp_accounting's own accountant, opacus' form, and OpenDP's maps."""

import math
import subprocess
import sys
from types import SimpleNamespace

import dp_accounting as google
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from tcdp_sim.accounting import Additive, Claimed, Ledger, Sampled
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP

THEIRS = {
    "add_remove": google.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "substitute": google.NeighboringRelation.REPLACE_ONE,
    "zero_out": google.NeighboringRelation.REPLACE_SPECIAL,
}
ABSENT, PRESENT, ALL = ("add_remove", "zero_out"), ("substitute", "zero_out"), ("add_remove", "substitute", "zero_out")
GAUSSIAN, LAPLACE = google.dp_event.GaussianDpEvent(2.0), google.dp_event.LaplaceDpEvent(3.0)
DISCRETE = google.dp_event.DiscreteLaplaceDpEvent(0.4, 2)
MIXTURE = google.dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 3.0], [0.7, 0.2, 0.1])
CUT = google.dp_event.TruncatedSubsampledGaussianDpEvent(1000, 0.05, 60, 1.5)
COMPOSED = google.dp_event.ComposedDpEvent(
    [
        google.dp_event.SelfComposedDpEvent(google.dp_event.PoissonSampledDpEvent(0.1, GAUSSIAN), 20),
        LAPLACE,
        google.dp_event.NoOpDpEvent(),
        DISCRETE,
    ]
)
EVENTS = [
    (GAUSSIAN, ALL),
    (LAPLACE, ABSENT),
    (DISCRETE, ABSENT),
    (google.dp_event.SelfComposedDpEvent(GAUSSIAN, 7), ALL),
    (google.dp_event.PoissonSampledDpEvent(0.2, GAUSSIAN), ALL),
    (
        google.dp_event.SelfComposedDpEvent(
            google.dp_event.PoissonSampledDpEvent(0.05, google.dp_event.GaussianDpEvent(1.0)), 30
        ),
        ALL,
    ),
    (google.dp_event.PoissonSampledDpEvent(0.2, LAPLACE), ABSENT),
    (MIXTURE, ABSENT),
    *((google.dp_event.RandomizedResponseDpEvent(*each), PRESENT) for each in ((0.3, 4), (0.6, 2), (0.02, 50))),
    (google.dp_event.ComposedDpEvent([google.dp_event.RandomizedResponseDpEvent(0.8, 3)] * 10), PRESENT),
    (google.dp_event.ZCDpEvent(0.1), ()),
    (COMPOSED, ABSENT),
    (google.dp_event.SelfComposedDpEvent(google.dp_event.SelfComposedDpEvent(LAPLACE, 2), 3), ABSENT),
]
CASES = [(event, relation) for event, relations in EVENTS for relation in relations]


@pytest.mark.parametrize(("event", "relation"), CASES, ids=str)
@pytest.mark.parametrize("delta", [1e-2, 1e-5])
def test_dp_accounting_agrees(event, relation, delta):
    """Its losses are rounded up, to points that are 1e-3 apart."""
    accountant = PLDAccountant(THEIRS[relation], value_discretization_interval=1e-3).compose(event)
    theirs = accountant.get_epsilon(delta)
    low, _, high = Ledger.from_events(event, relation).epsilon(delta)
    assert low <= theirs + 1e-9
    assert theirs <= high + 1e-3 * (1 + math.sqrt(30))


def test_a_limit_on_samples_is_tighter_than_dp_accounting():
    theirs = PLDAccountant(THEIRS["zero_out"]).compose(google.dp_event.SelfComposedDpEvent(CUT, 50)).get_epsilon(1e-6)
    ours = Ledger.from_events(google.dp_event.SelfComposedDpEvent(CUT, 50), "zero_out").epsilon(1e-6)
    plain = Ledger([(Sampled(Additive(Gaussian(1.5)), 0.05), 50)], "zero_out").epsilon(1e-6)
    assert plain.lower <= ours.upper < theirs


@pytest.mark.parametrize(
    ("kind", "scheme", "records"),
    [
        ("SampledWithoutReplacementDpEvent", "without_replacement", None),
        ("SampledWithReplacementDpEvent", "with_replacement", 100),
    ],
)
def test_samples_of_a_fixed_size(kind, scheme, records):
    """A sum of values of norm 1 moves by 2 under substitution."""
    event = getattr(google.dp_event, kind)(100, 10, GAUSSIAN)
    step = Sampled(Additive(Gaussian(2.0), 2.0), 0.1, scheme, records)
    assert Ledger.from_events(event, "substitute").entries == ((step, 1),)
    with pytest.raises(ValueError, match=f"{kind} has no release for relation = 'add_remove'"):
        Ledger.from_events(event)


@pytest.mark.parametrize(("steps", "depth"), [(1, 1), (2, 2), (3, 2), ([4, 9, 2], 4), (1000, 10)])
def test_a_tree_of_one_epoch_has_its_nodes_above_a_record(steps, depth):
    event = google.dp_event.SingleEpochTreeAggregationDpEvent(3.0, steps)
    ((release, times),) = Ledger.from_events(event, "zero_out").entries
    assert (release, times) == (Additive(Gaussian(3.0), math.sqrt(depth)), 1)
    rdp = RdpAccountant([2.0, 8.0], THEIRS["zero_out"]).compose(event)
    for order, divergence in zip(rdp._orders, rdp._rdp):
        assert Ledger.from_events(event, "zero_out").renyi(order).upper == pytest.approx(divergence, rel=1e-9)
    with pytest.raises(ValueError, match="valid: zero_out, substitute"):
        Ledger.from_events(event)


def test_black_boxes_and_what_reveals_nothing_or_everything():
    assert Ledger.from_events(google.dp_event.ZCDpEvent(0.1, 0.2)).entries == ((Claimed(ZCDP(0.1, 0.2)), 1),)
    nothing = [
        google.dp_event.NoOpDpEvent(),
        google.dp_event.SelfComposedDpEvent(GAUSSIAN, 0),
        google.dp_event.ComposedDpEvent([]),
        google.dp_event.PoissonSampledDpEvent(0.0, GAUSSIAN),
        google.dp_event.ZCDpEvent(0.0),
    ]
    for event in nothing:
        assert Ledger.from_events(event).delta(0.0).upper == 0
    everything = [
        google.dp_event.NonPrivateDpEvent(),
        google.dp_event.GaussianDpEvent(0.0),
        google.dp_event.PoissonSampledDpEvent(0.5, google.dp_event.LaplaceDpEvent(0.0)),
        google.dp_event.ComposedDpEvent([GAUSSIAN, google.dp_event.NonPrivateDpEvent()]),
    ]
    for event in everything:
        assert Ledger.from_events(event).delta(5.0).lower == pytest.approx(1.0)


@pytest.mark.parametrize("relation", PRESENT)
def test_responses_at_the_ends_of_their_parameters(relation):
    """Of a true answer and a uniform one, the larger profile at epsilon from 0 is (k - 1) / k."""
    for nothing in ((1.0, 3), (0.0, 1), (0.4, 1)):
        assert Ledger.from_events(google.dp_event.RandomizedResponseDpEvent(*nothing), relation).entries == ()
    true = google.dp_event.RandomizedResponseDpEvent(0.0, 4)
    assert PLDAccountant(THEIRS[relation]).compose(true).get_epsilon(0.5) == math.inf
    assert Ledger.from_events(true, relation).epsilon(0.5).lower == math.inf
    largest = 1.0 if relation == "substitute" else 0.75
    assert Ledger.from_events(true, relation).delta(5.0).upper == pytest.approx(largest)


@pytest.mark.parametrize("relation", PRESENT)
def test_responses_that_are_repeated_count_each(relation):
    """Unlike in PLDAccountant, which composes a self-composed response once only."""
    response = google.dp_event.RandomizedResponseDpEvent(0.8, 3)
    ((_, times),) = Ledger.from_events(google.dp_event.SelfComposedDpEvent(response, 10), relation).entries
    assert times == 10


@pytest.mark.parametrize("relation", PRESENT)
def test_the_divergence_of_a_response(relation):
    event = google.dp_event.RandomizedResponseDpEvent(0.3, 15)
    rdp = RdpAccountant([1.5, 4.0, 64.0], THEIRS[relation]).compose(event)
    for order, divergence in zip(rdp._orders, rdp._rdp):
        assert Ledger.from_events(event, relation).renyi(order).upper == pytest.approx(divergence, rel=1e-9)


@pytest.mark.parametrize("parameters", [(0.3, 4), (0.0, 3), (1.0, 3), (0.3, 1)])
def test_a_response_is_not_read_under_add_remove(parameters):
    event = google.dp_event.RandomizedResponseDpEvent(*parameters)
    with pytest.raises(google.UnsupportedEventError, match="neighboring_relation"):
        PLDAccountant(THEIRS["add_remove"]).compose(event)
    with pytest.raises(ValueError, match=r"RandomizedResponseDpEvent .*'add_remove'; valid: zero_out, substitute$"):
        Ledger.from_events(event)


@pytest.mark.parametrize(("share", "k", "told"), [(1.2, 3, "noise_parameter = 1.2"), (0.5, 0, "num_buckets = 0")])
def test_a_response_out_of_range_is_refused(share, k, told):
    with pytest.raises(ValueError, match=f"{told} is not valid; valid: "):
        Ledger.from_events(google.dp_event.RandomizedResponseDpEvent(share, k), "substitute")


def test_named_tuples_of_events_are_read_too():
    assert Ledger.from_events(COMPOSED.to_named_tuple()).entries == Ledger.from_events(COMPOSED).entries


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (google.dp_event.UnsupportedDpEvent(), "UnsupportedDpEvent.* has no release"),
        (
            google.dp_event.ComposedDpEvent([GAUSSIAN, google.dp_event.RepeatAndSelectDpEvent(MIXTURE, 10, 1)]),
            "RepeatAndSelectDpEvent",
        ),
        (google.dp_event.PoissonSampledDpEvent(0.1, COMPOSED), "a sample of event = ComposedDpEvent has no release"),
        (3, "event = 3 has no release"),
    ],
)
def test_what_has_no_release_is_named(event, told):
    with pytest.raises(ValueError, match=told) as caught:
        Ledger.from_events(event)
    assert "\n" not in str(caught.value)


def test_steps_of_opacus():
    history = [(1.0, 0.01, 300), (1.2, 0.02, 100), (1.0, 0.01, 50)]
    accountant = SimpleNamespace(history=history)
    steps = ((Sampled(Additive(Gaussian(1.0)), 0.01), 350), (Sampled(Additive(Gaussian(1.2)), 0.02), 100))
    assert Ledger.from_opacus(accountant).entries == steps
    assert Ledger.from_opacus(history, "zero_out").relation == "zero_out"
    for wrong in (3, "abc", [(1.0, 0.01)], [(1.0, 2.0, 3)], [(1.0, 0.1, 0.5)], [5]):
        with pytest.raises(ValueError, match="valid:"):
            Ledger.from_opacus(wrong)


def test_maps_of_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    laplace, gaussian = dp.m.make_laplace(*space, scale=2.0), dp.m.make_gaussian(*space, scale=2.0)
    fixed = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), delta=1e-6)
    assert Ledger.from_opendp(laplace, 1.0).entries == ((Claimed(PureDP(0.5)), 1),)
    assert Ledger.from_opendp(gaussian, 1.0).entries == ((Claimed(ZCDP(0.125)), 1),)
    assert Ledger.from_opendp(fixed, 1.0).entries == ((Claimed(ApproxDP(*fixed.map(1.0))), 1),)
    assert Ledger.from_opendp(laplace, 0.0).entries == ()
    with pytest.raises(ValueError, match="make_fix_delta"):
        Ledger.from_opendp(dp.c.make_zCDP_to_approxDP(gaussian), 1.0)
    with pytest.raises(ValueError, match="valid: a measurement of OpenDP"):
        Ledger.from_opendp(3, 1.0)


def test_none_of_these_libraries_is_imported():
    program = """
import sys
from tcdp_sim.accounting import Ledger
print(Ledger.from_opacus([(1.0, 0.1, 2)]).epsilon(1e-5).upper > 0)
print([name for name in ("dp_accounting", "opacus", "opendp", "torch") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True", "[]"]
