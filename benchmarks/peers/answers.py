"""The kinds of answers that there are, as plain data; contestants in foreign environments import this alone."""


def bracket(low, high, note=""):
    """Two ends with the truth between them, by the contestant's own claim."""
    return {"kind": "bracket", "low": _plain(low), "high": _plain(high), "note": note}


def upper(value, note=""):
    """An upper bound, by the contestant's own claim."""
    return {"kind": "upper bound", "value": _plain(value), "note": note}


def estimate(value, note=""):
    """A number without a bound on its error."""
    return {"kind": "estimate", "value": _plain(value), "note": note}


def draws(sample, note=""):
    """Random numbers: what is kept of them is how many there are and the mean of their squares."""
    squares = [float(x) ** 2 for x in sample]
    return {"kind": "draws", "count": len(squares), "mean_square": sum(squares) / len(squares), "note": note}


def done(count, note=""):
    """So many cells computed and returned."""
    return {"kind": "cells", "count": int(count), "note": note}


def _plain(value):
    return [float(x) for x in value] if hasattr(value, "__len__") else float(value)
