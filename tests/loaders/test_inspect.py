"""`python -m rukh_loaders inspect`: what a pack holds, its games and boards."""

import os
import re
import subprocess
import sys

import chess
import numpy as np
import pytest
from packed_months import GAMES, write_pack

from rukh_assets.encode.san_text import uci_to_san
from rukh_loaders.__main__ import main
from rukh_loaders.formats import PackInfo, PackWriter
from rukh_loaders.inspection.lengths import Lengths, histogram

SCHEMES = ("uci", "san", "bpe")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """One month in all three schemes, and a second one in uci."""
    home = tmp_path_factory.mktemp("lake")
    for scheme in SCHEMES:
        write_pack(home, scheme, "2021-10", GAMES)
    write_pack(home, "uci", "2021-11", GAMES[:20])
    return home / "data" / "packs"


@pytest.fixture
def run(capsys):
    """Runs a command and returns its exit status, stdout and stderr."""

    def run(*arguments):
        status = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert printed.out.isascii()
        return status, printed.out, printed.err

    return run


def board_of(moves, plies):
    board = chess.Board()
    for move in moves[:plies]:
        board.push_uci(move)
    return str(board).splitlines()


def shown_board(text):
    return [line[3:] for line in text.splitlines() if re.match(r"[1-8]  ", line)]


def test_a_pack_is_shown_with_its_counts_source_vocabulary_lengths_and_columns(lake, run):
    status, text, _ = run("inspect", lake / "uci" / "2021-10")
    tokens = sum(game["n_plies"] + 5 for game in GAMES)
    lengths = sorted(game["n_plies"] + 5 for game in GAMES)
    assert status == 0
    assert f"uci pack of 2021-10: 60 games, {tokens:,} tokens" in text
    assert "source      games.parquet, sha256 " in text
    assert "2,030 ids, hash 527c5dda224cab570cb84da8f7dcda0f43fe53edaf86822f899568f5dd824b46" in text
    assert (
        f"tokens a game: {lengths[0]} to {lengths[-1]}, median {lengths[29]}, "
        f"mean {tokens / 60:.1f}, 95% at most {lengths[56]}" in text
    )
    white = [game["white_elo"] for game in GAMES]
    assert f"white_elo          {min(white)} to {max(white)}, mean {np.mean(white):.1f}\n" in text
    won = sum(game["result"] == "1-0" for game in GAMES) / 60
    assert f"result             1-0 {won:.1%}" in text
    correspondence = sum(game["time_control"] == "-" for game in GAMES) / 60
    assert "base_seconds       60 to 180, mean " in text
    assert f", correspondence {correspondence:.1%}" in text
    assert "utc_date           2021-10-01 to 2021-10-01\n" in text
    assert "eco                A00 to E99, unknown " in text


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("number", [0, 7, 59])
def test_a_game_is_shown_with_its_columns_its_moves_and_its_last_position(lake, run, scheme, number):
    status, text, _ = run("inspect", lake / scheme / "2021-10", "--game", number)
    game = GAMES[number]
    moves = game["uci"].split()
    assert status == 0
    assert text.startswith(f"game {number} of 0 to 59: ")
    assert f"white elo     {game['white_elo']}\n".replace(" elo", "_elo") in text
    clock = "correspondence" if game["time_control"] == "-" else game["time_control"]
    assert f"time control  {clock}\n" in text
    words = uci_to_san(game["uci"]).split() if scheme == "san" else moves
    shown = re.sub(r"\b[0-9]+\.", "", " ".join(text.split()))
    assert re.sub(r"\b[0-9]+\.", "", " ".join(words)) in shown
    assert f"ply {len(moves)} of {len(moves)}: after " in text
    assert shown_board(text) == board_of(moves, len(moves))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_board_after_any_ply_is_that_of_python_chess(lake, run, scheme):
    moves = GAMES[3]["uci"].split()
    for ply in {0, 1, 2, len(moves) // 2, len(moves)}:
        status, text, _ = run("inspect", lake / scheme / "2021-10", "--game", 3, "--ply", ply)
        assert status == 0
        assert shown_board(text) == board_of(moves, ply)
        assert f"ply {ply} of {len(moves)}: " in text


def test_several_packs_are_shown_as_a_table_with_a_sum_where_they_are_of_one_scheme(lake, run):
    status, text, _ = run("inspect", lake / "uci")
    assert status == 0
    rows = [line.split() for line in text.splitlines()[1:4]]
    assert [row[0] for row in rows] == ["2021-10", "2021-11", "all"]
    assert rows[2][1] == "80"
    status, text, _ = run("inspect", lake)
    assert status == 0
    assert text.count("2021-10") == 3
    assert "\nall " not in text


def test_a_bpe_pack_without_its_tokenizer_shows_ids_and_says_what_is_missing(lake, run, tmp_path):
    pack = tmp_path / "2021-10"
    os.symlink(lake / "bpe" / "2021-10", pack)  # noqa: PTH211
    status, text, _ = run("inspect", pack, "--game", 5)
    assert status == 0
    assert "give --tokenizer bpe.json" in text
    status, text, error = run("inspect", pack, "--game", 5, "--ply", 3)
    assert (status, text) == (2, "")
    assert "give --tokenizer bpe.json" in error
    tokenizer = lake.parents[1] / "artifacts" / "tokenizer" / "bpe" / "bpe.json"
    status, text, _ = run("inspect", pack, "--game", 5, "--tokenizer", tokenizer)
    assert status == 0
    assert shown_board(text) == board_of(GAMES[5]["uci"].split(), None)


def test_ids_of_another_vocabulary_are_shown_as_numbers_and_never_as_moves(tmp_path, run):
    for scheme in ("uci", "draughts"):
        folder = tmp_path / scheme
        info = PackInfo(
            n_games=1, n_tokens=4, scheme=scheme, vocab_size=2030, vocab_hash="0" * 64, source="small integers"
        )
        with PackWriter(folder, info) as writer:
            writer.append(np.array([1, 900, 901, 2], np.uint16), np.array([4]))
            writer.finish({})
        status, text, _ = run("inspect", folder)
        assert status == 0
        assert "1 900 901 2\n" in text
        assert "ids only: " in text
        assert "columns: none" in text
        assert run("inspect", folder, "--ply", 1)[0] == 2


def test_an_empty_pack_is_shown(tmp_path, run):
    info = PackInfo(n_games=0, n_tokens=0, scheme="uci", vocab_size=2030, vocab_hash="0" * 64, source="nothing")
    with PackWriter(tmp_path / "pack", info) as writer:
        writer.finish({})
    status, text, _ = run("inspect", tmp_path / "pack")
    assert status == 0
    assert "0 games, 0 tokens" in text
    status, _, error = run("inspect", tmp_path / "pack", "--game", 0)
    assert status == 2
    assert "has no game 0, allowed: none" in error


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["uci/2021-10", "--game", "60"], 2, "has no game 60, allowed: 0 to 59"),
        (["uci/2021-10", "--game", "-1"], 2, "has no game -1, allowed: 0 to 59"),
        (["uci/2021-10", "--ply", "999"], 2, "game 0 has no ply 999, allowed: 0 (the start) to "),
        (["uci", "--game", "0"], 2, "holds 2 packs; name one of them, such as "),
        (["nowhere"], 2, "nowhere: is no folder"),
        (["bpe/2021-10", "--tokenizer", "nowhere.json"], 2, "nowhere.json: cannot be read as a bpe tokenizer"),
        (["uci/2021-10/columns"], 2, "holds no pack"),
        (["uci/2021-10", "--tokenizer", "nowhere.json"], 2, "nowhere.json: is of no use for "),
        (["san/2021-10", "--game", "0", "--tokenizer", "nowhere.json"], 2, "nowhere.json: is of no use for "),
        (["uci", "--tokenizer", "nowhere.json"], 2, "holds 2 packs; name one of them"),
    ],
)
def test_what_cannot_be_shown_is_one_line_on_stderr(lake, run, arguments, status, message):
    got, shown, error = run("inspect", lake / arguments[0], *arguments[1:])
    assert (got, shown) == (status, "")
    assert message in error
    assert error.count("\n") == 1


def test_a_damaged_pack_is_a_fault_and_not_a_traceback(lake, run, tmp_path):
    folder = tmp_path / "2021-10"
    folder.mkdir()
    (folder / "meta.json").write_text("{}")
    status, _, error = run("inspect", folder)
    assert status == 1
    assert "meta.json: n_games: Field required" in error
    assert error.count("\n") == 1


def test_the_command_runs_without_torch_and_what_builds_packs_and_into_a_closed_pipe(lake):
    code = (
        "import sys, runpy\n"
        "sys.modules.update(dict.fromkeys(('torch', 'dagster', 'pyarrow', 'chess', 'rukh_assets', 'tokenizers')))\n"
        "sys.argv = ['rukh_loaders', 'inspect', sys.argv[1]]\n"
        "runpy.run_module('rukh_loaders', run_name='__main__')\n"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run([*command, lake / "uci" / "2021-10"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "uci pack of 2021-10: 60 games" in done.stdout
    without_tokenizers = subprocess.run(
        [*command, lake / "bpe" / "2021-10"], capture_output=True, text=True, check=False
    )
    assert (without_tokenizers.returncode, without_tokenizers.stderr) == (0, "")
    assert "read by the package `tokenizers`: install it" in without_tokenizers.stdout
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed_pipe:  # noqa: PTH123
        done = subprocess.run(
            [*command, lake / "uci" / "2021-10"], stdout=closed_pipe, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (141, "")


def test_a_histogram_counts_every_game_once_and_keeps_long_tails_to_one_row():
    counts = np.zeros(3001, np.int64)
    counts[20:120] = 10
    counts[3000] = 1
    lines = histogram(Lengths(counts, 3000))
    shares = [float(line.split()[1].rstrip("%")) for line in lines]
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert len(lines) <= 14
    assert lines[0].split()[0].startswith("20-")
    assert lines[-1].split()[0].endswith("-3000")
    assert histogram(Lengths(np.array([0, 0, 0, 4]), 3)) == [f"3 100.00%  {'#' * 48}"]
