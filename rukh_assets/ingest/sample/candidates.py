"""The moves that a player may choose from: all that attack masks call legal, with what speaks for and against each.

Whether a move leaves the own king in check is for the caller to see, the king's own steps apart. Pawns become the kind
of piece that their player likes best.
"""

from rukh_assets.board.attacks import occupied_squares, unveiled
from rukh_assets.board.generate import pawn_targets
from rukh_assets.board.intrinsics import lowest_square
from rukh_assets.board.kernel import step
from rukh_assets.board.legality import can_castle
from rukh_assets.board.position import (
    ALL,
    BLACK,
    CASTLING,
    CHECKERS,
    EMPTY,
    KING,
    PAWN,
    SIDE,
)
from rukh_assets.board.tables import ATTACKS, DIRECTIONS
from rukh_assets.ingest.sample.exchange import evasion_targets
from rukh_assets.ingest.sample.game import CHECKS, PROMOTES_TO, Game
from rukh_assets.ingest.sample.scoring import (
    arriving_merit,
    castling_merit,
    exposed_loss,
    leaving_merit,
    list_dangers,
    new_reach_from,
    standing_loss,
)
from rukh_assets.ingest.sample.survey import REACH
from rukh_assets.ingest.sample.tables import WORTH

_LAST_RANKS = 0xFF | -1 << 56


@step
def list_candidates(game: Game) -> int:
    """Write all candidates, their merits as scores, and return how many they are."""
    position, sight = game.position, game.sight
    side = position[SIDE]
    attacked = sight[(side ^ BLACK) + ALL]
    dangers = list_dangers(game) if attacked & position[side + ALL] else 0
    allowed = evasion_targets(position) & ~position[side + ALL]
    count = 0
    for kind in range(PAWN, KING + 1):
        pieces = position[side + kind]
        while pieces:
            origin = lowest_square(pieces)
            pieces ^= 1 << origin
            if kind == PAWN:
                reach = ATTACKS[side + PAWN, origin]
                targets = pawn_targets(position, origin, occupied_squares(position)) & allowed
            else:
                reach = sight[REACH + origin]
                targets = reach & (~(attacked | position[side + ALL]) if kind == KING else allowed)
            if targets:
                count = list_moves_of_piece(game, kind, origin, reach, targets, dangers, count)
    if position[CASTLING] and not position[CHECKERS]:
        count = list_castlings(game, count)
    return count


@step
def list_moves_of_piece(game: Game, kind: int, origin: int, reach: int, targets: int, dangers: int, count: int) -> int:
    """Add the moves of one piece to each of `targets` and return how many candidates there are now."""
    position = game.position
    side = position[SIDE]
    promotion = game.setting[side + PROMOTES_TO] if kind == PAWN and targets & _LAST_RANKS else EMPTY
    lands_as = promotion or kind
    leaving = leaving_merit(game, kind, origin, reach) + WORTH[lands_as] - WORTH[kind]
    king = lowest_square(position[(side ^ BLACK) + KING])
    occupied = (occupied_squares(position) ^ (1 << origin)) & ~(1 << king)
    line = DIRECTIONS[king, origin]
    shields = unveiled(position, side, king, line, occupied) != 0
    while targets:
        target = lowest_square(targets)
        targets ^= 1 << target
        new_reach = new_reach_from(side, lands_as, target, occupied)
        exposed = exposed_loss(game, lands_as, target, reach)
        standing = standing_loss(game, dangers, origin, target, reach, new_reach)
        checks = (new_reach >> king) & 1 != 0 or (shields and DIRECTIONS[king, target] != line)
        game.moves[count] = origin | (target << 6) | (promotion << 12) | (CHECKS if checks else 0)
        game.scores[count] = leaving + arriving_merit(game, kind, target, new_reach, exposed == 0)
        game.risks[count] = max(exposed, standing) + (min(exposed, standing) >> 2)
        count += 1
    return count


@step
def list_castlings(game: Game, count: int) -> int:
    """Add castling and return how many candidates there are now."""
    position = game.position
    king = lowest_square(position[position[SIDE] + KING])
    for target in range(king - 2, king + 3, 4):
        if can_castle(position, king, target):
            game.moves[count] = king | (target << 6)
            game.scores[count] = castling_merit(game, king, target)
            game.risks[count] = 0
            count += 1
    return count
