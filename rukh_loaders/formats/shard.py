"""Shards: a folder of raw arrays by key, each with or without the offsets that cut it into records."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import ShardError
from rukh_loaders.formats.manifest import FileRecord, write_hashed
from rukh_loaders.formats.mapping import map_array

META = "meta.json"

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"),
)
"""The dtypes a shard may hold, by the names meta.json uses; on disk all are little-endian."""

_KEY = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_SHARD = re.compile(r"shard_([0-9]{4,})", re.ASCII)


@dataclass(frozen=True, eq=False)
class KeyedTensor:
    """One key of a shard: `values`, 1-d, and for a key that holds records their `offsets`, int64.

    Record i is `values[offsets[i]:offsets[i + 1]]`: offsets begin at 0, never fall, and end at `len(values)`.
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64] | None = None


def shard_name(number: int) -> str:
    """The folder's name: `shard_0000`, `shard_0001`, ..., `shard_9999`, `shard_10000`."""
    if number < 0:
        raise ShardError(f"shard number {number} is below 0")
    return f"shard_{number:04d}"


def list_shards(folder: Path) -> list[Path]:
    """The shards of a folder by the number in their name; a folder without a meta.json is not a shard."""
    if not folder.is_dir():
        raise ShardError(f"{folder}: is not a folder of shards")
    numbered = []
    for path in folder.iterdir():
        match = _SHARD.fullmatch(path.name)
        if match and (path / META).is_file():
            numbered.append((int(match[1]), path.name, path))
    return [path for _, _, path in sorted(numbered)]


class ShardWriter:
    """Writes one shard into `folder`, which must be empty or absent: meta.json comes last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, tensors: Mapping[str, KeyedTensor]) -> dict[str, FileRecord]:
        """Write all keys; size and sha256 of each file by name. Everything is checked before anything is written."""
        meta = {key: describe_tensor(self.folder, key, tensors[key]) for key in sorted(tensors)}
        prepare_folder(self.folder)
        records = {}
        for key in meta:
            values = np.ascontiguousarray(tensors[key].values)
            data = values.astype(values.dtype.newbyteorder("<"), copy=False).view(np.uint8).data
            records[f"{key}.bin"] = write_hashed(self.folder / f"{key}.bin", data)
        return records | write_meta(self.folder, meta)


def describe_tensor(folder: Path, key: str, tensor: KeyedTensor) -> dict[str, Any]:
    """What meta.json says of a key; `ShardError`, which names `folder`, for one that no shard may hold."""
    values, offsets = tensor.values, tensor.offsets
    where = f"{folder}: key {key!r}"
    if not _KEY.fullmatch(key):
        raise ShardError(f"{where} is not a name of letters, digits and _")
    if values.ndim != 1 or values.dtype.name not in DTYPES:
        raise ShardError(f"{where} is {values.dtype} of shape {values.shape}, allowed: 1-d, one of {', '.join(DTYPES)}")
    described: dict[str, Any] = {"shape": [values.size], "dtype": values.dtype.name}
    if offsets is not None:
        if offsets.ndim != 1 or offsets.dtype.kind not in "iu":
            raise ShardError(f"{where} has offsets of {offsets.dtype}, shape {offsets.shape}, allowed: int64, 1-d")
        _check_offsets(where, offsets, values.size)
        described["offsets"] = offsets.tolist()
    return described


def prepare_folder(folder: Path) -> None:
    """Make the folder of a shard that is to be written; `ShardError` where it holds something."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ShardError(f"{folder}: is not empty, a shard is written into an empty folder")


def write_meta(folder: Path, meta: Mapping[str, Any]) -> dict[str, FileRecord]:
    """Write meta.json, which makes the folder a shard; its record by its name."""
    return {META: write_hashed(folder / META, (json.dumps(meta, ensure_ascii=True) + "\n").encode())}


class ShardReader:
    """One shard, its files mapped. Opening checks meta.json, the offsets, and each file's size against it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tensors = {key: _open_key(folder, key, entry) for key, entry in _read_meta(folder).items()}

    def __reduce__(self) -> tuple[type["ShardReader"], tuple[Path]]:
        return ShardReader, (self.folder,)  # a worker maps the files itself instead of getting a copy

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, as meta.json orders them."""
        return tuple(self._tensors)

    def tensor(self, key: str) -> KeyedTensor:
        """The mapped values and offsets of a key; `ShardError` for a key that is not there."""
        if key not in self._tensors:
            raise ShardError(f"{self.folder}: has no key {key!r}, only {', '.join(self._tensors) or 'none'}")
        return self._tensors[key]

    def n_records(self, key: str) -> int:
        """Number of records of a key; `ShardError` for a key without offsets."""
        return self._offsets(key).size - 1

    def record(self, key: str, i: int) -> NDArray[Any]:
        """Record i, mapped; outside 0..n_records-1, negatives included, `IndexError`."""
        offsets = self._offsets(key)
        if not 0 <= i < offsets.size - 1:
            raise IndexError(f"{self.folder}: no record {i} of {key!r}, allowed: 0 to {offsets.size - 2}")
        return self._tensors[key].values[offsets[i] : offsets[i + 1]]

    def _offsets(self, key: str) -> NDArray[np.int64]:
        offsets = self.tensor(key).offsets
        if offsets is None:
            raise ShardError(f"{self.folder}: key {key!r} has no offsets, so it holds no records")
        return offsets


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / META
    try:
        meta = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ShardError(f"{path}: cannot be read, so this is no shard: {error}") from error
    if not isinstance(meta, dict):
        raise ShardError(f"{path}: holds a JSON {type(meta).__name__}, expected an object")
    return meta


def _open_key(folder: Path, key: str, entry: Any) -> KeyedTensor:
    where = f"{folder / META}: key {key!r}"
    if not _KEY.fullmatch(key):
        raise ShardError(f"{where} is not a name of letters, digits and _")
    if not isinstance(entry, dict) or not {"shape", "dtype"} <= entry.keys() <= {"shape", "dtype", "offsets"}:
        raise ShardError(f"{where} is {_short(entry)}, expected an object of shape, dtype and perhaps offsets")
    if entry["dtype"] not in DTYPES:
        raise ShardError(f"{where} has dtype {entry['dtype']!r}, allowed: {', '.join(DTYPES)}")
    if not _is_list_of_ints(entry["shape"]) or len(entry["shape"]) != 1 or entry["shape"][0] < 0:
        raise ShardError(f"{where} has shape {_short(entry['shape'])}, expected [N]")
    count = entry["shape"][0]
    offsets = None
    if "offsets" in entry:
        if not _is_list_of_ints(entry["offsets"]):
            raise ShardError(f"{where} has offsets {_short(entry['offsets'])}, expected a list of integers")
        offsets = np.array(entry["offsets"], np.int64)
        _check_offsets(where, offsets, count)
        offsets.flags.writeable = False
    return KeyedTensor(_map_values(folder / f"{key}.bin", np.dtype(entry["dtype"]), count), offsets)


def _map_values(path: Path, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size != count * dtype.itemsize:
                raise ShardError(f"{path}: has {size} bytes, its meta.json says {count * dtype.itemsize}")
            return map_array(file, dtype.newbyteorder("<"), count)
    except OSError as error:
        raise ShardError(f"{path}: cannot be opened: {error.strerror or error}") from error


def _check_offsets(where: str, offsets: NDArray[Any], count: int) -> None:
    if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != count:
        ends = f"{offsets[0]} and {offsets[-1]}" if offsets.size else "missing"
        raise ShardError(f"{where} has first and last offset {ends}, expected 0 and {count}")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.size:
        at = int(falls[0])
        raise ShardError(
            f"{where} has offset {offsets[at + 1]} after {offsets[at]} at record {at}: offsets must not fall"
        )


def _is_list_of_ints(value: object) -> bool:
    if not isinstance(value, list) or not set(map(type, value)) <= {int}:
        return False
    return not value or (min(value) >= -(1 << 63) and max(value) < 1 << 63)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
