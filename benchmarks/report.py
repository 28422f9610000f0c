"""What was measured: as rows of a table for people, and as JSON for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "latest.json"


@dataclass(frozen=True)
class Floor:
    """What a figure has to reach: `least` or more, or `most` or less."""

    least: float | None = None
    most: float | None = None

    def met(self, figure: float) -> bool:
        return (self.least is None or figure >= self.least) and (self.most is None or figure <= self.most)

    def text(self, unit: str) -> str:
        """Such as `>= 15x` or `<= 600 MB`."""
        bound = f">= {self.least:,g}" if self.least is not None else f"<= {self.most:,g}"
        return bound + _after(unit)


@dataclass(frozen=True)
class Result:
    """One variant of one stage; a field that does not apply is None."""

    stage: str
    variant: str
    games: int | None = None
    """Games of one call."""
    games_per_s: float | None = None
    tokens_per_s: float | None = None
    ratio: float | None = None
    """Games a second over those of the stage's first variant, the plain Python."""
    peak_mb: float | None = None
    """Megabytes (10^6 bytes) above what the process held before, or above what imports take."""
    value: float | None = None
    """The figure of a variant that is not a speed, in `unit`."""
    unit: str | None = None
    floor: str | None = None
    met: bool | None = None
    """Whether the floor is reached; None without a floor, and where it cannot be judged (`note` says why)."""
    note: str | None = None


def to_json(results: Sequence[Result]) -> str:
    """A list of objects, one a result, with every field of `Result`."""
    return json.dumps([asdict(result) for result in results], indent=2, allow_nan=False) + "\n"


def from_json(text: str) -> list[Result]:
    """What `to_json` wrote."""
    return [Result(**fields) for fields in json.loads(text)]


def not_run(stage: str, reason: str) -> Result:
    """The one result of a stage that cannot run here."""
    return Result(stage, "not run", note=reason)


def to_table(results: Sequence[Result]) -> str:
    """The results in aligned columns, stages apart."""
    lines = [_HEADER, *(_cells(result) for result in results)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADER))]
    text: list[str] = []
    for number, line in enumerate(lines):
        if number and (number == 1 or results[number - 1].stage != results[number - 2].stage):
            text.append("")
        left, right = line[:2], line[2:-1]
        padded = [cell.ljust(width) for cell, width in zip(left, widths, strict=False)]
        padded += [cell.rjust(width) for cell, width in zip(right, widths[2:], strict=False)]
        text.append("  ".join([*padded, line[-1]]).rstrip())
    return "\n".join(text)


def verdict(results: Sequence[Result]) -> str:
    """One line: how many floors there are, which are missed, and which could not be judged."""
    floors = [result for result in results if result.floor is not None]
    met = sum(result.met is True for result in floors)
    missed = [result.stage for result in floors if result.met is False]
    open_floors = [result.stage for result in floors if result.met is None]
    parts = [f"Floors: {met} of {len(floors)} met"]
    parts += [f"missed: {', '.join(missed)}"] if missed else []
    parts += [f"not judged: {', '.join(open_floors)}"] if open_floors else []
    return "; ".join(parts)


_HEADER = ("stage", "variant", "games/s", "tokens/s", "ratio", "peak MB", "figure", "floor", "met", "note")


def _cells(result: Result) -> tuple[str, ...]:
    figure = "" if result.value is None else _three_digits(result.value) + _after(result.unit or "")
    return (
        result.stage,
        result.variant,
        _number(result.games_per_s),
        _number(result.tokens_per_s),
        "" if result.ratio is None else f"{_three_digits(result.ratio)}x",
        _number(result.peak_mb),
        figure,
        result.floor or "",
        "" if result.floor is None else {None: "?", True: "yes", False: "NO"}[result.met],
        result.note or "",
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")):
        if value >= size:
            return _three_digits(value / size) + letter
    return _three_digits(value)


def _after(unit: str) -> str:
    return f" {unit}" if unit not in ("", "x") else unit


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
