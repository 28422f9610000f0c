"""A game under way, as the rules of the sample see it: parts of one scratch array, and what their slots hold.

Slots that each side has are numbered below 8 for White and, with `BLACK` added, below 16 for Black.
"""

from itertools import accumulate
from typing import NamedTuple

from rukh_assets.board.generate import MAX_MOVES
from rukh_assets.board.intrinsics import from_slot
from rukh_assets.board.kernel import Numbers, rule
from rukh_assets.board.position import SIZE
from rukh_assets.ingest.sample.survey import SIGHT_SIZE

MIN_PLIES, MAX_PLIES = 20, 300
"""Players resign or agree to a draw from the first of these plies; the game stops at the second."""

NOISE, CARELESS, DEPTH, SEES, PROMOTES_TO, PACE, QUICKEST, GIVES_UP_AT = range(8)
"""Of a setting, each side's: centipawns by which a score may be misjudged; of 1,000 moves, how many are made without a
look at what the reply may take; how many candidate moves are tried on the board, at most; `MATES` and `STALEMATES` that
are never missed; kind of piece that pawns become; share of the time left that a move takes, one in so many; least
hundredths of a second for a move; material balance in centipawns at which the player resigns."""
LINE, BOOK_PLIES, BASE, INCREMENT, REPEATS, TRADES, AGREES, STOPS_AT, WHEN_STOPPED = range(16, 25)
"""Of a setting, both sides': where the opening is among the moves of the book, and its plies; seconds on the clock, 0
where none runs, and a move's increment; whether players who are level and have nothing to do move to and fro; whether
they like to trade pieces; whether they agree to draws; ply at which the game is broken off; and how that counts:
`DRAWN`, `RESIGNED` or `FLAGGED` by the player to move, or `UNFINISHED`, as which the game then counts however it ended.
"""
SETTING_SIZE = 25

MATES, STALEMATES = 1, 2
DRAWN, RESIGNED, FLAGGED, UNFINISHED = range(4)

LEFT, LAST_MOVE, HOPELESS = range(3)
"""Of a state, each side's: hundredths of a second on the clock, the last move, and for how many moves all was lost."""
PLY, QUIET, DICE = range(16, 19)
"""Of a state: plies played, plies since the last capture or move of a pawn, and the stream of random numbers."""
STATE_SIZE = 19

HERE, LOSS, LOSS_DEFENDED, SAVES = range(4)
"""Of a danger: the square of an own piece that the other side could win as things stand; what would be lost, and what
were it defended (once more); and the squares where a move takes the only attacker or stands in its way."""
DANGER_SIZE, MAX_DANGERS = 4, 3

MOVE, CHECKS, TRIED = 0xFFFF, 1 << 16, 1 << 17
"""Of a candidate: its move; whether it gives check, as far as is seen at once; whether it was tried."""

LONGEST_WORD = 16


class Game(NamedTuple):
    """Pointers to the parts of a game."""

    position: Numbers
    sight: Numbers
    setting: Numbers
    state: Numbers
    dice: Numbers
    """`state` from `DICE` on."""
    keys: Numbers
    """By plies played: equal for equal positions, in the sense of repetition."""
    moves: Numbers
    """Candidates, `origin | target << 6 | promotion << 12` with `CHECKS` and `TRIED`."""
    scores: Numbers
    """How good each candidate looks."""
    risks: Numbers
    """What of that is owed to what the reply could win."""
    dangers: Numbers
    """`DANGER_SIZE` slots each."""
    trial: Numbers
    """A position after a candidate, and its sight."""
    trial_sight: Numbers
    reply: Numbers
    """A position one further."""
    word: Numbers
    """Ids of the san scheme."""


_SIZES = (
    *(SIZE, SIGHT_SIZE, STATE_SIZE, MAX_PLIES + 1),
    *(MAX_MOVES, MAX_MOVES, MAX_MOVES, DANGER_SIZE * MAX_DANGERS),
    *(SIZE, SIGHT_SIZE, SIZE, LONGEST_WORD),
)
_POSITION, _SIGHT, _STATE, _KEYS, *_STARTS, SCRATCH_SIZE = accumulate(_SIZES, initial=0)
_MOVES, _SCORES, _RISKS, _DANGERS, _TRIAL, _TRIAL_SIGHT, _REPLY, _WORD = _STARTS


@rule
def open_game(setting: Numbers, scratch: Numbers) -> Game:
    """The parts of a game, for which `scratch` has `SCRATCH_SIZE` slots of int64."""
    return Game(
        position=from_slot(scratch, _POSITION),
        sight=from_slot(scratch, _SIGHT),
        setting=setting,
        state=from_slot(scratch, _STATE),
        dice=from_slot(scratch, _STATE + DICE),
        keys=from_slot(scratch, _KEYS),
        moves=from_slot(scratch, _MOVES),
        scores=from_slot(scratch, _SCORES),
        risks=from_slot(scratch, _RISKS),
        dangers=from_slot(scratch, _DANGERS),
        trial=from_slot(scratch, _TRIAL),
        trial_sight=from_slot(scratch, _TRIAL_SIGHT),
        reply=from_slot(scratch, _REPLY),
        word=from_slot(scratch, _WORD),
    )
