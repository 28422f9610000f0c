import doctest
import pickle
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rukh_loaders.orders.order
from rukh_loaders.errors import OrderArgumentError, PositionError
from rukh_loaders.orders.order import BlockOrder, FeistelOrder, RandpermOrder, SequentialOrder

SHUFFLED = [FeistelOrder, BlockOrder, RandpermOrder]
CHUNK = 65_536


def whole(order):
    return order.take(0, len(order)).tolist()


@settings(deadline=None)
@given(st.integers(0, 3000), st.integers(), st.integers(0, 2**62 - 1))
def test_a_shuffled_order_is_a_permutation(count, seed, epoch):
    assert sorted(whole(FeistelOrder(count, seed, epoch))) == list(range(count))


@settings(deadline=None)
@given(st.integers(0, 80), st.integers(), st.integers(0, 99), st.integers(1, 30), st.integers(1, 9))
def test_a_block_order_is_a_permutation_whatever_the_sizes(count, seed, epoch, block, buffer):
    assert sorted(whole(BlockOrder(count, seed, epoch, block, buffer))) == list(range(count))


@pytest.mark.parametrize("count", [1023, 1024, 1025, 32_768, 100_003, 2**17])
@pytest.mark.parametrize("order", SHUFFLED)
def test_a_permutation_also_where_it_takes_many_chunks(order, count):
    assert np.array_equal(np.sort(order(count, 1, 2).take(0, count)), np.arange(count))


@settings(deadline=None, max_examples=50)
@given(st.data(), st.integers(0, 2500))
def test_pieces_put_together_are_the_whole(data, count):
    cuts = sorted(data.draw(st.lists(st.integers(0, count), max_size=5)))
    for order in (SequentialOrder(count), FeistelOrder(count, 5), BlockOrder(count, 5, 0, 64, 3)):
        pieces = [order.take(begin, end) for begin, end in zip([0, *cuts], [*cuts, count], strict=True)]
        assert np.concatenate(pieces).tolist() == whole(order)


def test_without_shuffle_items_come_as_they_are():
    assert whole(SequentialOrder(5)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("order", [FeistelOrder, BlockOrder])
def test_seeds_and_epochs_near_each_other_all_have_orders_of_their_own(order):
    orders = {tuple(whole(order(20, seed, epoch))) for seed in range(-4, 6) for epoch in range(10)}
    assert len(orders) == 10 * 10


@pytest.mark.parametrize("order", [FeistelOrder, BlockOrder])
def test_epoch_one_of_seed_zero_is_not_epoch_zero_of_seed_one(order):
    assert whole(order(20, 0, 1)) != whole(order(20, 1, 0))


def test_an_order_is_the_same_on_every_machine_and_version():
    assert whole(FeistelOrder(10)) == [0, 7, 2, 6, 5, 9, 3, 8, 1, 4]
    assert whole(FeistelOrder(10, -(2**64), 3)) == [7, 6, 0, 4, 8, 2, 9, 1, 3, 5]
    assert FeistelOrder(10**9, 7, 1).take(0, 4).tolist() == [485378730, 772466987, 894428650, 87477819]
    assert FeistelOrder(2**62, 7, 1).take(2**62 - 3, 2**62).tolist() == [
        543357366716351528,
        2783865178017936805,
        2103948491491082211,
    ]
    assert whole(BlockOrder(10, 7, 1, 3, 2)) == [1, 6, 2, 8, 7, 0, 4, 3, 9, 5]


def test_a_randperm_order_is_what_other_trainings_were_served():
    """Values of torch 2.13 on a CPU, for seed 42."""
    assert [whole(RandpermOrder(6, 42, epoch)) for epoch in range(3)] == [
        [0, 3, 2, 4, 1, 5],
        [4, 0, 5, 1, 2, 3],
        [4, 0, 3, 2, 5, 1],
    ]
    assert whole(RandpermOrder(6, 42, 1)) == whole(RandpermOrder(6, 43, 0))


@pytest.mark.parametrize("order", [SequentialOrder(9), FeistelOrder(9), BlockOrder(9), RandpermOrder(9)])
def test_what_was_taken_is_the_callers_own(order):
    before = whole(order)
    taken = order.take(0, 9)
    assert taken.dtype == np.int64
    taken[:] = -1
    assert whole(order) == before


@pytest.mark.parametrize("order", [SequentialOrder(9), FeistelOrder(9, 3), BlockOrder(9, 3), RandpermOrder(9, 3)])
def test_an_order_that_was_used_pickles_small_and_stays_the_same(order):
    before = whole(order)
    pickled = pickle.dumps(order)
    assert len(pickled) < 2048
    assert pickle.loads(pickled) == order
    assert whole(pickle.loads(pickled)) == before


@pytest.mark.parametrize("order", [SequentialOrder, *SHUFFLED])
@pytest.mark.parametrize(("begin", "end"), [(-1, 3), (0, 11), (4, 3), (10, 11), (11, 11), (2**70, 2**70 + 1)])
def test_positions_outside_are_refused_before_anything_is_computed(order, begin, end):
    with pytest.raises(PositionError, match=f"no positions {begin} to {end}: the order has 10, numbered from 0"):
        order(10).take(begin, end)


@pytest.mark.parametrize("order", [SequentialOrder, *SHUFFLED])
def test_an_empty_order_gives_nothing_and_refuses_position_zero(order):
    assert order(0).take(0, 0).tolist() == []
    with pytest.raises(PositionError):
        order(0).take(0, 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SequentialOrder(-1), r"the number of items is -1; it must be from 0 to 4611686018427387904"),
        (lambda: FeistelOrder(2**62 + 1), r"the number of items is 4611686018427387905"),
        (lambda: FeistelOrder(5, 0, -1), r"epoch is -1; it must be from 0"),
        (lambda: RandpermOrder(5, 0, 2**62), r"epoch is 4611686018427387904; it must be from 0 to"),
        (lambda: BlockOrder(5, block=0), r"block is 0; it must be from 1"),
        (lambda: BlockOrder(5, buffer=-2), r"buffer is -2; it must be from 1"),
    ],
)
def test_numbers_that_no_order_can_have_are_refused(make, message):
    with pytest.raises(OrderArgumentError, match=message):
        make()


@pytest.mark.parametrize("order", SHUFFLED)
def test_a_seed_or_a_count_that_is_no_whole_number_raises(order):
    with pytest.raises(TypeError):
        order(5, 0.5)
    with pytest.raises(TypeError):
        order(5.0)


@settings(deadline=None, max_examples=30)
@given(st.integers(2**31, 2**62), st.integers(), st.data())
def test_counts_past_32_bits_give_other_items_at_other_positions(count, seed, data):
    begin = data.draw(st.integers(0, count - 1000))
    for order in (FeistelOrder(count, seed), BlockOrder(count, seed)):
        items = order.take(begin, begin + 1000)
        assert items.min() >= 0
        assert items.max() < count
        assert len(set(items.tolist())) == 1000


def test_both_ends_of_the_largest_order_can_be_taken():
    order = FeistelOrder(2**62)
    ends = [*order.take(0, 1000).tolist(), *order.take(2**62 - 1000, 2**62).tolist()]
    assert len(set(ends)) == 2000
    assert max(ends) < 2**62


def test_a_group_of_blocks_is_served_before_the_next_one():
    count, block, buffer = 1000, 8, 4
    items = BlockOrder(count, 1, 0, block, buffer).take(0, count)
    blocks_of_groups = [set(group // block) for group in np.split(items[:960], 30)]
    assert [len(blocks) for blocks in blocks_of_groups] == [4] * 30  # 32 items of 4 whole blocks each
    assert items[:32].tolist() != sorted(items[:32].tolist())


@pytest.mark.parametrize("epoch", range(12))
def test_a_last_block_that_is_shorter_comes_anywhere(epoch):
    items = BlockOrder(10, 0, epoch, block=4, buffer=1).take(0, 10).tolist()
    of_last = [place for place, item in enumerate(items) if item >= 8]
    assert of_last in ([0, 1], [4, 5], [8, 9])


def test_the_last_block_is_not_always_at_the_same_place():
    places = {BlockOrder(10, 0, epoch, block=4, buffer=1).take(0, 10).tolist().index(9) // 2 for epoch in range(30)}
    assert places == {0, 2, 4}


def test_an_order_of_a_billion_items_is_set_up_in_no_time_and_no_memory():
    tracemalloc.start()
    began = time.perf_counter()
    order = FeistelOrder(10**9, 1)
    order.take(10**9 - 1, 10**9)
    elapsed = time.perf_counter() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert elapsed < 0.1  # 0.3 ms where nothing else runs
    assert peak < 100_000


@pytest.mark.parametrize("order", [FeistelOrder(10**9), BlockOrder(10**9), SequentialOrder(10**9)])
def test_memory_is_that_of_what_is_taken_and_a_constant(order):
    order.take(0, 1)
    tracemalloc.start()
    taken = order.take(500_000, 500_000 + 16 * CHUNK)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 7 * taken.nbytes


def test_orders_other_than_that_of_torch_import_no_torch():
    code = "import sys, rukh_loaders.orders.order as o; o.BlockOrder(9).take(0, 9); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_examples_of_the_module_are_true():
    assert doctest.testmod(rukh_loaders.orders.order) == (0, 3)
