"""One-dimensional .npy files: written in one pass and hashed on the way, read through a map."""

import hashlib
import io
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import DTypeLike, NDArray

from rukh_loaders.errors import NpyError
from rukh_loaders.formats.manifest import FileRecord
from rukh_loaders.formats.mapping import map_array

HEADER_BYTES = 128
"""Length of the header that np.save writes for any one-dimensional array of numbers."""


class NpyWriter:
    """Writes `count` elements, appended piece by piece, to the bytes that np.save of the whole array gives.

    A context manager. The header's place is kept free and filled at the end, so a file that was not finished is no
    .npy. A piece of another dtype or shape, or one too many, raises `NpyError`, as does closing with too few.
    """

    def __init__(self, path: Path, dtype: DTypeLike, count: int) -> None:
        self.path = path
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.count = count
        self.written = 0
        self._header = _header(self.dtype, count)
        self._hash = hashlib.sha256(self._header)
        self._file = path.open("wb")
        self._file.write(bytes(HEADER_BYTES))
        self._record: FileRecord | None = None

    def append(self, array: NDArray[Any]) -> None:
        """Write a one-dimensional array of the file's dtype after what was written before."""
        if array.dtype != self.dtype or array.ndim != 1:
            raise NpyError(
                f"{self.path}: got a piece of {array.dtype} and shape {array.shape}, expected {self.dtype}, 1-d"
            )
        if self.written + array.size > self.count:
            raise NpyError(f"{self.path}: got {self.written + array.size} elements, expected {self.count}")
        piece = np.ascontiguousarray(array).view(np.uint8).data
        self._hash.update(piece)
        self._file.write(piece)
        self.written += array.size

    def close(self) -> FileRecord:
        """Write the header and close; the file's record. Once closed, the same record again."""
        if self._record is not None:
            return self._record
        try:
            if self.written != self.count:
                raise NpyError(f"{self.path}: got {self.written} elements, expected {self.count}")
            self._file.seek(0)
            self._file.write(self._header)
        finally:
            self._file.close()
        self._record = {
            "bytes": HEADER_BYTES + self.count * self.dtype.itemsize,
            "sha256": self._hash.hexdigest(),
        }
        return self._record

    def abandon(self) -> None:
        """Close without a header: the file is no .npy."""
        self._file.close()

    @property
    def record(self) -> FileRecord:
        """Size and sha256 of the closed file."""
        if self._record is None:
            raise NpyError(f"{self.path}: is not closed yet, so it has no size and sha256")
        return self._record

    def __enter__(self) -> "NpyWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def open_npy(path: Path, dtype: DTypeLike) -> NDArray[Any]:
    """The array of a .npy file as a plain read-only ndarray over the mapped file.

    `NpyError` when the file is missing, is not .npy version 1.0, is not one-dimensional or not of `dtype`, or when its
    size is not what its header promises.
    """
    expected = np.dtype(dtype).newbyteorder("<")
    try:
        with path.open("rb") as file:
            count = _read_header(path, file, expected)
            offset = file.tell()
            size = file.seek(0, io.SEEK_END)
            if size != offset + count * expected.itemsize:
                raise NpyError(f"{path}: has {size} bytes, its header says {offset + count * expected.itemsize}")
            return map_array(file, expected, count, offset)
    except OSError as error:
        raise NpyError(f"{path}: cannot be opened: {error.strerror or error}") from error


def _header(dtype: np.dtype[Any], count: int) -> bytes:
    buffer = io.BytesIO()
    npy_format.write_array_header_1_0(
        buffer, {"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": (count,)}
    )
    return buffer.getvalue()


def _read_header(path: Path, file: io.BufferedReader, expected: np.dtype[Any]) -> int:
    """The number of elements; the file then stands at the first one."""
    try:
        version = npy_format.read_magic(file)
        if version != (1, 0):
            raise NpyError(f"{path}: is .npy version {version[0]}.{version[1]}, expected 1.0")
        shape, _, dtype = npy_format.read_array_header_1_0(file)
    except NpyError:
        raise
    except (ValueError, TypeError, SyntaxError) as error:
        raise NpyError(f"{path}: is not a .npy file: {error}") from error
    if len(shape) != 1 or dtype != expected:
        raise NpyError(f"{path}: holds {dtype} of shape {shape}, expected {expected}, 1-d")
    return int(shape[0])
