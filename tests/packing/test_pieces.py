"""Row groups encoded in pieces by several workers: the same bytes and the same refusals as in one."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import bytes_below, random_games, write_games

from rukh_assets.encode import make_encoder
from rukh_assets.errors import UnknownMoveError
from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_assets.packing import pack_month, shards, write_shards
from rukh_assets.packing.games_file import open_games_file
from rukh_loaders.formats import ShardReader


@pytest.mark.parametrize("scheme", ["uci", "san"])
def test_bytes_are_the_same_with_any_number_of_workers_and_pieces_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    games = write_games(tmp_path / "games.parquet", random_games(60, 40), row_group_size=25)
    encoder = make_encoder(scheme)
    folders: list[dict[Path, bytes]] = []
    for workers, piece_games in ((1, 8192), (1, 7), (2, 7), (5, 1), (2, 25)):
        monkeypatch.setattr(shards, "PIECE_GAMES", piece_games)
        out = tmp_path / f"{workers}-{piece_games}"
        write_shards(games, encoder, out / "shards", workers=workers)
        pack_month(games, encoder, out / "pack", workers=workers)
        folders.append(bytes_below(out))
    assert len(folders[0]) > 10
    assert folders == folders[:1] * 5


@pytest.mark.parametrize("workers", [1, 2])
def test_a_refusal_names_the_first_bad_row_of_its_row_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(shards, "PIECE_GAMES", 4)
    games: list[dict[str, Any]] = [dict(game) for game in random_games(60, 40)]
    for row in (33, 34, 47):
        games[row]["uci"] = "e2e4 e9e5"
    path = write_games(tmp_path / "in" / "games.parquet", games, row_group_size=25)
    with pytest.raises(UnknownMoveError, match=r"games\.parquet, row group 1: row 8 \(.*\), ply 2: 'e9e5'"):
        write_shards(path, make_encoder("uci"), tmp_path / "out", workers=workers)
    assert [folder.name for folder in tmp_path.iterdir()] == ["in"]


def test_pieces_are_the_games_in_order_and_know_where_they_begin(tmp_path: Path) -> None:
    games = random_games(23)
    with open_games_file(write_games(tmp_path / "games.parquet", games, row_group_size=10)) as file:
        pieces = list(file.pieces(["uci", "game_id"], 4))
    places = [(piece.row_group, piece.first_row, piece.games.num_rows) for piece in pieces]
    assert places == [(0, 0, 4), (0, 4, 4), (0, 8, 2), (1, 0, 4), (1, 4, 4), (1, 8, 2), (2, 0, 3)]
    assert [piece.games.schema.names for piece in pieces] == [["uci", "game_id"]] * 7
    assert [uci for piece in pieces for uci in piece.games["uci"].to_pylist()] == [game["uci"] for game in games]


def test_a_row_group_without_games_is_a_shard_without_games(tmp_path: Path) -> None:
    path = tmp_path / "games.parquet"
    with pq.ParquetWriter(path, GAMES_SCHEMA) as writer:
        for games in (random_games(2), [], random_games(1)):
            writer.write_table(pa.Table.from_pylist(games, GAMES_SCHEMA))
    if pq.read_metadata(path).num_row_groups != 3:
        pytest.skip("this pyarrow writes no row group without games")
    manifest = write_shards(path, make_encoder("uci"), tmp_path / "shards")
    assert [shard["n_games"] for shard in manifest["shards"]] == [2, 0, 1]
    assert ShardReader(tmp_path / "shards" / "shard_0001").n_records("sequence") == 0
