"""A comparison of random allocation with Poisson sampling at the same rate.

The figure has no simulated number. All lines are exact brackets, and their width is below that of the lines. The shaded
half is where Poisson sampling is more private. Run it with `python examples/allocation_or_poisson.py FILE.png`.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from tcdp_sim.accounting import Additive, Allocated, Ledger, Sampled
from tcdp_sim.noise import Gaussian
from tcdp_sim.report import looks, plots

SIGMA, DELTA = 1.0, 1e-6
STEPS = (10, 100, 1000)
EPOCHS = (1, 2, 5, 10, 20, 50, 100)
EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8)
LEAST_DELTA = 1e-7  # smaller deltas have wide brackets


def ledgers(steps: int, epochs: int = 1) -> tuple[Ledger, Ledger]:
    """Return the ledgers of random allocations, and of Poisson sampling at the rate 1 / steps, for some epochs."""
    sampled = Sampled(Additive(Gaussian(SIGMA)), 1 / steps)
    return Ledger([(Allocated(SIGMA, steps), epochs)], "add_remove"), Ledger([(sampled, steps * epochs)], "add_remove")


def epsilon_ratio(steps: int, epochs: int) -> float:
    """Return epsilon of Poisson sampling over that of random allocations, at the delta of the figure."""
    ours, other = (ledger.epsilon(DELTA, 1e-3).estimate for ledger in ledgers(steps, epochs))
    return other / ours


def delta_ratios(steps: int) -> tuple[list[float], list[float]]:
    """Return deltas of a random allocation, and the deltas of Poisson sampling over them."""
    pairs = [[ledger.delta(epsilon, 1e-3).estimate for ledger in ledgers(steps)] for epsilon in EPSILONS]
    pairs = [pair for pair in pairs if pair[0] > LEAST_DELTA]
    return [ours for ours, _ in pairs], [other / ours for ours, other in pairs]


def figure() -> Figure:
    """Return the figure: the ratio of epsilons against epochs, and the ratio of deltas against delta."""
    drawn, grid = plots.new_figure(1, 2, 9.0, 3.9)
    left, right = grid[0]
    for steps, look in zip(STEPS, looks.level_styles(f"t = {steps:,}" for steps in STEPS).values()):
        look |= {"label": f"t = {steps:,}"}
        left.plot(EPOCHS, [epsilon_ratio(steps, epochs) for epochs in EPOCHS], **look)
        right.plot(*delta_ratios(steps), **look)
    left.set(
        xscale="log", xlabel="number of epochs", ylabel="ε of Poisson / ε of allocation", title=f"at δ = {DELTA:g}"
    )
    right.set(
        xscale="log", xlabel="δ of one random allocation", ylabel="δ of Poisson / δ of allocation", title="one epoch"
    )
    for axes, lowest in ((left, 0.95), (right, 0.7)):
        axes.axhspan(lowest, 1.0, color=plots.GREY, alpha=0.2, linewidth=0)
        axes.set_ylim(bottom=lowest)
        axes.axhline(1.0, color=plots.GREY, linewidth=0.8)
    right.text(0.97, 0.02, "Poisson sampling is more private", transform=right.transAxes, ha="right", fontsize=8)
    left.legend(title=f"σ = {SIGMA:g}, steps in an epoch")
    plots.headed(drawn, "Random allocation is more private at small δ, Poisson sampling at large δ")
    return drawn


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "allocation_or_poisson.png")
    with plots.style():
        figure().savefig(target)
    print(f"{target} is written")
