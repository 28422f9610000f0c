import random
import warnings

import numpy as np
import pytest
import torch
from torch.utils.data import ConcatDataset

from rukh_loaders import PackedDataset, make_loader
from rukh_loaders.errors import LoaderArgumentError, NoBatchError


@pytest.fixture(scope="module")
def dataset(twenty_games):
    return PackedDataset(twenty_games, block=6)


def epoch(loader):
    """One epoch as plain lists: a list of batches, each an `x` and a `y`."""
    return [[part.tolist() for part in batch] for batch in loader]


def games_of(batches):
    """Which games the windows start at, in the order they were served."""
    return [x[1] - 10 for xs, _ in batches for x in xs]


def test_twenty_games_make_five_batches_of_four(dataset):
    loader = make_loader(dataset, 4)
    batches = list(loader)
    assert len(loader) == len(batches) == 5
    for x, y in batches:
        assert x.shape == y.shape == (4, 6)
        assert x.dtype == y.dtype == torch.int64
        assert torch.equal(x[:, 1:], y[:, :-1])
        assert x.view(-1).shape == y.view(-1).shape == (24,)


def test_an_epoch_serves_every_game_once(dataset):
    assert sorted(games_of(epoch(make_loader(dataset, 4)))) == list(range(20))


def test_the_same_seed_gives_the_same_batches_and_another_seed_others(dataset):
    first = epoch(make_loader(dataset, 4, seed=5))
    assert first == epoch(make_loader(dataset, 4, seed=5))
    assert first != epoch(make_loader(dataset, 4, seed=6))


def test_each_iteration_is_a_new_epoch_in_another_order(dataset):
    loader = make_loader(dataset, 4)
    epochs = [epoch(loader) for _ in range(3)]
    assert len({str(games_of(batches)) for batches in epochs}) == 3
    assert all(sorted(games_of(batches)) == list(range(20)) for batches in epochs)


def test_an_epoch_can_be_gone_to_without_serving_those_before(dataset):
    loader = make_loader(dataset, 4)
    epochs = [epoch(loader) for _ in range(3)]
    other = make_loader(dataset, 4)
    other.sampler.epoch = 2
    assert epoch(other) == epochs[2]


def test_an_iteration_left_half_way_does_not_change_the_next_epoch(dataset):
    whole, left = make_loader(dataset, 4), make_loader(dataset, 4)
    epoch(whole)
    next(iter(left))
    assert epoch(left) == epoch(whole)


def test_without_shuffle_the_order_is_that_of_the_pack_every_time(dataset):
    loader = make_loader(dataset, 4, shuffle=False)
    assert games_of(epoch(loader)) == games_of(epoch(loader)) == list(range(20))


def test_a_last_batch_that_is_not_full_is_left_out_or_kept(dataset):
    assert [len(x) for x, _ in make_loader(dataset, 6)] == [6, 6, 6]
    assert [len(x) for x, _ in make_loader(dataset, 6, drop_last=False)] == [6, 6, 6, 2]
    assert [len(x) for x, _ in make_loader(dataset, 30, drop_last=False)] == [20]


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on a machine of one core
@pytest.mark.parametrize("shuffle", [True, False])
def test_worker_processes_give_the_same_batches_as_none(dataset, shuffle):
    alone = make_loader(dataset, 4, seed=1, shuffle=shuffle)
    helped = make_loader(dataset, 4, seed=1, shuffle=shuffle, workers=2)
    assert [epoch(helped), epoch(helped)] == [epoch(alone), epoch(alone)]


def test_workers_started_by_spawn_open_the_pack_again_and_give_the_same_batches(dataset):
    alone = make_loader(dataset, 4, seed=1)
    spawned = make_loader(dataset, 4, seed=1, workers=1)
    spawned.multiprocessing_context = "spawn"
    assert epoch(spawned) == epoch(alone)


def test_batches_may_be_written_into(dataset):
    loader = make_loader(dataset, 4, shuffle=False)
    before = epoch(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in loader:
            x.fill_(99)
            assert 99 not in y
    assert epoch(loader) == before


def test_serving_batches_leaves_the_global_random_numbers_alone(dataset):
    before = torch.get_rng_state().tolist(), random.getstate(), str(np.random.get_state())
    epoch(make_loader(dataset, 4))
    assert (torch.get_rng_state().tolist(), random.getstate(), str(np.random.get_state())) == before


def test_global_random_numbers_do_not_change_the_batches(dataset):
    torch.manual_seed(1)
    first = epoch(make_loader(dataset, 4))
    torch.manual_seed(2)
    assert epoch(make_loader(dataset, 4)) == first


def test_months_put_together_make_one_dataset(dataset):
    batches = epoch(make_loader(ConcatDataset([dataset, dataset]), 8))
    assert sorted(games_of(batches)) == sorted([*range(20), *range(20)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0; it must be 1 or more"),
        ({"batch_size": -3}, "batch_size is -3; it must be 1 or more"),
        ({"batch_size": 4, "workers": -1}, "workers is -1; it must be 0 or more, 0 for none"),
    ],
)
def test_an_argument_that_no_loader_can_have_raises(dataset, arguments, message):
    with pytest.raises(LoaderArgumentError, match=message):
        make_loader(dataset, **arguments)


def test_a_batch_larger_than_the_dataset_raises_rather_than_serve_nothing(dataset):
    with pytest.raises(NoBatchError, match=r"has 20 items and batch_size is 21.* pass drop_last=False"):
        make_loader(dataset, 21)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("drop_last", [True, False])
def test_an_empty_dataset_raises_rather_than_serve_nothing(write_pack, shuffle, drop_last):
    with pytest.raises(NoBatchError, match="has no items"):
        make_loader(PackedDataset(write_pack([])), 4, shuffle=shuffle, drop_last=drop_last)
