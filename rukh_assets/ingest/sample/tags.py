"""The tags of raw games, a column at a time: who played, on which clock, when, how it ended, and the address."""

from calendar import monthrange
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rukh_assets.board.verdicts import RESULTS
from rukh_assets.ingest.sample.dice import Integers
from rukh_assets.ingest.sample.openings import book
from rukh_assets.ingest.sample.pairings import CLOCKS, NO_TOURNAMENT, Pairings, Unwanted
from rukh_assets.ingest.sample.people import names, titles

BASE62 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
WIDTH = 8
SITES = 62**WIDTH

SCATTER = 96_482_513_799_871
"""Odd and no multiple of 31, so that it shares no factor with `SITES` and scatters the numbers without collision."""

GAMES_A_MONTH = 2**30
"""Raw games a month for which addresses are kept apart from every other month's."""

_SITE = "https://lichess.org/"
_TOURNAMENT = _SITE + "tournament/"

HALF_MONTH = 500
"""Kept games after which half of the month has passed: later ones come ever more densely, none after the month."""

SPEEDS = (("UltraBullet", 30), ("Bullet", 180), ("Blitz", 480), ("Rapid", 1500))
"""Speed and the seconds a side, 40 increments included, below which Lichess says that a game has it."""

TERMINATIONS = ("Normal", "Time forfeit", "Abandoned", "Unterminated")
"""The first two by the number that the kernel gives them."""

Columns = dict[str, pa.Array]


def tags_of(pairings: Pairings, results: Integers, terminations: Integers) -> Columns:
    """The tags that come from the pairings and from how the games ended, by raw column."""
    black_titles = titles().take(pa.array(pairings.black))
    no_moves = pairings.are(Unwanted.NO_MOVES)
    return {
        "event": _events(pairings),
        "white": names().take(pa.array(pairings.white)),
        "black": names().take(pa.array(pairings.black)),
        "result": _choose(RESULTS, results),
        "white_title": titles().take(pa.array(pairings.white)),
        "black_title": pc.if_else(pairings.are(Unwanted.BOT), "BOT", black_titles),
        "white_elo": pa.array(pairings.white_elo).cast(pa.string()),
        "black_elo": pa.array(pairings.black_elo).cast(pa.string()),
        "eco": _choose([*book().ecos, "?"], np.where(no_moves, len(book().ecos), pairings.line)),
        "termination": _choose(TERMINATIONS, _terminations(pairings, terminations)),
        "time_control": _choose([_time_control(*clock) for clock in CLOCKS], pairings.clock),
    }


def _choose(texts: Sequence[str], indices: Integers) -> pa.StringArray:
    return pa.array(texts).take(pa.array(indices))


def _time_control(base: int, increment: int) -> str:
    return f"{base}+{increment}" if base else "-"


def _terminations(pairings: Pairings, terminations: Integers) -> Integers:
    abandoned = pairings.are(Unwanted.ABANDONED, Unwanted.NO_MOVES)
    ways = [abandoned, pairings.are(Unwanted.UNFINISHED)]
    return np.select(ways, [TERMINATIONS.index("Abandoned"), TERMINATIONS.index("Unterminated")], terminations)


def _events(pairings: Pairings) -> pa.StringArray:
    games = _choose([f"Rated {_speed(*clock)} game" for clock in CLOCKS], pairings.clock)
    tournaments = _choose([f"Rated {_speed(*clock)} tournament {_TOURNAMENT}" for clock in CLOCKS], pairings.clock)
    codes = base62(scattered(np.maximum(pairings.tournament, 0), 0))
    in_tournament = (pairings.tournament != NO_TOURNAMENT) & ~pairings.are(Unwanted.CORRESPONDENCE)
    return pc.if_else(in_tournament, pc.binary_join_element_wise(tournaments, codes, ""), games)


def _speed(base: int, increment: int) -> str:
    if not base:
        return "Correspondence"
    return next((speed for speed, below in SPEEDS if base + 40 * increment < below), "Classical")


def sites(month: str, seed: int, numbers: Integers) -> pa.StringArray:
    """The addresses of raw games of a month; all addresses of one seed differ, in all months together."""
    year, of_year = map(int, month.split("-"))
    first = (year * 12 + of_year) * GAMES_A_MONTH
    codes = base62(scattered(numbers, first * SCATTER + seed * 1_000_003))
    return pc.binary_join_element_wise(_SITE, codes, "")


def scattered(numbers: Integers, offset: int) -> Integers:
    """`(numbers * SCATTER + offset) % SITES` of numbers below 2**30, in two steps so that nothing overflows int64."""
    low = numbers % 2**15 * SCATTER % SITES
    high = numbers // 2**15 * ((SCATTER << 15) % SITES) % SITES
    total: Integers = (high + low + offset % SITES) % SITES
    return total


def base62(numbers: Integers) -> pa.StringArray:
    """`WIDTH` digits, capitals and small letters for each number."""
    digits = numbers[:, None] // 62 ** np.arange(WIDTH - 1, -1, -1) % 62
    text = np.frombuffer(BASE62, np.uint8)[digits]
    ends = np.arange(len(numbers) + 1, dtype=np.int32) * WIDTH
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(ends), pa.py_buffer(text))


def dates(month: str, indices: Integers) -> pa.StringArray:
    """The UTCDates of kept games, as `YYYY.MM.DD`: rising through the month, however many games follow."""
    year, of_year = month.split("-")
    days = monthrange(int(year), int(of_year))[1]
    of_month = [f"{year}.{of_year}.{day:02d}" for day in range(1, days + 1)]
    return _choose(of_month, days * indices // (indices + HALF_MONTH))
