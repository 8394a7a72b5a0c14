"""Training runs by simulation: stretched means, and the largest coordinate integrated."""
