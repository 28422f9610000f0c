"""What a shard holds under one key: values, and where they are cut into records and the records into parts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import ShardError

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"),
)
"""The dtypes a shard may hold, by the names meta.json uses; on disk all are little-endian."""

Cut = NDArray[np.int64]
"""Where something is cut: begins at 0, never falls, ends at the number of what is cut."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The second cut of a key, of records into parts: the sequences of a group, or the documents of a packed row.

    Part j is `values[offsets[j]:offsets[j + 1]]`, and may be empty; record i has the parts from `records[i]` up to
    `records[i + 1]`, which is left out. So a record's values are those of its parts, one after the other.
    """

    offsets: Cut
    records: Cut


@dataclass(frozen=True, eq=False)
class KeyedTensor:
    """One key of a shard: `values`, 1-d, for a key that holds records their `offsets`, and for some their `parts`.

    Record i is `values[offsets[i]:offsets[i + 1]]`: offsets begin at 0, never fall, and end at `len(values)`.
    """

    values: NDArray[Any]
    offsets: Cut | None = None
    parts: Parts | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """Number of values."""
        return self.values.size

    @property
    def pieces(self) -> Iterator[NDArray[Any]]:
        """The values, in one piece."""
        return iter((self.values,))


@dataclass(frozen=True, eq=False)
class StreamedTensor:
    """As `KeyedTensor`, to be written only: `size` values that come in `pieces`, so that no memory holds them all."""

    pieces: Iterable[NDArray[Any]]
    dtype: np.dtype[Any]
    size: int
    offsets: Cut | None = None
    parts: Parts | None = None


Tensor = KeyedTensor | StreamedTensor


def cut_at(lengths: NDArray[Any]) -> Cut:
    """Where things of these lengths are cut: `[0, n1, n1 + n2, ...]`, one more than there are lengths."""
    cut = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=cut[1:])
    return cut


def check_cuts(where: str, size: int, offsets: Cut | None, parts: Parts | None) -> None:
    """Raise `ShardError` unless offsets cut `size` values into records, and parts cut the same records."""
    if offsets is not None:
        _check_cut(f"{where} has", "offset", "record", offsets, size)
    if parts is None:
        return
    if offsets is None:
        raise ShardError(f"{where} has parts but no offsets: parts are of records")
    _check_cut(f"{where} has, in its parts,", "offset", "part", parts.offsets, size)
    _check_cut(f"{where} has, in its parts,", "record", "record", parts.records, parts.offsets.size - 1)
    if not np.array_equal(parts.offsets[parts.records], offsets):
        raise ShardError(f"{where} has parts that do not begin and end where its records do")


def check_records(where: str, n_records: dict[str, int]) -> None:
    """Raise `ShardError` unless all keys that hold records hold as many; `where` is the shard."""
    if len(set(n_records.values())) > 1:
        counts = ", ".join(f"{count} in {key!r}" for key, count in n_records.items())
        raise ShardError(f"{where}: has not as many records in each key: {counts}")


def _check_cut(where: str, cut: str, of: str, offsets: NDArray[Any], count: int) -> None:
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu":
        raise ShardError(f"{where} {cut}s of {offsets.dtype}, shape {offsets.shape}, allowed: int64, 1-d")
    if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != count:
        ends = f"{offsets[0]} and {offsets[-1]}" if offsets.size else "missing"
        raise ShardError(f"{where} first and last {cut} {ends}, expected 0 and {count}")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.size:
        at = int(falls[0])
        raise ShardError(f"{where} {cut} {offsets[at + 1]} after {offsets[at]} at {of} {at}: {cut}s must not fall")
