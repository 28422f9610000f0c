"""The standard algebraic notation of a move that was chosen, without the marks of check and mate."""

import chess

from rukh_assets.ingest.sample.scoring import Scored
from rukh_assets.ingest.sample.survey import Sight

LETTERS = "??NBRQK"


def spell(sight: Sight, move: Scored) -> str:
    """SAN of the legal `move` from `sight`, whose board must already have it played as its last move."""
    target = chess.SQUARE_NAMES[move.target]
    takes = "x" if sight.foes & (1 << move.target) else ""
    if move.kind == chess.PAWN:
        file = chess.square_file(move.origin)
        straight = file == chess.square_file(move.target)
        start = "" if straight else chess.FILE_NAMES[file] + "x"  # en passant too, where the target is empty
        return start + target + (f"={LETTERS[move.promotion]}" if move.promotion else "")
    if move.kind == chess.KING:
        if abs(move.target - move.origin) == 2:
            return "O-O" if move.target > move.origin else "O-O-O"
        return "K" + takes + target
    return LETTERS[move.kind] + _which(sight, move) + takes + target


def _which(sight: Sight, move: Scored) -> str:
    """The file, else the rank, else the square, that tells the piece from others of its type that may go there."""
    rivals = [
        square
        for square, kind, reach in sight.me.pieces
        if kind == move.kind and square != move.origin and reach & (1 << move.target)
    ]
    if not rivals:
        return ""
    played = sight.board.pop()
    rivals = [square for square in rivals if not sight.board.is_into_check(chess.Move(square, move.target))]
    sight.board.push(played)
    if not rivals:
        return ""
    name = chess.SQUARE_NAMES[move.origin]
    if all(chess.SQUARE_NAMES[rival][0] != name[0] for rival in rivals):
        return name[0]
    if all(chess.SQUARE_NAMES[rival][1] != name[1] for rival in rivals):
        return name[1]
    return name
