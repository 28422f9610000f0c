"""What captures win when both sides go on capturing on the same square."""

from rukh_assets.board.attacks import attackers, between, occupied_squares
from rukh_assets.board.intrinsics import count_squares, lowest_square
from rukh_assets.board.kernel import Numbers, rule, step
from rukh_assets.board.position import ALL, BLACK, CHECKERS, EN_PASSANT, KING, NO_SQUARE, PAWN, SIDE, SQUARES
from rukh_assets.ingest.sample.tables import WORTH

_MORE_THAN_ANYTHING = 2**20


@rule
def evasion_targets(position: Numbers) -> int:
    """Where a piece other than the king may go: anywhere without a check; a pawn may also take en passant."""
    checkers = position[CHECKERS]
    if not checkers:
        return -1
    if count_squares(checkers) > 1:
        return 0
    targets = checkers | between(lowest_square(checkers), lowest_square(position[position[SIDE] + KING]))
    return targets if position[EN_PASSANT] == NO_SQUARE else targets | (1 << position[EN_PASSANT])


@step
def most_winnable(position: Numbers, sight: Numbers) -> int:
    """The most that the player to move could win at once from what the other side leaves standing."""
    side = position[SIDE]
    enemy = side ^ BLACK
    targets = sight[side + ALL] & evasion_targets(position)
    most = 0
    for kind in range(KING - 1, PAWN - 1, -1):
        attacked = position[enemy + kind] & targets
        if WORTH[kind] <= most:
            break
        while attacked:
            square = lowest_square(attacked)
            attacked ^= 1 << square
            most = max(most, exchange_gain(position, square))
    return most


@rule
def exchange_gain(position: Numbers, square: int) -> int:
    """What the player to move wins by capturing on a square, pins aside, if both capture while that pays.

    Each capture is with the piece of least worth. `least` is what the player to move is sure of by then, `most` what
    the other side is sure not to lose more than; where they meet, one of the two stops.
    """
    side = position[SIDE]
    occupied = occupied_squares(position)
    won, least, most = 0, 0, _MORE_THAN_ANYTHING
    victim = position[SQUARES + square] & 7
    taker = side
    while least < most:
        takers = attackers(position, taker, square, occupied) & occupied
        if not takers:
            break
        kind = PAWN
        while not takers & position[taker + kind]:
            kind += 1
        occupied ^= 1 << lowest_square(takers & position[taker + kind])
        if kind == KING and attackers(position, taker ^ BLACK, square, occupied) & occupied:
            break
        if taker == side:
            won += WORTH[victim]
            most = min(most, won)
        else:
            won -= WORTH[victim]
            least = max(least, won)
        victim = kind
        taker ^= BLACK
    return min(least, most) if taker == side else max(least, most)
