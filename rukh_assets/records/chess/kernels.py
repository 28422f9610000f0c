"""Games replayed for the positions that they come through: a key of each, the move, and the material after it."""

import numpy as np

from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel, rule
from rukh_assets.board.legality import can_take_en_passant
from rukh_assets.board.play import play, set_up
from rukh_assets.board.position import (
    BLACK,
    CASTLING,
    EMPTY,
    EN_PASSANT,
    KING,
    NO_SQUARE,
    PAWN,
    SIDE,
    SQUARES,
    WHITE,
)
from rukh_assets.board.uci_reading import NO_MOVE, read_uci

WORTH: Numbers = np.array([0, 100, 300, 300, 500, 900, 0], np.int64)
"""[kind]: centipawns, as beginners are taught them."""

# David Stafford's mix 13 of the finaliser of MurmurHash3, as splitmix64 has it: each bit in changes half of those out.
_SHIFTS = np.array([30, 27, 31], np.uint64)
_STEP, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


@kernel
def write_visits(
    text: Numbers,
    offsets: Numbers,
    width: int,
    keys: Numbers,
    moves: Numbers,
    balances: Numbers,
    plies: Numbers,
    position: Numbers,
) -> None:
    """Replay the first `width` plies of legal games; game i is `text[offsets[i]:offsets[i + 1]]`.

    Ply j of game i, from 0, is slot `i * width + j` of `keys` (the position before the move), of `moves`
    (`origin | target << 6 | promotion << 12`) and of `balances` (material after it, in centipawns, White's less
    Black's). `plies` has how many of the slots of each game are written. `position` is scratch.
    """
    for game in range(len(plies)):
        set_up(memory(position))
        start, end = offsets[game], offsets[game + 1]
        balance = ply = 0
        while start < end and ply < width:
            move = read_uci(memory(text), start, end)
            if move == NO_MOVE:
                break
            slot = game * width + ply
            keys[slot] = key_of(memory(position))
            moves[slot] = move & 0x7FFF
            balance += gain_of(memory(position), move)
            balances[slot] = balance
            play(memory(position), move & 63, (move >> 6) & 63, (move >> 12) & 7)
            start += (move >> 16) + 1
            ply += 1
        plies[game] = ply


@rule
def key_of(position: Numbers) -> int:
    """64 bits of the board, the side to move, castling rights, and en passant where it can be taken.

    Equal for positions that are the same to the rule of repetition, for others as good as never.
    """
    key = mix(np.uint64(position[SIDE]), np.uint64(position[CASTLING]))
    if can_take_en_passant(position):
        key = mix(key, np.uint64(position[EN_PASSANT]))
    for side in range(WHITE, BLACK + 1, BLACK):
        for kind in range(PAWN, KING + 1):
            key = mix(key, np.uint64(position[side + kind]))
    return np.int64(key)  # type: ignore[return-value]


@rule
def mix(key: np.uint64, value: np.uint64) -> np.uint64:
    """A key of both."""
    key = (key ^ value) + _STEP
    key = (key ^ (key >> _SHIFTS[0])) * _FIRST
    key = (key ^ (key >> _SHIFTS[1])) * _SECOND
    return key ^ (key >> _SHIFTS[2])  # type: ignore[no-any-return]


@rule
def gain_of(position: Numbers, move: int) -> int:
    """What a legal move changes in the material balance, as White counts it."""
    origin, target, promotion = move & 63, (move >> 6) & 63, (move >> 12) & 7
    side = position[SIDE]
    gain = WORTH[position[SQUARES + target] & 7]
    if promotion != EMPTY:
        gain += WORTH[promotion] - WORTH[PAWN]
    is_pawn = position[SQUARES + origin] == side + PAWN
    if is_pawn and position[EN_PASSANT] != NO_SQUARE and target == position[EN_PASSANT]:
        gain += WORTH[PAWN]
    return gain if side == WHITE else -gain
