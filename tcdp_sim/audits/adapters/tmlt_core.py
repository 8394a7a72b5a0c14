"""Measurements of Tumult Core, whose privacy functions state their claims."""

from math import nextafter
from typing import Any

from tcdp_sim.audits.adapters.adapted import Adapted, approximate, library
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import ZCDP, Guarantee, PureDP


def from_tmlt_core(measurement: Any, d_in: Any) -> Adapted:
    """Return a Tumult Core measurement for an audit, with the claim of its privacy function.

    Tumult Core takes its randomness from the system. An audit therefore draws the two inputs in turn, and its bits are
    not reproducible. The library has exact budgets; the claim is rounded up to the next float.

    See https://docs.tmlt.dev/core.

    Parameters
    ----------
    measurement : tmlt.core.measurements.base.Measurement
        The measurement, which must not be interactive.
    d_in : number or expression of sympy
        The distance of the neighbours in the measurement's input metric, such as 1.

    Returns
    -------
    Adapted
        The mechanism and its claim: `PureDP`, `ApproxDP` or `ZCDP`, by the measurement's output measure. A delta of 0
        gives `PureDP`.

    Raises
    ------
    UserError
        If Tumult Core is not installed, if the measurement is interactive or has no privacy function, if d_in is not
        a distance of its input metric, or if the output measure is another one.

    Examples
    --------
    >>> from tmlt.core.domains.numpy_domains import NumpyIntegerDomain  # doctest: +SKIP
    >>> from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise  # doctest: +SKIP
    >>> from_tmlt_core(AddGeometricNoise(alpha=2), d_in=1).claim  # doctest: +SKIP
    PureDP(epsilon=0.5)
    """
    library("tmlt.core", "tmlt_core")
    if measurement.is_interactive:
        raise UserError("an interactive measurement is a queryable; audit one function of its answers instead")
    return Adapted(lambda data, rng: measurement(data), _claim(measurement, d_in))


def _claim(measurement: Any, d_in: Any) -> Guarantee:
    try:
        bound = measurement.privacy_function(d_in)
    except Exception as refusal:  # typeguard and sympy have exceptions of their own
        reason = str(refusal).partition("\n")[0]
        raise UserError(f"Tumult Core states no claim at d_in = {d_in!r}: {reason}") from None
    match type(measurement.output_measure).__name__:
        case "PureDP":
            return PureDP(_up(bound))
        case "ApproxDP":
            return approximate(_up(bound[0]), _up(bound[1]))
        case "RhoZCDP":
            return ZCDP(_up(bound))
    measure = measurement.output_measure
    raise UserError(f"no claim is known for the output measure {measure}; valid: PureDP, ApproxDP, RhoZCDP")


def _up(exact: Any) -> float:
    """Return a float that is not below an exact number."""
    found = float(exact.expr)
    return found if found >= exact.expr else nextafter(found, float("inf"))
