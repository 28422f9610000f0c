"""What the sample's players know about chess in numbers: the worth of pieces and of the squares they stand on.

Everything is in centipawns and whole numbers. Tables are computed from simple rules (centre, advance, shelter of the
king), not taken from an engine.
"""

import chess

#: Worth by piece type (index `chess.PAWN` .. `chess.KING`); the king's is only "more than anything".
WORTH = (0, 100, 320, 330, 500, 900, 10_000)

CENTRE = chess.BB_D4 | chess.BB_E4 | chess.BB_D5 | chess.BB_E5

#: What each more attacked square is worth to a piece of the type.
MOBILITY = (0, 0, 3, 3, 2, 1, 0)

#: [colour]: the rook's square, squares that are empty, squares not attacked, and the king's target, of each castling.
CASTLINGS = tuple(
    (
        (rank[7], rank[5] | rank[6], rank[4] | rank[5] | rank[6], rank[6].bit_length() - 1),
        (rank[0], rank[1] | rank[2] | rank[3], rank[2] | rank[3] | rank[4], rank[2].bit_length() - 1),
    )
    for rank in (chess.BB_SQUARES[56:], chess.BB_SQUARES[:8])
)

#: Squares ahead on a pawn's file and the files beside it, where pawns of the other colour stop it: [colour][square].
PASSED_FRONT = tuple(
    tuple(
        sum(
            chess.BB_SQUARES[other]
            for other in chess.SQUARES
            if abs(chess.square_file(other) - chess.square_file(square)) <= 1
            and (chess.square_rank(other) - chess.square_rank(square)) * (1 if colour else -1) > 0
        )
        for square in chess.SQUARES
    )
    for colour in (chess.BLACK, chess.WHITE)
)


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


_RULES = (None, _pawn, _knight, _bishop, _rook, _queen, _king)


def _table(kind: chess.PieceType, colour: chess.Color, late: bool) -> tuple[int, ...]:
    rule = _RULES[kind]
    if rule is None:
        return (0,) * 64
    return tuple(rule(square if colour else square ^ 56, late) for square in chess.SQUARES)


#: PLACE[late][colour][piece type][square], from the view of the piece's own side.
PLACE = tuple(
    tuple(tuple(_table(kind, colour, late) for kind in range(7)) for colour in (chess.BLACK, chess.WHITE))
    for late in (False, True)
)
