"""What is not encoded and not packed, and that nothing is written then."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import batch_of, bytes_below, change_manifest, game_of, random_games, write_games

from rukh_assets.encode import make_encoder
from rukh_assets.errors import (
    DamagedSourceError,
    GameColumnsError,
    GamesChangedError,
    IllegalMoveError,
    NullValueError,
    ShardsRefusedError,
    TimeControlError,
)
from rukh_assets.packing import pack_month, pack_shards, write_shards
from rukh_loaders.errors import ManifestError, PackError, ShardError, VocabularyTooLargeError
from rukh_loaders.formats import hash_file, read_manifest, write_manifest
from rukh_loaders.tokenizers import Vocabulary


def test_a_vocabulary_beyond_65536_ids_is_refused_before_anything_is_written(tmp_path):
    class Large:
        def __init__(self, size):
            self.vocabulary = Vocabulary("uci", tuple(map(str, range(size))), "none")

        def encode_batch(self, batch, first_row=0):
            return np.array([1, 2], np.uint16), np.array([2], np.int64)

    games = write_games(tmp_path / "in" / "games.parquet", random_games(1))
    for write in (write_shards, pack_month):
        with pytest.raises(VocabularyTooLargeError, match="65537 ids does not fit uint16, allowed: at most 65536"):
            write(games, Large(65_537), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert write_shards(games, Large(65_536), tmp_path / "out")["vocab_size"] == 65_536


def test_a_game_without_ids_fails_the_shards_with_file_row_group_and_row(tmp_path):
    games = [*random_games(7), game_of("e2e4 e7e5 e1g1")]
    path = write_games(tmp_path / "in" / "games.parquet", games, row_group_size=5)
    with pytest.raises(IllegalMoveError, match=r"in/games\.parquet, row group 1: row 2 \(.*\), ply 3: illegal uci"):
        pack_month(path, make_encoder("san"), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"time_control": "3m"}, TimeControlError, r"in/games\.parquet, row 7: time_control '3m'"),
        ({"n_plies": None}, NullValueError, r"in/games\.parquet, row 7: n_plies is null"),
    ],
)
def test_a_column_that_cannot_be_read_fails_the_pack_with_file_and_row(tmp_path, changes, error, message):
    games = [*random_games(7), game_of("e2e4") | changes]
    path = write_games(tmp_path / "in" / "games.parquet", games, row_group_size=5)
    with pytest.raises(error, match=message):
        pack_month(path, make_encoder("uci"), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_games_file_without_a_column_or_with_another_type_is_refused(tmp_path):
    table = pa.Table.from_batches([batch_of(random_games(3))])
    pq.write_table(table.drop_columns(["result"]), tmp_path / "missing.parquet")
    texts = pa.array(["strong"] * 3)
    pq.write_table(table.set_column(3, "white_elo", texts), tmp_path / "texts.parquet")
    with pytest.raises(GameColumnsError, match=r"columns \['result'\] are missing"):
        write_shards(tmp_path / "missing.parquet", make_encoder("uci"), tmp_path / "out")
    with pytest.raises(GameColumnsError, match=r"texts\.parquet, row group 0: .*strong"):
        write_shards(tmp_path / "texts.parquet", make_encoder("uci"), tmp_path / "out")


def test_a_games_file_that_is_no_parquet_or_has_a_broken_page_is_refused_with_its_name(tmp_path):
    (tmp_path / "text.parquet").write_text("not parquet")
    with pytest.raises(DamagedSourceError, match=r"text\.parquet: "):
        write_shards(tmp_path / "text.parquet", make_encoder("uci"), tmp_path / "out")
    games = write_games(tmp_path / "games.parquet", random_games(40))
    data = bytearray(games.read_bytes())
    data[400:900] = bytes(500)
    games.write_bytes(data)
    with pytest.raises(DamagedSourceError, match=r"games\.parquet, row group 0: "):
        write_shards(games, make_encoder("uci"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_shards_without_a_manifest_are_not_packed(month):
    (month / "shards" / "manifest.json").unlink()
    before = bytes_below(month / "pack")
    with pytest.raises(ManifestError, match=r"shards/manifest\.json: cannot be read"):
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "pack")
    assert bytes_below(month / "pack") == before


def test_a_shard_with_one_changed_id_is_refused_with_both_hashes(month):
    path = month / "shards" / "shard_0003" / "sequence.bin"
    data = bytearray(path.read_bytes())
    data[6] ^= 1
    path.write_bytes(data)
    recorded = read_manifest(month / "shards")["files"]["shard_0003/sequence.bin"]["sha256"]
    with pytest.raises(ManifestError) as refusal:
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "pack")
    assert recorded in str(refusal.value)
    assert hash_file(path)["sha256"] in str(refusal.value)


def test_a_shortened_shard_is_refused_with_both_sizes(month):
    path = month / "shards" / "shard_0003" / "sequence.bin"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(ManifestError, match=f"has {size - 2} bytes, its manifest says {size}"):
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "pack")


def test_a_shard_too_many_or_too_few_is_refused(month):
    (month / "shards" / "shard_0012").mkdir()
    (month / "shards" / "shard_0012" / "meta.json").write_text("{}\n")
    with pytest.raises(ShardsRefusedError, match=r"lists 12 shards, the folder has 13; .*\['shard_0012'\]"):
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "pack")
    (month / "shards" / "shard_0012" / "meta.json").unlink()
    (month / "shards" / "shard_0004" / "meta.json").unlink()
    with pytest.raises(ManifestError, match=r"shard_0004/meta\.json: is missing"):
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "pack")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_games": 61}, ShardsRefusedError, "n_games is 61, that of the games file is 60"),
        ({"n_tokens": 7}, ShardsRefusedError, "n_tokens is 7, the sum over its shards is"),
        ({"format_version": 2}, ShardsRefusedError, "format_version is 2, this code's is 1"),
        ({"code_version": 0}, ShardsRefusedError, "code_version is 0, this code's is"),
        ({"vocab_size": 3}, PackError, "allowed: 0 to 2"),
        ({"vocab_size": 65_537}, VocabularyTooLargeError, "at most 65536"),
    ],
)
def test_a_manifest_that_says_something_else_than_its_shards_is_refused(month, changes, error, message):
    change_manifest(month / "shards", **changes)
    with pytest.raises(error, match=message):
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "new")
    assert not (month / "new").exists()


def test_a_manifest_that_lacks_what_a_pack_needs_is_refused(month):
    write_manifest(month / "shards", {"files": {}})
    with pytest.raises(ShardsRefusedError, match=r"its manifest lacks .*'vocab_hash'"):
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "new")


def test_a_shard_without_offsets_is_refused(month):
    folder = month / "shards" / "shard_0000"
    meta = json.loads((folder / "meta.json").read_text())
    del meta["sequence"]["offsets"]
    (folder / "meta.json").write_text(json.dumps(meta))
    files = read_manifest(month / "shards")["files"] | {"shard_0000/meta.json": hash_file(folder / "meta.json")}
    change_manifest(month / "shards", files=files)
    with pytest.raises((ShardsRefusedError, ShardError), match="offsets"):
        pack_shards(month / "shards", month / "games" / "games.parquet", month / "new")


def test_another_games_file_than_the_shards_were_made_from_is_refused_with_both_hashes(month):
    games = month / "games" / "games.parquet"
    old = hash_file(games)["sha256"]
    write_games(games, [*random_games(59), game_of("e2e4")], row_group_size=5)
    with pytest.raises(GamesChangedError) as refusal:
        pack_shards(month / "shards", games, month / "pack")
    assert old in str(refusal.value)
    assert hash_file(games)["sha256"] in str(refusal.value)


def test_a_games_file_other_than_the_manifest_beside_it_lists_is_refused(month):
    games = month / "games" / "games.parquet"
    write_manifest(games.parent, {"files": {"games.parquet": {"bytes": 7, "sha256": "0" * 64}}})
    with pytest.raises(GamesChangedError, match=r"the manifest beside it says .*'bytes': 7"):
        write_shards(games, make_encoder("uci"), month / "new")
    write_manifest(games.parent, {"files": {"games.parquet": hash_file(games)}})
    assert write_shards(games, make_encoder("uci"), month / "new") == read_manifest(month / "shards")
