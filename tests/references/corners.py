"""The values at which functions break."""

import numpy as np

LARGEST = np.finfo(float).max
POINTS = (0.0, -0.0, 5e-324, 1e-308, 1e-300, 1e-16, 1.0, 1e16, 1e154, 1e300, 1e308, LARGEST, np.inf)
POINTS = (*POINTS, *(-x for x in POINTS), np.nan)
CHANCES = (0.0, 5e-324, 1e-308, 1e-300, 1e-17, 0.25, 0.5, 0.75, 1 - 2**-53, 1.0, np.nan, -1.0, 2.0)
LOGS = (-np.inf, -LARGEST, -1e300, -1e10, -745.0, -600.0, -1.0, -1e-17, 0.0)
SHIFTS = (1e-300, 1e-9, 1.0, 1e9, 1e300)
