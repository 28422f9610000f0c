"""The moves of a batch's games, replayed: by kernels, and by the readable path for games that a kernel does not take.

A kernel decides alone that a game is good, never that it is bad: the verdicts are the readable path's.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rukh_assets import board
from rukh_assets.board import CLOCKS, DONE, EVALS, OTHERS
from rukh_assets.errors import MovetextError, NotLegalError
from rukh_assets.ingest.comments import CommentCounts
from rukh_assets.ingest.filters import Filters, length_bounds
from rukh_assets.ingest.headers import Mask, mask_of
from rukh_assets.ingest.movetext import check_uci, find_drop, moves_to_uci, parse_movetext
from rukh_assets.ingest.verdicts import Verdict


class Kernels(NamedTuple):
    """The kernels that take most games: `movetext_to_uci` and `check_uci_games` of the board, or others like them."""

    movetext_to_uci: Callable[[pa.Array], board.UciGames] = board.movetext_to_uci
    check_uci_games: Callable[[pa.Array], board.Verdicts] = board.check_uci_games


KERNELS = Kernels()


class Replayed(NamedTuple):
    """Games read from movetext; of n games."""

    uci: pa.Array
    """[n]: the moves, one space between two, of each game without a verdict."""
    plies: NDArray[np.int32]
    """[n]: how many."""
    verdicts: dict[int, Verdict]
    """Row to verdict of each other game."""
    comments: CommentCounts
    """Those of every game whose movetext was read, kinds beyond the first hundred too."""


def read_movetexts(games: pa.RecordBatch, filters: Filters, kernels: Kernels = KERNELS) -> Replayed:
    """Read the `movetext` of games whose tags passed; `result` is that of the tag, `ended` is as in `RAW_SCHEMA`."""
    read = kernels.movetext_to_uci(games["movetext"])
    taken = _taken(read, games)
    verdicts = _bad_lengths(read.plies, taken, filters)
    counted: Mask = taken & (read.comments[:, OTHERS] == 0)
    counts = _kernel_counts(read, counted, games["movetext"])
    comments = CommentCounts(max_kinds=None)
    moves: dict[int, list[str]] = {}
    for row in sorted({*np.flatnonzero(~counted).tolist(), *counts}):
        text, result, ended = (games[name][row].as_py() for name in ("movetext", "result", "ended"))
        if counted[row]:
            for kind, count in counts[row]:
                comments.add_kind(kind, count)
        elif taken[row]:
            comments.add(parse_movetext(text).comments)
        else:
            outcome = _read_moves(text or "", result, ended, filters, comments)
            if isinstance(outcome, Verdict):
                verdicts[row] = outcome
            else:
                moves[row] = outcome
    uci, plies = _with_moves(read, moves)
    return Replayed(uci, plies, verdicts, comments)


def check_games(games: pa.RecordBatch, month: str, filters: Filters, kernels: Kernels = KERNELS) -> dict[int, Verdict]:
    """Replay games of `GAMES_SCHEMA` whose columns passed; return row to verdict of each that is not kept."""
    checked = kernels.check_uci_games(games["uci"])
    least, most = length_bounds(filters)
    n_plies = np.asarray(pc.fill_null(games["n_plies"], -1))
    taken = (checked.verdicts == DONE) & (checked.plies == n_plies) & (least <= n_plies) & (n_plies <= most)
    taken &= mask_of(games["game_id"].is_valid()) & mask_of(pc.equal(games["month"], month))
    verdicts = {}
    for row in np.flatnonzero(~taken).tolist():
        game = {name: games[name][row].as_py() for name in ("game_id", "uci", "n_plies", "month")}
        verdict = _check_game(game, month, filters)
        if verdict:
            verdicts[row] = verdict
    return verdicts


def _taken(read: board.UciGames, games: pa.RecordBatch) -> Mask:
    """The games that the kernel took, and of which nothing else needs a closer look."""
    tags = np.asarray(pc.index_in(games["result"], value_set=pa.array(board.RESULTS)))
    same_result = (read.results == 0) | (read.results == tags)
    taken: Mask = (read.verdicts == DONE) & same_result & ~mask_of(pc.equal(games["ended"], False))
    return taken


def _bad_lengths(plies: NDArray[np.int32], taken: Mask, filters: Filters) -> dict[int, Verdict]:
    least, most = length_bounds(filters)
    rows = np.flatnonzero(taken & ((plies < least) | (plies > most))).tolist()
    return {row: _length(int(plies[row])) for row in rows}


def _kernel_counts(read: board.UciGames, counted: Mask, movetext: pa.Array) -> dict[int, list[tuple[str, int]]]:
    """The kinds of comments in the games that are `counted`, and how often: of each kind at the first game with it.

    Which kinds have a count of their own depends on the order in which they are first met.
    """
    found: dict[int, list[tuple[int, str, int]]] = {}
    for kind, column in (("%clk", CLOCKS), ("%eval", EVALS)):
        counts = np.where(counted, read.comments[:, column], 0)
        if counts.any():
            first = int(np.argmax(counts > 0))
            place = movetext[first].as_py().index(f"[{kind} ")
            found.setdefault(first, []).append((place, kind, int(counts.sum())))
    return {row: [(kind, count) for _, kind, count in sorted(kinds)] for row, kinds in found.items()}


def _with_moves(read: board.UciGames, moves: dict[int, list[str]]) -> tuple[pa.Array, NDArray[np.int32]]:
    """Moves and plies, those of some rows, in their order, in place of what was read."""
    if not moves:
        return read.uci, read.plies
    replaced = np.zeros(len(read.uci), np.bool_)
    replaced[list(moves)] = True
    texts = pa.array([" ".join(played) for played in moves.values()])
    plies = read.plies.copy()
    plies[replaced] = [len(played) for played in moves.values()]
    return pc.replace_with_mask(read.uci, pa.array(replaced), texts), plies


def _read_moves(
    text: str, result: str, ended: bool | None, filters: Filters, comments: CommentCounts
) -> list[str] | Verdict:
    if ended is False:
        return Verdict("truncated", detail=f"no result token at the end: ...{text[-40:]!r}")
    try:
        movetext = parse_movetext(text)
        comments.add(movetext.comments)
        if drop := find_drop(movetext.sans):
            return Verdict("not_standard", drop, f"drop {movetext.sans[drop - 1]!r}")
        if movetext.result not in (None, result):
            return Verdict("result_conflict", detail=f"movetext ends in {movetext.result!r}, the tag says {result!r}")
        if not _keeps_length(len(movetext.sans), filters):
            return _length(len(movetext.sans))
        return moves_to_uci(movetext.sans)
    except MovetextError as error:
        return Verdict("malformed", detail=str(error))
    except NotLegalError as error:
        return Verdict("illegal", error.ply, str(error))


def _check_game(game: dict[str, Any], month: str, filters: Filters) -> Verdict | None:
    for name in ("game_id", "uci", "n_plies"):
        if game[name] is None:
            return Verdict("malformed", detail=f"{name} is null")
    if game["month"] != month:
        return Verdict("malformed", detail=f"month is {game['month']!r}, the partition's is {month!r}")
    moves = game["uci"].split(" ") if game["uci"] else []
    if len(moves) != game["n_plies"]:
        return Verdict("malformed", detail=f"n_plies is {game['n_plies']}, uci split by single spaces has {len(moves)}")
    if not _keeps_length(len(moves), filters):
        return _length(len(moves))
    try:
        check_uci(moves)
    except NotLegalError as error:
        return Verdict("illegal", error.ply, str(error))
    return None


def _keeps_length(n_plies: int, filters: Filters) -> bool:
    least, most = length_bounds(filters)
    return least <= n_plies <= most


def _length(n_plies: int) -> Verdict:
    return Verdict("length", detail=f"{n_plies} plies")
