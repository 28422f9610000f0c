"""Samples of other lengths made into one batch."""

from typing import Any

import torch
from record_stores import plain

from rukh_loaders.collate import collate_dpo, collate_grpo, collate_seq, collate_sft


def ids(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


def ones(count: int) -> torch.Tensor:
    return torch.ones(count, dtype=torch.bool)


def pair(chosen: torch.Tensor, rejected: torch.Tensor) -> dict[str, Any]:
    masks = {"chosen_mask": ones(len(chosen)), "rejected_mask": ones(len(rejected))}
    return {"chosen": chosen, "rejected": rejected, **masks}


def group(prompt: torch.Tensor, *responses: torch.Tensor) -> dict[str, Any]:
    return {
        "prompts": prompt,
        "responses": list(responses),
        "masks": [ones(len(response)) for response in responses],
        "rewards": torch.arange(len(responses), dtype=torch.float32),
    }


def test_a18_both_sides_of_pairs_have_one_width() -> None:
    batch = collate_dpo([pair(ids(5, 6, 7), ids(5)), pair(ids(8), ids(9, 9, 9, 9))])
    assert plain(dict(batch)) == {
        "chosen": [[5, 6, 7, 0], [8, 0, 0, 0]],
        "chosen_mask": [[True, True, True, False], [True, False, False, False]],
        "rejected": [[5, 0, 0, 0], [9, 9, 9, 9]],
        "rejected_mask": [[True, False, False, False], [True] * 4],
    }
    assert [batch[key].dtype for key in ("chosen", "chosen_mask")] == [torch.int64, torch.bool]


def test_a18_prompts_are_padded_on_the_left_and_responses_on_the_right() -> None:
    samples = [group(ids(1, 2, 3), ids(4, 5), ids(6, 7, 8)), group(ids(9), ids(1), ids(2))]
    batch = collate_grpo(samples)
    assert plain(batch["prompts"]) == [[1, 2, 3], [0, 0, 9]]
    assert plain(batch["prompt_mask"]) == [[True] * 3, [False, False, True]]
    assert plain(batch["responses"]) == [[[4, 5, 0], [6, 7, 8]], [[1, 0, 0], [2, 0, 0]]]
    assert batch["masks"].shape == (2, 2, 3)
    assert plain(batch["masks"][1]) == [[True, False, False]] * 2
    assert (batch["rewards"].shape, batch["rewards"].dtype) == ((2, 2), torch.float32)
    assert bool(batch["group_mask"].all())


def test_b35_the_padding_id_is_chosen_and_the_largest_group_decides() -> None:
    batch = collate_grpo([group(ids(9), ids(1)), group(ids(1, 2), ids(4, 5), ids(6))], pad_id=7)
    assert plain(batch["prompts"]) == [[7, 9], [1, 2]]
    assert plain(batch["responses"]) == [[[1, 7], [7, 7]], [[4, 5], [6, 7]]]
    assert plain(batch["group_mask"]) == [[True, False], [True, True]]
    assert plain(batch["rewards"]) == [[0, 0], [0, 1]]
    assert plain(collate_dpo([pair(ids(5), ids(5, 6))], pad_id=7)["chosen"]) == [[5, 7]]


def test_groups_without_a_response_are_empty_rows() -> None:
    batch = collate_grpo([group(ids(9)), group(ids(8))])
    assert (batch["responses"].shape, bool(batch["group_mask"].any())) == ((2, 1, 1), False)


def test_sequences_of_other_lengths_are_padded_without_a_loss() -> None:
    samples = [{"input_ids": ids(1, 2, 3), "target_ids": ids(2, 3, 4)}, {"input_ids": ids(5), "target_ids": ids(6)}]
    batch = collate_seq(samples, pad_id=9)
    assert plain(dict(batch)) == {
        "input_ids": [[1, 2, 3], [5, 9, 9]],
        "target_ids": [[2, 3, 4], [6, -100, -100]],
    }
    with_masks: list[dict[str, Any]] = [
        {**sample, "position_ids": ids(*range(n)), "loss_mask": ones(n)}
        for sample, n in zip(samples, (3, 1), strict=True)
    ]
    batch = collate_sft(with_masks)
    assert plain(batch["loss_mask"]) == [[True] * 3, [True, False, False]]
    assert plain(batch["position_ids"]) == [[0, 1, 2], [0, 0, 0]]
    assert plain(batch["target_ids"]) == [[2, 3, 4], [6, 0, 0]]
