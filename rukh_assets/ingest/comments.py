"""Which kinds of comments a month has: a dump that starts to say something new shows it in the counts."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

MAX_KINDS = 100
OTHER = "other"

_COMMAND = re.compile(r"\[%(\w+)[^\]]*\]?")
_DIGITS = re.compile(r"[0-9]+")
_KIND_LENGTH = 40


def comment_kinds(comment: str) -> Iterator[str]:
    """Yield the kinds in one comment: `%clk` for each `[%clk ...]`, and the rest as a text, digits as `#`.

    >>> list(comment_kinds(" [%eval 0.17] [%clk 0:01:00] White offers 1 draw "))
    ['%eval', '%clk', 'White offers # draw']
    """
    for command in _COMMAND.finditer(comment):
        yield "%" + command[1]
    text = " ".join(_COMMAND.sub(" ", comment).split())
    if text:
        yield _DIGITS.sub("#", text)[:_KIND_LENGTH]


class CommentCounts:
    """How often each kind was seen: the first `max_kinds` kinds by name, all later ones together as `other`.

    Counts of a batch, of all its kinds (`max_kinds` None), that are added to those of all batches before it, give what
    counting all comments one by one does.
    """

    def __init__(self, max_kinds: int | None = MAX_KINDS) -> None:
        self._max_kinds = max_kinds
        self._counts: Counter[str] = Counter()

    def add(self, comments: Sequence[str]) -> None:
        """Count the comments of one game."""
        for comment in comments:
            for kind in comment_kinds(comment):
                self.add_kind(kind, 1)

    def add_kind(self, kind: str, count: int) -> None:
        """Count a kind so many times more."""
        named = self._max_kinds is None or kind in self._counts or len(self._counts) < self._max_kinds
        self._counts[kind if named else OTHER] += count

    def merge(self, later: "CommentCounts") -> None:
        """Add the counts of comments that come after these."""
        for kind, count in later._counts.items():
            self.add_kind(kind, count)

    def as_dict(self) -> dict[str, int]:
        """Return kind to count, by kind."""
        return dict(sorted(self._counts.items()))
