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


def give_back(array: NDArray[Any]) -> None:
    """Let the system take back the pages of a mapped array, or of a part of one, that were read so far.

    Until then they count as memory of this process. The array stays as it is, and pages that are read again come again.
    Nothing happens to an array that is not mapped, nor on systems without madvise.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    mapped = owner.obj if isinstance(owner, memoryview) else owner
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
