"""Libraries' mechanisms as the gallery wraps them: their claims are their own, and their outputs what they should be.

Outputs of OpenDP cannot be seeded: its checks fail by chance with probability 1e-9 each.
"""

import numpy as np
import pytest
from audit_gallery import libraries
from audit_gallery.libraries import Diffprivlib, OpendpNoise, OpendpNoisyMax, library_rows
from scipy import stats

from tcdp_sim.privacy import ApproxDP

NEVER, RARE = 1e-9, 1e-6
ONE = np.array([1.0])


def rng(seed):
    return np.random.Generator(np.random.SFC64(seed))


def test_rows_are_left_out_in_one_line_where_a_library_is_missing(monkeypatch):
    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    rows, missing = library_rows()
    assert rows == []
    assert [line.split()[0] for line in missing] == ["diffprivlib", "opendp"]
    assert all("\n" not in line and "pip install" in line for line in missing)


class TestDiffprivlib:
    @pytest.fixture(autouse=True)
    def installed(self):
        if libraries.find_spec("diffprivlib") is None:
            pytest.skip("diffprivlib is not installed")

    def test_every_row_draws_what_its_seed_says(self):
        for row in library_rows()[0]:
            if isinstance(row.mechanism, Diffprivlib):
                one, two = (row.mechanism(row.pairs[0][0], rng(3), 50) for _ in range(2))
                assert np.array_equal(one, two), row.name
                assert one.shape == (50,)
                assert row.claim.epsilon == row.mechanism.epsilon
                if isinstance(row.claim, ApproxDP):
                    assert row.claim.delta == row.mechanism.delta

    def test_laplace_noise(self):
        outputs = Diffprivlib("Laplace", 0.1)(ONE, rng(1), 20_000)
        mechanism = libraries._diffprivlib().Laplace(
            epsilon=0.1, sensitivity=1, random_state=int(rng(1).integers(2**32))
        )
        called = np.array([mechanism.randomise(int(ONE[0])) for _ in range(2000)])
        assert np.allclose(outputs[:2000], called, rtol=1e-12, atol=1e-12)
        assert stats.kstest(outputs, stats.laplace(1, 10).cdf).pvalue > RARE

    def test_gaussian_noise_of_the_textbook(self):
        """sqrt(2 log(1.25 / delta)) / epsilon."""
        outputs = Diffprivlib("Gaussian", 0.5, 1e-3)(ONE, rng(2), 20_000)
        assert stats.kstest(outputs, stats.norm(1, np.sqrt(2 * np.log(1250)) / 0.5).cdf).pvalue > RARE

    def test_geometric_noise(self):
        outputs = Diffprivlib("Geometric", 0.1)(ONE, rng(3), 20_000).astype(int)
        edges, law = np.arange(-20, 21, 4), stats.dlaplace(0.1)
        exact = np.diff(np.concatenate([[0], law.cdf(edges - 1), [1]]))
        counts = np.bincount(np.searchsorted(edges, outputs), minlength=len(exact))
        assert stats.chisquare(counts, exact * len(outputs)).pvalue > RARE

    def test_the_exponential_mechanism(self):
        """Probabilities proportional to e^(epsilon answer / 2)."""
        data = np.array([0.0, 0, 8, 20, 0])
        counts = np.bincount(Diffprivlib("Exponential", 0.4, selects=True)(data, rng(4), 20_000).astype(int))
        weights = np.exp(0.2 * data)
        assert stats.chisquare(counts, weights / weights.sum() * 20_000).pvalue > RARE


class TestOpendp:
    @pytest.fixture(autouse=True)
    def installed(self):
        pytest.importorskip("opendp")

    def test_the_claims_are_the_librarys(self):
        rows = {row.name: row for row in library_rows()[0]}
        for name in ("opendp_laplace", "opendp_geometric", "opendp_noisy_max"):
            row = rows[name]
            distance = 1.0 if name == "opendp_laplace" else 1
            assert row.mechanism.measurement().map(distance) == pytest.approx(row.claim.epsilon, rel=1e-9)
        gaussian = rows["opendp_gaussian"]
        assert gaussian.mechanism.measurement().map(1.0) == pytest.approx(gaussian.claim.rho, rel=1e-9)

    @pytest.mark.parametrize(
        ("kind", "scale", "law"), [("laplace", 10.0, stats.laplace(1, 10)), ("gaussian", 2.0, stats.norm(1, 2))]
    )
    def test_noise(self, kind, scale, law):
        outputs = OpendpNoise(kind, scale)(np.ones(3), rng(1), 2000)
        assert outputs.shape == (2000, 3)
        assert stats.kstest(outputs.ravel(), law.cdf).pvalue > NEVER
        assert np.abs(np.corrcoef(outputs.T)[np.triu_indices(3, 1)]).max() < 6.2 / np.sqrt(2000)

    def test_geometric_noise_and_the_noisy_max(self):
        outputs = OpendpNoise("geometric", 10.0)(np.array([1.0]), rng(1), 3000)
        assert stats.binomtest(int((outputs > 1).sum()), 3000, 0.5 - np.tanh(0.05) / 2).pvalue > NEVER
        chosen = OpendpNoisyMax(1.0)(np.array([0.0, 3]), rng(1), 500)
        assert set(chosen.tolist()) <= {0, 1}
        assert np.mean(chosen) > 0.5
