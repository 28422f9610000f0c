import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_loaders.sampler import ShuffledSampler, epoch_order


@given(st.integers(0, 300), st.integers(), st.integers(0, 2**40))
def test_an_order_is_a_permutation_and_the_same_each_time(count, seed, epoch):
    order = epoch_order(count, seed, epoch)
    assert sorted(order.tolist()) == list(range(count))
    assert order.tolist() == epoch_order(count, seed, epoch).tolist()


def test_seeds_and_epochs_near_each_other_all_have_orders_of_their_own():
    orders = {tuple(epoch_order(20, seed, epoch).tolist()) for seed in range(-5, 20) for epoch in range(20)}
    assert len(orders) == 25 * 20


def test_epoch_one_of_seed_zero_is_not_epoch_zero_of_seed_one():
    assert epoch_order(20, 0, 1).tolist() != epoch_order(20, 1, 0).tolist()


def test_an_order_is_the_same_on_every_machine_and_version():
    assert epoch_order(10, 0, 0).tolist() == [9, 3, 5, 4, 7, 2, 1, 6, 0, 8]
    assert epoch_order(10, 2**64, 3).tolist() == [7, 3, 8, 2, 6, 4, 1, 0, 5, 9]


def test_every_item_comes_to_every_place_about_equally_often():
    counts = [[0] * 5 for _ in range(5)]
    for epoch in range(2000):
        for place, item in enumerate(epoch_order(5, 0, epoch).tolist()):
            counts[place][item] += 1
    assert all(320 < count < 480 for row in counts for count in row)  # 400 expected, standard deviation 18


def test_each_iteration_is_the_next_epoch():
    sampler = ShuffledSampler(20, seed=3)
    assert len(sampler) == 20
    for epoch in range(3):
        assert sampler.epoch == epoch
        assert list(sampler) == epoch_order(20, 3, epoch).tolist()


def test_setting_the_epoch_goes_on_from_there():
    sampler = ShuffledSampler(20)
    sampler.epoch = 7
    assert [list(sampler), list(sampler)] == [epoch_order(20, 0, 7).tolist(), epoch_order(20, 0, 8).tolist()]


def test_a_seed_that_is_no_whole_number_raises():
    with pytest.raises(TypeError):
        ShuffledSampler(20, seed=0.5)
