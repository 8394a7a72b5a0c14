"""Functions that turn the words of a study into resolved configs with Hydra, and Hydra's errors into one plain line."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, cast

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.core.user_files import follows_sweep
from tcdp_sim.study import groups
from tcdp_sim.study.compose import CONFIG, NO_KEYS, our_configs, split

LONGEST_NAME = 200  # bytes; file systems allow 255
ADDED = re.compile(r"trials=(\+\d[\d_.e+]*)")  # Hydra would read +50000 as 50000
HYDRAS_OWN = re.compile(r"(?!-)(?=.*[=~])[^=]*\bhydra\b", re.DOTALL)  # also hydra/launcher=x, ~hydra, +data@hydra.x=y
OPTION = re.compile(r"[^/\\.:$\[\]{}]*")  # no path, interpolation or list: one name, several with --multirun


def configs(words: Sequence[str], several: bool = False, file: Mapping[str, Any] = NO_KEYS) -> list[dict[str, Any]]:
    """Return the resolved configs of the words of a study: one, or with `several` one for each combination of values.

    The words override the keys of a study in a file. Runs that would share a folder get names that tell them apart.
    Raises UserError.
    """
    for word in words:
        _refuse_code(word)
    chosen, keys = split(file)
    given = [f"trials='{added[1]}'" if (added := ADDED.fullmatch(word)) else word for word in words]
    given = [f"{group}={option}" for group, option in chosen.items()] + given
    try:
        with our_configs(keys):
            jobs = _combinations(given) if several else [given]
            raws = [_resolved(job) for job in jobs]
    except Exception as mistake:  # only Hydra has run, so any error (also TypeError) is due to the words
        raise UserError(_one_line(mistake, given)) from None
    folders = {(str(raw.get("results_dir")), str(raw.get("name"))) for raw in raws}
    return raws if len(folders) == len(raws) else with_distinct_names(raws, jobs)


def places(words: Sequence[str]) -> set[str]:
    """Return the keys that words give, such as data, data.n and sweep.k."""
    return {word.strip(" +~").partition("=")[0].partition("@")[0].strip() for word in words}


def plain(words: Sequence[str]) -> dict[str, Any]:
    """Return the values of KEY=VALUE words, nested as in a yaml file, without any default. Raises UserError.

    A key that is given with a value and with keys below, as in cluster=slurm cluster.workers=4, becomes a mapping with
    the value as `name`.
    """
    found: dict[str, Any] = {}
    for word in words:
        _refuse_code(word)
        try:
            (override,) = OverridesParser.create().parse_overrides([word])
            if override.is_sweep_override() or override.is_delete():
                raise UserError(f"{word} is not valid here; write {word.replace('=', '=[', 1)}] for a list")
            text = word.partition("=")[2]
            value = text if text.startswith("+") else override.value()  # trials=+500 adds, and 500 does not
            _put(found, override.get_key_element().lstrip("+").split("."), value)
        except HydraException as mistake:
            raise UserError(_one_line(mistake, words)) from None
    return found


def _put(found: dict[str, Any], parts: list[str], value: Any) -> None:
    """Put a value under a dotted key."""
    for part in parts[:-1]:
        before = found.get(part)
        found[part] = before if isinstance(before, dict) else {} if before is None else {"name": before}
        found = found[part]
    last = found.get(parts[-1])
    if isinstance(last, dict) and not isinstance(value, dict):
        last["name"] = value
    else:
        found[parts[-1]] = last | value if isinstance(last, dict) else value


def _combinations(words: Sequence[str]) -> list[list[str]]:
    """Return every combination of the values in the words, each as the words of one study."""
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    choices = {word.get_key_element(): _choices(word) for word in parser.parse_overrides(list(words))}
    return [list(chosen) for chosen in product(*choices.values())]


def _choices(word: Override) -> list[str]:
    if not word.is_sweep_override():
        return [str(word.input_line)]
    if not word.is_discrete_sweep():
        raise HydraException(f"{word.input_line} has no end of values; valid with --multirun: a list such as seed=1,2")
    return [f"{word.get_key_element()}={value}" for value in word.sweep_string_iterator()]


def _resolved(words: list[str]) -> dict[str, Any]:
    return cast(dict[str, Any], OmegaConf.to_container(compose(CONFIG, words), resolve=True, throw_on_missing=True))


def with_distinct_names(raws: Sequence[dict[str, Any]], words: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Return the configs, with the words that differ between them added to their names.

    The words of each config are its overrides. Characters that a shell treats specially are left out. Raises UserError
    if the names are too long or not distinct.
    """
    if not all(isinstance(raw.get("name"), str | int) for raw in raws):
        return list(raws)  # `settings` reports the wrong name
    everywhere = set.intersection(*map(set, words))
    names = []
    for raw, own in zip(raws, words):
        added = ",".join(word for word in own if word not in everywhere)
        added = re.sub(r"[^\w.,=+-]", "", added.replace("/", "_").replace(": ", "="))
        names.append(f"{raw.get('name')}-{added}" if added else raw.get("name"))
    repeated = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if repeated or max(len(os.fsencode(str(name))) for name in names) > LONGEST_NAME:
        raise UserError("these runs would share a folder; give a name that tells them apart, such as 'name=s${seed}'")
    return [{**raw, "name": name} for raw, name in zip(raws, names)]


def _refuse_code(word: str) -> None:
    """Raise UserError for a word that could make Hydra run code or read a file from elsewhere.

    Hydra's own section names functions that Hydra calls. An option of a group may be a path: data=../mine would read
    mine.yaml from outside the package.
    """
    if HYDRAS_OWN.match(word):
        raise UserError(f"{word} is not available: what is under hydra could run code; valid: the keys of --help")
    key, _, value = word.partition("=")
    group = key.strip(" +~").partition("@")[0].partition("/")[0]
    if group in {entry.name for entry in groups.GROUPS.iterdir() if entry.is_dir()} and not OPTION.fullmatch(value):
        valid = ", ".join(groups.options(group)) or "none"
        raise UserError(f"{word} is not valid: an option is a name, and no file from elsewhere; valid: {group}={valid}")


def _one_line(mistake: Exception, words: Sequence[str]) -> str:
    if isinstance(mistake, MissingMandatoryValue):
        return f"{mistake.full_key} is not given; give {mistake.full_key}=VALUE"
    if isinstance(mistake, OverrideParseException):
        return _unreadable(mistake.override)
    text = str(mistake).split("Config search path:")[0].split("To append to your config")[0]
    if "Config group override must be" in text:
        return _not_an_option(words)
    if "Ambiguous value for argument" in text:
        word = text.split("'")[1]
        return f"{word} has several values; write {word.replace('=', '=[', 1)}] for a list, or add --multirun"
    if "Could not override" in text and (line := _no_such_key(mistake.__cause__)):
        return line
    if "Could not find '" in text and (line := _no_such_option(text)):
        return line
    if text.startswith("Error merging override"):
        text += ": a value, a list and keys with values cannot replace each other here"
    if not isinstance(mistake, HydraException | OmegaConfBaseException) or "Recursive interpolation" in text:
        text += f" (in: {' '.join(words)})"
    return " ".join(line.strip() for line in text.splitlines() if "object_type=" not in line)


def _no_such_key(cause: BaseException | None) -> str:
    """Return the message for a key that its section of the config lacks; "" if the cause is another one."""
    section: Any = getattr(cause, "parent_node", None)
    key = str(getattr(cause, "full_key", ""))
    if not (key and hasattr(section, "keys")):
        return ""
    where, _, name = key.rpartition(".")
    own = [str(valid) for valid in section if valid != "hydra"]
    candidates = [f"{where}.{valid}" if where else valid for valid in own]
    if not where:  # the user may have meant a key of a section
        from tcdp_sim.study.settings import axis_keys  # slow to import

        sections = [one for one in groups.CHOSEN if hasattr(section.get(one), "keys")]
        candidates += [*axis_keys(section), *(f"{one}.{valid}" for one in sections for valid in section[one])]
    new = "; or a new one, with + in front: '+also.x={k: 20}'" if key.startswith("also.") else ""
    return f"{key} is not a key; valid: {', '.join(own)}{suggestion(name, candidates)}{new}"


def _no_such_option(text: str) -> str:
    """Return the message for an option that its group lacks; "" if the cause is another one."""
    group, _, option = text.split("Could not find '")[1].partition("'")[0].partition("/")
    if group not in groups.CHOSEN:
        return ""
    valid = groups.options(group)
    return f"{group} = {option!r} is not known; valid: {', '.join(valid)}{suggestion(option, valid)}"


def _unreadable(word: str) -> str:
    key, equals, value = word.partition("=")
    if not (key and equals):
        return follows_sweep(word) or f"{word!r} cannot be read; valid: KEY=VALUE, see --help"
    if value[:1] in ("[", "{"):
        return f"{word} cannot be read; close every bracket and quote what is text: \"sweep.where=['k > 1', 'k < 9']\""
    quoted = value.strip("'\"").replace("\\", "\\\\").replace("'", "\\'")
    return f"{word} cannot be read; quote the text, and the word for the shell: \"{key}='{quoted}'\""


def _not_an_option(words: Sequence[str]) -> str:
    """Return the message for a word such as `data=null`. Hydra's message does not say which word it means."""
    for word in words:
        key, _, value = word.partition("=")
        group = key.lstrip("+")
        if not group:
            return _unreadable(word)
        if group in groups.CHOSEN and value not in groups.options(group):
            return f"{word} is not valid; valid: {group}={', '.join(groups.options(group))}"
    return f"a group's option is a name (in: {' '.join(words)}); see --help"
