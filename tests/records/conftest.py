"""The toy tokenizers, opened."""

from collections.abc import Callable
from typing import Any

import pytest
from toy_tokenizer import write_toy_tokenizer

from rukh_loaders.records import RecordTokenizer

OpenToy = Callable[..., RecordTokenizer]


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> OpenToy:
    """Opens a variant of the toy tokenizer: `toy("T1")`, or with another template or more special tokens."""

    def open_toy(variant: str = "T1", **options: Any) -> RecordTokenizer:
        return RecordTokenizer.from_folder(write_toy_tokenizer(tmp_path_factory.mktemp("toy"), variant, **options))

    return open_toy


@pytest.fixture(scope="session")
def t1(toy: OpenToy) -> RecordTokenizer:
    return toy("T1")


@pytest.fixture(scope="session")
def t2(toy: OpenToy) -> RecordTokenizer:
    return toy("T2")


@pytest.fixture(scope="session")
def t3(toy: OpenToy) -> RecordTokenizer:
    return toy("T3")
