import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rukh_loaders import PackedDataset
from rukh_loaders.errors import EmptyPartError, OrderArgumentError, PositionError, VocabularyMismatchError, WeightError
from rukh_loaders.formats.pack import PackInfo, PackWriter
from rukh_loaders.orders.mixture import Mixture, MixtureOrder
from rukh_loaders.orders.order import FeistelOrder, derived_seed
from rukh_loaders.orders.schedule import MAX_PERIOD, Schedule
from rukh_loaders.packs.packs import open_packs

quotas = st.lists(st.integers(1, 60), min_size=1, max_size=12)
small_lengths = st.lists(st.integers(1, 30), min_size=1, max_size=6)


def parts_of(schedule, count):
    return schedule.draws(np.arange(count))[0]


def assert_shares_within_one_sample(schedule, count):
    """After each number of samples up to `count`, for each part, in whole numbers: no rounding."""
    served = parts_of(schedule, count)
    samples = np.arange(1, count + 1)
    for part, quota in enumerate(schedule.quotas):
        error = np.cumsum(served == part) * schedule.period - samples * quota
        assert np.abs(error).max() < schedule.period


def whole(order):
    return order.take(0, len(order)).tolist()


# The schedule


@settings(deadline=None)
@given(quotas)
def test_every_part_has_its_share_to_within_one_sample_after_any_number(weights):
    schedule = Schedule.of(weights)
    assert_shares_within_one_sample(schedule, 2 * schedule.period + 3)


@settings(deadline=None, max_examples=3)  # most weights of many decimals have the longest period
@given(st.lists(st.floats(0.01, 1e3), min_size=1, max_size=5))
def test_shares_are_kept_for_weights_of_any_decimals_too(weights):
    schedule = Schedule.of(weights)
    assert_shares_within_one_sample(schedule, 3000)
    total = sum(map(Fraction, weights))
    for served, asked in zip(schedule.weights, weights, strict=True):
        assert abs(served - Fraction(asked) / total) <= Fraction(1, MAX_PERIOD) + Fraction(1, 10**12)


def test_two_weights_of_one_and_999_thousandths_are_served_exactly():
    schedule = Schedule.of([0.001, 0.999])
    assert schedule.weights == (Fraction(1, 1000), Fraction(999, 1000))
    assert np.bincount(parts_of(schedule, 100_000)).tolist() == [100, 99_900]
    assert_shares_within_one_sample(schedule, 3000)


def test_three_hundred_corpora_are_blended_in_range_and_within_one_sample():
    weights = [1 + part % 17 for part in range(300)]
    schedule = Schedule.of(weights)
    assert_shares_within_one_sample(schedule, 2 * schedule.period)
    order = MixtureOrder(tuple(range(1, 301)), schedule, samples=20_000)
    items = order.take(0, 20_000)
    assert items.min() >= 0
    assert items.max() < sum(range(1, 301))
    assert set(np.searchsorted(np.cumsum(order.lengths), items, side="right")) == set(range(300))


def test_weights_need_not_sum_to_one_and_a_tenth_is_a_tenth():
    assert Schedule.of([1, 2]).weights == Schedule.of([0.1, 0.2]).weights == (Fraction(1, 3), Fraction(2, 3))
    assert Schedule.of([Fraction(1, 7), Fraction(6, 7)]).period == 7
    assert Schedule.of([1 / 3, 2 / 3]).period == 3


def test_weights_without_a_small_common_denominator_are_rounded_and_say_so():
    asked = [Fraction(1, 1009), Fraction(1, 1013), Fraction(1, 1019)]
    schedule = Schedule.of(asked)
    assert sum(schedule.weights) == 1
    assert MAX_PERIOD % schedule.period == 0
    for served, weight in zip(schedule.weights, asked, strict=True):
        share = weight / sum(asked)
        assert served != share
        assert abs(served - share) < Fraction(1, MAX_PERIOD)


@settings(deadline=None)
@given(quotas, st.integers(0, 10**12))
def test_a_position_can_be_gone_to_without_those_before(weights, begin):
    schedule = Schedule.of(weights)
    parts, draws = schedule.draws(np.arange(begin, begin + 100))
    for part, draw, position in zip(parts.tolist(), draws.tolist(), range(begin, begin + 100), strict=True):
        assert schedule.position_of(part, draw) == position
    for part in set(parts.tolist()):
        own = draws[parts == part]
        assert own.tolist() == list(range(own[0], own[0] + len(own)))


@pytest.mark.parametrize("weight", [0, -1, 0.0, -0.5, float("nan"), float("inf"), None, True])
def test_a_weight_that_is_not_positive_and_finite_is_refused(weight):
    with pytest.raises(WeightError, match=f"a weight is {weight!r}; it must be a positive finite number"):
        Schedule.of([1, weight])


def test_a_weight_too_small_to_be_served_is_refused_rather_than_never_served():
    with pytest.raises(
        WeightError, match=r"part 1 has 1e-08 of all weights; it must suffice for one sample in 1048576"
    ):
        Schedule.of([1, 1e-8])


def test_a_schedule_pickles_as_its_quotas():
    schedule = Schedule.of([0.1237, 0.8763])
    before = parts_of(schedule, 100).tolist()
    assert len(pickle.dumps(schedule)) < 300
    assert parts_of(pickle.loads(pickle.dumps(schedule)), 100).tolist() == before


# The order


@settings(deadline=None)
@given(small_lengths, st.data())
def test_nothing_of_a_part_comes_again_before_all_of_it_has_come(lengths, data):
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(lengths), max_size=len(lengths)))
    samples, seed = data.draw(st.integers(1, 40)), data.draw(st.integers())
    schedule = Schedule.of(weights)
    epochs = [MixtureOrder(tuple(lengths), schedule, seed, epoch, samples=samples) for epoch in range(6)]
    items = np.concatenate([order.take(0, samples) for order in epochs])
    begins = np.cumsum([0, *lengths])
    for part, length in enumerate(lengths):
        own = items[(items >= begins[part]) & (items < begins[part + 1])] - begins[part]
        for draw in range(0, len(own), length):
            turn = own[draw : draw + length].tolist()
            assert len(set(turn)) == len(turn)
            asked = FeistelOrder(length, derived_seed(seed, f"part {part}"), draw // length)
            assert turn == asked.take(0, len(turn)).tolist()


def test_an_epoch_ends_when_the_first_part_has_been_served_whole():
    order = MixtureOrder((10, 3), Schedule.of([0.5, 0.5]))
    items = whole(order)
    assert sorted(item for item in items if item >= 10) == [10, 11, 12]
    assert items[-1] >= 10
    assert len(items) in (5, 6)


def test_one_part_alone_is_served_whole_each_epoch():
    epochs = [whole(MixtureOrder((20,), Schedule.of([3]), 1, epoch)) for epoch in range(3)]
    assert all(sorted(items) == list(range(20)) for items in epochs)
    assert len(set(map(tuple, epochs))) == 3


def test_a_part_of_which_an_epoch_needs_half_is_served_whole_in_two():
    orders = [MixtureOrder((4, 8), Schedule.of([1, 1]), 5, epoch) for epoch in range(2)]
    assert [len(order) for order in orders] in ([7, 7], [8, 8])
    served = [item for order in orders for item in whole(order)]
    assert len({item for item in served if item >= 4}) == len([item for item in served if item >= 4])


def test_without_shuffle_each_part_comes_as_it_is_and_then_again():
    order = MixtureOrder((2, 3), Schedule.of([1, 1]), shuffle=False, samples=10)
    items = whole(order)
    assert [item for item in items if item < 2] == [0, 1, 0, 1, 0]
    assert [item for item in items if item >= 2] == [2, 3, 4, 2, 3]


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(0, 500))
def test_pieces_put_together_are_the_whole(one, other):
    order = MixtureOrder((7, 100, 1), Schedule.of([0.2, 0.7, 0.1]), 3, 2, samples=500)
    low, high = sorted((one, other))
    pieces = [order.take(0, low), order.take(low, high), order.take(high, 500)]
    assert np.concatenate(pieces).tolist() == whole(order)


def test_pieces_of_many_chunks_are_the_whole_too():
    order = MixtureOrder((10**9, 1000, 1), Schedule.of([0.5, 0.499, 0.001]), 3, samples=100_000)
    items = order.take(0, 100_000)
    assert items[40_000:50_000].tolist() == order.take(40_000, 50_000).tolist()


def test_seeds_and_parts_have_orders_of_their_own():
    schedule = Schedule.of([1, 1])
    orders = [whole(MixtureOrder((50, 50), schedule, seed)) for seed in range(5)]
    assert len(set(map(tuple, orders))) == 5
    first, second = ([item % 50 for item in orders[0] if item // 50 == part] for part in (0, 1))
    assert first[:49] != second[:49]


def test_games_past_two_to_the_32_are_reached():
    order = MixtureOrder((2**40, 2**41), Schedule.of([1, 2]), samples=2**41)
    items = order.take(2**40, 2**40 + 3000)
    assert items.dtype == np.int64
    assert items.max() > 2**40 + 2**32
    assert len(set(items.tolist())) == 3000


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"lengths": (3, 0)}, EmptyPartError, "part 1 of a mixture has no items"),
        ({"lengths": ()}, EmptyPartError, "a mixture has no parts"),
        ({"lengths": (3,)}, OrderArgumentError, "there are 1 lengths; the schedule is of 2 parts"),
        ({"samples": 0}, OrderArgumentError, "samples is 0; it must be 1 or more"),
        ({"epoch": -1}, OrderArgumentError, "epoch is -1"),
        ({"epoch": 2**61, "samples": 4}, OrderArgumentError, "their product must be below"),
    ],
)
def test_numbers_that_no_order_can_have_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        MixtureOrder(**({"lengths": (3, 4), "schedule": Schedule.of([1, 1])} | arguments))


def test_positions_outside_are_refused():
    with pytest.raises(PositionError, match="no positions 0 to 6: the order has 5"):
        MixtureOrder((3, 4), Schedule.of([1, 1]), samples=5).take(0, 6)


def test_an_order_that_was_used_pickles_small_and_stays_the_same():
    order = MixtureOrder((3, 4), Schedule.of([1, 1]), 2, 3)
    before = whole(order)
    assert len(pickle.dumps(order)) < 2048
    assert whole(pickle.loads(pickle.dumps(order))) == before


# Packs


@pytest.fixture(scope="module")
def packs(twenty_games, write_pack):
    return open_packs(twenty_games), open_packs(write_pack([[1, 40 + game, 2] for game in range(5)]))


def test_a_mixture_says_which_shares_it_serves(packs):
    mixture = Mixture([(packs[0], 0.9), (packs[1], 0.3)], samples=100)
    assert mixture.parts == packs
    assert mixture.weights == (Fraction(3, 4), Fraction(1, 4))
    assert mixture.samples == 100


def test_mixtures_have_the_same_fingerprint_where_they_serve_the_same(packs):
    one, other = packs
    first = Mixture([(one, 1), (other, 2)])
    assert first.fingerprint == Mixture([(one, 0.1), (other, 0.2)]).fingerprint
    others = [
        Mixture([(one, 2), (other, 1)]),
        Mixture([(other, 1), (one, 2)]),
        Mixture([(one, 1), (other, 2)], samples=9),
        Mixture([(one.games(slice(0, 9)), 1), (other, 2)]),
    ]
    assert len({first.fingerprint, *(mixture.fingerprint for mixture in others)}) == 5


def test_a_pickled_mixture_is_the_paths_of_its_packs(packs):
    mixture = Mixture([(packs[0], 0.9), (packs[1], 0.3)], samples=100)
    pickled = pickle.dumps(mixture)
    assert len(pickled) < 4096
    assert pickle.loads(pickled).fingerprint == mixture.fingerprint


def test_parts_of_another_vocabulary_are_refused(packs, tmp_path):
    info = PackInfo(n_games=1, n_tokens=2, scheme="other", vocab_size=9, vocab_hash="1" * 64, source="by hand")
    with PackWriter(tmp_path, info) as writer:
        writer.append(np.array([1, 2], dtype=np.uint16), np.array([2]))
        writer.finish({})
    with pytest.raises(VocabularyMismatchError, match=r"part 0 .* 0{64} \(tiny\), part 1 1{64} \(other\)"):
        Mixture([(packs[0], 1), (open_packs(tmp_path), 1)])


def test_parts_without_games_and_mixtures_without_parts_are_refused(packs):
    with pytest.raises(EmptyPartError, match="part 1 of a mixture has no games"):
        Mixture([(packs[0], 1), (packs[1].games(slice(0, 0)), 1)])
    with pytest.raises(EmptyPartError, match="a mixture has no parts; it needs one or more"):
        Mixture([])


def test_a_dataset_is_no_part_of_a_mixture_but_made_of_one(packs):
    with pytest.raises(TypeError, match=r"part 1 of a mixture is a PackedDataset; .* PackedDataset\(Mixture"):
        Mixture([(packs[0], 1), (PackedDataset(packs[1], 4), 1)])


@pytest.mark.parametrize("weight", ["1/0", "one", None])
def test_a_weight_that_is_no_number_is_refused(packs, weight):
    with pytest.raises(WeightError, match="it must be a positive finite number"):
        Mixture([(packs[0], weight)])


def test_a_part_of_a_mixture_may_be_the_folder_of_its_packs(packs):
    folder = packs[0].packs[0].path
    for part in (folder, str(folder), packs[0].packs[0]):
        assert Mixture([(part, 1), (packs[1], 2)]).fingerprint == Mixture([(packs[0], 1), (packs[1], 2)]).fingerprint


@pytest.mark.parametrize("samples", [0, -5, 2**63])
def test_an_epoch_of_no_samples_is_refused(packs, samples):
    with pytest.raises(OrderArgumentError, match=f"samples is {samples}; it must be 1 or more"):
        Mixture([(packs[0], 1)], samples=samples)
