"""Why a game is not kept: its reason, and what is said of it."""

import hashlib
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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


def game_id(site: str) -> int:
    """Return the id of the game at `site`: the first 8 bytes of its sha256, little-endian, signed."""
    return int(game_ids(pa.array([site]))[0])


def game_ids(sites: pa.Array) -> NDArray[np.int64]:
    """Return the id of each of the games at `sites`, none of which is null."""
    digests = b"".join([hashlib.sha256(site).digest() for site in sites.cast(pa.binary()).to_pylist()])
    return np.frombuffer(digests, "<i8").reshape(-1, 4)[:, 0].astype(np.int64)
