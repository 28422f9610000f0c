import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from month_packs import write_month, write_sparse_archive
from torch.utils.data import DataLoader, Subset, default_collate

from rukh_loaders import Batch, Mixture, PackedDataset, PaddedDataset, open_packs
from rukh_loaders.errors import WindowIndexError, WindowsError

MONTHS = [[[1, 7, 8, 9, 2], [1, 5, 2]], [[1, 6, 6, 2]], [], [[1, 4, 2], [1, 3, 3, 3, 2], [1, 11, 2]]]


def write_months(root, months, **changes):
    """Packs in folders that are named like months; the columns tell games by white_elo, counted through all."""
    first = 0
    for number, games in enumerate(months):
        elos = np.arange(first, first + len(games))
        write_month(root / f"2024-{number + 1:02}", games, {"white_elo": elos, "game_id": elos}, **changes)
        first += len(games)
    return root


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    return write_months(tmp_path_factory.mktemp("months"), MONTHS)


def windows_of(games, begins, block, last_target):
    """What slices of all games, one after the other, give: the (x, y) that begin at these places."""
    stream = [token for game in games for token in game]
    windows = []
    for begin in begins:
        ids = stream[begin : begin + block + 1]
        ids += [0] * (block + 1 - len(ids))
        windows.append((ids[:-1], ids[1:] if last_target else [*ids[1:-1], 0]))
    return windows


def starts_of(games):
    return np.cumsum([0, *map(len, games)])[:-1].tolist()


def rows_of(batch):
    return list(zip(batch.x.tolist(), batch.y.tolist(), strict=True))


def test_windows_run_on_from_one_month_into_the_next(months):
    dataset = PackedDataset(months, block=9)
    assert len(dataset) == 6
    assert dataset[1].x.tolist() == [1, 5, 2, 1, 6, 6, 2, 1, 4]
    assert dataset[2].y.tolist() == [6, 6, 2, 1, 4, 2, 1, 3, 0]


def test_windows_of_a_range_of_games_end_with_the_range(months):
    packs = open_packs(months).games(slice(1, 4))
    at_games = PackedDataset(packs, block=6, last_target=True)
    assert [window.x.tolist() for window in at_games] == [
        [1, 5, 2, 1, 6, 6],
        [1, 6, 6, 2, 1, 4],
        [1, 4, 2, 0, 0, 0],
    ]
    blocks = PackedDataset(packs, block=4, start_at_game=False)
    assert [window.x.tolist() for window in blocks] == [[1, 5, 2, 1], [6, 6, 2, 1]]


def test_windows_of_scattered_games_hold_no_id_of_another_game(months):
    packs = open_packs(months).where(np.array([True, False, True, False, True, False]))
    dataset = PackedDataset(packs, block=6, last_target=True)
    assert [window.x.tolist() for window in dataset] == [
        [1, 7, 8, 9, 2, 1],
        [1, 6, 6, 2, 1, 3],
        [1, 3, 3, 3, 2, 0],
    ]
    assert [window.y.tolist()[-1] for window in dataset] == [6, 3, 0]


@pytest.mark.parametrize("scattered", [False, True])
def test_a_window_over_many_short_games_is_filled_though_most_games_are_long(tmp_path, scattered):
    many = [[1, 3 + i, 2] if i < 40 else [1, *[50] * 98, 2] for i in range(80)]
    packs = open_packs(write_month(tmp_path / "2024-01", many, {"white_elo": range(80)}))
    if scattered:
        packs = packs.where(np.arange(80) != 39)
        many.pop(39)
    dataset = PackedDataset(packs, block=60, last_target=True, document_ids=True)
    batch = dataset.gather(np.array([5, 30]))
    assert rows_of(batch) == windows_of(many, [15, 90], 60, last_target=True)
    assert batch.document_ids[0].tolist() == [i // 3 for i in range(60)]


games = st.lists(st.lists(st.integers(3, 99), max_size=6).map(lambda moves: [1, *moves, 2]), max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(games, min_size=1, max_size=4), st.integers(2, 14), st.booleans(), st.data())
def test_every_batch_is_what_slices_of_the_chosen_games_give(tmp_path_factory, months, block, last_target, data):
    everything = [game for month in months for game in month]
    packs = open_packs(write_months(tmp_path_factory.mktemp("months"), months))
    if everything:
        chosen = data.draw(st.lists(st.booleans(), min_size=len(everything), max_size=len(everything)))
        packs = data.draw(st.sampled_from([packs, packs.where(np.array(chosen)), packs.games(slice(1, 3))]))
    chosen_games = [everything[i] for i in packs.select(np.arange(packs.n_games)).tolist()]
    length = sum(map(len, chosen_games))
    kinds = {"games": starts_of(chosen_games)}
    if packs.token_range is not None:
        kinds["blocks"] = [i * block for i in range(max(1, length // block) if length else 0)]
    for kind, begins in kinds.items():
        dataset = PackedDataset(packs, block, last_target=last_target, windows=kind)
        expected = windows_of(chosen_games, begins, block, last_target)
        assert rows_of(dataset.gather(np.arange(len(dataset)))) == expected
        drawn = data.draw(st.lists(st.sampled_from(range(-1, len(begins))), max_size=8))
        filler = ([0] * block, [0] * block)
        batch = dataset.gather(np.array(drawn, np.int64))
        assert rows_of(batch) == [filler if i < 0 else expected[i] for i in drawn]
        assert batch.index.tolist() == drawn


def test_batches_of_a_long_pack_are_its_windows_alone(tmp_path):
    rng = np.random.default_rng(0)
    long_games = [[1, *rng.integers(3, 100, size).tolist(), 2] for size in rng.integers(1, 90, 300)]
    dataset = PackedDataset(write_month(tmp_path / "pack", long_games), block=50)
    drawn = rng.integers(0, 300, 64)
    expected = windows_of(long_games, starts_of(long_games), 50, False)
    assert rows_of(dataset.gather(drawn)) == [expected[i] for i in drawn]


@pytest.mark.parametrize("kind", ["games", "blocks", "random", "best_fit"])
def test_an_index_outside_raises_in_a_batch_of_any_windows(months, kind):
    dataset = PackedDataset(months, block=5, windows=kind)
    for outside in (len(dataset), -2, 2**62, -(2**63)):
        with pytest.raises(WindowIndexError, match=rf"no window {outside} in <Packs tiny .*: it has {len(dataset)}, "):
            dataset.gather(np.array([0, -1, outside]))


def test_indices_that_are_no_integers_are_refused(months):
    with pytest.raises(TypeError, match="indices are integers, got an array of float64"):
        PackedDataset(months).gather(np.array([0.5]))


@pytest.mark.parametrize("outside", [2**64 - 1, 2**63])
def test_an_unsigned_index_is_never_taken_as_a_row_that_fills_up(months, outside):
    with pytest.raises(WindowIndexError, match=f"no window {outside} in"):
        PackedDataset(months).gather(np.array([0, outside], np.uint64))
    assert PackedDataset(months).gather(np.array([0, 3], np.uint64)).index.tolist() == [0, 3]


@pytest.mark.parametrize("indices", [[0, 1], torch.tensor([0, 1]), 1, np.array(1), np.array([[0, 1]])])
def test_indices_that_are_no_row_of_numbers_are_refused(months, indices):
    with pytest.raises(TypeError, match=r"numpy array of shape \(n,\), got (one of shape|list|Tensor|int)"):
        PackedDataset(months).gather(indices)


def test_offsets_that_are_no_whole_number_are_refused(months):
    with pytest.raises(TypeError):
        PackedDataset(months, windows="random", random_offsets=1.5)


def test_an_empty_pack_gives_rows_that_only_fill_up(tmp_path):
    empty = PackedDataset(write_month(tmp_path / "pack", []), block=3, cu_seqlens=True, loss_mask=None)
    assert len(empty) == 0
    batch = empty.gather(np.array([-1, -1]))
    assert batch.x.tolist() == batch.y.tolist() == [[0, 0, 0]] * 2
    assert batch.cu_seqlens.tolist() == [0, 3, 6]
    with pytest.raises(WindowIndexError, match="no window 0"):
        empty.gather(np.array([0]))


def test_batches_are_private_contiguous_and_flatten_without_a_copy(months):
    dataset = PackedDataset(months, block=4, last_target=True)
    indices = np.array([0, 0, 1])
    before = rows_of(dataset.gather(indices))
    batch = dataset.gather(indices)
    for ids in batch:
        assert ids.dtype == torch.int64
        assert ids.shape == (3, 4)
        assert ids.view(-1).shape == (12,)
    batch.x.fill_(99)
    batch.index.fill_(99)
    assert (indices.tolist(), batch.y.tolist()) == ([0, 0, 1], [y for _, y in before])
    assert rows_of(dataset.gather(indices)) == before


@pytest.mark.parametrize("kind", ["games", "best_fit"])
@pytest.mark.parametrize("last_target", [False, True])
def test_ids_that_are_widened_where_they_are_used_are_the_same(tmp_path, kind, last_target):
    pack = write_month(tmp_path / "pack", [[1, 40000, 65535, 2], [1, 32767, 32768, 2], [1, 2]], vocab_size=65536)
    wide = PackedDataset(pack, 6, windows=kind, last_target=last_target)
    narrow = PackedDataset(pack, 6, windows=kind, last_target=last_target, widen_on_device=True)
    indices = np.array([1, -1, 0])
    batch = narrow.gather(indices)
    assert batch.tokens_uint16.shape == (3, 7)
    assert batch.tokens_uint16.element_size() == 2
    moved = batch.to("cpu", non_blocking=True)
    assert rows_of(moved) == rows_of(wide.gather(indices)) == rows_of(narrow.gather(indices).widened())
    assert moved.widened().tokens_uint16 is None
    assert all(ids.is_contiguous() for ids in moved)
    assert [window.x.tolist() for window in narrow] == [window.x.tolist() for window in wide]


def test_a_batch_that_is_moved_keeps_all_that_it_holds(months):
    batch = PackedDataset(months, 6, position_ids=True, document_ids=True, cu_seqlens=True).gather(np.array([0, -1]))
    moved = batch.to("cpu")
    assert moved.max_seqlen == batch.max_seqlen == 6
    assert len(list(moved.tensors())) == len(list(batch.tensors())) == 6
    for one, other in zip(moved.tensors(), batch.tensors(), strict=True):
        assert torch.equal(one, other)
    assert repr(batch) == "Batch(rows=2, device='cpu', with=['position_ids', 'document_ids', 'cu_seqlens'])"


def test_offsets_past_2_to_the_32_are_int64_everywhere(tmp_path):
    write_sparse_archive(tmp_path, months=2, n_games=3, n_tokens=5_000_000_000)
    dataset = PackedDataset(tmp_path, block=100, last_target=True, position_ids=True)
    batch = dataset.gather(np.array([5, 2]))  # the last games: their starts are 80 ids before the ends
    assert batch.x[0].tolist() == [0] * 79 + [2] + [0] * 20
    assert batch.x[1].tolist() == [0] * 79 + [2] + [0] * 20  # and runs on into the second pack
    blocks = PackedDataset(tmp_path, block=100, start_at_game=False)
    assert len(blocks) == 100_000_000
    assert blocks[49_999_999].x.tolist() == [0] * 99 + [2]
    assert blocks.gather(np.array([99_999_999])).x[0].tolist() == [0] * 99 + [2]


def test_random_windows_are_slices_of_the_stream_that_the_seed_places(months):
    stream = [token for month in MONTHS for game in month for token in game]
    one, again, other = (PackedDataset(months, 3, windows="random", random_offsets=seed) for seed in (0, 0, 1))
    every = np.arange(len(one))
    assert len(one) == len(stream) // 3
    slices = [stream[i : i + 3] for i in range(len(stream) - 2)]
    assert all(window.x.tolist() in slices for window in one)
    assert rows_of(one.gather(every)) == rows_of(again.gather(every)) != rows_of(other.gather(every))


def test_random_windows_begin_everywhere_alike(tmp_path):
    count = 40_000
    pack = write_month(tmp_path / "pack", [[1, *range(3, 10), 2]] * count)
    dataset = PackedDataset(pack, block=90, windows="random")
    begins = dataset._rows.begins_of(np.arange(len(dataset)))
    assert begins.min() >= 0
    assert begins.max() <= 9 * count - 90
    shares = np.histogram(begins, 20, (0, 9 * count))[0] / len(dataset)
    assert np.abs(shares - 0.05).max() < 6 * np.sqrt(0.05 * 0.95 / len(dataset))


@pytest.mark.parametrize("kind", ["blocks", "random"])
def test_scattered_games_are_no_stream_to_cut(months, kind):
    packs = open_packs(months).where(white_elo=[0, 3])
    with pytest.raises(WindowsError, match=rf"windows is '{kind}' and the chosen games .* 'games' and 'best_fit'"):
        PackedDataset(packs, windows=kind)


def test_unknown_windows_are_refused_with_those_there_are(months):
    with pytest.raises(WindowsError, match="windows is 'rows'; allowed are games, blocks, random, best_fit"):
        PackedDataset(months, windows="rows")
    with pytest.raises(WindowsError, match="too_long is 'drop'; allowed are leave_out, cut"):
        PackedDataset(months, windows="best_fit", too_long="drop")


@pytest.mark.parametrize("kind", ["games", "best_fit"])
def test_a_mixture_serves_the_items_of_its_parts(months, kind):
    packs = open_packs(months)
    parts = [packs.games(slice(0, 2)), packs.where(white_elo=[3, 5]), packs.games(slice(2, 5))]
    mixture = Mixture(zip(parts, [0.5, 0.25, 0.25], strict=True), samples=20)
    dataset = PackedDataset(mixture, block=6, windows=kind)
    alone = [window for part in parts for window in PackedDataset(part, block=6, windows=kind)]
    expected = [(x.tolist(), y.tolist()) for x, y in alone]
    drawn = [*reversed(range(len(alone))), -1, 0, 0]
    assert len(dataset) == len(alone)
    assert rows_of(dataset.gather(np.array(drawn)))[:-3] == expected[::-1]
    assert [(x.tolist(), y.tolist()) for x, y in dataset] == expected

    order = dataset.order(seed=0, epoch=0, shuffle=True)
    served = order.take(0, len(order))
    assert len(served) == 20
    sizes = [len(PackedDataset(part, block=6, windows=kind)) for part in parts]
    counts = np.histogram(served, np.cumsum([0, *sizes]))[0]
    assert counts.tolist() == [10, 5, 5]
    with pytest.raises(WindowsError, match="shuffle is 'blocks' over a mixture"):
        dataset.order(0, 0, "blocks")


def test_orders_are_permutations_of_the_items(months):
    dataset = PackedDataset(months)
    for shuffle in (True, False, "blocks"):
        order = dataset.order(seed=3, epoch=1, shuffle=shuffle)
        assert sorted(order.take(0, len(order)).tolist()) == list(range(6))
    assert dataset.order(3, 1, False).take(0, 6).tolist() == list(range(6))


def test_the_loader_of_torch_gets_a_batch_whole_and_any_other_list_stacked(months):
    dataset = PackedDataset(months, block=4)
    expected = rows_of(dataset.gather(np.arange(6)))
    for served in (dataset, Subset(dataset, range(6)), [dataset[i] for i in range(6)]):
        batches = list(DataLoader(served, batch_size=4))
        assert [len(x) for x, _ in batches] == [4, 2]
        assert [pair for x, y in batches for pair in zip(x.tolist(), y.tolist(), strict=True)] == expected
    items = dataset.__getitems__([0, 1, 2])
    assert default_collate(items)[0] is items.x
    x, y = default_collate([items[2], items[0]])
    assert (x.tolist(), y.tolist()) == ([expected[2][0], expected[0][0]], [expected[2][1], expected[0][1]])
    assert [window.x.tolist() for window in items[1:]] == [expected[1][0], expected[2][0]]


@pytest.mark.parametrize("made", [PackedDataset, PaddedDataset])
def test_a_pickled_dataset_has_all_its_options_and_no_ids(months, made):
    chosen = open_packs(months).where(white_elo=[0, 1, 3, 5])
    options = {"last_target": True, "position_ids": True, "document_ids": True, "cu_seqlens": True}
    if made is PackedDataset:
        options |= {"windows": "best_fit", "too_long": "cut"}
    dataset = made(chosen, 4, **options)
    pickled = pickle.dumps(dataset)
    again = pickle.loads(pickled)
    assert len(pickled) < 4096
    assert again.fingerprint == dataset.fingerprint
    for one, other in zip(
        dataset.gather(np.array([0, -1, 1])).tensors(), again.gather(np.array([0, -1, 1])).tensors(), strict=True
    ):
        assert torch.equal(one, other)


def test_the_fingerprint_changes_with_what_an_index_means_and_with_nothing_else(months):
    packs = open_packs(months)
    different = [
        PackedDataset(packs),
        PackedDataset(packs, block=100),
        PackedDataset(packs, last_target=True),
        PackedDataset(packs, start_at_game=False),
        PackedDataset(packs, windows="random"),
        PackedDataset(packs, windows="random", random_offsets=1),
        PackedDataset(packs, windows="best_fit"),
        PackedDataset(packs, windows="best_fit", too_long="cut"),
        PackedDataset(packs.games(slice(1, 4))),
        PackedDataset(packs.where(white_elo=[0, 2])),
        PackedDataset(Mixture([(packs, 1)])),
        PaddedDataset(packs),
    ]
    assert len({dataset.fingerprint for dataset in different}) == len(different)
    same = [PackedDataset(months), PackedDataset(packs, widen_on_device=True), PackedDataset(packs, position_ids=True)]
    assert {dataset.fingerprint for dataset in same} == {different[0].fingerprint}


def test_a_batch_of_tensors_unpacks_and_counts_its_rows():
    batch = Batch(torch.tensor([[1, 2]]), torch.tensor([[2, 0]]), torch.tensor([0]))
    x, y = batch
    assert (x.tolist(), y.tolist(), len(batch)) == ([[1, 2]], [[2, 0]], 1)
    assert batch.widened() is batch
    assert batch.position_ids is batch.loss_mask is batch.max_seqlen is None
