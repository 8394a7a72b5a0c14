"""The museum: each bug is found from outputs alone, its repaired version is not refuted, and each law is the thread's.

The levels are those of one audit. A repaired version at level 0.999 is refuted with probability 0.001 for one choice of
seed. OpenDP has no seed, so its tests fail by chance with this probability, and by the power of the audit.
"""

import sys
from dataclasses import replace
from importlib.util import find_spec
from math import exp, log

import numpy as np
import pytest
from museum import __main__ as command
from museum.exhibit import Exhibit
from museum.exhibits import diffprivlib, exhibits, federated, google, opendp, smartnoise
from museum.page import page
from museum.running import audit, kept, outcome
from scipy import stats

THERE, _ = exhibits()
FEW = {  # outputs for a test, fewer than on the page
    "opendp_noisy_max": 6000, "opendp_threshold": 30_000, "opendp_amplification": 8000, "opendp_deviations": 5000,
    "diffprivlib_regression": 100, "diffprivlib_quantile": 100, "google_replace_one": 20_000, "google_distinct": 500,
    "google_threshold": 20_000, "smartnoise_quantile": 500, "nvflare_svt": 3000, "mbi_jam": 20_000,
}  # fmt: skip
SLOW = {
    "opendp_noisy_max", "opendp_amplification", "opendp_threshold", "opendp_deviations",
    "diffprivlib_regression", "diffprivlib_quantile",
}  # fmt: skip
CASES = [pytest.param(each, marks=pytest.mark.slow if each.name in SLOW else (), id=each.name) for each in THERE]
RARE = 1e-6


def rng(seed):
    return np.random.Generator(np.random.SFC64(seed))


@pytest.mark.parametrize("exhibit", CASES)
def test_the_bug_is_found_and_its_repair_is_not_refuted(exhibit: Exhibit):
    trials = FEW.get(exhibit.name, 2000)
    broken = audit(exhibit, "broken", trials, 0.999, 1)
    assert broken.refuted, broken
    repaired = audit(exhibit, "repaired", trials, 0.999, 2)
    assert not repaired.refuted, repaired


def test_there_are_enough_and_each_names_its_thread():
    names = [each.name for each in THERE]
    assert len(set(names)) == len(names) >= 12
    for each in THERE:
        assert each.threads
        assert all(len(thread.split("/")) == 4 for thread in each.threads)
        assert each.says.endswith(".")


class TestLaws:
    """The mechanisms that are written anew, against their closed forms."""

    def test_permute_and_flip(self):
        """The lower of two scores with gap 2 wins with half of exp(-2)."""
        hits = int(opendp.permute_and_flip([1, -1], rng(1), 100_000).sum())
        assert stats.binomtest(hits, 100_000, exp(-2) / 2).pvalue > RARE

    def test_the_tail_of_discrete_laplace_noise(self):
        law = stats.dlaplace(1.0)
        assert opendp._tail(5) == pytest.approx(law.sf(4), rel=1e-12)
        assert float(law.sf(4)) == pytest.approx(google.CUT_DELTA, rel=1e-12)

    def test_the_claim_for_amplified_sums(self):
        assert opendp.AMPLIFIED.epsilon == pytest.approx(5 * log(1 + 0.2 * (exp(1) - 1)))

    def test_an_outlier_takes_the_values_of_others(self):
        """Each of 12 values goes to the outlier with probability 1/2, who keeps one: 12 - Binomial + 1 or 12 remain."""
        outputs = [google.distinct_values(google.OUTLIER.pairs[0][1], rng(seed)) for seed in range(4000)]
        taken = np.arange(13)
        law = stats.binom(12, 0.5).pmf(taken)
        exact = float((law * (12 - taken + (taken > 0))).sum())
        error = np.std(outputs) / np.sqrt(len(outputs))
        assert abs(np.mean(outputs) - exact) < 5 * error

    def test_bounded_first_an_outlier_adds_nothing(self):
        outputs = [google.bounded_distinct_values(google.OUTLIER.pairs[0][1], rng(seed)) for seed in range(2000)]
        assert stats.kstest(outputs, stats.laplace(12, 1).cdf).pvalue > RARE

    def test_thresholds_of_normal_noise(self):
        """The textbook's noise, and thresholds whose exceedance is far above delta and just below it."""
        tail = stats.norm(1, smartnoise.SIGMA).sf
        assert tail(smartnoise.LAPLACE_CUT) > 20 * smartnoise.DELTA
        assert 0.999 * smartnoise.DELTA < tail(smartnoise.NORMAL_CUT) <= smartnoise.DELTA

    def test_accepted_weights_pass_without_noise(self):
        outputs = np.array([federated.overwritten_weights([0.25] * 6, rng(seed)) for seed in range(200)])
        assert 0.1 < (outputs == 0.25).mean() < 0.9
        repaired = np.array([federated.new_weights([0.25] * 6, rng(seed)) for seed in range(200)])
        assert not (repaired == 0.25).any()


class TestLibraries:
    """What libraries declare, read from them."""

    def test_opendp_declares_too_small_a_delta(self):
        pytest.importorskip("opendp")
        declared = opendp._thresholded().map((1, 1, 1))
        assert declared == (opendp.DECLARED.epsilon, opendp.DECLARED.delta)
        assert opendp.DECLARED.delta == pytest.approx(opendp._tail(5), rel=1e-9)
        assert opendp.COUNTED.delta == pytest.approx(stats.dlaplace(1.0).sf(3), rel=1e-12)

    def test_opendp_declares_the_amplified_epsilon(self):
        pytest.importorskip("opendp")
        assert opendp.QUERIES * opendp._amplified_sum().map(2) == pytest.approx(opendp.AMPLIFIED.epsilon, rel=1e-9)

    def test_a_record_decides_whether_diffprivlib_raises(self):
        if find_spec("diffprivlib") is None:
            pytest.skip("diffprivlib is not installed")
        fives, and_one = diffprivlib.FIVES.pairs[0]
        with pytest.raises(RuntimeError, match="candidate"), np.errstate(all="ignore"):
            diffprivlib.quantile(fives, rng(1))
        assert 0 <= diffprivlib.quantile(and_one, rng(1)) <= 10

    def test_the_accountants_of_google_differ(self):
        """The distance of the sums is 2 standard deviations: the exact epsilon at delta = 0.01."""
        pytest.importorskip("dp_accounting")
        epsilon = google.LOSSES.epsilon
        delta = stats.norm.cdf(1 - epsilon / 2) - exp(epsilon) * stats.norm.cdf(-1 - epsilon / 2)
        assert delta == pytest.approx(google.DELTA, rel=1e-3)
        assert google.RENYI.epsilon < epsilon / 2


class TestCommand:
    @pytest.fixture
    def run(self, monkeypatch, tmp_path, capsys):
        monkeypatch.chdir(tmp_path)

        def called(*words):
            monkeypatch.setattr(sys, "argv", ["museum", *words])
            return command.main(), *capsys.readouterr()

        return called

    def test_it_audits_and_writes_the_page(self, run, tmp_path):
        code, out, _ = run("jax_key_reuse", "opendp_max_length", "--scale", "0.1", "--page", "page.md")
        assert code == 0
        assert "jax_key_reuse, broken: 1-GDP is refuted" in out
        assert "jax_key_reuse, repaired: 1-GDP is not refuted" in out
        text = (tmp_path / "page.md").read_text("utf-8")
        assert "[jax #3646](https://github.com/jax-ml/jax/pull/3646)" in text
        assert text.count("| jax_key_reuse: ") == text.count("**jax_key_reuse**") == 1
        assert (tmp_path / "page.png").stat().st_size > 10_000
        assert kept(tmp_path / "results/museum", "jax_key_reuse")["broken"].hits[1] == 0

    @pytest.mark.parametrize("words", [["nothing"], ["--only-page", "--page", "page.md"]])
    def test_mistakes_end_in_one_line(self, run, words):
        code, _, err = run(*words)
        assert code == 2
        assert err.count("\n") == 1


def test_the_page_tells_of_a_wrong_verdict():
    exhibit = next(each for each in THERE if each.name == "mbi_jam")
    reports = {which: audit(exhibit, which, 2000, 0.9, 1) for which in ("broken", "repaired")}
    swapped = {"broken": outcome(reports["repaired"], 1.0), "repaired": outcome(reports["broken"], 2.0)}
    swapped["early"] = replace(swapped["broken"], drawn=swapped["broken"].drawn // 4)
    text = page([(exhibit, swapped)], [], "a slow machine")
    (line,) = (line for line in text.splitlines() if line.startswith("| mbi_jam"))
    assert f"| {swapped['broken'].drawn:,}; {swapped['early'].drawn:,} |" in line
    assert "draws 25.0% of the outputs" in text
    assert "over 1 broken versions, of which it refutes 0." in text
    assert ", not refuted |" in line
    assert ", refuted |" in line
    assert line.endswith("| 3.0 |")
