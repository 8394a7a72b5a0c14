"""The command `tcdp-sim cheat-sheet`, which prints the consequences of every notion of privacy for given parameters."""

from collections.abc import Sequence
from typing import Any

from tcdp_sim.core.errors import UserError

DEFAULTS = {"rho": 0.1, "omega": 5.0, "delta": 1e-6, "epsilon": 1.0}
KEYS = (*DEFAULTS, "sensitivity", "k", "order", "slack", "sampling_fraction")
HELP = """\
The cheat sheet "Variants of Differential Privacy", for your parameters. The keys:

  rho=0.1 omega=5 (tCDP; rho also for zCDP)  epsilon=1 delta=1e-6 (nats; epsilon of DP and of RDP)  order=2 (of RDP)
  sensitivity=1 (L2)  k=1 (releases composed)  slack=DELTA (of advanced composition)  sampling_fraction=0.01 (adds
  the subsampling rows). Rows marked NO are printed on the sheet and are not proved here: they are no guarantees.
  The second line of a row's name is the guarantee that this row gives for the values shown."""
WIDE = 130  # characters per line of a terminal from which formulas get their own column


def main(console, words: Sequence[str]) -> None:
    """Print the sheet for words KEY=VALUE. Raises UserError for an unknown key or a value out of range."""
    given: dict[str, Any] = DEFAULTS | dict(map(_read, words))
    from tcdp_sim.privacy import TCDP, ZCDP, ApproxDP, cheat_sheet, to_approx_dp

    try:
        rows = cheat_sheet(TCDP(given["rho"], given["omega"]), **_arguments(given))
    except (ValueError, OverflowError) as mistake:
        message = str(mistake).replace("sampling_probability", "sampling_fraction")  # the user's word for it
        raise UserError(f"cheat-sheet: {message}") from None
    parameters = ", ".join(f"{key} = {value:g}" for key, value in given.items())
    title = f"Variants of differential privacy at {parameters}"
    console.print(_table(title, rows, console.width >= WIDE), soft_wrap=False)
    for guarantee in (ZCDP(given["rho"]), TCDP(given["rho"], given["omega"])):
        best: ApproxDP = to_approx_dp(guarantee, given["delta"], "tight")
        text = f"Best conversion of {guarantee}: {best} by {best.source}"
        console.print(text, markup=False, soft_wrap=True)


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `cheat_sheet` but the guarantee; the key `sampling_fraction` is named as the axis."""
    names = {"sampling_fraction": "sampling_probability"}
    return {names.get(key, key): value for key, value in given.items() if key not in ("rho", "omega")}


def _read(word: str):
    key, _, value = word.partition("=")
    if key not in KEYS:
        raise UserError(f"cheat-sheet: {word!r} is not KEY=VALUE with one of its keys; valid: {', '.join(KEYS)}")
    try:
        number = float(value)
    except ValueError:
        raise UserError(f"cheat-sheet: {key} = {value!r} is not a number") from None
    return key, int(number) if key == "k" and number.is_integer() else number


def _table(title, rows, wide):
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    headings = ("notion", "what", "formula") if wide else ("notion", "what and formula")
    for heading in (*headings, "value", "holds", "source, or why not"):
        number = heading in ("value", "holds")
        out.add_column(heading, justify="right" if heading == "value" else "left", no_wrap=number, overflow="fold")
    for row in rows:
        value = "\n".join(f"{x:.6g}" for x in row.value)
        verdict = "yes" if row.valid else "NO" if row.value else "n/a"
        words = (row.what, row.formula) if wide else (f"{row.what}\n{row.formula}",)
        cells = (_name(row), *words, value, verdict, row.why)
        out.add_row(*map(escape, cells), style={"yes": None, "NO": "red", "n/a": "dim"}[verdict])
    return out


def _name(row) -> str:
    """Return a row's notion and the guarantee of its values, which may be another one than the one asked about."""
    return row.notion if row.guarantee is None else f"{row.notion}\ngives {row.guarantee}"
