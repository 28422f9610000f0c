"""The four corpora: what a record of each is made into, and what stands beside their months."""

import json
from pathlib import Path
from typing import Any

from rukh_assets.records.chess.tokens import write_tokenizer
from rukh_assets.records.corpora import CONFIG, TOKENIZER
from rukh_loaders.formats import publish_file, publish_folder
from rukh_loaders.formats.publish import exclusive

SEQ, SFT, GRPO, DPO = "chess_seq", "chess_sft", "chess_grpo", "chess_dpo"

_MASK = {"system": "mask", "user": "mask", "assistant": "train"}


def _talk(field: str) -> dict[str, Any]:
    return {"field": field, "action": "$role", "template": True}


CONFIGS: dict[str, dict[str, Any]] = {
    SEQ: {
        "input": {"sections": [{"field": "text", "action": "train"}]},
        "preprocessing": {"min_chars": 0, "append_eos": True, "packing_strategy": "bfd", "max_packed_len": 1024},
    },
    SFT: {
        "input": {"sections": [_talk("messages")]},
        "mask": _MASK,
        "output": {"dtype": {"loss_mask": "bool"}},
    },
    GRPO: {
        "input": {
            "sources": {
                "prompts": {"sections": [{"field": "prompt", "action": "mask", "template": True}]},
                "responses": {
                    "sections": [{"field": "responses", "action": "train"}],
                    "list_field": True,
                    "mask_key": "masks",
                },
                "rewards": {"sections": [{"field": "rewards", "action": "value"}]},
            }
        },
    },
    DPO: {
        "input": {"sources": {side: {"sections": [_talk(side)]} for side in ("chosen", "rejected")}},
        "mask": _MASK,
    },
}
"""Corpus to its config, as `rukh_loaders.records.PipelineConfig` takes it."""


def furnish(corpus: str, folder: Path) -> None:
    """Put config.json and tokenizer/ of a corpus into its folder where there are none: what stands is the user's."""
    with exclusive(folder / CONFIG):
        if not (folder / CONFIG).exists():
            publish_file(folder / CONFIG, (json.dumps(CONFIGS[corpus], indent=2) + "\n").encode())
        if not (folder / TOKENIZER).exists():
            with publish_folder(folder / TOKENIZER) as building:
                write_tokenizer(building)
