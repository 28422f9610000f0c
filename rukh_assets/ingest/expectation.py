"""What a month's files should be, as someone else says: no file tells that it was cut off between two frames."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rukh_assets.errors import DamagedSourceError, SourceError
from rukh_assets.ingest.find import SHA256SUMS

# The lines that coreutils' sha256sum writes: digest, a space, a space or `*`, the file's name.
_SUM = re.compile(r"(?P<sha256>[0-9A-Fa-f]{64})(?: [ *](?P<name>.+))?")


@dataclass(frozen=True)
class SourceFile:
    """A file of a source as it was when it was hashed: base name, size in bytes, sha256 in lower-case hex."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Expectation:
    """What is known beforehand of a month's source; None expects nothing.

    `sha256` is by file name, or one value where the month is one file; a name that the source does not have fails
    too. `bytes` is of all files together, and `games` the number of games in them, kept or not.
    """

    sha256: str | Mapping[str, str] | None = None
    bytes: int | None = None
    games: int | None = None

    def check_files(self, files: Sequence[SourceFile]) -> None:
        """Raise `DamagedSourceError`, naming file and both values, where size or sha256 is another one."""
        size = sum(file.bytes for file in files)
        if self.bytes is not None and size != self.bytes:
            raise DamagedSourceError(f"{_names(files)}: {size} bytes, expected {self.bytes}")
        for name, sha256 in _by_name(self.sha256, files).items():
            got = {file.name: file.sha256 for file in files}.get(name)
            if got is None:
                raise DamagedSourceError(f"{name}: not in the source ({_names(files)}), expected with sha256 {sha256}")
            if got != sha256.lower():
                raise DamagedSourceError(f"{name}: sha256 is {got}, expected {sha256.lower()}")

    def check_games(self, games: int, files: Sequence[SourceFile]) -> None:
        """Raise `DamagedSourceError` where the source held another number of games."""
        if self.games is not None and games != self.games:
            raise DamagedSourceError(f"{_names(files)}: {games} games, expected {self.games}")


def read_sidecars(paths: Sequence[Path]) -> dict[str, str]:
    """Return name to sha256 of those `paths` that have one in `<name>.sha256` or `sha256sums.txt` beside them.

    Both hold what coreutils' `sha256sum` writes; the first may be the digest alone. Raises `SourceError` for a
    `<name>.sha256` without a digest of that file.
    """
    found: dict[str, str] = {}
    for path in paths:
        own = path.with_name(path.name + ".sha256")
        common = _read_sums(path.with_name(SHA256SUMS))
        if path.name in common:
            found[path.name] = common[path.name]
        elif _mentions(path.with_name(SHA256SUMS), path.name):
            raise SourceError(
                f"{path.with_name(SHA256SUMS)}: names {path.name}, but not after 64 hex digits and two blanks, "
                "as sha256sum writes it"
            )
        if own.is_file():
            sums = _read_sums(own)
            sha256 = sums.get(path.name, sums.get(""))
            if sha256 is None:
                raise SourceError(f"{own}: has no sha256 of {path.name}; expected a line of 64 hex digits and the name")
            found[path.name] = sha256
    return found


def _mentions(path: Path, name: str) -> bool:
    return path.is_file() and name.encode() in path.read_bytes().replace(b"\0", b"")


def _read_sums(path: Path) -> dict[str, str]:
    """Base name to digest, "" for a line without a name; lines that are no digest are skipped."""
    if not path.is_file():
        return {}
    lines = path.read_text("utf-8-sig", errors="replace").splitlines()
    sums = [match for line in lines if (match := _SUM.fullmatch(line.strip()))]
    return {Path(match["name"] or "").name: match["sha256"].lower() for match in sums}


def _by_name(expected: str | Mapping[str, str] | None, files: Sequence[SourceFile]) -> Mapping[str, str]:
    if expected is None:
        return {}
    if isinstance(expected, Mapping):
        return expected
    if len(files) != 1:
        raise SourceError(f"one expected sha256 {expected!r} for {len(files)} files; put a sha256sums.txt beside them")
    return {files[0].name: expected}


def _names(files: Sequence[SourceFile]) -> str:
    return ", ".join(file.name for file in files) or "the source"
