"""The parts of the experiment interior_point: what is needed by whom, and its figures."""
