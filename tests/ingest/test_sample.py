"""Sample months: legal games from a seed that look like a month of Lichess and are the same everywhere."""

import datetime
import doctest
import hashlib
import io
import itertools
import json
import math
import os
import re
import secrets
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rukh_assets.ingest.sample
from rukh_assets.errors import MonthError, SampleError
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.judge import judge
from rukh_assets.ingest.month import Tally, read_month
from rukh_assets.ingest.raw import RAW_SCHEMA, raw_batch
from rukh_assets.ingest.sample import MAX_GAMES, MAX_SEED, sample_batches
from rukh_assets.ingest.sample.dice import Dice
from rukh_assets.ingest.sample.openings import book
from rukh_assets.ingest.sample.people import PEOPLE, draw_people, names, other_people, titles
from rukh_assets.ingest.sample.rows import raw_games
from rukh_assets.ingest.sample.tags import GAMES_A_MONTH, SCATTER, SITES, dates, scattered, sites
from rukh_assets.ingest.sources import open_source

Row = dict[str, Any]
MONTH, GAMES = "2021-10", 240
CLOCK = re.compile(r" \{ \[%clk (\d+):(\d\d):(\d\d)\] \}")


def sample(month: str = MONTH, games: int = 12, seed: int = 0) -> list[Row]:
    return [row for batch in sample_batches(month, games, seed) for row in batch.to_pylist()]


def digest(rows: Iterable[Row]) -> str:
    return hashlib.sha256(json.dumps(list(rows), sort_keys=True).encode()).hexdigest()


def is_kept(row: Row) -> bool:
    return len(sans_of(row)) >= 20 and not (
        min(int(row["white_elo"]), int(row["black_elo"])) < 1800
        or row["time_control"] == "-"
        or int(row["time_control"].split("+")[0]) < 180
        or row["termination"] not in ("Normal", "Time forfeit")
        or "BOT" in (row["white_title"], row["black_title"])
    )


def sans_of(row: Row) -> list[str]:
    words = CLOCK.sub("", row["movetext"]).split()
    return [word for word in words[:-1] if not word[0].isdigit()]


def as_pgn(row: Row) -> str:
    return f'[Event "{row["event"]}"]\n[Result "{row["result"]}"]\n\n{row["movetext"]}\n\n'


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return sample(games=GAMES)


@pytest.fixture(scope="module")
def kept(rows: list[Row]) -> list[Row]:
    return [row for row in rows if is_kept(row)]


@pytest.fixture(scope="module")
def boards(kept: list[Row]) -> list[chess.Board]:
    """The final position of each kept game, with the moves that led to it, replayed by python-chess."""
    return [replayed(row) for row in kept]


def replayed(row: Row) -> chess.Board:
    board = chess.Board()
    for san in sans_of(row):
        board.push_san(san)
    return board


def happenings(board: chess.Board) -> set[str]:
    """What of interest occurred in the game that led to `board`."""
    found = set()
    outcome = board.outcome()
    if outcome:
        found.add(outcome.termination.name.lower())
    if board.is_repetition(3):
        found.add("repetition")
    again = chess.Board()
    for move in board.move_stack:
        if again.is_en_passant(move):
            found.add("en passant")
        if again.is_castling(move):
            found.add(f"castling to {move.uci()[2:]}")
        if move.promotion:
            found.add(f"promotion to {chess.piece_symbol(move.promotion)}")
        again.push(move)
    return found


ALL_KINDS = {
    *("checkmate", "stalemate", "insufficient_material", "repetition", "en passant"),
    *("castling to g1", "castling to c1", "castling to g8", "castling to c8"),
    *("promotion to q", "promotion to r", "promotion to b", "promotion to n"),
}


def test_the_same_arguments_give_the_same_games() -> None:
    assert sample() == sample()


def test_the_games_are_the_ones_they_always_were() -> None:
    """A change of the sample's games is a change of what months hold: raise INGEST_VERSION with this digest."""
    assert digest(sample(games=25)) == "cbfeab7613031fa3def80a3988914ac42c1c12e9f10a92e41ec52714a117caea"


def test_the_games_do_not_depend_on_the_process(tmp_path: Path) -> None:
    script = f"""
import json
from rukh_assets.ingest.sample import sample_batches
print(json.dumps([batch.to_pylist() for batch in sample_batches("{MONTH}", 4, {MAX_SEED})]))
"""
    elsewhere = {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **elsewhere, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [sample(games=4, seed=MAX_SEED)]


@pytest.mark.parametrize(("month", "seed"), [("2021-11", 0), ("2020-10", 0), (MONTH, 1)])
def test_another_month_or_seed_gives_other_games(month: str, seed: int) -> None:
    ours, others = sample(), sample(month, seed=seed)
    assert not {row["movetext"] for row in ours} & {row["movetext"] for row in others}
    assert not {row["site"] for row in ours} & {row["site"] for row in others}


def test_a_longer_sample_begins_with_the_shorter_one(rows: list[Row]) -> None:
    shorter = sample(games=12)
    assert shorter == rows[: len(shorter)]
    assert sum(map(is_kept, shorter)) == 12


def test_a_game_can_be_made_without_those_before_it(rows: list[Row]) -> None:
    last = raw_games(MONTH, 0, GAMES - 1, GAMES).to_pylist()
    whereabouts = [{"file": row["file"], "number": row["number"]} for row in rows[-len(last) :]]
    assert [row | place for row, place in zip(last, whereabouts, strict=True)] == rows[-len(last) :]


def test_games_and_their_order_do_not_depend_on_the_number_of_workers(rows: list[Row]) -> None:
    made = [
        [*itertools.chain(*map(pa.RecordBatch.to_pylist, sample_batches(MONTH, 600, 0, workers=n)))] for n in (1, 3)
    ]
    assert made[0] == made[1]
    assert made[0][: len(rows)] == rows


def test_a_sample_that_is_not_read_to_its_end_leaves_no_thread_behind() -> None:
    threads = threading.active_count()
    batches = sample_batches(MONTH, MAX_GAMES, 0, batch_size=5, workers=2)
    assert next(batches).num_rows == 5
    batches.close()
    assert threading.active_count() == threads


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_batches_are_full_but_the_last_and_hold_the_same_games(batch_size: int) -> None:
    batches = list(sample_batches(MONTH, 12, 0, batch_size=batch_size))
    assert all(batch.schema == RAW_SCHEMA for batch in batches)
    assert {batch.num_rows for batch in batches[:-1]} <= {batch_size}
    assert [row for batch in batches for row in batch.to_pylist()] == sample()


def test_python_chess_reads_every_game_without_an_error(rows: list[Row]) -> None:
    stream = io.StringIO("".join(map(as_pgn, rows)))
    for row in rows:
        game = chess.pgn.read_game(stream)
        assert game is not None
        assert not game.errors
        assert game.headers["Result"] == row["result"]
        assert len(list(game.mainline_moves())) == len(sans_of(row))
    assert chess.pgn.read_game(stream) is None


def test_moves_are_spelt_as_python_chess_spells_them(kept: list[Row]) -> None:
    for row in kept[:60]:
        board = chess.Board()
        for san in sans_of(row):
            assert board.san_and_push(board.parse_san(san)) == san


def test_a_month_shows_every_ending_and_special_move(boards: list[chess.Board]) -> None:
    assert set().union(*map(happenings, boards)) >= ALL_KINDS


def check_end(row: Row, final: chess.Board) -> None:
    """Asserts that a kept game ended when and as its last position says."""
    outcome = final.outcome()
    loss = "0-1" if final.turn else "1-0"
    if outcome:
        assert (row["result"], row["termination"]) == (outcome.result(), "Normal")
    elif row["termination"] == "Time forfeit":
        assert row["result"] == ("1/2-1/2" if final.has_insufficient_material(not final.turn) else loss)
    elif row["result"] != "1/2-1/2":
        assert row["result"] == loss
    elif not final.is_repetition(3) and final.halfmove_clock < 100 and final.ply() < 300:
        assert final.halfmove_clock >= 6
        assert final.ply() >= 60
    board = final.copy()
    while board.move_stack:
        board.pop()
        assert not board.is_repetition(3)
        assert not board.is_insufficient_material()
        assert board.halfmove_clock < 100


def test_games_end_when_and_as_the_last_position_says(kept: list[Row], boards: list[chess.Board]) -> None:
    for row, board in zip(kept, boards, strict=True):
        check_end(row, board)


def test_kept_games_are_as_long_as_people_play(kept: list[Row]) -> None:
    plies = [len(sans_of(row)) for row in kept]
    assert min(plies) >= 20
    assert max(plies) <= 300
    assert 60 <= sum(plies) / len(plies) <= 90


def test_results_and_endings_have_their_usual_shares(kept: list[Row], boards: list[chess.Board]) -> None:
    results = Counter(row["result"] for row in kept)
    assert min(results["1-0"], results["0-1"]) > 0.38 * len(kept)
    assert 0.02 * len(kept) < results["1/2-1/2"] < 0.15 * len(kept)
    forfeits = sum(row["termination"] == "Time forfeit" for row in kept)
    assert 0.1 * len(kept) < forfeits < 0.4 * len(kept)
    assert 0.15 * len(kept) < sum(board.is_checkmate() for board in boards) < 0.4 * len(kept)


def test_ratings_and_clocks_are_spread_as_in_the_tail_of_lichess(kept: list[Row]) -> None:
    ratings = [int(row[side]) for row in kept for side in ("white_elo", "black_elo")]
    assert min(ratings) >= 1800
    assert sum(elo < 2000 for elo in ratings) > sum(2000 <= elo < 2200 for elo in ratings)
    assert sum(2000 <= elo < 2200 for elo in ratings) > sum(elo >= 2200 for elo in ratings) > 0
    clocks = Counter(row["time_control"] for row in kept)
    assert clocks.most_common(1)[0][0] == "180+0"
    assert len(clocks) >= 8
    assert {int(clock.split("+")[0]) for clock in clocks} <= set(range(180, 1801))


def test_openings_are_of_all_five_volumes_and_the_tag_says_which(kept: list[Row]) -> None:
    assert {row["eco"][0] for row in kept} == set("ABCDE")
    lines = list(zip(book().ecos, book().sans, strict=True))
    for row in kept:
        sans = tuple(sans_of(row))
        assert any(eco == row["eco"] and sans[: len(line)] == line for eco, line in lines)


def test_clocks_run_down_and_start_from_the_base_time(kept: list[Row]) -> None:
    for row in kept:
        base, increment = map(int, row["time_control"].split("+"))
        left = [int(h) * 3600 + int(m) * 60 + int(s) for h, m, s in CLOCK.findall(row["movetext"])]
        assert len(left) == len(sans_of(row))
        assert left[:2] == [base, base]
        assert min(left) >= 0
        assert all(after <= before + increment for before, after in zip(left, left[2:], strict=False))


def test_addresses_differ_and_dates_rise_within_the_month(rows: list[Row]) -> None:
    assert len({row["site"] for row in rows}) == len(rows)
    assert all(re.fullmatch(r"https://lichess\.org/[0-9A-Za-z]{8}", row["site"]) for row in rows)
    dates = [datetime.date.fromisoformat(row["utc_date"].replace(".", "-")) for row in rows]
    assert dates == sorted(dates)
    assert {(date.year, date.month) for date in dates} == {(2021, 10)}
    assert len(set(dates)) > 5


@given(st.integers(0, MAX_GAMES), st.sampled_from(["2021-10", "2024-02", "2023-02", "0001-01", "9999-12"]))
def test_no_game_leaves_its_month(index: int, month: str) -> None:
    year, of_year, day = map(int, dates(month, np.array([index]))[0].as_py().split("."))
    assert f"{year:04d}-{of_year:02d}" == month
    assert datetime.date(year, of_year, day)


def test_addresses_of_all_games_of_all_months_differ() -> None:
    """Each is a number under 62**8 times a factor coprime to it, modulo it: one-to-one."""
    numbers = np.array([0, 1, 2 * MAX_GAMES - 2, 2 * MAX_GAMES - 1])
    months = ("0000-01", "0000-02", "2021-10", "2021-11", "9999-12")
    corners = [site for month in months for site in sites(month, 5, numbers).to_pylist()]
    assert len(set(corners)) == len(corners) == 20
    assert SITES > (9999 * 12 + 12) * GAMES_A_MONTH + 2 * MAX_GAMES
    assert math.gcd(SCATTER, SITES) == 1
    assert 2 * MAX_GAMES <= GAMES_A_MONTH
    assert sites("0000-01", 0, numbers) != sites("0000-01", 1, numbers)


@given(st.integers(0, 2**30 - 1), st.integers(0, 2**130))
def test_scattering_does_not_overflow(number: int, offset: int) -> None:
    assert scattered(np.array([number]), offset).tolist() == [(number * SCATTER + offset) % SITES]


def test_a_player_has_one_name_and_title_and_never_plays_alone(rows: list[Row]) -> None:
    for row in rows:
        assert row["white"].lower() != row["black"].lower()
    assert len({name.lower() for name in names().to_pylist()}) == len(titles()) == PEOPLE
    elo = np.arange(700, 3300).repeat(8)
    people = draw_people(elo, Dice.of(map(str, range(len(elo)))))
    others = other_people(people, people)
    assert (people != others).all()
    assert (people // 7 == others // 7).all()
    assert 0 <= others.min() < others.max() < PEOPLE


def test_the_default_filters_keep_exactly_the_games_asked_for(rows: list[Row]) -> None:
    tally = Tally(MONTH)
    kept = tally.add(judge(raw_batch(rows), MONTH, Filters()))
    assert kept.num_rows == GAMES
    assert 0.2 * GAMES < len(rows) - GAMES < 0.5 * GAMES
    rejected = {reason for reason, count in tally.rejects.counts().items() if count}
    assert rejected == {"unfinished", "rating", "time_control", "termination", "bot", "length"}


@pytest.mark.parametrize(("month", "seed"), [("2024-02", 7), ("2021-12", MAX_SEED)])
def test_another_month_keeps_as_many_as_asked_for_too(month: str, seed: int, tmp_path: Path) -> None:
    source = open_source("sample", month, sample_games=15, seed=seed)
    assert read_month(month, source, Filters(), tmp_path / "month")["counts"]["kept"] == 15


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("games", value) for value in (0, -1, MAX_GAMES + 1, True, 2.0, "3")),
        *(("seed", value) for value in (-1, MAX_SEED + 1, None, 0.0)),
        *(("batch_size", value) for value in (0, -5)),
        *(("workers", value) for value in (0, 1.0)),
    ],
)
def test_arguments_are_checked_before_the_first_batch(argument: str, value: object) -> None:
    arguments: dict[str, Any] = {"games": 1, "seed": 0, argument: value}
    with pytest.raises(SampleError, match=f"{argument} must be an integer from . to .*got {re.escape(repr(value))}"):
        sample_batches(MONTH, **arguments)


@pytest.mark.parametrize("month", ["2021-13", "2021-1", "../..", "2021-10\n", ""])
def test_a_month_is_named_strictly(month: str) -> None:
    with pytest.raises(MonthError):
        sample_batches(month, 1, 0)


def test_the_book_has_legal_lines_of_all_volumes_in_standard_spelling() -> None:
    lines = book()
    assert len(lines.ecos) == len(lines.weights) == len(set(lines.sans)) >= 60
    assert {eco[0] for eco in lines.ecos} == set("ABCDE")
    assert all(re.fullmatch(r"[A-E][0-9]{2}", eco) for eco in lines.ecos)
    for number, sans in enumerate(lines.sans):
        board = chess.Board()
        moves = lines.moves[lines.starts[number] : lines.starts[number + 1]].tolist()
        assert tuple(board.san_and_push(chess.Move(move & 63, move >> 6)) for move in moves) == sans


def test_the_example_of_the_package_runs() -> None:
    failed, tried = doctest.testmod(rukh_assets.ingest.sample)
    assert (failed, tried > 0) == (0, True)


def test_a_default_month_shows_every_kind_many_times() -> None:
    games = [row for row in sample("2022-02", games=2000) if is_kept(row)]
    counted = Counter(itertools.chain.from_iterable(happenings(replayed(row)) for row in games))
    assert len(games) == 2000
    assert min(counted[kind] for kind in ALL_KINDS) >= 5


@pytest.mark.long
def test_games_of_fresh_seeds_are_legal_and_spelt_and_ended_as_python_chess_says() -> None:
    seed = secrets.randbelow(MAX_SEED)
    print(f"seed {seed}")
    for row in sample("2023-07", games=5000, seed=seed):
        board = chess.Board()
        for san in sans_of(row):
            assert board.san_and_push(board.parse_san(san)) == san
        if is_kept(row):
            check_end(row, board)
