"""An encoder on several workers: the ids and the refusals of the encoder."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from corpora import batch_of, bytes_below, random_games, write_games

from rukh_assets.encode import make_encoder
from rukh_assets.encode.spread import SpreadEncoder
from rukh_assets.errors import GameRefusedError, UnknownMoveError
from rukh_assets.packing import pack_month, write_shards
from rukh_assets.workers import Workers


@pytest.mark.parametrize("scheme", ["uci", "san"])
@pytest.mark.parametrize("games", [0, 1, 2, 7, 60])
def test_ids_and_lengths_are_those_of_the_encoder(scheme: str, games: int) -> None:
    batch = batch_of(random_games(60, 40)[:games])
    encoder = make_encoder(scheme)
    ids, lengths = encoder.encode_batch(batch)
    for count in (1, 2, 5):
        with Workers(count) as workers:
            spread = SpreadEncoder(encoder, workers)
            found, found_lengths = spread.encode_batch(batch)
        assert (found.tolist(), found_lengths.tolist()) == (ids.tolist(), lengths.tolist())
        assert (found.dtype, found_lengths.dtype) == (ids.dtype, lengths.dtype)
        assert spread.vocabulary == encoder.vocabulary


def test_a_refusal_names_the_first_bad_row_of_the_whole_batch() -> None:
    games: list[dict[str, Any]] = [dict(game) for game in random_games(60, 40)]
    for row in (33, 47):
        games[row]["uci"] = "e2e4 e9e5"
    batch = batch_of(games)
    encoder = make_encoder("uci")
    with pytest.raises(UnknownMoveError) as expected:
        encoder.encode_batch(batch)
    assert "row 33 " in str(expected.value)
    with Workers(2) as workers, pytest.raises(GameRefusedError) as refusal:
        SpreadEncoder(encoder, workers).encode_batch(batch)
    assert (type(refusal.value), str(refusal.value)) == (UnknownMoveError, str(expected.value))


@pytest.mark.parametrize("scheme", ["uci", "san"])
def test_shards_and_packs_have_the_same_bytes_with_any_number_of_workers(tmp_path: Path, scheme: str) -> None:
    games = write_games(tmp_path / "games.parquet", random_games(60, 40), row_group_size=25)
    encoder = make_encoder(scheme)
    folders: list[dict[Path, bytes]] = []
    for workers in (1, 2, 5):
        write_shards(games, encoder, tmp_path / str(workers) / "shards", workers=workers)
        pack_month(games, encoder, tmp_path / str(workers) / "pack", workers=workers)
        folders.append(bytes_below(tmp_path / str(workers)))
    assert folders == folders[:1] * 3


def test_a_batch_of_slices_of_another_table_is_encoded_as_it_is() -> None:
    batch = batch_of(random_games(60, 40)).slice(11, 30)
    batch = batch.set_column(1, "uci", batch["uci"].cast(pa.large_string()))
    encoder = make_encoder("uci")
    with Workers(2) as workers:
        found, _ = SpreadEncoder(encoder, workers).encode_batch(batch)
    assert found.tolist() == encoder.encode_batch(batch)[0].tolist()
