"""What the sample's players know about chess in numbers: the worth of pieces and of the squares they stand on.

Everything is in centipawns and whole numbers. Tables are computed from simple rules (centre, advance, shelter of the
king), not taken from an engine. Squares, bitboards, kinds and pieces are numbered as in `rukh_assets.board`.
"""

import chess
import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.kernel import Numbers, Table
from rukh_assets.board.position import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE

WORTH: Numbers = np.array([0, 100, 320, 330, 500, 900, 10_000], np.int64)
"""[kind]: the king's is only "more than anything"."""

MOBILITY: Numbers = np.array([0, 0, 3, 3, 2, 1, 0], np.int64)
"""[kind]: what each more attacked square is worth."""

CENTRE = chess.BB_D4 | chess.BB_E4 | chess.BB_D5 | chess.BB_E5

NOT_FILE_A, NOT_FILE_H = ~chess.BB_FILE_A, chess.BB_ALL & ~chess.BB_FILE_H
"""Both within int64: the first as a negative number."""


def _edge_distance(square: chess.Square) -> int:
    file, rank = chess.square_file(square), chess.square_rank(square)
    return min(file, 7 - file) + min(rank, 7 - rank)


def _pawn(square: chess.Square, late: bool) -> int:
    file, rank = chess.square_file(square), chess.square_rank(square)
    if late:
        return (0, 0, 6, 14, 26, 46, 74, 0)[rank]
    advance = (0, 0, 4, 10, 16, 26, 60, 0)[rank]
    central = (-4, -2, 4, 14, 14, -2, -4, -4)[file] if rank >= 3 else (0, 0, -2, -6, -6, 0, 0, 0)[file]
    return advance + central


def _knight(square: chess.Square, late: bool) -> int:
    home = 0 if late or chess.square_rank(square) else -12
    return 7 * _edge_distance(square) - 22 + home


def _bishop(square: chess.Square, late: bool) -> int:
    home = 0 if late or chess.square_rank(square) else -14
    return 3 * _edge_distance(square) - 8 + home


def _rook(square: chess.Square, late: bool) -> int:
    file, rank = chess.square_file(square), chess.square_rank(square)
    return (18 if rank == 6 else 0) + (0 if late else (0, 0, 3, 7, 7, 5, 0, 0)[file]) - (6 if 0 < rank < 6 else 0)


def _queen(square: chess.Square, late: bool) -> int:
    return 2 * _edge_distance(square) - (0 if late or chess.square_rank(square) < 2 else 8)


def _king(square: chess.Square, late: bool) -> int:
    file, rank = chess.square_file(square), chess.square_rank(square)
    if late:
        return 9 * _edge_distance(square) - 20
    return (16, 22, 8, -14, -14, -8, 24, 16)[file] - 28 * rank


_RULES = {PAWN: _pawn, KNIGHT: _knight, BISHOP: _bishop, ROOK: _rook, QUEEN: _queen, KING: _king}


def _places() -> NDArray[np.int64]:
    table = np.zeros((2 * LATE_PLACES, 64), np.int64)
    for late in (False, True):
        for kind, rule in _RULES.items():
            for square in chess.SQUARES:
                table[late * LATE_PLACES + WHITE + kind, square] = rule(square, late)
                table[late * LATE_PLACES + BLACK + kind, square ^ 56] = rule(square, late)
    return table


def _passed_fronts() -> NDArray[np.int64]:
    table = np.zeros((BLACK + 1, 64), np.uint64)
    for square in chess.SQUARES:
        for other in chess.SQUARES:
            ahead = chess.square_rank(other) - chess.square_rank(square)
            if ahead and abs(chess.square_file(other) - chess.square_file(square)) <= 1:
                table[WHITE if ahead > 0 else BLACK, square] |= np.uint64(1 << other)
    return table.view(np.int64)


LATE_PLACES = 16

PLACE: Table = _places()
"""[piece, square]: what a piece is worth more for standing there; `LATE_PLACES` rows further on, late in the game."""

PASSED_FRONT: Table = _passed_fronts()
"""[side, square]: squares ahead on a pawn's file and those beside it, where pawns of the other side stop it."""
