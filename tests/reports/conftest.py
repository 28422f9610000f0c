"""Packs of the same games in the three schemes, and the tokenizer of the bpe one."""

import pytest
from corpora import random_games, write_games

from rukh_assets.encode import SCHEMES, make_encoder
from rukh_assets.packing import pack_month
from rukh_loaders.tokenizers.bpe import save_bpe, train_bpe


@pytest.fixture(scope="session")
def bpe():
    return train_bpe([game["uci"] for game in random_games(40)], vocab_size=300)


@pytest.fixture(scope="session")
def bpe_file(bpe, tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "bpe.json"
    save_bpe(bpe, path)
    return path


@pytest.fixture(scope="session")
def make_packs(bpe, tmp_path_factory):
    """The folders of the packs of some games, by scheme."""

    def make(games):
        folder = tmp_path_factory.mktemp("month")
        path = write_games(folder / "games.parquet", games)
        for scheme in SCHEMES:
            pack_month(path, make_encoder(scheme, bpe), folder / scheme)
        return {scheme: folder / scheme for scheme in SCHEMES}

    return make


@pytest.fixture(scope="session")
def packs(make_packs):
    """Those of forty random games."""
    return make_packs(random_games(40))
