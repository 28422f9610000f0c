"""What every store does: tokens of a stream by their range, records by their number, and windows of the stream."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import NoKeyError, NoWindowsError, RangeError, RecordIndexError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.orders.schedule import Schedule
from rukh_loaders.stores.cutting import Cutting, Part, Parts, chosen_parts

Array = NDArray[Any]
Column = Array | list[Array]
"""What a record has under a key: an array, or those of a group."""
Bounds = tuple[int, int]
Names = list[str] | tuple[str, ...]


class Store(ABC):
    """Records under keys, and the stream that they make one after the other.

    With a `window_size`, item i is window i of the stream: the tokens `i * stride` up to `i * stride + window_size`,
    where one more follows. Without one, and where there is no stream, item i is record i. `weights` names domains and
    the share of samples that each is to have; then windows are cut from each domain alone, in the order of the names,
    and the others are not served.

    What is returned is the caller's own, to be written into. A pickled store is its path.

    Attributes:
        path: what was opened.
        keys: the names of what a record has.
        stream_keys: those of them that `fetch` reads.
        domains: each domain with its records and tokens, in the order of the store.
    """

    path: Path
    keys: tuple[str, ...]
    stream_keys: tuple[str, ...]
    domains: tuple[Part, ...]

    def __init__(
        self,
        window_size: int,
        stride: int | None,
        pad_last: bool,
        weights: Mapping[str, float] | None,
    ) -> None:
        self.cutting = Cutting(window_size, stride, pad_last)
        self.weights = None if weights is None else dict(weights)
        self.schedule = None if weights is None else Schedule.of(weights.values())
        self.has_windows = bool(self.cutting.window_size and self.token_count)
        self.items = Parts(chosen_parts(self.domains, weights, str(self.path)), self.cutting, self.has_windows)

    @property
    def window_size(self) -> int:
        """Tokens of a window; 0 for records."""
        return self.cutting.window_size

    @property
    def stride(self) -> int:
        """Tokens from the beginning of a window to that of the next."""
        return self.cutting.step

    @property
    def num_records(self) -> int:
        """Records of all domains."""
        return self.domains[-1].records.stop if self.domains else 0

    @property
    def token_count(self) -> int:
        """Tokens of the stream: of the shortest of its keys, ids and masks."""
        return self.domains[-1].tokens.stop if self.domains else 0

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever an index means another item, or what is read for it changes."""
        cutting = self.cutting
        return digest([self._content(), cutting.window_size, cutting.step, cutting.pad_last, self.weights])

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> dict[str, Column]:
        """Item i under all keys that it has: a window (not shifted), or a record. Negative ones count from the end."""
        index = operator.index(index)
        item = index + len(self) if index < 0 else index
        if self.has_windows:
            return dict(self.fetch(*self.sample_window(item), self.stream_keys))
        part, within = self.items.locate(str(self.path), item)
        return self._read_records([part.records[within]], self._record_keys())[0]

    def sample_window(self, i: int) -> Bounds:
        """Begin and end of window i in the stream; the token at its end is the target of its last.

        `NoWindowsError`, a `RuntimeError`, without a window size; `RecordIndexError`, an `IndexError`, outside
        `0..len-1`.
        """
        if not self.window_size:
            raise NoWindowsError(f"{self.path}: window_size is 0, so it has no windows; open it with one")
        if not self.has_windows:
            raise RecordIndexError(f"{self.path}: no window {i}, the data is too short: it has no stream of tokens")
        part, within = self.items.locate(str(self.path), i)
        begin, end = self.cutting.window(within, len(part.tokens))
        return part.tokens.start + begin, part.tokens.start + end

    def item_bounds(self, i: int) -> Bounds:
        """Begin and end of the inputs of item i in the stream; their targets lie one further on."""
        if self.has_windows:
            return self.sample_window(i)
        begin, end = self.record_bounds(self.record_of_item(i))
        return begin, max(end - 1, begin)

    def record_of_item(self, i: int) -> int:
        """The record that item i is, in a store without windows; `RecordIndexError` outside `0..len-1`."""
        part, within = self.items.locate(str(self.path), i)
        return part.records[within]

    @overload
    def fetch(self, begin: int, end: int, keys: str) -> Array: ...
    @overload
    def fetch(self, begin: int, end: int, keys: Names) -> dict[str, Array]: ...
    def fetch(self, begin: int, end: int, keys: str | Names) -> Array | dict[str, Array]:
        """The tokens `begin..end-1` of the stream under a key, or under several by name; none where the two are equal.

        `RangeError`, a `ValueError`, unless `0 <= begin <= end <= token_count`; `NoKeyError`, a `KeyError`.
        """
        if isinstance(keys, str):
            return self.fetch_many([(begin, end)], [keys])[0][keys]
        return self.fetch_many([(begin, end)], keys)[0]

    def fetch_many(self, bounds: Sequence[Bounds], keys: Sequence[str]) -> list[dict[str, Array]]:
        """Several ranges of the stream at once, as `fetch` gives each."""
        for begin, end in bounds:
            if not 0 <= operator.index(begin) <= operator.index(end) <= self.token_count:
                raise RangeError(f"{self.path}: {begin} to {end} is out of bounds, allowed: 0 to {self.token_count}")
        self.check_keys(keys, self.stream_keys, "stream")
        return self._read_stream(bounds, keys)

    @overload
    def fetch_record(self, index: int, keys: str) -> Column: ...
    @overload
    def fetch_record(self, index: int, keys: Names) -> dict[str, Column]: ...
    def fetch_record(self, index: int, keys: str | Names) -> Column | dict[str, Column]:
        """What record `index` has under a key, or under several by name.

        `RecordIndexError`, a `ValueError`, outside `0..num_records-1`, negatives included; `NoKeyError`, a `KeyError`.
        """
        if isinstance(keys, str):
            return self.fetch_records([index], [keys])[0][keys]
        return self.fetch_records([index], keys)[0]

    def fetch_records(self, indices: Sequence[int], keys: Sequence[str]) -> list[dict[str, Column]]:
        """Several records at once, as `fetch_record` gives each."""
        for index in indices:
            self._check_record(index)
        self.check_keys(keys, self._record_keys(), "records")
        return self._read_records(indices, keys)

    def check_keys(self, keys: Sequence[str], allowed: Sequence[str], what: str) -> None:
        """Raise `NoKeyError`, a `KeyError`, for a key that is not among those allowed."""
        missing = [key for key in keys if key not in allowed]
        if missing:
            has = ", ".join(allowed) or "none"
            raise NoKeyError(f"{self.path}: no {', '.join(missing)} in its {what}, which has the keys {has}")

    @abstractmethod
    def check_same_lengths(self, keys: Sequence[str]) -> None:
        """Raise `StoreShardsError` unless the keys have as many values as each other, everywhere in the stream."""

    @abstractmethod
    def record_bounds(self, index: int) -> Bounds:
        """Begin and end of a record in the stream; `RecordIndexError` outside `0..num_records-1`."""

    @abstractmethod
    def document_begins(self, begin: int, end: int) -> NDArray[np.int64] | None:
        """Where the documents of a range of the stream begin, rising; the first at `begin` or before.

        None where the store does not know of documents.
        """

    @abstractmethod
    def _record_keys(self) -> tuple[str, ...]: ...

    @abstractmethod
    def _read_stream(self, bounds: Sequence[Bounds], keys: Sequence[str]) -> list[dict[str, Array]]: ...

    @abstractmethod
    def _read_records(self, indices: Sequence[int], keys: Sequence[str]) -> list[dict[str, Column]]: ...

    @abstractmethod
    def _content(self) -> object:
        """What the fingerprint is of, as JSON values."""

    def _check_record(self, index: int) -> None:
        if not 0 <= operator.index(index) < self.num_records:
            raise RecordIndexError(f"{self.path}: no record {index}, it has {self.num_records}, numbered from 0")
