"""Records of other lengths in one batch: padded, with masks that say where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor

Sample = Mapping[str, Any]

IGNORED = -100
"""The target that `torch.nn.functional.cross_entropy` leaves out by default."""

NO_DOCUMENT = -1


class RecordBatch(dict[str, Tensor]):
    """The tensors of a batch by name, one row a record, which move together.

    One that a loader gives has the `index` of each row, int64 (B,); -1 for a row that only fills up and has no loss.
    """

    def to(self, device: torch.device | str, non_blocking: bool = False) -> RecordBatch:
        """The batch on another device."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> RecordBatch:
        """The batch in page-locked memory, from which a device copies without waiting."""
        return self._each(lambda tensor: tensor.pin_memory())

    def widened(self) -> RecordBatch:
        """This batch: its tensors are as they will be used."""
        return self

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that it holds."""
        return iter(self.values())

    def _each(self, change: Callable[[Tensor], Tensor]) -> RecordBatch:
        return RecordBatch({name: change(tensor) for name, tensor in self.items()})


def collate_seq(samples: Sequence[Sample], pad_id: int = 0) -> RecordBatch:
    """`input_ids` and `target_ids`, int64 (B, T), padded on the right: inputs with `pad_id`, targets with `IGNORED`.

    With `document_ids`, int64, where the samples have them: -1 in the padding.
    """
    return RecordBatch(
        input_ids=pad_right([sample["input_ids"] for sample in samples], pad_id),
        target_ids=pad_right([sample["target_ids"] for sample in samples], IGNORED),
        **_document_ids(samples),
    )


def collate_sft(samples: Sequence[Sample], pad_id: int = 0) -> RecordBatch:
    """`input_ids`, `target_ids` and `position_ids`, int64 (B, T), and `loss_mask`, bool, False in the padding.

    The mask is of the targets. Ids are padded with `pad_id`, positions with 0. With `document_ids` as in `collate_seq`.
    """
    return RecordBatch(
        input_ids=pad_right([sample["input_ids"] for sample in samples], pad_id),
        target_ids=pad_right([sample["target_ids"] for sample in samples], pad_id),
        position_ids=pad_right([sample["position_ids"] for sample in samples], 0),
        loss_mask=pad_right([sample["loss_mask"] for sample in samples], False),
        **_document_ids(samples),
    )


def collate_dpo(samples: Sequence[Sample], pad_id: int = 0) -> RecordBatch:
    """`chosen` and `rejected`, int64 (B, S), and `chosen_mask` and `rejected_mask`, bool, False in the padding.

    S is the longest of all sides of the batch; all are padded on the right.
    """
    sides = ("chosen", "rejected")
    width = max((len(sample[side]) for sample in samples for side in sides), default=0)
    batch = RecordBatch()
    for side in sides:
        batch[side] = pad_right([sample[side] for sample in samples], pad_id, width)
        batch[f"{side}_mask"] = pad_right([sample[f"{side}_mask"] for sample in samples], False, width)
    return batch


def collate_grpo(samples: Sequence[Sample], pad_id: int = 0) -> RecordBatch:
    """Prompts, padded on the left so that responses follow at once, and groups of responses, padded on the right.

        prompts       int64 (B, P)          prompt_mask   bool (B, P)    where a prompt is
        responses     int64 (B, G, R)       masks         bool (B, G, R) which of the responses' ids are trained
        rewards       float32 (B, G)        group_mask    bool (B, G)    which responses there are

    G is the largest group of the batch. What fills the others up is empty, of reward 0 and False in `group_mask`.
    """
    prompts = [sample["prompts"] for sample in samples]
    sizes = [len(sample["responses"]) for sample in samples]
    size = max([1, *sizes])
    batch = RecordBatch(
        prompts=pad_left(prompts, pad_id),
        prompt_mask=pad_left([torch.ones(len(prompt), dtype=torch.bool) for prompt in prompts], False),
    )
    for name, padding in (("responses", pad_id), ("masks", False)):
        groups = [list(sample[name]) for sample in samples]
        empty = torch.empty(0, dtype=torch.int64 if name == "responses" else torch.bool)
        rows = list(chain.from_iterable(group + [empty] * (size - len(group)) for group in groups))
        batch[name] = pad_right(rows, padding).reshape(len(samples), size, -1)
    batch["rewards"] = pad_right([sample["rewards"] for sample in samples], 0.0, size)
    batch["group_mask"] = torch.arange(size) < torch.tensor(sizes).unsqueeze(1)
    return batch


def pad_right(rows: Sequence[Tensor], value: float, width: int = 0) -> Tensor:
    """Rows one under the other, of the dtype of the first, as wide as the longest or `width`, at least 1."""
    return _padded(rows, value, width, lambda padded, row: padded[: len(row)])


def pad_left(rows: Sequence[Tensor], value: float) -> Tensor:
    """The same with the padding before the rows."""
    return _padded(rows, value, 0, lambda padded, row: padded[len(padded) - len(row) :])


def _padded(rows: Sequence[Tensor], value: float, width: int, place: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    width = max([1, width, *map(len, rows)])
    padded = torch.full((len(rows), width), value, dtype=rows[0].dtype)
    for into, row in zip(padded, rows, strict=True):
        place(into, row).copy_(row)
    return padded


def _document_ids(samples: Sequence[Sample]) -> dict[str, Tensor]:
    if "document_ids" not in samples[0]:
        return {}
    return {"document_ids": pad_right([sample["document_ids"] for sample in samples], NO_DOCUMENT)}
