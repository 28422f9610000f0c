"""Whole games packed into rows with little padding: best-fit decreasing. No torch.

Games are taken in groups of 65,536 consecutive chosen ones. In each, the longest game comes first, and every game goes
into the fullest row that has room for it, a new one where none has. That is best-fit decreasing, a bin packing that
needs at most 11/9 of the fewest possible rows and one more (Johnson, "Near-optimal bin packing algorithms", 1973); for
chess games and 200 ids a row it comes within a few thousandths of no padding.

Games of the same length are placed together: a step takes all rows with the same room, so that a group takes as many
steps as there are pairs of a length and a room, whatever the number of its games.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.packs.packs import Packs
from rukh_loaders.windows.pieces import Numbers, Pieces, ranges, whole_games
from rukh_loaders.windows.rows import PieceRows

TooLong = Literal["leave_out", "cut"]
"""What becomes of a game that is longer than a row."""

GROUP = 1 << 16
"""Games that are packed together: a game and a row's first game then each fit 2 bytes."""


@dataclass(frozen=True)
class Packing:
    """Which games are in which rows, in 2 bytes a game and 2 a row.

    Group g holds the games `g * GROUP` and on and the rows `rows_before[g]` to `rows_before[g + 1] - 1`. The games of
    its rows, one row after the other, are `games[games_before[g]:games_before[g + 1]]`, counted from the group's first
    game, and `first` is where among them each row begins.
    """

    games: NDArray[np.uint16]
    games_before: Numbers
    first: NDArray[np.uint16]
    rows_before: Numbers

    def __len__(self) -> int:
        return int(self.rows_before[-1])

    def games_of(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """The games in `rows`: for each the place of its row in `rows`, which rises, and its number."""
        group = np.searchsorted(self.rows_before, rows, side="right") - 1
        begins = self.games_before[group] + self.first[rows]
        following = np.minimum(rows + 1, len(self) - 1)
        is_last = rows + 1 == self.rows_before[group + 1]
        ends = self.games_before[group] + self.first[following]
        ends[is_last] = self.games_before[group + 1][is_last]
        counts = ends - begins
        place = np.repeat(np.arange(len(rows)), counts)
        return place, group[place] * GROUP + self.games[ranges(begins, counts)]


class BestFitRows(PieceRows):
    """Rows of `block` ids, each made of whole chosen games; their last id, `<eos>`, has no target.

    A game longer than `block` is left out, or cut and put into a row of its own. Rows are numbered group by group, and
    in a group by their first game; the games of a row are in the order of the stream.

    `padding` is the share of the rows' places that is `<pad>`, `left_out` how many games are in no row, and `cut` how
    many are in one with their first ids only.
    """

    def __init__(self, packs: Packs, width: int, too_long: TooLong) -> None:
        super().__init__(packs, width)
        self.block = width - 1
        self._numbers = np.zeros(2, np.int64)  # ids in rows, games too long
        self.packing = pack_games(self._lengths, packs.n_games, self.block, cut=too_long == "cut")
        filled, long_games = self._numbers.tolist()
        self.left_out, self.cut = (long_games, 0) if too_long == "leave_out" else (0, long_games)
        self.filled = filled + self.cut * self.block
        self.padding = 1 - self.filled / (len(self) * self.block) if len(self) else 0.0

    def __len__(self) -> int:
        return len(self.packing)

    def pieces(self, indices: Numbers) -> Pieces:
        """What the rows are made of."""
        place, numbers = self.packing.games_of(indices)
        return whole_games(place, *self.games_of(numbers), self.width)

    def _lengths(self, begin: int, end: int) -> Numbers:
        _, lengths = self.games_of(np.arange(begin, end))
        if lengths.min(initial=1) < 1:
            raise self.damaged_start(int(self.packs.choice.select(begin + np.flatnonzero(lengths < 1)[:1])[0]))
        fits = lengths <= self.block
        self._numbers += lengths[fits].sum(), (~fits).sum()
        return lengths


def pack_games(lengths_of: Callable[[int, int], Numbers], count: int, block: int, *, cut: bool) -> Packing:
    """Pack games into rows of `block` ids; `lengths_of(begin, end)` are the lengths of those games, asked for once.

    Longer games are in no row, or with `cut` in one of their own.
    """
    games, first, counts = [np.empty(0, np.uint16)], [np.empty(0, np.uint16)], [(0, 0)]
    for begin in range(0, count, GROUP):
        lengths = lengths_of(begin, min(begin + GROUP, count))
        placed, begins = _pack_group(np.minimum(lengths, block) if cut else lengths, block)
        games.append(placed)
        first.append(begins)
        counts.append((placed.size, begins.size))
    games_before, rows_before = np.cumsum(np.array(counts, np.int64), axis=0).T.copy()
    return Packing(np.concatenate(games), games_before, np.concatenate(first), rows_before)


def _pack_group(lengths: Numbers, block: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """The games in the order of their rows, and where in it each row begins."""
    order = np.argsort(-lengths, kind="stable")
    order = order[np.searchsorted(-lengths[order], -block) :]  # those that fit
    row = _best_fit(lengths[order], block)
    earliest = np.full(int(row.max()) + 1 if row.size else 0, GROUP)
    np.minimum.at(earliest, row, order)
    rank = np.empty_like(earliest)
    rank[np.argsort(earliest)] = np.arange(earliest.size)
    by_row = np.lexsort((order, rank[row]))
    begins = np.cumsum(np.bincount(row, minlength=rank.size)[np.argsort(earliest)])
    return order[by_row].astype(np.uint16), np.concatenate([[0], begins])[:-1].astype(np.uint16)


def _best_fit(lengths: Numbers, block: int) -> Numbers:
    """The row of each game; `lengths` fall and are `block` at most. Rows are numbered as they are opened."""
    row = np.empty(lengths.size, np.int64)
    rooms = _Rooms(block)
    edges = np.flatnonzero(np.diff(lengths, prepend=block + 1, append=0))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        rooms.place(int(lengths[begin]), row[begin:end])
    return row


class _Rooms:
    """The rows that are open, by the room that they have left: the rooms that there are, and the rows of each."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.opened = 0
        self.rooms: list[int] = []  # they rise; those alone, since a block of millions would have as many rooms
        self.rows: dict[int, Numbers] = {}

    def place(self, length: int, row: Numbers) -> None:
        """Fill in the row of each of `len(row)` games of this length."""
        placed, least = 0, length
        while placed < row.size and (at := bisect_left(self.rooms, least)) < len(self.rooms):
            room = self.rooms[at]
            placed += self._fill(room, length, row[placed:])
            least = room + 1  # filling a room leaves smaller ones
        if placed < row.size:
            each = self.block // length
            rows = self.opened + np.arange(-(-(row.size - placed) // each))
            self.opened += rows.size
            self._put(self.block, rows)
            self._fill(self.block, length, row[placed:])

    def _fill(self, room: int, length: int, row: Numbers) -> int:
        """Place games of this length into the rows with this room, each filled up before the next; how many are."""
        each = room // length
        rows = self.rows.pop(room)
        self.rooms.pop(bisect_left(self.rooms, room))
        count = min(row.size, rows.size * each)
        full, rest = divmod(count, each)
        taken = rows[: full + (rest > 0)]
        row[:count] = np.repeat(taken, min(each, count))[:count]
        self._put(room, rows[taken.size :])
        self._put(room - each * length, taken[:full])
        self._put(room - rest * length, taken[full:])
        return count

    def _put(self, room: int, rows: Numbers) -> None:
        if not rows.size:
            return
        if room in self.rows:
            rows = np.concatenate([self.rows[room], rows])
        else:
            insort(self.rooms, room)
        self.rows[room] = rows
