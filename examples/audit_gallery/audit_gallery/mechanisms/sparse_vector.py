"""The sparse vector technique, which tells the answers above a threshold, in versions of Lyu, Su, Li, VLDB 2017."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from audit_gallery import draws
from audit_gallery.laws import first_value, sparse_vector
from audit_gallery.mechanisms.base import Discrete, Known

UNANSWERED = -1


class _Answers(Discrete):
    """A search whose outputs are rows of d answers: 1 at or above the threshold, 0 below, -1 no longer answered."""

    most_positives: int | None = None  # the number after which it stops; None: it never stops

    def positives(self, d: int) -> int:
        return d if self.most_positives is None else min(self.most_positives, d)

    def numbers(self, outputs, d):
        """Return the place of every row among all possible rows, looked up by the row as a number in base 3."""
        base, places = 3 ** np.arange(d), _places(d, self.positives(d))
        number = np.empty(len(outputs), dtype=np.int32)
        for part in draws.blocks(len(outputs), d):
            number[part] = places[(outputs[part] + 1) @ base]
        return number


@cache
def _places(d: int, positives: int) -> np.ndarray:
    """Return the place in the table of every row of answers, by the row's number in base 3."""
    every = (sparse_vector.answers(d, positives) + 1) @ 3 ** np.arange(d)
    places = np.zeros(3**d, dtype=np.int32)
    places[every] = np.arange(len(every))
    return places


@dataclass(frozen=True)
class SparseVector(_Answers):
    """A search with Laplace noise, of scales > 0, on the threshold and on every query.

    - Version 1 is sound: most_positives = c, threshold scale 2 / epsilon, query scale 4c / epsilon.
    - Version 2 is sound: the threshold has scale 2c / epsilon, and is drawn anew after a positive.
    - Version 6 is broken: it never stops. Each positive costs privacy, but its query noise of scale 2 / epsilon does
      not grow with their number. So its epsilon grows with the number of queries.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    most_positives: int | None
    redraws: bool = False

    def __call__(self, data, rng, trials):
        outputs = np.empty((trials, len(data)), dtype=np.int8)
        for part in draws.blocks(trials, 2):
            rows = outputs[part]
            rows[:] = (self._everything if self.most_positives is None else self._stopping)(data, rng, len(rows)).T
        return outputs

    def _everything(self, data, rng, trials):
        threshold = self.threshold + draws.laplace(rng, trials, self.threshold_scale)
        return np.stack([query + draws.laplace(rng, trials, self.query_scale) >= threshold for query in data])

    def _stopping(self, data, rng, trials):
        """Return the answers of searches that stop, query by query on the trials that still run."""
        answers = np.full((len(data), trials), UNANSWERED, dtype=np.int8)
        threshold = self.threshold + draws.laplace(rng, trials, self.threshold_scale)
        running, found = np.arange(trials), np.zeros(trials, dtype=np.int64)
        for row, query in zip(answers, data):
            above = query + draws.laplace(rng, running.size, self.query_scale) >= threshold
            row[running] = above
            found += above
            goes_on = found < self.most_positives
            running, threshold, found, above = (each[goes_on] for each in (running, threshold, found, above))
            if self.redraws:
                threshold[above] = self.threshold + draws.laplace(rng, np.count_nonzero(above), self.threshold_scale)
        return answers

    def probabilities(self, data):
        scales = (self.threshold_scale, self.query_scale)
        return sparse_vector.probabilities(data, self.threshold, *scales, self.positives(len(data)), self.redraws)


@dataclass(frozen=True)
class NoiselessSearch(_Answers):
    """A search without noise on queries that never stops (version 5), which is broken.

    Only the threshold has noise, of a scale > 0. Two answers on two sides of one noisy threshold reveal their order for
    certain. There is no finite epsilon.
    """

    threshold: float
    threshold_scale: float

    def __call__(self, data, rng, trials):
        outputs = np.empty((trials, len(data)), dtype=np.int8)
        for part in draws.blocks(trials):
            rows = outputs[part]
            rows[:] = data >= (self.threshold + draws.laplace(rng, len(rows), self.threshold_scale))[:, None]
        return outputs

    def probabilities(self, data):
        return sparse_vector.noiseless_probabilities(data, self.threshold, self.threshold_scale)


@dataclass(frozen=True)
class FirstValueSearch(Known):
    """A search that stops at the first positive and releases its noisy VALUE (version 3), which is broken.

    An output is (number of answers below, value), or (d, 0) if all d answers lie below. The threshold is at most the
    value. So a small value shows that the threshold was small, and that all earlier answers were below it nevertheless.
    Each of them adds up to 1 / scale to the loss, and epsilon grows with the number of queries.
    """

    threshold: float
    scale: float

    def __call__(self, data, rng, trials):
        outputs = np.zeros((trials, 2))
        for part in draws.blocks(trials):
            rows = outputs[part]
            rows[:, 0] = len(data)
            threshold = self.threshold + draws.laplace(rng, len(rows), self.scale)
            running = np.arange(len(rows))
            for k, query in enumerate(data):
                value = query + draws.laplace(rng, running.size, self.scale)
                above = value >= threshold
                ended = running[above]
                rows[ended, 0], rows[ended, 1] = k, value[above]
                running, threshold = running[~above], threshold[~above]
        return outputs

    def log_likelihood_ratio(self, outputs, data, other):
        of = first_value.log_ratio(data, other, self.threshold, self.scale)
        ratio = np.full(len(outputs), of.none)
        for part in draws.blocks(len(outputs), 2):
            index, value = outputs[part].T.copy()
            found = ratio[part]
            for k in range(len(data)):
                where = np.flatnonzero(index == k)
                found[where] = of(k, value[where])
        return ratio

    def cells(self, data, other):
        return first_value.value_cells(data, other, self.threshold, self.scale)

    def epsilon(self, data, other):
        """Return the largest ratio over a grid of values.

        The ratio is constant below all kinks, smooth between them, and constant far above.
        """
        kinks = np.unique([*data, *other, self.threshold])
        v = np.concatenate(
            [np.linspace(kinks[0], kinks[-1], 4001), kinks, kinks[-1] + self.scale * np.geomspace(1e-4, 40, 4001)]
        )
        index = np.repeat(np.arange(len(data) + 1.0), len(v))
        outputs = np.column_stack([index, np.where(index == len(data), 0.0, np.tile(v, len(data) + 1))])
        return float(self.log_likelihood_ratio(outputs, data, other).max())
