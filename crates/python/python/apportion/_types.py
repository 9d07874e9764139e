"""Types in the signatures of several modules."""
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

# A model is an object of any library, a path, bytes or a callable; rows are an array or a data frame of any
# library. Python has no type for either.
Model: TypeAlias = Any
Rows: TypeAlias = Any
# A module of a library that may not be installed.
Module: TypeAlias = Any

Numbers: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Places: TypeAlias = npt.NDArray[np.intp]
Booleans: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]

Path: TypeAlias = str | os.PathLike[str]
Rounds: TypeAlias = Literal["all"] | int | tuple[int, int] | None
Groups: TypeAlias = str | Sequence[Any] | Mapping[str, Any] | None
Graph: TypeAlias = str | Iterable[Any] | None
Additive: TypeAlias = bool | Sequence[Sequence[str | int]] | None
Progress: TypeAlias = bool | Callable[[int, int], object]

GameName: TypeAlias = Literal["marginal", "path-dependent", "gaussian", "copula", "empirical", "frequency"]
Scale: TypeAlias = Literal["norm", "range", "nothing"]
Measure: TypeAlias = Literal["euclidean", "every-player"]
Form: TypeAlias = Literal["index", "remainder"]
Layout: TypeAlias = Literal["columns", "lists"]
