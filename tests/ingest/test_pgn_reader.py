"""Where one game of a PGN text ends and the next one starts."""

import random
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from months import BEFORE, EVERYTHING, MONTH, judged, pgn, read

from rukh_assets.ingest import pgn as reader
from rukh_assets.ingest.comments import CommentCounts
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.judge import judge
from rukh_assets.ingest.month import Tally
from rukh_assets.ingest.pgn import PgnGame, PgnReader, add_line
from rukh_assets.ingest.pgn_splitter import PgnSplitter


def games_of(text: str | bytes, block: int = 1 << 16) -> list[dict[str, Any]]:
    data = text.encode() if isinstance(text, str) else text
    blocks = [data[start : start + block] for start in range(0, len(data), block)]
    readers = (PgnReader(blocks, "x.pgn"), PgnSplitter(blocks, "x.pgn"))
    games, others = ([row for batch in one.batches() for row in batch.to_pylist()] for one in readers)
    assert games == others
    return games


def outline(text: str | bytes) -> list[tuple[str | None, str, bool]]:
    return [(game["site"], " ".join(game["movetext"].split()), game["ended"]) for game in games_of(text)]


def test_games_have_their_tags_text_place_and_end() -> None:
    first, second = games_of(pgn("1. e4\ne5 1-0", Site="a") + "\n" + pgn("1. d4 d5", Site="b", ECO=None))
    assert first["movetext"].split() == ["1.", "e4", "e5", "1-0"]
    assert (first["site"], first["number"], first["file"], first["ended"]) == ("a", 0, "x.pgn", True)
    assert (second["eco"], second["number"], second["ended"]) == (None, 1, False)
    assert (first["white_elo"], first["utc_date"], first["fen"]) == ("1900", "2024.01.02", None)


def test_a_game_of_tags_alone_is_a_game_and_leaves_the_next_one_intact() -> None:  # row 13
    text = '[Event "x"]\n[Site "a"]\n\n' + pgn("1. e4 e5 1-0", Site="b")
    assert outline(text) == [("a", "", False), ("b", "1. e4 e5 1-0", True)]


def test_a_game_of_tags_alone_without_a_blank_line_leaves_the_next_one_intact() -> None:  # row 13
    text = '[Event "x"]\n[Site "a"]\n' + pgn("1. e4 e5 1-0", Site="b")
    assert outline(text) == [("a", "", False), ("b", "1. e4 e5 1-0", True)]


def test_tags_start_a_new_game_without_a_blank_line() -> None:  # row 13
    text = pgn("1. e4 e5 1-0", Site="a") + pgn("1. d4 d5 1-0", Site="b")
    assert outline(text) == [("a", "1. e4 e5 1-0", True), ("b", "1. d4 d5 1-0", True)]


def test_a_game_without_its_result_does_not_swallow_the_next_one() -> None:  # row 13
    text = pgn("1. e4 e5", Site="a") + pgn("1. d4 d5 1-0", Site="b")
    assert outline(text) == [("a", "1. e4 e5", False), ("b", "1. d4 d5 1-0", True)]


def test_movetext_without_tags_after_an_ended_game_is_a_game_of_its_own() -> None:
    text = pgn("1. e4 e5 1-0", Site="a") + "\n1. d4 d5 1-0\n\n" + pgn("1. c4 c5 1-0", Site="b")
    assert [game[0] for game in outline(text)] == ["a", None, "b"]
    assert outline(text)[0][1:] == ("1. e4 e5 1-0", True)


def test_blank_lines_inside_movetext_do_not_end_it() -> None:
    assert outline(pgn("1. e4\n\ne5 {a\n\nb}\n\n1-0", Site="a")) == [("a", "1. e4 e5 {a b} 1-0", True)]


def test_comments_between_games_are_no_games() -> None:
    text = f"; a file\n\n{{of games}}\n\n{pgn('1. e4 1-0', Site='a')}\n; the end\n\n{{}}\n"
    assert [game[0] for game in outline(text)] == ["a"]


def test_percent_lines_are_skipped_outside_comments_only() -> None:
    text = pgn('1. e4\n%[Event "no"]\ne5 {\n% kept } 1-0', Site="a").replace("[White ", "% x\n[White ")
    assert outline(text) == [("a", "1. e4 e5 { % kept } 1-0", True)]


def test_tags_inside_a_comment_are_text() -> None:
    text = pgn('1. e4 {\n[White "x"]\n[%clk 0:01]\n} e5 1-0', Site="a")
    assert outline(text) == [("a", '1. e4 { [White "x"] [%clk 0:01] } e5 1-0', True)]


def test_braces_after_a_semicolon_open_no_comment() -> None:
    text = pgn("1. e4 ; { never opened\ne5 1-0", Site="a") + pgn("1. d4 1-0", Site="b")
    assert [(site, ended) for site, _, ended in outline(text)] == [("a", True), ("b", True)]


def test_a_comment_that_never_ends_costs_one_game_only(tmp_path: Path) -> None:
    text = pgn("1. e4 { never closed e5 1-0", Site="a") + "\n" + pgn("1. d4 d5 1-0", Site="b")
    assert outline(text)[1] == ("b", "1. d4 d5 1-0", True)
    assert judged(tmp_path, pgn("1. e4 { never closed e5 1-0"))["reason"] == "truncated"


def test_comments_after_the_result_belong_to_the_game() -> None:
    assert [ended for *_, ended in outline(pgn("1. e4 e5 1-0 {resigned} ; so\n"))] == [True]
    assert [ended for *_, ended in outline(pgn("1. e4 e5 {1-0}"))] == [False]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (r'[White "a \"b\" [c] \\ {d} ; e"]', r'a "b" [c] \ {d} ; e'),
        ('[White "a "b" c"]', 'a "b" c'),
        ('[White "never closed', "never closed"),
        ('  [ White  "spaced" ]  ', "spaced"),
        ('[Black "x"] [White "same line"]', "same line"),
        ('[White "]"]', "]"),
        ('[White ""]', ""),
    ],
)
def test_tag_values_are_opaque(line: str, value: str) -> None:  # row 17
    (game,) = games_of(pgn("1. e4 e5 1-0", White=None).replace("[Black ", line + "\n[Black ", 1))
    assert game["white"] == value
    assert game["movetext"].strip() == "1. e4 e5 1-0"


def test_tags_named_like_moves_are_tags(tmp_path: Path) -> None:  # row 17
    game = judged(tmp_path, pgn("1. e4 e5 1-0", Nf3="1. d4", RR="0-1", Annotator='\\"]{'))
    assert game["uci"] == "e2e4 e7e5"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block", [1, 3, 1 << 16])
def test_line_ends_and_a_byte_order_mark_change_nothing(line_end: str, block: int) -> None:  # row 18
    text = pgn("1. e4 {caf\u00e9\ntwo} e5 ; x\n2. d4 1-0", Site="a") + "\n" + pgn("1. d4 1-0", Site="b")
    data = ("\ufeff" + text.replace("\n", line_end)).encode()
    assert games_of(data, block) == games_of(text)


def test_undecodable_bytes_are_counted_and_cost_no_game(tmp_path: Path) -> None:  # row 18
    text = pgn("1. e4 {caf\u00e9} e5 1-0", White="J\u00f6rg", Site="a")
    month = read(tmp_path, text.encode("latin-1") + b"\n" + pgn("1. d4 1-0", White="J\u00f6rg").encode())
    assert month.moves == ["e2e4 e7e5", "d2d4"]
    assert month.manifest["counts"]["undecodable_bytes"] == 2
    assert month.manifest["counts"]["comments"] == {"caf\ufffd": 1}


@pytest.mark.parametrize(
    "tail",
    [
        "1. e4 { " + "\\" * 2**20,
        "{" * 2**20,
        "{ " * 2**19,
        "{}" * 2**19,
        ";" * 2**20,
        '\n\n[White "' + "\\" * 2**20,
        '\n\n[White "' + '\\"' * 2**19,
        '\n\n[White "' + "a\\" * 2**19,
        "\n\n" + '[White "x"]' * 2**16,
        "\n\n" + '[White "' * 2**17,
        "\n\n[" + " " * 2**20 + "White",
        "\n\n[White" + " " * 2**20,
        '\n\n[White "x"' + " " * 2**20,
        "\n{\n" * 2**18,
        " " * 2**20,
    ],
)
def test_a_megabyte_of_anything_takes_linear_time_and_harms_no_other_game(tail: str) -> None:  # row 19
    begin = time.process_time()
    games = games_of(pgn("1. e4 e5 1-0", Site="a") + "\n" + pgn(tail, Site="b") + "\n" + pgn("1. d4 1-0", Site="c"))
    assert time.process_time() - begin < 5  # a quadratic path would take hours
    sites = [game["site"] for game in games]
    assert (sites[0], sites[-1]) == ("a", "c")


def test_a_file_that_ends_inside_the_last_game_loses_that_game_alone(tmp_path: Path) -> None:  # row 20
    whole = pgn("1. e4 e5 1-0", Site="a") + "\n"
    last = pgn("1. d4 { [%clk 0:01:00] } d5 2. c4 1-0", Site="b")
    for end in range(len(last.rstrip()) - 1, 0, -7):
        month = read(tmp_path, whole + last[:end])
        assert month.moves == ["e2e4 e7e5"]
        assert sum(month.rejected.values()) == 1


def test_a_movetext_that_is_cut_off_is_rejected_as_truncated(tmp_path: Path) -> None:  # row 20
    month = read(tmp_path, pgn("1. e4 e5 1-0") + "\n" + pgn("1. d4 d5 2. c", Site="b"))
    assert month.rejected == {"truncated": 1}
    assert month.rejects[0]["site"] == "b"


def test_a_batch_ends_at_its_number_of_games_or_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(pgn("1. e4 e5 1-0", Site=str(number)) for number in range(7))
    monkeypatch.setattr(reader, "BATCH_GAMES", 3)
    for one in (PgnReader, PgnSplitter):
        assert [batch.num_rows for batch in one([text.encode()], "x").batches()] == [3, 3, 1]
    monkeypatch.setattr(reader, "BATCH_CHARACTERS", len(text) // 7 + 20)
    for one in (PgnReader, PgnSplitter):
        assert [batch.num_rows for batch in one([text.encode()], "x").batches()] == [2, 2, 2, 1]
    assert [game["number"] for game in games_of(text)] == list(range(7))


def test_a_game_longer_than_any_real_one_is_dropped_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_GAME_CHARACTERS", 1000)
    text = pgn("1. e4 {" + "x" * 3000 + "}\ne5 1-0", Site="a") + "\n" + pgn("1. d4 1-0", Site="b")
    (_, kept, ended), second = outline(text)
    assert (len(kept) < 1000, ended) == (True, False)
    assert second == ("b", "1. d4 1-0", True)


def test_tags_longer_than_any_real_game_are_dropped_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_GAME_CHARACTERS", 1000)
    text = pgn("1. e4 1-0", Site="a", White="x" * 3000) + "\n" + pgn("1. d4 1-0", Site="b")
    games = [(game["site"], game["white"], game["ended"]) for game in games_of(text)]
    assert games == [("a", None, False), ("b", "white", True)]


def test_tags_that_are_no_columns_are_not_held() -> None:
    game = PgnGame()
    tracemalloc.start()
    try:
        for number in range(20_000):
            add_line(game, f'[Tag{number} "{number}"]')
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert game.is_game
    assert held < 100_000


def test_text_that_is_dropped_before_the_first_tag_does_not_swallow_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_GAME_CHARACTERS", 1000)
    text = "x" * 3000 + "\n" + pgn("1. d4 1-0", Site="b")
    assert outline(text) == [(None, "", False), ("b", "1. d4 1-0", True)]


def ended(text: str) -> bool:
    """Character by character: whether the last word outside comments is a result."""
    closing = outside = ""
    for character in text:
        if closing:
            closing = "" if character == closing else closing
        elif character in "{;}":
            closing = {"{": "}", ";": "\n", "}": ""}[character]
            outside += " "
        else:
            outside += character
    return closing != "}" and outside.split()[-1:] in (["1-0"], ["0-1"], ["1/2-1/2"], ["*"])


@given(st.lists(st.sampled_from(["{", "}", ";", "\n", " ", "1-0", "*", "e4", "0-1", "("]), max_size=12))
def test_a_game_has_ended_where_its_last_word_outside_comments_is_a_result(pieces: list[str]) -> None:
    text = "e4" + "".join(pieces)
    game = PgnGame()
    for line in text.split("\n"):
        add_line(game, line)
    assert game.ended == ended(text)


FRAGMENTS = ["\n", "\n\n", "[", "]", '"', "\\", "{", "}", "(", ")", ";", "%", "*", "1-0", "0-1", '[Event "x"]\n', "\r"]
FRAGMENTS += ['[Result "*"]\n', '[FEN "x"]', "\ufeff", "\x00", "\u2028", "e4", "--", "N@f3", "1.", " ", "1" * 30, "$"]


@given(st.integers(0, 2**32), st.integers(0, 12))
def test_every_game_of_any_text_is_kept_or_has_one_reason(seed: int, edits: int) -> None:
    rng = random.Random(seed)
    texts = [
        pgn("1. e4 e5 1-0", Site="a"),
        pgn("1. d4 { [%clk 0:01:00] } d5 (1... Nf6) 2. c4 0-1", Site="b", Result="0-1"),
        pgn("1. e4 e5 2. Ke3 1-0", Site="c"),
        pgn("*", Result="*", Site=BEFORE[0]),
        pgn("1. f3?? e5 2. g4!? Qh4# 0-1", Result="0-1", WhiteElo=rng.choice(["?", "1500", "", "99999"])),
    ]
    data = "\n".join(rng.sample(texts, rng.randrange(1, 6))).encode()
    for _ in range(edits):
        begin = rng.randrange(len(data) + 1)
        piece = rng.choice([rng.choice(FRAGMENTS).encode(), rng.randbytes(2), b""])
        data = data[:begin] + piece + data[begin + rng.randrange(12) :]
    check_sums(data, rng.choice([EVERYTHING, Filters()]), block=rng.choice([1, 7, 1 << 16]))


def check_sums(data: bytes, filters: Filters, block: int) -> None:
    blocks = [data[start : start + block] for start in range(0, len(data), block)]
    tally = Tally(MONTH)
    read = 0
    for batch in PgnSplitter(blocks, "x.pgn").batches():
        read += batch.num_rows
        kept = tally.add(judge(batch, MONTH, filters))
        assert kept["uci"].null_count == kept["game_id"].null_count == 0
        assert all(kept["n_plies"].to_numpy() == [len(uci.split(" ")) for uci in kept["uci"].to_pylist()])
    counts = tally.counts()
    assert counts["read"] == read == counts["kept"] + sum(counts["rejected"].values())


def test_comments_are_counted_by_kind() -> None:  # row 32
    counts = CommentCounts()
    counts.add(
        [" [%eval 0.17] [%clk 0:01:00] ", "White offers draw", " [%clk 0:00:59] White offers draw ", "in 12 moves"]
    )
    assert counts.as_dict() == {"%clk": 2, "%eval": 1, "White offers draw": 2, "in # moves": 1}


def test_kinds_beyond_the_first_hundred_are_counted_together() -> None:  # row 32
    counts = CommentCounts()
    counts.add([chr(0x4E00 + number) for number in range(130)] + ["\u4e00"])
    assert (len(counts.as_dict()), counts.as_dict()["\u4e00"], counts.as_dict()["other"]) == (101, 2, 30)
