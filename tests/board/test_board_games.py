"""Whole games in UCI by the kernels: ids of the san scheme, replays, and every form an Arrow array comes in."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import chess
import numpy as np
import pyarrow as pa
import pytest
from board_games import FreshRandom, movetexts, random_line
from corpora import random_games

import rukh_assets.board
from rukh_assets.board import (
    DONE,
    FINISHED,
    MAX_PLIES,
    NOT_LEGAL,
    NULL,
    TOO_LONG,
    UNKNOWN_RESULT,
    UNREADABLE,
    SanIds,
    check_uci_games,
    movetext_to_uci,
    uci_to_san_ids,
)
from rukh_assets.encode.san_text import uci_to_san
from rukh_assets.errors import GameColumnsError, NotLegalError
from rukh_assets.ingest.movetext import check_uci
from rukh_loaders.tokenizers.san import SanCharTokenizer

TOKENIZER = SanCharTokenizer()

ODD = {
    "": UNREADABLE,
    " ": UNREADABLE,
    "e2e4 ": UNREADABLE,
    " e2e4": UNREADABLE,
    "e2e4  e7e5": UNREADABLE,
    "e2e4\te7e5": UNREADABLE,
    "e2e4\u00a0e7e5": UNREADABLE,
    "e2e": UNREADABLE,
    "e2e4 e7": UNREADABLE,
    "E2E4": UNREADABLE,
    "e2e9": UNREADABLE,
    "i2i4": UNREADABLE,
    "0000": UNREADABLE,
    "e2e4 0000": UNREADABLE,
    "--": UNREADABLE,
    "N@f3": UNREADABLE,
    "e2e4x": UNREADABLE,
    "e2e4q": NOT_LEGAL,
    "e2e5": NOT_LEGAL,
    "e2e2": NOT_LEGAL,
    "e4e5": NOT_LEGAL,
    "e7e5": NOT_LEGAL,
    "a1a2": NOT_LEGAL,
    "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1h1": NOT_LEGAL,
    "e2e4 d7d5 e4d5 c7c6 d5c6 g8f6 c6b7 f6d5 b7a8": NOT_LEGAL,
    "e2e4 d7d5 e4d5 c7c6 d5c6 g8f6 c6b7 f6d5 b7a8k": UNREADABLE,
    "e2e4 d7d5 e4d5 c7c6 d5c6 g8f6 c6b7 f6d5 b7a8Q": UNREADABLE,
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1e2 g8f6 e2e1 f8e7 e1g1": NOT_LEGAL,
    "f2f3 e7e5 g2g4 d8h4 a2a3": NOT_LEGAL,
}


def san_text(games: SanIds, row: int) -> str:
    first = int(games.lengths[:row].sum())
    ids = games.ids[first : first + games.lengths[row]].tolist()
    assert (ids[0], ids[-1]) == (1, 2)
    return TOKENIZER.decode(ids)


def assert_encoded_right(uci: list[str], source: FreshRandom | None = None) -> None:
    results = np.arange(len(uci)) % 3 + 1
    games = uci_to_san_ids(pa.array(uci), results.astype(np.uint8))
    assert not games.verdicts.any(), source
    assert (games.ids.dtype, games.lengths.sum()) == (np.uint16, len(games.ids))
    expected = [
        TOKENIZER.encode(f"{uci_to_san(game)} {FINISHED[result]}") for game, result in zip(uci, results, strict=True)
    ]
    assert games.lengths.tolist() == [len(ids) for ids in expected], source
    assert games.ids.tolist() == [token for ids in expected for token in ids], source
    assert games.plies.tolist() == [len(game.split()) for game in uci], source


def test_the_games_of_the_real_head_are_encoded_as_by_python_chess(shared_data: Path) -> None:
    games = movetext_to_uci(pa.array(movetexts(shared_data / "lichess-2021-10-head.pgn"))).uci.to_pylist()
    assert_encoded_right([uci for uci in games if uci])


def test_random_games_are_encoded_as_by_python_chess(source: FreshRandom) -> None:
    assert_encoded_right([" ".join(random_line(source, source.randint(1, 150)).uci) for _ in range(150)], source)
    assert_encoded_right([game["uci"] for game in random_games(60)])


@pytest.mark.long
def test_20_000_random_games_are_encoded_and_read_as_by_python_chess(source: FreshRandom) -> None:
    for _ in range(100):
        lines = [random_line(source, source.randint(1, 120)) for _ in range(200)]
        uci = [" ".join(line.uci) for line in lines]
        games = uci_to_san_ids(pa.array(uci), np.full(200, 1, np.uint8))
        read = movetext_to_uci(pa.array([" ".join(line.san) for line in lines]))
        assert read.uci.to_pylist() == uci, source
        for row, line in enumerate(lines):
            numbered = [f"{ply // 2 + 1}.{san}" if ply % 2 == 0 else san for ply, san in enumerate(line.san)]
            assert san_text(games, row) == " ".join([*numbered, "1-0"]), (source, uci[row])


@pytest.mark.parametrize("uci", ODD)
def test_a_game_that_is_not_as_the_games_format_has_it_is_left_to_the_oracle(uci: str) -> None:
    texts = pa.array(["e2e4", uci, "d2d4"])
    games = uci_to_san_ids(texts, np.full(3, 1, np.uint8))
    assert games.verdicts.tolist() == [DONE, ODD[uci], DONE]
    assert games.lengths.tolist() == [10, 0, 10]
    assert [san_text(games, row) for row in (0, 2)] == ["1.e4 1-0", "1.d4 1-0"]
    assert games.plies[1] == len(uci.strip(" ").replace("  ", " ").split(" ")) or not uci.strip()
    checked = check_uci_games(texts)
    assert checked.verdicts.tolist() == ([DONE, ODD[uci], DONE] if uci else [DONE] * 3)


def test_whatever_of_damaged_uci_is_accepted_is_what_python_chess_takes(source: FreshRandom) -> None:
    lines = [random_line(source, 60).uci for _ in range(40)]
    texts = []
    for _ in range(400):
        moves = source.choice(lines)[: source.randint(1, 60)]
        ply, square = source.randrange(len(moves)), source.choice(chess.SQUARE_NAMES)
        move = moves[ply]
        changed = (move[:2] + square, square + move[2:], move + source.choice("qrbnk x"), move[:3], move[::-1])
        texts.append(" ".join([*moves[:ply], source.choice(changed), *moves[ply + 1 :]]))
    for text, verdict in zip(texts, check_uci_games(pa.array(texts)).verdicts, strict=True):
        try:
            check_uci(text.split(" "))
            expected = DONE
        except NotLegalError:
            expected = NOT_LEGAL
        assert (verdict == DONE) == (expected == DONE), (source, text)


def test_results_that_no_finished_game_has_and_nulls_are_left_to_the_oracle() -> None:
    games = uci_to_san_ids(pa.array(["e2e4", "e2e4", None, "e2e4"]), np.array([0, 4, 1, 3]))
    assert games.verdicts.tolist() == [UNKNOWN_RESULT, UNKNOWN_RESULT, NULL, DONE]
    assert san_text(games, 3) == "1.e4 1/2-1/2"
    assert check_uci_games(pa.array(["e2e4", None])).verdicts.tolist() == [DONE, NULL]
    assert movetext_to_uci(pa.array([None, "1. e4"])).verdicts.tolist() == [NULL, DONE]


def test_move_numbers_grow_to_five_digits_and_no_game_is_longer_than_the_games_format_holds() -> None:
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * (MAX_PLIES // 4 + 1)
    longest, longer = (" ".join(shuffle.split()[:plies]) for plies in (MAX_PLIES, MAX_PLIES + 1))
    games = uci_to_san_ids(pa.array([longest, longer]), np.array([1, 1]))
    assert games.verdicts.tolist() == [DONE, TOO_LONG]
    assert san_text(games, 0).endswith(" 16383.Nf3 Nf6 16384.Ng1 1-0")
    assert check_uci_games(pa.array([longer])).verdicts.tolist() == [TOO_LONG]
    assert movetext_to_uci(pa.array(["Nf3 Nf6 Ng1 Ng8 " * 8192])).verdicts.tolist() == [TOO_LONG]


def test_slices_and_large_strings_and_arrays_with_nothing_are_as_any_other() -> None:
    games = random_games(20)
    uci = pa.array([game["uci"] for game in games])
    results = np.array([FINISHED.index(game["result"]) for game in games])
    whole = uci_to_san_ids(uci, results)
    for texts in (uci[5:15], uci.cast(pa.large_string())[5:15], pa.array(uci.to_pylist()[5:15])):
        part = uci_to_san_ids(texts, results[5:15])
        assert [san_text(part, row) for row in range(10)] == [san_text(whole, row + 5) for row in range(10)]
        assert not check_uci_games(texts).verdicts.any()
    for none in (pa.array([], pa.string()), pa.array([], pa.large_string()), uci[20:]):
        assert uci_to_san_ids(none, np.array([], np.uint8)).ids.tolist() == []
        assert movetext_to_uci(none).uci.to_pylist() == []
    assert movetext_to_uci(pa.array([None, None], pa.string())).verdicts.tolist() == [NULL, NULL]
    assert movetext_to_uci(pa.array(["d4", "1. e4 e5", "c4"], pa.large_string())[1:2]).uci.to_pylist() == ["e2e4 e7e5"]


def test_arrays_of_other_types_and_results_of_another_number_are_refused() -> None:
    with pytest.raises(GameColumnsError, match="texts are int64; allowed are string and large_string"):
        check_uci_games(pa.array([1]))
    with pytest.raises(ValueError, match="results for 1 games"):
        uci_to_san_ids(pa.array(["e2e4"]), np.array([1, 1]))


def test_the_example_of_the_package_runs() -> None:
    assert doctest.testmod(rukh_assets.board).attempted > 5
    assert doctest.testmod(rukh_assets.board).failed == 0


PROCESS = """
import pyarrow as pa
from rukh_assets.board import check_uci_games
from rukh_assets.board.movetext_reading import read_games
from rukh_assets.board.san_writing import write_games
from rukh_assets.board.uci_reading import check_games
assert not read_games.signatures + write_games.signatures + check_games.signatures, "compiled on import"
assert check_uci_games(pa.array(["e2e4"])).verdicts.tolist() == [0]
print(check_games.stats.cache_hits.total(), check_games.stats.cache_misses.total())
"""


def test_nothing_is_compiled_on_import_nor_by_a_second_process(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROCESS]
    runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout for run in runs] == ["0 1\n", "1 0\n"]


def test_a_cached_kernel_of_another_package_does_not_outlive_a_change_of_a_rule_beside_it(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    package = tmp_path / "package"
    package.mkdir()
    imports = "from rukh_assets.board.kernel import kernel, rule\n"
    code = "@kernel\ndef grown(number):\n    return grow(number)\n"
    (package / "kernels.py").write_text(f"{imports}from package.rules import grow\n\n{code}")
    command = [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1])\n"]
    command[-1] += "from package.kernels import grown; print(grown(1), grown.stats.cache_hits.total())"
    found = []
    for by in ("1", "1", "2"):
        (package / "rules.py").write_text(f"{imports}\n@rule\ndef grow(number):\n    return number + {by}\n")
        ran = subprocess.run([*command, str(tmp_path)], env=environment, capture_output=True, text=True, check=True)
        found.append(ran.stdout.split())
    assert found == [["2", "0"], ["2", "1"], ["3", "0"]]
