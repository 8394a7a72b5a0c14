"""Names for the types of numbers and arrays in annotations."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Weights = NDArray[Any]  # whole numbers as int64 or float64, such as the counts of a data set
Objects = NDArray[np.object_]  # Python integers of any size
Real = float | Floats
Reals = Any  # a number for a number and an array for an array, as numpy annotates its own functions
RealFunction = Callable[[Floats], Floats]  # elementwise
Shape = int | tuple[int, ...]
