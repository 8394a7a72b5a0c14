"""The questions. Each has parameters, small parameters for the warm-up, and a name that contestants' functions have."""

from dataclasses import dataclass, field
from typing import Any

EPSILONS = [0.01 + 2.99 * i / 99 for i in range(100)]
RATE, DELTA = 0.01, 1e-6
KINDS = [[1.0 + 0.1 * i, 0.005 + 0.001 * i, 50] for i in range(20)]  # sigma, sampling rate, releases
VARIANCES = [5.0 * 80.0 ** (i / 63) for i in range(64)]  # of discrete Gaussians
CELLS = 2000
MANY = 100_000
BINARY = "ours searches all orders for the best binary test, and its ε is {}"
ADD_REMOVE = "one record added or removed; Poisson sampling; noise of scale 1 at sensitivity 1; the worse direction"


@dataclass(frozen=True)
class Question:
    """A question to all contestants.

    - `name`: name of the functions that answer it.
    - `title`, `says`: title and explanation for the reader.
    - `parameters`, `warm`: parameters of the question, and small ones for the warm-up.
    - `trusted`: name of a function in `trusted`, or "" if there is none.
    - `fresh`: True if the question is answered in a process that is measured from its start to its end.
    - `worth`: what ours gives for its time, for the page's list of the questions where others are cheaper.
    """

    name: str
    title: str
    says: str
    parameters: dict[str, Any] = field(default_factory=dict)
    warm: dict[str, Any] = field(default_factory=dict)
    trusted: str = ""
    fresh: bool = False
    worth: str = ""


def _releases(noise: str, count: int) -> Question:
    return Question(
        f"subsampled_{noise}_{count}",
        f"ε of {count:,} Poisson-subsampled {noise.capitalize()} releases",
        f"rate {RATE}, δ = {DELTA:g}; {ADD_REMOVE}.",
        {"rate": RATE, "releases": count, "delta": DELTA},
        {"rate": 0.3, "releases": 2, "delta": 1e-3},
        f"subsampled_{noise}",
    )


QUESTIONS = (
    Question(
        "gaussian_profile",
        "δ(ε) of the Gaussian mechanism, 100 points",
        "σ = 1 at sensitivity 1, ε from 0.01 to 3; the error is the largest relative one.",
        {"sigma": 1.0, "epsilons": EPSILONS},
        {"sigma": 2.0, "epsilons": [0.5, 1.0]},
        "gaussian_profile",
        worth="ours is a bracket; numpy is off by 1.3e-10 (relative) at σ = 1000, ε = 0.01, and does not say so",
    ),
    *(_releases(noise, count) for noise in ("gaussian", "laplace") for count in (1000, 100_000)),
    Question(
        "twenty_kinds",
        "ε of 1,000 releases of 20 kinds",
        "Poisson-subsampled Gaussians, 50 of each kind: σ = 1, 1.1, ..., 2.9, rates 0.005, 0.006, ..., 0.024; "
        f"δ = {DELTA:g}; one record added or removed.",
        {"kinds": KINDS, "delta": DELTA},
        {"kinds": [[2.0, 0.3, 2], [3.0, 0.2, 1]], "delta": 1e-3},
        "twenty_kinds",
    ),
    *(
        Question(
            f"equal_{name}s",
            f"ε of 100,000 releases with {name.capitalize()} noise",
            f"scale 300 at sensitivity 1, δ = {DELTA:g}.",
            {"scale": 300.0, "releases": 100_000, "delta": DELTA},
            {"scale": 3.0, "releases": 2, "delta": 1e-3},
            f"equal_{name}s",
        )
        for name in ("gaussian", "laplace")
    ),
    *(
        Question(
            name,
            f"ε of 64 different discrete Gaussians at δ = {delta:g}",
            "σ² from 5 to 400 in equal ratios, sensitivity 1. No value is trusted beside the bracket.",
            {"variances": VARIANCES, "delta": delta},
            {"variances": [5.0, 7.0], "delta": 1e-3},
        )
        for name, delta in (("discrete_gaussians", 1e-10), ("discrete_gaussians_far", 1e-35))
    ),
    Question(
        "zcdp_conversion",
        "ε of 0.1-zCDP at δ = 1e-6",
        "No conversion can go below the Gaussian mechanism that has this zCDP. The error is the excess over its ε.",
        {"rho": 0.1, "delta": DELTA},
        {"rho": 0.2, "delta": 1e-3},
        "zcdp_conversion",
        worth=BINARY.format("0.6% below the usual conversion at δ = 0.01; at this small δ they are equal"),
    ),
    Question(
        "tcdp_conversion",
        "ε of (0.1, 5)-tCDP at δ = 1e-6",
        "The error is the excess over the same Gaussian mechanism, whose curve goes on beyond order 5. "
        "So no tool reaches 0.",
        {"rho": 0.1, "omega": 5.0, "delta": DELTA},
        {"rho": 0.2, "omega": 4.0, "delta": 1e-3},
        "zcdp_conversion",
        worth=BINARY.format("1.1% below the others here"),
    ),
    Question(
        "allocation",
        "ε of one random step of 100",
        f"A record takes part in one of 100 steps with Gaussian noise, σ = 1, δ = {DELTA:g}; one record added or "
        "removed. No value is trusted beside the brackets.",
        {"sigma": 1.0, "steps": 100, "delta": DELTA},
        {"sigma": 2.0, "steps": 10, "delta": 1e-3},
    ),
    Question(
        "selection_rho",
        "ρ of the exponential mechanism",
        "ε = 2: probabilities proportional to e^score, and one record changes a score by 1 at most. The error is the "
        "excess over the least ρ of zCDP.",
        {"epsilon": 2.0},
        {"epsilon": 1.0},
        "selection_rho",
    ),
    Question(
        "best_of_tries",
        "ε of the best of ten private tries",
        "A Poisson number of runs, ten on average, each with Gaussian noise, σ = 10 at sensitivity 1; only the best is "
        f"released; δ = {DELTA:g}. All answers are upper bounds, so the smaller one is nearer. No value is trusted.",
        {"sigma": 10.0, "tries": 10.0, "delta": DELTA},
        {"sigma": 20.0, "tries": 2.0, "delta": 1e-3},
        worth="ours is a fifth smaller",
    ),
    Question(
        "selections",
        "100,000 selections among 100 candidates",
        "The exponential mechanism with ε = 0.1 and scores 0, 1, ..., 99. The error is that of the mean square of the "
        "scores that are selected, in standard errors. Tools that select one at a time draw fewer, as below.",
        {"epsilon": 0.1, "candidates": 100, "count": 100_000},
        {"epsilon": 0.1, "candidates": 10, "count": 100},
        "selections",
    ),
    Question(
        "gaussian_draws",
        "a million Gaussian draws",
        "σ = 4. The remark says whether the draws are discrete or continuous. The error is that of the mean square, in "
        "standard errors. Tools that draw one number at a time draw fewer, and their CPU is scaled up.",
        {"sigma": 4.0, "count": 1_000_000},
        {"sigma": 4.0, "count": 100},
        "gaussian_draws",
    ),
    Question(
        "per_record_draws",
        "a million draws of a per-record noise",
        "Generalised Gaussian noise of power 1/2, density ∝ exp(-√|x|). The error is defined as above.",
        {"count": 1_000_000},
        {"count": 100},
        "per_record_draws",
    ),
    Question(
        "sweep_in_memory",
        f"{CELLS:,} trivial cells of a sweep, in memory",
        "A function of one number that returns one number, in this process. The results stay as the tool returns them.",
        {"cells": CELLS},
        {"cells": 10},
        worth="ours has four seeded trials a cell and standard errors; the next question asks all tools for that",
    ),
    Question(
        "sweep_seeded",
        f"{CELLS:,} cells of four seeded trials, in memory",
        "The same sweep with the work that a simulation needs: a random stream for each cell, four trials, their mean "
        "and its standard error. The other tools get a function that does it with numpy's SeedSequence.",
        {"cells": CELLS},
        {"cells": 10},
    ),
    Question(
        "sweep_durable",
        f"{CELLS:,} trivial cells of a sweep, on the disk",
        "The same function, with results that outlive the process. The remark says what is kept, and how safely.",
        {"cells": CELLS},
        {"cells": 10},
    ),
    Question(
        "small_cells",
        f"{MANY:,} cells of 100 trials, in memory",
        "The coverage and the mean width of a confidence interval, by a function of all trials of a cell at once. The "
        "other tools get a function that makes its own random stream and both means with their standard errors.",
        {"cells": MANY},
        {"cells": 10},
    ),
    Question(
        "small_cells_durable",
        f"{MANY // 10:,} cells of 100 trials, on the disk",
        "A tenth of these cells, with results that outlive the process.",
        {"cells": MANY // 10},
        {"cells": 10},
    ),
    Question(
        "first_result",
        "from the start of a process to its first result",
        "A new Python imports the tool and answers one small question. CPU is all of its CPU time.",
        fresh=True,
    ),
)
