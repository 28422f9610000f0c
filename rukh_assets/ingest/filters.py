"""Which games a month keeps: the settings, and one small predicate for each reason that the tags alone can give.

`CHECKS` maps each reason to its predicate, in the order in which they are tried; the first that holds is the game's
reason. A predicate takes the `Headers` of a batch and the `Filters` and returns a mask, true where the game goes.
"""

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from rukh_assets.ingest.headers import MALFORMED, UNKNOWN, Headers, Mask
from rukh_assets.ingest.schema import MAX_INT16

Elo = Annotated[int, Field(ge=0, le=MAX_INT16)]
Plies = Annotated[int, Field(ge=1, le=MAX_INT16)]
Terminations = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class Filters(BaseModel):
    """What a game must be to be kept; None (or False, or "any") turns a filter off.

    Always on, because the games format can hold nothing else: standard chess from the normal start, a finished game,
    both ratings known, a Site, a time control that is `base+increment` or `-`, legal moves and at least one of them,
    each game id once.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    min_elo: Elo | None = 1800
    """Both players are rated at least this."""
    max_elo: Elo | None = None
    """Both players are rated at most this."""
    min_base_seconds: Annotated[int, Field(ge=0)] | None = 180
    """Least thinking time in seconds; correspondence (`-`) has none and goes while this is on."""
    terminations: Terminations | None = ("Normal", "Time forfeit")
    """Ways to end that are kept, as the Termination tag spells them."""
    min_plies: Plies | None = 20
    max_plies: Plies | None = 300
    exclude_bots: bool = True
    """A title of BOT, in any case, on either side; no title is human."""
    exclude_same_player: bool = True
    """Games that a player played against themselves."""
    rated: Literal["any", "rated", "casual"] = "any"
    """By the first word of the Event tag."""

    @model_validator(mode="after")
    def _bounds_leave_something(self) -> "Filters":
        for low, high in (("min_elo", "max_elo"), ("min_plies", "max_plies")):
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and most is not None and least > most:
                raise ValueError(f"{low}={least} is above {high}={most}: no game could be kept")
        return self


def not_standard(headers: Headers, filters: Filters) -> Mask:
    """Games of another variant, or from another position than the normal start."""
    return headers.not_standard


def unfinished(headers: Headers, filters: Filters) -> Mask:
    """Games without one of the three results, or that were cut off."""
    return headers.unfinished


def no_rating(headers: Headers, filters: Filters) -> Mask:
    """Games with a rating that is not plain ASCII digits, or more than int16 holds."""
    unknown: Mask = (headers.white_elo == UNKNOWN) | (headers.black_elo == UNKNOWN)
    return unknown


def no_site(headers: Headers, filters: Filters) -> Mask:
    """Games without a Site: the game id is its hash, and all of them would have the same."""
    return headers.no_site


def rating(headers: Headers, filters: Filters) -> Mask:
    """Games with a player rated below `min_elo` or above `max_elo`."""
    least = 0 if filters.min_elo is None else filters.min_elo
    most = MAX_INT16 if filters.max_elo is None else filters.max_elo
    low: Mask = np.minimum(headers.white_elo, headers.black_elo) < least
    high: Mask = np.maximum(headers.white_elo, headers.black_elo) > most
    return low | high


def time_control(headers: Headers, filters: Filters) -> Mask:
    """Games with less base time than `min_base_seconds`, or whose time control cannot be read."""
    malformed: Mask = headers.base_seconds == MALFORMED
    if filters.min_base_seconds is None:
        return malformed
    short: Mask = headers.base_seconds < filters.min_base_seconds
    return malformed | short


def termination(headers: Headers, filters: Filters) -> Mask:
    """Games that ended in a way not listed in `terminations`."""
    if filters.terminations is None or headers.termination is None:
        return headers.none()
    listed = pc.is_in(headers.termination, value_set=pa.array(filters.terminations, pa.string()))
    return ~np.asarray(listed)


def bot(headers: Headers, filters: Filters) -> Mask:
    """Games with a bot on either side."""
    return headers.bot if filters.exclude_bots else headers.none()


def same_player(headers: Headers, filters: Filters) -> Mask:
    """Games with the same player on both sides."""
    return headers.same_player if filters.exclude_same_player else headers.none()


def rated(headers: Headers, filters: Filters) -> Mask:
    """Games that are not rated, or not casual, as `rated` asks."""
    if filters.rated == "any" or headers.kind is None:
        return headers.none()
    other: Mask = headers.kind != filters.rated
    return other


CHECKS: dict[str, Callable[[Headers, Filters], Mask]] = {
    "not_standard": not_standard,
    "unfinished": unfinished,
    "no_rating": no_rating,
    "no_site": no_site,
    "rating": rating,
    "time_control": time_control,
    "termination": termination,
    "bot": bot,
    "same_player": same_player,
    "rated": rated,
}
"""Reason to predicate, cheap before dear, in the order in which they are tried."""


def length_bounds(filters: Filters) -> tuple[int, int]:
    """The least and the most plies of a game that is kept: 1 at least, and no more than int16 holds."""
    least = 1 if filters.min_plies is None else filters.min_plies
    most = MAX_INT16 if filters.max_plies is None else filters.max_plies
    return least, most
