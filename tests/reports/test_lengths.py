"""Lengths counted by length: the figures of one length a game."""

import numpy as np
import pytest
from corpora import random_games
from hypothesis import given
from hypothesis import strategies as st

from rukh_assets.reports import lengths as lengths_module
from rukh_assets.reports.lengths import count_lengths, pack_lengths
from rukh_loaders.errors import PackError
from rukh_loaders.formats import open_pack


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=300), st.floats(0, 100))
def test_figures_are_those_that_numpy_gives_of_one_length_a_game(values, percent):
    one_a_game = np.array(values, np.int64)
    counted = count_lengths(one_a_game)
    assert counted.n_games == len(values)
    assert counted.longest == max(values)
    assert counted.mean == one_a_game.mean()
    for asked in (percent, 0, 50, 95, 99.5, 100):
        assert counted.percentile(asked) == np.percentile(one_a_game, asked)
    assert counted.percentile(50) == np.median(one_a_game)
    assert counted.n_games_up_to(200) == np.count_nonzero(one_a_game <= 200)


@pytest.mark.parametrize("at_once", [1, 7, 39, 40, 1000])
@pytest.mark.parametrize("first", [None, 0, 1, 7, 8, 40, 1000])
def test_lengths_come_from_the_starts_and_the_number_of_tokens_whatever_is_read_at_once(
    packs, monkeypatch, at_once, first
):
    monkeypatch.setattr(lengths_module, "_GAMES_AT_ONCE", at_once)
    counted = pack_lengths(open_pack(packs["uci"]), first)
    expected = sorted(game["n_plies"] + 5 for game in random_games(40)[:first])
    assert np.repeat(counted.lengths, counted.games).tolist() == expected
    assert counted.lengths.size == len(set(expected))


@pytest.mark.parametrize("at_once", [3, 1000])
def test_starts_that_do_not_rise_are_refused_with_the_game(make_packs, monkeypatch, at_once):
    monkeypatch.setattr(lengths_module, "_GAMES_AT_ONCE", at_once)
    path = make_packs(random_games(9))["uci"]
    starts = np.load(path / "starts.npy")
    starts[5] = starts[4]
    np.save(path / "starts.npy", starts)
    with pytest.raises(PackError, match=rf"game 4 starts at {starts[4]} and the next at {starts[4]}, expected starts"):
        pack_lengths(open_pack(path))
