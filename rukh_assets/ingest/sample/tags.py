"""The tags of a game: who plays, how strong they are, on which clock, when, and the address of the game."""

from calendar import monthrange
from typing import NamedTuple

from rukh_assets.ingest.sample.dice import Dice

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SITES = 62**8

#: Odd and no multiple of 31, so that it shares no factor with `SITES` and scatters the numbers without collision.
SCATTER = 96_482_513_799_871

#: Raw games a month for which addresses are kept apart from every other month's.
GAMES_A_MONTH = 2**30

#: Kept games after which half of the month has passed: later ones come ever more densely, none after the month.
HALF_MONTH = 500

#: Rating band (its lower end, 100 wide) and weight: the tail of the Lichess ratings from 1800.
STRONG = (
    (1800, 300),
    (1900, 240),
    (2000, 170),
    (2100, 120),
    (2200, 80),
    (2300, 48),
    (2400, 26),
    (2500, 14),
    (2600, 7),
    (2700, 3),
    (2800, 2),
)

#: The same for the ratings under 1800.
WEAK = (
    (700, 8),
    (800, 25),
    (900, 40),
    (1000, 60),
    (1100, 80),
    (1200, 95),
    (1300, 110),
    (1400, 125),
    (1500, 140),
    (1600, 125),
    (1700, 100),
)

#: Base seconds and increment, and weight.
SLOW_CLOCKS = (
    ((180, 0), 330),
    ((300, 0), 220),
    ((180, 2), 150),
    ((600, 0), 130),
    ((300, 3), 50),
    ((600, 5), 30),
    ((900, 10), 25),
    ((420, 0), 15),
    ((600, 10), 12),
    ((420, 3), 10),
    ((1800, 0), 10),
    ((240, 0), 6),
    ((900, 0), 6),
    ((1800, 20), 4),
    ((300, 15), 2),
)
FAST_CLOCKS = (((60, 0), 60), ((120, 1), 22), ((30, 0), 5), ((15, 0), 4), ((60, 1), 4), ((120, 0), 2))

#: Speed and the expected seconds a side below which a game has it.
SPEEDS = (("UltraBullet", 30), ("Bullet", 180), ("Blitz", 480), ("Rapid", 1500))

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

TITLES = (("NM", 8), ("FM", 6), ("CM", 4), ("IM", 4), ("GM", 2), ("WFM", 1))


class Person(NamedTuple):
    """One side of a game."""

    number: int
    """The same person has the same number, and so the same name, title and about the same rating."""
    name: str
    elo: int
    title: str | None


def person(elo: int, dice: Dice, other_than: Person | None = None) -> Person:
    """Someone rated `elo`, out of seven people for each 20 points; not `other_than`."""
    within = dice.below(7)
    number = elo // 20 * 7 + within
    if other_than is not None and number == other_than.number:
        number += 1 if within < 6 else -6
    return Person(number, _name(number), elo, _title(number, elo))


def _name(number: int) -> str:
    """A name of one's own for each number under 1,152, the most that a rating under 3,300 gives."""
    words = number * 461 % 1024  # odd, so that no two numbers under 1,024 share both words
    name = MANNERS[words % 32] + ("_" if number % 5 == 0 else "") + FIGURES[words // 32]
    return name + str(number % 97) if number % 3 == 0 or number >= 1024 else name


def _title(number: int, elo: int) -> str | None:
    if elo // 20 * 20 < 2200:
        return None
    habits = Dice(f"person {number}")
    one_in = 25 if elo // 20 * 20 < 2400 else 5
    return habits.weighted(TITLES) if habits.chance(1, one_in) else None


def rating(bands: tuple[tuple[int, int], ...], dice: Dice) -> int:
    """A rating out of weighted bands of 100."""
    return dice.weighted(bands) + dice.below(100)


def event(base: int, increment: int, dice: Dice) -> str:
    """The Event tag of a rated game, by the speed as Lichess counts it: base and 40 increments; 0 is correspondence."""
    if not base:
        return "Rated Correspondence game"
    expected = base + 40 * increment
    speed = next((name for name, below in SPEEDS if expected < below), "Classical")
    if dice.chance(1, 6):
        tournament = base62(dice.below(2**24) * SCATTER % SITES, 8)
        return f"Rated {speed} tournament https://lichess.org/tournament/{tournament}"
    return f"Rated {speed} game"


def base62(number: int, width: int) -> str:
    """`number` in digits, capitals and small letters, `width` of them."""
    text = ""
    for _ in range(width):
        number, digit = divmod(number, 62)
        text = BASE62[digit] + text
    return text


def site(month: str, seed: int, number: int) -> str:
    """The address of raw game `number` of a month; all addresses of one seed differ, in all months together."""
    year, of_year = month.split("-")
    counted = (int(year) * 12 + int(of_year)) * GAMES_A_MONTH + number
    return "https://lichess.org/" + base62((counted * SCATTER + seed * 1_000_003) % SITES, 8)


def utc_date(month: str, index: int) -> str:
    """The UTCDate of kept game `index`, as `YYYY.MM.DD`: rising through the month, however many games follow."""
    year, of_year = month.split("-")
    days = monthrange(int(year), int(of_year))[1]
    return f"{year}.{of_year}.{1 + days * index // (index + HALF_MONTH):02d}"
