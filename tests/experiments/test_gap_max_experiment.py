"""The study of private selection: its table and its figures, from small runs."""

import numpy as np
import pytest
from omegaconf import OmegaConf
from rich.console import Console

from tcdp_sim import config, exact, plots, results, sweep, tabulation
from tcdp_sim.axes import points
from tcdp_sim.experiments import gap_max
from tcdp_sim.experiments.selection.laws import gap_scale
from tcdp_sim.experiments.selection.privacy import spent
from tcdp_sim.mechanisms import GapMax
from tcdp_sim.noise import Gaussian
from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, PureDP
from tcdp_sim.simulate import Batch, Task, run
from tcdp_sim.summary import from_bytes

SMALL = ("experiment=gap_max", "cluster=serial", "trials=2000", "chunk=1000")


@pytest.fixture
def study(command, tmp_path):
    """Run a small study: study(*words) -> its table."""

    def ran(*words):
        code, _, err = command(*SMALL, *words)
        assert code == 0, err
        return gap_max.reference(results.open_cells(tmp_path / "results" / "gap_max").load())

    return ran


@pytest.fixture(scope="module")
def table():
    """Every series at two k and four gaps, 2000 trials a cell; simulated once."""
    raw = OmegaConf.to_container(OmegaConf.load(str(config.GROUPS / "experiment" / "gap_max.yaml")))
    axes = raw["experiment"]["axes"] | {"k": [10.0, 1e6], "gap": [40.0, 80.0, 120.0, 160.0]}
    noises = {name: config.named("noise", name) for name in config.options("noise")}
    plan = sweep.plan({"sweep": points(axes, GapMax.axes)}, GapMax, {"beta": 0.05}, None, noises)
    summaries = [from_bytes(record.summary) for cell in plan.cells for record in run(_task(cell)).records]
    return gap_max.reference(tabulation.tabulate(plan.cells, summaries, plan.counts, {}))


def _task(cell):
    return Task(1, 2000, (Batch(cell.id, cell.law, sweep.NO_COUNTS, (0,)),))


def drawn(table):
    with plots.style():
        return {name: (figure, shown) for name, figure, shown in gap_max.figures(table)}


def test_simulated_and_exact_stand_side_by_side(table):
    for name in ("required_gap", "top_selected", "fails_at_proved"):
        assert {name, f"{name}_mcse", f"{name}_lower", f"{name}_upper", f"{name}_exact"} <= set(table)
        inside = table[f"{name}_exact"].between(table[f"{name}_lower"] - 1e-9, table[f"{name}_upper"] + 1e-9)
        known = table[name].notna()
        # 95% intervals of about 180 cells: 30 misses have a probability below 1e-8
        assert (~inside[known]).sum() < 30
    assert (table["fails_at_proved_exact"].dropna() <= table["claimed_at_proved"].dropna() * (1 + 1e-9)).all()


def test_rows_say_what_they_are(table):
    assert table["series"].nunique() == 5 * 3 + 2 + 4  # noises x reductions, the exponential mechanism twice, others
    assert set(table.loc[table["algorithm"] == "generalized_histogram", "accounting"]) == {"paper", "tight"}
    assert set(table.loc[table["algorithm"] == "obvious_answer", "accounting"]) == {""}
    assert (table["guarantee"] != "").all()
    row = table[(table["algorithm"] == "obvious_answer") & (table["noise"] == "gaussian") & (table["k"] == 1e6)].iloc[0]
    noise = Gaussian((2 * 0.01) ** -0.5)
    assert row["required_gap_exact"] == pytest.approx(exact.required_gap("obvious_answer", noise, 1e6, 0.05).estimate)


def test_algorithm_21_by_one_query_needs_less_than_by_two(table):
    part = table[table["algorithm"] == "generalized_histogram"].drop_duplicates(["noise", "accounting", "k"])
    gaps = part.pivot_table(index=["noise", "k"], columns="accounting", values="required_gap_exact")
    assert (gaps["tight"] < gaps["paper"]).all()


def test_report_fits_a_terminal_of_80_columns(table):
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    gap_max.report(table, console)
    text = console.export_text()
    assert max(map(len, text.splitlines()[:-3])) <= 80
    assert f"of {len(table)} cells" in text
    assert "…" not in text


def test_figures_of_a_sweep_over_gaps_and_candidates(table):
    found = drawn(table)
    assert set(found) == {"success_vs_gap", "required_gap", "theorem_20", "privacy_spent"}
    assert [a.get_title() for a in found["success_vs_gap"][0].axes] == ["k = 10", "k = $10^{6}$"]
    said = " ".join(t.get_text() for t in found["required_gap"][0].legends[0].get_texts())
    for word in ("Alg. 21", "Alg. 22", "exponential mechanism", "2m queries", "95% interval", "Section 1.2"):
        assert word in said
    for _, shown in found.values():
        assert "law" not in shown


def test_one_cell_is_drawn_too(study):
    table = study("sweep.algorithm=exponential_mechanism", "sweep.accounting=tight", "sweep.k=50", "also=null")
    assert set(drawn(table)) == {"required_gap"}


def test_figures_against_rho(study):
    table = study(
        *("sweep.algorithm=[obvious_answer,exponential_mechanism]", "sweep.noise=gaussian", "sweep.k=1e6"),
        *("sweep.rho=[1e-3,1e-2,1e-1]", "sweep.accounting=tight", "also=null"),
    )
    found = drawn(table)
    assert "required_gap" not in found
    figure, _ = found["against_rho_m1_gap100"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["privacy ρ"] * 2


def test_figures_of_the_top_m(study):
    table = study(
        *("sweep.algorithm=[generalized_histogram,exponential_mechanism]", "sweep.noise=gaussian", "sweep.m=[1,4]"),
        *("sweep.k=1e6", "also=null"),
    )
    figure, shown = drawn(table)["top_m"]
    assert set(shown["m"]) == {1, 4}
    assert figure.axes[0].get_xlabel() == "number of winners m"
    assert (table["fails_at_proved_exact"] <= 0.05 * (1 + 1e-9)).all()


def test_nothing_spends_more_than_it_promises(table):
    told = spent(table)
    assert set(told["kind"]) == {"delta", "renyi"}
    assert (told["spent"] <= told["promised"] * (1 + 1e-8) + 1e-12).all()


def test_scales_of_the_gap():
    assert gap_scale(PureDP(0.5), 1e6) == pytest.approx(27.631, abs=1e-3)
    assert gap_scale(ApproxDP(0.5, 1e-3), 1e6) == pytest.approx(13.8155, abs=1e-4)
    assert gap_scale(ZCDP(0.01), 1e6) == pytest.approx(37.169, abs=1e-3)
    assert gap_scale(TCDP(0.01, 10), 1e6) == pytest.approx(10 * np.log(1 + 3.7169), abs=1e-3)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("sweep.algorithm=best", "sweep.algorithm = best is not known; valid: generalized_histogram"),
        ("sweep.gap=-1", "gap = -1 is not valid"),
        ("sweep.k=1", "k = 1 is not valid"),
        ("sweep.m=2000", "m = 2000 is not valid"),
        ("mechanism.beta=2", "beta = 2 is not valid"),
        ("sweep.accounting=loose", "accounting = 'loose' is not known"),
    ],
)
def test_mistakes_are_one_line(command, word, said):
    more = ("sweep.algorithm=exponential_mechanism", "sweep.k=10") if "m=" in word else ()
    code, _, err = command(*SMALL, "also=null", word, *(w for w in more if w.split("=")[0] != word.split("=")[0]))
    assert code == 2
    assert said in err
    assert len(err.strip().splitlines()) == 1
