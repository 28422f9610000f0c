"""What becomes of a record: built, or skipped for one of a closed set of reasons."""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

Column = list[int] | list[float] | list[list[int]]
"""What a record has under one name: ids or a mask, values, or the ids or masks of a group."""

DEFAULT_DOMAIN = "__default__"

_SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)


class SkipReason(StrEnum):
    """Why a record is not kept."""

    NOT_JSON = "not_json"
    """The line is not UTF-8 JSON, or too long to be read."""
    NOT_AN_OBJECT = "not_an_object"
    """JSON, but no object."""
    WRONG_TYPE = "wrong_type"
    """A field has a value of a type that its section cannot read, or a number that its dtype cannot hold."""
    BAD_TEXT = "bad_text"
    """A text that is no Unicode (half a surrogate pair), or that the tokenizer cannot encode."""
    TEMPLATE = "template"
    """The chat template refuses the conversation, or cannot be cut into its turns."""
    GROUP_LENGTHS = "group_lengths"
    """As many values as elements are expected in a group, and there are more or fewer."""
    MISSING = "missing"
    """A field that an output needs is absent, null, blank or empty."""
    LENGTH = "length"
    """No text between `min_chars` and `max_chars`, or more than `max_record_chars` in all."""
    EMPTY = "empty"
    """No ids come out of it."""
    NOTHING_TO_TRAIN = "nothing_to_train"
    """An output that could be trained has no trained token."""

    @property
    def is_fault(self) -> bool:
        """Whether the record itself is bad, which ends a strict run; others are left out by choice or by length."""
        return self in _FAULTS


_FAULTS = {
    SkipReason.NOT_JSON,
    SkipReason.NOT_AN_OBJECT,
    SkipReason.WRONG_TYPE,
    SkipReason.BAD_TEXT,
    SkipReason.TEMPLATE,
    SkipReason.GROUP_LENGTHS,
}


@dataclass(frozen=True)
class Skipped:
    """A record that is not kept, and the reason; `detail` says what was got and what is allowed."""

    reason: SkipReason
    detail: str


@dataclass(frozen=True)
class Built:
    """A record as ids, masks and values.

    `keys` holds every name of every output of the config, in its order; a mask has the length of its ids, element for
    element in a group. `untrained` names the outputs that could be trained and have no trained token (the cut of
    `max_seq_len` took it, or no turn is trained). `truncated` counts the sequences that were cut. `n_tokens` is the
    number of ids in the first sequence, or where there are groups only, in the first group.
    """

    keys: dict[str, Column]
    domain: str
    n_tokens: int
    untrained: tuple[str, ...] = ()
    truncated: int = 0


class Refusal(Exception):  # noqa: N818
    """Raised inside the building of one record; callers get a `Skipped`."""

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(detail)
        self.skipped = Skipped(reason, detail)


def safe_domain(domain: str) -> str:
    """A folder's name for any text: at most 64 of ASCII letters, digits, `_` and `-`, which are kept as they are.

    Any other text has each other character replaced by `_` and eight digits of its sha256 put behind, so that two
    domains do not meet in one folder. Names differ where the texts do, but for case on file systems that ignore it.
    """
    if _SAFE.fullmatch(domain):
        return domain
    sha256 = hashlib.sha256(domain.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_UNSAFE.sub('_', domain)[:55]}-{sha256[:8]}"
