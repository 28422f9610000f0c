"""Datasets of the four types over stores, and what a loader serves of them."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from record_configs import DPO, GRPO, PROMPT_RESPONSE, TEXT_SECTIONS, message, sections_config, sources_config
from record_stores import plain, write_lines, write_records, write_stream
from torch.utils.data import DataLoader
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.records import Pipeline
from rukh_loaders import make_loader
from rukh_loaders.errors import StoreArgumentError, StoreShardsError
from rukh_loaders.record_dataset import RecordDataset
from rukh_loaders.record_datasets import DpoDataset, GrpoDataset, SeqDataset, SftDataset
from rukh_loaders.records import PipelineConfig
from rukh_loaders.stores import JsonlStore, ShardStore

TEXT = sections_config(TEXT_SECTIONS)
MASK = [0, 0, 1, 1, 0, 0, 1, 1, 1, 0]
POSITIONS = [0, 1, 2, 3, 0, 1, 2, 3, 4, 5]
PAIRS = [
    {
        "chosen": [message("user", "a"), message("assistant", answer)],
        "rejected": [message("user", "a"), message("assistant", f"{answer} d")],
    }
    for answer in "bcefg"
]
GROUPS = [
    {"prompt": [message("user", "a b")], "responses": ["c", "d e", "f"], "rewards": [1, 0, 0.5]},
    {"prompt": [message("user", "a")], "responses": ["b", "c d"], "rewards": [1.0, 0.3]},
    {"prompt": [message("user", "a")], "responses": ["b"], "rewards": 2},
]


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture
def lines(tmp_path: Path, toy_folder: Path) -> Any:
    """Records as a store over lines."""

    def open_lines(records: Any, config: PipelineConfig = TEXT, **options: Any) -> JsonlStore:
        return JsonlStore(write_lines(tmp_path / "in.jsonl", records), config, toy_folder, **options)

    return open_lines


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    return write_stream(tmp_path, range(10, 20), loss_mask=MASK, position_ids=POSITIONS)


def letters(count: int) -> list[dict[str, str]]:
    return [{"text": " ".join("abcdefghij"[: 2 + i % 7])} for i in range(count)]


def test_a16_sft_windows_shift_ids_and_mask_and_not_positions(stream: Path) -> None:
    dataset = SftDataset(ShardStore(stream, 4))
    assert len(dataset) == 2
    assert plain(dataset[0]) == {
        "input_ids": [10, 11, 12, 13],
        "target_ids": [11, 12, 13, 14],
        "position_ids": [0, 1, 2, 3],
        "loss_mask": [False, True, True, False],
    }
    assert plain(dataset[1]) == {
        "input_ids": [14, 15, 16, 17],
        "target_ids": [15, 16, 17, 18],
        "position_ids": [0, 1, 2, 3],
        "loss_mask": [False, True, True, True],
    }
    assert {name: t.dtype for name, t in dataset[0].items()} == {
        "input_ids": torch.int64,
        "target_ids": torch.int64,
        "position_ids": torch.int64,
        "loss_mask": torch.bool,
    }
    for outside in (2, -1):
        with pytest.raises(IndexError):
            dataset[outside]


def test_a16_seq_windows_with_a_stride(stream: Path) -> None:
    dataset = SeqDataset(ShardStore(stream, 4, 2))
    assert len(dataset) == 3
    assert plain(dataset[2]) == {"input_ids": [14, 15, 16, 17], "target_ids": [15, 16, 17, 18]}
    assert dataset[2]["input_ids"].dtype == torch.int64


def test_b34_the_padded_last_window_has_no_loss_in_its_padding(stream: Path) -> None:
    store = ShardStore(stream, 4, pad_last=True)
    assert plain(SeqDataset(store, pad_id=3)[2]) == {"input_ids": [18, 3, 3, 3], "target_ids": [19, *[-100] * 3]}
    last = plain(SftDataset(store, pad_id=3)[2])
    assert (last["loss_mask"], last["position_ids"]) == ([False] * 4, [4, 0, 0, 0])


def test_b04_without_a_mask_all_is_trained_and_positions_count_documents(tmp_path: Path) -> None:
    store = ShardStore(write_records(tmp_path / "shard_0000", [[1, 2, 3], [4, 5], [6, 7, 8, 9]]), 4)
    dataset = SftDataset(store)
    assert plain(dataset[1])["position_ids"] == [1, 0, 1, 2]
    assert plain(dataset[1])["loss_mask"] == [True] * 4
    assert plain(SftDataset(store, positions="document")[1])["position_ids"] == [0, 0, 1, 2]
    assert plain(SftDataset(store, document_ids=True)[1])["document_ids"] == [0, 1, 1, 1]


def test_b29_positions_can_count_from_the_window(tmp_path: Path) -> None:
    folder = write_stream(tmp_path, range(10, 20), position_ids=range(10))
    store = ShardStore(folder, 4)
    assert plain(SftDataset(store)[1])["position_ids"] == [4, 5, 6, 7]
    assert plain(SftDataset(store, positions="window")[1])["position_ids"] == [0, 1, 2, 3]
    with pytest.raises(StoreArgumentError, match="positions is 'rope'"):
        SftDataset(store, positions="rope")  # type: ignore[arg-type]


def test_b02_masks_of_another_length_are_refused(tmp_path: Path) -> None:
    folder = write_stream(tmp_path, range(4), loss_mask=[1, 1])
    with pytest.raises(StoreShardsError, match="other lengths"):
        SftDataset(ShardStore(folder, 2))
    assert SeqDataset(ShardStore(folder, 1)).store.token_count == 2


def test_missing_keys_are_named(stream: Path) -> None:
    with pytest.raises(KeyError, match=r"has the keys .*; grpo also needs prompts, responses, masks, rewards"):
        GrpoDataset(ShardStore(stream))


def test_whole_records_without_a_window(lines: Any) -> None:
    store = lines([{"p": "a b", "r": "c d"}, {"p": "", "r": "e"}], sections_config(PROMPT_RESPONSE))
    dataset = SftDataset(store)
    assert plain([dataset[0], dataset[1]]) == [
        {
            "input_ids": [9, 10, 11],
            "target_ids": [10, 11, 12],
            "position_ids": [0, 1, 2],
            "loss_mask": [False, True, True],
        },
        {"input_ids": [], "target_ids": [], "position_ids": [], "loss_mask": []},
    ]
    batch = dataset.gather(np.array([1, 0, -1]))
    assert plain(batch["loss_mask"]) == [[False] * 3, [False, True, True], [False] * 3]
    assert plain(batch["index"]) == [1, 0, -1]


def test_b13_a_packed_row_is_one_item_and_its_documents_are_known(tmp_path: Path, toy_folder: Path) -> None:
    config = sections_config(TEXT_SECTIONS, packing_strategy="bfd", max_packed_len=5)
    records = write_lines(tmp_path / "in.jsonl", [{"text": t} for t in ("a b c", "d e f g", "h i")])
    Pipeline(config, [records], tmp_path / "out", toy_folder).run()
    dataset = SftDataset(ShardStore(tmp_path / "out"), document_ids=True)
    assert [plain(dataset[i])["input_ids"] for i in range(2)] == [[12, 13, 14], [9, 10, 11, 16]]
    assert plain(dataset[1])["document_ids"] == [0, 0, 0, 1]
    assert plain(dataset[1])["position_ids"] == [0, 1, 2, 0]


@pytest.mark.parametrize("as_shards", [True, False])
def test_a21_pairs_are_the_builders_lists(tmp_path: Path, toy_folder: Path, as_shards: bool) -> None:
    config = sources_config(DPO)
    records = write_lines(tmp_path / "in.jsonl", PAIRS[:2])
    Pipeline(config, [records], tmp_path / "out", toy_folder).run()
    dataset = DpoDataset(ShardStore(tmp_path / "out") if as_shards else JsonlStore(records, config, toy_folder))
    assert len(dataset) == 2
    assert plain(dataset[0]) == {
        "chosen": [1, 4, 7, 9, 5, 4, 8, 10, 5],
        "chosen_mask": [*[False] * 5, *[True] * 4],
        "rejected": [1, 4, 7, 9, 5, 4, 8, 10, 12, 5],
        "rejected_mask": [*[False] * 5, *[True] * 5],
    }
    with pytest.raises(ValueError, match="no record -1"):
        dataset[-1]


def test_groups_and_a_reward_for_all_of_one(lines: Any) -> None:
    dataset = GrpoDataset(lines([GROUPS[1], {**GROUPS[1], "rewards": 0.5}], sources_config(GRPO)))
    item = dataset[0]
    assert plain(item["responses"]) == [[10], [11, 12]]
    assert plain(item["masks"]) == [[True], [True, True]]
    assert item["rewards"].dtype == torch.float32
    assert plain(dataset[1]["rewards"]) == [0.5, 0.5]


def test_b35_groups_of_other_sizes_make_one_batch(lines: Any) -> None:
    dataset = GrpoDataset(lines(GROUPS, sources_config(GRPO)), pad_id=3)
    batch = dataset.gather(np.array([0, 2, -1]))
    assert plain(batch["group_mask"]) == [[True] * 3, [True, False, False], [False] * 3]
    assert plain(batch["responses"][1]) == [[10, 3], [3, 3], [3, 3]]
    assert plain(batch["rewards"]) == [[1, 0, 0.5], [2, 0, 0], [0, 0, 0]]
    assert not batch["masks"][2].any()
    assert not batch["prompt_mask"][2].any()


DATASETS: list[tuple[type[RecordDataset], Any, PipelineConfig, int]] = [
    (SeqDataset, letters(23), TEXT, 4),
    (SeqDataset, letters(23), TEXT, 0),
    (SftDataset, letters(23), TEXT, 4),
    (SftDataset, letters(23), TEXT, 0),
    (DpoDataset, PAIRS, sources_config(DPO), 0),
    (GrpoDataset, GROUPS, sources_config(GRPO), 0),
]


@pytest.mark.parametrize(("kind", "records", "config", "window"), DATASETS)
def test_a_loader_serves_each_item_once_and_goes_on_where_it_was(
    lines: Any, kind: type[RecordDataset], records: Any, config: PipelineConfig, window: int
) -> None:
    dataset = kind(lines(records, config, window_size=window))
    loader = make_loader(dataset, 2, seed=3, drop_last=False)
    served = [batch["index"].tolist() for batch in loader]
    assert Counter(i for batch in served for i in batch if i != -1) == Counter(range(len(dataset)))
    halves = make_loader(dataset, 2, seed=3, drop_last=False)
    first = next(iter(halves))
    resumed = make_loader(pickle.loads(pickle.dumps(dataset)), 2, seed=3, drop_last=False)
    resumed.load_state_dict(halves.state_dict())
    assert [first["index"].tolist(), *(batch["index"].tolist() for batch in resumed)] == served
    ranks = [make_loader(dataset, 1, seed=3, drop_last=False, rank=r, world_size=2) for r in range(2)]
    one_each = [[i for batch in rank for i in batch["index"].tolist()] for rank in ranks]
    assert [set(pair) for pair in zip(*one_each, strict=True)] == [set(batch) for batch in served]


@pytest.mark.parametrize(("kind", "records", "config", "window"), DATASETS)
def test_a_batch_is_its_items(
    lines: Any, kind: type[RecordDataset], records: Any, config: PipelineConfig, window: int
) -> None:
    dataset = kind(lines(records, config, window_size=window), pad_id=3)
    batch = dataset.gather(np.array([2, 0]))
    items = type(dataset).collate([dataset[2], dataset[0]], 3)
    assert plain(dict(batch)) == plain(dict(items)) | {"index": [2, 0]}
    assert plain(batch.to("cpu")) == plain(dict(batch))
    filled = dataset.gather(np.array([-1]))
    losses = [t for name, t in filled.items() if "mask" in name]
    assert not any(mask.any() for mask in losses)
    assert losses or (filled["target_ids"] == -100).all()


@pytest.mark.parametrize("workers", [0, 1])
def test_torchs_own_loader_takes_a_dataset(lines: Any, workers: int) -> None:
    dataset = DpoDataset(lines(PAIRS, sources_config(DPO)))
    method = "forkserver" if workers else None
    batches = list(
        DataLoader(dataset, 2, num_workers=workers, collate_fn=type(dataset).collate, multiprocessing_context=method)
    )
    assert [len(batch["chosen"]) for batch in batches] == [2, 2, 1]
    assert plain(dict(batches[0])) == plain({k: v for k, v in dataset.gather(np.arange(2)).items() if k != "index"})


def test_b33_weighted_domains_are_served_in_their_shares(lines: Any) -> None:
    records = [{"text": "a b c", "s": s} for s in "x" * 9 + "y" * 4]
    config = PipelineConfig.from_dict(TEXT.to_dict() | {"output": {"domain_key": "s"}})
    dataset = SeqDataset(lines(records, config, weights={"x": 0.75, "y": 0.25}))
    assert len(dataset) == 13
    for shuffle in (True, False):
        items = dataset.order(0, 0, shuffle).take(0, 8)
        assert [(items[:n] < 9).sum() for n in (4, 8)] == [3, 6]
    with pytest.raises(StoreArgumentError, match="blocks"):
        dataset.order(0, 0, "blocks")


def test_a_state_of_another_window_is_refused(stream: Path) -> None:
    prints = {SeqDataset(ShardStore(stream, w, s)).fingerprint for w, s in ((4, None), (4, 4), (4, 2), (3, None))}
    assert len(prints) == 3
    assert SftDataset(ShardStore(stream, 4)).fingerprint not in prints
