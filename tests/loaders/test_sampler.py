import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

from rukh_loaders.errors import (
    LoaderArgumentError,
    NoBatchError,
    OrderArgumentError,
    StateFormatError,
    StateMismatchError,
)
from rukh_loaders.orders.order import BlockOrder, FeistelOrder, RandpermOrder, SequentialOrder
from rukh_loaders.sampler import ResumableSampler


def epoch_of(count, seed, epoch):
    return FeistelOrder(count, seed, epoch).take(0, count).tolist()


def drawn(iterator, count):
    return [next(iterator) for _ in range(count)]


def test_each_iteration_is_the_next_epoch():
    sampler = ResumableSampler(20, seed=3)
    assert len(sampler) == 20
    for epoch in range(3):
        assert (sampler.epoch, sampler.position) == (epoch, 0)
        assert list(sampler) == epoch_of(20, 3, epoch)


def test_an_iteration_that_is_left_ends_its_epoch():
    sampler = ResumableSampler(20)
    assert drawn(iter(sampler), 2) == epoch_of(20, 0, 0)[:2]
    assert list(sampler) == epoch_of(20, 0, 1)
    assert list(sampler) == epoch_of(20, 0, 2)


def test_an_iterator_that_is_never_drawn_from_changes_nothing():
    sampler = ResumableSampler(20)
    unused = iter(sampler), iter(sampler)
    assert list(sampler) == epoch_of(20, 0, 0)
    assert len(unused) == 2
    assert sampler.epoch == 1


def test_two_iterators_do_not_share_a_place():
    sampler = ResumableSampler(20)
    first = iter(sampler)
    begun = drawn(first, 5)
    assert list(sampler) == epoch_of(20, 0, 1)
    assert begun + list(first) == epoch_of(20, 0, 0)
    assert (sampler.epoch, sampler.position) == (2, 0)


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 9), st.integers())
def test_ranks_draw_equally_often_and_nothing_twice(count, world_size, seed):
    if count < world_size:
        with pytest.raises(NoBatchError, match=f"there are {count} items for {world_size} ranks"):
            ResumableSampler(count, seed, 0, world_size)
        return
    ranks = [ResumableSampler(count, seed, rank, world_size) for rank in range(world_size)]
    for epoch in range(2):
        served = [list(rank) for rank in ranks]
        assert {len(indices) for indices in served} == {len(ranks[0])} == {count // world_size}
        together = [index for step in zip(*served, strict=True) for index in step]
        assert together == epoch_of(count, seed, epoch)[: len(together)]


@settings(deadline=None)
@given(st.integers(1, 40), st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), min_size=1, max_size=6))
def test_any_saves_and_loads_with_any_ranks_serve_what_an_unbroken_run_does(count, stages):
    """Each stage is a number of ranks and of draws on each. Position by position, over the whole epochs."""
    served, state = {}, None
    for world_size, draws in stages:
        if count < world_size:
            continue
        ranks = [ResumableSampler(count, 7, rank, world_size) for rank in range(world_size)]
        if state is not None:
            for rank in ranks:
                rank.load_state_dict(state)
        iterators = [iter(rank) for rank in ranks]
        for _ in range(draws):
            step = [next(iterator, None) for iterator in iterators]
            if None in step:
                break
            before = ranks[0].position - world_size
            served.setdefault(ranks[0].epoch, {}).update(zip(range(before, before + world_size), step, strict=True))
        states = [json.loads(json.dumps(rank.state_dict())) for rank in ranks]
        assert all(other == states[0] for other in states)
        state = states[0]
    for epoch, items in served.items():
        assert sorted(items) == list(range(len(items)))
        assert [items[place] for place in sorted(items)] == epoch_of(count, 7, epoch)[: len(items)]


def test_a_state_at_the_end_of_an_epoch_resumes_into_a_full_next_one():
    sampler = ResumableSampler(6)
    drawn(iter(sampler), 6)  # the last index, but not the end of the iteration
    resumed = ResumableSampler(6)
    resumed.load_state_dict(sampler.state_dict())
    assert list(resumed) == epoch_of(6, 0, 1)


def test_a_rest_smaller_than_the_ranks_resumes_into_a_full_next_epoch():
    state = ResumableSampler(6).state_dict() | {"position": 4}
    ranks = [ResumableSampler(6, rank=rank, world_size=3) for rank in range(3)]
    for rank in ranks:
        rank.load_state_dict(state)
    assert [list(rank) for rank in ranks] == [epoch_of(6, 0, 1)[rank::3] for rank in range(3)]


def test_a_state_that_was_loaded_outlives_the_set_epoch_of_a_training_loop():
    sampler = ResumableSampler(6)
    sampler.load_state_dict(ResumableSampler(6).state_dict() | {"epoch": 2, "position": 4})
    sampler.set_epoch(2)
    assert list(sampler) == epoch_of(6, 0, 2)[4:]
    sampler.set_epoch(3)
    assert list(sampler) == epoch_of(6, 0, 3)


def test_setting_the_epoch_starts_it_over_or_at_a_position():
    sampler = ResumableSampler(6)
    drawn(iter(sampler), 2)
    sampler.set_epoch(0)
    assert list(sampler) == epoch_of(6, 0, 0)
    sampler.set_epoch(7)
    assert [list(sampler), list(sampler)] == [epoch_of(6, 0, 7), epoch_of(6, 0, 8)]
    sampler.set_epoch(7, 4)
    assert list(sampler) == epoch_of(6, 0, 7)[4:]


@pytest.mark.parametrize("order", [FeistelOrder, BlockOrder, RandpermOrder, lambda n, seed, epoch: SequentialOrder(n)])
def test_the_order_can_be_chosen(order):
    sampler = ResumableSampler(50, 4, order=order)
    for epoch in range(2):
        assert list(sampler) == order(50, 4, epoch).take(0, 50).tolist()


class Numbers:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on a machine of one core
@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # torchdata 0.11 calls it, torch 2.13 warns of it
@pytest.mark.parametrize("workers", [0, 2])
def test_torchdata_resumes_from_any_batch_though_its_workers_draw_ahead(workers):
    def loader():
        return StatefulDataLoader(Numbers(11), 2, sampler=ResumableSampler(11, 3), num_workers=workers)

    unbroken = [batch.tolist() for whole in [loader()] for _ in range(2) for batch in whole]
    for stop in (1, 3, 6):
        begun, resumed = loader(), loader()
        iterator = iter(begun)
        first = [batch.tolist() for batch in drawn(iterator, stop)]
        resumed.load_state_dict(begun.state_dict())
        rest = [batch.tolist() for _ in range(2) for batch in resumed]
        assert (first + rest)[: len(unbroken)] == unbroken


def test_the_loader_of_torch_counts_what_it_served():
    sampler = ResumableSampler(10, 1)
    iterator = iter(DataLoader(Numbers(10), 3, sampler=sampler))
    first = next(iterator).tolist()
    resumed = ResumableSampler(10, 1)
    resumed.load_state_dict(sampler.state_dict())
    assert first + list(resumed) == epoch_of(10, 1, 0)


def test_a_billion_items_make_no_list():
    tracemalloc.start()
    drawn(iter(ResumableSampler(10**9)), 20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


def test_drawing_leaves_the_global_random_numbers_alone():
    before = str(np.random.get_state())
    list(ResumableSampler(100))
    assert str(np.random.get_state()) == before


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ((11, 3, FeistelOrder), "the count 10 and this is 11"),
        ((10, 4, FeistelOrder), "the seed 3 and this is 4"),
        ((10, 3, BlockOrder), "the order 'FeistelOrder' and this is 'BlockOrder'"),
    ],
)
def test_a_state_of_another_order_is_refused_with_both_values(own, message):
    count, seed, order = own
    with pytest.raises(StateMismatchError, match=message):
        ResumableSampler(count, seed, order=order).load_state_dict(ResumableSampler(10, 3).state_dict())


def test_what_is_no_state_is_refused():
    with pytest.raises(StateFormatError, match=r"the state has the keys \['yielded'\]; a sampler's has \['count',"):
        ResumableSampler(10).load_state_dict({"yielded": 3})
    with pytest.raises(StateFormatError, match="the state is None; expected what state_dict gives"):
        ResumableSampler(10).load_state_dict(None)


@pytest.mark.parametrize(
    "change", [{"epoch": None}, {"epoch": -1}, {"epoch": 2**63}, {"position": 1.5}, {"position": "1"}, {"position": 11}]
)
def test_a_place_that_no_sampler_can_be_at_is_refused_with_its_name(change):
    ((name, value),) = change.items()
    sampler = ResumableSampler(10)
    with pytest.raises(StateFormatError, match=f"the state has the {name} {value!r}; it must be from 0 to "):
        sampler.load_state_dict(sampler.state_dict() | change)
    assert (sampler.epoch, sampler.position) == (0, 0)


def test_numpy_numbers_that_a_sampler_is_set_to_reach_its_state_as_json():
    sampler = ResumableSampler(20)
    sampler.set_epoch(np.int64(2), np.int64(10))
    assert json.loads(json.dumps(sampler.state_dict())) == sampler.state_dict()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ResumableSampler(0), NoBatchError, "there are 0 items for 1 ranks"),
        (lambda: ResumableSampler(-1), OrderArgumentError, "the number of items is -1"),
        (lambda: ResumableSampler(5, rank=2, world_size=2), LoaderArgumentError, "rank is 2 of world_size 2"),
        (lambda: ResumableSampler(5).set_epoch(-1), LoaderArgumentError, "epoch is -1; it must be 0 or more"),
        (
            lambda: ResumableSampler(5, order=lambda n, seed, epoch: SequentialOrder(4)),
            OrderArgumentError,
            "the order has 4 positions; count is 5",
        ),
    ],
)
def test_arguments_that_no_sampler_can_have_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_seed_that_is_no_whole_number_raises():
    with pytest.raises(TypeError):
        ResumableSampler(20, seed=0.5)
