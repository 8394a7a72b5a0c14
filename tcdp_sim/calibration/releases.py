"""The noise of several releases that meet a guarantee together."""

from collections.abc import Sequence
from typing import Any

from tcdp_sim.calibration.calibrated_releases import CalibratedReleases
from tcdp_sim.calibration.tradeoff_point import TradeoffPoint
from tcdp_sim.privacy.definitions import Guarantee, known
from tcdp_sim.privacy.magnitudes import need_moderate


def calibrate_releases(
    releases: Sequence[Any],
    guarantee: Guarantee | TradeoffPoint,
    *,
    family: str | None = None,
    sensitivity: float = 1.0,
    coordinates: int = 1,
    step: float = 1.0,
    free: int | Sequence[int] | None = None,
    relation: str | None = None,
) -> CalibratedReleases:
    """Return the releases of a list with noise at which all of them together meet a guarantee.

    Without a family, the noise of the free releases is multiplied by the least common factor. With a family, the list
    is fixed, and the noise of one more release is found.

    The ledger (`accounting.Ledger`) gives the value spent. The search is derived in `tcdp_sim.accounting.least_factor`.

    Parameters
    ----------
    releases : list
        Releases of `tcdp_sim.accounting`, or pairs (release, times), that share the guarantee.
    guarantee : Guarantee or TradeoffPoint
        The guarantee of the whole list: ApproxDP, PureDP, ZCDP with xi = 0, or TCDP; or a `TradeoffPoint`, the errors
        that tests for a record must have.
    family : str, optional
        The name of a noise with one scale, such as "gaussian", for one more release.
    sensitivity : float
        The largest change of one coordinate of the additional release between neighbours, in counts, > 0.
    coordinates : int
        The number of coordinates of the additional release that change at once, from 1 to MOST_COORDINATES.
    step : float
        The distance of neighbouring points of a discrete noise of `family`, in counts, above 0.
    free : int or list of int, optional
        The positions, from 0, in `releases` of those whose noise is multiplied. The default is every release with
        additive noise that has a scale. It is not valid with a family.
    relation : {"add_remove", "substitute", None}
        The neighbouring relation of `releases`.

    Returns
    -------
    CalibratedReleases
        The ledger, the factor, the value spent and whether it is proved that no smaller factor meets the guarantee.
        Results of a search are cached.

    Raises
    ------
    ValueError
        If an argument is out of range, the fixed releases alone exceed the guarantee, or no factor meets it.

    Examples
    --------
    >>> from tcdp_sim.accounting import Additive, RandomisedResponse
    >>> from tcdp_sim.noise import Gaussian
    >>> from tcdp_sim.privacy import ApproxDP
    >>> releases = [(Additive(Gaussian(1.0)), 20), RandomisedResponse(0.1)]
    >>> found = calibrate_releases(releases, ApproxDP(1.0, 1e-6))
    >>> round(found.factor, 2), found.least
    (20.18, True)
    """
    from tcdp_sim.calibration.releases_search import free_entries, least_noise, one_more, read_entries

    if not isinstance(guarantee, TradeoffPoint):
        need_moderate(known(guarantee))
    entries = read_entries(releases)
    if family is None:
        _need_defaults(sensitivity=(sensitivity, 1.0), coordinates=(coordinates, 1), step=(step, 1.0))
        return least_noise(entries, free_entries(entries, free), guarantee, relation)
    if free is not None:
        raise ValueError("free is not valid with a family, whose noise is then the only free one")
    entries = (*entries, one_more(family, sensitivity, coordinates, step))
    return least_noise(entries, (len(entries) - 1,), guarantee, relation)


def _need_defaults(**arguments: tuple[float, float]) -> None:
    """Raise ValueError for an argument of the additional release, of which there is none without a family."""
    for name, (given, default) in arguments.items():
        if given != default:
            raise ValueError(f"{name} = {given!r} is not valid without a family: it describes the additional release")
