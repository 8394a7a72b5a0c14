"""Privacy losses of runs: errors keep their bits, losses stand beside them, and all that follows a run knows them."""

import numpy as np
import pytest

import tcdp_sim
from tcdp_sim.core.streams import LOSS_STREAM, generator
from tcdp_sim.engine import simulate
from tcdp_sim.mechanisms import mechanism_class
from tcdp_sim.mechanisms.losses import LOSS, NEIGHBOUR
from tcdp_sim.study import groups
from tcdp_sim.study.cells import cell_id

HISTOGRAM = ("sweep.k=10", "sweep.noise=[gaussian,laplace]", "sweep.omega_sqrt_rho=1")
SELECTION = ("experiment=gap_max", "also=null", "sweep.k=100", "sweep.noise=gaussian")
SELECTION += ("sweep.algorithm=[obvious_answer,permute_and_flip,generalized_histogram]",)
SELECTION += ("sweep.gap=9", "sweep.rho=0.1", "trials=2000", "chunk=1000", "cluster=serial")
PREFIXES = ("experiment=cdf", "also=null", "sweep.method=tree_2", "sweep.noise=[gaussian,laplace]", "sweep.k=16")
PREFIXES += ("sweep.rho=0.5", "sweep.neighbours=add-remove", "trials=2000", "chunk=1000", "cluster=serial")
SHORT = ("also=null", "trials=2000", "chunk=1000", "cluster=serial")
QUANTILES = ("experiment=quantiles", *SHORT, "sweep.method=[independent,tree_search,square_root]", "sweep.rho=0.1")
QUANTILES += ("sweep.m=2", "sweep.n=20", "sweep.log2_k=8", "sweep.domain=integers", "sweep.records=bell")
KEYS = ("experiment=partition_selection", *SHORT, "data=flights_dest", "sweep.method=[threshold,optimal_tcdp]")
KEYS += ("sweep.noise=gaussian", "sweep.rho=0.1", "sweep.delta=0.01", "sweep.keys_per_person=3")
BITS = ("experiment=mean_concentrated", *SHORT, "sweep.answers=12", "sweep.epsilon=0.3", "sweep.cut=3")
CENTRES = ("experiment=smooth_sensitivity", *SHORT, "sweep.method=mean_global", "sweep.records=delays", "sweep.n=100")
CENTRES += ("sweep.rho=0.1", "sweep.contamination=0")
PURE = ("experiment=pure_from_zcdp", *SHORT, "sweep.n=20", "sweep.epsilon=1")
TREES = ("experiment=thresholds", *SHORT, "sweep.method=[tree_2,square_root]", "sweep.records=delays", "sweep.rho=0.1")
MODELS = ("experiment=private_candidates", *SHORT, "sweep.method=[poisson,exponential_mechanism,permute_and_flip]")
MODELS += ("sweep.problem=even", "sweep.tries=5", "sweep.k=10", "sweep.records=100", "sweep.rho=0.5", "sweep.omega=4")
SAMPLES = ("experiment=subsampling", *SHORT, "data=flights_dest", "sweep.noise=gaussian", "sweep.rho=0.1")
SAMPLES += ("sweep.scheme=poisson", "sweep.s=0.1")
VALUES = ("experiment=gap_max_data", *SHORT, "data=flights_dest", "sweep.noise=gaussian", "sweep.rho=0.001")
VALUES += ("sweep.algorithm=[obvious_answer,permute_and_flip]", "sweep.m=1")
BEST = ("experiment=optimal_noise", *SHORT, "sweep.rho=0.1", "sweep.k=10", "sweep.omega_sqrt_rho=1")
POINTS = ("experiment=interior_point", *SHORT, "sweep.method=[exponential,binary_search]", "sweep.shape=pair")
POINTS += ("sweep.log2_k=10", "sweep.n=50", "sweep.n_share=null", "sweep.rho=1")
CLASSES = {name: mechanism_class(name) for name in groups.options("mechanism")}
WITH = [name for name, cls in CLASSES.items() if cls.knows_losses()]


def test_errors_have_the_bits_of_a_run_without_losses(tiny, folder):
    assert tiny(*HISTOGRAM, "losses=false")[0] == 0
    assert tiny(*HISTOGRAM, "name=with")[0] == 0
    without, found = (tcdp_sim.results.open_cells(each).load() for each in (folder, folder.parent / "with"))
    assert set(without["id"].values).isdisjoint(found["id"].values)
    assert LOSS + "_mean" in found
    assert not any(name.startswith(LOSS) for name in without)
    for name in without.data_vars:
        if not np.issubdtype(without[name].dtype, np.number) or name.startswith("histogram"):
            continue
        np.testing.assert_array_equal(found[name], without[name], err_msg=name)


@pytest.mark.parametrize(
    "words",
    [SELECTION, PREFIXES, QUANTILES, KEYS, BITS, CENTRES, PURE, pytest.param(TREES, marks=pytest.mark.slow)],
    ids=lambda words: words[0].partition("=")[2],
)
def test_losses_stand_beside_exact_means_and_agree(command, tmp_path, words):
    """Within 5.5 standard errors: 4e-8 each."""
    code, _, err = command(*words, "name=with")
    assert code == 0, err
    found = tcdp_sim.results.open_cells(tmp_path / "results" / "with").load()
    assert found.attrs[LOSS] == "drawn"
    for name in (LOSS, NEIGHBOUR):
        simulated, exact = found[f"{name}_mean"], found[f"{name}_mean_exact"]
        assert exact.notnull().all()
        assert (abs(simulated - exact) <= 5.5 * found[f"{name}_mean_mcse"] + 1e-12).all()
    assert command("verify", tmp_path / "results" / "with", "sample=4")[0] == 0


@pytest.mark.parametrize(
    ("words", "drawn", "of"),
    [(MODELS, 2, 3), (SAMPLES, 1, 1), (VALUES, 1, 2), (BEST, 1, 1), (POINTS, 1, 2)],
    ids=lambda words: words[0].partition("=")[2] if isinstance(words, tuple) else "",
)
def test_cells_draw_in_both_worlds(command, tmp_path, words, drawn, of):
    code, _, err = command(*words, "name=with")
    assert code == 0, err
    found = tcdp_sim.results.open_cells(tmp_path / "results" / "with").load()
    for name in (LOSS, NEIGHBOUR):
        assert (found.sizes["cell"], int(found[f"{name}_mean"].notnull().sum())) == (of, drawn)
    assert (drawn < of) == found.attrs[LOSS].startswith("not known in ")
    assert command("verify", tmp_path / "results" / "with", "sample=4")[0] == 0


def test_every_mechanism_with_losses_has_a_run_here():
    runs = (SELECTION, PREFIXES, QUANTILES, KEYS, BITS, CENTRES, PURE, TREES, MODELS, SAMPLES, VALUES, BEST, POINTS)
    names = {words[0].partition("=")[2] for words in runs} | {"histogram"}
    assert {"subsampled" if name == "subsampling" else name for name in names} == {*WITH}


def test_distributions_have_tail_profile_and_promise(tiny, folder):
    """4,000 trials are 0.05 off with a chance of 4e-9 each, by the inequalities of Massart and Hoeffding."""
    assert tiny(*HISTOGRAM, "trials=4000")[0] == 0
    found = tcdp_sim.distribution(folder, LOSS, noise="gaussian", at=[0.1, 0.5])
    assert (abs(found["sf_exact"] - found["sf"]) <= 0.05).all()
    assert (abs(found["delta_exact"] - found["delta"]) <= 0.05).all()
    assert (found["delta_exact"] <= found["delta_promised"]).all()
    neighbour = tcdp_sim.distribution(folder, NEIGHBOUR, noise="gaussian")
    assert (abs(neighbour["sf_exact"] - neighbour["sf"]) <= 0.05).all()
    with pytest.raises(tcdp_sim.UserError, match="at is not valid for privacy_loss_neighbour"):
        tcdp_sim.distribution(folder, NEIGHBOUR, at=0.5)


@pytest.mark.parametrize(
    "words",
    [(*QUANTILES, "sweep.m=1"), KEYS, BITS, PURE, CENTRES, pytest.param(TREES, marks=pytest.mark.slow)],
    ids=lambda words: words[0].partition("=")[2],
)
def test_distributions_of_other_mechanisms_agree(command, tmp_path, words):
    """2,000 trials are 0.08 off with a chance of 2e-11 each, by the inequalities of Massart and Hoeffding."""
    code, _, err = command(*words, "name=with")
    assert code == 0, err
    found = tcdp_sim.distribution(tmp_path / "results" / "with", LOSS, at=[0.1, 0.4])
    assert (abs(found["sf_exact"] - found["sf"]) <= 0.08).all()
    assert (abs(found["delta_exact"] - found["delta"]) <= 0.08).all()
    if "delta_promised" in found:
        assert (found["delta_exact"] <= found["delta_promised"] + 1e-12).all()
    neighbour = tcdp_sim.distribution(tmp_path / "results" / "with", NEIGHBOUR)
    assert (abs(neighbour["sf_exact"] - neighbour["sf"]) <= 0.08).all()


def test_the_ways_to_a_run_with_losses(tiny, command):
    code, _, err = tiny("losses=false", "target_mcse={privacy_loss: {absolute: 1}}")
    assert (code, err.count("\n")) == (2, 1)
    assert "losses=true" in err
    code, _, err = tiny("losses=maybe")
    assert code == 2
    assert "losses = 'maybe'" in err


def test_every_mechanism_draws_losses_or_says_why_not(command):
    """One that draws them names the neighbours; the reasons are sentences, which `describe` prints."""
    for name, cls in CLASSES.items():
        assert bool(cls.loss_pair) == cls.knows_losses(), name
        assert cls.knows_losses() or "define draw_losses" not in str(cls.reasons_without_losses()), name
        for reason in (cls.loss_pair, *cls.reasons_without_losses().values()):
            assert not reason or (reason[0].isupper() and reason.endswith(".")), (name, reason)
    said = {name: " ".join(command("describe", name)[1].split()) for name in ("gap_max", "census")}
    assert "Privacy loss: The lead is smaller by two" in said["gap_max"]
    assert "No privacy loss, m above 1: The probabilities of sets" in said["gap_max"]
    assert "No privacy loss, every cell: A trial draws a cell" in said["census"]
    assert set(WITH) >= {"cdf", "gap_max", "gap_max_data", "histogram", "optimal_noise"}


def test_a_cell_without_a_law_says_why_and_the_others_draw(command, tmp_path):
    words = ("experiment=gap_max", "also=null", "sweep.algorithm=exponential_mechanism", "sweep.m=[1,2]", "sweep.k=100")
    words += ("sweep.gap=9", "sweep.rho=0.1", "trials=2000", "chunk=1000", "cluster=serial")
    code, out, err = command(*words)
    assert code == 0, err
    assert "no privacy loss in 1 of 2 cells: m above 1: The probabilities of sets" in " ".join((out + err).split())
    found = tcdp_sim.results.open_cells(tmp_path / "results" / "gap_max").load()
    assert found[LOSS + "_mean"].notnull().values.tolist() == [True, False]
    assert found.attrs[LOSS].startswith("not known in 1 of 2 cells: m above 1: ")
    assert found.attrs[LOSS + "_pair"] == CLASSES["gap_max"].loss_pair
    assert command(*words, "losses=false", "name=without")[0] == 0
    without = tcdp_sim.results.open_cells(tmp_path / "results" / "without").load()
    assert (without["id"] == found["id"]).values.tolist() == [False, True]  # its law is the one without losses
    assert LOSS not in without.attrs
    assert command(*words, "sweep.m=2", "name=none")[0] == 0
    with pytest.raises(tcdp_sim.UserError, match="has no privacy_loss, which is not known in 1 of 1 cells: m above 1"):
        tcdp_sim.distribution(tmp_path / "results" / "none", LOSS)


def test_losses_have_a_stream_of_their_own():
    """The chunk's losses are those of the loss stream of the cell without losses, and not of the stream of errors."""
    noise = {"family": "gaussian", "calibration": "tight"}
    law = {"mechanism": "histogram", "version": 1, "noise": noise, "parameters": {"scale": 3.0}, "bins": 10.0}
    law |= {"target": {"rho": 0.1}, "counts": "", "beta": 0.05, "sampling": "order_statistics"}
    cell = cell_id(law | {"draws_losses": True})
    batch = simulate.Batch(cell, law | {"draws_losses": True}, np.array([1]), (3,))
    rng = generator(7, cell_id(law), 3)
    found = simulate._Simulation(batch, 100, 7)._draws(3, rng)
    mechanism = mechanism_class("histogram").build(law, np.array([1]))
    truth = mechanism.draw_losses(generator(7, cell_id(law), 3, LOSS_STREAM), 100)
    for name, values in truth.items():
        np.testing.assert_array_equal(found[name], values)
    errors = mechanism.draw_losses(generator(7, cell_id(law), 3), 100)
    assert not np.isin(errors[LOSS], truth[LOSS]).any()
