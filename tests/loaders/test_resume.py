"""A loader goes on where its state was saved, with any number of ranks and any batch size."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integer_source import IntegerSource, served
from month_packs import write_month

from rukh_loaders import Mixture, PackedDataset, PaddedDataset, make_loader, open_packs
from rukh_loaders.errors import IterationClosedError, LoaderArgumentError, StateFormatError, StateMismatchError

SHUFFLES = [True, False, "blocks"]


def lists(batches):
    return [batch.index.tolist() for batch in batches]


def batches_of(loader, count):
    """As many batches, over the ends of epochs."""
    return list(itertools.islice(itertools.chain.from_iterable(itertools.repeat(loader)), count))


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("prefetch", [0, 1, 5])
@pytest.mark.parametrize("done", range(25))
def test_a_resumed_loader_serves_what_the_unbroken_one_does(shuffle, prefetch, done):
    options = {"seed": 3, "shuffle": shuffle, "prefetch": prefetch}
    unbroken = lists(batches_of(make_loader(IntegerSource(), 8, **options), 30))
    first = make_loader(IntegerSource(), 8, **options)
    assert lists(batches_of(first, done)) == unbroken[:done]
    second = make_loader(IntegerSource(), 8, **options)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert lists(batches_of(second, 30 - done)) == unbroken[done:]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 7), max_size=12), st.integers(20, 64), st.sampled_from(SHUFFLES), st.booleans())
def test_any_number_of_saves_and_loads_equals_an_unbroken_run(runs, count, shuffle, drop_last):
    options = {"shuffle": shuffle, "drop_last": drop_last, "prefetch": 0}
    total = sum(runs)
    unbroken = lists(batches_of(make_loader(IntegerSource(count), 6, **options), total))
    state, resumed = make_loader(IntegerSource(count), 6, **options).state_dict(), []
    for run in runs:
        loader = make_loader(IntegerSource(count), 6, **options)
        loader.load_state_dict(state)
        resumed += lists(batches_of(loader, run))
        state = loader.state_dict()
    assert resumed == unbroken


Geometry = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 4))


@settings(deadline=None, max_examples=40)
@given(st.lists(Geometry, max_size=8), st.integers(1, 90), st.sampled_from(SHUFFLES))
def test_an_epoch_is_exact_through_changes_of_ranks_and_batch_size(changes, count, shuffle):
    """Two epochs are served by one set of ranks after another, each of which leaves after some steps."""
    source, state, items = IntegerSource(count), None, {0: [], 1: []}
    for world_size, batch_size, steps in [*changes, (2, 3, 1000)]:
        ranks = [
            make_loader(
                source, batch_size, shuffle=shuffle, drop_last=False, rank=rank, world_size=world_size, prefetch=0
            )
            for rank in range(world_size)
        ]
        for loader in ranks:
            if state is not None:
                loader.load_state_dict(state)
        for _ in range(steps):
            if {loader.epoch for loader in ranks} == {2}:
                break
            epoch, batches = step(ranks)
            items.setdefault(epoch, []).extend(served(batches))
        states = [loader.state_dict() for loader in ranks]
        assert states == states[:1] * world_size
        state = states[0]
    assert sorted(items[0]) == sorted(items[1]) == list(range(count))


def step(ranks):
    """One batch of each rank, and the epoch that it is of."""
    batches = [next(iter(loader)) for loader in ranks]
    (epoch,) = {loader.epoch for loader in ranks}
    for loader in ranks:
        if loader.position == len(loader.dataset):
            loader.set_epoch(epoch + 1)
    return epoch, batches


def test_with_drop_last_an_epoch_that_changes_ranks_leaves_out_less_than_its_last_global_batch():
    first = make_loader(IntegerSource(64), 4, rank=0, world_size=5)
    others = [make_loader(IntegerSource(64), 4, rank=rank, world_size=5) for rank in range(1, 5)]
    items = served(next(iter(loader)) for loader in [first, *others])
    later = [make_loader(IntegerSource(64), 5, rank=rank, world_size=3) for rank in range(3)]
    for loader in later:
        loader.load_state_dict(first.state_dict())
        items += served(loader)
    assert len(items) == len(set(items)) == 20 + 30
    assert [loader.state_dict() for loader in later] == [later[0].state_dict()] * 3


def test_the_position_counts_the_samples_delivered_and_not_those_made_ahead():
    loader = make_loader(IntegerSource(), 8, rank=0, world_size=2, prefetch=4)
    assert (loader.epoch, loader.position) == (0, 0)
    for steps, _ in enumerate(loader, start=1):
        assert (loader.epoch, loader.position) == (0, 16 * steps)
    assert (loader.epoch, loader.position) == (1, 0)


def test_rows_that_fill_up_are_not_counted():
    loader = make_loader(IntegerSource(20), 8, drop_last=False)
    assert [loader.position for _ in loader] == [8, 16, 20]


def test_a_loop_left_half_way_is_gone_on_from_by_the_next_loop():
    whole, left = make_loader(IntegerSource(), 8), make_loader(IntegerSource(), 8)
    unbroken = lists(whole) + lists(whole)
    begun = lists(itertools.islice(left, 3))
    assert begun + lists(left) + lists(left) == unbroken


@pytest.mark.parametrize("drop_last", [True, False])
def test_a_state_saved_at_the_last_batch_resumes_into_a_full_epoch(drop_last):
    whole = make_loader(IntegerSource(20), 6, drop_last=drop_last)
    epochs = [lists(whole) for _ in range(2)]
    ended, saved = make_loader(IntegerSource(20), 6, drop_last=drop_last), []
    for _ in ended:
        saved.append(ended.state_dict())
    resumed = make_loader(IntegerSource(20), 6, drop_last=drop_last)
    for state in (saved[-1], ended.state_dict()):
        resumed.load_state_dict(state)
        assert (resumed.epoch, resumed.position) == (1, 0)
        assert lists(resumed) == epochs[1]


def test_a_loop_that_took_every_batch_but_not_the_end_is_followed_by_a_full_epoch():
    loader, whole = make_loader(IntegerSource(), 8), make_loader(IntegerSource(), 8)
    epochs = [lists(whole) for _ in range(2)]
    assert [lists(itertools.islice(loader, 8)) for _ in range(2)] == epochs


def test_iterating_again_serves_the_next_epoch_and_an_ended_iteration_nothing():
    loader = make_loader(IntegerSource(), 8)
    iteration = iter(loader)
    assert len(list(iteration)) == 8
    assert list(iteration) == []
    assert loader.epoch == 1


def test_an_epoch_can_be_gone_to_without_serving_those_before():
    whole, other = make_loader(IntegerSource(), 8), make_loader(IntegerSource(), 8)
    epochs = [lists(whole) for _ in range(3)]
    other.set_epoch(2)
    assert lists(other) == epochs[2]
    other.set_epoch(0)
    assert lists(other) == epochs[0]


def test_setting_the_epoch_that_it_is_keeps_the_position():
    loader, whole = make_loader(IntegerSource(), 8), make_loader(IntegerSource(), 8)
    begun = lists(itertools.islice(loader, 3))
    loader.set_epoch(0)
    assert loader.position == 24
    assert begun + lists(loader) == lists(whole)


def test_a_negative_epoch_raises():
    with pytest.raises(LoaderArgumentError, match="epoch is -1; it must be 0 or more"):
        make_loader(IntegerSource(), 8).set_epoch(-1)


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (lambda loader: loader.set_epoch(4), "set_epoch was called"),
        (lambda loader: loader.load_state_dict(loader.state_dict()), "load_state_dict was called"),
        (lambda loader: loader.close(), "the loader was closed"),
        (iter, "another iteration of the loader began"),
    ],
)
def test_an_iteration_of_a_loader_that_was_moved_ends_with_the_reason(move, reason):
    loader = make_loader(IntegerSource(), 8)
    iteration = iter(loader)
    next(iteration)
    move(loader)
    for _ in range(2):
        with pytest.raises(IterationClosedError, match=f"has ended, since {reason}"):
            next(iteration)


def test_a_state_loaded_into_other_data_is_refused_with_both_fingerprints():
    state = make_loader(IntegerSource(name="january"), 8).state_dict()
    other = make_loader(IntegerSource(name="february"), 8)
    with pytest.raises(StateMismatchError, match=r"fingerprint 'january, 64 of them' and .* 'february, 64 of them'"):
        other.load_state_dict(state)
    assert other.position == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 4}, "the seed 3 and this loader has 4"),
        ({"seed": 3, "shuffle": "blocks"}, "the shuffle True and this loader has 'blocks'"),
        ({"seed": 3, "shuffle": False}, "the shuffle True and this loader has False"),
    ],
)
def test_a_state_of_another_order_is_refused_with_both_values(options, message):
    state = make_loader(IntegerSource(), 8, seed=3).state_dict()
    with pytest.raises(StateMismatchError, match=message):
        make_loader(IntegerSource(), 8, **options).load_state_dict(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version: Input should be 1"),
        ({"position": -1}, "position: .*greater than or equal to 0"),
        ({"position": 65}, "the position is 65; an epoch has 64 samples"),
        ({"epoch": 2**63}, "epoch: .*less than 4611686018427387904"),
        ({"epoch": "0"}, "epoch: Input should be a valid integer"),
        ({"rows": 3}, "rows: Extra inputs are not permitted"),
    ],
)
def test_what_is_no_state_is_refused_by_the_name_of_its_fault(change, message):
    loader = make_loader(IntegerSource(), 8)
    with pytest.raises(StateFormatError, match=message):
        loader.load_state_dict(loader.state_dict() | change)
    with pytest.raises(StateFormatError, match="no state of a loader"):
        loader.load_state_dict({})


@pytest.mark.parametrize("epoch", [2**62, 2**63, -1])
def test_an_epoch_that_no_order_has_is_refused_when_it_is_set(epoch):
    loader = make_loader(IntegerSource(), 8)
    with pytest.raises(LoaderArgumentError, match=f"epoch is {epoch}; it must be 0 or more, and below"):
        loader.set_epoch(epoch)


def test_a_state_of_numpy_numbers_is_json(twenty_games):
    for dataset in (
        Mixture([(twenty_games, 1)], samples=np.int64(10)),
        PackedDataset(twenty_games, 6, windows="random", random_offsets=np.int64(1)),
        PackedDataset(twenty_games, 6, last_target=np.bool_(True)),
        PaddedDataset(twenty_games, 6, last_target=np.bool_(True)),
    ):
        served_from = PackedDataset(dataset) if isinstance(dataset, Mixture) else dataset
        state = make_loader(served_from, 4).state_dict()
        assert json.loads(json.dumps(state)) == state


def test_a_state_is_less_than_a_kilobyte_of_json(twenty_games):
    loader = make_loader(PackedDataset(twenty_games, block=6), 4, seed=2**63)
    next(iter(loader))
    state = loader.state_dict()
    assert len(json.dumps(state)) < 1024
    assert json.loads(json.dumps(state)) == state


def test_evaluation_is_the_same_each_time_even_where_it_was_left_half_way():
    loader = make_loader(IntegerSource(20), 6, evaluate=True)
    assert lists(itertools.islice(loader, 2)) == lists(itertools.islice(loader, 2))
    assert served(loader) == served(loader) == list(range(20))


def test_evaluation_too_goes_on_where_its_state_was_saved():
    begun, resumed = (make_loader(IntegerSource(20), 6, evaluate=True) for _ in range(2))
    items = served(itertools.islice(begun, 2))
    resumed.load_state_dict(begun.state_dict())
    assert items + served(resumed) == list(range(20))
    assert served(resumed) == list(range(20))


def games_of(loader):
    """The second id of each row, which names its game in the packs below."""
    return [x[1] for batch in loader for x in batch.x.tolist()]


@pytest.fixture(scope="module")
def mixture(write_pack):
    """Of four samples three are of the first pack, of 30 games, and one of the second, of 4: epochs of 16 samples."""
    first, second = (write_pack([[1, ids + game, 2] for game in range(games)]) for ids, games in ((10, 30), (60, 4)))
    return Mixture([(open_packs(first), 0.75), (open_packs(second), 0.25)])


def test_a_mixture_goes_on_where_its_state_was_saved(mixture):
    unbroken = games_of(batches_of(make_loader(PackedDataset(mixture, block=3), 4), 12))
    resumed, state = [], None
    for _ in range(4):
        loader = make_loader(PackedDataset(mixture, block=3), 4)
        if state is not None:
            loader.load_state_dict(state)
        resumed += games_of(batches_of(loader, 3))
        state = loader.state_dict()
    assert resumed == unbroken
    assert Counter(game < 60 for game in unbroken) == {True: 36, False: 12}


def test_evaluation_on_a_mixture_is_refused_since_it_is_not_every_item_once(mixture):
    with pytest.raises(LoaderArgumentError, match="evaluate on its parts"):
        make_loader(PackedDataset(mixture, block=3), 4, evaluate=True)


def test_a_state_is_refused_by_packs_that_differ_in_a_few_ids_where_no_manifest_tells_them_apart(tmp_path):
    states = []
    for name, last in (("one", 7), ("other", 8)):
        folder = write_month(tmp_path / name / "2025-01", [[1, 5, 6, 2], [1, last, 2]])
        (folder / "manifest.json").unlink()
        states.append(make_loader(PackedDataset(folder, block=3), 2).state_dict())
    with pytest.raises(StateMismatchError, match="the fingerprint "):
        make_loader(PackedDataset(tmp_path / "one" / "2025-01", block=3), 2).load_state_dict(states[1])


def test_a_state_is_refused_by_a_loader_of_other_games_or_windows(twenty_games):
    state = make_loader(PackedDataset(twenty_games, block=6), 4).state_dict()
    for other in (
        PackedDataset(open_packs(twenty_games).games(slice(0, 19)), block=6),
        PackedDataset(twenty_games, block=5),
        PackedDataset(twenty_games, block=6, start_at_game=False),
        PackedDataset(twenty_games, block=6, windows="best_fit"),
    ):
        with pytest.raises(StateMismatchError, match="the fingerprint "):
            make_loader(other, 2).load_state_dict(state)
