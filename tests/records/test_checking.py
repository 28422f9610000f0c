"""What the checks of a corpus find, on shards written by hand that no pipeline would write."""

from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_configs import GRPO, PROMPT_RESPONSE, sections_config, sources_config

from rukh_assets.errors import CheckFailedError
from rukh_assets.records import shards as shards_module
from rukh_assets.records.checking import masks_of, verify_groups, verify_masks
from rukh_loaders.formats import KeyedTensor, Parts, ShardWriter, cut_at, describe_files, write_manifest
from rukh_loaders.formats.corpus import Corpus, CorpusKeys, KeyKind, RecordKey, ShardEntry, open_corpus
from rukh_loaders.records import PipelineConfig

SEQUENCES = CorpusKeys(
    {
        "sequence": RecordKey(KeyKind.SEQUENCE, "int32"),
        "loss_mask": RecordKey(KeyKind.SEQUENCE, "int32", along="sequence"),
        "position_ids": RecordKey(KeyKind.SEQUENCE, "int32", along="sequence"),
    }
)
GROUPS = CorpusKeys(
    {
        "prompts": RecordKey(KeyKind.SEQUENCE, "int32"),
        "prompts_mask": RecordKey(KeyKind.SEQUENCE, "int32", along="prompts"),
        "responses": RecordKey(KeyKind.GROUP, "int32"),
        "masks": RecordKey(KeyKind.GROUP, "int32", along="responses"),
        "rewards": RecordKey(KeyKind.VALUES, "float32"),
    }
)


def write_by_hand(
    folder: Path, keys: CorpusKeys, config: PipelineConfig, shards: list[dict[str, KeyedTensor]]
) -> Corpus:
    entries = []
    for number, tensors in enumerate(shards):
        name = f"a/shard_{number:04d}"
        ShardWriter(folder / name).write(tensors)
        offsets = next(iter(tensors.values())).offsets
        assert offsets is not None
        entries.append(ShardEntry(name, "a", offsets.size - 1, offsets.size - 1, int(offsets[-1])))
    manifest = {"content": "records", "format_version": 1, **keys.to_json(), "config": config.to_dict()}
    manifest |= {"shards": [asdict(entry) for entry in entries], "files": describe_files(folder)}
    write_manifest(folder, manifest)
    return open_corpus(folder)


def tensor(records: list[list[int]], dtype: str = "int32") -> KeyedTensor:
    return KeyedTensor(np.array(list(chain.from_iterable(records)), dtype), cut_at(np.array(list(map(len, records)))))


def group(records: list[list[list[int]]]) -> KeyedTensor:
    parts = list(chain.from_iterable(records))
    cuts = Parts(cut_at(np.array(list(map(len, parts)))), cut_at(np.array(list(map(len, records)))))
    return KeyedTensor(np.array(list(chain.from_iterable(parts)), "int32"), cuts.offsets[cuts.records], cuts)


def sequences(masks: list[list[int]], documents: list[int] | None = None) -> dict[str, KeyedTensor]:
    """Rows with these masks; with `documents`, their lengths, the rows are packed."""
    mask = tensor(masks)
    assert mask.offsets is not None
    cut = None if documents is None else cut_at(np.array(documents))
    parts = None if cut is None else Parts(cut, np.searchsorted(cut, mask.offsets))
    ids = KeyedTensor(np.zeros_like(mask.values), mask.offsets, parts)
    return {"sequence": ids, "loss_mask": mask, "position_ids": KeyedTensor(ids.values, mask.offsets)}


def groups(responses: list[list[list[int]]], rewards: list[list[int]]) -> dict[str, KeyedTensor]:
    prompts, ones = tensor([[5]] * len(responses)), [[[1] * len(r) for r in g] for g in responses]
    return {
        "prompts": prompts,
        "prompts_mask": KeyedTensor(np.zeros_like(prompts.values), prompts.offsets),
        "responses": group(responses),
        "masks": group(ones),
        "rewards": tensor(rewards, "float32"),
    }


def config(strategy: str = "simple") -> PipelineConfig:
    return sections_config(PROMPT_RESPONSE, packing_strategy=strategy)


def test_trained_tokens_are_counted_over_all_shards_and_positions_are_no_mask(tmp_path: Path) -> None:
    shards = [sequences([[0, 1, 1], [1]]), sequences([[0, 1]])]
    corpus = write_by_hand(tmp_path, SEQUENCES, config(), shards)
    assert masks_of(corpus) == {"loss_mask": "sequence"}
    assert verify_masks(corpus) == {"loss_mask": 4}
    assert verify_groups(corpus) == {}


@pytest.mark.parametrize(
    ("strategy", "second", "said"),
    [
        ("simple", sequences([[0, 1], [0, 0]]), r"shard_0001: loss_mask has no trained token in document 1 of 2"),
        ("simple", sequences([[0, 1], [2, 1]]), r"shard_0001: loss_mask holds 2, allowed: 0 and 1"),
        ("bfd", sequences([[1, 0], [1]], [1, 1, 1]), r"shard_0001: loss_mask has no trained token in document 1 of 3"),
        ("bfd_split", sequences([[0, 0], [0]], [2, 1]), r"shard_0001: loss_mask has no trained token"),
    ],
)
def test_a_mask_that_trains_nothing_or_is_none_is_named_with_its_shard(
    strategy: str, second: dict[str, KeyedTensor], said: str, tmp_path: Path
) -> None:
    corpus = write_by_hand(tmp_path, SEQUENCES, config(strategy), [sequences([[1]], [1]), second])
    with pytest.raises(CheckFailedError, match=said):
        verify_masks(corpus)


def test_a_chunk_of_a_split_document_may_train_nothing(tmp_path: Path) -> None:
    corpus = write_by_hand(tmp_path, SEQUENCES, config("bfd_split"), [sequences([[0, 0], [0, 1]], [2, 2])])
    assert verify_masks(corpus) == {"loss_mask": 1}


def test_prompts_that_no_config_trains_may_be_masked_whole_and_one_reward_is_for_all(tmp_path: Path) -> None:
    shard = groups([[[7, 8], []], [[9]], [[7], [8], [9]]], [[1, 2], [3], [4]])
    corpus = write_by_hand(tmp_path, GROUPS, sources_config(GRPO), [shard])
    assert verify_masks(corpus) == {"prompts_mask": 0, "masks": 6}
    assert verify_groups(corpus) == {"responses": 3}


def test_rewards_that_are_not_as_many_as_the_responses_are_named_with_their_record(tmp_path: Path) -> None:
    shards = [groups([[[7]]], [[1]]), groups([[[7]], [[7], [8], [9]]], [[1], [1, 2]])]
    corpus = write_by_hand(tmp_path, GROUPS, sources_config(GRPO), shards)
    with pytest.raises(CheckFailedError, match=r"shard_0001: record 1 has 2 of rewards, expected 1 or as many .*, 3$"):
        verify_groups(corpus)


@given(
    masks=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=9), min_size=1, max_size=20),
    piece=st.integers(1, 9),
)
def test_the_counts_are_those_of_the_masks_whatever_the_piece_that_is_read_at_once(
    masks: list[list[int]], piece: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    corpus = write_by_hand(tmp_path_factory.mktemp("c"), SEQUENCES, config("bfd_split"), [sequences([[1], *masks])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards_module, "PIECE", piece)
        assert verify_masks(corpus) == {"loss_mask": 1 + sum(map(sum, masks))}
    untrained = [i for i, mask in enumerate(masks, 1) if not any(mask)]
    whole = write_by_hand(tmp_path_factory.mktemp("c"), SEQUENCES, config(), [sequences([[1], *masks])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards_module, "PIECE", piece)
        said: Any = verify_masks(whole) if not untrained else _refusal(whole)
    assert untrained == [] or f"in document {untrained[0]} of {1 + len(masks)}" in said


def _refusal(corpus: Corpus) -> str:
    with pytest.raises(CheckFailedError) as refused:
        verify_masks(corpus)
    return str(refused.value)
