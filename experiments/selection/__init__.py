"""The parts of the experiment gap_max: exact values beside simulated ones, and its figures."""
