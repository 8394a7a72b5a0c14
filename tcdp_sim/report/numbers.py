"""Numbers with their standard errors in parentheses, in units of the last digits."""

from math import floor, isfinite, isnan, log10

PLAIN = (1e-3, 1e5)  # numbers in this range are written without a power of ten


def with_error(value: float, error: float, digits: int = 2) -> str:
    """Return a number with its standard error, such as 0.5082(50) for 0.5082 +- 0.0050, "" for NaN.

    `digits` is the number of digits of the error. A number without a positive error has four significant digits.
    """
    if isnan(value):
        return ""
    if not (isfinite(value) and isfinite(error) and error > 0):
        return f"{value:.4g}"
    text, exponent = parts(value, error, digits)
    return f"{text}e{exponent}" if exponent else text


def parts(value: float, error: float, digits: int | None = None) -> tuple[str, int]:
    """Return a finite number with a positive standard error as text, and the power of ten that multiplies both.

    Without `digits` the error has one digit, or two if the first one is 1.
    """
    size = max(abs(value), error)
    exponent = 0 if PLAIN[0] <= size < PLAIN[1] else floor(log10(size))
    value, error = value / 10.0**exponent, error / 10.0**exponent
    two = digits == 2 or (digits is None and f"{error:.1e}".startswith("1"))
    mantissa, power = (f"{error:.1e}" if two else f"{error:.0e}").split("e")
    decimals = len(mantissa.replace(".", "")) - 1 - int(power)
    last = int(mantissa.replace(".", "")) * 10 ** max(-decimals, 0)
    return f"{round(value, decimals):.{max(decimals, 0)}f}({last})", exponent
