"""Plans: the noise and the budget that follow from the errors that one can bear."""

__all__: list[str] = []
