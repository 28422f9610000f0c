"""The BPE tokenizer: trained once, kept, and replaced only aloud."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster._core.definitions.data_version import StaleStatus
from dagster._utils.test.data_versions import get_stale_status_resolver
from lakes import lake, lake_tree, run_month, work_of, write_pgn
from tokenizers import Tokenizer

from rukh_assets.definitions import defs
from rukh_assets.errors import GamesChangedError
from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_assets.training import KEPT, TrainingGames, tokenizer_of_month
from rukh_loaders.errors import RukhLoadersError
from rukh_loaders.formats import open_pack
from rukh_loaders.formats.manifest import describe_files, read_manifest, write_manifest
from rukh_loaders.tokenizers.bpe import load_bpe

BPE = ["games", "bpe/tokenizer", "bpe/shards", "bpe/pack"]


def train(folder: Path, games: Path, **settings: Any) -> dict[str, Any]:
    """The manifest of a tokenizer trained on games that stand."""
    standing = TrainingGames.standing("2024-01", games)
    manifest, work = tokenizer_of_month(folder, standing, training_month=None, **settings)
    assert work == "built"
    return manifest


def training(**changes: object) -> dict[str, object]:
    return {"bpe__tokenizer": {"vocab_size": 300} | changes}


def test_a_later_month_keeps_the_tokenizer_and_its_pack_shares_the_vocabulary(tmp_path: Path) -> None:
    run_month("2025-01", tmp_path, select=BPE)
    second = run_month("2025-02", tmp_path, select=BPE)
    assert work_of(second)["bpe/tokenizer"] == KEPT
    hashes = {open_pack(lake(tmp_path).pack("bpe", month)).info.vocab_hash for month in ("2025-01", "2025-02")}
    assert hashes == {read_manifest(lake(tmp_path).bpe)["vocab_hash"]}


def test_changed_settings_or_games_never_retrain_in_silence(tmp_path: Path) -> None:
    run_month("2025-01", tmp_path, select=BPE)
    before = lake_tree(tmp_path)
    kept = run_month("2025-01", tmp_path, select=BPE, ops=training(vocab_size=400, training_games=50))
    assert "vocab_size was 300 and is now 400" in work_of(kept)["bpe/tokenizer"]
    assert "retrain: true" in work_of(kept)["bpe/tokenizer"]
    assert lake_tree(tmp_path) == before
    other_games = run_month("2025-01", tmp_path, select=BPE, ops=training(), sample_seed=7)
    assert "the games of 2025-01 are other ones" in work_of(other_games)["bpe/tokenizer"]


def test_retrain_replaces_it_and_the_bpe_packs_are_built_again(tmp_path: Path) -> None:
    first = run_month("2025-01", tmp_path, select=BPE)
    again = run_month("2025-01", tmp_path, select=BPE, ops=training(vocab_size=400, retrain=True))
    assert work_of(again) == dict.fromkeys(BPE, "built") | {"games": work_of(again)["games"]}
    assert work_of(again)["games"].startswith("unchanged: ")

    def version(result: object) -> object:
        for event in result.get_asset_materialization_events():  # type: ignore[attr-defined]
            if event.asset_key.to_user_string() == "bpe/tokenizer":
                return event.materialization.tags["dagster/data_version"]
        return None

    assert version(first) != version(again)


def test_a_pack_of_the_replaced_tokenizer_is_refused(tmp_path: Path) -> None:
    run_month("2025-01", tmp_path, select=BPE)
    run_month("2025-01", tmp_path, select=["bpe/tokenizer"], ops=training(vocab_size=400, retrain=True))
    hash_now = read_manifest(lake(tmp_path).bpe)["vocab_hash"]
    with pytest.raises(RukhLoadersError, match=hash_now):
        open_pack(lake(tmp_path).pack("bpe", "2025-01"), vocab_hash=hash_now)


def test_a_tokenizer_of_sample_games_gives_way_to_a_real_month(shared_data: Path, tmp_path: Path) -> None:
    run_month("2025-01", tmp_path, select=BPE)
    source = str(shared_data / "hf/data/year={year}/month={month}/*.parquet")
    real = run_month("2021-10", tmp_path, select=BPE, source=source)
    assert "the one of sample games was replaced" in work_of(real)["bpe/tokenizer"]
    back = run_month("2025-01", tmp_path, select=["bpe/tokenizer"])
    assert work_of(back)["bpe/tokenizer"] == KEPT
    assert read_manifest(lake(tmp_path).bpe)["settings"]["month"] == "2021-10"


def test_the_tokenizer_is_the_same_whichever_month_is_made_first(tmp_path: Path) -> None:
    for home, order in ((tmp_path / "a", ["2025-01", "2025-03"]), (tmp_path / "b", ["2025-03", "2025-01"])):
        for month in order:
            run_month(month, home, select=BPE)
    assert lake_tree(tmp_path / "a") == lake_tree(tmp_path / "b")
    assert read_manifest(lake(tmp_path / "b").bpe)["settings"]["month"] == "2025-01"


def test_a_training_month_that_does_not_stand_is_made_and_then_found_standing(tmp_path: Path) -> None:
    run_month("2025-01", tmp_path, select=BPE, ops=training(training_month="2025-02"))
    assert lake(tmp_path).games_file("2025-02").is_file()
    assert work_of(run_month("2025-02", tmp_path, select=["games"]))["games"].startswith("unchanged: ")


def test_without_a_training_month_it_is_the_first_that_the_source_has(tmp_path: Path) -> None:
    for month in ("2024-03", "2024-05"):
        write_pgn(tmp_path / f"{month}.pgn", month, games=30)
    run_month("2024-05", tmp_path / "lake", select=BPE, source=str(tmp_path / "{year}-{month}.pgn"))
    assert read_manifest(lake(tmp_path / "lake").bpe)["settings"]["month"] == "2024-03"


def test_a_training_month_that_the_source_does_not_have_is_named(tmp_path: Path) -> None:
    write_pgn(tmp_path / "2024-03.pgn", "2024-03", games=30)
    source = str(tmp_path / "{year}-{month}.pgn")
    config = training(training_month="2024-04")
    result = run_month("2024-03", tmp_path / "lake", select=BPE, source=source, ops=config, check=False)
    assert not result.success
    failure = str(result.failure_data_for_node("bpe__tokenizer"))
    assert "trains on the games of 2024-04 (RUKH_BPE_MONTH, or `training_month`): 2024-04: no file matches" in failure
    assert not lake(tmp_path / "lake").bpe.exists()


def test_another_tokenizer_makes_the_bpe_shards_and_packs_stale_and_no_others(tmp_path: Path) -> None:
    with dg.instance_for_test() as instance:
        run_month("2025-01", tmp_path, instance=instance)
        assert stale(instance) == set()
        retrain = training(retrain=True, vocab_size=301)
        run_month("2025-01", tmp_path, instance=instance, select=["bpe/tokenizer"], ops=retrain)
        assert stale(instance) == {"bpe/shards", "bpe/pack"}
        assert work_of(run_month("2025-01", tmp_path, instance=instance))["bpe/pack"] == "built"
        assert stale(instance) == set()


def stale(instance: dg.DagsterInstance) -> set[str]:
    """Assets whose partition 2025-01 Dagster calls stale."""
    resolver = get_stale_status_resolver(instance, list(defs.assets or []))
    keys = [dg.AssetKey([scheme, kind]) for scheme in ("uci", "san", "bpe") for kind in ("shards", "pack")]
    return {key.to_user_string() for key in keys if resolver.get_status(key, "2025-01") == StaleStatus.STALE}


def test_a_tokenizer_file_changed_at_the_same_size_is_refused_wherever_it_is_read(tmp_path: Path) -> None:
    run_month("2025-01", tmp_path)
    file = lake(tmp_path).bpe / "bpe.json"
    described = json.loads(file.read_bytes())
    tokens = {token_id: token for token, token_id in described["model"]["vocab"].items()}
    described["model"]["vocab"] |= {tokens[100]: 101, tokens[101]: 100}
    file.write_text(Tokenizer.from_str(json.dumps(described)).to_str())
    for asset in ("bpe/tokenizer", "bpe/shards", "tokenizer_stats", "parity_fixture"):
        result = run_month("2025-01", tmp_path, select=[asset], check=False)
        assert not result.success
        assert "bpe.json: has sha256" in str(result.failure_data_for_node(asset.replace("/", "__")))


def test_games_changed_under_their_manifest_train_no_tokenizer(tmp_path: Path) -> None:
    run_month("2025-01", tmp_path, select=["games"])
    damaged = bytearray(lake(tmp_path).games_file("2025-01").read_bytes())
    damaged[1292] ^= 1
    lake(tmp_path).games_file("2025-01").write_bytes(damaged)
    with pytest.raises(GamesChangedError, match=r"games.parquet: is .* the manifest beside it says"):
        train(tmp_path / "bpe", lake(tmp_path).games("2025-01"), training_games=10, vocab_size=300)


def test_training_games_above_the_default_of_200_000_are_all_read(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    common = {"n_plies": 2, "white_elo": 1800, "black_elo": 1800, "result": "1-0", "time_control": "180+0"}
    common |= {"utc_date": None, "eco": "?", "month": "2024-01"}
    uci = ["e2e4 e7e5"] * 200_000 + ["a2a3 h7h6"] * 20_000
    columns = {"game_id": range(len(uci)), "uci": uci} | {name: [value] * len(uci) for name, value in common.items()}
    arrays = [pa.array(columns[field.name], field.type) for field in GAMES_SCHEMA]
    pq.write_table(pa.Table.from_arrays(arrays, schema=GAMES_SCHEMA), folder / "games.parquet")
    write_manifest(folder, {"source": {"form": "pgn"}, "files": describe_files(folder)})
    manifest = train(tmp_path / "bpe", folder, training_games=300_000, vocab_size=64)
    assert manifest["training"]["games"] == 220_000
    assert "a2a3h7h6" in load_bpe(tmp_path / "bpe" / "bpe.json").get_vocab()
