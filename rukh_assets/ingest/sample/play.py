"""One game from the first move to its end: moves, clocks, and the ways in which people stop."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import chess

from rukh_assets.ingest.sample.choice import LEVEL, Player, choose
from rukh_assets.ingest.sample.dice import Dice
from rukh_assets.ingest.sample.openings import Opening
from rukh_assets.ingest.sample.survey import Sight, look

#: Players resign or agree to a draw from the first of these plies; the game stops at the second.
MIN_PLIES, MAX_PLIES = 20, 300


@dataclass(frozen=True, slots=True)
class Setting:
    """What two players bring to a game."""

    white: Player
    black: Player
    opening: Opening
    base: int
    """Thinking time in seconds; 0 where no clock runs."""
    increment: int
    stubborn: bool = False
    """Whether both play on to the bitter end: no resignation, no agreed draw."""
    stops_at: int = MAX_PLIES
    """The ply at which the game is broken off, at the latest."""


class Played(NamedTuple):
    """A finished game."""

    sans: list[str]
    clocks: list[int]
    """Seconds left on the mover's clock after each move; empty without a clock."""
    result: str
    termination: str
    """`Normal` or `Time forfeit`."""


class _Clock:
    """Time left of both sides in hundredths of a second."""

    def __init__(self, setting: Setting, dice: Dice) -> None:
        self.left = [setting.base * 100, setting.base * 100]
        self._increment = setting.increment * 100
        self._pace = (8 + dice.below(26), 8 + dice.below(26))
        self._quickest = (15 + dice.below(70), 15 + dice.below(70))

    def spend(self, side: chess.Color, ply: int, dice: Dice) -> bool:
        """Takes the time of one move and adds the increment; False when there was not enough."""
        first, second = dice.take(2)
        budget = self.left[side] // self._pace[side] + self._increment * 3 // 4
        if ply < 14:
            budget //= 5
        thought = self._quickest[side] + budget * (first * second) // 18_000
        if thought > self.left[side]:
            return False
        if ply > 1:  # the clocks start with the second move of each side
            self.left[side] += self._increment - thought
        return True


class _Mood:
    """When a player gives up or offers peace."""

    def __init__(self, setting: Setting, dice: Dice) -> None:
        self._stubborn = setting.stubborn
        self._agrees = not setting.stubborn and not (setting.white.repeats and setting.black.repeats)
        self._gives_up_at = (-350 - dice.below(500), -350 - dice.below(500))
        self._hopeless = [0, 0]

    def resigns(self, sight: Sight, dice: Dice) -> bool:
        """Whether the player to move resigns: behind by enough, for some moves in a row."""
        side = sight.colour
        gives_up_at = self._gives_up_at[side]
        if self._stubborn or sight.balance > gives_up_at or sight.balance + sight.most_winnable() > gives_up_at:
            self._hopeless[side] = 0
            return False
        self._hopeless[side] += 1
        return self._hopeless[side] > 1 and dice.chance(1, 3)

    def agrees(self, sight: Sight, ply: int, dice: Dice) -> bool:
        """Whether both agree to a draw: level, late and quiet."""
        quiet = ply >= 60 and sight.late and abs(sight.balance) <= LEVEL and sight.board.halfmove_clock >= 6
        return self._agrees and quiet and dice.chance(1, 7)


def play(setting: Setting, dice: Dice) -> Played:
    """Plays a game by `setting` with the randomness of `dice`; the result is `*` when it stops at `stops_at` plies."""
    return _Game(setting, dice).finish()


class _Game:
    """A game under way."""

    def __init__(self, setting: Setting, dice: Dice) -> None:
        self._setting = setting
        self._dice = dice
        self._players = (setting.black, setting.white)
        self._clock = _Clock(setting, dice)
        self._mood = _Mood(setting, dice)
        self._board = chess.Board()
        self._sans: list[str] = []
        self._clocks: list[int] = []
        self._seen: Counter[Hashable] = Counter()
        self._repeated = 0

    def finish(self) -> Played:
        sight = self._play_opening()
        while True:
            ended = self._ended(sight)
            if ended is not None:
                return self._written(*ended)
            chosen = choose(sight, self._players[sight.colour], self._dice, self._seen)
            if chosen is None:
                return self._written(*self._without_moves(sight))
            sight = chosen.sight
            self._note(chosen.san + ("+" if sight.in_check else ""))
            if not self._board.halfmove_clock:
                self._seen.clear()
            self._seen[chosen.key] += 1
            self._repeated = self._seen[chosen.key]

    def _play_opening(self) -> Sight:
        opening, stops_at = self._setting.opening, self._setting.stops_at
        for san, move in zip(opening.sans[:stops_at], opening.moves[:stops_at], strict=True):
            self._clock.spend(self._board.turn, len(self._sans), self._dice)
            self._board.push(move)
            self._note(san)
        return look(self._board)

    def _note(self, san: str) -> None:
        self._sans.append(san)
        if self._setting.base:
            self._clocks.append(self._clock.left[not self._board.turn] // 100)

    def _ended(self, sight: Sight) -> tuple[str, str] | None:
        """Result and termination if the game ends before the player to move moves; the clock runs meanwhile."""
        ply, board = len(self._sans), self._board
        loss = "0-1" if sight.colour else "1-0"
        ended = None
        if self._repeated >= 3 or board.halfmove_clock >= 100:
            ended = ("1/2-1/2", "Normal")
        elif ply >= self._setting.stops_at:
            ended = ("*", "Normal")
        elif ply >= MIN_PLIES:
            if self._mood.resigns(sight, self._dice):
                ended = (loss, "Normal")
            elif sight.late and (self._mood.agrees(sight, ply, self._dice) or board.is_insufficient_material()):
                ended = ("1/2-1/2", "Normal")
        if ended is None and self._setting.base and not self._clock.spend(sight.colour, ply, self._dice):
            ended = (loss if not board.has_insufficient_material(not sight.colour) else "1/2-1/2", "Time forfeit")
        if ended is not None and not any(board.generate_legal_moves()):
            return self._without_moves(sight)
        return ended

    def _without_moves(self, sight: Sight) -> tuple[str, str]:
        """Mate or stalemate of the player to move; marks the mating move."""
        if not sight.in_check:
            return "1/2-1/2", "Normal"
        self._sans[-1] = self._sans[-1].rstrip("+") + "#"
        return ("0-1" if sight.colour else "1-0"), "Normal"

    def _written(self, result: str, termination: str) -> Played:
        return Played(self._sans, self._clocks, result, termination)
