"""Which moves are legal, and whether there is any."""

from rukh_assets.board.attacks import (
    attackers,
    between,
    is_en_passant,
    occupied_squares,
    officer_reaches,
    uncovers_king,
)
from rukh_assets.board.intrinsics import difference, lowest_square
from rukh_assets.board.kernel import Numbers, rule
from rukh_assets.board.position import (
    ALL,
    BLACK,
    BLACK_HOME,
    CASTLING,
    CHECKERS,
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
    WHITE_HOME,
)
from rukh_assets.board.tables import ATTACKS

_SHORT_PATH, _LONG_PATH = 0b01100000, 0b00001110
"""Squares between White's king and rook."""


@rule
def is_legal(position: Numbers, origin: int, target: int, promotion: int) -> bool:
    """Whether the side to move may move from one square to the other, for any two squares.

    `promotion` is the kind of the new piece, `EMPTY` for a move that is none. Castling is the king's move of two
    files; the king's move to its rook is not legal here. Oracle: `chess.Board.is_legal`.
    """
    side = position[SIDE]
    kind = position[SQUARES + origin] - side
    if kind < PAWN or kind > KING or (position[side + ALL] >> target) & 1:
        return False
    if kind == PAWN:
        promotes = target >= 56 or target < 8
        if promotes != (KNIGHT <= promotion <= QUEEN) or not pawn_reaches(position, origin, target):
            return False
    elif promotion != EMPTY:
        return False
    elif kind == KING and not (ATTACKS[KING, origin] >> target) & 1:
        return can_castle(position, origin, target)
    elif not officer_reaches(position, kind, origin, target):
        return False
    return is_safe(position, kind, origin, target)


@rule
def pawn_reaches(position: Numbers, origin: int, target: int) -> bool:
    """Whether a pawn of the side to move gets from one square to the other; its own pieces do not stand on the other.

    Oracle: `chess.Board.is_pseudo_legal`.
    """
    side = position[SIDE]
    forward = 8 if side == WHITE else -8
    if target - origin == forward:
        return position[SQUARES + target] == EMPTY
    if target - origin == 2 * forward:
        at_home = origin >> 3 == (1 if side == WHITE else 6)
        return at_home and position[SQUARES + origin + forward] == EMPTY and position[SQUARES + target] == EMPTY
    if not (ATTACKS[side + PAWN, origin] >> target) & 1:
        return False
    return position[SQUARES + target] != EMPTY or target == position[EN_PASSANT]


@rule
def can_castle(position: Numbers, origin: int, target: int) -> bool:
    """Whether the king of the side to move castles from `origin` to `target`, for any two squares.

    Oracle: `chess.Board.generate_castling_moves`.
    """
    side = position[SIDE]
    home = WHITE_HOME if side == WHITE else BLACK_HOME
    if origin != home or target >> 3 != home >> 3 or not (position[CASTLING] >> target) & 1 or position[CHECKERS]:
        return False
    occupied = occupied_squares(position)
    if (_SHORT_PATH if target > home else _LONG_PATH) << (home - WHITE_HOME) & occupied:
        return False
    passed = (home + target) >> 1
    enemy = side ^ BLACK
    return not attackers(position, enemy, passed, occupied) and not attackers(position, enemy, target, occupied)


@rule
def is_safe(position: Numbers, kind: int, origin: int, target: int) -> bool:
    """Whether the own king is not attacked after a pseudo-legal move of a piece of `kind` that is not castling.

    Oracle: `not chess.Board.is_into_check`.
    """
    if kind == KING:
        occupied = occupied_squares(position) ^ (1 << origin)
        return not attackers(position, position[SIDE] ^ BLACK, target, occupied)
    if position[CHECKERS] or target == position[EN_PASSANT]:
        return is_safe_by_replay(position, origin, target)
    return not uncovers_king(position, origin, target)


@rule
def is_safe_by_replay(position: Numbers, origin: int, target: int) -> bool:
    """`is_safe` for all but kings, without what is known of the position before: in check, and en passant."""
    side = position[SIDE]
    taken = 1 << target
    if is_en_passant(position, origin, target):
        taken = 1 << (target ^ 8)
    occupied = ((occupied_squares(position) & ~taken) ^ (1 << origin)) | 1 << target
    king = lowest_square(position[side + KING])
    return not attackers(position, side ^ BLACK, king, occupied) & ~taken


@rule
def has_evasion(position: Numbers) -> bool:
    """Whether the side to move, which is in check, has a legal move: where not, it is mated.

    Oracle: `not chess.Board.is_checkmate`.
    """
    side = position[SIDE]
    checkers = position[CHECKERS]
    king = lowest_square(position[side + KING])
    flights = ATTACKS[KING, king] & ~position[side + ALL]
    while flights:
        if is_safe(position, KING, king, lowest_square(flights)):
            return True
        flights &= difference(flights, 1)
    if checkers & difference(checkers, 1):
        return False
    checker = lowest_square(checkers)
    targets = checkers | between(king, checker)
    while targets:
        if can_interpose(position, lowest_square(targets)):
            return True
        targets &= difference(targets, 1)
    return can_take_en_passant(position)


@rule
def can_interpose(position: Numbers, target: int) -> bool:
    """Whether a piece other than the king may legally go to `target`, en passant aside."""
    side = position[SIDE]
    origins = attackers(position, side, target, occupied_squares(position)) & ~position[side + KING]
    if position[SQUARES + target] == EMPTY:
        origins = (origins & ~position[side + PAWN]) | pushing_pawn(position, target)
    while origins:
        if is_safe_by_replay(position, lowest_square(origins), target):
            return True
        origins &= difference(origins, 1)
    return False


@rule
def pushing_pawn(position: Numbers, target: int) -> int:
    """The bit of the own pawn that gets to the empty `target` by a step or a double step, 0 where none does."""
    side = position[SIDE]
    back = -8 if side == WHITE else 8
    step = target + back
    if step < 0 or step > 63:
        return 0
    if position[SQUARES + step] == side + PAWN:
        return 1 << step
    if target >> 3 == (3 if side == WHITE else 4) and position[SQUARES + step] == EMPTY:
        return (1 << (step + back)) & position[side + PAWN]
    return 0


@rule
def can_take_en_passant(position: Numbers) -> bool:
    """Whether taking en passant is legal. Oracle: `chess.Board.has_legal_en_passant`."""
    target = position[EN_PASSANT]
    if target == NO_SQUARE:
        return False
    side = position[SIDE]
    origins = ATTACKS[(side ^ BLACK) + PAWN, target] & position[side + PAWN]
    while origins:
        if is_safe_by_replay(position, lowest_square(origins), target):
            return True
        origins &= difference(origins, 1)
    return False
