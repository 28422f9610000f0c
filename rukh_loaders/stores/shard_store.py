"""Shards of records as one stream and one list of records, whatever their number."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import NoKeyError, StoreChangedError, StoreShardsError
from rukh_loaders.formats.tensors import KeyedTensor, cut_at
from rukh_loaders.stores.cutting import Part
from rukh_loaders.stores.opening import SEQUENCE, open_shards
from rukh_loaders.stores.store import Array, Bounds, Column, Store


class ShardStore(Store):
    """A corpus that `rukh_assets.records` wrote, one domain of it, one shard, or shards of another program.

    Its files are mapped and its order is that of the manifest: by domain, then by number; records are numbered through.
    Keys that hold no groups make the stream. A mask that is not written since it is all ones is there all the same.

    Errors: those of `open_shards`; `StoreArgumentError` for a window, a stride or weights that there cannot be;
    `StoreChangedError` on unpickling, where something else lies at the path by now.
    """

    def __init__(
        self,
        path: Path | str,
        window_size: int = 0,
        stride: int | None = None,
        *,
        pad_last: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self.path = Path(path)
        self._shards = open_shards(self.path)
        tensors = {key: [shard.reader.tensor(key) for shard in self._shards.shards] for key in self._shards.keys}
        for mask, ids in self._shards.all_ones.items():
            tensors[mask] = [_ones_along(tensor) for tensor in tensors[ids]]
        self._tensors = tensors
        self.keys = tuple(tensors)
        self.stream_keys = tuple(key for key in tensors if key not in self._shards.groups)
        self._cuts = {key: cut_at(np.array([t.size for t in tensors[key]])) for key in self.stream_keys}
        self._counted = self._find_counted()
        self._record_cut = cut_at(np.array([self._n_records(i) for i in range(len(self._shards.shards))]))
        self.domains = tuple(self._domains())
        super().__init__(window_size, stride, pad_last, weights)

    def __reduce__(self) -> tuple[Any, ...]:
        options = {"pad_last": self.cutting.pad_last, "weights": self.weights}
        arguments = (self.path.absolute(), self.cutting.window_size, self.cutting.stride)
        return _reopen, (type(self), arguments, options, self.fingerprint)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest of the corpus; empty for shards without one."""
        return self._shards.manifest

    def check_same_lengths(self, keys: Sequence[str]) -> None:
        """Raise `StoreShardsError` unless the keys have as many values as each other in every shard."""
        for i, shard in enumerate(self._shards.shards):
            sizes = {key: self._tensors[key][i].size for key in keys}
            if len(set(sizes.values())) > 1:
                counts = ", ".join(f"{size} of {key!r}" for key, size in sizes.items())
                raise StoreShardsError(f"{shard.reader.folder}: keys that go along have other lengths: {counts}")

    def record_bounds(self, index: int) -> Bounds:
        """Begin and end of a record in the stream; `RecordIndexError` outside `0..num_records-1`."""
        self._check_record(index)
        shard, within = self._locate(index)
        assert self._counted is not None  # else there is no record
        offsets = self._tensors[self._counted][shard].offsets
        assert offsets is not None
        begin = self._cuts[self._counted][shard]
        return int(begin + offsets[within]), int(begin + offsets[within + 1])

    def document_begins(self, begin: int, end: int) -> NDArray[np.int64] | None:
        """Where the documents of a range of the stream begin: of packed rows their documents, else the records."""
        if self._counted is None:
            return None
        cut = self._cuts[self._counted]
        found = []
        for shard in range(_segment(cut, begin), len(cut) - 1):
            if cut[shard] >= max(end, begin + 1):
                break
            found.append(cut[shard] + _documents(self._tensors[self._counted][shard]))
        begins = np.unique(np.concatenate([np.zeros(1, np.int64), *found]))
        first = max(int(np.searchsorted(begins, begin, "right")) - 1, 0)
        return begins[first : max(int(np.searchsorted(begins, end)), first + 1)]

    def _domains(self) -> Iterator[Part]:
        sizes = [self._cuts[key] for key in self.stream_keys if key not in self._shards.values]
        tokens = np.minimum.reduce(sizes) if sizes else np.zeros(len(self._record_cut), np.int64)
        numbered = enumerate(self._shards.shards)
        for name, group in groupby(numbered, key=lambda numbered: numbered[1].domain):
            numbers = [number for number, _ in group]
            first, last = numbers[0], numbers[-1] + 1
            yield Part(
                name,
                range(int(self._record_cut[first]), int(self._record_cut[last])),
                range(int(tokens[first]), int(tokens[last])),
            )

    def _find_counted(self) -> str | None:
        """The key whose records and documents are those of the stream: `sequence`, or the first ids with offsets."""
        with_offsets = [key for key in self.stream_keys if self._tensors[key][0].offsets is not None]
        ids = [key for key in with_offsets if key not in self._shards.along | self._shards.values]
        return SEQUENCE if SEQUENCE in with_offsets else next(iter(ids), None)

    def _n_records(self, shard: int) -> int:
        cut = (tensors[shard].offsets for tensors in self._tensors.values())
        return next((offsets.size - 1 for offsets in cut if offsets is not None), 0)

    def _record_keys(self) -> tuple[str, ...]:
        return tuple(key for key, tensors in self._tensors.items() if tensors[0].offsets is not None)

    def _locate(self, record: int) -> tuple[int, int]:
        shard = _segment(self._record_cut, record)
        return shard, record - int(self._record_cut[shard])

    def _read_stream(self, bounds: Sequence[Bounds], keys: Sequence[str]) -> list[dict[str, Array]]:
        return [{key: self._slice(key, begin, end) for key in keys} for begin, end in bounds]

    def _slice(self, key: str, begin: int, end: int) -> Array:
        tensors, cut = self._tensors[key], self._cuts[key]
        if begin == end:
            return np.empty(0, tensors[0].dtype)
        shard = _segment(cut, begin)
        if end <= cut[shard + 1]:
            return _private(tensors[shard].values[begin - cut[shard] : end - cut[shard]])
        last = _segment(cut, end - 1)
        pieces = [
            tensors[i].values[max(begin - cut[i], 0) : min(end, cut[i + 1]) - cut[i]] for i in range(shard, last + 1)
        ]
        return np.concatenate(pieces)

    def _read_records(self, indices: Sequence[int], keys: Sequence[str]) -> list[dict[str, Column]]:
        return [{key: self._record(key, *self._locate(index)) for key in keys} for index in indices]

    def _record(self, key: str, shard: int, i: int) -> Column:
        tensor = self._tensors[key][shard]
        if tensor.offsets is None:
            raise NoKeyError(f"{self.path}: key {key!r} has no offsets, so it holds no records")
        if key not in self._shards.groups:
            return _private(tensor.values[tensor.offsets[i] : tensor.offsets[i + 1]])
        return [_private(part) for part in self._shards.shards[shard].reader.parts(key, i)]

    def _content(self) -> object:
        return self._shards.fingerprint


def _reopen(
    kind: type[ShardStore], arguments: tuple[Any, ...], options: dict[str, Any], fingerprint: str
) -> ShardStore:
    store = kind(*arguments, **options)
    if store.fingerprint != fingerprint:
        raise StoreChangedError(f"{store.path}: other shards lie here than those of the store that was pickled")
    return store


def _segment(cut: NDArray[np.int64], at: int) -> int:
    """Which of the things that are cut holds place `at`: empty ones never do."""
    return int(np.searchsorted(cut, at, "right")) - 1


def _ones_along(tensor: KeyedTensor) -> KeyedTensor:
    """A mask of ones, which takes no memory, cut where the ids are."""
    return KeyedTensor(np.broadcast_to(np.True_, tensor.size), tensor.offsets)


def _documents(tensor: KeyedTensor) -> NDArray[np.int64]:
    """Where the documents of a shard begin."""
    assert tensor.offsets is not None
    cut = tensor.offsets if tensor.parts is None else tensor.parts.offsets
    return cut[:-1][cut[:-1] < tensor.size]


def _private(values: NDArray[Any]) -> NDArray[Any]:
    return np.array(values, values.dtype.newbyteorder("="))
