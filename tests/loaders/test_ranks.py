"""Every rank serves as many batches as any other, and together they serve each sample once."""

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from integer_source import IntegerSource, served

from rukh_loaders import make_loader
from rukh_loaders.batch import FILLER
from rukh_loaders.errors import LoaderArgumentError, NoBatchError
from rukh_loaders.orders.order import FeistelOrder, SequentialOrder
from rukh_loaders.serving.ranks import RankBatches

counts = st.integers(1, 70)
batch_sizes = st.integers(1, 9)
world_sizes = st.integers(1, 7)


def epoch_of_each_rank(source, batch_size, world_size, **options):
    """A list of batches a rank."""
    loaders = [
        make_loader(source, batch_size, rank=rank, world_size=world_size, prefetch=0, **options)
        for rank in range(world_size)
    ]
    epochs = [list(loader) for loader in loaders]
    assert [len(loader) for loader in loaders] == [len(epoch) for epoch in epochs]
    return epochs


@settings(deadline=None)
@given(counts, batch_sizes, world_sizes)
@example(count=1, batch_size=4, world_size=7)
def test_evaluation_sees_every_sample_once_in_equally_many_batches_on_every_rank(count, batch_size, world_size):
    epochs = epoch_of_each_rank(IntegerSource(count), batch_size, world_size, evaluate=True)
    assert {len(epoch) for epoch in epochs} == {-(-count // (batch_size * world_size))}
    assert all(len(batch) == batch_size for epoch in epochs for batch in epoch)
    assert sorted(item for epoch in epochs for item in served(epoch)) == list(range(count))


@settings(deadline=None)
@given(counts, batch_sizes, world_sizes, st.sampled_from([True, False, "blocks"]))
def test_training_fills_up_its_last_batch_and_repeats_no_sample(count, batch_size, world_size, shuffle):
    options = {"shuffle": shuffle, "drop_last": False}
    epochs = epoch_of_each_rank(IntegerSource(count), batch_size, world_size, **options)
    assert {len(epoch) for epoch in epochs} == {-(-count // (batch_size * world_size))}
    assert sorted(item for epoch in epochs for item in served(epoch)) == list(range(count))


@settings(deadline=None)
@given(counts, batch_sizes, world_sizes)
def test_training_leaves_out_less_than_one_global_batch_and_repeats_no_sample(count, batch_size, world_size):
    global_size = batch_size * world_size
    if count < global_size:
        with pytest.raises(NoBatchError):
            epoch_of_each_rank(IntegerSource(count), batch_size, world_size)
        return
    epochs = epoch_of_each_rank(IntegerSource(count), batch_size, world_size)
    assert {len(epoch) for epoch in epochs} == {count // global_size}
    items = [item for epoch in epochs for item in served(epoch)]
    assert len(items) == len(set(items)) == count - count % global_size


@settings(deadline=None)
@given(counts, batch_sizes, world_sizes)
def test_the_rows_that_fill_up_are_spread_over_the_ranks_and_stand_last(count, batch_size, world_size):
    epochs = epoch_of_each_rank(IntegerSource(count), batch_size, world_size, evaluate=True)
    last = [epoch[-1].index.tolist() for epoch in epochs]
    real = [sum(item != FILLER for item in items) for items in last]
    assert max(real) - min(real) <= 1
    assert all(FILLER not in items[:full] for items, full in zip(last, real, strict=True))


def test_a_row_that_fills_up_is_all_pad():
    (batch,) = make_loader(IntegerSource(3), 4, evaluate=True)
    assert batch.index.tolist() == [0, 1, 2, -1]
    assert batch.x.tolist() == [[0, 1], [1, 2], [2, 3], [0, 0]]
    assert batch.y.tolist() == [[1, 2], [2, 3], [3, 4], [0, 0]]


def test_a_global_batch_is_cut_into_one_batch_a_rank():
    epochs = epoch_of_each_rank(IntegerSource(10), 2, 2, shuffle=False, drop_last=False)
    assert [[batch.index.tolist() for batch in epoch] for epoch in epochs] == [
        [[0, 1], [4, 5], [8, FILLER]],
        [[2, 3], [6, 7], [9, FILLER]],
    ]


@pytest.mark.parametrize("shuffle", [True, "blocks", False])
def test_two_ranks_serve_what_one_rank_of_twice_the_batch_does(shuffle):
    one, two = (epoch_of_each_rank(IntegerSource(), 8 // ranks, ranks, shuffle=shuffle, seed=3) for ranks in (1, 2))
    halves = [first.index.tolist() + second.index.tolist() for first, second in zip(*two, strict=True)]
    assert halves == [batch.index.tolist() for batch in one[0]]


@pytest.mark.parametrize("batch_size", [100, 1000, 5000])
def test_large_batches_are_the_parts_of_the_order_that_small_ones_are(batch_size):
    order = FeistelOrder(40_000, seed=1)
    for rank in range(3):
        whole = order.take(0, 30_000).reshape(-1, 3, batch_size)[:, rank]
        taken = RankBatches(batch_size, rank, 3, drop_last=True).indices(order, 0)
        for expected, (own, _) in zip(whole, taken, strict=False):
            assert own.tolist() == expected.tolist()


def test_the_indices_of_a_batch_are_its_own():
    batches = RankBatches(4, 0, 1, drop_last=True).indices(SequentialOrder(8), 0)
    (first, _), (second, _) = batches
    first[:] = 99
    assert second.tolist() == [4, 5, 6, 7]
    assert first.base is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 2, "world_size": 2}, "rank is 2 of world_size 2; ranks are numbered from 0"),
        ({"rank": -1, "world_size": 2}, "rank is -1 of world_size 2"),
        ({"rank": 0, "world_size": 0}, "rank is 0 of world_size 0"),
        ({"rank": 1}, "rank is 1 and world_size is None; pass both or neither"),
        ({"world_size": 2}, "rank is None and world_size is 2; pass both or neither"),
    ],
)
def test_a_rank_that_no_process_can_be_raises(options, message):
    with pytest.raises(LoaderArgumentError, match=message):
        make_loader(IntegerSource(), 4, **options)


def test_ranks_that_could_never_serve_a_batch_raise_and_say_how_many_they_are():
    with pytest.raises(NoBatchError, match="has 64 items and batch_size is 16 on each of 5 ranks"):
        make_loader(IntegerSource(64), 16, rank=0, world_size=5)


def test_a_launched_process_that_knows_no_rank_raises_rather_than_serve_what_all_others_do(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(LoaderArgumentError, match=r"WORLD_SIZE is 2 .* call init_process_group before, or pass rank"):
        make_loader(IntegerSource(), 4)
    assert make_loader(IntegerSource(), 4, rank=0, world_size=1).world_size == 1


RANK = """
import sys
from torch import distributed
from integer_source import IntegerSource, served
from rukh_loaders import make_loader

rank, meeting = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
loader = make_loader(IntegerSource(21), 4, evaluate=True)
own = (len(loader), len(list(loader)), loader.rank, served(loader))
everyone = [None, None]
distributed.all_gather_object(everyone, own)
print(everyone)
distributed.destroy_process_group()
"""


def test_processes_of_torch_distributed_share_an_epoch(tmp_path, project):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(rank), f"file://{tmp_path}/meeting"],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": f"{project}:{project}/tests"},
        )
        for rank in range(2)
    ]
    printed = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert printed[0] == printed[1]
    (batches, delivered, rank, first), (other_batches, other_delivered, other_rank, second) = eval(printed[0])
    assert batches == delivered == other_batches == other_delivered == 3
    assert (rank, other_rank) == (0, 1)
    assert sorted(first + second) == list(range(21))
