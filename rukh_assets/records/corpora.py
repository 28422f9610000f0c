"""The record corpora of a lake: their names, their raw records of a month, and the pipeline between these and shards.

<corpus>/config.json             the PipelineConfig
<corpus>/tokenizer/              tokenizer.json, tokenizer_config.json
<corpus>/<YYYY-MM>/*.jsonl       raw records, .json too; a manifest.json is none: it says what its folder holds
"""

import re
from collections.abc import Iterable
from pathlib import Path
from warnings import warn

from rukh_assets.errors import CorpusNameError, RawRecordsError, RawRecordsMissingError
from rukh_assets.records.pipeline import Pipeline
from rukh_loaders.formats import MANIFEST, read_manifest, verify_files
from rukh_loaders.records import PipelineConfig

CONFIG = "config.json"
TOKENIZER = "tokenizer"
ENDINGS = (".jsonl", ".json")
"""What the name of a file of raw records ends in, in any case."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,63}", re.ASCII)
_ALLOWED = "1 to 64 of the letters a to z, digits and _, the first of them not _"


class CorpusNameWarning(UserWarning):
    """A folder among the corpora whose name no corpus can have."""


def named_corpora(text: str) -> list[str]:
    """The corpora that a setting names, `web_text, talks`, each once; `CorpusNameError` for what is no name of one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if not _NAME.fullmatch(name):
            raise CorpusNameError(f"got {name!a} as the name of a corpus, allowed: {_ALLOWED}")
    return list(dict.fromkeys(names))


def found_corpora(folder: Path) -> list[str]:
    """The names of the folders in `folder`, sorted; none where it is absent. Hidden ones are not looked at.

    One whose name no corpus can have is left out with a `CorpusNameWarning`.
    """
    if not folder.is_dir():
        return []
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    for name in names:
        if not _NAME.fullmatch(name):
            warn(f"{folder}: {name!a} is left out; allowed: {_ALLOWED}", CorpusNameWarning, stacklevel=2)
    return [name for name in names if _NAME.fullmatch(name)]


def raw_files(folder: Path) -> list[Path]:
    """The files of raw records of one month, sorted by name; where a manifest lies beside them, they are what it says.

    Raises:
        RawRecordsMissingError: there is no such folder.
        RawRecordsError: the folder holds no file of records.
        ManifestError: its manifest cannot be read, or the files are other ones than it says.
    """
    if not folder.is_dir():
        raise RawRecordsMissingError(f"{folder}: is not there, so the month has no raw records yet")
    files = sorted(path for path in folder.iterdir() if _holds_records(path))
    if not files:
        raise RawRecordsError(f"{folder}: holds no raw records; expected files that end in {' or '.join(ENDINGS)}")
    if (folder / MANIFEST).exists():
        verify_files(folder, read_manifest(folder))
    return files


def corpus_pipeline(corpus: Path, files: Iterable[Path], output: Path, workers: int | None = None) -> Pipeline:
    """The pipeline from a month's files to its shards, with config and tokenizer of the corpus' folder; see `Pipeline`.

    `RecordConfigError` and `RecordTokenizerError` where one of these is missing or cannot be read.
    """
    config = PipelineConfig.from_file(corpus / CONFIG)
    return Pipeline(config, files, output, corpus / TOKENIZER, workers)


def _holds_records(path: Path) -> bool:
    name = path.name
    return path.suffix.lower() in ENDINGS and name != MANIFEST and not name.startswith(".") and path.is_file()
