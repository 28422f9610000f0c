"""Game ids of a whole column: those of hashlib."""

import hashlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rukh_assets.ingest.game_ids import game_id, game_ids


def expected(site: str) -> int:
    return int.from_bytes(hashlib.sha256(site.encode()).digest()[:8], "little", signed=True)


@settings(deadline=None)  # the first example may compile a kernel
@given(st.lists(st.text(max_size=150), max_size=20), st.integers(0, 20))
def test_ids_are_the_first_bytes_of_the_sha256_in_any_slice(sites: list[str], start: int) -> None:
    column = pa.array(sites, pa.string()).slice(start)
    assert game_ids(column).tolist() == [expected(site) for site in sites[start:]]


@pytest.mark.parametrize("length", [0, 1, 54, 55, 56, 63, 64, 65, 118, 119, 120, 128, 1_000, 100_000])
def test_texts_of_any_number_of_blocks_are_hashed(length: int) -> None:
    assert game_id("\u00e9" * length) == expected("\u00e9" * length)
    assert game_id("a" * length) == expected("a" * length)
