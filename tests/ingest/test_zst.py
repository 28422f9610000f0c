"""Zstandard files: all of their content in small pieces, however little they say it with, or an error."""

from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from peaks import peak_above_imports

from rukh_assets.errors import DamagedSourceError
from rukh_assets.ingest.zst import read_zst

BLOCK_BYTES = 1 << 17
WHOLE = st.sampled_from([b"", b"[Event ", b" ", bytes(range(256)) * 7])


def run_of(character: bytes, n_blocks: int) -> bytes:
    """A frame of 128 KiB of a character in each of its blocks, four bytes of file a block."""
    fields = [BLOCK_BYTES << 3 | 1 << 1 | (number == n_blocks - 1) for number in range(n_blocks)]
    blocks = [field.to_bytes(3, "little") + character for field in fields]
    return b"".join([bytes.fromhex("28b52ffd 00 38"), *blocks])


def test_a_small_file_of_two_gigabytes_of_blanks_is_read_in_small_pieces(tmp_path: Path) -> None:
    (tmp_path / "x.zst").write_bytes(run_of(b" ", 1 << 14))
    assert (tmp_path / "x.zst").stat().st_size < 70_000
    code = """
sizes = [len(piece) for piece in read_zst(Path(sys.argv[1]))]
assert sum(sizes) == 1 << 31
assert max(sizes) <= 1 << 25
"""
    assert peak_above_imports("from rukh_assets.ingest.zst import read_zst", code, tmp_path / "x.zst") < 150


@pytest.mark.parametrize("character", [b" ", b"x"])
def test_a_game_that_never_ends_is_read_in_a_small_part_of_its_memory(tmp_path: Path, character: bytes) -> None:
    (tmp_path / "2024-01.pgn.zst").write_bytes(run_of(character, 1 << 12))
    before = """
from rukh_assets.ingest.sources import open_source
def games(setting):
    return [game for batch in open_source(setting, "2024-01").batches() for game in batch["ended"].to_pylist()]
assert games(sys.argv[1].replace("2024-01.", "{year}-{month}.small.")) == [True]
"""
    (tmp_path / "2024-01.small.pgn.zst").write_bytes(zstandard.compress(b"1. e4 e5 1-0\n"))
    code = (
        f'assert games(sys.argv[1].replace("2024-01", "{{year}}-{{month}}")) == {[] if character == b" " else [False]}'
    )
    assert peak_above_imports(before, code, tmp_path / "2024-01.pgn.zst") < 350, "of 537 MB"


@settings(deadline=None)
@given(
    st.lists(st.tuples(WHOLE, st.integers(0, 300_000), st.integers(-5, 12), st.booleans(), st.booleans()), max_size=4)
)
def test_the_content_of_any_frames_comes_whole(tmp_path_factory, frames) -> None:
    path = tmp_path_factory.mktemp("frames") / "x.zst"
    contents = []
    with path.open("wb") as file:
        file.write(bytes.fromhex("5f2a4d18 02000000 0000"))
        for text, length, level, checksum, size in frames:
            contents.append((text * (length // max(len(text), 1) + 1))[:length])
            compressor = zstandard.ZstdCompressor(level, write_checksum=checksum, write_content_size=size)
            file.write(compressor.compress(contents[-1]))
    assert b"".join(read_zst(path)) == b"".join(contents)


def test_a_frame_cut_off_anywhere_near_the_end_of_a_block_fails_with_its_place(tmp_path: Path) -> None:
    first, second = zstandard.compress(b"one"), run_of(b"\n", 3)
    whole = first + second + zstandard.ZstdCompressor(write_checksum=True).compress(bytes(range(256)) * 1000)
    for end in [*range(len(first) + 1, len(first + second)), *range(len(first + second) + 1, len(whole))]:
        (tmp_path / "x.zst").write_bytes(whole[:end])
        start = len(first) if end < len(first + second) else len(first + second)
        with pytest.raises(DamagedSourceError, match=f"ends at byte {end}, inside .* starts at byte {start}$"):
            list(read_zst(tmp_path / "x.zst"))
