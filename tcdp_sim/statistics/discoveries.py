"""Which of many comparisons chance does not explain, with a promise about how many of those named are false alarms."""

import numpy as np
import pandas as pd

FALSE_DISCOVERIES = 0.01  # at most this share of the alarms is expected to be false


def beyond_chance(compared: pd.DataFrame, made: int | None = None) -> pd.DataFrame:
    """The rows that chance does not explain (Benjamini and Hochberg, JRSS B 57, 1995), worst first.

    compared: one comparison a row, with its `p_value` and `distance`, by which equal p-values are ordered. made: how
    many comparisons there were; those with a p-value above FALSE_DISCOVERIES are never alarms and may be left out.
    `attrs["comparisons"]` of the answer repeats it.
    """
    made = len(compared) if made is None else made
    worst = compared.sort_values(["p_value", "distance"], ascending=[True, False], kind="stable", ignore_index=True)
    allowed = FALSE_DISCOVERIES * (np.arange(len(worst)) + 1) / max(made, 1)
    passed = np.flatnonzero(worst["p_value"].to_numpy(dtype=float) <= allowed)
    alarms = worst.iloc[: passed[-1] + 1 if len(passed) else 0].copy()
    alarms.attrs["comparisons"] = made
    return alarms
