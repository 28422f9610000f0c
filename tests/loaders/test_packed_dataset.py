import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rukh_loaders import PackedDataset, open_pack
from rukh_loaders.errors import BlockSizeError, PackReplacedError, RukhLoadersError, WindowIndexError

THREE_GAMES = [[1, 7, 8, 9, 2], [1, 5, 2], [1, 6, 6, 2]]  # 12 tokens, starts 0, 5, 8
TOKENS = [1, 7, 8, 9, 2, 1, 5, 2, 1, 6, 6, 2]


def lists(window):
    x, y = window
    return x.tolist(), y.tolist()


@pytest.fixture(scope="module")
def three_games(write_pack):
    return write_pack(THREE_GAMES)


def test_a_window_starts_at_its_game_and_runs_over_into_the_next_ones(three_games):
    dataset = PackedDataset(three_games, block=6)
    assert len(dataset) == 3
    assert lists(dataset[0]) == ([1, 7, 8, 9, 2, 1], [7, 8, 9, 2, 1, 0])


def test_what_lies_past_the_end_of_the_stream_is_pad(three_games):
    dataset = PackedDataset(three_games, block=6)
    assert lists(dataset[1]) == ([1, 5, 2, 1, 6, 6], [5, 2, 1, 6, 6, 0])
    assert lists(dataset[2]) == ([1, 6, 6, 2, 0, 0], [6, 6, 2, 0, 0, 0])


def test_last_target_keeps_the_target_of_the_last_position_where_the_stream_has_it(three_games):
    dataset = PackedDataset(three_games, block=6, last_target=True)
    assert lists(dataset[0]) == ([1, 7, 8, 9, 2, 1], [7, 8, 9, 2, 1, 5])
    assert lists(dataset[1]) == ([1, 5, 2, 1, 6, 6], [5, 2, 1, 6, 6, 2])
    assert lists(dataset[2]) == ([1, 6, 6, 2, 0, 0], [6, 6, 2, 0, 0, 0])


def test_contiguous_windows_cut_the_stream_every_block_and_leave_out_the_remainder(three_games):
    dataset = PackedDataset(three_games, block=5, start_at_game=False)
    assert [lists(dataset[i]) for i in range(len(dataset))] == [
        ([1, 7, 8, 9, 2], [7, 8, 9, 2, 0]),
        ([1, 5, 2, 1, 6], [5, 2, 1, 6, 0]),
    ]


def test_contiguous_windows_that_fill_the_stream_end_with_no_target_to_keep(three_games):
    dataset = PackedDataset(three_games, block=6, start_at_game=False, last_target=True)
    assert [lists(dataset[i]) for i in range(len(dataset))] == [
        ([1, 7, 8, 9, 2, 1], [7, 8, 9, 2, 1, 5]),
        ([5, 2, 1, 6, 6, 2], [2, 1, 6, 6, 2, 0]),
    ]


@pytest.mark.parametrize("start_at_game", [True, False])
def test_a_block_longer_than_the_pack_gives_padded_windows(three_games, start_at_game):
    dataset = PackedDataset(three_games, block=15, start_at_game=start_at_game, last_target=True)
    assert len(dataset) == (3 if start_at_game else 1)
    assert lists(dataset[0]) == ([*TOKENS, 0, 0, 0], [*TOKENS[1:], 0, 0, 0, 0])


@pytest.mark.parametrize("start_at_game", [True, False])
def test_a_pack_of_one_game_gives_one_window(write_pack, start_at_game):
    dataset = PackedDataset(write_pack([[1, 9, 2]]), block=3, start_at_game=start_at_game)
    assert [lists(window) for window in dataset] == [([1, 9, 2], [9, 2, 0])]


@pytest.mark.parametrize("start_at_game", [True, False])
def test_an_empty_pack_gives_no_windows(write_pack, start_at_game):
    dataset = PackedDataset(write_pack([]), block=3, start_at_game=start_at_game)
    assert len(dataset) == 0
    assert list(dataset) == []
    assert dataset.__getitems__([]) == []
    with pytest.raises(IndexError, match="no window 0"):
        dataset[0]


@pytest.mark.parametrize("start_at_game", [True, False])
@pytest.mark.parametrize("outside", [-1, "len", 2**70])
def test_an_index_outside_raises_alone_and_in_a_batch(three_games, start_at_game, outside):
    dataset = PackedDataset(three_games, block=4, start_at_game=start_at_game)
    index = len(dataset) if outside == "len" else outside
    with pytest.raises(WindowIndexError, match=f"no window {index} in .*: it has 3, numbered from 0"):
        dataset[index]
    with pytest.raises(IndexError):
        dataset.__getitems__([0, index])


def test_an_index_that_is_no_whole_number_raises(three_games):
    with pytest.raises(TypeError):
        PackedDataset(three_games)[0.5]


@pytest.mark.parametrize("block", [1, 0, -5])
def test_a_block_below_two_raises(three_games, block):
    with pytest.raises(BlockSizeError, match=f"block is {block}; a window needs 2 tokens or more") as caught:
        PackedDataset(three_games, block=block)
    assert isinstance(caught.value, RukhLoadersError)
    assert isinstance(caught.value, ValueError)


def test_windows_are_contiguous_int64_tensors(three_games):
    dataset = PackedDataset(three_games, block=4)
    for window in [dataset[0], *dataset.__getitems__([0, 2])]:
        for ids in window:
            assert ids.dtype == torch.int64
            assert ids.shape == (4,)
            assert ids.is_contiguous()


def test_writing_into_a_window_warns_of_nothing_and_changes_nothing_else(three_games):
    dataset = PackedDataset(three_games, block=4, last_target=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x, y), (other_x, other_y), _ = dataset.__getitems__([0, 0, 1])
        x.fill_(99)
    assert y.tolist() == other_y.tolist() == [7, 8, 9, 2]
    assert other_x.tolist() == [1, 7, 8, 9]
    assert lists(dataset[0]) == ([1, 7, 8, 9], [7, 8, 9, 2])


def test_an_opened_pack_and_its_folder_serve_the_same(three_games):
    by_path, by_text, by_pack = (
        PackedDataset(pack) for pack in (three_games, str(three_games), open_pack(three_games))
    )
    assert lists(by_path[1]) == lists(by_text[1]) == lists(by_pack[1])


def test_ids_up_to_65535_keep_their_value(tmp_path):
    from rukh_loaders.formats.pack import PackInfo, PackWriter

    info = PackInfo(n_games=1, n_tokens=4, scheme="tiny", vocab_size=65536, vocab_hash="0" * 64, source="integers")
    with PackWriter(tmp_path / "pack", info) as writer:
        writer.append(np.array([1, 40000, 65535, 2], dtype=np.uint16), np.array([4], dtype=np.int64))
        writer.finish({})
    assert PackedDataset(tmp_path / "pack", block=4)[0][0].tolist() == [1, 40000, 65535, 2]


def test_a_pickled_dataset_is_a_path_that_opens_again(three_games, monkeypatch):
    monkeypatch.chdir(three_games.parent)
    dataset = PackedDataset(three_games.name, block=6, start_at_game=False, last_target=True)
    pickled = pickle.dumps(dataset)
    monkeypatch.chdir("/")
    again = pickle.loads(pickled)
    assert len(pickled) < 4096
    assert [lists(window) for window in again] == [lists(window) for window in dataset]


def test_a_pickled_dataset_refuses_another_pack_at_its_path(write_pack, tmp_path):
    folder = Path(shutil.copytree(write_pack([[1, 7, 2]]), tmp_path / "pack"))
    pickled = pickle.dumps(PackedDataset(folder))
    shutil.rmtree(folder)
    shutil.copytree(write_pack([[1, 8, 2]]), folder)
    with pytest.raises(PackReplacedError, match=r"the fingerprint was .* and is "):
        pickle.loads(pickled)


def naive_window(stream: list[int], begin: int, block: int, last_target: bool) -> tuple[list[int], list[int]]:
    x = stream[begin : begin + block]
    y = stream[begin + 1 : begin + block + 1] if last_target else stream[begin + 1 : begin + block]
    return x + [0] * (block - len(x)), y + [0] * (block - len(y))


games = st.lists(st.lists(st.integers(3, 99), max_size=6).map(lambda moves: [1, *moves, 2]), max_size=6)


@settings(max_examples=60, deadline=None)
@given(games, st.integers(2, 12), st.booleans(), st.data())
def test_every_window_alone_and_in_a_batch_is_what_slices_of_the_stream_give(
    write_pack, games, block, last_target, data
):
    folder = write_pack(games)
    stream = [token for game in games for token in game]
    starts = [sum(map(len, games[:i])) for i in range(len(games))]
    blocks = [i * block for i in range(max(1, len(stream) // block) if stream else 0)]
    for begins, start_at_game in ((starts, True), (blocks, False)):
        dataset = PackedDataset(folder, block, start_at_game, last_target)
        expected = [naive_window(stream, begin, block, last_target) for begin in begins]
        assert [lists(window) for window in dataset] == expected
        chosen = data.draw(st.lists(st.sampled_from(range(len(begins))), max_size=8)) if begins else []
        assert [lists(window) for window in dataset.__getitems__(chosen)] == [expected[i] for i in chosen]
