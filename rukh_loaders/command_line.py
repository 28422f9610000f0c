"""The commands of `python -m rukh_loaders`: inspect, check and bench."""

import argparse
import math
import os
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from rukh_loaders.checking import check_corpora, check_packs, corpora_below, packs_below
from rukh_loaders.errors import (
    BlockSizeError,
    NeedlessTokenizerError,
    NoPacksError,
    OnePackError,
    RukhLoadersError,
    SanMoveError,
    UnreadableIdsError,
    UsageError,
    VocabularyFileError,
)
from rukh_loaders.formats.pack import Pack, open_pack
from rukh_loaders.inspection import describe_board, describe_moves, describe_pack, describe_packs

OK, FAULT, USAGE = 0, 1, 2
UNREAD = 141
"""As a shell counts those that end by SIGPIPE."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status is 0, or 1 for a fault in a pack, or 2 for what cannot be asked, read or shown.

    Errors of this package and of the system are one line on stderr.
    """
    chosen = _parser().parse_args(arguments)
    if sys.stdout is None:  # closed by the caller, `>&-`
        return _fail("there is no stdout to write to", USAGE)
    try:
        status: int = chosen.command(chosen)
        sys.stdout.flush()
    except (UsageError, NoPacksError, BlockSizeError, VocabularyFileError) as error:
        return _fail(error, USAGE)
    except RukhLoadersError as error:
        return _fail(error, FAULT)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _drop_output()
        return UNREAD
    except OSError as error:
        _drop_output()
        return _fail(error, USAGE)
    return status


def inspect(chosen: argparse.Namespace) -> int:
    """Show what a pack holds, or one of its games; of several packs, a table."""
    folders = _folders(chosen.pack)
    if chosen.game is not None or chosen.ply is not None:
        return _show_game(_open_one(folders, chosen), chosen)
    if len(folders) > 1 and chosen.tokenizer is None:
        print(describe_packs([open_pack(folder) for folder in folders]))
        print(f"\nOne of them in full: inspect {folders[-1]}")
        return OK
    pack = _open_one(folders, chosen)
    parts = [describe_pack(pack)]
    if len(pack):
        parts.append(describe_moves(pack, 0, chosen.tokenizer))
        parts.append(f"Another game: --game 0 to {len(pack) - 1}; the board after any move of it: --ply")
    print("\n\n".join(parts))
    return OK


def check(chosen: argparse.Namespace) -> int:
    """Check packs and corpora of records, a line for each finding."""
    corpora = list(dict.fromkeys(folder.resolve() for path in chosen.packs for folder in corpora_below(path)))
    folders = list(dict.fromkeys(folder for path in chosen.packs for folder in _packs_beside(path, corpora)))
    faults = 0
    for finding in chain(check_packs(folders), check_corpora(corpora)):
        faults += finding.is_fault
        mark = "FAULT: " if finding.is_fault else ""
        print(f"{finding.subject:16}  {mark}{finding.text}".replace("\n", f"\n{'':18}"), flush=True)
    packs = "1 pack" if len(folders) == 1 else f"{len(folders)} packs"
    of_records = "1 corpus of records" if len(corpora) == 1 else f"{len(corpora)} corpora of records"
    looked_at = " and ".join([packs] * bool(folders or not corpora) + [of_records] * bool(corpora))
    print(f"{looked_at} checked, " + {0: "no fault", 1: "1 fault"}.get(faults, f"{faults} faults"))
    return FAULT if faults else OK


def bench(chosen: argparse.Namespace) -> int:
    """Measure how fast this machine serves a pack."""
    pack = open_pack(_only(_folders(chosen.pack), chosen.pack))
    from rukh_loaders.rates import bench_report  # imports torch, which the other commands do without

    print(bench_report(pack, chosen.block, chosen.batch, chosen.seconds))
    return OK


def _show_game(pack: Pack, chosen: argparse.Namespace) -> int:
    """The game's moves and a board; a board that was not asked for is left out where the moves cannot be read."""
    game = chosen.game or 0
    parts = [describe_moves(pack, game, chosen.tokenizer)]
    try:
        parts.append(describe_board(pack, game, chosen.ply, chosen.tokenizer))
    except (UnreadableIdsError, SanMoveError):
        if chosen.ply is not None:
            raise
    print("\n\n".join(parts))
    return OK


def _open_one(folders: list[Path], chosen: argparse.Namespace) -> Pack:
    pack = open_pack(_only(folders, chosen.pack))
    if chosen.tokenizer is not None and pack.info.scheme != "bpe":
        raise NeedlessTokenizerError(
            f"{chosen.tokenizer}: is of no use for {pack.path}, a pack in {pack.info.scheme}; --tokenizer is for bpe"
        )
    return pack


def _folders(path: Path) -> list[Path]:
    if not path.is_dir():
        raise NoPacksError(f"{path}: is no folder; expected that of a pack, or one of packs")
    return packs_below(path)


def _packs_beside(path: Path, corpora: list[Path]) -> list[Path]:
    """The packs at a path that are no part of a corpus, of which there need be none where corpora are."""
    if not corpora:
        return [folder.resolve() for folder in _folders(path)]
    try:
        folders = [folder.resolve() for folder in _folders(path)]
    except NoPacksError:
        return []
    return [folder for folder in folders if not any(map(folder.is_relative_to, corpora))]


def _only(folders: list[Path], path: Path) -> Path:
    if len(folders) > 1:
        raise OnePackError(f"{path}: holds {len(folders)} packs; name one of them, such as {folders[-1]}")
    return folders[0]


def _fail(error: object, status: int) -> int:
    if sys.stderr is not None:  # else it would go to stdout
        print(f"rukh_loaders: {error}", file=sys.stderr)
    return status


def _drop_output() -> None:
    """Where stdout takes nothing more, let what is left for it go nowhere, so that the exit is not another error."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rukh_loaders",
        description="Look into packs of chess games, check them, and measure how fast this machine serves them.",
        epilog="Exit status: 0, or 1 for a fault in a pack, or 2 for what cannot be asked, read or shown.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    _add_inspect(commands)
    _add_check(commands)
    _add_bench(commands)
    return parser


def _add_inspect(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    about = "show what a pack holds, a game of it, or a board"
    parser = commands.add_parser("inspect", help=about, description=about.capitalize() + ".")
    parser.add_argument("pack", type=Path, metavar="PACK", help="a pack's folder; of a folder of packs, a table")
    parser.add_argument("--game", type=int, metavar="N", help="show this game, counted from 0, and its last position")
    parser.add_argument("--ply", type=int, metavar="P", help="show the position after P moves, White's and Black's")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        metavar="bpe.json",
        help="what a bpe pack was encoded with (default: artifacts/tokenizer/bpe/bpe.json beside the pack's data)",
    )
    parser.set_defaults(command=inspect)


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    about = "read packs, and corpora of records, wholly and say what is wrong with them"
    parser = commands.add_parser(
        "check",
        help=about,
        description=f"{about.capitalize()}: structure, hashes, ids, and columns that are those of the games. "
        "Of several packs also: one vocabulary in each scheme, and no game twice among packs of one vocabulary. "
        "(A month in two schemes is the same games in two forms: no fault.) "
        "Of corpora of records: structure and hashes.",
    )
    parser.add_argument(
        "packs",
        type=Path,
        nargs="+",
        metavar="PACK",
        help="a pack's folder, or one of packs; of a corpus of records too",
    )
    parser.set_defaults(command=check)


def _add_bench(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    about = "measure how fast this machine serves a pack"
    parser = commands.add_parser(
        "bench",
        help=about,
        description=f"{about.capitalize()}, beside loaders that serve item by item and the gather that caps them all.",
    )
    parser.add_argument("pack", type=Path, metavar="PACK", help="a pack's folder")
    parser.add_argument("--block", type=_positive, default=200, metavar="T", help="tokens of a window (default: 200)")
    parser.add_argument(
        "--batch", type=_positive, nargs="+", default=[64, 256], metavar="B", help="windows a batch (default: 64 256)"
    )
    parser.add_argument(
        "--seconds", type=_seconds, default=10.0, metavar="S", help="how long to measure in all (default: 10)"
    )
    parser.set_defaults(command=bench)


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!a}: expected a whole number, 1 or more")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!a}: expected a number of seconds, more than 0")
    return number
