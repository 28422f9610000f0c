"""What records were built into, lists of numbers, as arrays of the dtypes that shards hold."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_assets.errors import RecordValueError


def integers(values: Iterable[int], count: int, dtype: np.dtype[Any], place_of: Callable[[int], str]) -> NDArray[Any]:
    """`count` ids or masks; `RecordValueError` for one that the dtype does not hold exactly.

    `place_of` says of the place of a value where it came from, for the error's text.
    """
    exact = np.fromiter(values, np.int64, count)
    with np.errstate(invalid="ignore", over="ignore"):
        cast = exact.astype(dtype)
        changed = cast.astype(np.int64) != exact
    if changed.any():
        first = int(changed.argmax())
        raise RecordValueError(f"{place_of(first)}: got {exact[first]}, which {dtype.name} cannot hold")
    return cast


def numbers(values: Iterable[float], count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """`count` values, which the builder has found the dtype to hold; a float one rounds them."""
    return np.fromiter(values, np.float64, count).astype(dtype)
