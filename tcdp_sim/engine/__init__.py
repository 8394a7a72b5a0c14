"""What is done: tasks are simulated wherever there are workers, and kept as they come back."""

__all__: list[str] = []  # nothing here is public
