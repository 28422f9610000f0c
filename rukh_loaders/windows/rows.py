"""Which ids make up a row of a batch: windows that run on through the stream, and rows of chosen games. No torch.

StreamWindows        each begins somewhere in the stream and runs on, whatever follows
ChosenGameWindows    each begins at a chosen game and runs on through the chosen games after it
GameRows             a chosen game a row, the rest of the row padded
JoinedRows           those of several sources, one after the other
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from rukh_loaders.errors import PackError
from rukh_loaders.orders.permutation import hashed, mixed
from rukh_loaders.packs.packs import Packs
from rukh_loaders.packs.stream import by_part
from rukh_loaders.windows.gather import Ids, StreamReader
from rukh_loaders.windows.pieces import Numbers, Pieces, joined, ranges, whole_games


class Rows(Protocol):
    """Numbered rows of `width` ids. Indices are int64 of shape (n,), each in `0..len-1`: callers see to that."""

    def __len__(self) -> int: ...

    def tokens(self, indices: Numbers) -> Ids:
        """The rows: uint16 (n, width), the caller's own, `<pad>` where a row has nothing."""

    def pieces(self, indices: Numbers) -> Pieces:
        """What the rows are made of."""

    def spans(self, begins: Numbers, lengths: Numbers) -> Ids:
        """Ids of the stream, in which `Pieces.game_begin` counts; no span runs past its game: `StreamReader.spans`."""


class PackRows:
    """What rows of one `Packs` share: how ids and games are read."""

    def __init__(self, packs: Packs, width: int, stop: int | None = None) -> None:
        self.packs = packs
        self.width = width
        n_games, n_tokens = int(packs.game_offsets[-1]), int(packs.token_offsets[-1])
        self._reader = StreamReader(packs.packs, packs.token_offsets, width, n_tokens if stop is None else stop)
        self.spans = self._reader.spans
        self._reach = width * n_games // max(n_tokens, 1) + 4  # games that are looked at first, nearly always enough

    def games_of(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Where in the stream the k-th chosen games begin, and how long they are; `PackError` where starts fall."""
        games = self.packs.choice.select(numbers)
        begins = self.packs.starts_of(games)
        lengths = self.packs.ends_of(games) - begins
        if lengths.min(initial=0) < 0:
            raise self.damaged_start(int(games[np.argmax(lengths < 0)]))
        return begins, lengths

    def damaged_start(self, game: int) -> PackError:
        """The error for a game of the stream that does not start before the next one does."""
        pack = np.searchsorted(self.packs.game_offsets, game, side="right") - 1
        start = self.packs.starts_of(np.array([game]))[0] - self.packs.token_offsets[pack]
        return self.packs.stream.damaged_start(game, int(start))

    def games_from(self, first: Numbers, n_ids: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The chosen games from the `first[i]`-th on, until they have `n_ids[i]` ids or more, or there are no more.

        Returns for each of them its i, and what `games_of` gives. There may be more games than needed.
        """
        reach = self._reach
        while True:
            counts = np.minimum(reach, self.packs.n_games - first)
            rows = np.repeat(np.arange(len(first)), counts)
            begins, lengths = self.games_of(ranges(first, counts))
            if np.all((np.bincount(rows, lengths, minlength=len(first)) >= n_ids) | (counts < reach)):
                return rows, begins, lengths
            reach *= 2


class StreamWindows(PackRows):
    """Windows of the stream that begin at `begins_of(indices)` and end with the chosen games, which are consecutive."""

    def __init__(self, packs: Packs, width: int, count: int, begins_of: Callable[[Numbers], Numbers]) -> None:
        super().__init__(packs, width, _token_range(packs)[1])
        self.begins_of = begins_of
        self._count = count

    def __len__(self) -> int:
        return self._count

    def tokens(self, indices: Numbers) -> Ids:
        """The rows: uint16 (n, width), the caller's own."""
        return self._reader.windows(self.begins_of(indices))

    def pieces(self, indices: Numbers) -> Pieces:
        """What the rows are made of; the first piece may begin amid its game."""
        begins = self.begins_of(indices)
        first = self.first_games(indices, begins)
        before = begins - self.packs.starts_of(first + self.packs.choice.begin)
        rows, game_begin, game_length = self.games_from(first, self.width + before)
        begin = np.maximum(game_begin, begins[rows])
        length = np.minimum(game_begin + game_length, begins[rows] + self.width) - begin
        pieces = Pieces(rows, begin - begins[rows], length, begin - game_begin, game_begin, game_length)
        return pieces.chosen(length > 0)

    def first_games(self, indices: Numbers, begins: Numbers) -> Numbers:
        """In which of the chosen games each window begins."""
        return self.packs.games_at(begins) - self.packs.choice.begin


class StreamGameWindows(StreamWindows):
    """Those that begin at the chosen games."""

    def first_games(self, indices: Numbers, begins: Numbers) -> Numbers:
        """In which of the chosen games each window begins: known without a search."""
        return indices


class PieceRows(PackRows):
    """Rows whose ids are those of their pieces. Subclasses say which."""

    def pieces(self, indices: Numbers) -> Pieces:
        """What the rows are made of."""
        raise NotImplementedError

    def tokens(self, indices: Numbers) -> Ids:
        """The rows: uint16 (n, width), the caller's own."""
        pieces = self.pieces(indices)
        filled = np.bincount(pieces.row, pieces.length, minlength=len(indices)).astype(np.int32)
        out = np.zeros((len(indices), self.width), np.uint16)  # <pad> is 0
        out[np.arange(self.width, dtype=np.int32) < filled[:, np.newaxis]] = self.spans(pieces.begin, pieces.length)
        return out


class ChosenGameWindows(PieceRows):
    """Window k begins at the k-th chosen game; the chosen games after it follow, and after the last one `<pad>`."""

    def __len__(self) -> int:
        return self.packs.n_games

    def pieces(self, indices: Numbers) -> Pieces:
        """What the rows are made of."""
        return whole_games(*self.games_from(indices, np.full_like(indices, self.width)), self.width)


class GameRows(PieceRows):
    """Row k is the k-th chosen game, cut at the row's width."""

    def __len__(self) -> int:
        return self.packs.n_games

    def pieces(self, indices: Numbers) -> Pieces:
        """What the rows are made of."""
        return whole_games(np.arange(len(indices)), *self.games_of(indices), self.width)


class JoinedRows:
    """The rows of several sources, one source after the other; their streams count as one, in the same order."""

    def __init__(self, parts: Sequence[Rows], n_tokens: Sequence[int]) -> None:
        self.parts = parts
        self.row_offsets = np.cumsum([0, *map(len, parts)])
        self.token_offsets = np.cumsum([0, *n_tokens])

    def __len__(self) -> int:
        return int(self.row_offsets[-1])

    def tokens(self, indices: Numbers) -> Ids:
        """The rows: uint16 (n, width), the caller's own."""
        out: Ids | None = None
        for number, which, local in by_part(self.row_offsets, indices):
            tokens = self.parts[number].tokens(local)
            if out is None:
                out = np.empty((len(indices), tokens.shape[1]), np.uint16)
            out[which] = tokens
        return self.parts[0].tokens(indices) if out is None else out

    def pieces(self, indices: Numbers) -> Pieces:
        """What the rows are made of."""
        found = [Pieces.none()]
        for number, which, local in by_part(self.row_offsets, indices):
            pieces = self.parts[number].pieces(local)
            found.append(pieces.moved(which, int(self.token_offsets[number])))
        return joined(found)

    def spans(self, begins: Numbers, lengths: Numbers) -> Ids:
        """Ids of the joined stream; no span runs from one source into the next."""
        out = np.empty(int(lengths.sum()), np.uint16)
        at = np.cumsum(lengths) - lengths
        for number, which, local in by_part(self.token_offsets, begins):
            out[ranges(at[which], lengths[which])] = self.parts[number].spans(local, lengths[which])
        return out


def windows_at_games(packs: Packs, width: int) -> Rows:
    """Window k begins at the k-th chosen game and runs on through the chosen games."""
    if packs.token_range is None:
        return ChosenGameWindows(packs, width)
    first = packs.choice.begin
    if len(packs.packs) > 1:
        return StreamGameWindows(packs, width, packs.n_games, lambda indices: packs.starts_of(indices + first))
    starts = packs.packs[0].starts[first : first + packs.n_games]
    n_tokens = np.uint64(packs.packs[0].info.n_tokens)

    def begins_of(indices: Numbers) -> Numbers:
        begins = starts[indices]
        # As unsigned numbers, negative ones are the largest.
        if begins.size and np.maximum.reduce(begins.view(np.uint64)) >= n_tokens:
            packs.starts_of(indices + first)  # raises, with the name of the file
        return begins

    return StreamGameWindows(packs, width, packs.n_games, begins_of)


def windows_of_blocks(packs: Packs, width: int) -> Rows:
    """The chosen tokens cut every `width - 1`, from the first one on; a shorter rest is left out, unless it is all."""
    (begin, end), block = _token_range(packs), width - 1
    return StreamWindows(packs, width, _blocks(begin, end, block), lambda indices: begin + indices * block)


def windows_at_random(packs: Packs, width: int, seed: int) -> Rows:
    """As many windows as there are blocks, each at a place that the hash of (seed, its index) gives.

    All places from which a block can be filled are equally likely. The place is 53 bits of a hash times their number:
    that is uniform to within the rounding of a double.
    """
    (begin, end), block = _token_range(packs), width - 1
    places = max(1, end - begin - block + 1)
    key = hashed(f"random windows {seed}")

    def begins_of(indices: Numbers) -> Numbers:
        drawn = mixed(mixed(indices.astype(np.uint64)) ^ key) >> np.uint64(11)
        return begin + (drawn * (places / 2**53)).astype(np.int64)

    return StreamWindows(packs, width, _blocks(begin, end, block), begins_of)


def _token_range(packs: Packs) -> tuple[int, int]:
    assert packs.token_range is not None, "callers see to it that the chosen games are consecutive"
    return packs.token_range


def _blocks(begin: int, end: int, block: int) -> int:
    return max(1, (end - begin) // block) if end > begin else 0
