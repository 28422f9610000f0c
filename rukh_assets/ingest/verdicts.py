"""Why a game is not kept: its reason, and what is said of it."""

from typing import NamedTuple

from rukh_assets.ingest.filters import CHECKS

REASONS = (*CHECKS, "truncated", "result_conflict", "malformed", "length", "illegal", "duplicate")
"""Every reason for which a game is not kept, in the order in which they are tried. Each game has one at most."""

PASSED = len(REASONS)
"""Among indices of `REASONS`: no reason."""


class Verdict(NamedTuple):
    """Why a game is not kept: one of `REASONS`, the ply from 1 where one is at fault, and the words for it."""

    reason: str
    ply: int | None = None
    detail: str = ""
