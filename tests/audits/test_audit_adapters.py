"""Adapters: claims of libraries against closed forms, and audits of a sound and of a broken use.

OpenDP, PipelineDP and Tumult Core cannot be seeded. Their audits at level 1 - 1e-6 err with probability 1e-6.
"""

import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from math import exp, nextafter
from types import SimpleNamespace

import audited
import numpy as np
import pytest
from scipy import stats

import tcdp_sim
from tcdp_sim.audits import adapters, records
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import ZCDP, ApproxDP, PureDP

RARE = 1e-6
AUDIT = {"level": 1 - RARE, "trials": 600, "learn": False}


def needs(library):
    return pytest.mark.skipif(find_spec(library) is None, reason=f"{library} is not installed")


def rng(seed=1):
    return np.random.Generator(np.random.SFC64(seed))


def test_importing_the_adapters_loads_no_library():
    libraries = "opendp", "diffprivlib", "dp_accounting", "pipeline_dp", "tmlt", "sklearn"
    code = f"import sys, tcdp_sim.audits.adapters; sys.exit(any(name in sys.modules for name in {libraries}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@needs("opendp")
class TestOpendp:
    @pytest.fixture
    def dp(self):
        import opendp.prelude as dp

        dp.enable_features("contrib")
        return dp

    @pytest.fixture
    def space(self, dp):
        return dp.atom_domain(T=int), dp.absolute_distance(T=int)

    def test_the_map_gives_the_claim(self, dp, space):
        """Laplace noise of scale b at distance d: d / b. Gaussian noise: d^2 / (2 sigma^2)."""
        assert adapters.from_opendp(dp.m.make_laplace(*space, scale=2.0), 3).claim == PureDP(1.5)
        gaussian = dp.m.make_gaussian(*space, scale=2.0)
        assert adapters.from_opendp(gaussian, 3).claim == ZCDP(9 / 8)
        domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
        metric = dp.l01inf_distance(dp.absolute_distance(T=int))
        keys = dp.m.make_laplace_threshold(domain, metric, scale=1.0, threshold=9)
        claim = adapters.from_opendp(keys, (1, 1, 1)).claim
        assert isinstance(claim, ApproxDP)
        assert (claim.epsilon, claim.delta) == keys.map((1, 1, 1))
        assert adapters.from_opendp(dp.c.make_approximate(dp.m.make_laplace(*space, scale=2.0)), 1).claim == PureDP(0.5)
        curve = dp.c.make_zCDP_to_approxDP(gaussian)
        smooth = adapters.from_opendp(curve, 3, delta=1e-3).claim
        assert smooth == ApproxDP(curve.map(3).epsilon(1e-3), 1e-3)

    def test_a_wrong_distance_is_found(self, dp, space):
        """Noise for a distance of 1, inputs at distance 6."""
        adapted = adapters.from_opendp(dp.m.make_laplace(*space, scale=1.0), 1)
        assert tcdp_sim.audit(adapted, neighbours=[(0, 6)], claim=adapted.claim, **AUDIT).refuted
        assert not tcdp_sim.audit(adapted, neighbours=[(0, 1)], claim=adapted.claim, **AUDIT).refuted

    def test_other_measures_are_refused_in_one_line(self, dp, space):
        gaussian = dp.m.make_gaussian(*space, scale=2.0)
        with pytest.raises(UserError, match="takes no delta"):
            adapters.from_opendp(gaussian, 1, delta=1e-3)
        with pytest.raises(UserError, match="needs delta"):
            adapters.from_opendp(dp.c.make_zCDP_to_approxDP(gaussian), 1)
        with pytest.raises(UserError, match="no claim is known"):
            adapters.from_opendp(dp.c.make_approximate(gaussian), 1)


@needs("diffprivlib")
class TestDiffprivlib:
    def test_a_mechanism_draws_its_law_from_its_seed(self):
        adapted = adapters.from_diffprivlib("mechanisms.Laplace", epsilon=0.5, sensitivity=1)
        assert adapted.claim == PureDP(0.5)
        outputs = adapted(3.0, rng(), 1500)
        assert outputs == adapted(3.0, rng(), 1500)
        assert stats.kstest(outputs, stats.laplace(3, 2).cdf).pvalue > RARE

    def test_a_selection_gets_its_utilities(self):
        adapted = adapters.from_diffprivlib("mechanisms.Exponential", epsilon=2.0, sensitivity=1)
        hits = sum(adapted([0.0, 1.0], rng(2), 1500))
        assert stats.binomtest(hits, 1500, 1 / (1 + exp(-1))).pvalue > RARE

    def test_a_delta_is_passed_on(self):
        adapted = adapters.from_diffprivlib("mechanisms.Gaussian", epsilon=0.5, delta=1e-3, sensitivity=1)
        assert adapted.claim == ApproxDP(0.5, 1e-3)
        scale = np.sqrt(2 * np.log(1250)) / 0.5
        assert stats.kstest(adapted(0.0, rng(3), 1500), stats.norm(0, scale).cdf).pvalue > RARE

    def test_a_tool_is_audited_on_a_data_set(self):
        """The bounds are enforced by the tool, so a record of 300 counts as 10. The number of records is public."""
        adapted = adapters.from_diffprivlib("tools.sum", epsilon=0.5, bounds=(0.0, 10.0))
        neighbours = records([1.0, 2.0], "substitute", domain=[300.0])
        report = tcdp_sim.audit(adapted, neighbours=neighbours, claim=adapted.claim, **AUDIT)
        assert report.reproducible
        assert not report.refuted
        assert tcdp_sim.audit(adapted, neighbours=[([0.0] * 9, [9.0] * 9)], claim=adapted.claim, **AUDIT).refuted

    @pytest.mark.parametrize("name", ["mechanisms.Nothing", "models.KMeans", "Laplace"])
    def test_unknown_names_are_refused_in_one_line(self, name):
        with pytest.raises(UserError, match="diffprivlib has no"):
            adapters.from_diffprivlib(name, epsilon=1.0)


@needs("dp_accounting")
class TestDpAccounting:
    @pytest.mark.parametrize(("relation", "distance"), [("add_remove", 1), ("substitute", 2)])
    def test_a_gaussian_event_has_its_exact_epsilon(self, relation, distance):
        import dp_accounting

        claim = adapters.claim_of_event(dp_accounting.GaussianDpEvent(2.0), 1e-4, relation)
        mu, epsilon = distance / 2.0, claim.epsilon
        exact = stats.norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
        assert exact == pytest.approx(1e-4, rel=2e-3)

    def test_mistakes_are_refused_in_one_line(self):
        import dp_accounting

        event = dp_accounting.GaussianDpEvent(1.0)
        with pytest.raises(UserError, match="relation"):
            adapters.claim_of_event(event, 1e-4, "other")
        with pytest.raises(UserError, match="delta"):
            adapters.claim_of_event(event, 2.0)
        with pytest.raises(UserError, match="does not support"):
            adapters.claim_of_event(dp_accounting.UnsupportedDpEvent(), 1e-4)


@needs("pipeline_dp")
@pytest.mark.filterwarnings("ignore:invalid escape sequence")  # of its docstrings
class TestPipelineDP:
    @pytest.fixture
    def count(self):
        import pipeline_dp

        params = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            metrics=[pipeline_dp.Metrics.COUNT],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
        )
        return adapters.from_pipelinedp(params, epsilon=1.0, public_partitions=["a"])

    def test_the_noise_is_what_the_budget_pays_for(self, count):
        outputs = [each["a"]["count"] for each in count([(i, "a", 0.0) for i in range(4)], None, 1000)]
        assert stats.kstest(outputs, stats.laplace(4, 1).cdf).pvalue > RARE

    @audited.WEAK
    def test_one_person_more_is_hidden_and_nine_are_not(self, count):
        rows = [(i, "a", 0.0) for i in range(9)]
        settings = {**AUDIT, "trials": 200, "claim": count.claim}
        assert not tcdp_sim.audit(count, neighbours=[(rows[:1], rows[:2])], **settings).refuted
        assert tcdp_sim.audit(count, neighbours=[([], rows)], **settings).refuted


@needs("tmlt")
@pytest.mark.filterwarnings("ignore")  # of pyspark and sympy
class TestTumultCore:
    @pytest.fixture(autouse=True)
    def measurements(self):
        from tmlt.core.measurements import noise_mechanisms as noise

        self.geometric = noise.AddGeometricNoise(alpha=2)
        self.gaussian = noise.AddDiscreteGaussianNoise(sigma_squared=3)

    @pytest.mark.parametrize("d_in", [1, 2])
    def test_the_privacy_function_gives_the_claim(self, d_in):
        """Geometric noise of scale 2 at distance d: d / 2. Gaussian noise: d^2 / (2 sigma^2), rounded up."""
        from sympy import sqrt
        from tmlt.core.measurements.converters import PureDPToApproxDP
        from tmlt.core.measures import ApproxDP as ApproxBudget
        from tmlt.core.utils.exact_number import ExactNumber

        assert adapters.from_tmlt_core(self.geometric, d_in).claim == PureDP(d_in / 2)
        rho = adapters.from_tmlt_core(self.gaussian, d_in).claim.rho
        assert Fraction(d_in**2, 6) <= Fraction(rho) <= Fraction(d_in**2, 6) * (1 + Fraction(1, 2**51))
        assert adapters.from_tmlt_core(PureDPToApproxDP(self.geometric), d_in).claim == PureDP(d_in / 2)
        claim = (ExactNumber("1/3"), ExactNumber(sqrt(2) / 1000))
        paid = SimpleNamespace(is_interactive=False, privacy_function=lambda d_in: claim, output_measure=ApproxBudget())
        assert adapters.from_tmlt_core(paid, d_in).claim == ApproxDP(nextafter(1 / 3, 1), 2**0.5 / 1000)

    def test_outputs_have_the_law_of_the_noise(self):
        outputs = np.array(adapters.from_tmlt_core(self.geometric, 1)(np.int64(3), None, 1500)) - 3
        ratio = exp(-1 / 2)  # P[k] = (1 - ratio) / (1 + ratio) ratio^|k|
        assert stats.binomtest(int((outputs == 0).sum()), 1500, (1 - ratio) / (1 + ratio)).pvalue > RARE
        assert stats.binomtest(int((abs(outputs) <= 2).sum()), 1500, 1 - 2 * ratio**3 / (1 + ratio)).pvalue > RARE

    def test_a_wrong_distance_is_found(self):
        adapted = adapters.from_tmlt_core(self.geometric, 1)
        settings = {**AUDIT, "claim": adapted.claim}
        assert tcdp_sim.audit(adapted, neighbours=[(np.int64(0), np.int64(12))], **settings).refuted
        assert not tcdp_sim.audit(adapted, neighbours=[(np.int64(0), np.int64(1))], **settings).refuted

    @pytest.mark.parametrize("d_in", [-1, "x", None])
    def test_mistakes_are_refused_in_one_line(self, d_in):
        with pytest.raises(UserError, match=r"^Tumult Core states no claim at d_in = [^\n]*$"):
            adapters.from_tmlt_core(self.geometric, d_in)

    def test_an_interactive_measurement_is_refused(self):
        from tmlt.core.measurements.interactive_measurements import MakeInteractive

        with pytest.raises(UserError, match="an interactive measurement is a queryable"):
            adapters.from_tmlt_core(MakeInteractive(self.geometric), 1)

    def test_other_measures_are_refused(self):
        other = SimpleNamespace(is_interactive=False, privacy_function=lambda d_in: d_in, output_measure="RenyiDP")
        with pytest.raises(UserError, match="no claim is known for the output measure RenyiDP"):
            adapters.from_tmlt_core(other, 1)


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(UserError, match=r'opendp is not installed; pip install "tcdp_sim\[opendp\]"'):
        adapters.from_opendp(None, 1)
