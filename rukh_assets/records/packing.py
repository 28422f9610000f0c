"""Documents into rows: which documents stand in which row of a shard, in which order.

    simple       one document a row, in the order of the documents
    bfd          best fit, longest first: each document into the fullest row that still has room for it
    bfd_split    the same, after documents longer than a row are cut into chunks as long as a row

A row is what one training sequence is made of. Nothing is padded and nothing is lost here; what is longer than a row
and not to be split is cut when its record is built, before it comes here.
"""

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rukh_assets.errors import RowLengthError
from rukh_loaders.formats import cut_at

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Runs of documents, and how many of them each row has; all arrays are int64.

    Run k is `lengths[k]` tokens of document `documents[k]` from its token `begins[k]` on; row i has the runs from
    `offsets[i]` up to `offsets[i + 1]`, which is left out.
    """

    documents: Ints
    begins: Ints
    lengths: Ints
    offsets: Ints

    def row_lengths(self) -> Ints:
        """Number of tokens of each row."""
        return np.diff(cut_at(self.lengths)[self.offsets])


def one_a_row(lengths: Ints, row_length: int) -> Rows:
    """Every document in a row of its own; `RowLengthError` for an empty one and one longer than a row."""
    _check_lengths(lengths, row_length)
    count = lengths.size
    return Rows(np.arange(count), np.zeros(count, np.int64), lengths, np.arange(count + 1))


def best_fit(lengths: Ints, row_length: int) -> Rows:
    """Longest document first, ties in their order, each into the row with the least room that suffices.

    Of several such rows the first opened, and where there is none, a new one. `RowLengthError` as for `one_a_row`.
    Documents of one length are placed together, so the time goes by the number of different lengths.
    """
    _check_lengths(lengths, row_length)
    longest_first = np.argsort(-lengths, kind="stable")
    different, counts = np.unique(lengths, return_counts=True)
    rows = _OpenRows(row_length)
    placed = [rows.place(int(length), int(count)) for length, count in zip(different[::-1], counts[::-1], strict=True)]
    row_of = np.concatenate([np.empty(0, np.int64), *placed])
    by_row = np.argsort(row_of, kind="stable")
    documents = longest_first[by_row]
    offsets = cut_at(np.bincount(row_of, minlength=rows.count))
    return Rows(documents, np.zeros(documents.size, np.int64), lengths[documents], offsets)


def best_fit_split(lengths: Ints, row_length: int) -> Rows:
    """As `best_fit`, of documents cut into chunks of `row_length` tokens, the last of each as short as it is."""
    _check_lengths(lengths, None)
    chunks = -(-lengths // row_length)
    documents = np.repeat(np.arange(lengths.size), chunks)
    begins = (np.arange(documents.size) - np.repeat(cut_at(chunks)[:-1], chunks)) * row_length
    rows = best_fit(np.minimum(lengths[documents] - begins, row_length), row_length)
    return Rows(documents[rows.documents], begins[rows.documents], rows.lengths, rows.offsets)


PACK: dict[str, Callable[[Ints, int], Rows]] = {"simple": one_a_row, "bfd": best_fit, "bfd_split": best_fit_split}
"""The function of each `packing_strategy` of a config: lengths and the length of a row to rows."""


class _OpenRows:
    """Rows with room, by how much room they have."""

    def __init__(self, row_length: int) -> None:
        self.count = 0
        self._row_length = row_length
        self._rooms: list[int] = []
        """The rooms that any row has, rising."""
        self._rows: dict[int, list[Ints]] = {}

    def place(self, length: int, count: int) -> Ints:
        """The row of each of `count` documents of this length, when they are placed one after the other.

        A row that took one of them has less room than any other that suffices, so it takes the next one too, until
        it is full: whole rows at once.
        """
        placed = []
        while count:
            at = bisect_left(self._rooms, length)
            room = self._rooms[at] if at < len(self._rooms) else self._row_length
            rows = self._take(at) if at < len(self._rooms) else self._open(-(-count // (room // length)))
            fitting = room // length
            used = rows[: -(-count // fitting)]
            n_placed = min(count, used.size * fitting)
            full, in_last = divmod(n_placed, fitting)
            self._put(room - fitting * length, used[:full])
            self._put(room - in_last * length, used[full:])
            self._put(room, rows[used.size :])
            placed.append(np.repeat(used, fitting)[:n_placed])
            count -= n_placed
        return np.concatenate(placed)

    def _open(self, count: int) -> Ints:
        self.count += count
        return np.arange(self.count - count, self.count)

    def _take(self, at: int) -> Ints:
        """The rows with the room that stands at this place, in the order in which they were opened."""
        return np.sort(np.concatenate(self._rows.pop(self._rooms.pop(at))), kind="stable")

    def _put(self, room: int, rows: Ints) -> None:
        if room == 0 or rows.size == 0:
            return
        if room not in self._rows:
            insort(self._rooms, room)
            self._rows[room] = []
        self._rows[room].append(rows)


def _check_lengths(lengths: Ints, row_length: int | None) -> None:
    if lengths.size == 0:
        return
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest < 1 or (row_length is not None and longest > row_length):
        limit = "" if row_length is None else f" to {row_length}"
        raise RowLengthError(f"lengths are {shortest} to {longest}, allowed: 1{limit}")
