"""Which part of a file lies in memory: a rate means something else when the disk is read."""

import ctypes
import mmap
import os
from pathlib import Path

import numpy as np


def resident_share(path: Path) -> float | None:
    """The share of the file's pages that the system holds, by `mincore`; None where it does not tell.

    Of files that this user may not write to Linux says that all is held, so of these nothing is known.
    """
    if not os.access(path, os.W_OK) or not hasattr(os, "posix_fadvise"):
        return None
    mincore = getattr(ctypes.CDLL(None, use_errno=True), "mincore", None)
    with path.open("rb") as file:
        mapped = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    pages = np.zeros(-(-mapped.size // mmap.PAGESIZE), np.uint8)
    arguments = ctypes.c_void_p(mapped.ctypes.data), ctypes.c_size_t(mapped.size), ctypes.c_void_p(pages.ctypes.data)
    if mincore is None or mincore(*arguments) != 0:
        return None
    return float((pages & 1).mean())
