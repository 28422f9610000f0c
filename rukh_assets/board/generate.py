"""All legal moves of a position, and how many positions they lead to."""

import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.attacks import occupied_squares, officer_attacks
from rukh_assets.board.intrinsics import difference, lowest_square, memory
from rukh_assets.board.kernel import Numbers, kernel, rule
from rukh_assets.board.legality import can_castle, is_safe
from rukh_assets.board.play import play
from rukh_assets.board.position import (
    ALL,
    BLACK,
    EMPTY,
    EN_PASSANT,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    QUEEN,
    SIDE,
    SQUARES,
    WHITE,
)
from rukh_assets.board.tables import ATTACKS

MAX_MOVES = 256
"""More than any position has: 218 is the most known."""

_FIRST_RANK, _LAST_RANK = 0xFF, -1 << 56


@kernel
def list_legal_moves(position: Numbers, moves: Numbers) -> int:
    """Write the legal moves as `origin | target << 6 | promotion << 12` and return how many there are.

    Oracle: `chess.Board.generate_legal_moves`.
    """
    return add_moves(memory(position), memory(moves))


@kernel
def count_leaves(positions: NDArray[np.int64], moves: NDArray[np.int64]) -> int:
    """Perft of `positions[0]` to the depth of the number of rows, each of which is scratch for one ply."""
    depth = len(positions)
    remaining = np.zeros(depth, np.int64)
    leaves = 0
    ply = 0
    remaining[0] = add_moves(memory(positions[0]), memory(moves[0]))
    while ply >= 0:
        if ply == depth - 1:
            leaves += remaining[ply]
            ply -= 1
        elif remaining[ply] == 0:
            ply -= 1
        else:
            remaining[ply] -= 1
            move = moves[ply, remaining[ply]]
            positions[ply + 1] = positions[ply]
            ply += 1
            play(memory(positions[ply]), move & 63, (move >> 6) & 63, move >> 12)
            remaining[ply] = add_moves(memory(positions[ply]), memory(moves[ply]))
    return leaves


@rule
def add_moves(position: Numbers, moves: Numbers) -> int:
    """Write the legal moves of all pieces and return their number."""
    side = position[SIDE]
    occupied = occupied_squares(position)
    count = 0
    for kind in range(PAWN, KING + 1):
        pieces = position[side + kind]
        while pieces:
            origin = lowest_square(pieces)
            pieces &= difference(pieces, 1)
            if kind == PAWN:
                targets = pawn_targets(position, origin, occupied)
            else:
                targets = officer_attacks(kind, origin, occupied) & ~position[side + ALL]
            while targets:
                target = lowest_square(targets)
                targets &= difference(targets, 1)
                if is_safe(position, kind, origin, target):
                    count = add_move(moves, count, kind, origin, target)
    king = lowest_square(position[side + KING])
    for target in (king - 2, king + 2):
        if can_castle(position, king, target):
            count = add_move(moves, count, KING, king, target)
    return count


@rule
def add_move(moves: Numbers, count: int, kind: int, origin: int, target: int) -> int:
    """Write one move, or the four promotions that it is, and return how many moves there are now."""
    promotes = kind == PAWN and (1 << target) & (_FIRST_RANK | _LAST_RANK) != 0
    for promotion in range(KNIGHT if promotes else EMPTY, (QUEEN if promotes else EMPTY) + 1):
        moves[count] = origin | (target << 6) | (promotion << 12)
        count += 1
    return count


@rule
def pawn_targets(position: Numbers, origin: int, occupied: int) -> int:
    """The squares that a pawn of the side to move gets to. Oracle: `chess.Board.generate_pseudo_legal_moves`."""
    side = position[SIDE]
    taken = position[(side ^ BLACK) + ALL]
    if position[EN_PASSANT] != NO_SQUARE:
        taken |= 1 << position[EN_PASSANT]
    targets = ATTACKS[side + PAWN, origin] & taken
    forward = 8 if side == WHITE else -8
    step = origin + forward
    if position[SQUARES + step] == EMPTY:
        targets |= 1 << step
        if origin >> 3 == (1 if side == WHITE else 6) and position[SQUARES + step + forward] == EMPTY:
            targets |= 1 << (step + forward)
    return targets
