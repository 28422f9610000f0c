"""What an encoder is: one Arrow batch of games in, the ids of all its games out."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.encode.games import GameRow, read_game
from rukh_loaders.tokenizers.vocabulary import Vocabulary

Encoded = tuple[NDArray[np.uint16], NDArray[np.int64]]
"""The ids of a batch's games, one game after the other with its frame, and how many ids each game has."""


class Encoder(Protocol):
    """One scheme's way from games to ids; a faster one with the same ids and the same refusals can stand in for it."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens behind the ids."""
        ...

    def encode_batch(self, batch: pa.RecordBatch, first_row: int = 0) -> Encoded:
        """Encode every game of a batch of the games schema, in its order: ids (1-d) and lengths (one a game).

        Raises a `GameRefusedError` at the first game that has no ids, and `GameColumnsError` for another schema: a
        batch is encoded whole or not at all, and `<unk>` never comes out. `first_row` is the number that messages give
        the batch's first game, for a batch that is a piece of more.
        """
        ...


def encode_left(
    batch: pa.RecordBatch,
    encoded: Encoded,
    left: NDArray[np.bool_],
    encode_game: Callable[[GameRow], Sequence[int]],
    first_row: int = 0,
) -> Encoded:
    """Put in the games that a kernel left to the readable way, whose ids or error stand.

    Where `left` is set, a game has no ids in `encoded` and length 0. The first game that `read_game` or `encode_game`
    refuses ends it with their error, in which rows count from `first_row`.
    """
    rows = np.flatnonzero(left)
    if not rows.size:
        return encoded
    ids, lengths = encoded
    games = [np.array(encode_game(read_game(batch, row, first_row)), np.uint16) for row in rows.tolist()]
    starts = (np.cumsum(lengths) - lengths)[rows]
    lengths[rows] = [game.size for game in games]
    return np.insert(ids, np.repeat(starts, lengths[rows]), np.concatenate(games)), lengths
