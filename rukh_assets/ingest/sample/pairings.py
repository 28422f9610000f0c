"""Games before they are played: who plays whom, on which clock, from which opening, and which games are unwanted."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from rukh_assets.ingest.sample.dice import Dice, Integers, Mask
from rukh_assets.ingest.sample.openings import book
from rukh_assets.ingest.sample.people import STRONG, WEAK, draw_people, draw_ratings, other_people


class Unwanted(IntEnum):
    """Why the default filters reject a game; the last is for the others."""

    RATING, TIME_CONTROL, LENGTH, ABANDONED, UNFINISHED, BOT, NO_MOVES, CORRESPONDENCE, NOT = range(9)


UNWANTED_WEIGHTS = (46, 27, 8, 6, 5, 4, 2, 2)

#: Base seconds and increment, and weight.
SLOW_CLOCKS = (
    *(((180, 0), 330), ((300, 0), 220), ((180, 2), 150), ((600, 0), 130), ((300, 3), 50)),
    *(((600, 5), 30), ((900, 10), 25), ((420, 0), 15), ((600, 10), 12), ((420, 3), 10)),
    *(((1800, 0), 10), ((240, 0), 6), ((900, 0), 6), ((1800, 20), 4), ((300, 15), 2)),
)
FAST_CLOCKS = (((60, 0), 60), ((120, 1), 22), ((30, 0), 5), ((15, 0), 4), ((60, 1), 4), ((120, 0), 2))
NO_CLOCK = (0, 0)

CLOCKS = (*(clock for clock, _ in SLOW_CLOCKS + FAST_CLOCKS), NO_CLOCK)
"""All clocks; no clock, the last, is correspondence."""

NO_TOURNAMENT = -1

MIN_ELO = 1800
"""The lowest rating that the default filters keep."""


@dataclass(frozen=True, slots=True)
class Pairings:
    """Games, as columns of one length."""

    unwanted: Integers
    """Numbers of `Unwanted`."""
    white: Integers
    """Numbers of people."""
    black: Integers
    white_elo: Integers
    black_elo: Integers
    clock: Integers
    """Indices of `CLOCKS`."""
    line: Integers
    """Indices of the book's lines."""
    tournament: Integers
    """Numbers of tournaments below 2**24, or `NO_TOURNAMENT`."""

    def are(self, *reasons: Unwanted) -> Mask:
        """Which games are unwanted for one of `reasons`."""
        return np.isin(self.unwanted, reasons)


def draw_pairings(wanted: Mask, dice: Dice) -> Pairings:
    """Pairings of games, of which those `wanted` will be kept by the default filters."""
    unwanted = np.where(wanted, Unwanted.NOT, dice.weighted(UNWANTED_WEIGHTS))
    strong, weak = draw_ratings(STRONG, dice), draw_ratings(WEAK, dice)
    white_elo = np.where(unwanted == Unwanted.RATING, weak, strong)
    black_elo = np.maximum(np.where(wanted, MIN_ELO, 700), white_elo + dice.spread(160))
    white = draw_people(white_elo, dice)
    slow = dice.weighted([weight for _, weight in SLOW_CLOCKS])
    fast = len(SLOW_CLOCKS) + dice.weighted([weight for _, weight in FAST_CLOCKS])
    return Pairings(
        unwanted=unwanted,
        white=white,
        black=other_people(draw_people(black_elo, dice), white),
        white_elo=white_elo,
        black_elo=black_elo,
        clock=np.select(
            [unwanted == Unwanted.TIME_CONTROL, unwanted == Unwanted.CORRESPONDENCE], [fast, len(CLOCKS) - 1], slow
        ),
        line=dice.weighted(book().weights),
        tournament=np.where(dice.chance(1, 6), dice.below(2**24), NO_TOURNAMENT),
    )
