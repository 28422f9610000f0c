"""Having the system hold a file in memory, or nothing of it."""

import os
from pathlib import Path


def read_whole(path: Path) -> None:
    """Read the file, so that the system holds it if there is room."""
    piece = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(piece):
            pass


def drop(path: Path) -> None:
    """Ask the system to hold nothing of the file, which no process may have mapped; Linux does so at once."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())  # what is not on the disk yet is never dropped
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
