"""The real games that every tokenizer must give back as they were."""

from pathlib import Path

import pytest
from corpora import Game, pgn_games


@pytest.fixture(scope="session")
def real_games(shared_data: Path) -> tuple[Game, ...]:
    return pgn_games(shared_data / "lichess-2021-10-head.pgn")
