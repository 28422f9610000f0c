import pytest
from board_games import FreshRandom


@pytest.fixture
def source() -> FreshRandom:
    return FreshRandom()
