"""The command `tcdp-sim completion`, which completes commands, keys and names of groups in a shell."""

import os
from collections.abc import Iterable, Iterator

INSTALL = """\
# bash: add this line to ~/.bashrc; zsh: add it to ~/.zshrc, after `autoload -U bashcompinit && bashcompinit`
complete -o nospace -o default -C "tcdp-sim completion" tcdp-sim"""


def main(commands: Iterable[str]) -> None:
    """Print the completions of the word before the cursor. Outside a completing shell, print how to install them."""
    line = os.environ.get("COMP_LINE")
    if line is None:
        print(INSTALL)
        return
    before, _, word = line[: int(os.environ.get("COMP_POINT", len(line)))].rpartition(" ")
    first = len(before.split()) == 1
    for candidate in sorted(_candidates(word, commands if first else ())):
        print(candidate)


def _candidates(word: str, commands: Iterable[str]) -> Iterator[str]:
    """Yield the commands and keys that begin with the word. After `=`, yield the options that begin with the value."""
    from tcdp_sim.study import groups

    key, equals, value = word.partition("=")
    if equals:
        group = key.removeprefix("sweep.")
        if group in {*groups.CHOSEN, *groups.PLUGGED}:
            yield from (option for option in groups.options(group) if option.startswith(value))
        return
    axes = _axes() if word.startswith("sweep.") else ["sweep."]
    names = [*(f"{command} " for command in commands), *(f"{key}=" for key in groups.study_keys()), *axes]
    yield from (name for name in names if name.startswith(word))


def _axes() -> list[str]:
    """Return the keys of all axes that some mechanism declares, such as sweep.k= and sweep.log10_k=."""
    from tcdp_sim.mechanisms import MECHANISMS

    axes = {axis.name: axis for mechanism in MECHANISMS.values() for axis in mechanism.axes.values()}
    exponents = [f"log10_{axis.name}" for axis in axes.values() if axis.has_exponent]
    return [f"sweep.{name}=" for name in [*axes, *exponents, "zip", "where", "cells"]]
