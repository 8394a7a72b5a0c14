"""PLD_accounting of Feldman and Shenfeld: random allocation by distributions of privacy losses."""

from benchmarks.peers.answers import bracket


def allocation(sigma, steps, delta):
    from PLD_accounting import gaussian_allocation_epsilon_range

    high, low = gaussian_allocation_epsilon_range(delta=delta, sigma=sigma, num_steps=steps)
    return bracket(low, high, "at its default accuracy")


def first_result():
    return allocation(2.0, 10, 1e-3)["high"]
