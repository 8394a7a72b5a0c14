"""The values of a command's own words, such as noise=[gaussian,laplace], read as YAML."""

from typing import Any

import yaml

from tcdp_sim.core.errors import UserError


def value_of(key: str, text: str, mapping: bool = False) -> Any:
    """Return the value of a word: a number, a text or a list, or a mapping. Raises UserError for another one."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if value is None or isinstance(value, dict) != mapping:
        form = f"'{key}={{noise: gaussian}}'" if mapping else f"a value or a list, such as {key}=[1,2]"
        raise UserError(f"{key} = {text!r} is not valid; valid: {form}")
    if mapping:
        return {str(name): _numbers(each) for name, each in value.items()}
    return _numbers(value)


def _numbers(value: Any) -> Any:
    """Return numbers that YAML takes for texts, such as 1e-6, as numbers."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
