"""Torch's own loader and torchdata's serve the datasets too, in an order that a sampler resumes."""

import pickle

import pytest
from torch.utils.data import ConcatDataset, DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

from rukh_loaders import PackedDataset, ResumableSampler, make_loader

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),  # on a machine of one core
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),  # which torchdata still calls
]


@pytest.fixture(scope="module")
def dataset(twenty_games):
    return PackedDataset(twenty_games, block=6)


def games_of(batches):
    return [game - 10 for x, _ in batches for game in x[:, 1].tolist()]


def values(batches):
    return [(x.tolist(), y.tolist()) for x, y in batches]


def test_the_loader_of_torch_serves_the_batches_that_make_loader_does(dataset):
    stock = DataLoader(dataset, 4, sampler=ResumableSampler(len(dataset), seed=3))
    own = make_loader(dataset, 4, seed=3)
    for _ in range(2):
        assert values(stock) == values(own)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_however_started_open_the_pack_again_and_serve_the_same(dataset, method):
    stock = DataLoader(dataset, 4, sampler=ResumableSampler(20, seed=3), num_workers=1, multiprocessing_context=method)
    assert values(stock) == values(make_loader(dataset, 4, seed=3))


def test_persistent_workers_serve_another_order_each_epoch(dataset):
    stock = DataLoader(dataset, 4, sampler=ResumableSampler(20), num_workers=2, persistent_workers=True)
    epochs = [games_of(stock) for _ in range(3)]
    assert len(set(map(str, epochs))) == 3
    assert all(sorted(games) == list(range(20)) for games in epochs)


def test_the_loader_of_torchdata_goes_on_where_its_state_was_saved(dataset):
    def stateful():
        return StatefulDataLoader(dataset, 4, sampler=ResumableSampler(20, seed=3))

    whole, begun, resumed = stateful(), stateful(), stateful()
    unbroken = values(whole)
    iteration = iter(begun)
    first = [next(iteration) for _ in range(2)]
    resumed.load_state_dict(pickle.loads(pickle.dumps(begun.state_dict())))
    assert values(first) + values(resumed) == unbroken
    assert sorted(games_of(resumed)) == list(range(20))


def test_months_put_together_by_torch_make_one_dataset(dataset):
    both = ConcatDataset([dataset, dataset])
    batches = DataLoader(both, 8, sampler=ResumableSampler(len(both)))
    assert sorted(games_of(batches)) == sorted([*range(20), *range(20)])


def test_a_sampler_of_a_billion_items_is_a_few_numbers_that_workers_are_sent():
    sampler = ResumableSampler(10**9)
    assert len(pickle.dumps(sampler)) < 4096
    assert len(pickle.dumps(sampler.state_dict())) < 1024
