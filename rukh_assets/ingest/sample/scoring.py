"""What speaks for and against a move, in centipawns, from what each side attacks: no search.

A move has a merit (what it captures, threatens and improves) and a risk (what the reply could win: the piece moved, or
another left standing).
"""

from rukh_assets.board.attacks import attackers, between, occupied_squares, officer_attacks
from rukh_assets.board.intrinsics import count_squares, lowest_square
from rukh_assets.board.kernel import Numbers, rule, step
from rukh_assets.board.position import (
    ALL,
    BISHOP,
    BLACK,
    CASTLING,
    EMPTY,
    EN_PASSANT,
    KING,
    KNIGHT,
    PAWN,
    SIDE,
    SQUARES,
    WHITE,
)
from rukh_assets.board.tables import ATTACKS
from rukh_assets.ingest.sample.game import (
    DANGER_SIZE,
    HERE,
    LAST_MOVE,
    LOSS,
    LOSS_DEFENDED,
    MAX_DANGERS,
    SAVES,
    TRADES,
    Game,
)
from rukh_assets.ingest.sample.survey import LATE, TWICE, distance, loss_on
from rukh_assets.ingest.sample.tables import CENTRE, LATE_PLACES, MOBILITY, PASSED_FRONT, PLACE, WORTH

TRADE = 80
"""What any capture is worth more to players who like to trade."""

WALK = 7
"""What one step of a king to the nearest pawn is worth late in the game."""

CASTLING_MERIT, CASTLING_LOST = 55, 45
"""Bonus for castling, and what giving it up by a move of the king costs."""


@step
def list_dangers(game: Game) -> int:
    """Write the own pieces in danger, those of most worth first, and return how many they are."""
    position, sight = game.position, game.sight
    side = position[SIDE]
    enemy = side ^ BLACK
    count = 0
    for kind in range(KING - 1, PAWN - 1, -1):
        attacked = position[side + kind] & sight[enemy + ALL]
        while attacked and count < MAX_DANGERS:
            square = lowest_square(attacked)
            attacked ^= 1 << square
            loss = loss_on(sight, enemy, WORTH[kind], square, (sight[side + ALL] >> square) & 1 != 0)
            if loss:
                danger = DANGER_SIZE * count
                by = attackers(position, enemy, square, occupied_squares(position))
                game.dangers[danger + HERE] = square
                game.dangers[danger + LOSS] = loss
                game.dangers[danger + LOSS_DEFENDED] = loss_on(sight, enemy, WORTH[kind], square, True)
                game.dangers[danger + SAVES] = by | between(lowest_square(by), square) if count_squares(by) == 1 else 0
                count += 1
    return count


@rule
def new_reach_from(side: int, kind: int, square: int, occupied: int) -> int:
    """What a piece attacks from `square`."""
    return ATTACKS[side + PAWN, square] if kind == PAWN else officer_attacks(kind, square, occupied)


@rule
def exposed_loss(game: Game, kind: int, target: int, reach: int) -> int:
    """What the reply could win of the piece moved, which is of `kind` on `target` and attacked `reach` before."""
    position, sight = game.position, game.sight
    side = position[SIDE]
    if not (sight[(side ^ BLACK) + ALL] >> target) & 1:
        return 0
    defenders = sight[side + (TWICE if (reach >> target) & 1 else ALL)]
    return loss_on(sight, side ^ BLACK, WORTH[kind], target, (defenders >> target) & 1 != 0)


@rule
def standing_loss(game: Game, dangers: int, origin: int, target: int, reach: int, new_reach: int) -> int:
    """What the reply could win of the pieces not moved: those in danger, or that lose their only defender."""
    position, sight = game.position, game.sight
    side = position[SIDE]
    most = 0
    for danger in range(0, DANGER_SIZE * dangers, DANGER_SIZE):
        here = game.dangers[danger + HERE]
        if here != origin and not (game.dangers[danger + SAVES] >> target) & 1:
            defended = (new_reach >> here) & 1
            most = max(most, game.dangers[danger + (LOSS_DEFENDED if defended else LOSS)])
    loosened = reach & ~new_reach & position[side + ALL] & sight[(side ^ BLACK) + ALL] & ~sight[side + TWICE]
    return max(most, loosened_loss(position, side, loosened)) if loosened else most


@rule
def loosened_loss(position: Numbers, side: int, loosened: int) -> int:
    """About what is lost when pieces lose a defender: the cheapest of them, discounted."""
    if position[side + PAWN] & loosened:
        return 60
    if (position[side + KNIGHT] | position[side + BISHOP]) & loosened:
        return 200
    return 300


@rule
def leaving_merit(game: Game, kind: int, origin: int, reach: int) -> int:
    """What leaving a square is worth, whatever the target."""
    position, sight = game.position, game.sight
    side = position[SIDE]
    ring = ATTACKS[KING, lowest_square(position[(side ^ BLACK) + KING])]
    merit = -PLACE[sight[LATE] * LATE_PLACES + side + kind, origin] - MOBILITY[kind] * count_squares(reach)
    merit -= 4 * count_squares(reach & CENTRE) + 7 * count_squares(reach & ring)
    if sight[LATE]:
        return merit + (errand(position, origin) if kind == KING else 0)
    if kind == PAWN:
        near_king = (ATTACKS[KING, lowest_square(position[side + KING])] >> origin) & 1
        return merit - 14 * near_king
    if kind == KING:
        rights = (position[CASTLING] >> (origin & 56)) & 0xFF
        return merit - CASTLING_LOST if rights else merit
    if (game.state[side + LAST_MOVE] >> 6) & 63 == origin:
        merit -= 12  # a second move in a row with the same piece
    return merit


@rule
def arriving_merit(game: Game, kind: int, target: int, new_reach: int, is_safe: bool) -> int:
    """What a piece that was of `kind` is worth on `target`, with what it takes and threatens there."""
    position, sight = game.position, game.sight
    side = position[SIDE]
    enemy = side ^ BLACK
    merit = PLACE[sight[LATE] * LATE_PLACES + side + kind, target] + MOBILITY[kind] * count_squares(new_reach)
    merit += 4 * count_squares(new_reach & CENTRE)
    taken = position[SQUARES + target]
    if taken != EMPTY:
        merit += WORTH[taken - enemy] + TRADE * game.setting[TRADES]
    elif kind == PAWN and target == position[EN_PASSANT]:
        merit += WORTH[PAWN]
    elif kind == PAWN and not position[enemy + PAWN] & PASSED_FRONT[side, target]:
        merit += 12
    if kind == KING and sight[LATE]:
        merit -= errand(position, target)
    if is_safe:
        king = lowest_square(position[enemy + KING])
        merit += 7 * count_squares(new_reach & ATTACKS[KING, king])
        if new_reach & position[enemy + ALL] & ~sight[enemy + ALL]:
            merit += 14
        merit += 12 * ((new_reach >> king) & 1)
    return merit


@rule
def errand(position: Numbers, square: int) -> int:
    """What a king has before it that late in the game walks to the nearest pawn, to take it or to lead it on."""
    pawns = position[WHITE + PAWN] | position[BLACK + PAWN]
    steps = 8 if pawns else 0
    while pawns:
        pawn = lowest_square(pawns)
        pawns ^= 1 << pawn
        steps = min(steps, distance(square, pawn))
    return WALK * steps


@rule
def castling_merit(game: Game, king: int, target: int) -> int:
    """What castling is worth."""
    places = game.sight[LATE] * LATE_PLACES + game.position[SIDE] + KING
    return CASTLING_MERIT + PLACE[places, target] - PLACE[places, king]
