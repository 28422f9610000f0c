"""The BPE tokenizer: trained once, kept, and replaced only aloud."""

from pathlib import Path

import pytest
from lakes import lake, lake_tree, run_month, work_of

from rukh_assets.errors import TrainingGamesError
from rukh_assets.training import KEPT, tokenizer_of_month
from rukh_loaders.errors import RukhLoadersError
from rukh_loaders.formats import open_pack
from rukh_loaders.formats.manifest import read_manifest

BPE = ["games", "bpe/tokenizer", "bpe/shards", "bpe/pack"]


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
    assert work_of(again)["games"].startswith("none: ")

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


def test_a_training_month_without_games_names_the_months_that_have_some(tmp_path: Path) -> None:
    run_month("2025-01", tmp_path, select=["games"])
    games = {"2025-01": lake(tmp_path).games("2025-01")}
    with pytest.raises(TrainingGamesError, match=r"games of 2024-05.*one of: 2025-01"):
        tokenizer_of_month(
            tmp_path / "bpe", games, sample=True, training_month="2024-05", training_games=10, vocab_size=300
        )
    with pytest.raises(TrainingGamesError, match="one of: none yet"):
        tokenizer_of_month(tmp_path / "bpe", {}, sample=True, training_month=None, training_games=10, vocab_size=300)
    assert not (tmp_path / "bpe").exists()
