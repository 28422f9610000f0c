"""Corpora of a few games."""

from pathlib import Path

import pytest

from benchmarks.corpora import Corpora

GAMES = 24


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Corpora:
    return Corpora(tmp_path_factory.mktemp("corpora"), distinct=GAMES)


@pytest.fixture
def of_head(shared_data: Path, corpora: Corpora) -> Corpora:
    """The same, for tests that need the real games too."""
    assert shared_data == corpora.head
    return corpora
