"""What a pack says of itself: meta.json, and the names and dtypes of its columns."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rukh_loaders.errors import PackError, VocabularyTooLargeError

FORMAT_VERSION = 1
META = "meta.json"
MAX_VOCAB_SIZE = 65_536

COLUMNS: dict[str, np.dtype[Any]] = {
    "game_id": np.dtype(np.int64),
    "white_elo": np.dtype(np.int16),
    "black_elo": np.dtype(np.int16),
    "n_plies": np.dtype(np.int16),
    "result": np.dtype(np.int8),
    "base_seconds": np.dtype(np.int32),
    "increment_seconds": np.dtype(np.int16),
    "utc_date": np.dtype(np.int32),
    "eco": np.dtype(np.int16),
}
"""The files of `columns/` and their dtypes; what the values mean is in docs/formats.md."""

Count = Annotated[int, Field(ge=0)]


class PackInfo(BaseModel):
    """meta.json: exactly these keys, in this order. `source` says in words what the games were read from."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    n_games: Count
    n_tokens: Count
    scheme: str
    vocab_size: Count
    vocab_hash: str
    source: str

    def to_bytes(self) -> bytes:
        """The bytes of meta.json."""
        return (json.dumps(self.model_dump(), indent=2) + "\n").encode()

    @classmethod
    def from_file(cls, path: Path) -> "PackInfo":
        """Read meta.json; `PackError` for a missing, unknown or mistyped key and for what is no JSON."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise PackError(f"{path}: cannot be read, so this is no pack: {error.strerror or error}") from error
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in error.errors())
            raise PackError(f"{path}: {faults} (allowed keys: {', '.join(cls.model_fields)})") from error


def check_vocab_size(where: str, vocab_size: int) -> None:
    """Raise `VocabularyTooLargeError` when the ids do not fit uint16."""
    if vocab_size > MAX_VOCAB_SIZE:
        raise VocabularyTooLargeError(
            f"{where}: a vocabulary of {vocab_size} ids does not fit uint16, allowed: at most {MAX_VOCAB_SIZE}"
        )
