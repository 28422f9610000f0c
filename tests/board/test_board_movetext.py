"""Movetext read by the kernel: the moves, results and comments of the readable code, or no verdict of its own."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from board_games import FreshRandom, damaged, movetexts, random_line, random_movetext, read_by_oracle

from rukh_assets.board import CLOCKS, DONE, EVALS, NOT_LEGAL, OTHERS, RESULTS, UNREADABLE, UciGames, movetext_to_uci

READ = [
    "",
    " 0-1",
    "*",
    "1. e4 e5 2. Nf3 1-0",
    "1.e4 e5 2.Nf3 Nc6 1/2-1/2",
    "1. e4 1... e5 2. Nf3 2... Nc6 *",
    "e4 e5\nNf3\r\n\tNc6\f\v",
    "1. e4?? { [%clk 0:03:00] } e5!? 2. Nf3+?! $1 $22 Nc6 ! 1-0",
    "1. e4{[%clk 0:03:00]}e5{ }2. Nf3{}Nc6{ [%eval 0.17] [%clk 0:01:00] }1-0{ [%clk 1] }",
    "1. e4 $1e5 2.Nf3!Nc6 1-0",
    "12 e4 99.e5 1....Nf3 1-0",
    "1.1-0",
    "9999.e4 9999... e5",
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. 0-0 Nf6 5. d3 Be7 6. c3 0-0+ 1-0",
    "1. e2e4 e7-e5 2. Ng1f3 Nb8-c6 3. f1b5 a7a6 4. e1g1 1-0",
    "1. e4+ e5# 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7 1-0",
    "1. f3 e5 2. g4 Qh4# 0-1",
    "1. e4 d5 2. exd5 c6 3. dxc6 Nf6 4. cxb7 Nd5 5. bxa8q 1-0",
    "1. e4 { a comment } e5 { [%clk 0:03:00] and more } { [%clk] } { [%eval 1 } 1-0",
    "1. e4 { \u00e9 } e5 { [%clk \u00e9] } 1-0",
]
"""Of the usual kind, so that the kernel has to read them."""

LEFT_TO_THE_ORACLE = [
    "1. e4 (1. d4) e5 1-0",
    "1. e4 ; a comment\n1... e5 1-0",
    "1 . e4 e5 1-0",
    "1. ..e5",
    "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. e1h1 1-0",
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. e1h1 1-0",
]
"""Some of these the readable code takes."""

REFUSED = [
    "1. e4 $ e5",
    "1/.....",
    "1. e4 1-0 e5",
    "1. e4 1-0 *",
    "1. e4 1-0 $1",
    "1-0x",
    "*e4",
    "1. e4 { no end",
    "1. e4 } e5",
    "1. e4 { { } } e5",
    "1. e4 ) e5",
    "1. e4. e5",
    "01. e4",
    "10000. e4",
    "10000 e4",
    "1e4",
    "1. Pe4 e5",
    "1. N@f3",
    "1. --",
    "1. Z0",
    "1. 0000",
    "1. @@@@",
    "1. e5",
    "1. Ke4",
    "1. O-O",
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Kg1",
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-0",
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ke2 Nf6 5. Ke1 Be7 6. O-O",
    "1. f3 e5 2. g4 Qh4# 3. a3",
    "1. Nf3 Nf6 2. Nc3 Nc6 3. Nd4 Nd5 4. Nb5 e6 5. Nd4 Nxc3 6. Nf3 Nd5 7. Ng1 Nf6 8. Ne2",
    "1. e4 d5 2. exd5 c6 3. dxc6 Nf6 4. cxb7 Nd5 5. bxa8 1-0",
    "1. e4 d5 2. exd5 c6 3. dxc6 Nf6 4. cxb7 Nd5 5. bxa8=K 1-0",
    "1. e4=Q",
    "1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. e3 e6 5. Nf3 Nf6 6. Bd3 Bd6 7. Nd2 Nd7 8. Nf1 Nf8 9. Nd2 Ng6 10. Ne5",
    "\ufeff1. e4",
    "1. e4 \u00bd-\u00bd",
    "1. e4\u00a0e5",
    "1. e4\x1ce5",
    "1. \u0435\u0034",
]


def test_the_real_head_is_read_as_by_the_readable_code(shared_data: Path) -> None:
    texts = movetexts(shared_data / "lichess-2021-10-head.pgn")
    games = movetext_to_uci(pa.array(texts))
    assert len(texts) == 999
    assert not games.verdicts.any()
    assert games.comments.sum(axis=0).tolist() == [66_292, 5_796, 0]
    for row, text in enumerate(texts):
        assert_read_right(games, row, text)


@pytest.mark.parametrize("text", READ)
def test_movetext_of_the_usual_kind_is_read(text: str) -> None:
    games = movetext_to_uci(pa.array([text]))
    assert games.verdicts.tolist() == [DONE]
    assert_read_right(games, 0, text)


@pytest.mark.parametrize("text", [*LEFT_TO_THE_ORACLE, *REFUSED])
def test_other_movetext_is_left_to_the_oracle(text: str) -> None:
    games = movetext_to_uci(pa.array([text, "1. e4 e5 *"]))
    assert games.verdicts[0] in (UNREADABLE, NOT_LEGAL)
    assert games.uci.to_pylist() == ["", "e2e4 e7e5"]
    assert text in LEFT_TO_THE_ORACLE or read_by_oracle(text) is None


def test_the_ply_at_fault_counts_from_one() -> None:
    games = movetext_to_uci(pa.array(["1. Ke2", "1. e4 e5 2. Ke2 Ke7 3. Ke2", "1. e4 e5 $", "1. e4 e5 1-0 1-0"]))
    assert games.verdicts.tolist() == [NOT_LEGAL, NOT_LEGAL, UNREADABLE, UNREADABLE]
    assert games.plies.tolist() == [1, 5, 2, 2]


def test_random_games_are_read_in_all_their_ways_of_being_written(source: FreshRandom) -> None:
    texts = [random_movetext(source, random_line(source, source.randint(0, 120))) for _ in range(150)]
    games = movetext_to_uci(pa.array(texts))
    assert not games.verdicts.any(), source
    for row, text in enumerate(texts):
        assert_read_right(games, row, text, source)


def test_whatever_of_damaged_movetext_is_accepted_is_what_the_readable_code_reads(source: FreshRandom) -> None:
    check_damaged(source, lines=30, count=1_000)


@pytest.mark.long
def test_whatever_of_20_000_damaged_movetexts_is_accepted_is_what_the_readable_code_reads(source: FreshRandom) -> None:
    check_damaged(source, lines=1_000, count=20_000)


def check_damaged(source: FreshRandom, lines: int, count: int) -> None:
    games = [random_line(source, source.randint(1, 100)) for _ in range(lines)]
    texts = [damaged(source, random_movetext(source, source.choice(games))) for _ in range(count)]
    read = movetext_to_uci(pa.array(texts))
    for row, text in enumerate(texts):
        if read.verdicts[row] == DONE:
            assert_read_right(read, row, text, source)
    accepted = int((read.verdicts == DONE).sum())
    assert count / 20 < accepted < count, (source, "the damage is such that nothing is tested")


def assert_read_right(games: UciGames, row: int, text: str, source: FreshRandom | None = None) -> None:
    """What the kernel accepted is, in all that it wrote, what the readable code makes of the text."""
    oracle = read_by_oracle(text)
    assert oracle is not None, (source, text)
    uci = games.uci[row].as_py()
    assert (uci, RESULTS[games.results[row]]) == (oracle.uci, oracle.result), (source, text)
    assert games.plies[row] == len(uci.split()), (source, text)
    clocks, evals, others = games.comments[row, [CLOCKS, EVALS, OTHERS]].tolist()
    if not others:
        assert oracle.comments == +Counter({"%clk": clocks, "%eval": evals}), (source, text)
