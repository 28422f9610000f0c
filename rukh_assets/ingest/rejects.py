"""The games that a month does not keep: how many for each reason, and the first few to look at."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.ingest.game_ids import game_id
from rukh_assets.ingest.verdicts import PASSED, REASONS, Verdict

SAMPLES = 20
"""Games of each reason that are written down."""
DETAIL_LENGTH = 300
"""Characters of a detail that are written down: a game may hold a word of a megabyte."""

_WORDS = {"duplicate": "a game with this id was kept before it in this month"}

# What to show of a game whose tags alone were the reason.
_SHOWN = {
    "not_standard": ("variant", "fen", "setup", "event"),
    "unfinished": ("result", "termination"),
    "no_rating": ("white_elo", "black_elo"),
    "no_site": ("site",),
    "rating": ("white_elo", "black_elo"),
    "time_control": ("time_control",),
    "termination": ("termination",),
    "bot": ("white_title", "black_title"),
    "same_player": ("white", "black"),
    "rated": ("event",),
}


class Rejects:
    """The rejected games of one month, added in the source's order."""

    def __init__(self) -> None:
        self._counts = np.zeros(len(REASONS), np.int64)
        self._lines: list[bytes] = []

    def add(self, batch: pa.RecordBatch, reasons: NDArray[np.uint8], verdicts: dict[int, Verdict]) -> None:
        """Count the reasons, an index of `REASONS` or `PASSED` a row; keep the first `SAMPLES` of each reason.

        `verdicts` has the rows of which more is to be said than what their tags show.
        """
        counts = np.bincount(reasons, minlength=PASSED + 1)[:PASSED]
        sampled: list[int] = []
        for reason in np.flatnonzero(counts).tolist():
            missing = max(SAMPLES - int(self._counts[reason]), 0)
            sampled += np.flatnonzero(reasons == reason)[:missing].tolist()
        self._counts += counts
        for row in sorted(sampled):
            verdict = verdicts.get(row, Verdict(REASONS[reasons[row]]))
            self._lines.append(_line(batch.slice(row, 1).to_pylist()[0], verdict))

    def counts(self) -> dict[str, int]:
        """Return the number of games of each reason, zeros too, in the order of `REASONS`."""
        return dict(zip(REASONS, self._counts.tolist(), strict=True))

    def to_jsonl(self) -> bytes:
        """Return the sample as JSON lines, in the source's order.

        Keys: `reason`, `file`, `number` (0-based in the file), `game_id`, `site` (null in the games form), `ply` (from
        1; null where no move is at fault) and `detail`.
        """
        return b"".join(self._lines)


def _line(game: dict[str, Any], verdict: Verdict) -> bytes:
    site = game.get("site")
    record = {
        "reason": verdict.reason,
        "file": game["file"],
        "number": game["number"],
        "game_id": game["game_id"] if "game_id" in game else _id_of(site),
        "site": site,
        "ply": verdict.ply,
        "detail": (verdict.detail or _show(game, verdict.reason))[:DETAIL_LENGTH],
    }
    return (json.dumps(record, sort_keys=True, ensure_ascii=True) + "\n").encode()


def _id_of(site: str | None) -> int | None:
    return None if site is None else game_id(site)


def _show(game: dict[str, Any], reason: str) -> str:
    if reason in _WORDS:
        return _WORDS[reason]
    return ", ".join(f"{name} {game[name]!r}" for name in _SHOWN.get(reason, ()) if name in game)
