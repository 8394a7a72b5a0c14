"""Numbers of runs, against their definition in 40 digits, and draws against the law.

Seeds are fixed; a fresh seed fails at 5.5 standard errors with probability 4e-8 for each number that is compared.
"""

import mpmath
import numpy as np
import pytest

from tcdp_sim.candidates import NegativeBinomialTries, PoissonTries, tries_of

MP = mpmath.MPContext()
MP.dps = 40
CASES = {
    "poisson": PoissonTries(3.0),
    "few": PoissonTries(0.2),
    "geometric": NegativeBinomialTries(1.0, 0.2),
    "logarithmic": NegativeBinomialTries(0.0, 0.1),
    "half": NegativeBinomialTries(0.5, 0.3),
    "three": NegativeBinomialTries(3.0, 0.4),
}


def probabilities(tries, most=400):
    """P[K = n] for n = 0, ..., most, from the definition."""
    if isinstance(tries, PoissonTries):
        return [MP.exp(-tries.average) * MP.mpf(tries.average) ** n / MP.factorial(n) for n in range(most + 1)]
    weights, product = [MP.mpf(0)], MP.mpf(1)
    for n in range(1, most + 1):
        factor = MP.mpf(1) if tries.shape == 0 and n == 1 else (n - 1 + MP.mpf(tries.shape))
        product *= factor / n
        weights.append(product * (1 - MP.mpf(tries.stop)) ** n)
    return [weight / MP.fsum(weights) for weight in weights]


@pytest.mark.parametrize("name", CASES)
def test_mean_slope_and_masses_are_those_of_the_definition(name):
    tries = CASES[name]
    law = probabilities(tries)
    assert tries.mean == pytest.approx(float(MP.fsum(n * p for n, p in enumerate(law))), rel=1e-12)
    assert tries.none == pytest.approx(float(law[0]), rel=1e-14)
    for better, own in ((0.0, 1.0), (0.0, 1e-12), (1e-9, 0.3), (0.4, 0.6), (0.25, 1e-5)):
        high, low = 1 - MP.mpf(better), 1 - MP.mpf(better) - MP.mpf(own)
        slope = MP.fsum(n * p * high ** (n - 1) for n, p in enumerate(law) if n)
        mass = MP.fsum(p * (high**n - low**n) for n, p in enumerate(law) if n)
        assert float(tries.slope(better)) == pytest.approx(float(slope), rel=1e-11)
        assert float(tries.mass(better, own)) == pytest.approx(float(mass), rel=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_draws_have_the_law(name):
    tries, trials = CASES[name], 40_000
    drawn = tries.sample(trials, rng=np.random.default_rng(7))
    law = probabilities(tries, 60)
    for n in range(6):
        p = float(law[n])
        assert abs(np.mean(drawn == n) - p) <= 5.5 * np.sqrt(p * (1 - p) / trials)
    assert abs(drawn.mean() - tries.mean) < 5.5 * drawn.std() / np.sqrt(trials)


def test_the_slope_is_infinite_where_the_generating_function_ends():
    assert NegativeBinomialTries(1.0, 0.2).slope(-0.25) == np.inf
    assert NegativeBinomialTries(1.0, 0.2).slope(-0.26) == np.inf
    assert np.isfinite(NegativeBinomialTries(1.0, 0.2).slope(-0.24))


@pytest.mark.parametrize("law", ["poisson", "geometric", "logarithmic"])
@pytest.mark.parametrize("mean", [1.0001, 2.0, 100.0, 1e6])
def test_a_law_has_the_mean_that_is_asked_for(law, mean):
    assert tries_of(law, mean).mean == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tries_of("binomial", 3.0), "law = binomial is not|law = 'binomial' is not"),
        (lambda: tries_of("geometric", 1.0), "mean = 1"),
        (lambda: tries_of("poisson", 1e7), "mean = 1e\\+07"),
        (lambda: NegativeBinomialTries(0.01, 0.5), "shape = 0.01"),
        (lambda: NegativeBinomialTries(1.0, 1.0), "stop = 1"),
        (lambda: PoissonTries(0.0), "average = 0"),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
