"""The plain-Python baselines give what the package gives, so that a ratio compares the same work."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks import baselines
from benchmarks.corpora import MONTH, NOTHING_FILTERED, Corpora, open_month
from benchmarks.stages import packing
from rukh_assets.encode import make_encoder
from rukh_assets.ingest.month import read_month
from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_assets.packing import pack_month
from rukh_assets.training import BPE_FILE
from rukh_loaders.formats import open_pack
from rukh_loaders.tokenizers.bpe import load_bpe

REPEATED = 60
HEAD_GAMES = 80


@pytest.fixture(scope="module")
def games(corpora: Corpora) -> Path:
    return corpora.games(REPEATED)


def ids_of_package(games: Path, scheme: str, bpe: Path | None = None) -> baselines.Ids:
    encoder = make_encoder(scheme, bpe)
    encoded = []
    for batch in pq.ParquetFile(games).iter_batches():
        ids, lengths = encoder.encode_batch(batch)
        encoded += [game.tolist() for game in np.split(ids, np.cumsum(lengths)[:-1])]
    return encoded


def test_the_plain_uci_loop_gives_the_ids_of_the_encoder(games: Path) -> None:
    assert baselines.uci_ids(games) == ids_of_package(games, "uci")


def test_the_plain_san_loop_gives_the_ids_of_the_encoder(games: Path) -> None:
    assert baselines.san_ids(games) == ids_of_package(games, "san")


def test_the_plain_bpe_loop_gives_the_ids_of_the_encoder(games: Path, corpora: Corpora) -> None:
    bpe = corpora.bpe() / BPE_FILE
    assert baselines.bpe_ids(games, load_bpe(bpe)) == ids_of_package(games, "bpe", bpe)


def test_plainly_saved_ids_are_the_files_of_a_pack(games: Path, tmp_path: Path) -> None:
    pack_month(games, make_encoder("uci"), tmp_path / "pack")
    assert baselines.save_ids(baselines.uci_ids(games), tmp_path) == open_pack(tmp_path / "pack").info.n_tokens
    for name in ("tokens.npy", "starts.npy"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "pack" / name).read_bytes()


@pytest.mark.parametrize("form", ["hf", "zst"])
def test_plainly_read_sample_games_are_the_rows_of_the_ingest(form: str, corpora: Corpora, tmp_path: Path) -> None:
    check_rows(form, corpora, "sample", REPEATED, tmp_path)


@pytest.mark.parametrize("form", ["hf", "zst"])
def test_plainly_read_real_games_are_the_rows_of_the_ingest(form: str, of_head: Corpora, tmp_path: Path) -> None:
    check_rows(form, of_head, "head", HEAD_GAMES, tmp_path)


def check_rows(form: str, corpora: Corpora, of: str, games: int, folder: Path) -> None:
    if form == "hf":
        raw = corpora.hf(games, of)
        rows = baselines.games_of_rows(baselines.hf_rows(raw), MONTH)
    else:
        raw = corpora.pgn_zst(games, of)
        rows = baselines.games_of_pgn_zst(raw, MONTH)
    read_month(MONTH, open_month(raw), NOTHING_FILTERED, folder / "month")
    baselines.write_games(rows, folder / "plain.parquet")
    of_package = pq.read_table(folder / "month" / "games.parquet", partitioning=None)
    assert of_package.num_rows > 0.9 * games
    assert pq.read_table(folder / "plain.parquet", schema=GAMES_SCHEMA).equals(of_package)


def test_ids_that_are_written_twice_are_the_tokens_of_the_pack(tmp_path: Path) -> None:
    pieces = [packing.framed_games(3), packing.framed_games(5)]
    ids = np.concatenate(pieces)
    packing.write_pack(pieces, tmp_path, packing.info_of(8))
    baselines.write_twice(pieces, tmp_path)
    pack = open_pack(tmp_path / "pack")
    pack.verify()
    assert np.array_equal(pack.tokens, ids)
    assert (tmp_path / "tokens.npy").read_bytes() == (tmp_path / "pack" / "tokens.npy").read_bytes()
    assert pack.manifest is not None
    assert baselines.hash_again(tmp_path / "tokens.npy") == pack.manifest["files"]["tokens.npy"]["sha256"]


def test_blindly_made_movetext_is_legal_and_the_same_for_a_seed() -> None:
    games = baselines.random_movetexts(3, seed=1)
    assert games == baselines.random_movetexts(3, seed=1)
    assert games != baselines.random_movetexts(3, seed=2)
    assert len(baselines.moves_of_movetext(games[0])) > 10
