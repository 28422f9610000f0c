"""How much is measured, and how variants become results."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.corpora import Corpora
from benchmarks.measure import Timing
from benchmarks.report import Floor, Result

JUDGED_GAMES = 100_000


@dataclass(frozen=True)
class Plan:
    """The corpora, and how large and how often."""

    corpora: Corpora
    games: int
    """Games of the package's own variants; the plain ones take a slice of them."""
    rounds: int
    full: bool = False
    """Whether the growth goes up to five times as many games, and the records to 1 GB."""

    @property
    def judged(self) -> bool:
        """Whether floors are judged: in small corpora, what a call costs whatever the games weighs too much."""
        return self.games >= JUDGED_GAMES

    def at_most(self, games: int) -> int:
        return min(self.games, games)

    def compare(self, stage: str, timings: Mapping[str, Timing], floors: Mapping[str, Floor]) -> list[Result]:
        """Every variant beside the first, and those that have a floor of their ratio judged by it."""
        base = next(iter(timings.values()))
        return [self._compared(stage, timing, base, floors.get(name)) for name, timing in timings.items()]

    def figure(
        self,
        stage: str,
        variant: str,
        value: float,
        unit: str,
        floor: Floor,
        *,
        can_tell: bool | None = None,
        **others: Any,
    ) -> Result:
        """A figure that is no speed, judged by its floor where it can tell; by default, where floors are judged."""
        can_tell = self.judged if can_tell is None else can_tell
        met = floor.met(value) if can_tell else None
        return Result(stage, variant, value=value, unit=unit, floor=floor.text(unit), met=met, **others)

    def _compared(self, stage: str, timing: Timing, base: Timing, floor: Floor | None) -> Result:
        ratio = timing.games_per_s / base.games_per_s
        return Result(
            stage,
            timing.name,
            games=timing.work.games,
            games_per_s=timing.games_per_s,
            tokens_per_s=timing.tokens_per_s,
            ratio=ratio,
            peak_mb=timing.peak_mb,
            floor=floor.text("x") if floor else None,
            met=floor.met(ratio) if floor and self.judged else None,
        )
