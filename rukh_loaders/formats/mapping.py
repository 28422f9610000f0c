"""Plain read-only arrays over mapped files: they index fast, and share the system's page cache."""

import ctypes
import mmap
import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


def map_array(file: BinaryIO, dtype: np.dtype[Any], count: int, offset: int = 0) -> NDArray[Any]:
    """`count` elements of the open file from byte `offset` on, which the caller has seen to be there.

    The file may be closed afterwards, renamed or unlinked: the array keeps reading what it mapped. No file stays open
    for it, so that the hundreds of files of many packs do not meet the limit on open files, often 1,024.
    """
    if count == 0:  # an empty file cannot be mapped
        empty = np.empty(0, dtype)
        empty.flags.writeable = False
        return empty
    if os.name != "posix":
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype, count, offset)
    return np.asarray(_MappedFile(file.fileno(), dtype, count, offset))


@contextmanager
def without_readahead(arrays: Iterable[NDArray[Any]]) -> Iterator[None]:
    """While it lasts, each page of the mapped arrays that is touched is read alone, not with the megabytes around it.

    That is for a few scattered reads of files that are not in memory: of many, reading ahead brings the whole file in
    sooner than its pages one by one. Where the system cannot be told, nothing changes.
    """
    mapped = [array for array in arrays if array.size]
    for array in mapped:
        _advise(array, "MADV_RANDOM")
    try:
        yield
    finally:
        for array in mapped:
            _advise(array, "MADV_NORMAL")


def give_back(array: NDArray[Any]) -> None:
    """Let the system take back the pages of a mapped array, or of a part of one, that were read so far.

    Until then they count as memory of this process. The array stays as it is, and pages that are read again come again.
    Nothing happens to an array that is not mapped, nor on systems without madvise.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, _MappedFile) and array.size:  # of other memory the system would forget what it holds
        _advise(array, "MADV_DONTNEED")


def _advise(array: NDArray[Any], name: str) -> None:
    advice = getattr(mmap, name, None)
    if advice is None or os.name != "posix":
        return
    address = array.ctypes.data
    begin = address - address % mmap.PAGESIZE
    _madvise(begin, address + array.nbytes - begin, advice)


class _MappedFile:
    """A file mapped for reading, offered to numpy; unmapped when no array is left over it.

    `mmap.mmap` would do, but it keeps a copy of the descriptor up to Python 3.12.
    """

    def __init__(self, descriptor: int, dtype: np.dtype[Any], count: int, offset: int) -> None:
        size = offset + count * dtype.itemsize
        address = _mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address == _FAILED:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        # Not at exit, when other threads may still read.
        weakref.finalize(self, _munmap, address, size).atexit = False
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": (count,),
            "data": (address + offset, True),
        }


if os.name == "posix":
    _FAILED = ctypes.c_void_p(-1).value
    _libc = ctypes.CDLL(None, use_errno=True)
    _mmap = _libc.mmap
    _mmap.restype = ctypes.c_void_p
    # Offsets are always 0, so it does not matter how wide an off_t is.
    _mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    _madvise = _libc.madvise
    _madvise.restype = ctypes.c_int
    _madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    _munmap = _libc.munmap
    _munmap.restype = ctypes.c_int
    _munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
