"""What a reader sees: the look of every figure and table."""
