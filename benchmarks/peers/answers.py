"""The kinds of answers, as plain data. Contestants in foreign environments import this module alone."""


def bracket(low, high, note=""):
    """Return two ends with the truth between them, by the contestant's own claim."""
    return {"kind": "bracket", "low": _plain(low), "high": _plain(high), "note": note}


def upper(value, note=""):
    """Return an upper bound, by the contestant's own claim."""
    return {"kind": "upper bound", "value": _plain(value), "note": note}


def estimate(value, note=""):
    """Return a number without a bound on its error."""
    return {"kind": "estimate", "value": _plain(value), "note": note}


def draws(sample, note=""):
    """Return random numbers in short: their number and the mean of their squares."""
    squares = [float(x) ** 2 for x in sample]
    return {"kind": "draws", "count": len(squares), "mean_square": sum(squares) / len(squares), "note": note}


def done(count, note=""):
    """Return the number of cells that were computed."""
    return {"kind": "cells", "count": int(count), "note": note}


def _plain(value):
    return [float(x) for x in value] if hasattr(value, "__len__") else float(value)
