"""The engine: tasks are simulated wherever there are workers, and their results are stored as they arrive."""

__all__: list[str] = []  # nothing here is public
