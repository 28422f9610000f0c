"""Plain read-only arrays over mapped files: they index fast, and share the system's page cache."""

import mmap
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


def map_array(file: BinaryIO, dtype: np.dtype[Any], count: int, offset: int = 0) -> NDArray[Any]:
    """`count` elements of the open file from byte `offset` on, which the caller has seen to be there.

    The file may be closed afterwards, renamed or unlinked: the array keeps reading what it mapped.
    """
    if count == 0:  # an empty file cannot be mapped
        empty = np.empty(0, dtype)
        empty.flags.writeable = False
        return empty
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype, count, offset)
