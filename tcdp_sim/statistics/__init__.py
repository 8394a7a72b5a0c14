"""Statistical tests and bounds: comparisons of runs and of simulated with exact values, and lower bounds on epsilon."""

from tcdp_sim.statistics.epsilon_bounds import epsilon_from_losses, epsilon_from_outputs

__all__ = ["epsilon_from_losses", "epsilon_from_outputs"]
