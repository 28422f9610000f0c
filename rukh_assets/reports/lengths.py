"""How long a pack's games are: how many have each length, so that a month of any size is counted in little memory."""

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import PackError
from rukh_loaders.formats import Pack
from rukh_loaders.formats.mapping import give_back

_GAMES_AT_ONCE = 1 << 17

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lengths:
    """Lengths of games, frame included, and how many games have each."""

    lengths: Numbers
    """[n]: each that occurs, rising."""
    games: Numbers
    """[n]: 1 and more."""

    @property
    def n_games(self) -> int:
        """All of them."""
        return int(self.games.sum())

    @property
    def longest(self) -> int:
        """The length of the longest game."""
        return int(self.lengths[-1])

    @property
    def mean(self) -> float:
        """What `np.mean` gives of one length a game."""
        return int((self.lengths * self.games).sum()) / self.n_games

    def percentile(self, percent: float) -> float:
        """What `np.percentile` gives of one length a game: between two games, on the straight line through them."""
        place = (self.n_games - 1) * (percent / 100)
        before = floor(place)
        ends = np.cumsum(self.games)
        places = [before, min(before + 1, self.n_games - 1)]
        low, high = map(int, self.lengths[np.searchsorted(ends, places, side="right")])
        share = place - before
        # As numpy does: from the nearer of the two, so that the last digits are the same.
        return low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share)

    def n_games_up_to(self, length: int) -> int:
        """Games of at most this length."""
        return int(self.games[self.lengths <= length].sum())


def count_lengths(lengths: Numbers) -> Lengths:
    """Count one length a game."""
    return Lengths(*np.unique(lengths, return_counts=True))


def pack_lengths(pack: Pack, first: int | None = None) -> Lengths:
    """Lengths of the pack's first games (all where `first` is None), from its starts alone, a part at a time.

    Raises `PackError` for starts that do not rise.
    """
    counted = count_lengths(np.empty(0, np.int64))
    end = len(pack) if first is None else min(first, len(pack))
    for begin in range(0, end, _GAMES_AT_ONCE):
        counted = _add(counted, count_lengths(_lengths(pack, begin, min(begin + _GAMES_AT_ONCE, end))))
        give_back(pack.starts)
    return counted


def _add(some: Lengths, others: Lengths) -> Lengths:
    lengths, places = np.unique(np.concatenate([some.lengths, others.lengths]), return_inverse=True)
    games = np.zeros(lengths.size, np.int64)
    np.add.at(games, places, np.concatenate([some.games, others.games]))
    return Lengths(lengths, games)


def _lengths(pack: Pack, begin: int, end: int) -> Numbers:
    """The length of each game from `begin` to before `end`."""
    borders = pack.starts[begin : end + 1]
    if end == len(pack):
        borders = np.append(borders, pack.info.n_tokens)
    lengths: Numbers = np.diff(borders)
    if lengths.min(initial=1) < 1:
        game = int(lengths.argmin())
        raise PackError(
            f"{pack.path / 'starts.npy'}: game {begin + game} starts at {borders[game]} and the next at "
            f"{borders[game + 1]}, expected starts that rise"
        )
    return lengths
