"""Which move a player makes: the best-looking one by the scores, seen through that player's rating."""

from rukh_assets.board.intrinsics import count_squares, lowest_square
from rukh_assets.board.kernel import Numbers, rule, step
from rukh_assets.board.position import BLACK, CHECKERS, EMPTY, KING, PAWN, ROOK, SIDE, SQUARES
from rukh_assets.board.uci_reading import NO_MOVE
from rukh_assets.ingest.sample.candidates import list_candidates
from rukh_assets.ingest.sample.dice import below, chance
from rukh_assets.ingest.sample.exchange import most_winnable
from rukh_assets.ingest.sample.game import (
    CARELESS,
    CHECKS,
    DEPTH,
    LAST_MOVE,
    MATES,
    MOVE,
    NOISE,
    PLY,
    QUIET,
    REPEATS,
    SEES,
    STALEMATES,
    TRIED,
    Game,
)
from rukh_assets.ingest.sample.mates import (
    can_mate,
    flights,
    has_pawn_move,
    is_safe_move,
    lacks_material,
    mates,
    play_aside,
)
from rukh_assets.ingest.sample.repetition import key_of, times_seen
from rukh_assets.ingest.sample.survey import BALANCE, LATE, distance, has_king_and_pawns_only, look
from rukh_assets.ingest.sample.tables import WORTH

MATE, NO_SCORE = 100_000, -(2**40)

LEVEL, TO_AND_FRO = 150, 90
"""Centipawns within which a game is level, and what moving back is then worth to a player who repeats."""

SAVED = 400
"""What it is worth to a player who cannot win that the other side cannot either."""

HUNT_DEPTH = 8
"""How many more moves are tried on the board against a king without pieces."""


@step
def choose(game: Game) -> int:
    """The move of the player to move, `origin | target << 6 | promotion << 12`, or `NO_MOVE` where none is legal."""
    side = game.position[SIDE]
    careless = chance(game.dice, game.setting[side + CARELESS], 1000)
    count = list_candidates(game)
    misjudge(game, count, careless)
    tries = 0 if careless else game.setting[side + DEPTH]
    if tries and has_king_and_pawns_only(game.position, side ^ BLACK):
        tries += HUNT_DEPTH
    while count:
        best, next_score = two_best(game.scores, count)
        move = game.moves[best]
        if move & TRIED:
            return move & MOVE
        if not is_safe_move(game.position, move):
            count = drop_candidate(game, best, count)
            continue
        if not tries or game.scores[best] >= MATE:
            return move & MOVE
        tries -= 1
        game.scores[best] += game.risks[best] + prospects(game, move)
        game.moves[best] |= TRIED
        if game.scores[best] >= next_score:
            return move & MOVE
    return NO_MOVE


@rule
def drop_candidate(game: Game, index: int, count: int) -> int:
    """Put the last candidate in the place of one that is none; return how many there are now."""
    game.moves[index], game.scores[index] = game.moves[count - 1], game.scores[count - 1]
    game.risks[index] = game.risks[count - 1]
    return count - 1


@rule
def two_best(scores: Numbers, count: int) -> tuple[int, int]:
    """The index of the highest score, the first of equal ones, and the highest of the others."""
    best, highest, next_score = 0, scores[0], NO_SCORE
    for index in range(1, count):
        score = scores[index]
        if score > highest:
            best, highest, next_score = index, score, highest
        elif score > next_score:
            next_score = score
    return best, next_score


@step
def misjudge(game: Game, count: int, careless: bool) -> None:
    """Bring the candidates' scores from their merits to how good they look to the player at first sight."""
    side = game.position[SIDE]
    sees_mates = game.setting[side + SEES] >= MATES
    back = way_back(game)
    for index in range(count):
        # The sum of two even numbers is most often near its middle: small errors are common, large ones rare.
        bits = below(game.dice, 2**31)
        error = ((bits >> 16) + (bits & 0x7FFF)) * game.setting[side + NOISE] >> 15
        move = game.moves[index]
        score = game.scores[index] + error - (game.risks[index] >> (3 if careless else 0))
        if move & CHECKS and sees_mates and mates(game.position, game.sight, move, game.reply):
            score += MATE
        if move & MOVE == back:
            score += TO_AND_FRO
        game.scores[index] = score


@rule
def way_back(game: Game) -> int:
    """The move that undoes the player's last one, where players who repeat have a level and quiet game."""
    if not game.setting[REPEATS] or abs(game.sight[BALANCE]) > LEVEL or game.state[QUIET] < 6:
        return NO_MOVE
    last = game.state[game.position[SIDE] + LAST_MOVE]
    return (last >> 6) & 63 | (last & 63) << 6


@step
def prospects(game: Game, move: int) -> int:
    """What the position after a move is worth beside its merits: what the reply may win, mate, and the way to it."""
    trial, sight, side = game.trial, game.trial_sight, game.position[SIDE]
    play_aside(game.position, move, trial)
    look(trial, sight)
    score = repetition_score(game, move) - most_winnable(trial, sight)
    if -sight[BALANCE] >= WORTH[ROOK] - 100 and has_king_and_pawns_only(trial, side ^ BLACK):
        score += hunt_score(game)
    if sight[LATE] and lacks_material(trial, side ^ BLACK) and lacks_material(game.position, side):
        score += SAVED
    if game.setting[side + SEES] >= MATES and can_mate(trial, sight, game.reply):
        score -= MATE // 2
    return score


@step
def repetition_score(game: Game, move: int) -> int:
    """What repeating a position is worth: nothing good to the side that is ahead."""
    position, quiet = game.position, game.state[QUIET] + 1
    if quiet < 4 or position[SQUARES + ((move >> 6) & 63)] != EMPTY:
        return 0
    if position[SQUARES + (move & 63)] == position[SIDE] + PAWN:
        return 0
    seen = times_seen(game, key_of(game.trial), game.state[PLY] + 1, quiet)
    if not seen:
        return 0
    ahead = -game.trial_sight[BALANCE]
    if ahead > 100:
        return -80 * seen
    return 0 if ahead > -LEVEL else 150


@step
def hunt_score(game: Game) -> int:
    """How well a king without pieces is driven to the edge; stalemate throws away what the player is ahead."""
    trial, sight, side = game.trial, game.trial_sight, game.position[SIDE]
    prey = lowest_square(trial[(side ^ BLACK) + KING])
    hunter = lowest_square(trial[side + KING])
    steps = flights(trial, sight, side ^ BLACK)
    score = -14 * count_squares(steps) - 9 * distance(prey, hunter)
    if not steps and game.setting[side + SEES] >= STALEMATES and not trial[CHECKERS] and not has_pawn_move(trial):
        score += sight[BALANCE]
    return score
