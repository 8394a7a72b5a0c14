"""The cells of a sweep that every tool computes."""


def cell(k):
    """Return a value at next to no cost."""
    return 0.5 * k


def trial(rng, k):
    """Return a random value at next to no cost."""
    return 0.5 * k + rng.random()


def seeded(k):
    """Return the mean of four trials and its standard error, as one writes it by hand."""
    from statistics import mean, stdev

    from numpy.random import default_rng

    rng = default_rng([1, int(k)])
    values = [trial(rng, k) for _ in range(4)]
    return mean(values), stdev(values) / 2


def axes(cells):
    """Return the axes of `coverage` with this many cells, a multiple of 10."""
    return {"n": list(range(10, 10 + cells // 10)), "p": [0.05 + 0.1 * i for i in range(10)]}


def coverage(rng, trials, n, p):
    """Return whether Wald's interval for a proportion covers it, and its width, in each of some trials."""
    from numpy import sqrt

    share = rng.binomial(n, p, trials) / n
    half = 1.96 * sqrt(share * (1 - share) / n)
    return {"covered": abs(share - p) <= half, "width": 2 * half}


def covered(n, p):
    """Return the means of 100 trials of `coverage` and their standard errors, as one writes it by hand."""
    from numpy.random import default_rng

    found = coverage(default_rng([1, n, round(1e6 * p)]), 100, n, p)
    return tuple(part for x in found.values() for part in (float(x.mean()), float(x.std(ddof=1) / 10)))
