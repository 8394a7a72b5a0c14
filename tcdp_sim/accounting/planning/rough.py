"""Estimates for planned releases, at next to no cost. They show where to search, and prove nothing."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tcdp_sim.accounting.composed_pairs import merged, worlds
from tcdp_sim.accounting.planning.targets import AdditiveTarget, Target
from tcdp_sim.accounting.releases.additive import Additive
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.exact.losses.lists import expected
from tcdp_sim.exact.losses.questions import delta_question
from tcdp_sim.noise import FAMILIES, Gaussian, Noise

_KINDS = 3  # of releases with one family of noise
_ON_LATTICES = ("discrete_", "rounded_")
_Single = tuple[Any, float]  # the noise at scale 1, or the class of a selection; sensitivity / scale, or epsilon


def rough_delta(targets: Sequence[Target], scales: Sequence[float], epsilon: float) -> float:
    """Return an estimate of delta. Similar releases count as equal, and noise on a lattice as continuous."""
    sizes: dict[Any, list[tuple[float, int]]] = defaultdict(list)
    for target, scale in zip(targets, scales):
        kind, size = _single(target, scale)
        sizes[kind].append((size, target.copies))
    entries = merged(
        (_release(kind, size), times)
        for kind, found in sizes.items()
        for size, times in (_joined(found) if isinstance(kind, Noise) and kind.isotropic else _alike(found))
    )
    question = delta_question(epsilon, lambda high: high)
    return max(
        expected(way, question) for case in worlds(entries, None, False) for way in (case.forward, case.backward)
    )


def without_lattice(target: Target) -> Target:
    """Return the same target with continuous noise."""
    if isinstance(target, AdditiveTarget) and not target.is_smooth:
        return replace(target, noise=_without_lattice(type(target.noise_at(target.sensitivity))).family)
    return target


def _single(target: Target, scale: float) -> _Single:
    noise = target.noise_at(scale)
    if noise is None:
        release, _ = target.release_at(scale)
        return type(release), float(getattr(release, "epsilon"))  # noqa: B009
    return _without_lattice(type(noise)), target.sensitivity / scale


def _without_lattice(noise_class: Any) -> Noise:
    """Return continuous noise of scale 1 that is like the noise of a class, Gaussian if none is known."""
    if not noise_class.is_discrete:
        return noise_class(1.0)  # type: ignore[no-any-return]
    name = noise_class.family
    for words in _ON_LATTICES:
        name = name.removeprefix(words)
    found: Any = FAMILIES.get(name)
    return Gaussian(1.0) if found is None or found.is_discrete else found(1.0)  # type: ignore[no-any-return]


def _release(kind: Any, size: float) -> Release:
    if isinstance(kind, Noise):
        return Additive(kind, size)
    return kind(size)  # type: ignore[no-any-return]


def _joined(sizes: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return the single size that stands for all of Gaussian noise."""
    size, times = np.array(sizes).T
    return [(float(np.sqrt((times * size**2).sum())), 1)]


def _alike(sizes: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return few sizes with the same sum of squares."""
    size, times = np.array(sizes).T
    edges = np.geomspace(size.min(), size.max() * (1 + 1e-9), _KINDS + 1)[1:-1]
    place = np.searchsorted(edges, size)
    found = [(size[place == i], times[place == i]) for i in range(_KINDS) if (place == i).any()]
    return [(float(np.sqrt((n * each**2).sum() / n.sum())), int(n.sum())) for each, n in found]
