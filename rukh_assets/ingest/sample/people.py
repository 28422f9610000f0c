"""Who plays: ratings as in the tail of Lichess, names and titles."""

from functools import cache

import numpy as np
import pyarrow as pa

from rukh_assets.ingest.sample.dice import Dice, Integers

Bands = tuple[tuple[int, int], ...]

STRONG: Bands = (
    *((1800, 300), (1900, 240), (2000, 170), (2100, 120), (2200, 80), (2300, 48)),
    *((2400, 26), (2500, 14), (2600, 7), (2700, 3), (2800, 2)),
)
"""Rating band (its lower end, 100 wide) and weight: the tail of the Lichess ratings from 1800."""

WEAK: Bands = (
    *((700, 8), (800, 25), (900, 40), (1000, 60), (1100, 80), (1200, 95)),
    *((1300, 110), (1400, 125), (1500, 140), (1600, 125), (1700, 100)),
)
"""The same for the ratings under 1800."""

BAND, PEOPLE_IN_BAND = 20, 7
"""So many people share each band of so many rating points."""

PEOPLE = 3300 // BAND * PEOPLE_IN_BAND

MANNERS = (
    *("Amber", "Brave", "Calm", "Clever", "Copper", "Daring", "Distant", "Eager"),
    *("Early", "Fair", "Gentle", "Golden", "Grand", "Green", "Hasty", "Hidden"),
    *("Humble", "Iron", "Ivory", "Keen", "Late", "Lucky", "Merry", "Misty"),
    *("North", "Patient", "Quiet", "Rapid", "Red", "Sharp", "Silver", "Steady"),
)
FIGURES = (
    *("Archer", "Badger", "Bishop", "Castle", "Comet", "Crane", "Falcon", "Ferry"),
    *("Fox", "Harbor", "Heron", "Hunter", "Kite", "Knight", "Lantern", "Lynx"),
    *("Marten", "Meadow", "Otter", "Pawn", "Pilot", "Raven", "Rider", "River"),
    *("Rook", "Sailor", "Sparrow", "Stone", "Tower", "Walker", "Willow", "Wolf"),
)

TITLES = ("NM", "FM", "CM", "IM", "GM", "WFM")
TITLE_WEIGHTS = (8, 6, 4, 4, 2, 1)


def draw_ratings(bands: Bands, dice: Dice) -> Integers:
    """Ratings out of weighted bands of 100."""
    lower_ends = np.array([lower_end for lower_end, _ in bands])
    return lower_ends[dice.weighted([weight for _, weight in bands])] + dice.below(100)


def draw_people(elo: Integers, dice: Dice) -> Integers:
    """The numbers of people rated `elo`, under 3,300. A number stands for one name, title and about one rating."""
    return elo // BAND * PEOPLE_IN_BAND + dice.below(PEOPLE_IN_BAND)


def other_people(people: Integers, others: Integers) -> Integers:
    """`people`, and where that is the one of `others`, someone else of the same rating."""
    last = people % PEOPLE_IN_BAND == PEOPLE_IN_BAND - 1
    return np.where(people == others, people + np.where(last, 1 - PEOPLE_IN_BAND, 1), people)


@cache
def names() -> pa.StringArray:
    """[PEOPLE]: a name of one's own for each."""
    return pa.array([_name(number) for number in range(PEOPLE)])


def _name(number: int) -> str:
    words = number * 461 % 1024  # odd, so that no two numbers under 1,024 share both words
    name = MANNERS[words % 32] + ("_" if number % 5 == 0 else "") + FIGURES[words // 32]
    return name + str(number % 97) if number % 3 == 0 or number >= 1024 else name


@cache
def titles() -> pa.StringArray:
    """[PEOPLE]: a title or null; the stronger, the more have one."""
    lower_ends = np.arange(PEOPLE) // PEOPLE_IN_BAND * BAND
    habits = Dice.of(f"person {number}" for number in range(PEOPLE))
    one_in_25, one_in_5 = habits.chance(1, 25), habits.chance(1, 5)
    titled = np.select([lower_ends < 2200, lower_ends < 2400], [False, one_in_25], one_in_5)
    return pa.array(TITLES).take(pa.array(habits.weighted(TITLE_WEIGHTS), mask=~titled))
