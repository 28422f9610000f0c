"""The configs and the conversation that the cases about record corpora are written with."""

from typing import Any

from rukh_loaders.records import PipelineConfig

CHAT_SECTIONS = [{"field": "messages", "action": "$role", "template": True}]
TEXT_SECTIONS = [{"field": "text", "action": "train"}]
PROMPT_RESPONSE = [{"field": "p", "action": "mask"}, {"field": "r", "action": "train"}]
ROLES = {"system": "mask", "user": "mask", "assistant": "train"}
DPO = {side: {"sections": [{"field": side, "action": "$role", "template": True}]} for side in ("chosen", "rejected")}
GRPO = {
    "prompts": {"sections": [{"field": "prompt", "action": "mask", "template": True}]},
    "responses": {"sections": [{"field": "responses", "action": "train"}], "list_field": True, "mask_key": "masks"},
    "rewards": {"sections": [{"field": "rewards", "action": "value"}]},
}


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


TALK = [message("system", "s"), message("user", "a b"), message("assistant", "c d")]


def sections_config(sections: list[dict[str, Any]], **preprocessing: Any) -> PipelineConfig:
    """A single-output config without a lower limit of length; assistants are trained."""
    return PipelineConfig.from_dict(
        {"input": {"sections": sections}, "mask": ROLES, "preprocessing": {"min_chars": 0, **preprocessing}}
    )


def sources_config(sources: dict[str, Any], **preprocessing: Any) -> PipelineConfig:
    """A multi-output config without a lower limit of length; assistants are trained."""
    return PipelineConfig.from_dict(
        {"input": {"sources": sources}, "mask": ROLES, "preprocessing": {"min_chars": 0, **preprocessing}}
    )
