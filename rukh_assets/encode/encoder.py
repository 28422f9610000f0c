"""What an encoder is: one Arrow batch of games in, the ids of all its games out."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_loaders.tokenizers.vocabulary import Vocabulary

Encoded = tuple[NDArray[np.uint16], NDArray[np.int64]]
"""The ids of a batch's games, one game after the other with its frame, and how many ids each game has."""


class Encoder(Protocol):
    """One scheme's way from games to ids; a faster one with the same ids and the same refusals can stand in for it."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens behind the ids."""
        ...

    def encode_batch(self, batch: pa.RecordBatch) -> Encoded:
        """Encode every game of a batch of the games schema, in its order: ids (1-d) and lengths (one a game).

        Raises a `GameRefusedError` at the first game that has no ids, and `GameColumnsError` for another schema: a
        batch is encoded whole or not at all, and `<unk>` never comes out.
        """
        ...


def concatenate(games: Iterable[Sequence[int]]) -> Encoded:
    """Put the ids of single games one after the other, as `Encoder.encode_batch` returns them."""
    ids = array("H")
    lengths = array("q")
    for game in games:
        ids.extend(game)
        lengths.append(len(game))
    return np.array(ids, dtype=np.uint16), np.array(lengths, dtype=np.int64)
