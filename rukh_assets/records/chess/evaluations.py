"""What the comments of a game say of its positions: `[%eval ...]`, in centipawns, as White sees it."""

import re

import numpy as np
from numpy.typing import NDArray

from rukh_assets.ingest.movetext import comments_by_ply

MOST = 1000
"""Evaluations are cut to -1,000 to 1,000 centipawns, and a mate in any number of moves is the whole of it."""

NONE = -32_768
"""No evaluation."""

_EVAL = re.compile(r"\[%eval\s+(?P<mate>#)?(?P<value>[+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)(?:,[0-9]+)?\s*\]")


def centipawns_of(comment: str) -> int:
    """The first evaluation in a comment, `NONE` without one.

    >>> [centipawns_of(f"[%eval {value}] [%clk 0:01:00]") for value in ("0.17", "-23.5", "#-3", "0.3,18", "?")]
    [17, -1000, -1000, 30, -32768]
    """
    found = _EVAL.search(comment)
    if found is None:
        return NONE
    value = found["value"]
    if found["mate"]:
        return -MOST if value.startswith("-") else MOST
    return max(-MOST, min(MOST, round(float(value) * 100)))


def evaluations_of(movetext: str, plies: int) -> NDArray[np.int16]:
    """[plies]: the evaluation behind each of the first moves of a game that was kept, `NONE` where there is none."""
    evaluations = np.full(plies, NONE, np.int16)
    for ply, comments in enumerate(comments_by_ply(movetext, plies)):
        said = [value for comment in comments if (value := centipawns_of(comment)) != NONE]
        if said:
            evaluations[ply] = said[0]
    return evaluations
