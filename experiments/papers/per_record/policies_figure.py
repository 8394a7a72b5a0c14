"""Our figure of policies: the loss of a record against its influence, by eight releases equal for a small record."""

from dataclasses import replace
from math import e
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from tcdp_sim import exact
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit
from tcdp_sim.noise import ExponentialPolylogarithmic, Gaussian, GeneralizedGaussian, Laplace, Noise
from tcdp_sim.releases import AdditiveRelease, Log, Release, Root, TransformedRelease
from tcdp_sim.report.looks import COLOURS, DASHES
from tcdp_sim.report.plots import line_key, new_figure, plain_log_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGREED = 0.05  # exact loss of a record of influence 1, in nats
NOISES: dict[str, Noise] = {
    "Gaussian": Gaussian(1.0),
    "Laplace": Laplace(1.0),
    "generalised Gaussian, p = 1/2": GeneralizedGaussian(1.0, 0.5),
    "exp. polylogarithmic, p = 2, a = e, d = 1": ExponentialPolylogarithmic(1.0, 2.0, e, 1.0),
    "exp. polylogarithmic, p = 1, d = 4": ExponentialPolylogarithmic(1.0, 1.0, 1.0, 4.0),
}
TRANSFORMS = {"square root, a = 0": Root(2.0), "fourth root, a = 0": Root(4.0), "logarithm, a = 1": Log(1.0)}


def policies(budget: Budget) -> pd.DataFrame:
    """Return a row for each release and influence: release, influence, printed and exact policy in nats."""
    rows = []
    for name, release in _releases().items():
        for influence in np.geomspace(1, 1e6, budget.choose(13, 49)):
            policy = exact.record_policy(release, influence)
            row = {"release": name, "influence": influence, "printed": float(release.policy(influence))}
            rows.append(row | {"exact": policy.estimate, "lower": policy.lower, "upper": policy.upper})
    return pd.DataFrame(rows)


def _releases() -> dict[str, Release]:
    additive: dict[str, Release] = {name: AdditiveRelease(_calibrated(noise)) for name, noise in NOISES.items()}
    rise = float(np.sqrt(2 * AGREED))  # rise of a record of influence 1, in scales of the noise
    return additive | {name: TransformedRelease(f, float(f.rise(1.0)) / rise) for name, f in TRANSFORMS.items()}


def _calibrated(noise: Noise) -> Noise:
    """Return the noise with the scale at which a record of influence 1 has the agreed loss.

    Divergences depend on influence / scale.
    """

    def excess(log_ratio: float) -> float:
        return float(np.log(exact.record_policy(AdditiveRelease(noise), np.exp(log_ratio)).estimate / AGREED))

    return replace(noise, scale=float(np.exp(-brentq(excess, -6.0, 6.0, xtol=1e-9))))  # type: ignore[type-var]


def draw(table: pd.DataFrame) -> "Figure":
    """Draw exact policies as lines, and printed ones as dots in the same colours."""
    figure, axes = new_figure(1, 1, 7.6, 4.2)
    axes = axes[0, 0]
    for (name, rows), colour, dashes in zip(table.groupby("release", sort=False), COLOURS, DASHES):
        axes.plot(rows["influence"], rows["exact"], color=colour, linestyle=dashes, label=name)
        axes.plot(rows["influence"], rows["printed"], color=colour, linestyle=(0, (1, 2)), linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(0.03, 3e3)
    plain_log_axis(axes)
    axes.set_xlabel("influence of the record, that of the small one = 1")
    axes.set_ylabel("what the record loses (D / order at worst, nats)")
    handles, labels = axes.get_legend_handles_labels()
    dots = line_key(linestyle=(0, (1, 2)), label="as printed, where it differs")
    axes.legend([*handles, dots], [*labels, dots.get_label()], loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8)
    return figure


exhibit(
    Exhibit(
        "per_record_policies",
        "P",
        "How slowly the loss of a record can grow",
        "Releases that agree on the loss of a small record, and what records up to a million times as large lose by "
        "them: Gaussian noise grows with the square of the influence, the square root and Laplace noise linearly, "
        "exponential polylogarithmic noise like a power of the logarithm. Lines are exact, over all orders; dots what "
        "is printed for additive noise, P tanh(P/2), which is loose for small records.",
        policies,
        draw,
    )
)
