"""A position: what each slot of its array holds, and how to get one from python-chess."""

import chess
import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.kernel import Numbers

EMPTY, PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(7)
"""Kinds of pieces, numbered as python-chess does. White's pieces have these numbers, Black's have `BLACK` more."""

ALL = 7
WHITE, BLACK = 0, 8

SIDE = 16
CASTLING = 17
EN_PASSANT = 18
CHECKERS = 19
SQUARES = 20
SIZE = SQUARES + 64

NO_SQUARE = -1

WHITE_HOME, BLACK_HOME = chess.E1, chess.E8
"""Where a king castles from."""

WHITE_SHORT, WHITE_LONG, BLACK_SHORT, BLACK_LONG = chess.G1, chess.C1, chess.G8, chess.C8
"""Where it goes."""


def position_of(board: chess.Board) -> NDArray[np.int64]:
    """The position on a board of standard chess, as `SIZE` int64 slots; each side has one king."""
    position = np.zeros(SIZE, np.uint64)
    for square, piece in board.piece_map().items():
        side = WHITE if piece.color == chess.WHITE else BLACK
        position[[side + piece.piece_type, side + ALL]] |= np.uint64(1 << square)
        position[SQUARES + square] = side + piece.piece_type
    position[SIDE] = WHITE if board.turn == chess.WHITE else BLACK
    position[CASTLING] = _castling(board)
    position[EN_PASSANT] = np.uint64(2**64 + NO_SQUARE) if board.ep_square is None else board.ep_square
    position[CHECKERS] = int(board.checkers())
    return position.view(np.int64)


def _castling(board: chess.Board) -> int:
    rights = board.clean_castling_rights()
    kings_by_rook = {chess.H1: WHITE_SHORT, chess.A1: WHITE_LONG, chess.H8: BLACK_SHORT, chess.A8: BLACK_LONG}
    return sum(1 << king for rook, king in kings_by_rook.items() if rights & 1 << rook)


def _castling_kept() -> NDArray[np.int64]:
    kept = np.full(64, -1, np.int64)
    lost = {
        chess.A1: [WHITE_LONG],
        chess.E1: [WHITE_SHORT, WHITE_LONG],
        chess.H1: [WHITE_SHORT],
        chess.A8: [BLACK_LONG],
        chess.E8: [BLACK_SHORT, BLACK_LONG],
        chess.H8: [BLACK_SHORT],
    }
    for square, kings in lost.items():
        for king in kings:
            kept[square] &= ~(1 << king)
    return kept


CASTLING_KEPT: Numbers = _castling_kept()
"""[square]: mask of the castling rights that stay when a piece leaves the square or is taken there."""

START: Numbers = position_of(chess.Board())
"""The normal start."""
