"""How games end: by the rules of chess, by the clock, and by what people do."""

from rukh_assets.board.kernel import rule, step
from rukh_assets.board.position import BLACK, CHECKERS, SIDE, WHITE
from rukh_assets.board.uci_reading import NO_MOVE
from rukh_assets.board.verdicts import RESULTS
from rukh_assets.ingest.sample.choice import LEVEL
from rukh_assets.ingest.sample.dice import below, chance
from rukh_assets.ingest.sample.exchange import most_winnable
from rukh_assets.ingest.sample.game import (
    AGREES,
    BASE,
    DRAWN,
    FLAGGED,
    GIVES_UP_AT,
    HOPELESS,
    INCREMENT,
    LEFT,
    MIN_PLIES,
    PACE,
    PLY,
    QUICKEST,
    QUIET,
    STOPS_AT,
    WHEN_STOPPED,
    Game,
)
from rukh_assets.ingest.sample.mates import lacks_material
from rukh_assets.ingest.sample.repetition import times_seen
from rukh_assets.ingest.sample.survey import BALANCE, LATE

GOING_ON, WHITE_WINS, BLACK_WINS, DRAW, UNKNOWN = map(RESULTS.index, ("", "1-0", "0-1", "1/2-1/2", "*"))

NORMAL, FORFEIT = range(2)
"""Terminations."""


@step
def end_before(game: Game, move: int) -> tuple[int, int]:
    """Result and termination if the game ends before the player to move makes `move`, else `GOING_ON` and any.

    `NO_MOVE` stands for none that is legal. The player's clock runs.
    """
    position, setting = game.position, game.setting
    side, ply = position[SIDE], game.state[PLY]
    loss = BLACK_WINS if side == WHITE else WHITE_WINS
    if move == NO_MOVE:
        return (loss if position[CHECKERS] else DRAW), NORMAL
    if is_drawn(game):
        return DRAW, NORMAL
    if ply >= setting[STOPS_AT]:
        how = setting[WHEN_STOPPED]
        return (DRAW if how == DRAWN else loss), (FORFEIT if how == FLAGGED else NORMAL)
    if ply >= MIN_PLIES:
        if resigns(game):
            return loss, NORMAL
        if agrees(game):
            return DRAW, NORMAL
    if setting[BASE] and not spend_time(game):
        return (DRAW if lacks_material(position, side ^ BLACK) else loss), FORFEIT
    return GOING_ON, NORMAL


@rule
def is_drawn(game: Game) -> bool:
    """Whether the position came for the third time, nobody can mate, or the last 50 moves of both were quiet."""
    quiet, ply = game.state[QUIET], game.state[PLY]
    if quiet >= 100 or times_seen(game, game.keys[ply], ply, quiet) >= 2:
        return True
    return game.sight[LATE] != 0 and lacks_material(game.position, WHITE) and lacks_material(game.position, BLACK)


@rule
def resigns(game: Game) -> bool:
    """Whether the player to move resigns: behind by enough, for some moves in a row."""
    state, side, balance = game.state, game.position[SIDE], game.sight[BALANCE]
    gives_up_at = game.setting[side + GIVES_UP_AT]
    if balance > gives_up_at or balance + most_winnable(game.position, game.sight) > gives_up_at:
        state[side + HOPELESS] = 0
        return False
    state[side + HOPELESS] += 1
    return state[side + HOPELESS] > 1 and chance(game.dice, 2, 3)


@rule
def agrees(game: Game) -> bool:
    """Whether both agree to a draw: level, late and quiet."""
    level = game.sight[LATE] != 0 and abs(game.sight[BALANCE]) <= LEVEL
    quiet = game.state[PLY] >= 60 and game.state[QUIET] >= 6
    return level and quiet and game.setting[AGREES] != 0 and chance(game.dice, 1, 30)


@rule
def spend_time(game: Game) -> bool:
    """Take the time of one move and add the increment; False when there was not enough."""
    setting, state, side = game.setting, game.state, game.position[SIDE]
    increment = 100 * setting[INCREMENT]
    budget = state[side + LEFT] // setting[side + PACE] + increment * 3 // 4
    if state[PLY] < 14:
        budget //= 5
    thought = setting[side + QUICKEST] + budget * below(game.dice, 256) * below(game.dice, 256) // 18_000
    if thought > state[side + LEFT]:
        return False
    if state[PLY] > 1:  # the clocks start with the second move of each side
        state[side + LEFT] += increment - thought
    return True
