"""PGN text split by kernels: the games of the readable reader, whatever the text and wherever it is cut."""

import random
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from months import pgn

from rukh_assets.ingest import pgn as reader
from rukh_assets.ingest import pgn_splitter as splitter
from rukh_assets.ingest.pgn import PgnReader
from rukh_assets.ingest.pgn_splitter import PgnSplitter

GAMES = [
    pgn("1. e4 { [%clk 0:03:00] } e5 { [%clk 0:03:00] } 2. Nf3 1-0", Site="a"),
    pgn("1. d4\nd5 (1... Nf6)\n2. c4 *", Site="b", Result="*"),
    pgn("1. e4 {a\nb} e5 ; x\n1/2-1/2", Site="c"),
    pgn("1. e4 e5 1-0 { resigns }", Site="d", White="J\u00f6rg", WhiteTitle="GM"),
    pgn(r"0-1", Site="e", White=r"a \"b\" [c]"),
    pgn("1. e4 e5", Site="f"),
    '[Event "tags alone"]\n\n',
    '[Event "tags alone"]\n[Site "g"]\n',
    "1. e4 e5 1-0\n\n",
    "{ between }\n",
]
PIECES = [
    "\n",
    "\n\n",
    "[",
    "]",
    '"',
    "\\",
    "{",
    "}",
    "(",
    ")",
    ";",
    "%",
    "*",
    "1-0",
    "0-1",
    " 1/2-1/2\n",
    "\r",
    "\r\n",
]
PIECES += [
    '[Event "x"]\n',
    '[Result "*"]\n',
    '[FEN "x"]',
    '\n[Event "',
    '\n\n[White "a"]\n',
    '"]',
    '["',
    '[\u00e9 "x"]',
]
PIECES += ["\ufeff", "\x00", "\u2028", "\u00a0", "\x1c", "\x85", "e4", " ", "\t", "{\n", "\n}", "\n%x\n", "1" * 30]


def rows(games: PgnReader | PgnSplitter) -> tuple[list[dict[str, Any]], int]:
    return [row for batch in games.batches() for row in batch.to_pylist()], games.undecodable_bytes


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def damaged(rng: random.Random, games: list[bytes]) -> bytes:
    """Some games, edited at random."""
    between = rng.choice([b"", b"\n", b"\n\n"])
    data = rng.choice([b"", b"", b"\xef\xbb\xbf", b"% x\n"]) + between.join(rng.choices(games, k=rng.randrange(7)))
    for _ in range(rng.choice([0, 1, 1, 2, 5, 12])):
        begin = rng.randrange(len(data) + 1)
        piece = rng.choice([rng.choice(PIECES).encode(), rng.choice(PIECES).encode(), rng.randbytes(2), b""])
        data = data[:begin] + piece + data[begin + rng.choice([0, 0, 1, 2, 10]) :]
    data = data.replace(b"\n", rng.choice([b"\n"] * 8 + [b"\r\n", b"\r"]))
    return data[: rng.choice([len(data)] * 8 + [rng.randrange(len(data) + 1)])]


def check(rng: random.Random, data: bytes) -> None:
    """Both readers give the same games, for a text that is split in chunks and batches of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitter, "CHUNK_BYTES", rng.choice([1, 7, 100, 1000, 3000, 1 << 20]))
        patch.setattr(reader, "BATCH_GAMES", rng.choice([1, 2, 3, 10_000]))
        patch.setattr(reader, "BATCH_CHARACTERS", rng.choice([1, 500, 1 << 26]))
        patch.setattr(reader, "MAX_GAME_CHARACTERS", rng.choice([700, 1 << 24, 1 << 24]))
        blocks = cut(data, rng.choice([1, 2, 7, 64, 1000, 1 << 20]))
        assert rows(PgnSplitter(blocks, "x.pgn")) == rows(PgnReader([data], "x.pgn")), data


@settings(deadline=None, max_examples=300)  # the first example may compile a kernel
@given(st.integers(0, 2**64))
def test_games_of_a_damaged_text_are_those_of_the_readable_reader(seed: int) -> None:
    rng = random.Random(seed)
    check(rng, damaged(rng, [game.encode() for game in GAMES]))


@pytest.mark.long
def test_games_of_20000_damaged_texts_are_those_of_the_readable_reader(shared_data: Path) -> None:
    seed = secrets.randbits(64)
    print(f"seed {seed}")
    real = (shared_data / "lichess-2021-10-head.pgn").read_bytes().split(b"[Event ")[1:]
    games = [game.encode() for game in GAMES] + [b"[Event " + game for game in real if len(game) < 1500]
    for number in range(20_000):
        rng = random.Random(f"{seed} {number}")
        check(rng, damaged(rng, games))


def test_no_game_of_the_real_head_is_left_to_the_readable_reader(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (shared_data / "lichess-2021-10-head.pgn").read_bytes()
    expected = rows(PgnReader([data], "x"))
    monkeypatch.delattr(PgnSplitter, "_read_game")
    for size in (50_000, 1 << 23):
        monkeypatch.setattr(splitter, "CHUNK_BYTES", size)
        assert rows(PgnSplitter(cut(data, 10_000), "x")) == expected


@pytest.mark.parametrize(
    "text",
    [
        pgn("1. e4 e5\n2. d4 1-0", Site="a"),
        pgn("1-0", Event="", ECO="\u00e9[{;%", Opening="Gr\u00fcnfeld"),
        pgn("1. e4 e5 1-0").replace("\n\n", "\n"),
        '\n\n[Site "a"]\n[Site "b"]\n\n\n1. e4 *\n\n\n',
        pgn("  1. e4 {a [b] c} }  *  "),
    ],
)
def test_ordinary_layouts_are_not_left_to_the_readable_reader(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (text + "\n" + pgn("1. d4 d5 1-0")).encode()
    expected = rows(PgnReader([data], "x"))
    monkeypatch.delattr(PgnSplitter, "_read_game")
    assert rows(PgnSplitter([data], "x")) == expected


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("size", [1, 30, 1 << 20])
def test_any_game_between_others_is_split_as_by_the_readable_reader(
    game: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splitter, "CHUNK_BYTES", size)
    for before, after in ((GAMES[0] + "\n", "\n" + GAMES[0]), ("", ""), (game, game)):
        data = (before + game + after).encode()
        assert rows(PgnSplitter([data], "x")) == rows(PgnReader([data], "x"))


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n\n", b"\r", b"\xef\xbb\xbf", b"\xef\xbb", b"\xff", b"[", b"\xc3"])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_texts_without_a_game_are_read_as_by_the_readable_reader(data: bytes, size: int) -> None:
    assert rows(PgnSplitter(cut(data, size), "x")) == rows(PgnReader([data], "x"))


def test_bytes_that_are_no_utf8_are_counted_wherever_the_blocks_are_cut() -> None:
    data = (pgn("1. e4 {caf\u00e9} e5 1-0", White="J\u00f6rg\u20ac\U0001f600") * 2).encode()
    for broken in (data, data.replace(b"\xc3", b""), data.replace(b"\x82", b"\r\n"), data[:-5] + b"\xf0\x9f"):
        expected = rows(PgnReader([broken], "x"))
        for size in range(1, 12):
            assert rows(PgnSplitter(cut(broken, size), "x")) == expected


def test_batches_are_of_a_chunk_or_less_and_never_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    data = "\n".join(pgn("1. e4 e5 1-0", Site=str(number)) for number in range(100)).encode()
    monkeypatch.setattr(splitter, "CHUNK_BYTES", len(data) // 10)
    sizes = [batch.num_rows for batch in PgnSplitter(cut(data, 500), "x").batches()]
    assert sum(sizes) == 100
    assert 8 <= len(sizes) <= 12
    assert 0 < min(sizes) <= max(sizes) <= 13


def test_a_batch_of_games_that_the_kernel_leaves_ends_at_its_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitter, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(reader, "BATCH_CHARACTERS", 10_000)
    data = "\n".join(pgn("1. e4 ; " + "x" * 3000 + "\n1-0", Site=str(number)) for number in range(40)).encode()
    sizes = [batch.num_rows for batch in PgnSplitter(cut(data, 500), "x").batches()]
    assert (sum(sizes), max(sizes)) == (40, 4)


def test_text_is_not_held_longer_than_its_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitter, "CHUNK_BYTES", 10_000)
    game = (pgn("1. e4 { " + "x" * 500 + " } 1-0") + "\n").encode()
    long_game = (pgn("1. e4\n" + ("e5 { x }\n" * 20_000) + "1-0") + "\n").encode()
    held: list[int] = []

    def blocks() -> Iterable[bytes]:
        for block in cut(game * 100 + b"\n" * 100_000 + long_game + game * 100, 1000):
            held.append(len(games._text))
            yield block

    games = PgnSplitter(blocks(), "x")
    assert sum(batch.num_rows for batch in games.batches()) == 201
    assert max(held) < 21_000
