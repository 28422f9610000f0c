"""What lies at a path: shards of records, or raw .jsonl files."""

from pathlib import Path
from typing import Literal

from rukh_loaders.errors import NoRecordsError, UnsupportedFileError
from rukh_loaders.formats.shard import META, shard_number

Format = Literal["bin", "jsonl"]


def detect_format(path: Path | str) -> Format:
    """ "bin" for a folder with shards in it, at any depth, or that is one; "jsonl" for .jsonl files.

    Those of a folder are looked for in it alone, not in folders below, as `JsonlStore` reads them. Hidden folders and
    files are passed over. `UnsupportedFileError` for a file that is no .jsonl file; `NoRecordsError`, a
    `FileNotFoundError`, where neither is found.
    """
    path = Path(path)
    if path.is_file():
        if path.suffix.lower() != ".jsonl":
            raise UnsupportedFileError(f"{path}: Unsupported file, allowed: .jsonl, or a folder of shards")
        return "jsonl"
    if next(iter(find_shards(path)), None) is not None:
        return "bin"
    if path.is_dir() and any(file.suffix.lower() == ".jsonl" and file.is_file() for file in path.iterdir()):
        return "jsonl"
    found = "has neither shards nor .jsonl files" if path.is_dir() else "is missing"
    raise NoRecordsError(f"{path}: No supported data: it {found}")


def find_shards(path: Path) -> list[Path]:
    """The shards at and below a path, by domain, folder and number: on every machine the same.

    A shard is a folder with a meta.json and a .bin file in it.
    """
    found = [meta.parent for meta in path.rglob(META) if is_shown(meta.parent, path) and any(meta.parent.glob("*.bin"))]
    return sorted(found, key=lambda shard: (shard.parent.name, shard.parent.parts, _number(shard), shard.name))


def is_shown(folder: Path, below: Path) -> bool:
    """Whether no folder on the way down to this one is hidden."""
    return not any(part.startswith(".") for part in folder.relative_to(below).parts)


def _number(shard: Path) -> int:
    number = shard_number(shard.name)
    return -1 if number is None else number
