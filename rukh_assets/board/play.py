"""Making a move."""

from rukh_assets.board.attacks import attackers, between, occupied_squares, unveiled
from rukh_assets.board.intrinsics import lowest_square
from rukh_assets.board.kernel import Numbers, rule
from rukh_assets.board.position import (
    ALL,
    BLACK,
    CASTLING,
    CASTLING_KEPT,
    CHECKERS,
    EMPTY,
    EN_PASSANT,
    KING,
    NO_SQUARE,
    PAWN,
    SIDE,
    SIZE,
    SQUARES,
    START,
)
from rukh_assets.board.tables import ATTACKS, DIRECTIONS


@rule
def set_up(position: Numbers) -> None:
    """Make `position` the normal start. Oracle: `chess.Board.reset`."""
    for slot in range(SIZE):
        position[slot] = START[slot]


@rule
def play(position: Numbers, origin: int, target: int, promotion: int) -> None:
    """Make a legal move (`is_legal`) in `position`, whose slots then all hold for the next. Oracle: `chess.Board.push`.

    Most moves check by attacking the king or by opening the line that they leave. Castling and taking en passant move
    other pieces too, so these two look for checkers all around the king.
    """
    side = position[SIDE]
    enemy = side ^ BLACK
    piece = position[SQUARES + origin]
    is_pawn = piece == side + PAWN
    taken = position[SQUARES + target]
    en_passant = position[EN_PASSANT]
    position[SIDE] = enemy
    position[CASTLING] &= CASTLING_KEPT[origin] & CASTLING_KEPT[target]
    position[EN_PASSANT] = (origin + target) >> 1 if is_pawn and (origin ^ target) == 16 else NO_SQUARE
    position[taken] &= ~(1 << target)
    position[enemy + ALL] &= ~(1 << target)
    move_piece(position, origin, target)
    if promotion != EMPTY:
        position[piece] ^= 1 << target
        piece = side + promotion
        position[piece] ^= 1 << target
        position[SQUARES + target] = piece
    elif is_pawn and target == en_passant:
        position[enemy + PAWN] ^= 1 << (target ^ 8)
        position[enemy + ALL] ^= 1 << (target ^ 8)
        position[SQUARES + (target ^ 8)] = EMPTY
        piece = EMPTY
    elif piece == side + KING and not (ATTACKS[KING, origin] >> target) & 1:
        move_piece(position, target + 1 if target > origin else target - 2, (origin + target) >> 1)
        piece = EMPTY
    king = lowest_square(position[enemy + KING])
    occupied = occupied_squares(position)
    if piece == EMPTY:
        position[CHECKERS] = attackers(position, side, king, occupied)
    else:
        checkers = unveiled(position, side, king, DIRECTIONS[king, origin], occupied)
        if (ATTACKS[piece, target] >> king) & 1 and not between(target, king) & occupied:
            checkers |= 1 << target
        position[CHECKERS] = checkers


@rule
def move_piece(position: Numbers, origin: int, target: int) -> None:
    """Put the piece on `origin` on `target`, which is empty in all bitboards."""
    piece = position[SQUARES + origin]
    change = (1 << origin) | (1 << target)
    position[piece] ^= change
    position[(piece & BLACK) + ALL] ^= change
    position[SQUARES + origin] = EMPTY
    position[SQUARES + target] = piece
