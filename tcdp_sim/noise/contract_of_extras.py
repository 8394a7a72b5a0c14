"""The contract of the optional methods of a noise class: each is compared with its fallback."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tcdp_sim.core.streams import generator
from tcdp_sim.noise.missing import defines
from tcdp_sim.noise.moments import kurtosis_by_quadrature
from tcdp_sim.noise.probes import CLOSE, OF_LOGS, STREAM, both_sides, first, line, positive

_FEW = 7  # numbers that are drawn
_FACTOR = 3.0
_K, _FAILURE = 10.0, 0.05


def _kurtosis(noise: Any) -> Iterator[str]:
    if defines(noise, "kurtosis") and not noise.is_discrete:
        found, right = float(noise.kurtosis()), kurtosis_by_quadrature(noise.logsf, float(noise.isf(0.25)))
        if not (found == right or abs(found - right) <= 1e-3 * right):
            yield line(noise, "kurtosis", "", found, f"{right:.10g}, by quadrature")


def _fill(noise: Any) -> Iterator[str]:
    if defines(noise, "fill"):
        out, right = np.empty(_FEW), noise.sample(size=(_FEW,), rng=generator(0, STREAM, 0))
        noise.fill(out=out, rng=generator(0, STREAM, 0))
        if not np.array_equal(out, right):
            yield line(
                noise, "fill", f"{_FEW} numbers", out[0], f"the stream of sample, which begins with {right[0]:.10g}"
            )


def _scales(noise: Any) -> Iterator[str]:
    """Check scaled: the law of the product with a factor."""
    if noise.is_discrete or not defines(noise, "scaled"):
        return
    x = both_sides(noise)
    found, right = np.asarray(noise.scaled(_FACTOR).sf(_FACTOR * x)), np.asarray(noise.sf(x))
    if (i := first(~np.isclose(found, right, rtol=CLOSE))) is not None:
        given = f"{_FACTOR * x[i]:.10g}"
        yield line(noise, f"scaled({_FACTOR:g}).sf", given, found[i], f"{right[i]:.10g}, sf at {x[i]:.10g}")


def _radius(noise: Any) -> Iterator[str]:
    """Check that a bound on the largest of many draws is not below its quantile."""
    if defines(noise, "accuracy_radius"):
        found = float(noise.accuracy_radius(_K, _FAILURE))
        failure = -np.expm1(_K * np.log1p(-2 * float(noise.sf(found))))
        if failure > _FAILURE * (1 + CLOSE):
            least = float(noise.isf(-0.5 * np.expm1(np.log1p(-_FAILURE) / _K)))
            yield line(noise, "accuracy_radius", f"{_K:g}, {_FAILURE:g}", found, f"at least {least:.10g}, the quantile")


def _stretched(noise: Any) -> Iterator[str]:
    if not defines(noise, "affine_loss") or noise.is_discrete:
        return
    x, scale = both_sides(noise), float(noise.isf(0.25))
    for log_scale, shift in ((0.1, 0.5 * scale), (-0.2, scale), (0.1, -scale)):
        found = np.asarray(noise.affine_loss(x, log_scale, shift))
        right = noise.logpdf(x) - noise.logpdf((x - shift) * np.exp(-log_scale)) + log_scale
        size = OF_LOGS * (1 + np.abs(noise.logpdf(x)) + np.abs(right))
        if (i := first(np.isfinite(right) & ~(np.abs(found - right) <= size))) is not None:
            given = f"{x[i]:.10g}, {log_scale:g}, {shift:.10g}"
            yield line(noise, "affine_loss", given, found[i], f"{right[i]:.10g}, from log densities")
            return


def _decreasing(noise: Any) -> Iterator[str]:
    """Check a noise that says its density decreases away from 0 (log_concave_size)."""
    if noise.log_concave_size and not noise.is_discrete:
        x = positive(noise)
        logs = np.asarray(noise.logpdf(x))
        if (i := first(np.diff(logs) > OF_LOGS * (1 + np.abs(logs[1:])))) is not None:
            most = f"at most {logs[i]:.10g}, as at {x[i]:.10g}, since log_concave_size is True"
            yield line(noise, "logpdf", f"{x[i + 1]:.10g}", logs[i + 1], most)


CHECKS: tuple[Callable[[Any], Iterator[str]], ...] = (_kurtosis, _fill, _scales, _radius, _stretched, _decreasing)
