import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from month_packs import write_month

from rukh_loaders import PackedDataset, open_packs
from rukh_loaders.windows.best_fit import GROUP, pack_games

GAMES = [[1, 7, 8, 9, 2], [1, 5, 2], [1, 6, 6, 2], [1, 3, 2], [1, 4, 4, 4, 4, 4, 4, 4, 2]]


def pack(lengths, block, cut=False):
    lengths = np.asarray(lengths, np.int64)
    return pack_games(lambda begin, end: lengths[begin:end], lengths.size, block, cut=cut)


def rows_of(packing):
    place, numbers = packing.games_of(np.arange(len(packing)))
    rows = [[] for _ in range(len(packing))]
    for row, number in zip(place.tolist(), numbers.tolist(), strict=True):
        rows[row].append(number)
    return rows


def best_fit_one_by_one(lengths, block):
    """The textbook: the longest game first, each into the fullest row with room for it. Returns the rows' rooms."""
    rooms = []
    for length in sorted((length for length in lengths if length <= block), reverse=True):
        fitting = [i for i, room in enumerate(rooms) if room >= length]
        if fitting:
            rooms[min(fitting, key=lambda i: rooms[i])] -= length
        else:
            rooms.append(block - length)
    return sorted(rooms)


@pytest.fixture(scope="module")
def five_games(tmp_path_factory):
    return write_month(tmp_path_factory.mktemp("packs") / "2024-01", GAMES, {"white_elo": range(5)})


def test_rows_are_whole_games_whose_last_id_has_no_target(five_games):
    dataset = PackedDataset(five_games, block=8, windows="best_fit")
    assert [window.x.tolist() for window in dataset] == [[1, 7, 8, 9, 2, 1, 5, 2], [1, 6, 6, 2, 1, 3, 2, 0]]
    assert [window.y.tolist() for window in dataset] == [[7, 8, 9, 2, 0, 5, 2, 0], [6, 6, 2, 0, 3, 2, 0, 0]]


def test_a_game_that_is_too_long_is_left_out_and_counted(five_games):
    dataset = PackedDataset(five_games, block=8, windows="best_fit")
    assert (dataset.left_out, dataset.cut, dataset.padding) == (1, 0, 1 / 16)


def test_a_game_that_is_too_long_is_cut_where_that_is_asked_for(five_games):
    dataset = PackedDataset(five_games, block=8, windows="best_fit", too_long="cut")
    assert (dataset.left_out, dataset.cut, dataset.padding) == (0, 1, pytest.approx(1 / 24))
    (x, y), *_ = [window for window in dataset if 4 in window.x]
    assert (x.tolist(), y.tolist()) == ([1, 4, 4, 4, 4, 4, 4, 4], [4, 4, 4, 4, 4, 4, 4, 0])


def test_last_target_keeps_the_target_at_which_a_game_was_cut_and_no_other(five_games):
    dataset = PackedDataset(five_games, 8, last_target=True, windows="best_fit", too_long="cut")
    assert sorted(window.y.tolist()[-1] for window in dataset) == [0, 0, 2]


def test_windows_that_are_not_packed_say_nothing_of_padding(five_games):
    dataset = PackedDataset(five_games)
    assert (dataset.padding, dataset.left_out, dataset.cut) == (None, 0, 0)


@pytest.mark.parametrize("rows", [1, 2])
def test_targets_of_a_single_row_that_is_widened_late_are_not_its_ids(five_games, rows):
    narrow, wide = (
        PackedDataset(five_games, 8, windows="best_fit", widen_on_device=late).gather(np.arange(rows))
        for late in (True, False)
    )
    assert narrow.x.tolist() == wide.x.tolist()
    assert narrow.y.tolist() == wide.y.tolist()
    narrow.y.zero_()
    assert narrow.x.tolist() == wide.x.tolist()
    assert narrow.x.is_contiguous()
    assert narrow.y.is_contiguous()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(2, 30), max_size=80), st.integers(2, 24), st.booleans())
def test_every_game_that_fits_is_in_one_row_and_rows_are_as_full_as_the_textbook_makes_them(lengths, block, cut):
    rows = rows_of(pack(lengths, block, cut))
    kept = [i for i, length in enumerate(lengths) if cut or length <= block]
    assert sorted(i for row in rows for i in row) == kept
    assert all(row == sorted(row) for row in rows)
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    rooms = [block - sum(min(lengths[i], block) for i in row) for row in rows]
    assert sorted(rooms) == best_fit_one_by_one([min(length, block) if cut else length for length in lengths], block)


def test_games_are_packed_group_by_group_in_3_bytes_a_game():
    lengths = np.clip(np.random.default_rng(0).normal(80, 30, 2 * GROUP + 10_000), 8, 400).astype(np.int64)
    packing = pack(lengths, 200)
    rows = rows_of(packing)
    assert sorted(i for row in rows for i in row) == np.flatnonzero(lengths <= 200).tolist()
    assert all(row[0] // GROUP == row[-1] // GROUP for row in rows)
    filled = [lengths[row].sum() for row in rows]
    assert max(filled) <= 200
    assert 1 - np.sum(filled) / (200 * len(rows)) < 0.004
    assert packing.games.nbytes + packing.first.nbytes < 3 * lengths.size


def test_packing_takes_no_longer_in_rows_of_two_billion_ids():
    lengths = np.random.default_rng(2).integers(2, 400, 400)
    began = time.perf_counter()
    packing = pack(lengths, 2_000_000_000)
    assert time.perf_counter() - began < 2
    assert rows_of(packing) == [list(range(400))]


def test_a_row_asked_for_alone_is_the_row_of_all():
    lengths = np.random.default_rng(1).integers(2, 60, GROUP + 500)
    packing = pack(lengths, 64)
    rows = rows_of(packing)
    for row in (0, len(packing) - 1, *packing.rows_before[1] + np.array([-1, 0, 1])):
        _, numbers = packing.games_of(np.array([row]))
        assert numbers.tolist() == rows[row]


def test_the_same_games_are_packed_the_same(five_games):
    packs = open_packs(five_games)
    one, other = (PackedDataset(packs, 8, windows="best_fit") for _ in range(2))
    assert [window.x.tolist() for window in one] == [window.x.tolist() for window in other]


def test_scattered_games_of_several_months_are_packed_alone(tmp_path):
    for month in range(3):
        elos = np.arange(5) + 5 * month
        write_month(
            tmp_path / f"2024-0{month + 1}", [[*game[:-1], 50 + month, 2] for game in GAMES], {"white_elo": elos}
        )
    chosen = open_packs(tmp_path).where(white_elo=[0, 3, 6, 7, 11, 12, 13])
    dataset = PackedDataset(chosen, block=11, windows="best_fit")
    found = [str(game) for window in dataset for game in games_in(window.x.tolist())]
    expected = [str([*GAMES[i % 5][:-1], 50 + i // 5, 2]) for i in (0, 3, 6, 7, 11, 12, 13)]
    assert sorted(found) == sorted(expected)


def games_in(ids):
    games, begin = [], 0
    for i, token in enumerate(ids):
        if token == 2:
            games.append(ids[begin : i + 1])
            begin = i + 1
    assert not any(ids[begin:])
    return games


@pytest.mark.parametrize("games", [[], [[1, *[5] * 20, 2]]])
def test_nothing_that_fits_makes_no_rows(tmp_path, games):
    dataset = PackedDataset(write_month(tmp_path / "pack", games), block=8, windows="best_fit")
    assert (len(dataset), list(dataset), dataset.padding, dataset.left_out) == (0, [], None, len(games))
    assert dataset.gather(np.array([-1])).x.tolist() == [[0] * 8]
