"""Mate in one, stalemate of a king whose pieces are gone, and who can mate at all."""

import chess

from rukh_assets.board.attacks import occupied_squares, officer_attacks
from rukh_assets.board.generate import pawn_targets
from rukh_assets.board.intrinsics import count_squares, lowest_square
from rukh_assets.board.kernel import Numbers, rule, step
from rukh_assets.board.legality import has_evasion, is_safe
from rukh_assets.board.play import play
from rukh_assets.board.position import (
    ALL,
    BISHOP,
    BLACK,
    CHECKERS,
    EMPTY,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    SIDE,
    SIZE,
    SQUARES,
)
from rukh_assets.board.tables import ATTACKS, DIRECTIONS, RAYS
from rukh_assets.ingest.sample.scoring import new_reach_from
from rukh_assets.ingest.sample.survey import REACH

_LIGHT_SQUARES = chess.BB_LIGHT_SQUARES


@step
def is_safe_move(position: Numbers, move: int) -> bool:
    """Whether a candidate leaves the own king unattacked."""
    origin, target = move & 63, (move >> 6) & 63
    return is_safe(position, position[SQUARES + origin] - position[SIDE], origin, target)


@step
def play_aside(position: Numbers, move: int, after: Numbers) -> None:
    """Make `after` the position after a legal move."""
    for slot in range(SIZE):
        after[slot] = position[slot]
    play(after, move & 63, (move >> 6) & 63, (move >> 12) & 7)


@rule
def flights(position: Numbers, sight: Numbers, side: int) -> int:
    """The squares to which the king of a side may step."""
    king = lowest_square(position[side + KING])
    return ATTACKS[KING, king] & ~position[side + ALL] & ~sight[(side ^ BLACK) + ALL]


@step
def mates(position: Numbers, sight: Numbers, move: int, reply: Numbers) -> bool:
    """Whether a move that gives check is legal and mates; only played, in `reply`, if the king has no flight."""
    side = position[SIDE]
    enemy = side ^ BLACK
    origin, target, promotion = move & 63, (move >> 6) & 63, (move >> 12) & 7
    kind = position[SQUARES + origin] - side
    king = lowest_square(position[enemy + KING])
    occupied = (occupied_squares(position) ^ (1 << origin)) & ~(1 << king)
    covered = new_reach_from(side, kind if promotion == EMPTY else promotion, target, occupied) | (1 << target)
    if not (covered >> king) & 1:  # the check is a discovered one
        line = DIRECTIONS[king, origin]
        covered |= RAYS[line, king] | RAYS[line ^ 4, king]
    if flights(position, sight, enemy) & ~covered or not is_safe_move(position, move):
        return False
    play_aside(position, move, reply)
    return reply[CHECKERS] != 0 and not has_evasion(reply)


@step
def can_mate(position: Numbers, sight: Numbers, reply: Numbers) -> bool:
    """Whether an officer of the player to move, but the king, mates by giving check itself."""
    side = position[SIDE]
    king = lowest_square(position[(side ^ BLACK) + KING])
    occupied = occupied_squares(position)
    for kind in range(KNIGHT, KING):
        pieces = position[side + kind]
        aims = officer_attacks(kind, king, occupied) & ~position[side + ALL] if pieces else 0
        while pieces:
            origin = lowest_square(pieces)
            pieces ^= 1 << origin
            targets = sight[REACH + origin] & aims
            while targets:
                target = lowest_square(targets)
                targets ^= 1 << target
                if mates(position, sight, origin | (target << 6), reply):
                    return True
    return False


@step
def has_pawn_move(position: Numbers) -> bool:
    """Whether a pawn of the player to move has a legal move."""
    pawns = position[position[SIDE] + PAWN]
    while pawns:
        origin = lowest_square(pawns)
        pawns ^= 1 << origin
        targets = pawn_targets(position, origin, occupied_squares(position))
        while targets:
            target = lowest_square(targets)
            targets ^= 1 << target
            if is_safe_move(position, origin | (target << 6)):
                return True
    return False


@step
def lacks_material(position: Numbers, side: int) -> bool:
    """Whether a side cannot mate by any moves. Oracle: `chess.Board.has_insufficient_material`."""
    enemy = side ^ BLACK
    if position[side + PAWN] | position[side + ROOK] | position[side + QUEEN]:
        return False
    if position[side + KNIGHT]:
        others = position[enemy + ALL] & ~position[enemy + KING] & ~position[enemy + QUEEN]
        return count_squares(position[side + ALL]) <= 2 and others == 0
    if position[side + BISHOP]:
        bishops = position[side + BISHOP] | position[enemy + BISHOP]
        of_one_colour = bishops & _LIGHT_SQUARES == 0 or bishops & ~_LIGHT_SQUARES == 0
        return of_one_colour and position[enemy + PAWN] | position[enemy + KNIGHT] == 0
    return True
