"""Aggregates of PipelineDP, on its local backend."""

from collections.abc import Sequence
from typing import Any

from tcdp_sim.audits.adapters.adapted import Adapted, approximate, library


def from_pipelinedp(
    params: Any, *, epsilon: float, delta: float = 0.0, public_partitions: Sequence[Any] | None = None
) -> Adapted:
    """Return an aggregation of PipelineDP for an audit, with its budget as the claim.

    Neighbours differ in one person, who may have several rows. Give pairs of your own to an audit if a person has more
    than one. PipelineDP takes its randomness from the system, so an audit draws the two inputs in turn.

    See https://pipelinedp.io.

    Parameters
    ----------
    params : pipeline_dp.AggregateParams
        The metrics, and the bounds of a person's contributions.
    epsilon, delta : float
        The budget of the aggregation, which is the claim.
    public_partitions : sequence, optional
        The partitions of the result. If none are given, PipelineDP selects them, which needs delta > 0.

    Returns
    -------
    Adapted
        The mechanism and its claim. An input is a list of rows (person, partition, value). An output is a dict of the
        released partitions with a dict of the metrics.

    Raises
    ------
    UserError
        If PipelineDP is not installed.

    Examples
    --------
    >>> import pipeline_dp  # doctest: +SKIP
    >>> params = pipeline_dp.AggregateParams(  # doctest: +SKIP
    ...     metrics=[pipeline_dp.Metrics.COUNT], max_partitions_contributed=1, max_contributions_per_partition=1
    ... )
    >>> from_pipelinedp(params, epsilon=1.0, public_partitions=["a"]).claim  # doctest: +SKIP
    PureDP(epsilon=1.0)
    """
    pipeline = library("pipeline_dp", "pipelinedp")

    def draw(rows: list[tuple[Any, Any, float]], rng: Any) -> dict[Any, dict[str, float]]:
        accountant = pipeline.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
        columns = pipeline.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        )
        engine = pipeline.DPEngine(accountant, pipeline.LocalBackend())
        found = engine.aggregate(rows, params, columns, public_partitions)
        accountant.compute_budgets()
        return {partition: metrics._asdict() for partition, metrics in found}

    return Adapted(draw, approximate(epsilon, delta))
