"""Tables 1 to 3: the printed numbers beside the true ones."""

from collections.abc import Iterable

import pandas as pd

from tcdp_sim.experiments.papers import library
from tcdp_sim.experiments.papers.judge.evidence import Evidence, Kind, Point
from tcdp_sim.experiments.papers.judge.verdict import judge
from tcdp_sim.experiments.papers.per_record.estimators import ROWS, moments_of_row
from tcdp_sim.experiments.papers.per_record.exponential_polylogarithmic import (
    entries_of_power_1,
    table_repaired,
    variance_as_it_reads,
)
from tcdp_sim.experiments.papers.per_record.transformation import (
    BY_THE_LOG,
    BY_THE_ROOT,
    LOG_OF_EXAMPLE,
    ROOT_OF_EXAMPLE,
    SCALE,
    TOTAL,
    policy_formula,
)
from tcdp_sim.experiments.papers.per_record.unit_splitting import EMPLOYEES, PRINTED, SPLIT
from tcdp_sim.experiments.papers.registry import Budget, Exhibit, exhibit
from tcdp_sim.per_record import TransformedRelease

INDUSTRIES = ("Retail", "Retail", "Retail", "Services", "Hospitality", "Technology")
FORMULAS = {  # name: f(x), g(x), variance, as Table 2 prints them; y = q + a
    "identity": ("x", "x - a", "σ²"),
    "square root": ("x^(1/2)", "x² - σ² - a", "2σ⁴ + 4σ²y"),
    "fourth root": ("x^(1/4)", "x⁴ - 6x²σ² + 3σ⁴ - a", "24σ⁸ + 96σ⁶y^(1/2) + 72σ⁴y + 16σ²y^(3/2)"),
    "k-th root, k = 3": ("x^(1/3)", "(-σ)³ He₃(-x/σ) - a", "6σ⁶ + 18σ⁴y^(2/3) + 9σ²y^(4/3)"),
    "logarithm": ("log x", "e^(x - σ²/2) - a", "(e^(σ²) - 1) y²"),
}
ANSWER = {"q": 100.0, "a": 2.0, "σ": 1.5}
SHOWN = ("d = 5, a = 2, σ = 3", "d = 1.5, a = 2.718, σ = 3")  # points of Table 3
LEFT_OUT = ("z = 0 σ", "z = -3 σ", "z = 40 σ", "level 0.6", "level 0.999")


def table_1(budget: Budget) -> pd.DataFrame:
    """Return a row an establishment: losses in nats by unit splitting, the fourth root and the logarithm."""
    rows = []
    for i, size in enumerate(EMPLOYEES):
        row = {"establishment": str(i + 1), "industry": INDUSTRIES[i], "employees": size}
        row |= {"split, printed": PRINTED[i], "split, exact": float(SPLIT.exact_policy(size))}
        both = (("root", ROOT_OF_EXAMPLE, BY_THE_ROOT[i]), ("log", LOG_OF_EXAMPLE, BY_THE_LOG[i]))
        for name, transform, printed in both:
            mse = float(TransformedRelease(transform, SCALE).mse(TOTAL))
            row |= {f"{name}, printed": printed, f"{name}, exact": policy_formula(transform, size, SCALE)}
            row |= {f"Gaussian, error of {name}": size**2 / (2 * mse)}
        rows.append(row)
    return pd.DataFrame(rows)


def table_2(budget: Budget) -> pd.DataFrame:
    """Return a row an estimator: its formulas, and its mean and variance at one answer by quadrature."""
    rows = []
    for name in ROWS:
        mean, variance = moments_of_row(name, *ANSWER.values())
        row = {"name": name} | dict(zip(("f(x)", "g(x)", "variance"), FORMULAS[name])) | ANSWER
        row |= {"mean": mean.left.estimate, "variance, printed": variance.right.estimate}
        rows.append(row | {"variance, exact": variance.left.estimate, "verdict": _verdict([mean, variance])})
    return pd.DataFrame(rows)


def table_3(budget: Budget) -> pd.DataFrame:
    """Return a row an entry: the printed number, the noise's own, the class of its claim and the verdict there."""
    rows = []
    parts = {"P.T3 entries": entries_of_power_1, "P.T3": variance_as_it_reads, "P.T3 repaired": table_repaired}
    for name, points in parts.items():
        for point in points(budget):
            entry, power, *at = point.where.split(", ")
            if ", ".join(at[:3]) in SHOWN and not any(place in at for place in LEFT_OUT):
                exact, printed = (point.left, point.right) if entry == "variance" else (point.right, point.left)
                row = {"entry": entry, "power": power, "at": ", ".join(at), "printed": printed.estimate}
                row |= {"exact": exact.estimate, "class": library.claims()[name].claim_class.value}
                rows.append(row | {"verdict": _verdict([point])})
    return pd.DataFrame(rows).sort_values("power", kind="stable", ignore_index=True)


def _verdict(points: Iterable[Point]) -> str:
    return judge(Kind.IDENTITY, Evidence(tuple(points), tolerance=1e-8)).verdict.value


exhibit(
    Exhibit(
        "per_record_table_1",
        "P",
        "Table 1, with what six establishments lose",
        "Losses (nats) by unit splitting, the fourth root and the logarithm, as printed and exactly; beside "
        "them what Gaussian noise would cost that has the same mean squared error on the total as the root, and as the "
        "logarithm.",
        table_1,
    )
)
exhibit(
    Exhibit(
        "per_record_table_2",
        "P",
        "Table 2: unbiased estimators",
        "g is released of f(q + a) plus Gaussian noise of scale σ. Its variance as printed, with y = q + a, and both "
        "moments by quadrature at the answer of each row.",
        table_2,
    )
)
exhibit(
    Exhibit(
        "per_record_table_3",
        "P",
        "Table 3: exponential polylogarithmic noise",
        "Entries of the table in numbers, as printed and by the law of the noise. The text at hand breaks off at the "
        "variances. Rows of class ours are restored: the variance of p = 1 has its term in d - 2 doubled, that of "
        "p = 2 has + a² at its end, and κ is the distribution function that makes the entries of p = 2 agree.",
        table_3,
    )
)
