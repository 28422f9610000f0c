"""Pieces: which parts of which games the rows of a batch are made of."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """The ids of games in the rows of a batch, one piece a row and game, by row and from left to right.

    All int64 of shape (pieces,). Every row that is no filler has one at column 0, the next one begins where the last
    one ends, and what follows the last one is padding.
    """

    row: Numbers
    column: Numbers
    length: Numbers
    """How many ids, 1 or more."""
    offset: Numbers
    """Which id of its game the piece begins with: 0 is the `<bos>`."""
    game_begin: Numbers
    """Where in the stream the game begins."""
    game_length: Numbers

    @property
    def begin(self) -> Numbers:
        """Where in the stream the piece begins."""
        return self.game_begin + self.offset

    def within(self, width: int) -> Pieces:
        """What lies in the first `width` columns."""
        cut = replace(self, length=np.minimum(self.length, width - self.column))
        return cut.chosen(self.column < width)

    def chosen(self, which: NDArray[np.bool_]) -> Pieces:
        """Those for which `which`, bool (pieces,), holds."""
        return self if which.all() else Pieces(*(getattr(self, field.name)[which] for field in fields(self)))

    def moved(self, rows: Numbers, positions: int = 0) -> Pieces:
        """The same with row i at `rows[i]`, where `rows` rises, and so many positions further on in the stream."""
        return replace(self, row=rows[self.row], game_begin=self.game_begin + positions)

    @staticmethod
    def none() -> Pieces:
        """No pieces."""
        return Pieces(*np.empty((len(fields(Pieces)), 0), np.int64))


def whole_games(row: Numbers, game_begin: Numbers, game_length: Numbers, width: int) -> Pieces:
    """Games from their first id on, those of a row one after the other, cut at the row's `width`; `row` rises."""
    before = np.cumsum(game_length) - game_length
    column = before - before[np.searchsorted(row, row)]
    return Pieces(row, column, game_length, np.zeros_like(row), game_begin, game_length).within(width)


def joined(parts: list[Pieces]) -> Pieces:
    """The pieces of all parts, which have no row in common, by row."""
    columns = [np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Pieces)]
    order = np.argsort(columns[0], kind="stable")
    return Pieces(*(column[order] for column in columns))


def ranges(begins: Numbers, lengths: Numbers) -> Numbers:
    """`begins[0], begins[0] + 1, ...`, `lengths[0]` of them, then from `begins[1]` on, and so forth."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(total)
