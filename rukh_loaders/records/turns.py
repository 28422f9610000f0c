"""Which characters of a rendered conversation are trained.

The conversation is rendered once, whole, so that templates which look at the first or the last message, or at the
order of roles, give what they give to a model that is asked. Where a turn ends is seen from the text of the messages up
to it, rendered alone: it must be how the whole begins.

Many templates write each message by itself, and the texts of all, joined, are the whole. Of a long conversation these
are tried first, since they take time by its length, and all its beginnings by the square of it.
"""

from collections.abc import Sequence
from itertools import groupby, takewhile

from rukh_loaders.errors import ConversationError
from rukh_loaders.records.chat import ChatTemplate, Message

Span = tuple[int, int]
"""Begin and end of a run of characters, end left out."""

FEW = 8
"""Of so many messages, the beginnings are rendered as fast as the messages one by one."""


def trained_turns(chat: ChatTemplate, messages: Sequence[Message], trained: Sequence[bool]) -> tuple[str, list[Span]]:
    """The text of the conversation, and the spans of the messages that are trained: whole turns, headers included.

    What stands before the first header, such as a system turn that the template adds, belongs to the first message.
    `ConversationError` when the template refuses the messages or does not render a part of them as the whole begins.
    """
    text = chat.render(messages)
    ends = _ends_one_by_one(chat, messages, text)
    spans = []
    begin = message = 0
    for is_trained, run in groupby(trained):
        message += len(list(run))
        end = ends[message - 1] if ends else _end_of(chat, messages, message, text)
        if is_trained:
            spans.append((begin, end))
        begin = end
    return text, spans


def trained_contents(
    chat: ChatTemplate, messages: Sequence[Message], trained: Sequence[bool]
) -> tuple[str, list[Span]]:
    """As `trained_turns`, but of each trained turn only its content and end marker: no header, no blanks behind.

    Header and end marker are what stays the same when the content is another.
    """
    text = chat.render(messages)
    ends = _ends_one_by_one(chat, messages, text)
    spans = []
    for i, is_trained in enumerate(trained):
        if is_trained:
            end = ends[i] if ends else _end_of(chat, messages, i + 1, text)
            first, begin = (i, ends[i - 1] if i else 0) if ends else (0, 0)
            header, footer = _around_content(chat, messages[first : i + 1])
            content = begin + len(header)
            if not text.startswith(header, begin) or content > end:
                raise _unstable(chat, i + 1)
            blanks = len(footer) - len(footer.rstrip()) if footer.strip() and text.endswith(footer, 0, end) else 0
            spans.append((content, max(content, end - blanks)))
    return text, spans


def _ends_one_by_one(chat: ChatTemplate, messages: Sequence[Message], text: str) -> list[int] | None:
    """Where each message ends, if the texts of all, rendered one by one, are the whole; None where they are not."""
    if len(messages) <= FEW:
        return None
    ends = []
    end = 0
    for message in messages:
        try:
            piece = chat.render([message])
        except ConversationError:  # refused alone, which says nothing of the whole
            return None
        if not text.startswith(piece, end):
            return None
        end += len(piece)
        ends.append(end)
    return ends if end == len(text) else None


def _end_of(chat: ChatTemplate, messages: Sequence[Message], count: int, text: str) -> int:
    """Where the first `count` messages end in the text of all."""
    if count == len(messages):
        return len(text)
    part = chat.render(messages[:count])
    if not text.startswith(part):
        raise _unstable(chat, count)
    return len(part)


def _around_content(chat: ChatTemplate, messages: Sequence[Message]) -> tuple[str, str]:
    """All text before the last message's content, and all behind it."""
    *before, last = messages
    one, other = (chat.render([*before, {**last, "content": content}]) for content in ("x", "y"))
    header = _common_prefix(one, other)
    footer = _common_prefix(one[len(header) :][::-1], other[len(header) :][::-1])[::-1]
    return header, footer


def _common_prefix(one: str, other: str) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return one[: sum(1 for _ in same)]


def _unstable(chat: ChatTemplate, count: int) -> ConversationError:
    return ConversationError(
        f"{chat.where}: the chat template renders the first {count} messages alone in another way than at the beginning"
        " of the whole conversation, so its turns cannot be told apart; where it treats the last turn alone otherwise,"
        " preprocessing.trained_turns 'last' trains that one"
    )
