"""Names for the types of numbers and arrays that annotations use. Nothing is computed here."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Weights = NDArray[Any]  # whole numbers as int64, or float64: what of a data set is counted
Objects = NDArray[np.object_]  # Python integers of any size
Real = float | Floats
Reals = Any  # a number for a number, an array for an array; numpy annotates its own functions so
RealFunction = Callable[[Floats], Floats]  # of every element on its own
Shape = int | tuple[int, ...]
