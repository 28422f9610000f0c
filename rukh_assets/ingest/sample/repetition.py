"""Positions that come again."""

import numpy as np

from rukh_assets.board.kernel import Numbers, rule, step
from rukh_assets.board.legality import can_take_en_passant
from rukh_assets.board.position import BLACK, CASTLING, EN_PASSANT, KING, PAWN, SIDE, WHITE
from rukh_assets.ingest.sample.game import Game

_FACTOR, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@step
def key_of(position: Numbers) -> int:
    """Equal for positions that are the same for the rule of repetition, as good as never for others."""
    key = np.uint64(position[CASTLING] ^ position[SIDE])
    if can_take_en_passant(position):
        key ^= np.uint64(position[EN_PASSANT] << 16)
    for side in range(WHITE, BLACK + 1, BLACK):
        for kind in range(PAWN, KING + 1):
            key = (key ^ np.uint64(position[side + kind])) * _FACTOR
            key ^= key >> _HALF
    return int(np.int64(key))


@rule
def times_seen(game: Game, key: int, ply: int, quiet: int) -> int:
    """How often the position with this key, after `ply` plies, came before among the last `quiet` plies."""
    times = 0
    for earlier in range(ply - 4, ply - quiet - 1, -2):
        times += game.keys[earlier] == key
    return times
