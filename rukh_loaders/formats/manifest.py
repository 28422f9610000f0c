"""manifest.json: what a folder holds, file by file with size and sha256, and what it was made from."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypedDict

from rukh_loaders.errors import ManifestError

MANIFEST = "manifest.json"
OWN_DIGEST = "manifest_sha256"

_PIECE_BYTES = 1 << 20


class FileRecord(TypedDict):
    """Size in bytes and sha256 (lower case hexadecimal) of one file."""

    bytes: int
    sha256: str


def _ignore(number: int) -> None:
    pass


def hash_file(path: Path, on_bytes: Callable[[int], object] = _ignore) -> FileRecord:
    """Size and sha256 of the file, read in pieces; `on_bytes` is called with the size of each."""
    sha256, size = hashlib.sha256(), 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_PIECE_BYTES):
            sha256.update(piece)
            size += len(piece)
            on_bytes(len(piece))
    return {"bytes": size, "sha256": sha256.hexdigest()}


def write_hashed(path: Path, data: bytes | memoryview) -> FileRecord:
    """Write the file into a folder that is being built; its size and sha256."""
    path.write_bytes(data)
    return {"bytes": memoryview(data).nbytes, "sha256": hashlib.sha256(data).hexdigest()}


def describe_files(folder: Path) -> dict[str, FileRecord]:
    """The record of every file below `folder` by relative path (with `/`), sorted, the folder's manifest left out."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name: hash_file(folder / name) for name in names if name != MANIFEST}


def to_json(value: Any) -> bytes:
    """JSON that is the same bytes for the same content: sorted keys, `indent=2`, ASCII, one line feed at the end."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n").encode()


def digest(value: Any) -> str:
    """sha256 of the value's JSON with sorted keys, no blanks, ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the folder's manifest.json; the folder is one that is being built, and this its last file.

    To what `manifest` holds comes `manifest_sha256`, the `digest` of all of it, so that damage to it is noticed too.
    """
    (folder / MANIFEST).write_bytes(to_json({**manifest, OWN_DIGEST: digest(dict(manifest))}))


def read_manifest(folder: Path) -> dict[str, Any]:
    """The folder's manifest; `ManifestError` when it is missing, is not JSON or no object, or not as it was written.

    The last is told by `manifest_sha256`, which is left out of what is returned; other programs' manifests lack it.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ManifestError(f"{path}: cannot be read as a manifest: {error}") from error
    if not isinstance(manifest, dict):
        raise ManifestError(f"{path}: holds a JSON {type(manifest).__name__}, expected an object")
    said = manifest.pop(OWN_DIGEST, None)
    if said is not None and said != (got := digest(manifest)):
        raise ManifestError(f"{path}: was changed: it says of itself sha256 {said}, has {got}")
    return manifest


def check_files(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise `ManifestError` unless every file that the manifest lists is there and has the size it says."""
    for path, record in _listed_files(folder, manifest):
        if not path.is_file():
            raise ManifestError(f"{path}: is missing, its manifest says {record['bytes']} bytes")
        size = path.stat().st_size
        if size != record["bytes"]:
            raise ManifestError(f"{path}: has {size} bytes, its manifest says {record['bytes']}")


def verify_files(folder: Path, manifest: Mapping[str, Any], on_bytes: Callable[[int], object] = _ignore) -> None:
    """As `check_files`, and that every file has the sha256 the manifest says: reads all of them.

    `on_bytes` is called with the size of each piece that was read, to show how far it is.
    """
    check_files(folder, manifest)
    for path, record in _listed_files(folder, manifest):
        sha256 = hash_file(path, on_bytes)["sha256"]
        if sha256 != record["sha256"]:
            raise ManifestError(f"{path}: has sha256 {sha256}, its manifest says {record['sha256']}")


def _listed_files(folder: Path, manifest: Mapping[str, Any]) -> Iterator[tuple[Path, FileRecord]]:
    files = manifest.get("files")
    if not isinstance(files, dict):
        raise ManifestError(f"{folder / MANIFEST}: files is {files!r}, expected an object of name to bytes and sha256")
    for name, record in files.items():
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts:
            raise ManifestError(f"{folder / MANIFEST}: lists {name!r}, expected a path inside its folder")
        if not _is_record(record):
            raise ManifestError(f"{folder / MANIFEST}: says {record!r} of {name!r}, expected bytes and sha256")
        yield folder / name, record


def _is_record(record: object) -> bool:
    return (
        isinstance(record, dict)
        and record.keys() == {"bytes", "sha256"}
        and type(record["bytes"]) is int
        and isinstance(record["sha256"], str)
    )
