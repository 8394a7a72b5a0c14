"""Measurements of OpenDP, whose maps state their claims."""

from typing import Any

from tcdp_sim.audits.adapters.adapted import Adapted, approximate, library
from tcdp_sim.core.errors import UserError
from tcdp_sim.privacy import ZCDP, ApproxDP, Guarantee, PureDP


def from_opendp(measurement: Any, d_in: Any, delta: float | None = None) -> Adapted:
    """Return an OpenDP measurement for an audit, with the claim of its map.

    OpenDP takes its randomness from the system. An audit therefore draws the two inputs in turn, and its bits are not
    reproducible.

    See https://docs.opendp.org.

    Parameters
    ----------
    measurement : opendp.mod.Measurement
        The measurement.
    d_in : number or tuple
        The distance of the neighbours in the measurement's input metric, such as 1, or 2 for a replaced record under
        the symmetric distance.
    delta : float, optional
        The delta of the claim, in (0, 1), for measurements of smoothed max-divergence, whose map is a privacy curve.

    Returns
    -------
    Adapted
        The mechanism and its claim: `PureDP`, `ApproxDP` or `ZCDP`, by the measurement's output measure.

    Raises
    ------
    UserError
        If OpenDP is not installed, or if the output measure is another one.

    Examples
    --------
    >>> import opendp.prelude as dp  # doctest: +SKIP
    >>> dp.enable_features("contrib")  # doctest: +SKIP
    >>> space = dp.atom_domain(T=int), dp.absolute_distance(T=int)  # doctest: +SKIP
    >>> from_opendp(dp.m.make_laplace(*space, scale=2.0), d_in=1).claim  # doctest: +SKIP
    PureDP(epsilon=0.5)
    """
    library("opendp", "opendp")
    return Adapted(lambda data, rng: measurement(data), _claim(measurement, d_in, delta))


def _claim(measurement: Any, d_in: Any, delta: float | None) -> Guarantee:
    measure, bound = str(measurement.output_measure), measurement.map(d_in)
    if (measure == "SmoothedMaxDivergence") != (delta is not None):
        raise UserError(f"a measurement of {measure} {'takes no' if delta else 'needs'} delta")
    match measure:
        case "MaxDivergence":
            return PureDP(bound)
        case "Approximate(MaxDivergence)":
            return approximate(*bound)
        case "ZeroConcentratedDivergence":
            return ZCDP(bound)
        case "SmoothedMaxDivergence" if delta is not None:
            return ApproxDP(bound.epsilon(delta), delta)
    valid = "MaxDivergence, Approximate(MaxDivergence), ZeroConcentratedDivergence, SmoothedMaxDivergence"
    raise UserError(f"no claim is known for the output measure {measure}; valid: {valid}")
