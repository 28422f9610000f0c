import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from month_packs import write_month

from rukh_loaders import PackedDataset, PaddedDataset, open_packs, padding_report
from rukh_loaders.errors import BlockSizeError, WindowIndexError

GAMES = [[1, 7, 8, 9, 2], [1, 5, 2], [1, 6, 6, 2]]


@pytest.fixture(scope="module")
def three_games(tmp_path_factory):
    return write_month(tmp_path_factory.mktemp("packs") / "2024-01", GAMES, {"white_elo": range(3)})


def lists(window):
    x, y = window
    return x.tolist(), y.tolist()


def test_each_game_is_a_row_that_is_cut_or_padded(three_games):
    assert [lists(window) for window in PaddedDataset(three_games, block=4)] == [
        ([1, 7, 8, 9], [7, 8, 9, 0]),
        ([1, 5, 2, 0], [5, 2, 0, 0]),
        ([1, 6, 6, 2], [6, 6, 2, 0]),
    ]


def test_last_target_keeps_the_target_at_which_a_game_was_cut(three_games):
    assert [lists(window)[1] for window in PaddedDataset(three_games, block=4, last_target=True)] == [
        [7, 8, 9, 2],
        [5, 2, 0, 0],
        [6, 6, 2, 0],
    ]


def test_chosen_games_are_the_rows(three_games):
    dataset = PaddedDataset(open_packs(three_games).where(white_elo=[0, 2]), block=5)
    assert [window.x.tolist() for window in dataset] == [[1, 7, 8, 9, 2], [1, 6, 6, 2, 0]]
    assert dataset.gather(np.array([-1, 1])).x.tolist() == [[0] * 5, [1, 6, 6, 2, 0]]
    with pytest.raises(WindowIndexError, match="no window 2 "):
        dataset[2]


def test_a_block_below_two_raises(three_games):
    for made in (PaddedDataset, padding_report):
        with pytest.raises(BlockSizeError, match="block is 1; "):
            made(three_games, block=1)


games = st.lists(st.lists(st.integers(3, 99), max_size=9).map(lambda moves: [1, *moves, 2]), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(games, st.integers(2, 14), st.data())
def test_the_report_counts_the_targets_that_the_datasets_serve(tmp_path_factory, games, block, data):
    folder = write_month(tmp_path_factory.mktemp("packs") / "2024-01", games, {"white_elo": range(len(games))})
    packs = open_packs(folder)
    chosen = data.draw(st.sampled_from([packs, packs.where(white_elo=[0, 2, 5]), packs.games(slice(1, None))]))
    report = padding_report(chosen, block, batch_size=2)
    datasets = {"padded": PaddedDataset(chosen, block)}
    datasets |= {kind: PackedDataset(chosen, block, windows=kind) for kind in ("games", "best_fit")}
    if chosen.token_range is not None:
        datasets["blocks"] = PackedDataset(chosen, block, windows="blocks")
    for name, dataset in datasets.items():
        way = getattr(report, name)
        useful = sum(int((y != 0).sum()) for _, y in dataset)
        assert (way.rows, way.targets) == (len(dataset), useful)
        if len(dataset):
            assert way.padded == pytest.approx(1 - useful / (len(dataset) * block))
            assert way.useful(2) == pytest.approx(2 * useful / len(dataset))


def test_the_report_is_the_same_however_many_games_are_looked_at_in_one_go(tmp_path, monkeypatch):
    many = [[1, *[5] * (i % 7), 2] for i in range(40)]
    packs = open_packs(write_month(tmp_path / "2024-01", many))
    at_once = padding_report(packs, block=50)
    monkeypatch.setattr("rukh_loaders.windows.padding.GAMES_AT_ONCE", 3)
    assert padding_report(packs, block=50) == at_once


def test_the_report_prints_as_a_table(three_games):
    assert str(padding_report(three_games, block=4, batch_size=10)).splitlines() == [
        "                                      rows  padded targets     useful in 10 rows  each id seen",
        "a game a row, padded                     3          33.33%                    27          0.67",
        "windows at games                         3          25.00%                    30          0.75",
        "blocks of the stream                     3          25.00%                    30          0.75",
        "whole games, best fit                    2          37.50%                    25          0.42",
        "3 games; 1 longer than 4 ids, which best_fit leaves out",
    ]
