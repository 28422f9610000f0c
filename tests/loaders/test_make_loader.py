import random
import warnings

import numpy as np
import pytest
import torch
from integer_source import IntegerSource, served
from torch.utils.data import TensorDataset

from rukh_loaders import Loader, PackedDataset, make_loader
from rukh_loaders.batch import Batch
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
    assert isinstance(loader, Loader)
    assert len(loader) == len(batches) == 5
    for x, y in batches:
        assert x.shape == y.shape == (4, 6)
        assert x.dtype == y.dtype == torch.int64
        assert torch.equal(x[:, 1:], y[:, :-1])
        assert x.view(-1).shape == y.view(-1).shape == (24,)


def test_a_batch_says_which_items_its_rows_are(dataset):
    for batch in make_loader(dataset, 4):
        assert isinstance(batch, Batch)
        assert (batch.x[:, 1] - 10).tolist() == batch.index.tolist()


def test_an_epoch_serves_every_game_once(dataset):
    assert sorted(games_of(epoch(make_loader(dataset, 4)))) == list(range(20))


def test_the_same_seed_gives_the_same_batches_and_another_seed_others(dataset):
    first = epoch(make_loader(dataset, 4, seed=5))
    assert first == epoch(make_loader(dataset, 4, seed=5))
    assert first != epoch(make_loader(dataset, 4, seed=6))


@pytest.mark.parametrize("shuffle", [True, "blocks"])
def test_each_iteration_is_a_new_epoch_in_another_order(dataset, shuffle):
    for source in (dataset, IntegerSource(20)):
        loader = make_loader(source, 4, shuffle=shuffle)
        epochs = [served(loader) for _ in range(3)]
        assert len(set(map(str, epochs))) == 3
        assert all(sorted(items) == list(range(20)) for items in epochs)


def test_without_shuffle_the_order_is_that_of_the_pack_every_time(dataset):
    loader = make_loader(dataset, 4, shuffle=False)
    assert games_of(epoch(loader)) == games_of(epoch(loader)) == list(range(20))


def test_a_last_batch_that_is_not_full_is_left_out_or_filled_up(dataset):
    assert [len(x) for x, _ in make_loader(dataset, 6)] == [6, 6, 6]
    *_, (x, y) = make_loader(dataset, 6, drop_last=False)
    assert (len(x), len(y)) == (6, 6)
    assert not x[2:].any()
    assert not y[2:].any()
    (batch,) = make_loader(dataset, 30, drop_last=False)
    assert sorted(batch.index.tolist()) == [-1] * 10 + list(range(20))


def test_batches_may_be_written_into(dataset):
    loader = make_loader(dataset, 4, shuffle=False)
    before = epoch(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in loader:
            batch.index.fill_(99)
            batch.x.fill_(99)
            assert 99 not in batch.y
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


def test_batches_on_the_way_to_the_processor_are_those_that_stay_where_they_are(dataset):
    assert epoch(make_loader(dataset, 4, device="cpu")) == epoch(make_loader(dataset, 4))
    assert epoch(make_loader(dataset, 4, device=torch.device("cpu"), prefetch=0)) == epoch(make_loader(dataset, 4))


def test_narrow_batches_are_widened_on_their_device(twenty_games, dataset):
    narrow = PackedDataset(twenty_games, block=6, widen_on_device=True)
    assert epoch(make_loader(narrow, 4)) == epoch(make_loader(dataset, 4))
    for batch in make_loader(narrow, 4, device="cpu"):
        assert batch.tokens_uint16 is None
        assert batch.x.dtype == torch.int64


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("widen_on_device", [False, True])
def test_batches_on_a_cuda_device_are_those_in_host_memory(twenty_games, dataset, prefetch, widen_on_device):
    source = PackedDataset(twenty_games, block=6, widen_on_device=widen_on_device)
    loader = make_loader(source, 4, device="cuda", prefetch=prefetch)
    for x, y in loader:
        assert x.device.type == y.device.type == "cuda"
    assert epoch(make_loader(source, 4, device="cuda", prefetch=prefetch)) == epoch(make_loader(dataset, 4))
    assert all(x.is_pinned() for x, _ in make_loader(dataset, 4, pin_memory=True, prefetch=prefetch))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
@pytest.mark.parametrize("options", [{"pin_memory": True}, {"device": "cuda"}, {"device": "cuda:1"}])
def test_a_device_that_is_not_there_raises(dataset, options):
    with pytest.raises(LoaderArgumentError, match="torch finds no CUDA device here"):
        make_loader(dataset, 4, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0; it must be 1 or more"),
        ({"batch_size": -3}, "batch_size is -3; it must be 1 or more"),
        ({"batch_size": 4, "shuffle": "block"}, "shuffle is 'block'; it must be True, False or 'blocks'"),
        ({"batch_size": 4, "shuffle": 1}, "shuffle is 1; it must be True"),
    ],
)
def test_an_argument_that_no_loader_can_have_raises(dataset, arguments, message):
    with pytest.raises(LoaderArgumentError, match=message):
        make_loader(dataset, **arguments)


@pytest.mark.parametrize("arguments", [{"batch_size": 2.5}, {"batch_size": 4, "seed": 0.5}])
def test_an_argument_that_is_no_whole_number_raises(dataset, arguments):
    with pytest.raises(TypeError):
        make_loader(dataset, **arguments)


def test_a_dataset_that_gathers_no_batches_is_sent_to_the_loader_of_torch():
    with pytest.raises(LoaderArgumentError, match=r"a TensorDataset, .* torch's DataLoader with sampler="):
        make_loader(TensorDataset(torch.arange(20)), 4)


def test_a_batch_larger_than_the_dataset_raises_rather_than_serve_nothing(dataset):
    with pytest.raises(NoBatchError, match=r"has 20 items and batch_size is 21.* pass drop_last=False"):
        make_loader(dataset, 21)


@pytest.mark.parametrize("shuffle", [True, "blocks", False])
@pytest.mark.parametrize("drop_last", [True, False])
def test_an_empty_dataset_raises_rather_than_serve_nothing(write_pack, shuffle, drop_last):
    with pytest.raises(NoBatchError, match="has no items"):
        make_loader(PackedDataset(write_pack([])), 4, shuffle=shuffle, drop_last=drop_last)
