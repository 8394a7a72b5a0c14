"""The contract of a noise: its methods describe one law, symmetric about zero, and its losses keep their digits.

`broken` yields the broken rules, one line each. The checks compare the methods with each other, at quantiles from the
centre to the far tails, so they need no knowledge of the law. They find mistakes in formulas; they prove nothing.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tcdp_sim.core.numerics import integrate
from tcdp_sim.core.streams import generator
from tcdp_sim.noise import contract_of_extras, contract_of_losses
from tcdp_sim.noise.missing import defines
from tcdp_sim.noise.probes import CLOSE, LEAST, OF_LOGS, STREAM, TAILS, both_sides, first, line, positive

DRAWS = 5_000  # at first use
_KOLMOGOROV = 3.3  # its statistic times sqrt(draws) exceeds this once in a billion samples
_FORMS = {  # method -> what it is, by the methods that every class has
    "pdf": lambda noise, x: np.exp(noise.logpdf(x)),
    "logcdf": lambda noise, x: noise.logsf(-x),
    "cdf": lambda noise, x: noise.sf(-x),
}


def broken(noise: Any, draws: int = DRAWS) -> Iterator[str]:
    """Yield one line for each way in which a noise with plain parameters breaks the contract.

    A line names the method, its arguments, its result and the right one. Nothing is checked after a quantile, a tail or
    a density that is wrong, because all later checks use them.
    """
    ground = (_quantiles, _tails, _density)
    checks = (
        *ground,
        _variance,
        _forms,
        _symmetry,
        *contract_of_losses.CHECKS,
        *contract_of_extras.CHECKS,
        lambda noise: _draws(noise, draws),
    )
    with np.errstate(all="ignore"):
        for check in checks:
            lines = list(_guarded(check, noise))
            yield from lines
            if lines and check in ground:
                return


def _guarded(check: Any, noise: Any) -> Iterator[str]:
    """Yield the lines of a check, and a line for the exception that a method raises."""
    try:
        yield from check(noise)
    except Exception as problem:  # a foreign class may raise anything
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())
        goal = check.__name__.strip("_") if check.__name__ != "<lambda>" else "draws"
        yield f"{type(noise).__name__} raises {reason} in the check of its {goal}; valid: methods of arrays of floats"


def _quantiles(noise: Any) -> Iterator[str]:
    """Check isf and ppf against sf, for arrays and for scalars."""
    x = np.asarray(noise.isf(TAILS), dtype=float)
    if x.shape != TAILS.shape or np.isnan(x).any():
        yield line(noise, "isf", "array of 16", x.shape, "an array of that shape without NaN")
        return
    if (i := first(np.diff(x) < 0)) is not None:
        yield line(noise, "isf", f"{TAILS[i + 1]:g}", x[i + 1], f"at least {x[i]:.10g}, which is isf({TAILS[i]:g})")
    sf, above = np.asarray(noise.sf(x)), np.asarray(noise.sf(x * (1 + 1e-9)))
    beside = np.asarray(noise.sf(x - noise.step_length if noise.is_discrete else x * (1 - 1e-9)))
    slack = CLOSE * TAILS
    wrong = ~((np.minimum(sf, above) <= TAILS + slack) & (TAILS - slack <= np.maximum(sf, beside)))
    if (i := first(wrong & np.isfinite(x))) is not None:
        yield line(noise, "sf", f"{x[i]:.10g}", sf[i], f"{TAILS[i]:g}, whose isf that is")
    for name in ("isf", "sf", "logsf", "logpdf"):
        function = getattr(noise, name)
        at = TAILS if name == "isf" else x
        if not np.allclose(float(function(float(at[3]))), np.asarray(function(at))[3], rtol=1e-12, equal_nan=True):
            yield line(
                noise,
                name,
                f"{at[3]:.10g}",
                function(float(at[3])),
                f"what it gives for an array, {function(at)[3]:.10g}",
            )
    ppf = np.asarray(noise.ppf(TAILS))
    if (i := first(~np.isclose(ppf, -x, rtol=1e-9))) is not None and not noise.is_discrete:
        yield line(noise, "ppf", f"{TAILS[i]:g}", ppf[i], f"{-x[i]:.10g}, by symmetry")


def _tails(noise: Any) -> Iterator[str]:
    """Check logsf against sf."""
    x = both_sides(noise)
    sf, logsf = np.asarray(noise.sf(x)), np.asarray(noise.logsf(x))
    known = sf > LEAST
    if (i := first(known & ~(np.abs(logsf - np.log(sf)) <= OF_LOGS * (1 + np.abs(logsf)) + CLOSE))) is not None:
        yield line(noise, "logsf", f"{x[i]:.10g}", logsf[i], f"{np.log(sf[i]):.10g}, the log of sf")


def _forms(noise: Any) -> Iterator[str]:
    """Check the forms that follow from others: pdf, cdf, logcdf, isf_log."""
    x = both_sides(noise)
    for name, right in _FORMS.items():
        found, expected = np.asarray(getattr(noise, name)(x)), np.asarray(right(noise, x))
        moved = noise.is_discrete and name != "pdf"  # P[Z <= x] and P[Z > -x] differ by the probability of x
        bad = ~np.isclose(found, expected, rtol=CLOSE, atol=CLOSE if name == "logcdf" else LEAST)
        if not moved and (i := first(bad)) is not None:
            yield line(noise, name, f"{x[i]:.10g}", found[i], f"{expected[i]:.10g}")
    if defines(noise, "isf_log"):
        found, expected = np.asarray(noise.isf_log(np.log(TAILS))), np.asarray(noise.isf(TAILS))
        if (i := first(~np.isclose(found, expected, rtol=CLOSE))) is not None and not noise.is_discrete:
            yield line(noise, "isf_log", f"{np.log(TAILS[i]):.10g}", found[i], f"{expected[i]:.10g}, which is isf")


def _symmetry(noise: Any) -> Iterator[str]:
    x = positive(noise)
    left, right = np.asarray(noise.logpdf(-x)), np.asarray(noise.logpdf(x))
    if (i := first(~np.isclose(left, right, rtol=OF_LOGS, atol=CLOSE))) is not None:
        yield line(noise, "logpdf", f"{-x[i]:.10g}", left[i], f"{right[i]:.10g}, as at {x[i]:.10g}")


_NEARER = 0.5 ** np.arange(40)  # a narrow peak may lie next to the first quantile, far from 0


def _density(noise: Any) -> Iterator[str]:
    """Check that the density integrates to the tails, between quantiles, and that its variance is the stated one."""
    if noise.is_discrete:
        return
    x = np.concatenate([[0.0], positive(noise)])
    sf, kinks = np.asarray(noise.sf(x)), np.asarray(noise.kinks)
    for i in range(len(x) - 1):
        mass = float(sf[i] - sf[i + 1]) if i else 0.5 - float(sf[1])
        if mass <= 1e-100 or mass < CLOSE * sf[i]:
            continue
        far = np.geomspace(x[i], x[i + 1], 2 + int(np.log2(x[i + 1] / x[i]))) if i else x[1] * (1 - _NEARER)
        edges = np.unique([x[i], *far, *kinks[(kinks > x[i]) & (kinks < x[i + 1])], x[i + 1]])
        found = integrate(noise.pdf, edges, 1e-8, 30)
        slack = CLOSE * mass + 1e-12 * float(sf[i])
        if not (found.lower - slack <= mass <= found.upper + slack):
            ends = f"{x[i]:.10g} to {x[i + 1]:.10g}"
            yield line(
                noise, "pdf", f"integral from {ends}", found.estimate, f"{mass:.10g}, the difference of sf there"
            )
            return


def _variance(noise: Any) -> Iterator[str]:
    """Check the variance against the integral of the tails; a longer tail than was integrated excuses a larger one."""
    if noise.is_discrete:
        return
    x, kinks, var = np.append(0.0, positive(noise)), np.asarray(noise.kinks), float(noise.var())
    if np.isfinite(var):
        ends = np.concatenate([x, kinks[kinks > 0]])
        found = integrate(lambda y: 4 * y * noise.sf(y), ends, 1e-6, 20)
        too_large = var > found.upper * (1 + 1e-3) and x[-1] ** 2 * noise.sf(x[-1]) < 1e-6 * var
        if too_large or var < found.lower * (1 - 1e-3):
            yield line(noise, "var", "", var, f"{found.estimate:.10g}, the integral of its tails")


def _draws(noise: Any, count: int) -> Iterator[str]:
    """Check draws against the law, by Kolmogorov's test at a level of one in a billion; the seed is fixed."""
    draws = np.asarray(noise.sample(size=(count,), rng=generator(0, STREAM, 0)), dtype=float)
    if draws.shape != (count,) or np.isnan(draws).any():
        yield line(noise, "sample", f"size=({count},)", draws.shape, "an array of that shape without NaN")
        return
    again = np.asarray(noise.sample(size=(count,), rng=generator(0, STREAM, 0)), dtype=float)
    if not np.array_equal(draws, again):
        yield f"{type(noise).__name__}.sample gives other draws from the same stream; valid: all randomness from rng"
        return
    x, values = np.sort(draws), np.unique(draws)
    cdf = np.asarray(noise.cdf(values))
    before = np.asarray(noise.cdf(values - 0.5 * noise.step_length)) if noise.is_discrete else cdf
    up_to, below = (np.searchsorted(x, values, side) / count for side in ("right", "left"))
    distance = float(max(np.abs(up_to - cdf).max(), np.abs(below - before).max()))
    if distance * np.sqrt(count) > _KOLMOGOROV:
        most = f"valid: at most {_KOLMOGOROV / np.sqrt(count):.3f}"
        where = f"{distance:.3f} away from its cdf in {count} draws"
        yield f"{type(noise).__name__}.sample draws another law, which is {where}; {most}"
