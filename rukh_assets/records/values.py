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
    return _checked_cast(np.fromiter(values, np.int64, count), dtype, place_of)


def numbers(values: Iterable[float], count: int, dtype: np.dtype[Any], place_of: Callable[[int], str]) -> NDArray[Any]:
    """`count` values; a float dtype rounds them, and `RecordValueError` is for what it rounds to infinity.

    A dtype of integers, or bool, must hold each as it is.
    """
    exact = np.fromiter(values, np.float64, count)
    if dtype.kind != "f":
        return _checked_cast(exact, dtype, place_of)
    with np.errstate(over="ignore"):
        rounded = exact.astype(dtype)
    _refuse_first(~np.isfinite(rounded), exact, dtype, place_of)
    return rounded


def _checked_cast(exact: NDArray[Any], dtype: np.dtype[Any], place_of: Callable[[int], str]) -> NDArray[Any]:
    with np.errstate(invalid="ignore", over="ignore"):
        cast = exact.astype(dtype)
        changed = cast.astype(exact.dtype) != exact
    _refuse_first(changed, exact, dtype, place_of)
    return cast


def _refuse_first(
    refused: NDArray[np.bool_], exact: NDArray[Any], dtype: np.dtype[Any], place_of: Callable[[int], str]
) -> None:
    if refused.any():
        first = int(refused.argmax())
        raise RecordValueError(f"{place_of(first)}: got {exact[first]}, which {dtype.name} cannot hold")
