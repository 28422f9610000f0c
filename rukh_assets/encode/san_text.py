"""Games in UCI spelt as numbered movetext by python-chess: the measure of the san scheme."""

from collections.abc import Sequence

import chess

from rukh_assets.encode.games import split_uci
from rukh_assets.errors import IllegalMoveError


def uci_to_san(uci: str) -> str:
    """Spell a game from the normal start as numbered movetext: `e2e4 e7e5 g1f3` is `1.e4 e5 2.Nf3`.

    Check and mate are marked as python-chess marks them; the result is not part of the text.

    Raises `MalformedUciError` or `UnknownMoveError` as `split_uci` does, and `IllegalMoveError` with the ply and the
    position. Castling is the king's move of two files: `e1h1`, which python-chess itself takes, is illegal here.
    """
    return spell_moves(split_uci(uci), "game")


def spell_moves(moves: Sequence[str], place: str) -> str:
    """As `uci_to_san` of moves that are all in `MOVES`; messages begin with `place`."""
    board = chess.Board()
    words = []
    for ply, move in enumerate(moves, 1):
        number = f"{board.fullmove_number}." if board.turn == chess.WHITE else ""
        words.append(number + board.san_and_push(_legal_move(board, move, ply, place)))
    return " ".join(words)


def _legal_move(board: chess.Board, move: str, ply: int, place: str) -> chess.Move:
    try:
        legal = board.parse_uci(move)
    except chess.IllegalMoveError:
        legal = chess.Move.null()
    if legal.uci() != move:  # parse_uci rewrites castling spelt as king takes rook, and answers with the two-file move
        raise IllegalMoveError(f"{place}, ply {ply}: illegal uci: {move!r} in {board.fen()}")
    return legal
