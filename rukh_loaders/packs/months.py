"""Which folders are the packs of which months."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from rukh_loaders.errors import MonthsError, NoPacksError
from rukh_loaders.formats.pack import META, Pack

Found = Pack | Path
"""A pack that is open already, or the folder of one that is not."""

_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


def find_packs(root: str | os.PathLike[str] | Pack | Sequence[str | os.PathLike[str] | Pack]) -> list[Found]:
    """The packs of `root`: a folder of packs, one pack's folder, or packs one by one; by month where all have one.

    In a folder of packs a pack is what is named like a month or has a meta.json; hidden names are never packs.
    `NoPacksError` names a folder that holds none.
    """
    if isinstance(root, (str, os.PathLike, Pack)):
        return _packs_in(root) if not isinstance(root, Pack) else [root]
    packs = [item if isinstance(item, Pack) else Path(item) for item in root]
    if not packs:
        raise NoPacksError("got no packs to open: the list is empty")
    if all(month_of(pack) for pack in packs):
        packs.sort(key=lambda pack: month_of(pack) or "")
    return packs


def choose_months(packs: Sequence[Found], months: str | Iterable[str] | None) -> list[Found]:
    """Those of `packs` that are of the asked months; None asks for all.

    `months` is `"2024-01"`, `"2024-01:2024-12"` with both ends, or several of these. `MonthsError` names each month
    that no pack is of, and what is no month.
    """
    if months is None:
        return list(packs)
    wanted = {month for text in ([months] if isinstance(months, str) else months) for month in _expand(text)}
    missing = sorted(wanted - {month_of(pack) for pack in packs})
    if missing or not wanted:
        there = sorted(filter(None, map(month_of, packs)))
        has = f"{len(there)} months, {there[0]} to {there[-1]}" if there else "no pack named like a month"
        where = _path(packs[0]).parent
        raise MonthsError(f"{where}: has no pack of {_shortly(missing) or 'an empty list of months'}; it has {has}")
    return [pack for pack in packs if month_of(pack) in wanted]


def month_of(pack: Found) -> str | None:
    """The month of a pack: the name of its folder, None where that is none."""
    name = _path(pack).name
    return name if _MONTH.fullmatch(name) else None


def _packs_in(root: str | os.PathLike[str]) -> list[Found]:
    folder = Path(root).absolute()
    if _may_be_pack(folder) or not folder.is_dir():
        return [folder]  # what is no folder is for open_pack to refuse
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))
    except OSError as error:
        raise NoPacksError(f"{folder}: cannot be looked into for packs: {error.strerror or error}") from error
    packs: list[Found] = [folder / name for name in names if _MONTH.fullmatch(name) or _may_be_pack(folder / name)]
    if not packs:
        raise NoPacksError(
            f"{folder}: holds no pack: neither a {META} nor folders named like months; "
            f"the folders in it: {_shortly(names) or 'none'}"
        )
    return packs


def _may_be_pack(folder: Path) -> bool:
    """Whether a meta.json is there, or nobody may see: then `open_pack` says so, and no pack is left out in silence."""
    try:
        return (folder / META).is_file()
    except OSError:
        return True


def _expand(text: str) -> list[str]:
    """All months from the first to the last of `YYYY-MM:YYYY-MM`, or the one of `YYYY-MM`."""
    ends = text.split(":") if isinstance(text, str) else []
    if not 1 <= len(ends) <= 2 or not all(map(_MONTH.fullmatch, ends)) or ends[0] > ends[-1]:
        raise MonthsError(f"months {text!a}; allowed are YYYY-MM, and YYYY-MM:YYYY-MM from the first to the last")
    first, last = (int(end[:4]) * 12 + int(end[5:]) - 1 for end in (ends[0], ends[-1]))
    return [f"{number // 12:04}-{number % 12 + 1:02}" for number in range(first, last + 1)]


def _path(pack: Found) -> Path:
    return pack.path if isinstance(pack, Pack) else pack.absolute()


def _shortly(names: Sequence[str]) -> str:
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(names[:6]) + more
