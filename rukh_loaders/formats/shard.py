"""Shards: a folder of raw arrays by key, each with or without the offsets that cut it into records."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import ShardError
from rukh_loaders.formats.manifest import FileRecord
from rukh_loaders.formats.mapping import map_array
from rukh_loaders.formats.tensors import DTYPES, Cut, KeyedTensor, Parts, Tensor, check_cuts, check_records

META = "meta.json"

_KEY = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_SHARD = re.compile(r"shard_([0-9]{4,})", re.ASCII)
_OFFSETS_A_PIECE = 1 << 16


def shard_name(number: int) -> str:
    """The folder's name: `shard_0000`, `shard_0001`, ..., `shard_9999`, `shard_10000`."""
    if number < 0:
        raise ShardError(f"shard number {number} is below 0")
    return f"shard_{number:04d}"


def shard_number(name: str) -> int | None:
    """The number in the name of a shard's folder; None for another name."""
    match = _SHARD.fullmatch(name)
    return None if match is None else int(match[1])


def list_shards(folder: Path) -> list[Path]:
    """The shards of a folder by the number in their name; a folder without a meta.json is not a shard."""
    if not folder.is_dir():
        raise ShardError(f"{folder}: is not a folder of shards")
    numbered = []
    for path in folder.iterdir():
        number = shard_number(path.name)
        if number is not None and (path / META).is_file():
            numbered.append((number, path.name, path))
    return [path for _, _, path in sorted(numbered)]


class ShardWriter:
    """Writes one shard into `folder`, which must be empty or absent: meta.json comes last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, tensors: Mapping[str, Tensor]) -> dict[str, FileRecord]:
        """Write all keys; size and sha256 of each file by name. Everything is checked before anything is written.

        Only of streamed values, what they are is seen when they come: `ShardError` then, and the folder is no shard.
        """
        for key in sorted(tensors):
            check_tensor(self.folder, key, tensors[key])
        counts = {key: offsets.size - 1 for key, t in sorted(tensors.items()) if (offsets := t.offsets) is not None}
        check_records(str(self.folder), counts)
        prepare_folder(self.folder)
        records = {
            f"{key}.bin": _write_pieces(self.folder / f"{key}.bin", self._data(key, tensors[key]))
            for key in sorted(tensors)
        }
        return records | write_meta(self.folder, tensors)

    def _data(self, key: str, tensor: Tensor) -> Iterator[memoryview]:
        written = 0
        for piece in tensor.pieces:
            written += piece.size
            if piece.ndim != 1 or piece.dtype != tensor.dtype or written > tensor.size:
                raise ShardError(
                    f"{self.folder}: key {key!r} got {written} values, the last of {piece.dtype} and shape "
                    f"{piece.shape}, expected {tensor.size} of {tensor.dtype}, 1-d"
                )
            little = np.ascontiguousarray(piece).astype(piece.dtype.newbyteorder("<"), copy=False)
            yield little.view(np.uint8).data
        if written != tensor.size:
            raise ShardError(f"{self.folder}: key {key!r} got {written} values, expected {tensor.size}")


def check_tensor(folder: Path, key: str, tensor: Tensor) -> None:
    """Raise `ShardError`, which names `folder`, for a key that no shard may hold."""
    where = f"{folder}: key {key!r}"
    if not _KEY.fullmatch(key):
        raise ShardError(f"{where} is not a name of letters, digits and _")
    shape = tensor.values.shape if isinstance(tensor, KeyedTensor) else (tensor.size,)
    if len(shape) != 1 or tensor.dtype.name not in DTYPES:
        raise ShardError(f"{where} is {tensor.dtype} of shape {shape}, allowed: 1-d, one of {', '.join(DTYPES)}")
    check_cuts(where, tensor.size, tensor.offsets, tensor.parts)


def prepare_folder(folder: Path) -> None:
    """Make the folder of a shard that is to be written; `ShardError` where it holds something."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ShardError(f"{folder}: is not empty, a shard is written into an empty folder")


def write_meta(folder: Path, tensors: Mapping[str, Tensor]) -> dict[str, FileRecord]:
    """Write meta.json, which makes the folder a shard; its record by its name."""
    return {META: _write_pieces(folder / META, _meta_text(tensors))}


class ShardReader:
    """One shard, its files mapped. Opening checks meta.json, the offsets, and each file's size against it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tensors = {key: _open_key(folder, key, entry) for key, entry in _read_meta(folder).items()}
        counts = {key: t.offsets.size - 1 for key, t in self._tensors.items() if t.offsets is not None}
        check_records(str(folder / META), counts)

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

    def parts(self, key: str, i: int) -> list[NDArray[Any]]:
        """The parts of record i, mapped: the sequences of a group, the documents of a row.

        Of a key without parts, the record itself is the one part. `IndexError` as for `record`.
        """
        record, parts = self.record(key, i), self._tensors[key].parts
        if parts is None:
            return [record]
        cut = parts.offsets[parts.records[i] : parts.records[i + 1] + 1]
        return [record[begin - cut[0] : end - cut[0]] for begin, end in pairwise(cut)]

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
    if not isinstance(entry, dict) or not {"shape", "dtype"} <= entry.keys() <= {"shape", "dtype", "offsets", "parts"}:
        raise ShardError(
            f"{where} is {_short(entry)}, expected an object of shape, dtype and perhaps offsets and parts"
        )
    if entry["dtype"] not in DTYPES:
        raise ShardError(f"{where} has dtype {entry['dtype']!r}, allowed: {', '.join(DTYPES)}")
    if not _is_list_of_ints(entry["shape"]) or len(entry["shape"]) != 1 or entry["shape"][0] < 0:
        raise ShardError(f"{where} has shape {_short(entry['shape'])}, expected [N]")
    count = entry["shape"][0]
    offsets = _read_cut(where, "offsets", entry["offsets"]) if "offsets" in entry else None
    parts = _read_parts(where, entry["parts"]) if "parts" in entry else None
    check_cuts(where, count, offsets, parts)
    return KeyedTensor(_map_values(folder / f"{key}.bin", np.dtype(entry["dtype"]), count), offsets, parts)


def _read_parts(where: str, entry: Any) -> Parts:
    if not isinstance(entry, dict) or entry.keys() != {"offsets", "records"}:
        raise ShardError(f"{where} has parts {_short(entry)}, expected an object of offsets and records")
    return Parts(**{name: _read_cut(f"{where}, parts:", name, entry[name]) for name in ("offsets", "records")})


def _read_cut(where: str, name: str, entry: Any) -> Cut:
    if not _is_list_of_ints(entry):
        raise ShardError(f"{where} has {name} {_short(entry)}, expected a list of integers")
    cut = np.array(entry, np.int64)
    cut.flags.writeable = False
    return cut


def _map_values(path: Path, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size != count * dtype.itemsize:
                raise ShardError(f"{path}: has {size} bytes, its meta.json says {count * dtype.itemsize}")
            return map_array(file, dtype.newbyteorder("<"), count)
    except OSError as error:
        raise ShardError(f"{path}: cannot be opened: {error.strerror or error}") from error


def _write_pieces(path: Path, pieces: Iterator[memoryview]) -> FileRecord:
    sha256 = hashlib.sha256()
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            sha256.update(piece)
        return {"bytes": file.tell(), "sha256": sha256.hexdigest()}


def _meta_text(tensors: Mapping[str, Tensor]) -> Iterator[memoryview]:
    """The JSON of meta.json in pieces: as text, offsets take several times the memory that they take as arrays."""
    before = "{"
    for key in sorted(tensors):
        tensor = tensors[key]
        yield _ascii(f'{before}"{key}": {{"shape": [{tensor.size}], "dtype": "{tensor.dtype.name}"')
        before = ", "
        if tensor.offsets is not None:
            yield from _list_text(', "offsets": ', tensor.offsets)
        if tensor.parts is not None:
            yield from _list_text(', "parts": {"offsets": ', tensor.parts.offsets)
            yield from _list_text(', "records": ', tensor.parts.records)
            yield _ascii("}")
        yield _ascii("}")
    yield _ascii("}\n" if tensors else "{}\n")


def _list_text(before: str, numbers: Cut) -> Iterator[memoryview]:
    yield _ascii(before + "[")
    for begin in range(0, numbers.size, _OFFSETS_A_PIECE):
        piece = json.dumps(numbers[begin : begin + _OFFSETS_A_PIECE].tolist())[1:-1]
        yield _ascii(f", {piece}" if begin else piece)
    yield _ascii("]")


def _ascii(text: str) -> memoryview:
    return memoryview(text.encode("ascii"))


def _is_list_of_ints(value: object) -> bool:
    if not isinstance(value, list) or not set(map(type, value)) <= {int}:
        return False
    return not value or (min(value) >= -(1 << 63) and max(value) < 1 << 63)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
