"""Fixtures that several test files share."""

from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def project() -> Path:
    return PROJECT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real games beside the project; a test that needs it skips where it is absent."""
    folder = PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real games (shared/data beside the project) are not on this machine")
    return folder
