"""What a month's files should be, as someone else says: no file tells that it was cut off between two frames."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rukh_assets.errors import DamagedSourceError, SourceError
from rukh_assets.ingest.find import SHA256SUMS

T = TypeVar("T", str, int)

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

    `sha256` and `bytes` are by file name, or one value where the month is one file; a name that the source does not
    have fails too. `games` is the number of games in the whole source, kept or not.
    """

    sha256: str | Mapping[str, str] | None = None
    bytes: int | Mapping[str, int] | None = None
    games: int | None = None

    def check_files(self, files: Sequence[SourceFile]) -> None:
        """Raise `DamagedSourceError`, naming file and both values, where size or sha256 is another one."""
        for name, size in _by_name(self.bytes, files).items():
            _check(name, "bytes", {file.name: file.bytes for file in files}.get(name), size)
        for name, sha256 in _by_name(self.sha256, files).items():
            _check(name, "sha256", {file.name: file.sha256 for file in files}.get(name), sha256.lower())

    def check_games(self, games: int, files: Sequence[SourceFile]) -> None:
        """Raise `DamagedSourceError` where the source held another number of games."""
        if self.games is not None and games != self.games:
            names = ", ".join(file.name for file in files) or "the source"
            raise DamagedSourceError(f"{names}: {games} games, expected {self.games}")


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
        if own.is_file():
            sums = _read_sums(own)
            sha256 = sums.get(path.name, sums.get(""))
            if sha256 is None:
                raise SourceError(f"{own}: has no sha256 of {path.name}; expected a line of 64 hex digits and the name")
            found[path.name] = sha256
    return found


def _read_sums(path: Path) -> dict[str, str]:
    """Base name to digest, "" for a line without a name; lines that are no digest are skipped."""
    if not path.is_file():
        return {}
    lines = path.read_text("utf-8", errors="replace").splitlines()
    sums = [match for line in lines if (match := _SUM.fullmatch(line.strip()))]
    return {Path(match["name"] or "").name: match["sha256"].lower() for match in sums}


def _by_name(expected: T | Mapping[str, T] | None, files: Sequence[SourceFile]) -> Mapping[str, T]:
    if expected is None:
        return {}
    if isinstance(expected, Mapping):
        return expected
    if len(files) != 1:
        raise SourceError(
            f"one expected value {expected!r} for {len(files)} files; give a mapping from file name to value"
        )
    return {files[0].name: expected}


def _check(name: str, what: str, got: T | None, expected: T) -> None:
    if got is None:
        raise DamagedSourceError(f"{name}: not in the source, expected with {what} {expected}")
    if got != expected:
        raise DamagedSourceError(f"{name}: {what} is {got}, expected {expected}")
