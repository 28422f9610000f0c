"""A PGN file read strictly: whatever leaves a doubt fails, where a month of millions would count a reject."""

import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import chess.pgn

from rukh_assets.errors import FixtureGameError, MovetextError, NotLegalError
from rukh_assets.ingest.movetext import moves_to_uci, parse_movetext
from rukh_assets.ingest.pgn import PgnReader
from rukh_assets.ingest.schema import MAX_INT16, RESULTS


class StrictGame(NamedTuple):
    """One finished, rated game: `site` is the text of its Site tag, `uci` its moves with one space between."""

    site: str
    white_elo: int
    black_elo: int
    result: str
    uci: str


def read_strictly(path: Path) -> list[StrictGame]:
    """Read every game of a PGN file, twice: as the months are read, and by python-chess.

    Raises `FixtureGameError`, with the game's number (from 0), Site and ply, for: bytes that are not UTF-8; a Site that
    is missing, `?` or there twice; another start or variant; an Elo that is not digits; a result that is none of the
    three or not that of the movetext; text that is no movetext; an illegal move or a null move; no move; an error that
    python-chess notes; and moves or a number of games in which the two readers differ.
    """
    data = path.read_bytes()
    reader = PgnReader([data], path.name)
    rows = [row for batch in reader.batches() for row in batch.to_pylist()]
    if reader.undecodable_bytes:
        raise FixtureGameError(f"{path}: {reader.undecodable_bytes} bytes are not UTF-8; none is allowed")
    if not rows:
        raise FixtureGameError(f"{path}: no game; at least one is needed")
    games = [_strict_game(row, _place(path, number, row)) for number, row in enumerate(rows)]
    site, times = Counter(game.site for game in games).most_common(1)[0]
    if times > 1:
        raise FixtureGameError(f"{path}: {times} games have the Site {site!a}; each has its own")
    _compare(games, _read_by_python_chess(path, data.decode("utf-8-sig")), path)
    return games


def _place(path: Path, number: int, row: Mapping[str, Any]) -> str:
    return f"{path}: game {number} (Site {row['site']!a})"


def _strict_game(row: Mapping[str, Any], place: str) -> StrictGame:
    if row["site"] in (None, "", "?"):
        raise FixtureGameError(f"{place}: the Site tag is missing or unknown; it is the game's id")
    for tag, allowed in (("variant", (None, "Standard")), ("fen", (None,)), ("setup", (None,))):
        if row[tag] not in allowed:
            raise FixtureGameError(f"{place}: {tag} is {row[tag]!a}; allowed is standard chess from the normal start")
    if row["result"] not in RESULTS:
        raise FixtureGameError(f"{place}: Result is {row['result']!a}; allowed are {', '.join(RESULTS)}")
    moves = _moves(row, place)
    return StrictGame(row["site"], _elo(row, "white", place), _elo(row, "black", place), row["result"], " ".join(moves))


def _moves(row: Mapping[str, Any], place: str) -> list[str]:
    try:
        movetext = parse_movetext(row["movetext"])
        moves = moves_to_uci(movetext.sans)
    except MovetextError as error:
        raise FixtureGameError(f"{place}: {error}") from error
    except NotLegalError as error:
        raise FixtureGameError(f"{place}, ply {error.ply}: {error}") from error
    if movetext.result != row["result"]:
        raise FixtureGameError(f"{place}: Result is {row['result']!a}, the movetext ends in {movetext.result!a}")
    if not moves:
        raise FixtureGameError(f"{place}: no move; at least one is needed")
    return moves


def _elo(row: Mapping[str, Any], side: str, place: str) -> int:
    text = row[f"{side}_elo"]
    if text is None or not (text.isascii() and text.isdigit()) or int(text) > MAX_INT16:
        raise FixtureGameError(f"{place}: {side.capitalize()}Elo is {text!a}; allowed are digits, at most {MAX_INT16}")
    return int(text)


def _read_by_python_chess(path: Path, text: str) -> list[tuple[str, str]]:
    """Site and moves of each game; python-chess shortens a bad one and notes the error aside, so that is looked at."""
    games: list[tuple[str, str]] = []
    stream = io.StringIO(text)
    while (game := chess.pgn.read_game(stream)) is not None:
        site = game.headers.get("Site", "?")
        if game.errors:
            raise FixtureGameError(f"{path}: game {len(games)} (Site {site!a}): {game.errors[0]}")
        games.append((site, " ".join(move.uci() for move in game.mainline_moves())))
    return games


def _compare(games: list[StrictGame], others: list[tuple[str, str]], path: Path) -> None:
    if len(games) != len(others):
        raise FixtureGameError(f"{path}: {len(games)} games, of which python-chess reads {len(others)}")
    for number, (game, other) in enumerate(zip(games, others, strict=True)):
        if (game.site, game.uci) != other:
            raise FixtureGameError(
                f"{path}: game {number} (Site {game.site!a}): read as {game.uci!a}, by python-chess as {other!a}"
            )
