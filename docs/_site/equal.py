"""The picture of three mechanisms at equal (rho, omega): a histogram, Gap-Max and interior points, from one dataset.

The build of the site makes it from three small runs. `python docs/_site/equal.py FILE.png` makes it alone.
"""

import json
import sys
import tempfile
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

import tcdp_sim
from tcdp_sim.report import looks, plots

SWEEP = {
    "rho": [0.001, 0.01, 0.1],
    "omega_sqrt_rho": [1, 4],
    "noise": "sinh_normal_tight",
    "k": 65536,  # bins of the histogram, candidates of Gap-Max
    "algorithm": "generalized_histogram",
    "gap": 100,
    "log2_k": 16,  # the domain of the interior points
    "shape": "point",
    "n_share": 1,
}
LEVEL = 0.95
QUANTILES = {
    "histogram": ("linf_error_quantile", "histogram of 65,536 bins: largest error"),
    "gap_max": ("needed_gap_quantile", "Gap-Max among 65,536 candidates: gap needed"),
}
STYLES = {1: "-", 4: "--"}  # the lines by omega_sqrt_rho; those of Gap-Max differ by about 1%


def simulated(folder: str) -> xr.Dataset:
    """Return the three runs along `mechanism`."""
    return tcdp_sim.run(
        ["histogram", "gap_max", "interior_point"],
        sweep=SWEEP,
        also=None,
        trials=2000,
        chunk=1000,
        cluster="serial",
        results_dir=folder,
    )


def required(ds: xr.Dataset) -> xr.DataArray:
    """Return the number of records that are proved to suffice for an interior point, which the law of a cell has."""
    laws = ds["law"].sel(mechanism="interior_point")
    return laws.copy(data=[[json.loads(law)["required_n"] for law in row] for row in laws.values])


def figure(ds: xr.Dataset) -> Figure:
    """Draw what each mechanism needs against rho, in counts or records, for both values of omega_sqrt_rho."""
    drawn, grid = plots.new_figure(1, 1, 6.4, 4.2)
    axes = grid[0, 0]
    for (name, (quantity, label)), colour in zip(QUANTILES.items(), looks.COLOURS):
        one = ds.sel(mechanism=name, quantile=LEVEL)
        for omega, style in STYLES.items():
            cells = one.sel(omega_sqrt_rho=omega)
            axes.plot(
                cells["rho"], cells[f"{quantity}_exact"], style, color=colour, label=label if omega == 1 else None
            )
            ends = [cells[quantity + end] for end in ("", "_lower", "_upper")]
            plots.points(axes, cells["rho"], *ends, color=colour, marker="o", ms=4)
    records = required(ds)
    for omega, style in STYLES.items():
        cells = records.sel(omega_sqrt_rho=omega)
        label = "interior point of 65,536 places: records proved to suffice" if omega == 1 else None
        axes.plot(cells["rho"], cells, style, color=looks.COLOURS[len(QUANTILES)], label=label)
    axes.set(xscale="log", yscale="log", xlabel="ρ", ylabel="counts or records", ylim=(8, 8000))
    axes.legend(fontsize=plots.FOOT, loc="upper right")
    plots.headed(drawn, finding(ds))
    caption = (
        "ω√ρ is 1 (solid) or 4 (dashed, for Gap-Max almost the same)\n"
        "markers: simulated 95% quantiles with 95% intervals; lines of histogram and Gap-Max: exact"
    )
    drawn.supxlabel(caption, fontsize=plots.FOOT, color=plots.DARK)
    return drawn


def finding(ds: xr.Dataset) -> str:
    """Return the title: the ratios to the error of the histogram, over all points."""
    error = ds["linf_error_quantile_exact"].sel(mechanism="histogram", quantile=LEVEL)
    gap = ds["needed_gap_quantile_exact"].sel(mechanism="gap_max", quantile=LEVEL) / error
    records = required(ds) / error
    return (
        f"At equal (ρ, ω) Gap-Max needs a gap of {_range(gap)} times the largest error of the histogram, "
        f"and {_range(records)} times as many records suffice for an interior point"
    )


def _range(ratio: xr.DataArray) -> str:
    return f"{float(ratio.min()):.2g} to {float(ratio.max()):.2g}"


def save(path: Path) -> None:
    """Make the runs in a folder of their own, and save the figure."""
    with tempfile.TemporaryDirectory() as folder, plots.style():
        figure(simulated(folder)).savefig(path)


if __name__ == "__main__":
    save(Path(sys.argv[1]))
