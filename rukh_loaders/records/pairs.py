"""Preference records as they are found: a prompt and two answers, or two whole conversations.

A config with the `record_form` "pair" reads both, offline and online alike; `pair_config` makes one. The prompt is
`prompt`, or `input` where that is missing or empty: a text, which is one user message, or a list of messages. `chosen`
and `rejected` are an answer each: a text, or a list of assistants' messages, whose contents are one answer together; or
the whole conversation, known by a message of another role.
"""

from typing import Any

from rukh_loaders.records.config import PipelineConfig
from rukh_loaders.records.outcomes import Refusal, SkipReason

SIDES = ("chosen", "rejected")

_ANSWERS = "a text or a list of messages"


def pair_config(max_len: int = 2048) -> PipelineConfig:
    """The config of pairs: each side is a conversation of at most `max_len` ids, its last answer trained.

    What is trained is what a model has to write, the content and the end marker. The template says all there is to say,
    so no bos is put before it.
    """
    side = {"field": "", "action": "$role", "template": True}
    return PipelineConfig.from_dict(
        {
            "input": {"sources": {name: {"sections": [side | {"field": name}]} for name in SIDES}},
            "mask": {"assistant": "train"},
            "preprocessing": {
                "max_seq_len": max_len,
                "add_bos": False,
                "trained_turns": "last",
                "trained_part": "content",
                "record_form": "pair",
            },
        }
    )


def as_conversations(record: dict[str, Any]) -> dict[str, list[Any]]:
    """`chosen` and `rejected` of a record, each a whole conversation; `Refusal` where the record has no such pair."""
    prompt = record.get("prompt") or record.get("input")
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    if not isinstance(prompt, list | None):
        raise Refusal(SkipReason.WRONG_TYPE, f"prompt: got {type(prompt).__name__}, allowed: {_ANSWERS}")
    return {side: _conversation(side, record.get(side), prompt) for side in SIDES}


def _conversation(side: str, answer: Any, prompt: list[Any] | None) -> list[Any]:
    if isinstance(answer, list):
        if any(not isinstance(message, dict) or message.get("role") != "assistant" for message in answer):
            return answer  # a whole conversation; what is no message is refused where messages are read
        answer = _joined(side, [message.get("content") for message in answer])
    elif not isinstance(answer, str | None):
        raise Refusal(SkipReason.WRONG_TYPE, f"{side}: got {type(answer).__name__}, allowed: {_ANSWERS}")
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        raise Refusal(SkipReason.MISSING, f"{side}: no answer")
    if not prompt:
        raise Refusal(SkipReason.MISSING, f"prompt: nothing that {side} could answer")
    return [*prompt, {"role": "assistant", "content": answer}]


def _joined(side: str, contents: list[Any]) -> Any:
    """The content of one message as it is, which the template may read; those of several as one text."""
    if len(contents) == 1:
        return contents[0]
    for content in contents:
        if not isinstance(content, str | None):
            got = type(content).__name__
            raise Refusal(SkipReason.WRONG_TYPE, f"{side}: got a content of {got} among several, allowed: texts")
    return "".join(content or "" for content in contents)
