"""Cutting a text of UCI moves without blanks back into moves, and the board on which moves are played.

`b` is a file and the letter of a bishop: `a7a8b7b6` is `a7a8 b7b6` after a rook's move, and `a7a8b` and the start of a
move on rank 7 after a pawn's. So the game is replayed on 64 squares, which know what stands where, not what is legal.
"""

from collections.abc import Iterable

FILES = "abcdefgh"
RANKS = "12345678"

START = "RNBQKBNR" + "P" * 8 + "." * 32 + "p" * 8 + "rnbqkbnr"
"""The 64 squares from a1, b1, ... to h8; White's pieces are upper case."""

EMPTY = "."


def split_moves(text: str) -> list[str]:
    """The moves of a text such as `e2e4e7e5`, from the normal start; joined again they are the text.

    Four characters are a move, five where a pawn reaches the last rank. Text that is no game (a model's output) is cut
    all the same: where no piece is known to stand, by the ranks, so a move from 7 to 8 or from 2 to 1 and at most one
    file aside takes a letter `q`, `r`, `b` or `n` that follows. An unfinished last move is given as it is.
    """
    squares = list(START)
    moves = []
    position = 0
    while position < len(text):
        length = 5 if _takes_letter(squares, text[position : position + 5]) else 4
        move = text[position : position + length]
        play(squares, move)
        moves.append(move)
        position += length
    return moves


def squares_after(moves: Iterable[str]) -> list[str]:
    """The 64 squares, as in `START`, after UCI moves from the normal start; whether they are legal is not looked at."""
    squares = list(START)
    for move in moves:
        play(squares, move)
    return squares


def _takes_letter(squares: list[str], move: str) -> bool:
    """Whether the fifth character is a promotion's letter rather than the next move's file."""
    if len(move) < 5 or move[4] not in "qrbn":
        return False
    if (move[1], move[3]) not in (("7", "8"), ("2", "1")) or not _neighbours(move[0], move[2]):
        return False
    # No move begins with q, r or n; b is a letter unless a piece other than a pawn is known to move.
    return move[4] != "b" or squares[_square(move[:2])] in "Pp" + EMPTY


def _neighbours(one: str, other: str) -> bool:
    return one in FILES and other in FILES and abs(FILES.index(one) - FILES.index(other)) <= 1


def _square(name: str) -> int:
    return RANKS.index(name[1]) * 8 + FILES.index(name[0])


def play(squares: list[str], move: str) -> None:
    """Move what stands there, on squares as in `START`.

    Castling moves the rook too, en passant removes the pawn. Nonsense changes nothing.
    """
    if len(move) < 4 or not (move[0] in FILES and move[1] in RANKS and move[2] in FILES and move[3] in RANKS):
        return
    start, end = _square(move[:2]), _square(move[2:4])
    piece = squares[start]
    if piece == EMPTY:
        return
    if piece in "Kk" and move[:4] in CASTLING:
        rook_start, rook_end = CASTLING[move[:4]]
        squares[rook_end], squares[rook_start] = squares[rook_start], EMPTY
    if piece in "Pp" and move[0] != move[2] and squares[end] == EMPTY:
        squares[_square(move[2] + move[1])] = EMPTY
    squares[start] = EMPTY
    if len(move) == 5:
        piece = move[4].upper() if piece.isupper() else move[4]
    squares[end] = piece


CASTLING = {
    king: (_square(rook[:2]), _square(rook[2:]))
    for king, rook in {"e1g1": "h1f1", "e1c1": "a1d1", "e8g8": "h8f8", "e8c8": "a8d8"}.items()
}
