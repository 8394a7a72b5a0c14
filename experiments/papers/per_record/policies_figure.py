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
from tcdp_sim.per_record import AdditiveRelease, Log, Release, Root, TransformedRelease
from tcdp_sim.report.labels import End, label_ends
from tcdp_sim.report.looks import DASHES, line_of, release_look
from tcdp_sim.report.plots import headed, line_key, new_figure

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

LOOKS = {
    name: line_of(look) | {"linestyle": dashes}
    for (name, look), dashes in zip(
        {
            "Gaussian": release_look("gaussian"),
            "Laplace": release_look("laplace"),
            "generalised Gaussian, p = 1/2": release_look("generalized_gaussian"),
            "exp. polylogarithmic, p = 2, a = e, d = 1": release_look("exponential_polylogarithmic, power 2"),
            "exp. polylogarithmic, p = 1, d = 4": release_look("exponential_polylogarithmic"),
            "square root, a = 0": release_look("square_root"),
            "fourth root, a = 0": release_look("fourth_root"),
            "logarithm, a = 1": release_look("log"),
        }.items(),
        DASHES,
    )
}
DOTS = (0, (1, 2))


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
    figure, axes = new_figure(1, 1, 7.6, 4.8)
    axes = axes[0, 0]
    ends = []
    for name, rows in table.groupby("release", sort=False):
        look = LOOKS[str(name)]
        axes.plot(rows["influence"], rows["exact"], **look)
        axes.plot(rows["influence"], rows["printed"], color=look["color"], linestyle=DOTS, linewidth=1)
        ends.append(
            End(str(name), str(name).replace(", p", "\np"), rows["influence"].iloc[-1], rows["exact"].iloc[-1], look)
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("influence of the record, that of the small one = 1")
    axes.set_ylabel("what the record loses (D / order at worst, nats)")
    axes.legend([line_key(linestyle=DOTS)], ["as printed, where it differs"], loc="lower right")
    label_ends(axes, ends)
    headed(figure, _growth(table))
    return figure


def _growth(table: pd.DataFrame) -> str:
    """Return in words the least and the largest loss of the largest record."""
    most = table["influence"].max()
    loss = table[table["influence"] == most].set_index("release")["exact"]
    told = (f"{loss[name]:.2g} nats ({str(name).partition(',')[0]})" for name in (loss.idxmin(), loss.idxmax()))
    alike = f"Releases that cost a small record {AGREED:g} nats"
    return f"{alike} cost one {most:,.0f} times as large from {' to '.join(told)}"


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
