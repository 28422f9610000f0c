"""Records as tensors for the four types of training: seq, sft, dpo and grpo.

Item i of a dataset is a dict of tensors, which torch's own loader takes; `gather` makes the batches that `make_loader`
serves, resumed exactly and by any number of ranks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rukh_loaders.collate import (
    IGNORED,
    NO_DOCUMENT,
    Sample,
    collate_dpo,
    collate_grpo,
    collate_seq,
    collate_sft,
)
from rukh_loaders.errors import StoreArgumentError, StoreShardsError
from rukh_loaders.formats.corpus import POSITION_IDS
from rukh_loaders.record_dataset import RecordDataset
from rukh_loaders.stores.store import Array, Store

SEQUENCE, LOSS_MASK = "sequence", "loss_mask"

Positions = Literal["stored", "document", "window"]


class StreamDataset(RecordDataset):
    """Windows of a store's stream, or its records whole, without the last id as inputs and the first as targets.

    With `document_ids` an item says which document each input belongs to, numbered from 0 in each item. Rows that
    documents were packed into are records.
    """

    required_keys = (SEQUENCE,)

    def __init__(self, store: Store, pad_id: int = 0, *, document_ids: bool = False) -> None:
        super().__init__(store, pad_id)
        store.check_keys([SEQUENCE], store.stream_keys, "stream")
        self.document_ids = document_ids
        store.check_same_lengths(self._read_keys())

    @abstractmethod
    def _read_keys(self) -> list[str]:
        """The keys that an item is made of."""

    @abstractmethod
    def _sample(self, begin: int, end: int, values: dict[str, Array]) -> dict[str, Tensor]:
        """The item of inputs `begin..end-1`; `values` are those of `begin..end`."""

    def _samples(self, items: Sequence[int]) -> list[Sample]:
        bounds = [self.store.item_bounds(item) for item in items]
        with_targets = [(begin, min(end + 1, self.store.token_count)) for begin, end in bounds]
        read = self.store.fetch_many(with_targets, self._read_keys())
        return [
            self._whole(self._sample(begin, end, values) | self._documents(begin, end))
            for (begin, end), values in zip(bounds, read, strict=True)
        ]

    def _documents(self, begin: int, end: int) -> dict[str, Tensor]:
        if not self.document_ids:
            return {}
        begins = self._begins(begin, end)
        return {"document_ids": torch.from_numpy(np.searchsorted(begins, np.arange(begin, end), "right") - 1)}

    def _begins(self, begin: int, end: int) -> NDArray[np.int64]:
        begins = self.store.document_begins(begin, end)
        return np.array([begin]) if begins is None else begins

    def _filler(self) -> Sample:
        nothing: dict[str, Array] = {key: np.empty(0, np.int64) for key in self._read_keys()}
        return self._whole(self._sample(0, 0, nothing) | self._documents(0, 0))

    def _whole(self, sample: dict[str, Tensor]) -> Sample:
        """A window as long as all are: the last one, and one that only fills up, are padded."""
        short = self.store.window_size - len(sample["input_ids"]) if self.store.has_windows else 0
        if not short:
            return sample
        return {name: torch.cat([t, t.new_full((short,), self._padding(name))]) for name, t in sample.items()}

    def _padding(self, name: str) -> int:
        return {"input_ids": self.pad_id, "document_ids": NO_DOCUMENT}.get(name, 0)


class SeqDataset(StreamDataset):
    """Item i is `input_ids` and `target_ids`, int64, where the target of each id is the one that follows it.

    Targets that there are none of are -100, which torch's cross entropy leaves out.
    """

    train_type = "seq"
    collate = collate_seq

    def _read_keys(self) -> list[str]:
        return [SEQUENCE]

    def _sample(self, begin: int, end: int, values: dict[str, Array]) -> dict[str, Tensor]:
        ids = values[SEQUENCE]
        return {"input_ids": _int64(ids[: end - begin]), "target_ids": _int64(ids[1 : end - begin + 1])}

    def _padding(self, name: str) -> int:
        return IGNORED if name == "target_ids" else super()._padding(name)


class SftDataset(StreamDataset):
    """As `SeqDataset`, with `position_ids`, int64, of the inputs, and `loss_mask`, bool, of the targets.

    Where the store has no mask, all is trained. `positions`:

        stored     as they are stored, or where they are not, counted from 0 in each document
        document   counted from 0 where a document begins, or where the item begins within one
        window     counted from 0 where the item begins
    """

    train_type = "sft"
    collate = collate_sft

    def __init__(
        self, store: Store, pad_id: int = 0, *, document_ids: bool = False, positions: Positions = "stored"
    ) -> None:
        if positions not in get_args(Positions):
            raise StoreArgumentError(f"positions is {positions!r}; allowed are {', '.join(get_args(Positions))}")
        self.positions = positions
        super().__init__(store, pad_id, document_ids=document_ids)

    def _read_keys(self) -> list[str]:
        keys = [SEQUENCE]
        if LOSS_MASK in self.store.stream_keys:
            keys.append(LOSS_MASK)
        if self.positions == "stored" and POSITION_IDS in self.store.stream_keys:
            keys.append(POSITION_IDS)
        return keys

    def _sample(self, begin: int, end: int, values: dict[str, Array]) -> dict[str, Tensor]:
        n, ids = end - begin, values[SEQUENCE]
        mask = values.get(LOSS_MASK, np.ones(len(ids), np.bool_))
        positions = values[POSITION_IDS][:n] if POSITION_IDS in values else self._counted(begin, end)
        return {
            "input_ids": _int64(ids[:n]),
            "target_ids": _int64(ids[1 : n + 1]),
            "position_ids": _int64(positions),
            "loss_mask": _bool(mask[1 : n + 1]),
        }

    def _counted(self, begin: int, end: int) -> NDArray[np.int64]:
        places = np.arange(begin, end)
        if self.positions == "window":
            return places - begin
        begins = self._begins(begin, end)
        if self.positions == "document":
            begins = np.maximum(begins, begin)
        return places - begins[np.searchsorted(begins, places, "right") - 1]


class DpoDataset(RecordDataset):
    """Item i is record i: `chosen` and `rejected`, int64, and `chosen_mask` and `rejected_mask`, bool."""

    train_type = "dpo"
    required_keys = ("chosen", "rejected", "chosen_mask", "rejected_mask")
    collate = collate_dpo

    def _samples(self, items: Sequence[int]) -> list[Sample]:
        records = self.store.fetch_records([self.store.record_of_item(item) for item in items], self.required_keys)
        return [
            {key: _bool(ids) if key.endswith("_mask") else _int64(ids) for key, ids in record.items()}
            for record in records
        ]

    def _filler(self) -> Sample:
        empty: Array = np.empty(0, np.int64)
        return {key: _bool(empty) if key.endswith("_mask") else _int64(empty) for key in self.required_keys}


class GrpoDataset(RecordDataset):
    """Item i is record i: `prompts`, int64 (P,), `responses` and `masks`, G of them each, and `rewards`, float32 (G,).

    A single reward is that of all responses. `StoreShardsError` for a record with another number of them.
    """

    train_type = "grpo"
    required_keys = ("prompts", "responses", "masks", "rewards")
    collate = collate_grpo

    def _samples(self, items: Sequence[int]) -> list[Sample]:
        records = self.store.fetch_records([self.store.record_of_item(item) for item in items], self.required_keys)
        return [self._sample(item, record) for item, record in zip(items, records, strict=True)]

    def _sample(self, item: int, record: dict[str, Any]) -> Sample:
        size = len(record["responses"])
        rewards = torch.from_numpy(np.array(record["rewards"], np.float32))
        if len(rewards) not in (1, size) or len(record["masks"]) != size:
            raise StoreShardsError(
                f"{self.store.path}: record {item} has {size} responses, {len(record['masks'])} masks and "
                f"{len(rewards)} rewards; allowed: as many of each, or one reward for all"
            )
        return {
            "prompts": _int64(record["prompts"]),
            "responses": [_int64(ids) for ids in record["responses"]],
            "masks": [_bool(mask) for mask in record["masks"]],
            "rewards": rewards if len(rewards) == size else rewards.repeat(size),
        }

    def _filler(self) -> Sample:
        prompts, rewards = torch.empty(0, dtype=torch.int64), torch.empty(0)
        return {"prompts": prompts, "responses": [], "masks": [], "rewards": rewards}


def _int64(values: Any) -> Tensor:
    return torch.from_numpy(np.array(values, np.int64))


def _bool(values: Any) -> Tensor:
    return torch.from_numpy(np.array(values, np.bool_))
