"""The movetext of one game: text to moves in SAN, and those, played from the normal start, to UCI.

The readable path and the oracle of any faster one: python-chess decides alone what is legal.
"""

import re
from dataclasses import dataclass

import chess

from rukh_assets.errors import MovetextError, NotLegalError

# Possessive quantifiers (`++`, `*+`) never give characters back, so the time is linear in the text whatever it holds.
# A token ends where white space, a comment, a variation, a NAG or a glyph starts.
_END = r"(?=[\s{}();$!?]|\Z)"
_TOKEN = re.compile(
    rf"""
      (?P<space>\s++)
    | (?P<comment>\{{[^}}]*+\}})
    | (?P<line_comment>;[^\r\n]*+)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<nag>\$[0-9]++)
    | (?P<glyph>[!?]++)
    | (?P<result>(?:1-0|0-1|1/2-1/2|\*){_END})
    | (?P<number>[1-9][0-9]{{0,3}}+(?:(?:\s*+\.)++|{_END}))
    | (?P<move>[A-Za-z0-9@=+\#,-]++)
    """,
    re.VERBOSE | re.ASCII,
)
_DROP = re.compile(r"[PNBRQK]?@[a-h][1-8]")


@dataclass(frozen=True, slots=True)
class Movetext:
    """The main line of one game: its moves as they were spelt, without glyphs, and what stood around them."""

    sans: list[str]
    result: str | None
    """The result token at the end, `*` included; None where the text has none."""
    comments: list[str]
    """The text inside each comment, also of those in variations."""


def parse_movetext(text: str) -> Movetext:
    """Split movetext into its main line, result token and comments.

    Skips comments (`{}` does not nest; `;` to the end of the line), variations (which do nest), NAGs, glyphs glued or
    apart, and move numbers in all their spellings; their values are not looked at. What is left over must be a move,
    in ASCII letters, digits and `@=+#,-`; whether such a word is a legal move is for `moves_to_uci` to say.

    Raises `MovetextError` with the position for anything else: a stray `}` or `)`, a comment or variation without its
    end, a result token that is not the last one, any other character.
    """
    sans: list[str] = []
    comments: list[str] = []
    result: str | None = None
    openings: list[int] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise _unreadable(text, position)
        kind, word = token.lastgroup, token.group()
        if kind == "comment":
            comments.append(word[1:-1])
        elif kind == "line_comment":
            comments.append(word[1:])
        elif kind == "close":
            if not openings:
                raise MovetextError(f"')' at {position} closes no variation", position)
            openings.pop()
        elif kind != "space" and result is not None:
            raise MovetextError(f"{word!r} at {position} comes after the result {result!r}", position)
        elif kind == "open":
            openings.append(position)
        elif not openings:
            if kind == "move":
                sans.append(word)
            elif kind == "result":
                result = word
        position = token.end()
    if openings:
        raise MovetextError(f"the variation opened at {openings[-1]} never ends", openings[-1])
    return Movetext(sans, result, comments)


def comments_by_ply(text: str, plies: int) -> list[list[str]]:
    """The comments behind each of the first `plies` moves of the main line, of movetext that `parse_movetext` takes.

    What stands before the first move, and in variations, is left out; a shorter game has shorter lists.
    """
    found: list[list[str]] = []
    depth = position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise _unreadable(text, position)
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif depth == 0 and kind == "move":
            if len(found) == plies:
                break
            found.append([])
        elif depth == 0 and kind in ("comment", "line_comment") and found:
            found[-1].append(token.group())
        position = token.end()
    return found


def find_drop(sans: list[str]) -> int | None:
    """Return the ply (from 1) of the first drop, such as `N@f3`, which only variants have; None where there is none."""
    return next((ply for ply, san in enumerate(sans, 1) if _DROP.match(san)), None)


def moves_to_uci(sans: list[str]) -> list[str]:
    """Play moves from the normal start and return them in UCI; castling is the king's move, such as `e1g1`.

    Takes what python-chess's `Board.parse_san` takes: SAN, more of it than needed (`e2e4`, `Ng1f3`), `0-0`, promotions
    without `=`. Raises `NotLegalError` with the ply and python-chess's words for illegal, ambiguous and unreadable
    moves, null moves, and moves after the game is over on the board.
    """
    board = chess.Board()
    moves = []
    for ply, san in enumerate(sans, 1):
        try:
            move = board.parse_san(san)
        except ValueError as error:
            raise NotLegalError(str(error), ply) from error
        if not move:
            raise NotLegalError(f"null move: {san!r} in {board.fen()}", ply)
        moves.append(move.uci())
        board.push(move)
    return moves


def check_uci(moves: list[str]) -> None:
    """Play moves in UCI from the normal start, each spelt as `moves_to_uci` spells it.

    Raises `NotLegalError` with the ply for an illegal move, and for castling as the king's move to its rook (`e1h1`).
    """
    board = chess.Board()
    for ply, uci in enumerate(moves, 1):
        try:
            move = board.parse_uci(uci)
        except ValueError as error:
            raise NotLegalError(str(error), ply) from error
        if not move:
            raise NotLegalError(f"null move: {uci!r} in {board.fen()}", ply)
        if move.uci() != uci:
            raise NotLegalError(f"uci {uci!r} must be spelt {move.uci()!r}, in {board.fen()}", ply)
        board.push(move)


def _unreadable(text: str, position: int) -> MovetextError:
    if text[position] == "{":
        return MovetextError(f"the comment opened at {position} never ends", position)
    return MovetextError(f"{text[position : position + 20]!r} at {position} is no part of movetext", position)
