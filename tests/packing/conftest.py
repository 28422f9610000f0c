"""A small packed month."""

import pytest
from corpora import random_games, write_games

from rukh_assets.encode import make_encoder
from rukh_assets.packing import pack_shards, write_shards


@pytest.fixture
def month(tmp_path):
    """Sixty games in row groups of five, their shards and their pack, in the uci scheme."""
    games = write_games(tmp_path / "games" / "games.parquet", random_games(60), row_group_size=5)
    write_shards(games, make_encoder("uci"), tmp_path / "shards")
    pack_shards(tmp_path / "shards", games, tmp_path / "pack")
    return tmp_path
