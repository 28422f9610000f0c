"""The games of several packs, one pack after the other, as one stream with 64-bit positions."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import NoColumnError, PackError, VocabularyMismatchError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.formats.pack import COLUMNS, Pack, folder_identity
from rukh_loaders.packs.spanning import Spanning

Games = NDArray[np.int64]
"""Numbers of games, counted through all packs of a stream."""

Positions = NDArray[np.int64]
"""Numbers of tokens, counted through all packs of a stream."""

_SAMPLES = 512


class Stream:
    """What `packs` hold, one after the other: game i of the stream is game `i - game_offsets[p]` of pack p.

    `game_offsets` and `token_offsets` are int64 of shape (len(packs) + 1,): where each pack begins, and the whole
    at the end. An empty pack begins where the next one does.

    Raises:
        PackError: no pack at all, or the same folder twice.
        VocabularyMismatchError: two packs of other schemes or vocabularies.
    """

    def __init__(self, packs: Sequence[Pack]) -> None:
        _check_packs(packs)
        self.packs = tuple(packs)
        self.game_offsets = _offsets(pack.info.n_games for pack in packs)
        self.token_offsets = _offsets(pack.info.n_tokens for pack in packs)
        self.n_games = int(self.game_offsets[-1])
        self.n_tokens = int(self.token_offsets[-1])

    @cached_property
    def fingerprint(self) -> str:
        """sha256, hexadecimal, of what the packs say of themselves in their meta.json and manifest.json, in order.

        A pack of another program, without a manifest, has some of its ids and starts read instead.
        """
        return digest([[pack.info.model_dump(), pack.manifest or _samples(pack)] for pack in self.packs])

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The columns that every pack has."""
        return tuple(name for name in COLUMNS if all(name in pack.columns for pack in self.packs))

    def starts_of(self, games: Games) -> Positions:
        """Where each game has its `<bos>`; `PackError` for a start outside its pack, which opening does not notice."""
        pack = self._pack_of(games)
        shifts, starts = self._starts
        within = starts[games + shifts[pack]]
        if np.any(within.view(np.uint64) >= self._sizes[pack]):  # as unsigned numbers, negative ones are the largest
            at = int(np.argmax(within.view(np.uint64) >= self._sizes[pack]))
            raise self.damaged_start(int(games[at]), int(within[at]))
        positions: Positions = within + self.token_offsets[pack]
        return positions

    def ends_of(self, games: Games) -> Positions:
        """Where each game ends: one behind its `<eos>`."""
        pack = self._pack_of(games)
        ends: Positions = np.empty(games.size, np.int64)
        ends[:] = self.token_offsets[pack + 1]
        inner = np.flatnonzero(games + 1 < self.game_offsets[pack + 1])
        ends[inner] = self.starts_of(games[inner] + 1)
        return ends

    def damaged_start(self, game: int, start: int) -> PackError:
        """The error for a game of the stream that starts outside its pack, or not before the next game does."""
        number = int(np.searchsorted(self.game_offsets, game, side="right")) - 1
        pack = self.packs[number]
        return PackError(
            f"{pack.path}/starts.npy: game {game - self.game_offsets[number]} starts at {start}, expected 0 to "
            f"{pack.info.n_tokens - 1}, and starts that rise; `python -m rukh_loaders check` says all that is wrong"
        )

    def games_at(self, positions: Positions) -> Games:
        """Of which game the token at each position is."""
        games = np.empty(positions.size, np.int64)
        for number, where, local in by_part(self.token_offsets, positions):
            within = np.searchsorted(self.packs[number].starts, local, side="right") - 1
            games[where] = within + self.game_offsets[number]
        return games

    def column_of(self, name: str, games: Games) -> NDArray[Any]:
        """The column's values of these games."""
        self.check_column(name)
        values = np.empty(games.size, COLUMNS[name])
        for number, where, local in by_part(self.game_offsets, games):
            values[where] = self.packs[number].columns[name][local]
        return values

    def column_between(self, name: str, begin: int, end: int) -> NDArray[Any]:
        """The column's values of the games from `begin` to `end - 1`: mapped where they lie in one pack."""
        self.check_column(name)
        pieces = []
        for pack, offset in zip(self.packs, self.game_offsets.tolist(), strict=False):
            low, high = max(begin - offset, 0), min(end - offset, len(pack))
            if low < high:
                pieces.append(pack.columns[name][low:high])
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty(0, COLUMNS[name])

    def _pack_of(self, games: Games) -> NDArray[np.intp] | int:
        """Which pack each game is in; of one pack its number alone, since looking it up costs a tenth of a batch."""
        return 0 if len(self.packs) == 1 else np.searchsorted(self.game_offsets, games, side="right") - 1

    @cached_property
    def _sizes(self) -> NDArray[np.uint64]:
        """How many tokens each pack has."""
        return np.diff(self.token_offsets).astype(np.uint64)

    @cached_property
    def _starts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What to add to a game of each pack to have its place in the second: all packs' starts."""
        starts = Spanning([pack.starts for pack in self.packs])
        return starts.bases - self.game_offsets[:-1], starts.whole

    def check_column(self, name: str) -> None:
        """Raise `NoColumnError` unless every pack has the column."""
        if name not in COLUMNS:
            raise NoColumnError(f"no column {name!a}; packs have {', '.join(COLUMNS)}")
        for pack in self.packs:
            if name not in pack.columns:
                raise NoColumnError(f"{pack.path}: has no column {name}, only {', '.join(pack.columns) or 'ids'}")


def _check_packs(packs: Sequence[Pack]) -> None:
    if not packs:
        raise PackError("got no pack; a stream needs one or more")
    first, seen = packs[0], set[object]()
    for pack in packs:
        mine, theirs = ((p.info.scheme, p.info.vocab_size, p.info.vocab_hash) for p in (pack, first))
        if mine != theirs:
            raise VocabularyMismatchError(
                f"{pack.path}: has scheme, ids and vocabulary {mine}, {first.path} has {theirs}; "
                "packs are opened together only where they agree"
            )
        identity = folder_identity(pack.path) or pack.path  # one folder may be spelled, or linked to, in many ways
        if identity in seen:
            raise PackError(f"{pack.path}: was given twice, so its games would be served twice")
        seen.add(identity)


def _samples(pack: Pack) -> list[list[int]]:
    """The first and last ids and starts of a pack, and some from all over it."""
    taken = []
    for array in (pack.tokens, pack.starts):
        places = np.linspace(0, max(array.size - 1, 0), min(_SAMPLES, array.size), dtype=np.int64)
        taken += [array[places], array[:_SAMPLES], array[-_SAMPLES:]]
    return [values.tolist() for values in taken]


def _offsets(counts: Iterator[int]) -> NDArray[np.int64]:
    offsets = np.cumsum([0, *counts], dtype=np.int64)
    offsets.flags.writeable = False
    return offsets


def by_part(
    offsets: NDArray[np.int64], numbers: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Numbers counted through several parts, part by part: the part, where its numbers are, and what they are in it.

    `offsets` are where each part begins, and the whole at the end. Parts without a number are left out.
    """
    if len(offsets) == 2:
        yield 0, np.arange(numbers.size), numbers
        return
    parts = np.searchsorted(offsets, numbers, side="right") - 1
    order = np.argsort(parts, kind="stable")
    edges = np.searchsorted(parts[order], np.arange(len(offsets)))
    for part in np.flatnonzero(np.diff(edges)).tolist():
        where = order[edges[part] : edges[part + 1]]
        yield part, where, numbers[where] - offsets[part]
