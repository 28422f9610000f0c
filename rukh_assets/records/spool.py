"""The records of one domain since its last shard: their values in files, their lengths in memory."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_assets.records.layout import Layout
from rukh_assets.records.values import integers, numbers
from rukh_loaders.formats import Parts, cut_at
from rukh_loaders.formats.corpus import KeyKind, RecordKey
from rukh_loaders.formats.tensors import Cut
from rukh_loaders.records import Built, Place

Record = tuple[Place, Built]
Ints = NDArray[np.int64]


class Spool:
    """Takes records into a folder that it makes, one file a key that comes from records.

    `n_records` and `n_tokens` count what it has taken, tokens of the first key of ids.
    """

    def __init__(self, folder: Path, layout: Layout) -> None:
        self.folder = folder
        self.n_records = 0
        self.n_tokens = 0
        self._columns = {name: _Column(folder / name, name, layout.keys.keys[name]) for name in layout.stored}
        folder.mkdir(parents=True)

    def add(self, records: Sequence[Record]) -> None:
        """Write the records behind those that are there; `RecordValueError` for an id that its dtype cannot hold."""
        for column in self._columns.values():
            column.add(records)
        self.n_records += len(records)
        self.n_tokens += sum(built.n_tokens for _, built in records)

    def path(self, name: str) -> Path:
        """The file of a key: its values, without a header."""
        return self._columns[name].path

    def offsets(self, name: str) -> Cut:
        """Where the values of a key are cut into records."""
        return self._columns[name].offsets()

    def parts(self, name: str) -> Parts | None:
        """Where they are cut into the sequences of groups; None for a key of another kind."""
        return self._columns[name].parts()


class _Column:
    """One key: its file, the length of each sequence, and of a group how many sequences each record has."""

    def __init__(self, path: Path, name: str, key: RecordKey) -> None:
        self.path = path
        self._name = name
        self._dtype = np.dtype(key.dtype)
        self._is_group = key.kind is KeyKind.GROUP
        self._is_values = key.kind is KeyKind.VALUES
        self._lengths: list[Ints] = []
        self._n_parts: list[Ints] = []

    def add(self, records: Sequence[Record]) -> None:
        sequences: list[Any] = [built.keys[self._name] for _, built in records]
        if self._is_group:
            self._n_parts.append(_sizes(sequences))
            sequences = list(chain.from_iterable(sequences))
        lengths = _sizes(sequences)
        self._lengths.append(lengths)

        def place_of(value: int) -> str:
            records_end = cut_at(lengths)[cut_at(self._n_parts[-1])] if self._is_group else cut_at(lengths)
            return f"{records[int(np.searchsorted(records_end, value, 'right')) - 1][0]}: {self._name}"

        found, count = chain.from_iterable(sequences), int(lengths.sum())
        values = (
            numbers(found, count, self._dtype) if self._is_values else integers(found, count, self._dtype, place_of)
        )
        with self.path.open("ab") as file:
            file.write(values.data)

    def offsets(self) -> Cut:
        cut = cut_at(np.concatenate(self._lengths))
        return cut[cut_at(np.concatenate(self._n_parts))] if self._is_group else cut

    def parts(self) -> Parts | None:
        if not self._is_group:
            return None
        return Parts(cut_at(np.concatenate(self._lengths)), cut_at(np.concatenate(self._n_parts)))


def _sizes(sequences: Sequence[Sequence[Any]]) -> Ints:
    return np.fromiter(map(len, sequences), np.int64, len(sequences))
