"""A month's games to shards and a pack: the bytes, the order, and what is refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import batch_of, bytes_below, change_manifest, pgn_games, random_games, write_games

from rukh_assets.encode import SCHEMES, make_encoder
from rukh_assets.encode.san_text import uci_to_san
from rukh_assets.packing import pack_month, pack_shards, standing_pack, standing_shards, write_shards
from rukh_loaders.formats import (
    COLUMNS,
    ShardReader,
    digest,
    hash_file,
    list_shards,
    open_pack,
    read_manifest,
    verify_files,
)
from rukh_loaders.tokenizers import SanCharTokenizer, UciTokenizer
from rukh_loaders.tokenizers.bpe import encode, train_bpe

UCI, SAN = UciTokenizer(), SanCharTokenizer()


@pytest.fixture(scope="module")
def bpe():
    return train_bpe([game["uci"] for game in random_games(60)], vocab_size=300)


def arrays_below(folder):
    return {name: data for name, data in bytes_below(folder).items() if name.suffix == ".npy"}


def naive_pack(folder, scheme, games, bpe):
    """What np.save gives for the games as the single-game tokenizers encode them."""
    encode_game = {
        "uci": lambda game: UCI.encode_game(game["uci"], game["white_elo"], game["black_elo"], game["result"]),
        "san": lambda game: SAN.encode(f"{uci_to_san(game['uci'])} {game['result']}"),
        "bpe": lambda game: encode(bpe, game["uci"], game["result"]),
    }[scheme]
    encoded = [encode_game(game) for game in games]
    folder.mkdir()
    np.save(folder / "tokens.npy", np.array([id_ for game in encoded for id_ in game], dtype=np.uint16))
    np.save(folder / "starts.npy", np.cumsum([0, *map(len, encoded)])[:-1].astype(np.int64))
    return folder


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("source", ["real", "random"])
def test_the_bytes_are_those_of_np_save_of_the_games_one_after_the_other(tmp_path, request, bpe, scheme, source):
    if source == "real":
        real = request.getfixturevalue("shared_data") / "lichess-2021-10-head.pgn"
        games = list(pgn_games(real)[:200])
    else:
        games = random_games(60)
    path = write_games(tmp_path / "games.parquet", games, row_group_size=17)
    info = pack_month(path, make_encoder(scheme, bpe), tmp_path / "pack")
    naive = naive_pack(tmp_path / "naive", scheme, games, bpe)
    for name in ("tokens.npy", "starts.npy"):
        assert (tmp_path / "pack" / name).read_bytes() == (naive / name).read_bytes()
    pack = open_pack(tmp_path / "pack")
    pack.verify()
    assert info == pack.info
    assert (info.n_games, info.n_tokens, info.scheme, info.source) == (
        len(games),
        pack.tokens.size,
        scheme,
        "games.parquet",
    )
    assert info.vocab_hash == make_encoder(scheme, bpe).vocabulary.vocab_hash


def test_row_i_of_the_games_is_game_i_of_the_pack_and_value_i_of_its_columns(month):
    pack, games = open_pack(month / "pack"), random_games(60)
    assert set(pack.columns) == set(COLUMNS)
    for i, game in enumerate(games):
        assert UCI.decode(pack.game(i).tolist())[3:-2] == game["uci"].split()
        assert pack.columns["game_id"][i] == game["game_id"]
        assert pack.columns["n_plies"][i] == game["n_plies"]


def test_meta_json_has_its_six_keys_and_the_manifest_the_rest(month):
    meta = (month / "pack" / "meta.json").read_text()
    assert list(json.loads(meta)) == ["n_games", "n_tokens", "scheme", "vocab_size", "vocab_hash", "source"]
    assert meta == json.dumps(json.loads(meta), indent=2) + "\n"
    manifest = read_manifest(month / "pack")
    verify_files(month / "pack", manifest)
    assert set(manifest["files"]) == {
        "tokens.npy",
        "starts.npy",
        "meta.json",
        *(f"columns/{name}.npy" for name in COLUMNS),
    }
    assert manifest["months"] == ["2021-10"]
    assert manifest["vocab_fingerprint"] == UCI.vocabulary.vocab_fingerprint
    assert manifest["games"] == {"n_games": 60, "sha256": hash_file(month / "games" / "games.parquet")["sha256"]}
    assert set(manifest["libraries"]) == {"chess", "numba", "numpy", "pyarrow", "tokenizers"}


def test_each_row_group_becomes_one_shard_in_order_beyond_ten(month):
    manifest = read_manifest(month / "shards")
    shards = list_shards(month / "shards")
    assert [path.name for path in shards] == [shard["name"] for shard in manifest["shards"]]
    assert [path.name for path in shards] == [f"shard_{number:04d}" for number in range(12)]
    assert {shard["n_games"] for shard in manifest["shards"]} == {5}
    stream = np.concatenate([ShardReader(path).tensor("sequence").values for path in shards])
    np.testing.assert_array_equal(stream, open_pack(month / "pack").tokens)
    verify_files(month / "shards", manifest)
    assert set(manifest["files"]) == {
        f"{path.name}/{name}" for path in shards for name in ("sequence.bin", "meta.json")
    }


@pytest.mark.parametrize("workers", [1, 3])
def test_a_pack_is_the_same_bytes_whatever_number_of_workers_reads_its_shards(month, tmp_path, workers):
    games = month / "games" / "games.parquet"
    pack_shards(month / "shards", games, tmp_path / "again", workers=workers)
    assert bytes_below(tmp_path / "again") == bytes_below(month / "pack")


def test_shards_are_joined_by_number_not_by_name_beyond_ten_thousand(tmp_path, monkeypatch):
    """shard_10000 comes after shard_9999, although its name sorts before."""
    monkeypatch.setattr("rukh_assets.packing.shards.shard_name", lambda number: f"shard_{number + 9998}")
    games = random_games(4, max_plies=12)
    path = write_games(tmp_path / "games.parquet", games, row_group_size=1)
    write_shards(path, make_encoder("uci"), tmp_path / "shards")
    pack_shards(tmp_path / "shards", path, tmp_path / "pack")
    pack = open_pack(tmp_path / "pack")
    assert [UCI.decode(pack.game(i).tolist())[3:-2] for i in range(4)] == [game["uci"].split() for game in games]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_same_games_give_the_same_bytes_in_one_call_or_two(tmp_path, bpe, scheme):
    games = write_games(tmp_path / "games.parquet", random_games(30), row_group_size=7)
    for name in ("one", "other"):
        write_shards(games, make_encoder(scheme, bpe), tmp_path / f"shards-{name}")
        pack_shards(tmp_path / f"shards-{name}", games, tmp_path / f"pack-{name}")
    pack_month(games, make_encoder(scheme, bpe), tmp_path / "pack-month")
    assert bytes_below(tmp_path / "shards-one") == bytes_below(tmp_path / "shards-other")
    assert bytes_below(tmp_path / "pack-one") == bytes_below(tmp_path / "pack-other")
    assert bytes_below(tmp_path / "pack-one") == bytes_below(tmp_path / "pack-month")


def test_the_row_groups_of_the_games_do_not_change_the_arrays_of_the_pack(tmp_path):
    packs = []
    for size in (1, 13, 100):
        games = write_games(tmp_path / f"{size}" / "games.parquet", random_games(30), row_group_size=size)
        pack_month(games, make_encoder("uci"), tmp_path / f"pack-{size}")
        packs.append(arrays_below(tmp_path / f"pack-{size}"))
    assert packs[0] == packs[1] == packs[2]


def test_a_games_file_without_games_gives_a_pack_without_games(tmp_path):
    games = write_games(tmp_path / "games.parquet", [])
    info = pack_month(games, make_encoder("uci"), tmp_path / "pack")
    assert (info.n_games, info.n_tokens) == (0, 0)
    open_pack(tmp_path / "pack").verify()


def test_large_string_and_wider_integers_are_cast_on_reading(tmp_path):
    batch = batch_of(random_games(20))
    table = pa.Table.from_batches([batch])
    wide = {pa.string(): pa.large_string(), pa.int16(): pa.int64()}
    table = table.cast(pa.schema([(field.name, wide.get(field.type, field.type)) for field in table.schema]))
    (tmp_path / "wide").mkdir()
    pq.write_table(table, tmp_path / "wide" / "games.parquet", row_group_size=6)
    narrow = write_games(tmp_path / "narrow" / "games.parquet", random_games(20), row_group_size=6)
    for name, path in (("wide", tmp_path / "wide" / "games.parquet"), ("narrow", narrow)):
        pack_month(path, make_encoder("uci"), tmp_path / f"pack-{name}")
    assert arrays_below(tmp_path / "pack-wide") == arrays_below(tmp_path / "pack-narrow")


def test_progress_counts_the_games_row_group_by_row_group(tmp_path):
    games = write_games(tmp_path / "games.parquet", random_games(12), row_group_size=5)
    counts = []
    write_shards(games, make_encoder("uci"), tmp_path / "shards", progress=counts.append)
    assert counts == [5, 10, 12]


# What stands is not made again


def test_what_stands_is_recognised_until_games_vocabulary_or_files_change(month):
    games, shards, pack = month / "games" / "games.parquet", month / "shards", month / "pack"
    assert standing_shards(games, make_encoder("uci"), shards) == read_manifest(shards)
    assert standing_pack(shards, games, pack) == read_manifest(pack)
    assert standing_shards(games, make_encoder("san"), shards) is None
    assert standing_shards(games, make_encoder("uci"), month / "nowhere") is None
    assert standing_pack(shards, games, month / "nowhere") is None
    assert standing_pack(month / "nowhere", games, pack) is None
    write_games(games, random_games(59), row_group_size=5)
    assert standing_shards(games, make_encoder("uci"), shards) is None
    assert standing_pack(shards, games, pack) is None


def test_a_pack_does_not_stand_once_its_shards_are_others_or_a_file_of_it_is_gone(month):
    games, shards, pack = month / "games" / "games.parquet", month / "shards", month / "pack"
    (pack / "columns" / "eco.npy").rename(month / "eco.npy")
    assert standing_pack(shards, games, pack) is None
    (month / "eco.npy").rename(pack / "columns" / "eco.npy")
    assert standing_pack(shards, games, pack) is not None
    change_manifest(shards, data_version=digest("other bytes"))
    assert standing_pack(shards, games, pack) is None
