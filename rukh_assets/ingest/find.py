"""From a path pattern and a month to the files of that month."""

import glob
import re
from pathlib import Path

from rukh_assets.errors import SourceError, SourceMissingError
from rukh_assets.ingest.schema import split_month

ENDINGS = (".parquet", ".pgn.zst", ".pgn")
"""What a source file's name may end in."""
SHA256SUMS = "sha256sums.txt"
"""The name under which the monthly dumps' digests are published, beside them."""

_ALLOWED = f"'sample', or a local path with {{year}} and {{month}} whose files end in {', '.join(ENDINGS)}"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_NOT_FIXED = re.compile(r"[{*?\[]")


def find_files(pattern: str, month: str) -> list[Path]:
    """Return the files of `month` (`YYYY-MM`) that `pattern` matches, in the natural order of their names.

    The pattern has `{year}` (four digits) and `{month}` (two), may start with `~` and may hold `*`, `?`, `[...]` and
    `**`. Files of sha256 digests that it matches are left out.

    Raises `SourceError` for a pattern without both placeholders, with another one, or with another ending, for one
    whose fixed folder is not there, for a match that is a folder or has another ending, for files of more than one
    ending and for two of one name. Raises `SourceMissingError` where the folder is there and nothing matches.
    """
    year, number = split_month(month)
    _check_pattern(pattern)
    wanted = str(_at_home(pattern.replace("{year}", year).replace("{month}", number), pattern))
    # Path.glob takes no absolute pattern, and matches hidden files, which downloads in progress often are.
    paths = [Path(match) for match in glob.glob(wanted, recursive=True)]  # noqa: PTH207
    paths = [path for path in paths if path.suffix != ".sha256" and path.name != SHA256SUMS]
    if not paths:
        raise SourceMissingError(f"{month}: no file matches {wanted!r}, so the month is not there yet")
    _check_paths(paths)
    return sorted(paths, key=_natural_order)


def ending(path: Path) -> str | None:
    """Return which of `ENDINGS` the name of `path` has, in any case; None for another one."""
    return next((end for end in ENDINGS if path.name.lower().endswith(end)), None)


def _check_pattern(pattern: str) -> None:
    names = set(_PLACEHOLDER.findall(pattern))
    if names != {"year", "month"}:
        found = ", ".join(f"{{{name}}}" for name in sorted(names)) or "none"
        raise SourceError(
            f"source {pattern!r}: in braces it has {found}, and needs {{year}} and {{month}}; give {_ALLOWED}"
        )
    if not pattern.lower().endswith((*ENDINGS, "*")):
        raise SourceError(f"source {pattern!r}: the ending is not supported; give {_ALLOWED}")
    fixed = _NOT_FIXED.split(pattern, maxsplit=1)[0]
    folder = _at_home(fixed[: fixed.rfind("/") + 1] or ".", pattern)
    if not folder.is_dir():
        raise SourceError(f"source {pattern!r}: there is no folder {str(folder)!r}")


def _at_home(path: str, pattern: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise SourceError(f"source {pattern!r}: there is no home folder of that name") from error


def _check_paths(paths: list[Path]) -> None:
    for path in paths:
        if not path.is_file():
            raise SourceError(f"source {str(path)!r} is no file; the pattern must match files that end in {ENDINGS}")
        if ending(path) is None:
            raise SourceError(f"source {str(path)!r}: the ending is not supported; allowed are {', '.join(ENDINGS)}")
        if not _is_unicode(path.name):
            raise SourceError(f"source {str(path)!r}: the name is not UTF-8, and reports could not hold it; rename it")
    if len({ending(path) for path in paths}) > 1:
        names = ", ".join(sorted(path.name for path in paths))
        raise SourceError(f"source files of more than one form: {names}; give a pattern that matches one form only")
    if len({path.name for path in paths}) < len(paths):
        names = ", ".join(sorted(map(str, paths)))
        raise SourceError(f"source files of the same name, which reports could not tell apart: {names}")


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _natural_order(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Digits by value, so that `part-9` comes before `part-10`."""
    parts = re.split(r"([0-9]+)", path.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], path.name
