"""Several studies of one call: what each of them leaves out, and the message about those that failed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tcdp_sim.core.errors import Failure, UserError
from tcdp_sim.study import groups
from tcdp_sim.study.points import LOG10
from tcdp_sim.study.settings import axis_keys

Config = Mapping[str, Any]
SHOWN = 3  # failures that a message explains; further ones are named


def with_own_axes(configs: Sequence[Config]) -> list[tuple[dict[str, Any], list[str]]]:
    """Return each config with the axes of its own mechanism, and a line about those that it leaves out.

    An axis is left out of a study if another one of the studies has it: all of them get the same words.
    """
    axes = [{key.partition(".")[2] for key in axis_keys(config)} for config in configs]
    return [_own(config, own, set.union(*axes) - own) for config, own in zip(configs, axes)]


def _own(config: Config, own: Collection[str], others: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    sweep = config.get("sweep")
    if not (own and isinstance(sweep, Mapping)):  # the settings report it
        return dict(config), []
    left = [key for key in sweep if str(key).removeprefix(LOG10) in others]
    given = ", ".join(f"sweep.{key}" for key in left if sweep[key] is not None)
    lines = [f"{config['name']}: left out, because they are no axes of its mechanism: {given}"] if given else []
    return {**config, "sweep": {key: value for key, value in sweep.items() if key not in left}}, lines


def failure(failed: Mapping[str, UserError | Failure], configs: Sequence[Config]) -> UserError | Failure:
    """Return the error of a call some of whose studies failed, by name: a mistake if all failures are mistakes."""
    told = "; ".join(f"{name} ({mistake})" for name, mistake in [*failed.items()][:SHOWN])
    told += f"; {', '.join([*failed][SHOWN:])}" if len(failed) > SHOWN else ""
    others = ", and the others are done" if len(failed) < len(configs) else ""
    kind = UserError if all(isinstance(mistake, UserError) for mistake in failed.values()) else Failure
    return kind(f"{len(failed)} of {len(configs)} runs failed{others}: {told}{_group(configs)}")


def _group(configs: Sequence[Config]) -> str:
    """Return the group to sweep instead, if mechanisms were swept within one experiment."""
    mechanisms = {config["mechanism"]["name"]: None for config in configs}
    if len(mechanisms) == 1 or len({config["experiment"]["name"] for config in configs}) > 1:
        return ""
    names = [name for name in mechanisms if name in groups.options("experiment")]
    return (
        f"; sweep the group experiment instead of mechanism, since an experiment brings the axes of its mechanism: "
        f"--multirun experiment={','.join(names)}"
    )
