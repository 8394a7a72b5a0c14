"""What the numbers say: whether two runs, or simulated and exact values, disagree beyond chance."""

from tcdp_sim.statistics.epsilon_bounds import epsilon_from_losses, epsilon_from_outputs

__all__ = ["epsilon_from_losses", "epsilon_from_outputs"]
