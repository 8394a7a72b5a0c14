"""Private selection: algorithms, baselines, and the noise that they need."""
