"""Raw games as Lichess would publish them: pairings drawn, played and tagged."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from rukh_assets.ingest.raw import RAW_SCHEMA
from rukh_assets.ingest.sample.dice import Dice, Integers
from rukh_assets.ingest.sample.game import MIN_PLIES, SCRATCH_SIZE
from rukh_assets.ingest.sample.openings import book
from rukh_assets.ingest.sample.pairings import draw_pairings
from rukh_assets.ingest.sample.play import ROOM, play_games
from rukh_assets.ingest.sample.settings import draw_settings
from rukh_assets.ingest.sample.tags import dates, sites, tags_of

UNWANTED_ONE_IN = 3
"""One in so many kept games is preceded by a game that the default filters reject."""


class Played(NamedTuple):
    """Games that were played; of n games."""

    movetext: pa.StringArray
    """[n]"""
    results: Integers
    """[n]: indices of `RESULTS`."""
    terminations: Integers
    """[n]: `NORMAL` or `FORFEIT`."""


def raw_games(month: str, seed: int, begin: int, end: int) -> pa.Table:
    """The raw games of the kept games from `begin` up to `end` of a month; their `file` and `number` are null.

    Kept game i has number 2i + 1 in its address and its randomness; a rejected one before it has number 2i. Each is a
    pure function of (seed, month, number).
    """
    every = np.arange(2 * begin, 2 * end, dtype=np.int64)
    dice = Dice.of(f"rukh sample {seed} {month} {number}" for number in every.tolist())
    exists = dice.chance(1, UNWANTED_ONE_IN) | (every % 2 == 1)
    numbers, dice = every[exists], dice.only(exists)
    pairings = draw_pairings(numbers % 2 == 1, dice)
    settings = draw_settings(pairings, dice)
    played = play(settings, numbers % 2 * MIN_PLIES, dice)
    columns = tags_of(pairings, played.results, played.terminations) | {
        "site": sites(month, seed, numbers),
        "utc_date": dates(month, numbers // 2),
        "movetext": played.movetext,
        "ended": pa.repeat(True, len(numbers)),
    }
    nulls = pa.nulls(len(numbers))
    return pa.table([columns.get(name, nulls) for name in RAW_SCHEMA.names], RAW_SCHEMA.names).cast(RAW_SCHEMA)


def play(settings: Integers, least_plies: Integers, dice: Dice) -> Played:
    """Play a game by each of `settings`, again where it has less than `least_plies`."""
    count = len(settings)
    text, offsets = np.empty(count * ROOM, np.uint8), np.empty(count + 1, np.int32)
    results, terminations = np.empty(count, np.int64), np.empty(count, np.int64)
    scratch = np.empty(SCRATCH_SIZE, np.int64)
    fits = play_games(
        settings.ravel(),
        least_plies,
        dice.states.view(np.int64),
        book().moves,
        text,
        offsets,
        results,
        terminations,
        scratch,
    )
    assert fits, "the room for movetext was reckoned too small"
    text.resize(int(offsets[-1]), refcheck=False)
    movetext = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))
    return Played(movetext, results, terminations)
