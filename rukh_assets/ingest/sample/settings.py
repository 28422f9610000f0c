"""How each side of a pairing plays, as the numbers that the kernel goes by."""

import numpy as np

from rukh_assets.board.position import BISHOP, BLACK, KNIGHT, QUEEN, ROOK, WHITE
from rukh_assets.ingest.sample import game
from rukh_assets.ingest.sample.dice import Dice, Integers, Mask
from rukh_assets.ingest.sample.game import MAX_PLIES, MIN_PLIES, SETTING_SIZE
from rukh_assets.ingest.sample.openings import book
from rukh_assets.ingest.sample.pairings import CLOCKS, Pairings, Unwanted

NEVER = -1_000_000
"""A balance at which nobody arrives."""


def draw_settings(pairings: Pairings, dice: Dice) -> Integers:
    """[games, SETTING_SIZE]: the settings of games, of which unwanted ones are cut short to be cheap."""
    settings = np.zeros((len(dice), SETTING_SIZE), np.int64)
    wanted = pairings.are(Unwanted.NOT)
    trades = wanted & dice.chance(1, 7)
    # Those who trade also play on to the bitter end: so some games come down to bare kings.
    stubborn, repeats = trades | (wanted & dice.chance(1, 6)), wanted & dice.chance(1, 10)
    for side, elo in ((WHITE, pairings.white_elo), (BLACK, pairings.black_elo)):
        _draw_player(settings[:, side : side + 8], elo, stubborn, dice)
    lines, clocks = book().starts, np.array(CLOCKS, np.int64)[pairings.clock]
    settings[:, game.LINE] = lines[pairings.line]
    settings[:, game.BOOK_PLIES] = np.diff(lines)[pairings.line]
    settings[:, game.BASE], settings[:, game.INCREMENT] = clocks.T
    settings[:, game.REPEATS] = repeats
    settings[:, game.TRADES] = trades
    settings[:, game.AGREES] = ~(stubborn | repeats)
    settings[:, game.STOPS_AT] = _stops(pairings, dice)
    settings[:, game.WHEN_STOPPED] = _ways_to_stop(pairings, dice)
    return settings


def _draw_player(settings: Integers, elo: Integers, stubborn: Mask, dice: Dice) -> None:
    """Fill the eight columns of a side, as strong as `elo` (600 to 3,200); one in six likes to under-promote."""
    weakness = 3200 - np.clip(elo, 600, 3200)
    showing_off = dice.chance(1, 6)
    settings[:, game.NOISE] = 20 + weakness * 70 // 2600
    settings[:, game.CARELESS] = 1 + weakness**3 * 200 // 2600**3
    settings[:, game.DEPTH] = 3 + (2600 - weakness) // 300
    settings[:, game.SEES] = np.select([elo >= 2100, elo >= 1400], [game.STALEMATES, game.MATES], 0)
    settings[:, game.PROMOTES_TO] = np.where(showing_off, np.array([KNIGHT, BISHOP, ROOK])[dice.below(3)], QUEEN)
    settings[:, game.PACE] = 8 + dice.below(22)
    settings[:, game.QUICKEST] = 15 + dice.below(70)
    settings[:, game.GIVES_UP_AT] = np.where(stubborn, NEVER, -200 - dice.below(300))


def _stops(pairings: Pairings, dice: Dice) -> Integers:
    """At how many plies games are broken off."""
    stops = {
        Unwanted.NOT: np.full(len(dice), MAX_PLIES),
        Unwanted.NO_MOVES: np.zeros(len(dice), np.int64),
        Unwanted.LENGTH: 2 + dice.below(MIN_PLIES - 2),
        Unwanted.ABANDONED: 1 + dice.below(30),
    }
    return np.select([pairings.are(reason) for reason in stops], list(stops.values()), 6 + dice.below(40))


def _ways_to_stop(pairings: Pairings, dice: Dice) -> Integers:
    """How games count that are broken off."""
    patient = pairings.are(Unwanted.LENGTH, Unwanted.CORRESPONDENCE)
    lost = np.where(dice.chance(1, 3) & ~patient, game.FLAGGED, game.RESIGNED)
    ways = [pairings.are(Unwanted.NOT), pairings.are(Unwanted.UNFINISHED)]
    return np.select(ways, [game.DRAWN, game.UNFINISHED], lost)
