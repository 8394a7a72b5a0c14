"""The standard deviation of noise for smooth sensitivity, by published formulas and by exact calibration."""

from functools import cache

import numpy as np
import pandas as pd

from tcdp_sim.calibration import calibrate_smooth, standard_deviation
from tcdp_sim.privacy import ZCDP
from tcdp_sim.report.looks import MARKERS, method_look
from tcdp_sim.report.plots import GREY, headed, line_key, new_figure, note, plain_log_axis

TARGETS = ((0.5, 0.05), (0.5, 0.1), (0.1, 0.05), (0.02, 0.02))  # rho, smoothing
NOISES = {
    "arsinh_normal": "arsinh-normal",
    "uniform_log_normal": "uniform log-normal",
    "laplace_log_normal": "Laplace log-normal",
    "student_t": "Student's t",
}
METHODS = {"paper": "published formula", "box": "certified, whole box", "tight": "certified, pairs of neighbours"}
NONE = "none"
SIDE = {"paper": 0.0, "box": -0.03, "tight": 0.03}  # offset from the noise's place, so that no mark hides another


@cache
def cost_table() -> pd.DataFrame:
    """Return `sd`, the noise's standard deviation over S at rho-zCDP; inf where a formula gives nothing."""
    rows = [
        {"rho": rho, "smoothing": t, "family": family, "method": method, "sd": _sd(family, rho, t, method)}
        for rho, t in TARGETS
        for family in NOISES
        for method in METHODS
    ]
    return pd.DataFrame(rows).assign(gaussian_global=lambda table: 1 / np.sqrt(2 * table["rho"]))


def _sd(family, rho, smoothing, method) -> float:
    try:
        return standard_deviation(calibrate_smooth(family, ZCDP(rho), smoothing, method))
    except ValueError:
        return np.inf


def cost_figure(table: pd.DataFrame):
    """Draw the standard deviation divided by the one of Gaussian noise with global sensitivity S, at the same rho."""
    figure, ((axes,),) = new_figure(1, 1, 7.6, 4.3)
    marks = dict(zip(METHODS, (MARKERS[0], MARKERS[2], MARKERS[3])))
    ratio = table["sd"] / table["gaussian_global"]
    finite = ratio[np.isfinite(ratio)].max()
    for i, (rho, t) in enumerate(TARGETS):
        for j, family in enumerate(NOISES):
            colour = method_look(family)["color"]
            x = i + 0.17 * (j - 1.5)
            own = table[(table["rho"] == rho) & (table["smoothing"] == t) & (table["family"] == family)]
            for row, value in zip(own.to_dict("records"), ratio[own.index]):
                style = {"color": colour, "marker": marks[row["method"]], "linestyle": "none"}
                if np.isfinite(value):
                    axes.plot(
                        x + SIDE[row["method"]],
                        value,
                        fillstyle="none" if row["method"] == "paper" else "full",
                        **style,
                    )
                else:
                    axes.annotate(NONE, (x, 1.15 * finite), color=colour, ha="center", fontsize=7)
                    note(figure, "none", f"{NONE!r}: the {METHODS[row['method']]} gives no noise there")
    axes.axhline(1, color=GREY, linewidth=0.8)
    plain_log_axis(axes)
    axes.set_ylim(0.85, 1.5 * finite)
    axes.set_xticks(range(len(TARGETS)), [f"ρ = {rho:g}\nsmoothing {t:g}" for rho, t in TARGETS])
    axes.set_ylabel("standard deviation of the noise, over that\nof Gaussian noise with global sensitivity S")
    keys = {name: line_key(method_look(family)["color"], linewidth=4) for family, name in NOISES.items()}
    for method, label in METHODS.items():
        fill = "none" if method == "paper" else "full"
        keys[label] = line_key(GREY, marker=marks[method], linestyle="none", fillstyle=fill)
    keys["Gaussian noise, global sensitivity S"] = line_key(GREY, linewidth=0.8)
    figure.legend(keys.values(), keys, loc="outside lower center", ncols=2)
    headed(figure, _saved(table))
    return figure


def _saved(table) -> str:
    """Return in words how many times less noise the exact calibration takes than the published formulas."""
    wide = table.pivot_table(index=["rho", "smoothing", "family"], columns="method", values="sd").reindex(
        columns=[*METHODS]
    )
    ratio = (wide["paper"] / wide["tight"])[lambda ratio: np.isfinite(ratio)]
    if ratio.empty:
        return "No published formula and certified calibration give noise for the same smooth sensitivity here"
    least, most = f"{ratio.min():.2g}", f"{ratio.max():.2g}"
    return f"Published formulas for smooth sensitivity give {least} to {most} times the noise of certified calibration"
