"""The report of a campaign: the kills and damages, and their effects on the sweep."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Report:
    """The kills and damages of a campaign, and their effects on the sweep."""

    kills: Counter = field(default_factory=Counter)  # (cluster, target) -> number of kills
    phases: Counter = field(default_factory=Counter)  # phase of the driver -> number of kills in it
    lives: Counter = field(default_factory=Counter)  # exit code -> number of drivers
    damages: Counter = field(default_factory=Counter)
    destroyed: int = 0  # chunks whose records were damaged, and so computed again
    most_lost: int = 0  # tasks that were computed but not recorded when a driver was killed
    longest_orphan: float = 0.0  # seconds that a process outlived its driver
    seen: dict = field(default_factory=dict)  # what the reader has seen
    chunks: int = 0
    equal: bool = False
    seconds: float = 0.0

    @property
    def total(self) -> int:
        return sum(self.kills.values())

    def by_target(self) -> Counter:
        found: Counter = Counter()
        for (_, target), count in self.kills.items():
            found[target] += count
        return found


def said(report: Report) -> str:
    """Return the result in a few lines."""
    targets = ", ".join(f"{count} {name}" for name, count in report.by_target().most_common())
    phases = ", ".join(f"{count} {name}" for name, count in report.phases.most_common())
    damages = ", ".join(f"{count} {name}" for name, count in report.damages.most_common())
    return "\n".join(
        [
            f"{report.total} kills in {report.seconds:.0f} s: {targets}",
            f"drivers were: {phases}; exit codes of drivers: {dict(report.lives)}",
            f"damages: {damages}; chunks computed again for them: {report.destroyed}",
            f"most tasks lost by a kill: {report.most_lost}; longest orphan: {report.longest_orphan:.1f} s",
            f"reader: {report.seen}",
            f"{report.chunks} chunks; bytes equal to an undisturbed run: {'yes' if report.equal else 'NO'}",
        ]
    )
