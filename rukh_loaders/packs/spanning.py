"""Arrays of several mapped files as one, so that numbers in any of them are gathered by one call."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Spanning:
    """`arrays`, 1-d and of one dtype, as parts of one array that reaches over all the memory in which they lie.

    Element i of `arrays[k]` is `whole[bases[k] + i]`; `bases` is int64 of shape (len(arrays),). What lies between the
    arrays is other memory or none at all, so only elements of them may be read. An array that does not begin at a
    multiple of its dtype's size, as numpy's own .npy files do when mapped, is copied.
    """

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        size = arrays[0].itemsize
        arrays = [array.copy() if array.ctypes.data % size else array for array in arrays]
        self._arrays = arrays  # kept, since `whole` alone does not keep the files mapped
        filled = [array for array in arrays if array.size]
        begin = min((array.ctypes.data for array in filled), default=0)
        end = max((array.ctypes.data + array.nbytes for array in filled), default=0)
        self.whole: NDArray[Any] = (
            np.asarray(_Memory(begin, (end - begin) // size, arrays[0].dtype)) if filled else arrays[0]
        )
        self.bases = np.array([(array.ctypes.data - begin) // size if array.size else 0 for array in arrays], np.int64)


class _Memory:
    """Read-only memory from an address on, offered to numpy."""

    def __init__(self, address: int, count: int, dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": (count,),
            "data": (address, True),
        }
