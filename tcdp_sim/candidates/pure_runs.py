"""The best of a random number of pure private runs: the exact largest loss, and a bound on Renyi divergences.

A run is epsilon-DP. The order of its outputs is arbitrary, and so is the pair of its laws on neighbours.
"""

from math import exp, expm1, inf, log1p

from tcdp_sim.candidates.tries import NegativeBinomialTries, Tries
from tcdp_sim.core.errors import scalar


def largest_loss(epsilon: float, tries: Tries) -> float:
    """Return the least epsilon' for which the best of a random number of epsilon-DP runs is always epsilon'-DP.

    With a truncated negative binomial number it is epsilon + (1 + shape) log[(stop + (1 - stop) e^epsilon / (1 +
    e^epsilon)) / (stop + (1 - stop) / (1 + e^epsilon))]. It rises to the published (2 + shape) epsilon as stop falls
    to 0. A Poisson number gives no pure DP with a constant: the loss may be epsilon + mean tanh(epsilon / 2).

    Proof: the density of the best output is the density of a run times f'(1 - S). The first factor changes by e^epsilon
    at most. The second is a falling function of S, and S' is largest for a given S on the boundary of epsilon-DP, S' =
    min(e^epsilon S, 1 - e^-epsilon (1 - S)). The ratio is largest at the kink S = 1 / (1 + e^epsilon). Outputs of small
    probability just there have both ratios at once (derived here).

    Source: Liu and Talwar (2019) [LT19], for 3 epsilon with a geometric number (from memory, not looked up); Papernot
    and Steinke (2022) [PS22], for (2 + shape) epsilon.

    Parameters
    ----------
    epsilon : float
        Epsilon of a run, in nats, at least 0.
    tries : Tries
        The law of the number of runs.

    Returns
    -------
    float
        Epsilon of the best output, in nats.

    Examples
    --------
    >>> from tcdp_sim.candidates import tries_of
    >>> round(largest_loss(1.0, tries_of("geometric", 10.0)), 3)
    2.591
    """
    epsilon = scalar("epsilon", epsilon, 0, closed=True)
    worse = 1 / (1 + exp(-epsilon))
    if isinstance(tries, NegativeBinomialTries):
        kept, going = tries.stop, 1 - tries.stop
        rise = going * worse * -expm1(-epsilon) / (kept + going * worse * exp(-epsilon))
        return epsilon + (1 + tries.shape) * log1p(rise)
    return epsilon + tries.mean * worse * -expm1(-epsilon)


def pure_renyi(order: float, epsilon: float) -> float:
    """Return a bound on the Renyi divergence of the best of a random number of epsilon-DP runs, whatever the number.

    It is -log(1 - c) / (a - 1) with c = 1 - a e^((a - 1) epsilon) + (a - 1) e^(a epsilon), and infinite for c >= 1. For
    small a epsilon it is near a epsilon^2 / 2, the cost of a single run: in this sense tries are free. It holds for
    every Poisson and truncated negative binomial number of runs, with any parameters.

    Proof: as in `gaussian_runs`, with phi <= c at every output. So H - the integral of phi over the tilted mass - rises
    at most c times as fast as that mass, and e^((a - 1) D) is at most the mean of e^(c Z) for an exponential Z, which
    is 1 / (1 - c). A truncated negative binomial law is a mixture of Poisson laws without zero, whose weights are the
    same on neighbours. Without zero, e^((a - 1) D) is 1 + c / (1 - c) at most too (derived here).

    Parameters
    ----------
    order : float
        The order a, above 1.
    epsilon : float
        Epsilon of a run, in nats, at least 0.

    Returns
    -------
    float
        The bound in nats.

    Examples
    --------
    >>> round(pure_renyi(2.0, 0.1), 5), 2 * 0.1**2 / 2
    (0.01112, 0.010000000000000002)
    """
    order, epsilon = scalar("order", order, 1), scalar("epsilon", epsilon, 0, closed=True)
    if order * epsilon > 700:
        return inf
    # 1 - a e^((a - 1) e) + (a - 1) e^(a e), without cancellation
    cost = (order - 1) * exp((order - 1) * epsilon) * expm1(epsilon) - expm1((order - 1) * epsilon)
    return -log1p(-cost) / (order - 1) if cost < 1 else inf
