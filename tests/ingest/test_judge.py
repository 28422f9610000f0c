"""Games judged with kernels and without: the same verdicts, words, moves and comments."""

import random
import re
import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import chess
import pyarrow as pa
import pytest
from corpora import random_games
from hypothesis import given, settings
from hypothesis import strategies as st
from months import EVERYTHING, MONTH, NO_KERNELS

from rukh_assets import board
from rukh_assets.board import DONE
from rukh_assets.ingest.comments import CommentCounts
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.judge import Judged, judge
from rukh_assets.ingest.pgn import PgnReader
from rukh_assets.ingest.raw import raw_batch
from rukh_assets.ingest.replay import KERNELS, Kernels
from rukh_assets.ingest.tables import PLACED_GAMES_SCHEMA

RESULTS = ("1-0", "0-1", "1/2-1/2")
COMMENTS = ["{ [%clk 0:03:00] }", "{ [%eval 0.17] [%clk 0:02:59] }", "{ [%eval #-3] }", "{ White offers draw }", "{}"]
PIECES = [
    "{",
    "}",
    ";",
    "\n",
    "$",
    "?",
    "!?",
    "1.",
    "...",
    "0-0",
    "O-O",
    "--",
    "0000",
    "@@@@",
    "N@f3",
    " 1-0",
    " *",
    "(",
]
PIECES += [
    " ",
    "e4",
    "Kg1",
    "e1h1",
    "1/",
    "\t",
    "\x1c",
    "\u00e9",
    "=Q",
    "+",
    "#",
    ",",
    "-",
    "2",
    "\\",
    ")",
    "[%clk",
    "]",
    "x",
]


@cache
def movetexts() -> list[str]:
    """Random legal games in SAN, some of their moves with comments, most with a result."""
    rng = random.Random(0)
    texts = []
    for game in random_games(24, max_plies=60):
        moves = [chess.Move.from_uci(uci) for uci in game["uci"].split(" ")]
        words = chess.Board().variation_san(moves).split(" ")
        kinds = rng.choice([COMMENTS[:1], COMMENTS[:3], COMMENTS, [""]])
        text = " ".join(f"{word} {rng.choice(kinds)}" if rng.random() < 0.5 else word for word in words)
        texts.append(f"{text} {rng.choice([*RESULTS, ''])}")
    return texts


def raw(rng: random.Random, texts: Sequence[str | None]) -> pa.RecordBatch:
    tags = {"white_elo": "1900", "black_elo": "1900", "time_control": "300+3", "termination": "Normal"}
    return raw_batch(
        [
            tags
            | {
                "site": str(number),
                "result": rng.choice([result for result in RESULTS if result in (text or "")] or RESULTS),
                "utc_date": rng.choice(["2024.01.02", "2024.01.03", "????.??.??", None]),
                "eco": rng.choice(["B20", "", "?", None]),
                "movetext": text,
                "ended": rng.choice([True] * 9 + [False, None]),
                "file": "x",
                "number": number,
            }
            for number, text in enumerate(texts)
        ]
    )


def damaged(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        begin = rng.randrange(len(text) + 1)
        text = text[:begin] + rng.choice([rng.choice(PIECES), ""]) + text[begin + rng.choice([0, 0, 1, 2, 5]) :]
    return text


def outcome(judged: Judged, max_kinds: int = 3) -> dict[str, Any]:
    comments = CommentCounts(max_kinds)
    comments.merge(judged.comments)
    games = judged.games.to_pylist()
    return judged._asdict() | {
        "reasons": judged.reasons.tolist(),
        "rows": judged.rows.tolist(),
        "games": games,
        "comments": [comments.as_dict(), judged.comments.as_dict()],
    }


def check(rng: random.Random, texts: list[str]) -> None:
    batch = raw(rng, texts)
    filters = rng.choice([EVERYTHING, Filters(), Filters(min_plies=30, max_plies=40)])
    expected = outcome(judge(batch, MONTH, filters, NO_KERNELS))
    assert outcome(judge(batch, MONTH, filters)) == expected


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**64))
def test_damaged_movetexts_are_judged_as_by_the_readable_path(seed: int) -> None:
    rng = random.Random(seed)
    check(rng, [damaged(rng, text) for text in rng.choices(movetexts(), k=8)])


@pytest.mark.long
def test_20000_damaged_movetexts_are_judged_as_by_the_readable_path(shared_data: Path) -> None:
    seed = secrets.randbits(64)
    print(f"seed {seed}")
    head = PgnReader([(shared_data / "lichess-2021-10-head.pgn").read_bytes()], "x")
    real = [text for batch in head.batches() for text in batch["movetext"].to_pylist()]
    for number in range(500):
        rng = random.Random(f"{seed} {number}")
        check(rng, [damaged(rng, text) for text in rng.choices(real, k=30) + rng.choices(movetexts(), k=10)])


@pytest.mark.parametrize("text", ["", " ", None, "1-0", "*", "1. e4 (1. d4) e5 1-0", "1. e4 ; x\ne5", "1. e4 {\u00e9}"])
@pytest.mark.parametrize("ended", [True, False, None])
def test_unusual_movetexts_are_judged_as_by_the_readable_path(text: str | None, ended: bool | None) -> None:
    batch = raw(random.Random(0), [text, "1. d4 d5 1-0"])
    batch = batch.set_column(batch.schema.get_field_index("ended"), "ended", pa.array([ended, None], pa.bool_()))
    for filters in (EVERYTHING, Filters()):
        assert outcome(judge(batch, MONTH, filters)) == outcome(judge(batch, MONTH, filters, NO_KERNELS))


def test_a_batch_without_games_that_pass_their_tags_is_judged() -> None:
    batch = raw(random.Random(0), ["1. e4 e5 1-0"])
    for some in (batch, batch.slice(0, 0)):
        judged = judge(some, MONTH, Filters(min_elo=2000))
        assert (judged.games.num_rows, judged.reasons.size) == (0, some.num_rows)


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=8), st.integers(0, 6))
def test_counts_of_batches_added_are_those_of_all_comments_one_by_one(batches: list[list[str]], kinds: int) -> None:
    counts, added = CommentCounts(kinds), CommentCounts(kinds)
    for batch in batches:
        counts.add(batch)
        own = CommentCounts(max_kinds=None)
        own.add(batch)
        added.merge(own)
    assert added.as_dict() == counts.as_dict()


@pytest.mark.parametrize("order", [["[%clk 1]", "[%eval 1]", "text"], ["text", "[%eval 1]", "[%clk 1]"]])
@pytest.mark.parametrize("together", [True, False])
def test_the_kinds_that_have_their_own_count_are_the_first_ones_met(order: list[str], together: bool) -> None:
    comments = [f"{{ {' '.join(order)} }}"] if together else [f"{{ {text} }}" for text in order]
    batch = raw(random.Random(0), [f"1. e4 {comment} 1-0" for comment in comments * 2])
    for max_kinds in range(4):
        expected = outcome(judge(batch, MONTH, EVERYTHING, NO_KERNELS), max_kinds)
        assert outcome(judge(batch, MONTH, EVERYTHING), max_kinds) == expected
        assert len(expected["comments"][0]) == min(max_kinds + 1, 3)


def placed(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    games = [row | {"month": MONTH, "file": "x", "number": number} for number, row in enumerate(rows)]
    return pa.RecordBatch.from_pylist(games, PLACED_GAMES_SCHEMA)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**64))
def test_damaged_games_of_the_games_form_are_judged_as_by_the_readable_path(seed: int) -> None:
    rng = random.Random(seed)
    rows = [dict(game) for game in rng.choices(random_games(24, max_plies=60), k=8)]
    for row in rows:
        uci = damaged(rng, row["uci"])
        changes = [{"uci": uci, "n_plies": len(uci.split(" "))}, {"uci": None}, {"n_plies": None}, {"n_plies": 1}]
        row |= rng.choice([{}, *changes, {"game_id": None}, {"eco": None}, {"uci": "", "n_plies": 0}])
    batch = placed(rows)
    filters = rng.choice([EVERYTHING, Filters(min_elo=None, min_base_seconds=None)])
    assert outcome(judge(batch, MONTH, filters)) == outcome(judge(batch, MONTH, filters, NO_KERNELS))


def test_kernels_take_every_game_of_the_real_head(shared_data: Path) -> None:
    (batch,) = PgnReader([(shared_data / "lichess-2021-10-head.pgn").read_bytes()], "x").batches()
    taken = []

    def movetext_to_uci(movetext: pa.Array) -> board.UciGames:
        games = KERNELS.movetext_to_uci(movetext)
        taken.append((games.verdicts == DONE).all())
        return games

    judged = judge(batch, MONTH, EVERYTHING, Kernels(movetext_to_uci))
    assert taken == [True]
    assert judged.games.num_rows > 900
    assert re.fullmatch("[a-h1-8qrbn ]+", " ".join(judged.games["uci"].to_pylist()))
