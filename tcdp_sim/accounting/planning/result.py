"""A plan: the noise of every release, the budget, and the proof or its absence."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from html import escape
from math import inf, isinf
from typing import Any

from tcdp_sim.accounting.ledger import Ledger
from tcdp_sim.accounting.planning.targets import Target
from tcdp_sim.accounting.releases.bounded_range import BoundedRange, PermuteAndFlip
from tcdp_sim.accounting.releases.release import Release
from tcdp_sim.core.numerics import Bounds
from tcdp_sim.core.rounded import from_above
from tcdp_sim.privacy import Guarantee

CERTIFIED = "certified"
_WORDS = {
    "budget": "Least budget",
    "ratio": "Largest ratio of error and bound",
    "error": "Weighted sum of errors",
    "variance": "Weighted sum of variances",
}
_GROWING = ("rho", "epsilon", "delta")  # a guarantee implies those with larger ones
_CLOSE, _WIDE = 1e-4, 0.05  # relative tolerances of epsilon
_MECHANISMS = {BoundedRange: "exponential mechanism", PermuteAndFlip: "permute and flip"}
HEAD = ("release", "error", "bound", "deviation", "noise", "times", "rho", "share")


@dataclass(frozen=True)
class PlannedRelease:
    """A release of a plan.

    - target: the target that it meets.
    - name: the name in tables.
    - release: the release, with its noise.
    - times: the number of releases: coordinates that a record changes, times counts of a search.
    - scale: the scale of the noise, in counts, or 1 / epsilon of a selection.
    - error: the error at this scale, in the units of the target.
    - deviation: the standard deviation of one noisy answer, in counts, None for a selection.
    - rho: the rho of zCDP that all copies spend, in nats, from above; inf if there is none.
    - share: the share of the total rho.

    >>> from tcdp_sim.accounting import CountTarget, plan_budget
    >>> (row,) = plan_budget([CountTarget(largest_error=10.0, k=10)]).rows
    >>> round(row.scale, 3), round(row.rho, 4), row.share
    (3.572, 0.0392, 1.0)
    """

    target: Target
    name: str
    release: Release
    times: int
    scale: float
    error: float
    deviation: float | None
    rho: float
    share: float


@dataclass(frozen=True, repr=False)
class BudgetPlan:
    """The noise for several errors, and the budget that it takes. It prints as a table.

    Attributes
    ----------
    rows : tuple of PlannedRelease
        The releases, in the order of the targets.
    budget : Guarantee
        The guarantee that all releases meet together: the given one, or the least one of its kind.
    objective : str
        "budget", "ratio", "error" or "variance": the quantity that was minimised.
    value : float
        Its value: the least rho or epsilon in nats, the largest ratio of error and bound, or the weighted sum.
    lower : float or None
        A lower bound on the value of every plan with these kinds of noise, None if none is known.
    certificate : str
        "certified" if the lower bound is proved, up to the rounding of floats, or "stationary, not certified" with the
        reason.
    delta : float
        The delta at which `epsilon` is computed.

    Examples
    --------
    >>> from tcdp_sim.accounting import CountTarget, plan_budget
    >>> errors = ((10.0, 10), (20.0, 1e3), (50.0, 1e6))
    >>> plan = plan_budget([CountTarget(largest_error=error, k=k) for error, k in errors])
    >>> round(plan.rho, 7), round(plan.epsilon.upper, 4), plan.certificate
    (0.0656227, 1.5851, 'certified')
    """

    rows: tuple[PlannedRelease, ...]
    budget: Guarantee
    objective: str
    value: float
    lower: float | None
    certificate: str
    delta: float

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of all releases."""
        return Ledger([(row.release, row.times) for row in self.rows])

    @cached_property
    def epsilon(self) -> Bounds:
        """A bracket of the least epsilon at `delta`, in nats, by exact accounting.

        The ends are within 1e-4, relative. For lists of bounded loss they are within 5%; `ledger` gives closer ones.
        """
        return self._short.epsilon(self.delta, _CLOSE if isinf(self._short.renyi(inf).lower) else _WIDE)

    @cached_property
    def attack(self) -> Bounds:
        """A bracket of the largest probability of a right guess whether a person is in the data, at prior 1/2."""
        return 0.5 + 0.5 * self._short.delta(0.0)

    @property
    def rho(self) -> float:
        """The total rho of zCDP in nats, from above; inf if there is none."""
        return sum(row.rho for row in self.rows)

    @property
    def gap(self) -> float | None:
        """The relative distance of the value and its lower bound, None if no bound is known."""
        return None if self.lower is None else self.value / self.lower - 1

    @cached_property
    def _short(self) -> Ledger:
        from tcdp_sim.accounting.joined import joined

        return Ledger(joined((row.release, row.times) for row in self.rows))

    def table(self) -> list[tuple[str, ...]]:
        """Return the cells of the table as text: errors, deviations and rho are rounded up.

        Returns
        -------
        list of tuple of str
            A row per release: name, error, bound, deviation, noise, times, rho and share.
        """
        return [
            (
                row.name,
                from_above(row.error),
                "-" if row.target.error is None else f"{row.target.error:g}",
                "-" if row.deviation is None else from_above(row.deviation),
                short_noise(row.release),
                f"{row.times:,}",
                from_above(row.rho),
                f"{row.share:.1%}",
            )
            for row in self.rows
        ]

    def summary(self) -> list[str]:
        """Return the lines below the table: the budget, the risk, and the quality of the plan.

        Returns
        -------
        list of str
            Sentences.
        """
        total = f"Together: {_from_above(self.budget)}. rho = {from_above(self.rho)}; "
        total += f"epsilon = {from_above(self.epsilon.upper)} at delta = {self.delta:g} by exact accounting."
        risk = "Attack risk: a guess whether a person is in the data is right in at most "
        risk += f"{from_above(100 * self.attack.upper)}% of all cases, and in 50% without the releases."
        quality = f"{_WORDS[self.objective]}: {from_above(self.value, 6)}, {self.certificate}"
        quality += f", at most {from_above(max(self.gap, 0.0), 2)} above the best." if self.gap is not None else "."
        return [total, risk, quality]

    def __repr__(self) -> str:
        cells = [HEAD, *self.table()]
        widths = [max(len(row[i]) for row in cells) for i in range(len(HEAD))]
        left = (0, 4)
        lines = [
            "  ".join(cell.ljust(w) if i in left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
            for row in cells
        ]
        return "\n".join([*lines, *self.summary()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.table())
        lines = "<br>".join(map(escape, self.summary()))
        return f"<table><tr>{head}</tr>{body}</table><p>{lines}</p>"


def _from_above(budget: Guarantee) -> Guarantee:
    """Return an implied guarantee whose rho, epsilon and delta have the six digits that are printed."""
    kind: Any = budget  # every guarantee is a dataclass
    given = {each.name: getattr(budget, each.name) for each in fields(kind) if each.name in _GROWING}
    implied: Guarantee = replace(kind, **{name: float(from_above(value, 6)) for name, value in given.items()})
    return implied


def short_noise(release: Release) -> str:
    """Return the noise of a release, or its mechanism, and its parameters with six digits."""
    noise = getattr(release, "noise", None)
    thing: Any = release if noise is None else noise
    values = {name: getattr(thing, name) for name in type(thing).__dataclass_fields__}
    shown = ", ".join(f"{name} {value:.6g}" for name, value in values.items() if not (name == "step" and value == 1))
    return f"{_MECHANISMS[type(thing)] if noise is None else noise.family.replace('_', ' ')} {shown}"
