"""Whether packs are what they promise, alone and side by side: what `python -m rukh_loaders check` does."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rukh_loaders.checking.columns import check_columns
from rukh_loaders.checking.progress import Progress
from rukh_loaders.checking.repeated_games import reading_bytes, repeated_games
from rukh_loaders.errors import NoPacksError, PackError
from rukh_loaders.formats.pack import Pack, open_pack
from rukh_loaders.packs.months import find_packs

GAME_ID = "game_id"


class Finding(NamedTuple):
    """One line of the report: what was looked at, what came out, and whether that is a fault."""

    subject: str
    text: str
    is_fault: bool = False


def check_packs(folders: Sequence[Path]) -> Iterator[Finding]:
    """Check packs, each given once, one by one and then side by side; a finding comes as soon as it is made.

    One by one: `open_pack` and `Pack.verify` pass, and so does `check_columns`. Side by side: packs of one scheme have
    one vocabulary, and no game is there twice among the packs of one vocabulary. A month in two schemes is the same
    games in two forms, which no loader serves together: that is no fault.
    """
    packs: dict[str, Pack] = {}
    for name, folder in _named(folders).items():
        try:
            packs[name] = open_pack(folder)
            yield check_pack(name, packs[name])
        except PackError as error:
            yield Finding(name, str(error), is_fault=True)
    yield from compare_vocabularies(packs)
    yield from compare_games(packs)


def packs_below(path: Path) -> list[Path]:
    """The folders of packs at `path`: that of a pack, those in a folder of packs, or those of every scheme in it.

    `NoPacksError` where there is none.
    """
    try:
        return _folders(path)
    except NoPacksError as error:
        below = []
        for child in _children(path):
            if child.is_dir() and not child.name.startswith("."):
                try:
                    below += _folders(child)
                except NoPacksError:
                    continue
        if not below:
            raise error
        return below


def check_pack(name: str, pack: Pack) -> Finding:
    """Read all of a pack, with a line on the terminal that says how far it is; `PackError` for what is wrong."""
    with Progress(f"{name}: reading", pack.verify_bytes) as progress:
        pack.verify(progress.advance)
    check_columns(pack)
    counts = f"{pack.info.n_games:,} games, {pack.info.n_tokens:,} tokens"
    return Finding(name, f"{counts}: ok" + ("" if pack.manifest else ", but has no manifest to compare hashes with"))


def compare_vocabularies(packs: Mapping[str, Pack]) -> Iterator[Finding]:
    """A finding for each scheme: all its packs were encoded with the same vocabulary, or which were not."""
    for scheme, group in _grouped(packs, lambda pack: pack.info.scheme).items():
        by_hash = _grouped(group, lambda pack: pack.info.vocab_hash)
        if len(by_hash) == 1:
            yield Finding(f"{scheme} vocabulary", f"{next(iter(by_hash))[:12]} in {_all_of(group)}")
        else:
            parts = [f"{vocab_hash[:12]} in {', '.join(part)}" for vocab_hash, part in by_hash.items()]
            yield Finding(f"{scheme} vocabulary", f"{len(by_hash)} different ones: {'; '.join(parts)}", is_fault=True)


def compare_games(packs: Mapping[str, Pack]) -> Iterator[Finding]:
    """A finding for each vocabulary: none of its games is there twice, or how many are, and where three of them are."""
    for group in _grouped(packs, lambda pack: pack.info.vocab_hash).values():
        subject = f"{next(iter(group.values())).info.scheme} games"
        with_ids = {name: pack for name, pack in group.items() if GAME_ID in pack.columns}
        if without := sorted(group.keys() - with_ids.keys()):
            yield Finding(subject, f"not compared, since there is no column {GAME_ID}: {', '.join(without)}")
        if with_ids:
            yield _compare_ids(subject, with_ids)


def _compare_ids(subject: str, packs: Mapping[str, Pack]) -> Finding:
    names, opened = list(packs), list(packs.values())
    with Progress("comparing game ids:", reading_bytes(opened)) as progress:
        repeated = repeated_games(opened, on_bytes=progress.advance)
    if not repeated.count:
        return Finding(subject, f"{sum(map(len, opened)):,} in {_all_of(packs)}, none of them twice")
    lines = [f"{repeated.count:,} are there more than once, so that what one pack trains on another may judge by"]
    lines += [
        f"id {game_id}: " + " and ".join(f"game {game} of {names[number]}" for number, game in places)
        for game_id, places in repeated.examples.items()
    ]
    return Finding(subject, "\n".join(lines), is_fault=True)


def _grouped(packs: Mapping[str, Pack], key: Callable[[Pack], str]) -> dict[str, dict[str, Pack]]:
    groups: dict[str, dict[str, Pack]] = defaultdict(dict)
    for name, pack in packs.items():
        groups[key(pack)][name] = pack
    return groups


def _folders(path: Path) -> list[Path]:
    return [found.path if isinstance(found, Pack) else found for found in find_packs(path)]


def _children(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except OSError:  # it may not be listed, as was said when packs were looked for in it
        return []


def _named(folders: Sequence[Path]) -> dict[str, Path]:
    """The folders by their last two names where these tell them apart, by their paths where not."""
    short = ["/".join(folder.parts[-2:]) for folder in folders]
    return {n if short.count(n) == 1 else str(folder): folder for n, folder in zip(short, folders, strict=True)}


def _all_of(packs: Mapping[str, Pack]) -> str:
    return "1 pack" if len(packs) == 1 else f"all {len(packs)} packs"
