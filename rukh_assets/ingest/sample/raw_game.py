"""Raw games as Lichess would publish them: one that the default filters keep, or one that they reject."""

from collections.abc import Iterator
from typing import Any

import chess

from rukh_assets.ingest.sample.choice import Player
from rukh_assets.ingest.sample.dice import Dice
from rukh_assets.ingest.sample.openings import book
from rukh_assets.ingest.sample.play import MIN_PLIES, Played, Setting, play
from rukh_assets.ingest.sample.tags import (
    FAST_CLOCKS,
    SLOW_CLOCKS,
    STRONG,
    WEAK,
    Person,
    event,
    person,
    rating,
    site,
    utc_date,
)

RawGame = dict[str, Any]

#: Reasons for which a game is there to be rejected, and weight.
UNWANTED = (
    ("rating", 46),
    ("time_control", 27),
    ("length", 8),
    ("abandoned", 6),
    ("unfinished", 5),
    ("bot", 4),
    ("zero_plies", 2),
    ("correspondence", 2),
)

#: The lowest rating that the default filters keep.
MIN_ELO = 1800

#: One in so many kept games is preceded by a game that is rejected.
UNWANTED_ONE_IN = 3


def raw_games(month: str, seed: int, index: int) -> Iterator[RawGame]:
    """The raw games that belong to kept game `index` of a month: sometimes one that is rejected, then the kept one.

    A pure function of its arguments; a row has the columns of `RAW_SCHEMA` but `file`.
    """
    dice = Dice(f"rukh sample {seed} {month} {index}")
    date = utc_date(month, index)
    if dice.below(UNWANTED_ONE_IN) == 0:
        yield _unwanted(dice) | {"site": site(month, seed, 2 * index), "utc_date": date}
    yield _wanted(dice) | {"site": site(month, seed, 2 * index + 1), "utc_date": date}


def _wanted(dice: Dice) -> RawGame:
    """A game that the default filters keep."""
    white = person(rating(STRONG, dice), dice)
    black = person(max(MIN_ELO, white.elo + dice.spread(160)), dice, other_than=white)
    clock = dice.weighted(SLOW_CLOCKS)
    repeats = dice.chance(1, 6)
    while True:
        setting = Setting(
            white=_player(white, dice, repeats),
            black=_player(black, dice, repeats),
            opening=dice.weighted(book()),
            base=clock[0],
            increment=clock[1],
            stubborn=dice.chance(1, 6),
        )
        played = play(setting, dice)
        if len(played.sans) >= MIN_PLIES:
            break
    result = "1/2-1/2" if played.result == "*" else played.result
    return _row(white, black, setting, played._replace(result=result), dice)


def _unwanted(dice: Dice) -> RawGame:
    """A game that the default filters reject, cut short to be cheap."""
    reason = dice.weighted(UNWANTED)
    white = person(rating(WEAK if reason == "rating" else STRONG, dice), dice)
    black = person(max(700, white.elo + dice.spread(160)), dice, other_than=white)
    base, increment = dice.weighted(FAST_CLOCKS if reason == "time_control" else SLOW_CLOCKS)
    if reason == "correspondence":
        base, increment = 0, 0
    setting = Setting(
        white=_player(white, dice),
        black=_player(black, dice),
        opening=dice.weighted(book()),
        base=base,
        increment=increment,
        stops_at=_cut(reason, dice),
    )
    played = play(setting, dice)
    if played.result == "*" and reason != "unfinished":
        loser_to_move = "0-1" if len(played.sans) % 2 == 0 else "1-0"
        forfeits = reason not in ("length", "correspondence") and dice.chance(1, 3)
        played = played._replace(result=loser_to_move, termination="Time forfeit" if forfeits else "Normal")
    if reason in ("abandoned", "zero_plies"):
        played = played._replace(termination="Abandoned")
    if reason == "unfinished":
        played = played._replace(result="*", termination="Unterminated")
    if reason == "bot":
        black = black._replace(title="BOT")
    row = _row(white, black, setting, played, dice)
    return row | {"eco": "?"} if reason == "zero_plies" else row


def _cut(reason: str, dice: Dice) -> int:
    """At how many plies a game to be rejected stops."""
    if reason == "zero_plies":
        return 0
    if reason == "length":
        return 2 + dice.below(MIN_PLIES - 2)
    if reason == "abandoned":
        return 1 + dice.below(30)
    return 6 + dice.below(40)


def _player(person: Person, dice: Dice, repeats: bool = False) -> Player:
    """How `person` plays this time; one in six likes to under-promote."""
    showing_off = dice.chance(1, 6)
    promotes_to = (chess.ROOK, chess.BISHOP, chess.KNIGHT)[dice.below(3)] if showing_off else chess.QUEEN
    return Player.rated(person.elo, promotes_to, repeats)


def _row(white: Person, black: Person, setting: Setting, played: Played, dice: Dice) -> RawGame:
    clock = f"{setting.base}+{setting.increment}" if setting.base else "-"
    return {
        "event": event(setting.base, setting.increment, dice),
        "white": white.name,
        "black": black.name,
        "result": played.result,
        "white_title": white.title,
        "black_title": black.title,
        "white_elo": str(white.elo),
        "black_elo": str(black.elo),
        "eco": setting.opening.eco,
        "termination": played.termination,
        "time_control": clock,
        "movetext": movetext(played),
        "ended": True,
    }


def movetext(played: Played) -> str:
    """The moves as Lichess writes them: with the clock after each where one runs, without any where none does."""
    words = []
    for ply, san in enumerate(played.sans):
        number, black = divmod(ply, 2)
        if not black:
            words.append(f"{number + 1}.")
        elif played.clocks:
            words.append(f"{number + 1}...")
        words.append(san)
        if played.clocks:
            minutes, seconds = divmod(played.clocks[ply], 60)
            words.append(f"{{ [%clk {minutes // 60}:{minutes % 60:02d}:{seconds:02d}] }}")
    words.append(played.result)
    return " ".join(words)
