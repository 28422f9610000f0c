"""Whole games as records: `chess_seq`, the game as text, and `chess_sft`, a talk of which one side is trained."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rukh_assets.ingest.month import GAMES_FILE, open_games
from rukh_assets.records.chess.corpora import SEQ, SFT
from rukh_assets.records.chess.making import Progress, RecordFiles
from rukh_assets.records.chess.tokens import move_tokens, ratings_text
from rukh_loaders.formats import read_manifest
from rukh_loaders.tokenizers.vocabulary import RESULT_TOKENS

BATCH_GAMES = 10_000

WHITE, BLACK = "white", "black"
Side = Literal["winner", "white", "black"]

_WINNERS = {"1-0": WHITE, "0-1": BLACK}


class Game(NamedTuple):
    """What records tell of a game, by column of games.parquet."""

    game_id: int
    uci: str
    white_elo: int
    black_elo: int
    result: str

    @property
    def ratings(self) -> str:
        """Both ratings' tokens."""
        return ratings_text(self.white_elo, self.black_elo)


Line = Callable[[Game], str | None]
"""A game's record as a line of JSON, None for a game that none is made of."""


@dataclass(frozen=True)
class GameTexts:
    """`chess_seq`: `{"text", "game_id"}`, the text being the uci scheme's tokens from the ratings to the result."""

    games_folder: Path
    corpus: str = SEQ

    def describe(self) -> dict[str, Any]:
        """The games by their sha256."""
        return {"games": games_sha256(self.games_folder)}

    def write(self, files: RecordFiles, progress: Progress | None) -> dict[str, int]:
        """One record a game."""
        return write_games(self.games_folder, text_line, files, progress)


@dataclass(frozen=True)
class OneSide:
    """`chess_sft`: `{"messages", "game_id"}`, the ratings from `system`, the moves of `side` from `assistant`.

    The other side's moves are `user`'s. With `side="winner"` there is no record of a draw.
    """

    games_folder: Path
    side: Side = "winner"
    corpus: str = SFT

    def describe(self) -> dict[str, Any]:
        """The games by their sha256, and the side."""
        return {"games": games_sha256(self.games_folder), "side": self.side}

    def write(self, files: RecordFiles, progress: Progress | None) -> dict[str, int]:
        """One record a game that has the side."""
        return write_games(self.games_folder, talk_writer(self.side), files, progress)


def games_sha256(games_folder: Path) -> str:
    """The sha256 of a month's games.parquet, as its manifest says it."""
    return str(read_manifest(games_folder)["files"][GAMES_FILE]["sha256"])


def write_games(games_folder: Path, line: Line, files: RecordFiles, progress: Progress | None) -> dict[str, int]:
    """Write the record of each game in the games' order; count games read, and those that none is made of."""
    n_games = 0
    for games in read_games(games_folder):
        files.write(text for game in games if (text := line(game)) is not None)
        n_games += len(games)
        if progress:
            progress(n_games, files.n_records)
    return {"games": n_games, "games_without_a_record": n_games - files.n_records}


def read_games(games_folder: Path) -> Iterator[list[Game]]:
    """Yield a month's games, in order, at most `BATCH_GAMES` at a time."""
    _, file = open_games(games_folder)
    with file:
        for batch in file.iter_batches(BATCH_GAMES, columns=list(Game._fields)):
            columns = (batch[name].to_pylist() for name in Game._fields)
            yield [Game(*row) for row in zip(*columns, strict=True)]


def text_line(game: Game) -> str:
    """A record of `chess_seq`. No token needs an escape in JSON."""
    return f'{{"text": "{game.ratings} {game.uci} {RESULT_TOKENS[game.result]}", "game_id": {game.game_id}}}'


def talk_writer(side: Side) -> Line:
    """What makes records of `chess_sft`; the messages of all moves are spelt once."""
    of_user, of_assistant = ({move: _message(role, move) for move in move_tokens()} for role in ("user", "assistant"))

    def line(game: Game) -> str | None:
        trained = _WINNERS.get(game.result) if side == "winner" else side
        if trained is None:
            return None
        moves = game.uci.split(" ")
        white, black = (of_assistant, of_user) if trained == WHITE else (of_user, of_assistant)
        moves[0::2] = [white[move] for move in moves[0::2]]
        moves[1::2] = [black[move] for move in moves[1::2]]
        messages = ", ".join([_message("system", game.ratings), *moves])
        return f'{{"messages": [{messages}], "game_id": {game.game_id}}}'

    return line


def _message(role: str, content: str) -> str:
    return f'{{"role": "{role}", "content": "{content}"}}'
