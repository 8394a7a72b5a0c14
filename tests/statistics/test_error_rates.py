"""The alarm's error rates for twelve laws are those that the page states."""

import re
from pathlib import Path

import numpy as np
import pytest
from alarm_rates import LAWS, TABLES, rates
from scipy import stats

PAGE = Path(__file__).parents[2] / "docs" / "explained" / "alarm.md"
FEW = 40  # tables of a test


def stated():
    """The rates of the page: (law, trials) -> (false alarms, misses above, misses below)."""
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {(law, int(trials.replace(",", ""))): tuple(map(rate, cells)) for law, trials, *cells in rows}


def rate(cell):
    return np.nan if cell == "-" else float(cell.removesuffix("%")) / 100


def test_the_page_has_every_law_and_no_false_alarms_beyond_their_level():
    """At 1% a rate of 5 or more in 200 tables has probability 0.05, of 7 or more 0.004."""
    found = stated()
    assert found.keys() == {(law, trials) for law in LAWS for trials in (1000, 10_000)}
    assert len({law.partition(",")[0] if law.startswith("event") else law for law in LAWS}) == 12
    assert max(false for false, *_ in found.values()) <= 6 / TABLES


def agrees(share, other):
    """Whether two shares, of FEW and of TABLES tables, can be of one probability. The error is 1e-4."""
    hits, others = round(share * FEW), round(other * TABLES)
    return stats.fisher_exact([[hits, FEW - hits], [others, TABLES - others]]).pvalue > 1e-4


@pytest.mark.parametrize("law", LAWS)
def test_the_rates_of_a_thousand_trials(law):
    """With other tables; a rate that is denied wrongly has probability 1e-4."""
    found = rates(law, 1000, FEW, seed=6)
    for share, other in zip(found, stated()[law, 1000]):
        assert np.isnan(share) == np.isnan(other)
        assert np.isnan(share) or agrees(share, other)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_rates_of_ten_thousand_trials(law):
    found = rates(law, 10_000, FEW, seed=6)
    for share, other in zip(found, stated()[law, 10_000]):
        assert np.isnan(share) == np.isnan(other)
        assert np.isnan(share) or agrees(share, other)
