"""Epsilons that the libraries give for the runs, as lines of JSON. It runs in an environment of its own.

The command is `python -m benchmarks.training.libraries`. A library without a function for a sampler is not asked.
"""

import importlib
import json
import sys
import time
import types
from importlib.metadata import distribution, version
from pathlib import Path

from benchmarks.training.runs import COMMON, MOST, STEPS

SIGMA, DELTA, RATE = COMMON["sigma"], COMMON["delta"], COMMON["batch"] / COMMON["records"]
DRAWS = 500  # to see the pace of Monte Carlo
VERIFIED = DELTA / 10  # where a Monte Carlo check starts
HALVED = "its event has half the noise multiplier, since a record is replaced"
SHUFFLED = ("shuffle_each_epoch", "shuffle_once")


def main() -> None:
    for answers in (of_opacus, of_dp_accounting, of_jax_privacy):
        for library, method, sampler, epsilon, note in answers():
            told = {"library": f"{library} {version(library)}", "method": method, "sampler": sampler}
            print(json.dumps({**told, "epsilon": epsilon, "note": note}))


def of_opacus():
    """Yield what its accountants print. Its data loader samples by Poisson, or shuffles on request."""
    accountants = _opacus_accountants()
    for name in ("rdp", "prv"):
        accountant = accountants.create_accountant(name)
        accountant.history = [(SIGMA, RATE, STEPS)]
        epsilon = accountant.get_epsilon(delta=DELTA)
        yield "opacus", name.upper(), "poisson", epsilon, ""
        for sampler in SHUFFLED:  # poisson_sampling=False
            yield "opacus", name.upper(), sampler, epsilon, "counted as Poisson samples"


def of_dp_accounting():
    """Yield what its accountants give for its events."""
    import dp_accounting as dp

    relation = dp.NeighboringRelation
    gaussian = dp.GaussianDpEvent(SIGMA)
    poisson = dp.PoissonSampledDpEvent(RATE, gaussian)
    cut = dp.TruncatedSubsampledGaussianDpEvent(COMMON["records"], RATE, MOST, SIGMA)
    halved = dp.GaussianDpEvent(SIGMA / 2)  # a record that is replaced moves the sum by two clipping lengths
    fixed = dp.SampledWithoutReplacementDpEvent(COMMON["records"], COMMON["batch"], halved)
    asked = (
        ("RDP", "poisson", dp.rdp.RdpAccountant(), poisson, ""),
        ("PLD", "poisson", dp.pld.PLDAccountant(), poisson, ""),
        ("PLD", "poisson_cut", dp.pld.PLDAccountant(relation.REPLACE_SPECIAL), cut, ""),
        ("RDP", "fixed_size", dp.rdp.RdpAccountant(neighboring_relation=relation.REPLACE_ONE), fixed, HALVED),
    )
    for method, sampler, accountant, event, note in asked:
        accountant.compose(dp.SelfComposedDpEvent(event, STEPS))
        yield "dp-accounting", method, sampler, accountant.get_epsilon(DELTA), note


def of_jax_privacy():
    """Yield what its events give, and the work of its Monte Carlo check for balls in bins."""
    import dp_accounting as dp
    import numpy as np
    from jax_privacy import accounting as jax_accounting
    from jax_privacy import batch_selection
    from jax_privacy.experimental import accounting
    from jax_privacy.experimental.monte_carlo import delta_calculation, sample_generation

    event = accounting.dpsgd_event(SIGMA, STEPS, sampling_prob=RATE)
    yield "jax_privacy", "PLD", "poisson", dp.pld.PLDAccountant().compose(event).get_epsilon(DELTA), ""
    event = accounting.truncated_dpsgd_event(
        SIGMA, STEPS, sampling_prob=RATE, num_examples=COMMON["records"], truncated_batch_size=MOST
    )
    accountant = dp.pld.PLDAccountant(dp.NeighboringRelation.REPLACE_SPECIAL)
    yield "jax_privacy", "PLD", "poisson_cut", accountant.compose(event).get_epsilon(DELTA), ""
    config = jax_accounting.PldAccountantConfig()
    fixed = jax_accounting.DpsgdTrainingAccountant(dp_accountant_config=config)
    run = jax_accounting.DpParams(
        noise_multipliers=SIGMA,
        num_samples=COMMON["records"],
        delta=DELTA,
        batch_size=COMMON["batch"],
        sampling_method=jax_accounting.SamplingMethod.FIXED_BATCH_SIZE,
    )
    yield "jax_privacy", "PLD", "fixed_size", fixed.compute_epsilon(STEPS, run), "Poisson samples with half the noise"
    bins = batch_selection.BallsInBinsSampling(STEPS, STEPS // COMMON["epochs"])
    started = time.process_time()
    sample_generation.get_privacy_loss_sample(bins, SIGMA, np.ones(1), 0, num_samples=DRAWS)
    pace = (time.process_time() - started) / DRAWS
    least = delta_calculation.minimum_samples_to_calibrate(VERIFIED, DELTA)
    hours = least * pace / 3600
    work = f"to verify δ = {DELTA:g} by an estimate of {VERIFIED:g} takes {least:.2g} draws, {hours:.2g} CPU hours"
    yield "jax_privacy", "Monte Carlo", "same_bins", None, work


def _opacus_accountants():
    """Return opacus' accountants without torch, which they import for the type of an argument alone."""
    root, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    root.__path__ = [str(Path(str(distribution("opacus").locate_file("opacus"))))]
    optimizers.DPOptimizer = object
    sys.modules |= {"opacus": root, "opacus.optimizers": optimizers}
    return importlib.import_module("opacus.accountants")


if __name__ == "__main__":
    main()
