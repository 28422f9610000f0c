"""How long the games of a pack are, counted piece by piece: little memory for a pack of any size."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import PackError
from rukh_loaders.formats.pack import Pack

GAMES_AT_ONCE = 1 << 20
LONGEST_COUNTED = 1 << 20
"""Games of more tokens are counted as if they had this many; their true maximum is kept."""

_ROWS = 12
_BAR = 48


@dataclass(frozen=True)
class Lengths:
    """`counts[n]` is the number of games of n tokens, frame included."""

    counts: NDArray[np.int64]
    longest: int

    @property
    def games(self) -> int:
        """Number of games."""
        return int(self.counts.sum())

    @property
    def shortest(self) -> int:
        """Tokens of the shortest game."""
        return int(np.flatnonzero(self.counts)[0])

    def quantile(self, share: float) -> int:
        """The fewest tokens that at least this share of the games does not exceed."""
        return int(np.searchsorted(self.counts.cumsum(), share * self.games))


def lengths_of(pack: Pack) -> Lengths:
    """Count the games of `pack` by length; `PackError` where starts do not rise."""
    counts = np.zeros(LONGEST_COUNTED + 1, np.int64)
    longest = 0
    for first, lengths in _pieces(pack):
        if lengths.min() < 1:
            game = first + int(np.argmax(lengths < 1))
            raise PackError(
                f"{pack.path}/starts.npy: game {game} has {lengths[game - first]} tokens, expected 1 or more"
            )
        longest = max(longest, int(lengths.max()))
        counts += np.bincount(np.minimum(lengths, LONGEST_COUNTED), minlength=counts.size)
    return Lengths(counts[: min(longest, LONGEST_COUNTED) + 1], longest)


def histogram(lengths: Lengths) -> list[str]:
    """Lines `from-to  share  bar`; rows are equally wide up to where 99.5 % of the games end, and one has the rest."""
    first, last = lengths.shortest, lengths.quantile(0.995)
    width = _nice_width((last - first + 1) / _ROWS)
    edges = list(range(first // width * width, last + 1, width))
    edges.append(edges[-1] + width)
    shares = [int(lengths.counts[low:high].sum()) for low, high in pairwise(edges)]
    names = [f"{low}-{high - 1}" if width > 1 else f"{low}" for low, high in pairwise(edges)]
    if rest := int(lengths.counts[edges[-1] :].sum()):
        shares.append(rest)
        names.append(f"{edges[-1]}-{lengths.longest}")
    wide = max(map(len, names))
    return [
        f"{name:>{wide}} {share / lengths.games:7.2%}  {'#' * round(share / max(shares) * _BAR)}".rstrip()
        for name, share in zip(names, shares, strict=True)
    ]


def _pieces(pack: Pack) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The lengths of consecutive games, with the number of the first."""
    starts = pack.starts
    for first in range(0, starts.size, GAMES_AT_ONCE):
        end = min(first + GAMES_AT_ONCE, starts.size)
        after = starts[end] if end < starts.size else pack.info.n_tokens
        yield first, np.diff(starts[first:end], append=after)


def _nice_width(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is not below `least`."""
    width, steps = 1, (2, 2.5, 2)
    for step in (steps[i % 3] for i in range(60)):
        if width >= least:
            break
        width = int(width * step)
    return width
