"""The orders of the reference's sampler, from ours: the same values where nothing is served twice.

Where items do not share out evenly, the reference serves the first ones again until they do. We serve none twice: what
is left over is left out of the epoch (`ResumableSampler`), or rows fill the last batch up (`make_loader`).
"""

from itertools import chain

import pytest
from integer_source import IntegerSource, served

from rukh_loaders import ResumableSampler, make_loader
from rukh_loaders.errors import NoBatchError
from rukh_loaders.orders.order import Order, RandpermOrder, SequentialOrder


def sequential(count: int, seed: int, epoch: int) -> Order:
    return SequentialOrder(count)


def of_ranks(
    count: int, ranks: int, order: type[RandpermOrder] | None = RandpermOrder, epoch: int = 0
) -> list[list[int]]:
    samplers = [ResumableSampler(count, 42, rank, ranks, order or sequential) for rank in range(ranks)]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    return [list(sampler) for sampler in samplers]


def test_a19_three_epochs_of_six() -> None:
    sampler = ResumableSampler(6, 42, order=RandpermOrder)
    assert [list(sampler) for _ in range(3)] == [[0, 3, 2, 4, 1, 5], [4, 0, 5, 1, 2, 3], [4, 0, 3, 2, 5, 1]]


def test_a19_a_start_within_an_epoch() -> None:
    sampler = ResumableSampler(6, 42, order=RandpermOrder)
    sampler.set_epoch(0, 4)
    assert [list(sampler) for _ in range(2)] == [[1, 5], [4, 0, 5, 1, 2, 3]]


def test_a19_two_ranks_take_turns() -> None:
    assert of_ranks(6, 2) == [[0, 2, 1], [3, 4, 5]]


def test_a19_seven_over_three_ranks_serve_none_twice() -> None:
    assert of_ranks(7, 3, None) == [[0, 3], [1, 4], [2, 5]]  # the reference with drop_last; without, 6, 0 and 1 follow
    loaders = [
        make_loader(IntegerSource(7), 1, shuffle=False, drop_last=False, rank=rank, world_size=3) for rank in range(3)
    ]
    by_rank = [served(loader) for loader in loaders]
    assert sorted(chain.from_iterable(by_rank)) == list(range(7))
    assert [rows[:2] for rows in by_rank] == [[0, 3], [1, 4], [2, 5]]


def test_a19_without_drop_last_the_reference_repeats_what_we_never_do() -> None:
    """The reference serves 0, 3, 6 and 1, 4, 0 and 2, 5, 1: two items twice, so that an epoch's mean counts them twice.

    Here the last step has one item and two rows that only fill up, and are known by their index, -1.
    """
    loaders = [
        make_loader(IntegerSource(7), 1, shuffle=False, drop_last=False, rank=rank, world_size=3) for rank in range(3)
    ]
    assert [[batch.index.tolist() for batch in loader] for loader in loaders] == [
        [[0], [3], [-1]],
        [[1], [4], [-1]],
        [[2], [5], [6]],
    ]


def test_a19_a_state_of_two_ranks_goes_on_with_four() -> None:
    two = [ResumableSampler(8, 42, rank, 2, sequential) for rank in range(2)]
    for sampler in two:
        iterator = iter(sampler)
        assert [next(iterator), next(iterator)]
    four = [ResumableSampler(8, 42, rank, 4, sequential) for rank in range(4)]
    for sampler in four:
        sampler.load_state_dict(two[0].state_dict())
    assert [list(sampler) for sampler in four] == [[4], [5], [6], [7]]


def test_s1_a_pass_that_is_left_early_loses_nothing_of_the_next() -> None:
    sampler = ResumableSampler(6, 42, order=RandpermOrder)
    iterator = iter(sampler)
    assert [next(iterator), next(iterator)] == [0, 3]
    assert [list(sampler) for _ in range(2)] == [[4, 0, 5, 1, 2, 3], [4, 0, 3, 2, 5, 1]]


@pytest.mark.parametrize(("count", "ranks"), [(2, 5), (0, 1)])
def test_s2_s3_ranks_that_would_have_nothing_are_refused(count: int, ranks: int) -> None:
    with pytest.raises(NoBatchError):
        ResumableSampler(count, 42, 0, ranks)


def test_s2_every_rank_has_as_many_batches() -> None:
    loaders = [make_loader(IntegerSource(2), 1, drop_last=False, rank=rank, world_size=5) for rank in range(5)]
    assert [len(list(loader)) for loader in loaders] == [1] * 5


def test_s4_a_start_at_the_end_is_the_next_epoch() -> None:
    sampler = ResumableSampler(6, 42, order=RandpermOrder)
    sampler.set_epoch(0, 6)
    assert list(sampler) == [4, 0, 5, 1, 2, 3]


def test_s5_what_is_made_ahead_does_not_count() -> None:
    loader = make_loader(IntegerSource(10), 2, prefetch=2)
    next(iter(loader))
    assert loader.state_dict()["position"] == 2


def test_s6_a_short_last_batch_counts_for_what_it_has() -> None:
    loader = make_loader(IntegerSource(10), 4, drop_last=False)
    iterator = iter(loader)
    assert [next(iterator) and loader.position for _ in range(3)] == [4, 8, 10]
    assert len(list(iterator)) == 0
    assert (loader.epoch, loader.position) == (1, 0)


def test_s7_an_epoch_is_set_and_a_state_goes_there_and_back() -> None:
    assert of_ranks(6, 1, epoch=2) == [[4, 0, 3, 2, 5, 1]]
    sampler = ResumableSampler(6, 42, order=RandpermOrder)
    next(iter(sampler))
    other = ResumableSampler(6, 42, order=RandpermOrder)
    other.load_state_dict(sampler.state_dict())
    assert list(other) == [3, 2, 4, 1, 5]


def test_s8_an_older_iterator_does_not_move_the_sampler() -> None:
    sampler = ResumableSampler(6, 42, order=RandpermOrder)
    older, newer = iter(sampler), iter(sampler)
    assert [next(older), next(newer)] == [0, 4]
    before = sampler.state_dict()
    assert list(older) == [3, 2, 4, 1, 5]
    assert sampler.state_dict() == before
