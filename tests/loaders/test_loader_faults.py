"""What goes wrong in other loaders, report by report, and the test that it does not go wrong here."""

import os
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from integer_source import IntegerSource, served

from rukh_loaders import PackedDataset, PaddedDataset, ResumableSampler, make_loader, open_pack, open_packs
from rukh_loaders.errors import PackError
from rukh_loaders.formats.pack import COLUMNS, PackInfo, PackWriter

HERE = "test_loader_faults.py"

TESTS = {
    "nanoGPT#428, datasets#4883: memory grows as pages are read": (HERE, "test_private_memory_is_flat_over_an_epoch"),
    "pytorch#13246, pytorch#50201: index lists copied by workers, randperm as a list": (
        HERE,
        "test_a_billion_items_are_ordered_in_no_memory",
    ),
    "pytorch#25162: DistributedSampler pads with duplicates": (
        "test_ranks.py",
        "test_evaluation_sees_every_sample_once_in_equally_many_batches_on_every_rank",
    ),
    "litData#233: ranks get different numbers of batches": (
        "test_ranks.py",
        "test_training_leaves_out_less_than_one_global_batch_and_repeats_no_sample",
    ),
    "datasets#6673, webdataset#172: the same order each epoch in persistent workers": (
        "test_stock_loaders.py",
        "test_persistent_workers_serve_another_order_each_epoch",
    ),
    "torchdata#1437: a state at the end of an epoch resumes into nothing": (
        "test_resume.py",
        "test_a_state_saved_at_the_last_batch_resumes_into_a_full_epoch",
    ),
    "resumed again and again, the position is lost": (
        "test_resume.py",
        "test_any_number_of_saves_and_loads_equals_an_unbroken_run",
    ),
    "streaming#880: the position is inferred from a batch's length, or counted at prefetch": (
        "test_resume.py",
        "test_the_position_counts_the_samples_delivered_and_not_those_made_ahead",
    ),
    "torchtitan#811: other ranks or batch sizes drop or repeat": (
        "test_resume.py",
        "test_an_epoch_is_exact_through_changes_of_ranks_and_batch_size",
    ),
    "NeMo-RL#2519: a state is loaded against other data": (
        "test_resume.py",
        "test_a_state_loaded_into_other_data_is_refused_with_both_fingerprints",
    ),
    "LLM-Shearing#65: ids over 65,535 and negative sentinels": (
        HERE,
        "test_an_id_over_65535_and_a_negative_sentinel_are_refused_when_they_are_written",
    ),
    "nanotron#182: offsets past 2^31 or 2^32": (HERE, "test_games_past_2_to_the_31_and_32_tokens_are_served"),
    "Megatron-LM#705: small corpora blended": (
        "test_mixture.py",
        "test_two_weights_of_one_and_999_thousandths_are_served_exactly",
    ),
    "DeepSpeed#377: many corpora blended": (
        "test_mixture.py",
        "test_three_hundred_corpora_are_blended_in_range_and_within_one_sample",
    ),
    "datatrove: ds[len] is a short row, ds[-1] an error": (
        "test_packed_dataset.py",
        "test_an_index_outside_raises_alone_and_in_a_batch",
    ),
    "NeMo-Automodel#3382: cannot pickle under spawn, or copies the pack": (
        "test_stock_loaders.py",
        "test_workers_however_started_open_the_pack_again_and_serve_the_same",
    ),
    "writing into a batch changes the data or warns": ("test_make_loader.py", "test_batches_may_be_written_into"),
    "streaming#781: leftovers in shared memory stop the next run": (
        "test_kills.py",
        "test_a_killed_program_leaves_nothing_that_stops_the_next_one",
    ),
    "grain#1372: the error of the producing thread is lost": (
        "test_prefetch.py",
        "test_the_error_of_a_batch_is_raised_in_its_place",
    ),
    "grain#1372: close hangs": (
        "test_prefetch.py",
        "test_leaving_a_loop_half_way_ends_the_thread_in_under_a_second",
    ),
    "grain#1200: a subset leaks outside itself after shuffle and repeat": (
        HERE,
        "test_chosen_games_alone_are_served_however_often_they_are_shuffled",
    ),
    "nanoVLM#204: position ids alone do not stop attention across documents": (
        "test_documents.py",
        "test_block_diagonal_attention_isolates_the_games",
    ),
}


@pytest.mark.parametrize("report", TESTS)
def test_each_report_has_its_test(report):
    file, name = TESTS[report]
    assert f"def {name}(" in (Path(__file__).parent / file).read_text()


def write_games(folder, lengths, month=1):
    """Games of these lengths, each `<bos>`, 10 and its number, as many 7 as it takes, `<eos>`."""
    ids = np.full(sum(lengths), 7, dtype=np.uint16)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    ids[starts], ids[starts + 1], ids[ends - 1] = 1, 10 + np.arange(len(lengths)), 2
    info = PackInfo(
        n_games=len(lengths),
        n_tokens=sum(lengths),
        scheme="tiny",
        vocab_size=65_536,
        vocab_hash="0" * 64,
        source="small integers",
    )
    columns = {name: np.full(len(lengths), month, dtype) for name, dtype in COLUMNS.items()}
    columns["game_id"] = np.arange(len(lengths), dtype=np.int64) + 1000 * month
    columns["white_elo"] = (1000 + np.arange(len(lengths)) % 1000 * 10).astype(np.int16)
    with PackWriter(folder, info) as writer:
        writer.append(ids, np.array(lengths, dtype=np.int64))
        writer.append_columns(columns)
        writer.finish({})
    return folder


MEMORY = """
import gc, sys
from rukh_loaders import PackedDataset, make_loader

def private():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

loader = make_loader(PackedDataset(sys.argv[1], block=1024), 32)
seen = []
for _ in range(3):
    for number, (x, y) in enumerate(loader):
        if number % 50 == 10:
            seen.append(private())
print(max(seen) - seen[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell private memory")
def test_private_memory_is_flat_over_an_epoch(tmp_path, project):
    """The pack has 64 MB: read through, it is in the page cache, which the system takes back when it needs to."""
    pack = write_games(tmp_path / "pack", [1000] * 32_000)
    command = [sys.executable, "-c", MEMORY, pack]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(project)})
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 6 * 1024  # kB


def test_a_billion_items_are_ordered_in_no_memory():
    tracemalloc.start()
    try:
        loader = make_loader(IntegerSource(10**9), 256, prefetch=0)
        batches = [batch for batch, _ in zip(loader, range(100), strict=False)]
        sampled = [index for index, _ in zip(ResumableSampler(10**9), range(1000), strict=False)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(set(served(batches))) == 25_600
    assert len(set(sampled)) == 1000
    assert peak < 8_000_000
    assert len(pickle.dumps(ResumableSampler(10**9))) < 4096


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (np.array([1, -100, 2]), "got ids of int64, .* expected uint16"),
        (np.array([1, 65_536, 2]), "got ids of int64, .* expected uint16"),
        (np.array([1, -100, 2]).astype(np.uint16), "game 0 has id 65436, allowed: 0 to 8"),
    ],
)
def test_an_id_over_65535_and_a_negative_sentinel_are_refused_when_they_are_written(tmp_path, ids, message):
    info = PackInfo(n_games=1, n_tokens=3, scheme="tiny", vocab_size=9, vocab_hash="0" * 64, source="integers")
    with pytest.raises(PackError, match=message), PackWriter(tmp_path / "pack", info) as writer:
        writer.append(ids, np.array([3], dtype=np.int64))
    with pytest.raises(PackError):
        open_pack(tmp_path / "pack")


def write_sparse_pack(folder, starts, n_tokens):
    """A pack whose tokens are holes of the file but for the `<bos>` and the number of each game."""
    folder.mkdir()
    info = PackInfo(
        n_games=len(starts), n_tokens=n_tokens, scheme="tiny", vocab_size=100, vocab_hash="0" * 64, source="holes"
    )
    np.save(folder / "starts.npy", np.array(starts, dtype=np.int64))
    with (folder / "tokens.npy").open("wb") as file:
        header = {"descr": "<u2", "fortran_order": False, "shape": (n_tokens,)}
        np.lib.format.write_array_header_1_0(file, header)
        begin = file.tell()
        file.truncate(begin + 2 * n_tokens)
        for number, start in enumerate(starts):
            file.seek(begin + 2 * start)
            file.write(np.array([1, 10 + number], dtype=np.uint16).tobytes())
        file.seek(-2, os.SEEK_END)
        file.write(np.array([2], dtype=np.uint16).tobytes())
    (folder / "meta.json").write_bytes(info.to_bytes())


def test_games_past_2_to_the_31_and_32_tokens_are_served(tmp_path):
    starts = [0, 2**31 - 3, 2**31 + 5, 2**32 - 3, 2**32 + 5]
    write_sparse_pack(tmp_path / "pack", starts, 2**32 + 9)
    dataset = PackedDataset(tmp_path / "pack", block=4, last_target=True)
    (batch,) = make_loader(dataset, 5)
    assert batch.index.tolist() != [0, 1, 2, 3, 4]
    assert batch.x[batch.index.argsort()].tolist() == [
        [1, 10, 0, 0],
        [1, 11, 0, 0],
        [1, 12, 0, 0],
        [1, 13, 0, 0],
        [1, 14, 0, 2],
    ]
    blocks = PackedDataset(tmp_path / "pack", block=2**20, start_at_game=False)
    assert len(blocks) == 2**12
    assert blocks[2**11][0][5:7].tolist() == [1, 12]


@pytest.mark.parametrize("shuffle", [True, "blocks", False])
@pytest.mark.parametrize(
    "choose",
    [
        lambda packs: packs.games(slice(5, 24)),
        lambda packs: packs.where(white_elo=(1030, 1110)),
        lambda packs: packs.split(salt="a", val=0.4)["val"],
    ],
)
def test_chosen_games_alone_are_served_however_often_they_are_shuffled(tmp_path, shuffle, choose):
    for month in (1, 2):
        write_games(tmp_path / f"2025-0{month}", [4 + number % 5 for number in range(20)], month)
    packs = choose(open_packs(tmp_path))
    chosen = packs.select(np.arange(packs.n_games))
    assert 0 < len(chosen) < 40
    allowed = set((10 + chosen % 20).tolist())
    loader = make_loader(PackedDataset(packs, block=12), 3, shuffle=shuffle, drop_last=False)
    for _ in range(4):
        batches = list(loader)
        assert sorted(served(batches)) == list(range(len(chosen)))
        ids = set(np.concatenate([batch.x.numpy().ravel() for batch in batches]).tolist())
        assert ids - {0, 1, 2, 7} <= allowed


@pytest.fixture(params=[-5, 10**6], ids=["a negative start", "a start past the end"])
def damaged(request, tmp_path):
    """Games of 5 ids, of which the third's start is damaged in a way that opening does not notice."""
    folder = write_games(tmp_path / "2024-01", [5] * 6)
    starts = np.load(folder / "starts.npy")
    starts[2] = request.param
    np.save(folder / "starts.npy", starts)
    (folder / "manifest.json").unlink()
    return folder


SAYS_WHICH_GAME = r"2024-01/starts.npy: game [12] "


@pytest.mark.parametrize("months", [1, 2])
@pytest.mark.parametrize("kind", ["games", "best_fit", "padded", "scattered"])
def test_a_damaged_start_is_a_pack_error_where_it_is_met(damaged, kind, months):
    if months == 2:
        write_games(damaged.with_name("2024-02"), [5] * 6)
    packs = open_packs(damaged.parent)
    if kind == "scattered":
        packs = packs.where(np.arange(packs.n_games) != 4)
    dataset_of = {
        "padded": lambda: PaddedDataset(packs, 6),
        "best_fit": lambda: PackedDataset(packs, 6, windows="best_fit"),
    }.get(kind, lambda: PackedDataset(packs, 6))
    with pytest.raises(PackError, match=SAYS_WHICH_GAME):
        dataset_of().gather(np.arange(5))


def test_a_damaged_start_is_a_pack_error_where_games_or_masks_are_asked_for(damaged):
    packs = open_packs(damaged)
    for asked in (
        lambda: open_pack(damaged).game(2),
        lambda: packs.games(slice(2, 4)).token_range,
        lambda: packs.where(np.arange(6) != 4).n_tokens,
        lambda: PackedDataset(packs, 6, windows="blocks", position_ids=True).gather(np.arange(2)),
    ):
        with pytest.raises(PackError, match=SAYS_WHICH_GAME):
            asked()


def test_falling_starts_are_a_pack_error_where_lengths_are_asked_for(tmp_path):
    folder = write_games(tmp_path / "2024-01", [5] * 6)
    starts = np.load(folder / "starts.npy")
    starts[3] = 4
    np.save(folder / "starts.npy", starts)
    (folder / "manifest.json").unlink()
    for asked in (
        lambda: PackedDataset(folder, 6, windows="best_fit"),
        lambda: PaddedDataset(folder, 6).gather(np.arange(6)),
        lambda: PackedDataset(folder, 6, position_ids=True).gather(np.arange(3)),
        lambda: open_pack(folder).game(2),
    ):
        with pytest.raises(PackError, match=r"starts.npy: game 2 (starts at|goes from) 10"):
            asked()


def test_a_game_without_ids_is_a_pack_error_where_games_are_packed(tmp_path):
    folder = write_games(tmp_path / "2024-01", [5] * 6)
    starts = np.load(folder / "starts.npy")
    starts[3] = starts[2]
    np.save(folder / "starts.npy", starts)
    (folder / "manifest.json").unlink()
    with pytest.raises(PackError, match=r"starts.npy: game 2 starts at 10, expected 0 to 29, and starts that rise"):
        PackedDataset(folder, 6, windows="best_fit")
