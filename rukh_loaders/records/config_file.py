"""A config's file with the tokenizer that goes with it, as it is named in the file or lies beside it."""

import json
from pathlib import Path
from typing import Any

from rukh_loaders.errors import RecordConfigError
from rukh_loaders.records.config import PipelineConfig
from rukh_loaders.records.tokenizer_folder import TOKENIZER

TOKENIZER_PATH = "tokenizer_path"
"""A key beside those of `PipelineConfig`: a tokenizer folder, from the folder of the file where it is not absolute."""
TOKENIZER_FOLDER = "tokenizer"


def read_config_file(file: Path) -> tuple[PipelineConfig, Path]:
    """The config of a UTF-8 JSON file, and the tokenizer folder of its records.

    That is what its `tokenizer_path` says; without one the folder `tokenizer` beside the file, if a tokenizer.json is
    in it; else the folder of the file. `RecordConfigError` names the file and every fault in it.
    """
    try:
        given = json.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise RecordConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise RecordConfigError(f"{file}: is not JSON: {error}") from error
    try:
        config, tokenizer = parse_config(given, file.parent)
        config.outputs()  # refuses one without input
    except RecordConfigError as error:
        raise RecordConfigError(f"{file}: {error}") from error
    return config, tokenizer or _tokenizer_beside(file)


def parse_config(given: Any, folder: Path) -> tuple[PipelineConfig, Path | None]:
    """A config of JSON values, and the folder that its `tokenizer_path`, which is from `folder`, names if it is there.

    `RecordConfigError` for a path that is none, and as `PipelineConfig.from_dict` has it.
    """
    if not isinstance(given, dict):
        return PipelineConfig.from_dict(given), None
    path = given.get(TOKENIZER_PATH)
    if not isinstance(path, str | Path | None):
        raise RecordConfigError(f"{TOKENIZER_PATH}: got {path!r}, allowed: a path")
    config = PipelineConfig.from_dict({key: value for key, value in given.items() if key != TOKENIZER_PATH})
    return config, folder / path if path else None


def _tokenizer_beside(file: Path) -> Path:
    beside = file.parent / TOKENIZER_FOLDER
    return beside if (beside / TOKENIZER).is_file() else file.parent
