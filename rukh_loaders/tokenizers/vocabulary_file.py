"""The JSON files of the fixed vocabularies: always the same bytes, read only to see that they are the right ones."""

import json
from pathlib import Path

from rukh_loaders.errors import VocabularyFileError


def dump_vocabulary(document: dict[str, object]) -> bytes:
    """The bytes of a vocabulary file: `indent=0`, ASCII, one line feed at the end."""
    return (json.dumps(document, indent=0, ensure_ascii=True) + "\n").encode()


def check_vocabulary_file(path: Path, expected: bytes) -> None:
    """Raise `VocabularyFileError` unless the JSON in `path` is that of `expected`, key order and types included."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise VocabularyFileError(f"{path}: not a vocabulary file: {error}") from error
    if not isinstance(document, dict) or dump_vocabulary(document) != expected:
        raise VocabularyFileError(f"{path}: not this vocabulary: {_first_difference(document, json.loads(expected))}")


def _first_difference(got: object, expected: dict[str, object]) -> str:
    if not isinstance(got, dict) or list(got) != list(expected):
        keys = list(got) if isinstance(got, dict) else type(got).__name__
        return f"its keys are {keys}, expected {list(expected)}"
    name = next(key for key in expected if json.dumps(got[key]) != json.dumps(expected[key]))
    mine, theirs = expected[name], got[name]
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        at = next(i for i, (a, b) in enumerate(zip(theirs, mine, strict=True)) if a != b)
        return f"{name}[{at}] is {theirs[at]!r}, expected {mine[at]!r}"
    if isinstance(mine, list) and isinstance(theirs, list):
        return f"{name} has {len(theirs)} entries, expected {len(mine)}"
    return f"{name} is {theirs!r}, expected {mine!r}"
