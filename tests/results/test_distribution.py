"""`tcdp_sim.distribution`: counts of known trials, closed forms of Gaussian losses, SciPy's intervals, any axes."""

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import tcdp_sim
from tcdp_sim.core import registry
from tcdp_sim.noise.lattice import LatticeNoise
from tcdp_sim.results import open_cells
from tcdp_sim.results.binned import between, deltas, interval, together
from tcdp_sim.results.distribution import _just_below
from tcdp_sim.summaries.bins import bin_edges, histogram, in_order

RHO = 0.1
MU = np.sqrt(2 * RHO)  # the loss of Gaussian noise is N(mu^2 / 2, mu^2)
LOSS = stats.norm(MU**2 / 2, MU)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("d")
    axes = {"noise": ["gaussian", "laplace"], "rho": [RHO, 0.4], "shift": 1.0, "epsilon": None, "order": None}
    tcdp_sim.run(
        "privacy_loss", sweep=axes | {"omega_sqrt_rho": None, "delta": None}, also=None, trials=20_000, chunk=10_000,
        cluster="serial", results_dir=place, name="r",
    )  # fmt: skip
    return place / "r"


def binned(*samples):
    """Samples on common bins, as the store has them."""
    found, infinite = [], []
    for sample in map(np.asarray, samples):
        keys, counts, *_ = histogram(sample[np.isfinite(sample)])
        order = np.argsort(in_order(keys))
        found.append((*bin_edges(keys[order]), counts[order]))
        infinite.append([np.isneginf(sample).sum(), np.isposinf(sample).sum()])
    return together(found, *np.array(infinite).T)


def sample(kind, rng):
    """Numbers with atoms on edges of bins and elsewhere, on both sides of zero, and infinite ones."""
    atoms = rng.choice([-2.0, -0.3, 0.0, 0.25, 1.0, 3.7, np.inf, -np.inf], 500)
    return {"atoms": atoms, "normal": rng.normal(size=800), "both": np.append(atoms, rng.normal(size=300))}[kind]


@pytest.mark.parametrize("bins", [None, 1, 7, 40])
@pytest.mark.parametrize("kinds", [("atoms",), ("normal",), ("both", "atoms", "normal")])
def test_counts_are_those_of_the_trials(kinds, bins):
    """Each bin is counted again from the trials, by its edges and by the side that they belong to."""
    rng = np.random.default_rng(1)
    samples = [sample(kind, rng) for kind in kinds]
    found = binned(*samples)
    if bins is not None:
        found = found.in_bins(np.linspace(found.lower[0], found.upper[-1], bins + 1)[:-1].tolist())
        assert len(found.lower) <= bins
    assert (found.upper[:-1] == found.lower[1:]).all()
    for trials, counts, above in zip(samples, found.counts, found.above):
        edge_is_above = np.where(found.belongs_above, trials[:, None] >= found.upper, trials[:, None] > found.upper)
        np.testing.assert_array_equal(above, edge_is_above.sum(axis=0))
        assert counts.sum() == np.isfinite(trials).sum()
    assert found.trials.tolist() == list(map(len, samples))


def test_usual_bins_hold_all_trials_and_few_of_them_are_wide():
    trials = np.random.default_rng(2).standard_cauchy(20_000)
    found = binned(trials)
    usual = found.usual()
    assert usual.trials == found.trials
    assert len(found.lower) > 1000 > len(usual.lower)
    assert (usual.lower[0], usual.upper[-1]) == (found.lower[0], found.upper[-1])
    inner = (usual.lower > -3) & (usual.upper < 3)
    assert inner.sum() > 1
    assert binned(np.arange(100.0)).usual().lower.tolist() == binned(np.arange(100.0)).lower.tolist()


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (12_345, 20_000)])
def test_intervals_are_scipys(hits, trials):
    expected = stats.binomtest(hits, trials).proportion_ci(0.95, "exact")
    np.testing.assert_allclose(interval(np.array(hits), np.array(trials)), expected, rtol=1e-10, atol=1e-15)


def test_deltas_of_losses_are_their_means():
    """Against the mean over the trials; of 300 samples, 95% of the intervals hold the truth, give or take 4%.

    By chance fewer than 0.91 of 300 do in one case in 500.
    """
    rng = np.random.default_rng(3)
    epsilons = np.array([-0.5, 0.0, 0.3])
    truth = stats.norm.cdf(MU / 2 - epsilons / MU) - np.exp(epsilons) * stats.norm.cdf(-MU / 2 - epsilons / MU)
    inside = np.zeros(3)
    for _ in range(300):
        losses = LOSS.rvs(2000, random_state=rng)
        mean, lower, upper = (each[0] for each in deltas(binned(losses), epsilons))
        expected = np.maximum(-np.expm1(epsilons[:, None] - losses), 0).mean(axis=1)
        np.testing.assert_allclose(mean, expected, rtol=0.005)
        inside += (lower <= truth) & (truth <= upper)
    assert (inside / 300 > 0.91).all()
    infinite = np.append(np.full(50, np.inf), np.zeros(50))
    assert deltas(binned(infinite), np.array([5.0]))[0].item() == 0.5


def test_a_rare_delta_has_the_exact_upper_end_of_its_event():
    """Of 1,000 losses none is above epsilon: the upper end is 1 - 0.025^(1/1000)."""
    mean, lower, upper = (each.item() for each in deltas(binned(np.zeros(1000)), np.array([1.0])))
    assert (mean, lower) == (0, 0)
    assert upper == pytest.approx(1 - 0.025 ** (1 / 1000), rel=1e-9)


def test_equal_losses_do_not_make_a_delta_certain():
    """Of 1,000 equal losses another one may be unseen: the ends are -log(0.025) / 1000 away."""
    mean, lower, upper = (each.item() for each in deltas(binned(np.full(1000, 2.0)), np.array([1.0])))
    assert mean == pytest.approx(1 - np.exp(-1), rel=1e-2)
    assert [mean - lower, upper - mean] == pytest.approx([-np.log(0.025) / 1000] * 2, abs=1e-3)


@pytest.mark.parametrize("bins", [None, 5])
def test_numbers_at_the_ends_of_floats_are_counted(bins):
    """Both ends of all doubles, numbers below the smallest normal one, and 600 powers of ten."""
    rng = np.random.default_rng(4)
    wide = 10.0 ** rng.uniform(-300, 300, 1000)
    huge = rng.choice([-1.0, 1.0], 500) * 1.7e308 * rng.random(500)
    for trials in (wide, huge, rng.normal(size=500) * 1e-320):
        found = binned(trials)
        found = found.usual() if bins is None else found.in_bins(between(found.lower[0], found.upper[-1], 6)[:-1])
        assert found.trials == len(trials)
        edge_is_above = np.where(found.belongs_above, trials[:, None] >= found.upper, trials[:, None] > found.upper)
        np.testing.assert_array_equal(found.above[0], edge_is_above.sum(axis=0))


def test_cells_without_a_finite_trial(tmp_path):
    """Infinite trials are above all; a cell whose trials are all NaN has no value, and is left out."""

    def gone(rng, trials, n):
        return np.full(trials, {1: np.inf, 2: np.nan, 3: 1.0}[n])

    tcdp_sim.sweep(gone, {"n": [1, 2, 3]}, trials=50, name="gone", results_dir=tmp_path, units={"value": "nats"})
    found = tcdp_sim.distribution(tmp_path / "gone", "value", at=0.5)
    assert found["n"].values.tolist() == [1, 3]
    assert found["plus_infinity"].values.tolist() == [50, 0]
    assert found["delta"].values[0] == 1
    for bins in (None, "stored", 5):
        alone = tcdp_sim.distribution(tmp_path / "gone", "value", n=1, bins=bins)
        assert (alone.sizes["bin"], int(alone["trials"])) == (0, 50)
    with pytest.raises(tcdp_sim.UserError, match="no cell that is left has n = 2; valid: 1"):
        tcdp_sim.distribution(tmp_path / "gone", "value", n=2)


def test_an_axis_that_is_called_like_a_variable_has_another_name(tmp_path):
    tcdp_sim.sweep(
        lambda rng, trials, sf: rng.random(trials), {"sf": [1, 2]}, trials=50, name="x", results_dir=tmp_path
    )
    found = tcdp_sim.distribution(tmp_path / "x", "value", sf=[1, 2])
    assert found["sf"].dims == ("axis_sf", "bin")


def test_gaussian_losses_follow_their_law(folder):
    """Simulated within five standard errors of a closed form (a false alarm in 10^4), the exact columns to 1e-9."""
    at = [0.0, 0.5, 1.0]
    found = tcdp_sim.distribution(folder, "privacy_loss", noise="gaussian", rho=RHO, at=at)
    assert found["sf"].dims == ("bin",)
    edges = found["upper"].values
    np.testing.assert_allclose(found["sf_exact"], LOSS.sf(edges), rtol=1e-7)
    mass = LOSS.cdf(edges) - LOSS.cdf(found["lower"].values)
    np.testing.assert_allclose(found["probability_exact"], mass, rtol=1e-6, atol=1e-12)
    assert np.max(np.abs(found["sf"] - LOSS.sf(edges)) - 5 * np.sqrt(LOSS.sf(edges) / 20_000)) < 0
    assert int(found["count"].sum()) == 20_000 == int(found["trials"])
    assert 0.5 < float((found["density"] * (found["upper"] - found["lower"])).sum()) < 1 + 1e-9
    epsilons = np.array(at)
    truth = stats.norm.cdf(MU / 2 - epsilons / MU) - np.exp(epsilons) * stats.norm.cdf(-MU / 2 - epsilons / MU)
    np.testing.assert_allclose(found["delta_exact"], truth, rtol=1e-9)
    assert (found["delta_lower"] <= truth).all()
    assert (found["delta_upper"] >= truth).all()
    assert found["bin"].attrs["units"] == "nats"
    assert found["sf_exact"].attrs["exact"] == "known"


def test_atoms_of_laplace_losses_are_in_their_bins(folder):
    """The loss is -1/scale with chance e^(-1/scale)/2 and 1/scale with chance 1/2."""
    found = tcdp_sim.distribution(folder, "privacy_loss", noise="laplace", rho=RHO, bins="stored")
    exact = found["probability_exact"].values
    assert exact[-1] == pytest.approx(0.5, abs=2e-3)
    assert exact.sum() == pytest.approx(1, abs=1e-12)
    assert abs(found["probability"].values[-1] - exact[-1]) < 5 * np.sqrt(0.25 / 20_000)


def test_several_cells_lie_along_their_axes(folder):
    found = tcdp_sim.distribution(folder, "privacy_loss")
    assert found["sf"].dims == ("noise", "rho", "bin")
    assert found["rho"].values.tolist() == [RHO, 0.4]
    alone = tcdp_sim.distribution(folder, "privacy_loss", noise="laplace", rho=0.4, bins="stored")
    assert int(found["count"].sel(noise="laplace", rho=0.4).sum()) == int(alone["count"].sum()) == 20_000
    some = tcdp_sim.distribution(folder, "privacy_loss", {"noise": ["laplace"]}, rho=[0.4, RHO])
    assert some["sf"].dims == ("rho", "bin")
    assert str(some["noise"].item()) == "laplace"
    assert some.equals(tcdp_sim.distribution(open_cells(folder), "privacy_loss", noise="laplace"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"observable": "privacy_los"}, "has no observable 'privacy_los'; valid: .*did you mean privacy_loss"),
        ({"nois": 1}, "has no axis 'nois'; valid: noise, rho"),
        ({"noise": "gausian"}, "no cell that is left has noise = 'gausian'; valid: gaussian, laplace"),
        ({"rho": [0.1, 7]}, "no cell that is left has rho = 7; valid: 0.1, 0.4"),
        ({"bins": 0}, "bins = 0"),
        ({"bins": True}, "bins = True"),
        ({"bins": "many"}, "bins = 'many'"),
        ({"at": "x"}, "at = 'x'"),
        ({"at": [np.nan]}, "at = .*"),
        ({"source": xr.Dataset()}, "the dataset is no table of cells"),
        ({"source": "nowhere"}, "nowhere holds no results"),
    ],
)
def test_mistakes_are_one_line(folder, words, said):
    words = {"source": folder, "observable": "privacy_loss"} | words
    with pytest.raises(tcdp_sim.UserError, match=said) as told:
        tcdp_sim.distribution(words.pop("source"), words.pop("observable"), **words)
    assert "\n" not in str(told.value)


def test_numbers_of_a_function_of_ones_own(tmp_path):
    """Dice: each face is a bin of its own, and infinite trials are above all."""

    def dice(rng, trials, sides):
        found = rng.integers(1, sides + 1, trials).astype(float)
        return {"face": np.where(found == 1, np.inf, found)}

    tcdp_sim.sweep(dice, {"sides": [4, 6]}, trials=6000, name="dice", results_dir=tmp_path)
    found = tcdp_sim.distribution(tmp_path / "dice", "face", bins="stored")
    assert found["sf"].dims == ("sides", "bin")
    six = found.sel(sides=6)
    counts = {float(low): int(count) for low, count in zip(six["lower"], six["count"]) if count}
    assert set(counts) == {2.0, 3.0, 4.0, 5.0, 6.0}
    assert sum(counts.values()) + int(six["plus_infinity"]) == 6000
    assert abs(int(six["plus_infinity"]) - 1000) < 5 * np.sqrt(1000 * 5 / 6)
    assert int(six["sf"].values[-1] * 6000 + 0.5) == int(six["plus_infinity"])
    assert "function of one's own" in found["sf_exact"].attrs["exact"]
    with pytest.raises(
        tcdp_sim.UserError, match="at is not valid for face, which is no privacy loss of outputs on the data"
    ):
        tcdp_sim.distribution(tmp_path / "dice", "face", at=1)


@pytest.mark.parametrize("experiment", ["histogram", "optimal_noise", "smooth_sensitivity"])
def test_declared_laws_agree_with_the_trials(experiment, tmp_path):
    """The largest of |simulated - exact| over the bins is below 1.95/sqrt(n) but for one case in 1,000."""
    tcdp_sim.run(experiment, trials=2000, chunk=1000, cluster="serial", results_dir=tmp_path, name="r", also=None)
    flat = open_cells(tmp_path / "r").load()
    observable = {"smooth_sensitivity": "abs_error"}.get(experiment, "linf_error")
    entries = int(flat[f"{observable}_histogram_bins"].values[:4].sum())
    few = flat.isel({"cell": slice(0, 4), f"{observable}_entry": slice(0, entries)})
    found = tcdp_sim.distribution(few, observable)
    assert found["sf_exact"].notnull().any()
    assert float(np.abs(found["sf"] - found["sf_exact"]).max()) < 1.95 / np.sqrt(2000)


def test_just_below_a_point_of_a_lattice_the_point_is_above():
    """The points are 0.5, 1.5, ..., so each has the mass between the two whole numbers beside it."""
    noise = LatticeNoise(0.5, (0.0, -0.3, -1.7), 0.9)
    points = np.arange(0.5, 9.0)
    np.testing.assert_allclose(noise.sf(_just_below(points)), noise.sf(points - 0.5), rtol=1e-12)


def test_the_command(folder, command):
    code, out, _ = command("distribution", folder, "privacy_loss", "noise=gaussian", f"rho={RHO}", "at=[0.5,1]")
    assert code == 0
    assert "privacy loss [nats]: the probability of exceeding" in " ".join(out.split())
    assert "0.0374" in out  # delta(0.5), exact
    code, out, _ = command("distribution", folder, "privacy_loss", "rho=0.4", "bins=5", "x.csv")
    assert code == 0
    rows = list(csv.DictReader(Path("x.csv").read_text("utf-8").splitlines()))
    assert {row["noise"] for row in rows} == {"gaussian", "laplace"}
    assert sum(int(row["count"]) for row in rows) == 40_000
    for words, said in (
        ([folder], "distribution takes a run and an observable"),
        ([folder, "privacy_loss", "x.tex"], "x.tex is no .csv file"),
        ([folder, "privacy_loss", "rho="], "rho = '' is not valid"),
        (["nowhere", "privacy_loss"], "nowhere holds no run"),
        ([folder, "privacy_loss", "a/b.csv"], "a/b.csv cannot be written"),
    ):
        code, _, err = command("distribution", *words)
        assert (code, err.count("\n")) == (2, 1)
        assert said in err


def test_a_law_that_refuses_every_cell_says_why(folder, monkeypatch):
    def refuses(mechanism, at):
        raise ValueError("too many coordinates")

    monkeypatch.setitem(registry.experiment("privacy_loss").SURVIVAL, "privacy_loss", refuses)
    found = tcdp_sim.distribution(folder, "privacy_loss")
    assert found["sf_exact"].isnull().all()
    assert found["sf_exact"].attrs["exact"] == "not known: too many coordinates"
