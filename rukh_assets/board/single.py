"""The rules on any position of standard chess, move by move: for tests, and to look into a position.

Positions are FENs, moves are UCI. Whole games go through `batches`.
"""

import chess
import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.generate import MAX_MOVES, count_leaves, list_legal_moves
from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel
from rukh_assets.board.legality import is_legal
from rukh_assets.board.position import SIZE, position_of
from rukh_assets.board.san_reading import read_san
from rukh_assets.board.san_writing import write_and_play
from rukh_assets.board.uci_reading import NO_MOVE, read_uci
from rukh_assets.errors import IllegalMoveError
from rukh_loaders.tokenizers.san import SanCharTokenizer


def legal_moves(fen: str) -> list[str]:
    """The legal moves, in no order. Oracle: `chess.Board.legal_moves`."""
    moves = np.empty(MAX_MOVES, np.int64)
    count = list_legal_moves(_position(fen), moves)
    return [_uci(move) for move in moves[:count].tolist()]


def perft(fen: str, depth: int) -> int:
    """How many sequences of `depth` legal moves there are, at least one: the usual test of a move generator."""
    positions = np.zeros((depth, SIZE), np.int64)
    positions[0] = _position(fen)
    return count_leaves(positions, np.empty((depth, MAX_MOVES), np.int64))


def spell_move(fen: str, uci: str) -> str:
    """A move in SAN; `IllegalMoveError` where it is not legal. Oracle: `chess.Board.san`."""
    ids = np.empty(16, np.uint16)
    count = write_single(_position(fen), _text(uci), ids)
    if not count:
        raise IllegalMoveError(f"illegal uci: {uci!r} in {fen}")
    return SanCharTokenizer().decode(ids[:count].tolist())


def find_move(fen: str, san: str) -> str | None:
    """The move that a word in SAN spells, None where there is none or it is for python-chess to read.

    Oracle: `chess.Board.parse_san`.
    """
    move = read_single(_position(fen), _text(san)) if san else NO_MOVE
    return None if move == NO_MOVE else _uci(move)


@kernel
def write_single(position: Numbers, text: Numbers, ids: Numbers) -> int:
    """Write the ids of the move in UCI that is all of `text` and return their number, 0 where it is not legal."""
    move = read_uci(memory(text), 0, len(text))
    if move == NO_MOVE or move >> 16 != len(text):
        return 0
    origin, target, promotion = move & 63, (move >> 6) & 63, (move >> 12) & 7
    if not is_legal(memory(position), origin, target, promotion):
        return 0
    return write_and_play(memory(position), origin, target, promotion, memory(ids), 0)


@kernel
def read_single(position: Numbers, text: Numbers) -> int:
    """The move that all of `text`, not empty, spells in SAN, or `NO_MOVE`."""
    return read_san(memory(position), memory(text), 0, len(text))


def _position(fen: str) -> NDArray[np.int64]:
    return position_of(chess.Board(fen))


def _text(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)


def _uci(move: int) -> str:
    return chess.Move(move & 63, move >> 6 & 63, move >> 12 or None).uci()
