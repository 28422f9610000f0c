"""Who attacks what: sliders by obstruction difference, attackers of a square, pieces that shield their king."""

from rukh_assets.board.intrinsics import difference, highest_square, lowest_square
from rukh_assets.board.kernel import Numbers, rule
from rukh_assets.board.position import ALL, BISHOP, BLACK, EN_PASSANT, KING, KNIGHT, PAWN, QUEEN, ROOK, SIDE
from rukh_assets.board.tables import ATTACKS, DIRECTIONS, RAYS


@rule
def occupied_squares(position: Numbers) -> int:
    """The bitboard of all pieces."""
    return position[ALL] | position[BLACK + ALL]


@rule
def between(origin: int, target: int) -> int:
    """The squares between two that see each other on an empty board, none for all others. Oracle: `chess.between`."""
    direction = DIRECTIONS[origin, target]
    return RAYS[direction, origin] & RAYS[direction ^ 4, target]


@rule
def officer_reaches(position: Numbers, piece: int, origin: int, target: int) -> bool:
    """Whether a piece that is no pawn attacks one square from the other. Oracle: `chess.Board.attacks_mask`."""
    if not (ATTACKS[piece, origin] >> target) & 1:
        return False
    return between(origin, target) & occupied_squares(position) == 0


@rule
def line_attacks(square: int, occupied: int, direction: int) -> int:
    """The squares a slider attacks on one line through `square`, both ways; `direction` is below 4.

    Taking the nearest piece behind from the pieces ahead borrows as far as the nearest of them, so the bits that
    change are the squares from the one to the other (obstruction difference, chessprogramming.org).
    """
    ahead = RAYS[direction, square]
    behind = RAYS[direction + 4, square]
    nearest_behind = 1 << highest_square((behind & occupied) | 1)
    return (ahead | behind) & ((ahead & occupied) ^ difference(ahead & occupied, nearest_behind))


@rule
def straight_attacks(square: int, occupied: int) -> int:
    """The squares a rook attacks. Oracle: `chess.Board.attacks_mask`."""
    return line_attacks(square, occupied, 0) | line_attacks(square, occupied, 1)


@rule
def diagonal_attacks(square: int, occupied: int) -> int:
    """The squares a bishop attacks. Oracle: `chess.Board.attacks_mask`."""
    return line_attacks(square, occupied, 2) | line_attacks(square, occupied, 3)


@rule
def officer_attacks(kind: int, square: int, occupied: int) -> int:
    """The squares that a piece other than a pawn attacks. Oracle: `chess.Board.attacks_mask`."""
    if kind == BISHOP:
        return diagonal_attacks(square, occupied)
    if kind == ROOK:
        return straight_attacks(square, occupied)
    if kind == QUEEN:
        return straight_attacks(square, occupied) | diagonal_attacks(square, occupied)
    return ATTACKS[kind, square]


@rule
def attackers(position: Numbers, side: int, square: int, occupied: int) -> int:
    """The pieces of `side` that attack `square` if `occupied` were all pieces. Oracle: `chess.Board.attackers_mask`."""
    straight = position[side + ROOK] | position[side + QUEEN]
    diagonal = position[side + BISHOP] | position[side + QUEEN]
    found = (
        (ATTACKS[(side ^ BLACK) + PAWN, square] & position[side + PAWN])
        | (ATTACKS[KNIGHT, square] & position[side + KNIGHT])
        | (ATTACKS[KING, square] & position[side + KING])
    )
    if ATTACKS[ROOK, square] & straight:
        found |= straight_attacks(square, occupied) & straight
    if ATTACKS[BISHOP, square] & diagonal:
        found |= diagonal_attacks(square, occupied) & diagonal
    return found


@rule
def unveiled(position: Numbers, side: int, king: int, direction: int, occupied: int) -> int:
    """The slider of `side` that attacks `king` in `direction`, 0 where none does; `NO_DIRECTION` is none."""
    sliders = position[side + QUEEN] | position[side + (BISHOP if direction & 2 else ROOK)]
    ray = RAYS[direction, king]
    if not ray & sliders:
        return 0
    nearest = lowest_square(ray & occupied) if direction < 4 else highest_square(ray & occupied)
    return (1 << nearest) & sliders


@rule
def uncovers_king(position: Numbers, origin: int, target: int) -> bool:
    """Whether a piece of the side to move that goes to `target` lets a slider at its king that it kept out.

    For a position without check and a piece that is not the king. Oracle: `chess.Board.is_pinned` and the pin's ray.
    """
    side = position[SIDE]
    king = lowest_square(position[side + KING])
    direction = DIRECTIONS[king, origin]
    others = occupied_squares(position) & ~(1 << origin)
    if not unveiled(position, side ^ BLACK, king, direction, others):
        return False
    return direction != DIRECTIONS[king, target]


@rule
def is_en_passant(position: Numbers, origin: int, target: int) -> bool:
    """Whether a pseudo-legal move takes en passant. Oracle: `chess.Board.is_en_passant`."""
    return target == position[EN_PASSANT] and (position[position[SIDE] + PAWN] >> origin) & 1 != 0
