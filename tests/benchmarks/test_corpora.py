"""Corpora hold as many games as they say, none twice, and are made once."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.corpora import MONTH, Corpora, open_month
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.month import read_month
from rukh_loaders.formats import verify_files
from rukh_loaders.formats.manifest import read_manifest


def counts(raw: Path, folder: Path, filters: Filters | None = None) -> tuple[int, int]:
    manifest = read_month(MONTH, open_month(raw), filters or Filters(), folder)
    return manifest["counts"]["read"], manifest["counts"]["kept"]


@pytest.mark.parametrize("games", [10, 24, 60])
def test_the_default_filters_keep_every_game_of_a_sample_corpus_repeated_or_not(
    games: int, corpora: Corpora, tmp_path: Path
) -> None:
    assert counts(corpora.hf(games), tmp_path / "hf") == (games, games)
    assert counts(corpora.pgn_zst(games), tmp_path / "zst") == (games, games)
    assert pq.read_metadata(corpora.games(games)).num_rows == games


def test_both_raw_forms_of_the_sample_give_the_same_games(corpora: Corpora, tmp_path: Path) -> None:
    for form, raw in (("hf", corpora.hf(60)), ("zst", corpora.pgn_zst(60))):
        read_month(MONTH, open_month(raw), Filters(), tmp_path / form)
    assert (tmp_path / "hf" / "games.parquet").read_bytes() == (tmp_path / "zst" / "games.parquet").read_bytes()


def test_a_corpus_is_made_once_and_a_smaller_one_is_its_beginning(corpora: Corpora) -> None:
    larger = corpora.hf(60)
    made = larger.stat().st_mtime_ns
    assert corpora.hf(60) == larger
    assert larger.stat().st_mtime_ns == made
    assert pq.read_table(corpora.hf(10), partitioning=None).equals(
        pq.read_table(larger, partitioning=None).slice(0, 10)
    )


def test_sets_of_another_size_do_not_share_what_they_repeat(corpora: Corpora) -> None:
    other = Corpora(corpora.folder, distinct=12)
    assert other.hf(60) != corpora.hf(60)
    assert other.hf(10) == corpora.hf(10)


def test_the_tokenizer_of_the_corpora_is_whole(corpora: Corpora) -> None:
    verify_files(corpora.bpe(), read_manifest(corpora.bpe()))
