"""Writing the records of a shard one after the other, for those who do not have them all in memory."""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rukh_loaders.errors import ShardError
from rukh_loaders.formats.manifest import FileRecord
from rukh_loaders.formats.shard import check_tensor, prepare_folder, write_meta
from rukh_loaders.formats.tensors import KeyedTensor, StreamedTensor, cut_at


class RecordsWriter:
    """Writes a shard of the one key `key` into `folder`, empty or absent: the bytes of a `ShardWriter` with all of it.

    A context manager: `append` the records in order, then `finish`, which writes meta.json, so that a shard that was
    not finished is none. What it keeps in memory are the records' lengths.
    """

    def __init__(self, folder: Path, key: str, dtype: DTypeLike) -> None:
        self.folder = folder
        self.key = key
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.n_values = 0
        check_tensor(folder, key, KeyedTensor(np.empty(0, self.dtype)))  # a key or dtype that no shard may have
        prepare_folder(folder)
        self._lengths: list[NDArray[np.int64]] = []
        self._hash = hashlib.sha256()
        self._file = (folder / f"{key}.bin").open("wb")

    @property
    def n_records(self) -> int:
        """Records so far."""
        return sum(lengths.size for lengths in self._lengths)

    def append(self, values: NDArray[Any], lengths: NDArray[np.int64]) -> None:
        """Write records: `values` of all of them one after the other, 1-d, and the length of each, int64.

        `ShardError` for values of another dtype, a length below 0, and lengths that do not add up to the values.
        """
        if values.dtype != self.dtype or values.ndim != 1:
            raise ShardError(
                f"{self.folder}: key {self.key!r}: got values of {values.dtype} and shape {values.shape}, "
                f"expected {self.dtype}, 1-d"
            )
        if lengths.sum() != values.size or lengths.min(initial=0) < 0:
            raise ShardError(
                f"{self.folder}: key {self.key!r}: got {values.size} values, and lengths that add up to "
                f"{lengths.sum()}, the least of them {lengths.min(initial=0)}"
            )
        piece = np.ascontiguousarray(values).view(np.uint8).data
        self._hash.update(piece)
        self._file.write(piece)
        self._lengths.append(lengths)
        self.n_values += values.size

    def finish(self) -> dict[str, FileRecord]:
        """Close the values and write meta.json; size and sha256 of each file by name."""
        self._file.close()
        record: FileRecord = {"bytes": self.n_values * self.dtype.itemsize, "sha256": self._hash.hexdigest()}
        offsets = cut_at(np.concatenate([np.empty(0, np.int64), *self._lengths]))
        tensor = StreamedTensor((), self.dtype, self.n_values, offsets)
        return {f"{self.key}.bin": record} | write_meta(self.folder, {self.key: tensor})

    def __enter__(self) -> "RecordsWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
