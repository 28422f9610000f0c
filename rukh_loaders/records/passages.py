"""What a record's fields say, before anything is encoded: texts, and what of them is trained.

A record whose fields cannot be read as the config says raises `Refusal` here; nothing later looks at its fields.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rukh_loaders.errors import ConversationError, UnsafeTemplateError
from rukh_loaders.records.chat import ChatTemplate, Message
from rukh_loaders.records.config import PipelineConfig
from rukh_loaders.records.inputs import Output, OutputKind, Section
from rukh_loaders.records.outcomes import Refusal, SkipReason
from rukh_loaders.records.turns import Span, trained_contents, trained_turns

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A text that is encoded as it is, and trained whole or not at all, special tokens included."""

    text: str
    add_special_tokens: bool
    trained: bool


@dataclass(frozen=True, slots=True)
class TalkPiece:
    """A rendered conversation, encoded without special tokens, and the spans of its characters that are trained."""

    text: str
    spans: tuple[Span, ...]


Piece = TextPiece | TalkPiece


@dataclass(frozen=True, slots=True)
class Passage:
    """The pieces of one sequence. `with_bos`: the bos id stands before them, where the tokenizer has one."""

    pieces: tuple[Piece, ...]
    with_bos: bool = False


Planned = Passage | tuple[Passage, ...] | list[float]


class PassageReader:
    """Reads records as a config says. `chat` is needed where a section is a template."""

    def __init__(self, config: PipelineConfig, chat: ChatTemplate | None) -> None:
        self._config = config
        self._chat = chat
        self._trained_spans = trained_turns if config.preprocessing.trained_part == "turn" else trained_contents

    def read(self, record: Record, outputs: Sequence[Output]) -> list[Planned]:
        """What each output is made of; `Refusal` when one of them gets nothing, or elements and values do not match."""
        planned = [self._read_output(record, output) for output in outputs]
        _check_group_lengths(outputs, planned, record)
        return planned

    def _read_output(self, record: Record, output: Output) -> Planned:
        if output.kind is OutputKind.VALUES:
            return _read_values(record, output.sections[0].field, self._config.value_dtype(output.name))
        if output.kind is OutputKind.SEQUENCE:
            return self._read_sequence(record, output)
        group = tuple(self._read_group(record, output.sections))
        if not group:
            raise _missing(output)
        return group

    def _read_sequence(self, record: Record, output: Output) -> Passage:
        pieces: list[Piece] = []
        too_long_or_short = None
        for section in output.sections:
            value = record.get(section.field)
            if section.template:
                if value not in (None, []):
                    pieces.append(self._talk(_messages(section.field, value), section))
                continue
            text = _text(section.field, value)
            if not text.strip():
                continue
            if output.always_trains and not self._has_right_length(text):
                too_long_or_short = f"{section.field}: {len(text)} characters"
                continue
            asked = section.add_special_tokens
            pieces.append(TextPiece(text, not pieces if asked is None else asked, section.action == "train"))
        if not pieces:
            raise _missing(output) if too_long_or_short is None else self._wrong_length(too_long_or_short)
        with_bos = self._config.preprocessing.add_bos and any(section.template for section in output.sections)
        return Passage(tuple(pieces), with_bos)

    def _read_group(self, record: Record, sections: Sequence[Section]) -> Iterator[Passage]:
        for section in sections:
            value = record.get(section.field)
            if value is None:
                continue
            if not isinstance(value, list):
                raise _wrong_type(section.field, value, "a list")
            for i, element in enumerate(value):
                yield self._read_element(f"{section.field}.{i}", element, section)

    def _read_element(self, where: str, element: Any, section: Section) -> Passage:
        if section.template:
            return Passage((self._talk(_messages(where, element), section),) if element not in (None, []) else ())
        text = _text(where, element)
        if not text.strip():
            return Passage(())
        return Passage((TextPiece(text, bool(section.add_special_tokens), section.action == "train"),))

    def _talk(self, messages: list[Message], section: Section) -> TalkPiece:
        assert self._chat is not None  # the builder has asked the tokenizer for it
        trained = [self._config.trains(section, message["role"]) for message in messages]
        if self._config.preprocessing.trained_turns == "last":
            trained[:-1] = [False] * (len(trained) - 1)
        try:
            text, spans = self._trained_spans(self._chat, messages, trained)
        except UnsafeTemplateError:
            raise
        except ConversationError as error:
            raise Refusal(SkipReason.TEMPLATE, f"{section.field}: {error}") from error
        _check_contents(section.field, messages, text)
        return TalkPiece(_checked(section.field, text), tuple(spans))

    def _has_right_length(self, text: str) -> bool:
        return self._config.preprocessing.min_chars <= len(text) <= self._config.preprocessing.max_chars

    def _wrong_length(self, got: str) -> Refusal:
        limits = self._config.preprocessing
        return Refusal(SkipReason.LENGTH, f"{got}, allowed: {limits.min_chars} to {limits.max_chars}")


def _messages(where: str, value: Any) -> list[Message]:
    """Messages with a role and a content each: those that are absent or null are empty texts, numbers written out."""
    if not isinstance(value, list):
        raise _wrong_type(where, value, "a list of messages")
    return [_message(f"{where}.{i}", message) for i, message in enumerate(value)]


def _message(where: str, value: Any) -> Message:
    if not isinstance(value, dict):
        raise _wrong_type(where, value, "an object with role and content")
    message = {"role": "", "content": "", **{k: v for k, v in value.items() if v is not None or k not in _TEXTS}}
    if not isinstance(message["role"], str):
        raise _wrong_type(f"{where}.role", message["role"], "a text")
    if isinstance(message["content"], bool):
        raise _wrong_type(f"{where}.content", message["content"], "a text or a number")
    if isinstance(message["content"], int | float):
        message["content"] = str(message["content"])
    return message


def _check_contents(where: str, messages: Sequence[Message], text: str) -> None:
    """Refuse contents of several parts that the template does not read, but writes out as Python would."""
    for i, message in enumerate(messages):
        content = message["content"]
        if not isinstance(content, str) and str(content) in text:
            raise _wrong_type(f"{where}.{i}.content", content, "a text, or parts that the chat template reads")


_TEXTS = ("role", "content")


def _text(where: str, value: Any) -> str:
    """A field as text: null is none, numbers are written out; lists and objects are a mistake."""
    if value is None:
        return ""
    if isinstance(value, list | dict):
        raise _wrong_type(where, value, "a text or a number")
    return _checked(where, str(value))


def _checked(where: str, text: str) -> str:
    """The text, unless it cannot be UTF-8, which no tokenizer takes."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Refusal(SkipReason.BAD_TEXT, f"{where}: half a surrogate pair at character {error.start}") from error
    return text


def _read_values(record: Record, field: str, dtype: np.dtype[Any]) -> list[float]:
    value = record.get(field)
    if value is None or value == []:
        raise Refusal(SkipReason.MISSING, f"{field}: no numbers")
    values = value if isinstance(value, list) else [value]
    return [_number(field, item, dtype) for item in values]


def _number(field: str, value: Any, dtype: np.dtype[Any]) -> float:
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong_type(field, value, "finite numbers")
    if not _holds(dtype, number):
        raise _wrong_type(field, value, f"numbers that {dtype.name} can hold, see output.dtype")
    return number


def _holds(dtype: np.dtype[Any], number: float) -> bool:
    """Whether a dtype has the number: a float one rounds it, but not to infinity, any other has it as it is."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return bool(np.isfinite(dtype.type(number)))
    if dtype.kind == "b":
        return number in (0, 1)
    limits = np.iinfo(dtype)
    return number.is_integer() and limits.min <= int(number) <= limits.max


def _check_group_lengths(outputs: Sequence[Output], planned: Sequence[Planned], record: Record) -> None:
    """A list of values beside groups has one an element; a single number is one for all."""
    groups = [len(plan) for plan in planned if isinstance(plan, tuple)]
    for output, plan in zip(outputs, planned, strict=True):
        field = output.sections[0].field
        if groups and isinstance(plan, list) and isinstance(record[field], list) and len(plan) not in groups:
            detail = f"{field}: {len(plan)} values, allowed: {groups[0]}, as many as the group has elements"
            raise Refusal(SkipReason.GROUP_LENGTHS, detail)


def _missing(output: Output) -> Refusal:
    fields = ", ".join(section.field for section in output.sections)
    return Refusal(SkipReason.MISSING, f"{output.name}: nothing in {fields}")


def _wrong_type(where: str, value: Any, allowed: str) -> Refusal:
    got = ascii(value)
    shown = got if len(got) <= 40 else got[:37] + "..."
    return Refusal(SkipReason.WRONG_TYPE, f"{where}: got {type(value).__name__} {shown}, allowed: {allowed}")
