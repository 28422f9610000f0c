"""What the filters look at: the tags of a batch as typed columns, whatever form the games came in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rukh_assets.ingest.schema import MAX_INT16, RESULTS

Mask = NDArray[np.bool_]

UNKNOWN = -1
"""In `white_elo` and `black_elo`: no rating that can be read."""
CORRESPONDENCE = -1
"""In `base_seconds`: a time control of `-`."""
MALFORMED = -2
"""In `base_seconds`: a time control that is neither `-` nor `base+increment`."""

# Nine digits of base seconds fit int32 and five of increment nearly int16, the types of a pack's columns.
_TIME_CONTROL = r"\A(?P<base>[0-9]{1,9})\+(?P<increment>[0-9]{1,5})\z"
_ELO = r"\A[0-9]{1,5}\z"


@dataclass(frozen=True)
class Headers:
    """The tags of n games; a column that the form does not have is None, and no filter on it applies."""

    white_elo: NDArray[np.int32]
    black_elo: NDArray[np.int32]
    base_seconds: NDArray[np.int32]
    not_standard: Mask
    unfinished: Mask
    no_site: Mask
    bot: Mask
    same_player: Mask
    termination: pa.Array | None
    kind: NDArray[Any] | None
    """"rated", "casual" or "" of each game, by the first word of its Event."""

    def none(self) -> Mask:
        """Return a mask that is false for each of the n games."""
        return np.zeros(len(self.white_elo), np.bool_)


def headers_of_raw(batch: pa.RecordBatch) -> Headers:
    """Return the headers of a batch of `RAW_SCHEMA`."""
    termination = batch["termination"]
    return Headers(
        white_elo=_elo(batch["white_elo"]),
        black_elo=_elo(batch["black_elo"]),
        base_seconds=_base_seconds(batch["time_control"]),
        not_standard=_not_standard(batch),
        unfinished=_unfinished(batch["result"]) | mask_of(_folded_in(termination, "unterminated")),
        no_site=mask_of(pc.is_in(_text(batch["site"]), value_set=pa.array(["", "?"]))),
        bot=mask_of(_folded_in(batch["white_title"], "bot")) | mask_of(_folded_in(batch["black_title"], "bot")),
        same_player=_same_player(batch["white"], batch["black"]),
        termination=termination,
        kind=_kind(batch["event"]),
    )


def headers_of_games(batch: pa.RecordBatch) -> Headers:
    """Return the headers of a batch of `GAMES_SCHEMA`: all that its columns still tell."""
    nothing = np.zeros(batch.num_rows, np.bool_)
    return Headers(
        white_elo=_int16_elo(batch["white_elo"]),
        black_elo=_int16_elo(batch["black_elo"]),
        base_seconds=_base_seconds(batch["time_control"]),
        not_standard=nothing,
        unfinished=_unfinished(batch["result"]),
        no_site=nothing,
        bot=nothing,
        same_player=nothing,
        termination=None,
        kind=None,
    )


def mask_of(values: pa.Array) -> Mask:
    """Booleans as a mask, false for null."""
    return np.asarray(_filled(values, False).to_numpy(zero_copy_only=False), np.bool_)


def _filled(values: pa.Array, value: object) -> pa.Array:
    return pc.fill_null(values, value) if values.null_count else values


def _text(column: pa.Array) -> pa.Array:
    return pc.ascii_trim_whitespace(_filled(column, ""))


def _folded_in(column: pa.Array, *words: str) -> pa.Array:
    return pc.is_in(pc.utf8_lower(_text(column)), value_set=pa.array(words))


def _elo(column: pa.Array) -> NDArray[np.int32]:
    digits = mask_of(pc.match_substring_regex(column, _ELO))
    values = pc.if_else(pa.array(digits), column, pa.scalar("0")).cast(pa.int32())
    elo: NDArray[np.int32] = np.asarray(_filled(values, 0), np.int32)
    return np.where(digits & (elo <= MAX_INT16), elo, np.int32(UNKNOWN))


def _int16_elo(column: pa.Array) -> NDArray[np.int32]:
    return np.maximum(np.asarray(_filled(column, UNKNOWN), np.int32), np.int32(UNKNOWN))


def _base_seconds(column: pa.Array) -> NDArray[np.int32]:
    parts = pc.extract_regex(column, _TIME_CONTROL)
    base = pc.fill_null(pc.struct_field(parts, "base").cast(pa.int32()), MALFORMED)
    increment = pc.fill_null(pc.struct_field(parts, "increment").cast(pa.int32()), 0)
    read = np.where(np.asarray(increment) <= MAX_INT16, np.asarray(base), MALFORMED)
    return np.where(mask_of(pc.equal(column, "-")), CORRESPONDENCE, read).astype(np.int32)


def _unfinished(result: pa.Array) -> Mask:
    return ~mask_of(pc.is_in(result, value_set=pa.array(RESULTS)))


def _not_standard(batch: pa.RecordBatch) -> Mask:
    """A variant that is not Standard, a FEN or SetUp of any value, or Chess960 said in the Event."""
    standard = mask_of(_folded_in(batch["variant"], "", "standard"))
    positions = mask_of(pc.not_equal(_text(batch["fen"]), "")) | mask_of(pc.not_equal(_text(batch["setup"]), ""))
    said = mask_of(pc.match_substring(batch["event"], "chess960", ignore_case=True))
    return ~standard | positions | said


def _same_player(white: pa.Array, black: pa.Array) -> Mask:
    """The same name in any case; `?` and no name are unknown players, never the same one."""
    named = ~mask_of(pc.is_in(_text(white), value_set=pa.array(["", "?"])))
    return named & mask_of(pc.equal(pc.utf8_lower(_text(white)), pc.utf8_lower(_text(black))))


def _kind(event: pa.Array) -> NDArray[Any]:
    rated = mask_of(pc.match_substring_regex(event, r"(?i)\Arated\b"))
    casual = mask_of(pc.match_substring_regex(event, r"(?i)\Acasual\b"))
    return np.select([rated, casual], ["rated", "casual"], default="")
