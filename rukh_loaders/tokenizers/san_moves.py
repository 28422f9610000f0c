"""Reading the movetext of `san` games as UCI moves, without a chess library.

The move is looked for by how pieces go and what stands between, on the squares of `replay`; where several pieces of the
kind could go there, those that leave their own king attacked are left out. That is enough to read a legal game's SAN,
and no more: an illegal move that names one piece is read all the same.
"""

import re

from rukh_loaders.errors import SanMoveError
from rukh_loaders.tokenizers.replay import EMPTY, FILES, RANKS, START, play

_MOVE = re.compile(
    r"(?P<kind>[KQRBN]?)(?P<file>[a-h]?)(?P<rank>[1-8]?)x?(?P<end>[a-h][1-8])(=(?P<letter>[QRBN]))?[+#]?"
)
_CASTLING = {"O-O": ("e1g1", "e8g8"), "O-O-O": ("e1c1", "e8c8")}
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def san_words(movetext: str) -> list[str]:
    """The moves of a numbered movetext such as `1.e4 e5 2.Nf3 1-0`, in SAN; numbers and the result are left out."""
    words = (re.sub(r"^[0-9]+\.+", "", word) for word in movetext.split())
    return [word for word in words if word and word not in _RESULTS]


def san_to_uci(words: list[str]) -> list[str]:
    """The moves of a game from the normal start, given in SAN, as UCI moves.

    `SanMoveError` names the word and its ply where it is no move in SAN, or fits no piece or more than one.
    """
    squares = list(START)
    moves = []
    for ply, word in enumerate(words, 1):
        fitting = _moves_that_fit(squares, word, white=ply % 2 == 1)
        if len(fitting) != 1:
            meant = " or ".join(fitting) or "no move on the board"
            raise SanMoveError(f"the san {word!r} at ply {ply} means {meant}, expected one move")
        play(squares, fitting[0])
        moves.append(fitting[0])
    return moves


def _moves_that_fit(squares: list[str], word: str, white: bool) -> list[str]:
    if (castling := _CASTLING.get(word.rstrip("+#"))) is not None:
        return [castling[0 if white else 1]]
    match = _MOVE.fullmatch(word)
    if match is None:
        return []
    kind, end = match["kind"] or "P", _square(match["end"])
    file = match["file"] or ("" if match["kind"] else match["end"][0])  # a pawn that takes names its file
    starts = [
        start
        for start in range(64)
        if squares[start] == (kind if white else kind.lower())
        and file in ("", FILES[start % 8])
        and match["rank"] in ("", RANKS[start // 8])
        and _reaches(squares, start, end)
    ]
    moves = [_name(start) + match["end"] + (match["letter"] or "").lower() for start in starts]
    return moves if len(moves) == 1 else [move for move in moves if not _leaves_king_attacked(squares, move, white)]


def _reaches(squares: list[str], start: int, end: int) -> bool:
    """Whether the piece on `start` goes to `end`, or takes there: by its way of going, with nothing in between."""
    files, ranks = end % 8 - start % 8, end // 8 - start // 8
    kind = squares[start].upper()
    if kind == "P":
        return _pawn_reaches(squares, start, end)
    if kind == "N":
        return {abs(files), abs(ranks)} == {1, 2}
    if kind == "K":
        return max(abs(files), abs(ranks)) == 1
    straight, diagonal = (files == 0) != (ranks == 0), abs(files) == abs(ranks) > 0
    if not ((straight and kind in "RQ") or (diagonal and kind in "BQ")):
        return False
    step = (ranks > 0) * 8 - (ranks < 0) * 8 + (files > 0) - (files < 0)
    return all(squares[square] == EMPTY for square in range(start + step, end, step))


def _pawn_reaches(squares: list[str], start: int, end: int) -> bool:
    """Ahead onto empty squares, two of them from home, or one diagonally, where SAN says that it takes."""
    ahead = 8 if squares[start] == "P" else -8
    if start % 8 != end % 8:
        return abs(start % 8 - end % 8) == 1 and end // 8 - start // 8 == ahead // 8
    home = start // 8 == (1 if ahead > 0 else 6)
    clear = squares[end] == EMPTY
    return clear and (end == start + ahead or (home and end == start + 2 * ahead and squares[start + ahead] == EMPTY))


def _leaves_king_attacked(squares: list[str], move: str, white: bool) -> bool:
    after = squares.copy()
    play(after, move)
    king = after.index("K" if white else "k")
    others = (square for square in range(64) if after[square] != EMPTY and after[square].isupper() != white)
    return any(_reaches(after, square, king) for square in others)


def _square(name: str) -> int:
    return RANKS.index(name[1]) * 8 + FILES.index(name[0])


def _name(square: int) -> str:
    return FILES[square % 8] + RANKS[square // 8]
