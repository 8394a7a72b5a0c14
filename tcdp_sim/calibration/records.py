"""Calibration of releases that protect records of chosen influence, for comparisons at equal privacy."""

from collections.abc import Iterable
from typing import Any

from tcdp_sim.core.errors import choice, scalar
from tcdp_sim.noise import Noise
from tcdp_sim.noise.calibrated import Calibrated
from tcdp_sim.per_record import RELEASE_FAMILIES, AdditiveRelease, Release, ReleaseFamily
from tcdp_sim.per_record.families import Anchor, Parameters


def calibrate_records(
    family: str, anchors: Iterable[Anchor], accounting: str = "approx_dp", delta: float = 1e-6, **fixed: Any
) -> Calibrated[Noise | None, Release]:
    """Return the release of a family whose privacy measure at influence t is v, at one anchor (t, v) or at two.

    Source: Finley et al. (2024) [Fin24]. The exact accounting is derived here.

    Parameters
    ----------
    family : str
        A row of the table below.
    anchors : iterable of pairs
        One pair or two of (influence, value), both > 0. Influences are in the units of the answer and values in nats.
        The second pair is larger in both. Anchors that are read from confidential data reveal something about that
        data. Such a release is an illustration and not private.
    accounting : {"approx_dp", "zcdp", "printed", "pure"}
        The measure of what a release reveals about one record. "approx_dp" is the exact epsilon at `delta`, the only
        measure with the same meaning for all releases. "zcdp" is the exact zCDP policy, and "printed" is the policy as
        printed in the paper. "pure" is the largest privacy loss, for additive noise alone.
    delta : float
        delta of "approx_dp", in (0, 1).
    **fixed
        Other parameters of the family. None counts as not given.

    Returns
    -------
    Calibrated
        The `release`, and its `noise` if it adds one. No value is above its anchor. If rounding allows it each value is
        within 1e-6 of its anchor (relative). The bounds are those of the value at the last anchor. If two shapes meet
        both anchors the release has the larger one, since epsilon at `delta` may fall and then rise with the shape.

    Raises
    ------
    ValueError
        If the family, a parameter or the number of anchors is not valid. If no shape meets two anchors, the message
        gives the interval of second values that are possible.

    Notes
    -----
    | family | parameters with one anchor | parameter that two anchors determine with the scale |
    |---|---|---|
    | gaussian, laplace | none | |
    | generalized_gaussian | power | power |
    | exponential_polylogarithmic | power, rate; offset (default e^(power - 1)) | rate, given power |
    | square_root, fourth_root, root given degree | offset (default 0) | offset |
    | log | offset | offset |
    | clipped | clip | |
    | unit_splitting | threshold; rule, pieces, exponent | |

    Roots and log also take estimator and nonnegative.

    Examples
    --------
    >>> calibrate_records("laplace", [(1e6, 2.0)], "pure").release
    AdditiveRelease(noise=Laplace(scale=500000.0))
    """
    kind = RELEASE_FAMILIES[choice("family", family, tuple(RELEASE_FAMILIES))]
    checked = _anchors(anchors)
    given = {name: value for name, value in fixed.items() if value is not None}
    shape = _given_shape(family, kind, given, len(checked))
    parameters = _parameters(family, kind, given)
    from tcdp_sim.calibration import record_search  # imports exact values, which workers do not need

    search = record_search.search(kind, accounting, delta, parameters)
    example = shape or ({kind.shape: kind.example} if kind.shape else {})
    search.build(1.0, example)  # raises ValueError for a parameter that is not valid
    release = search.release(checked, shape)
    noise = release.noise if isinstance(release, AdditiveRelease) else None
    return Calibrated(noise, checked, search.accounting.bounds(release, checked[-1][0]), accounting, release)


def _anchors(anchors: Iterable[Anchor]) -> tuple[Anchor, ...]:
    """Return one pair of floats or two that ascend in both parts. Raises ValueError for anything else."""
    try:
        pairs = [(t, value) for t, value in anchors]
    except (TypeError, ValueError):
        pairs = []
    if len(pairs) not in (1, 2):
        raise ValueError(
            f"anchors = {anchors!r} is not valid; valid: one pair (influence, value) or two, ((t1, v1), (t2, v2))"
        )
    checked = tuple((scalar("influence of an anchor", t, 0), scalar("value of an anchor", v, 0)) for t, v in pairs)
    for name, low, high in zip(("influences", "values"), checked[0], checked[-1]):
        if len(checked) == 2 and low >= high:
            raise ValueError(f"{name} = {low:g}, {high:g} of the anchors are not valid; valid: ascending")
    return checked


def _given_shape(family: str, kind: type[ReleaseFamily], given: dict[str, Any], anchors: int) -> dict[str, Any]:
    """Return the given or default shape for one anchor and remove it from `given`, or {} if there is none to give."""
    if not kind.shape:
        if anchors == 2:
            raise ValueError(f"2 anchors are not valid for {family}, which has nothing but a scale; valid: 1 anchor")
        return {}
    both = f"valid: 1 anchor and {kind.shape}, or 2 anchors without"
    shape = given.pop(kind.shape, kind.shape_of_one_anchor if anchors == 1 else None)
    if (shape is None) == (anchors == 1):
        have = "without" if shape is None else "with"
        raise ValueError(f"{anchors} anchor{'s' * (anchors - 1)} {have} {kind.shape} for {family} is not valid; {both}")
    return {} if shape is None else {kind.shape: shape}


def _parameters(family: str, kind: type[ReleaseFamily], given: Parameters) -> Parameters:
    """Return all other parameters of the family with defaults. Raises ValueError for unknown or missing ones."""
    names = (*kind.required, *kind.optional())
    for name in given:
        if name not in names:
            valid = ", ".join((*names, *([kind.shape] if kind.shape else []))) or "none"
            raise ValueError(f"{name} is not a parameter of {family}; valid: {valid}")
    for name in kind.required:
        if name not in given:
            raise ValueError(f"{name} is missing for {family}; valid: {name}=...")
    return {**kind.optional(), **given}
