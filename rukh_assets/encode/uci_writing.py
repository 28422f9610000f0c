"""Moves in UCI by table: from the bytes of texts to ids of the uci scheme.

A file or a rank is one of eight characters in a row, so the four characters of two squares are an index of 12 bits.
The character after them chooses one of the tables: without promotion, or to one of four pieces, or one without moves.
"""

import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.characters import SPACE
from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel, rule
from rukh_assets.board.uci_reading import CHARACTERS_PER_MOVE
from rukh_assets.encode.games import MOVES
from rukh_loaders.tokenizers.uci import UciTokenizer
from rukh_loaders.tokenizers.vocabulary import BOS, EOS

FRAME_IDS = 5
"""`<bos>`, two ratings, the result, `<eos>`."""

NO_MOVE = 0

A1A1 = int.from_bytes(b"a1a1", "little")
NO_SQUARES = ~0x07070707
"""Bits that are clear when `A1A1` is taken from two squares, and from no other four characters."""

INDEX_BITS = 12
_AFTER = " qrbn"


def _table_of_character() -> NDArray[np.int64]:
    tables = np.full(256, len(_AFTER))
    tables[[ord(character) for character in _AFTER]] = range(len(_AFTER))
    return tables


TABLE_OF_CHARACTER: Numbers = _table_of_character()
"""Which of the tables is for a move that this character follows."""


def move_tables() -> NDArray[np.uint16]:
    """The id of each move, `NO_MOVE` elsewhere: six tables of `1 << INDEX_BITS`, one after the other."""
    ids = UciTokenizer().ids
    tables = np.zeros((len(_AFTER) + 1, 1 << INDEX_BITS), np.uint16)
    for move in MOVES:
        squares = [ord(character) - ord(first) for character, first in zip(move[:4], "a1a1", strict=True)]
        index = sum(square << 3 * place for place, square in enumerate(squares))
        tables[_AFTER.index(move[4:] or " "), index] = ids[move]
    return tables.reshape(-1)


@kernel
def write_games(
    text: Numbers,
    offsets: Numbers,
    readable: Numbers,
    white_ids: Numbers,
    black_ids: Numbers,
    result_ids: Numbers,
    tables: Numbers,
    ids: Numbers,
    lengths: Numbers,
) -> int:
    """Write the ids of games one after the other and return their number, or -1 where `ids` is too short.

    Game i is `text[offsets[i]:offsets[i + 1]]`. One that is not `readable` or is not moves of the `tables`, at least
    one, with one space between two is left out: its length is 0. Oracle: `UciTokenizer.encode_game`.
    """
    written = 0
    for game in range(len(lengths)):
        start, end = offsets[game], offsets[game + 1]
        if written + (end - start) // CHARACTERS_PER_MOVE + 1 + FRAME_IDS > len(ids):
            return -1
        plies = 0
        if readable[game]:
            plies = write_moves(memory(text), start, end, memory(tables), memory(ids), written + 3)
        lengths[game] = 0
        if plies > 0:
            lengths[game] = plies + FRAME_IDS
            ids[written] = BOS
            ids[written + 1] = white_ids[game]
            ids[written + 2] = black_ids[game]
            written += plies + FRAME_IDS
            ids[written - 2] = result_ids[game]
            ids[written - 1] = EOS
    return written


@kernel
def find_games(text: Numbers, offsets: Numbers, tables: Numbers, found: Numbers, ids: Numbers) -> None:
    """Unset `found` for games that are not moves of the `tables`, at least one, with one space between two.

    `ids` is scratch for the moves of the longest game. Oracle: `rukh_assets.encode.games.split_uci`.
    """
    for game in range(len(found)):
        start, end = offsets[game], offsets[game + 1]
        if found[game]:
            found[game] = write_moves(memory(text), start, end, memory(tables), memory(ids), 0) > 0


@rule
def write_moves(text: Numbers, start: int, end: int, tables: Numbers, ids: Numbers, first: int) -> int:
    """Write the ids of the moves of a text from `ids[first]` on; return their number, 0 where not all are moves."""
    cursor = first
    while start < end:
        if end - start < 4:
            return 0
        squares = text[start] | text[start + 1] << 8 | text[start + 2] << 16 | text[start + 3] << 24
        squares -= A1A1
        if squares & NO_SQUARES:  # a character below its first one sets bits of its own, whatever it borrows
            return 0
        squares |= squares >> 5
        index = (squares & 0o77) | (squares >> 10 & 0o7700)
        start += 4
        if start < end and text[start] != SPACE:
            index |= memory(TABLE_OF_CHARACTER)[text[start]] << INDEX_BITS
            start += 1
            if start < end and text[start] != SPACE:
                return 0
        start += 1
        move = tables[index]
        if move == NO_MOVE:
            return 0
        ids[cursor] = move
        cursor += 1
    return cursor - first if start > end else 0  # at the end, not behind it: after a space, or without a move
