"""A small tokenizer and the three encoders."""

import pytest
from corpora import random_games

from rukh_assets.encode import SCHEMES, make_encoder
from rukh_loaders.tokenizers.bpe import train_bpe


@pytest.fixture(scope="session")
def bpe():
    return train_bpe([game["uci"] for game in random_games(100)], vocab_size=400)


@pytest.fixture(scope="session", params=SCHEMES)
def encoder(request, bpe):
    return make_encoder(request.param, bpe)
