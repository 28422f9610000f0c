"""PGN text to raw games: where one game ends and the next one starts, and nothing about what its moves mean.

A state machine over lines. Lines end in LF, CRLF or CR; one that starts with `%` outside a comment is skipped. A game
is its tag lines and the text after them, up to the next tag line outside a comment, blank line between or not.
A comment that never ends would swallow all later games: an Event tag after a blank line ends it, and its game.
"""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from rukh_assets.ingest.raw import TAGS, raw_batch
from rukh_assets.ingest.schema import RESULTS

BATCH_GAMES = 10_000
BATCH_CHARACTERS = 1 << 26
"""A batch ends at whichever of the two it reaches first, so its memory does not depend on the file."""
MAX_GAME_CHARACTERS = 1 << 24
"""Text of one game beyond this is dropped, and the game counts as one that did not end."""

_TAG_START = re.compile(r"\s*\[\s*(\w+)\s+\"", re.ASCII)
_TAG = re.compile(r"\s*\[\s*(\w+)\s+\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\"\s*\]", re.ASCII)
_ESCAPED = re.compile(r"\\([\"\\])")
_OPENING = re.compile(r"[{;]")
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_RESULT_TOKENS = frozenset((*RESULTS, "*"))


class PgnReader:
    """The games of one PGN file: `blocks` are its bytes, cut anywhere, and `file` is its base name."""

    def __init__(self, blocks: Iterable[bytes], file: str) -> None:
        self._blocks = blocks
        self._file = file
        self.undecodable_bytes = 0
        """Bytes so far that are not UTF-8; each is read as U+FFFD."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches of `RAW_SCHEMA` in the file's order, each of at least one game; once."""
        rows: list[dict[str, Any]] = []
        characters = 0
        for number, game in enumerate(split_games(split_lines(self._texts()))):
            rows.append(game.row() | {"file": self._file, "number": number})
            characters += game.characters
            if len(rows) >= BATCH_GAMES or characters >= BATCH_CHARACTERS:
                yield raw_batch(rows)
                rows, characters = [], 0
        if rows:
            yield raw_batch(rows)

    def _texts(self) -> Iterator[str]:
        """Decode the blocks: every line end as LF, no byte order mark, no byte that is not UTF-8."""
        utf8 = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
        for block in self._blocks:
            yield self._replace_undecodable(decoder.decode(block))
        yield self._replace_undecodable(decoder.decode(b"", final=True))

    def _replace_undecodable(self, text: str) -> str:
        if text.isascii():
            return text
        text, count = _UNDECODABLE.subn("\ufffd", text)
        self.undecodable_bytes += count
        return text


class PgnGame:
    """One game while its lines come in."""

    def __init__(self) -> None:
        self.characters = 0
        """Length of the text so far, what is dropped included."""
        self.in_comment = False
        self.after_blank = False
        """Whether the last line was blank."""
        self._tags: dict[str, str] = {}
        self._lines: list[str] = []
        self._has_tags = self._has_event = self._has_text = False
        """What of the game came in so far, what is dropped included."""
        self._last_word = ""

    @property
    def ended(self) -> bool:
        """Whether the last word outside comments is a result token."""
        whole = not self.in_comment and self.characters <= MAX_GAME_CHARACTERS
        return whole and self._last_word in _RESULT_TOKENS

    @property
    def is_game(self) -> bool:
        """False for nothing, or comments alone, between two games or at the end of the file."""
        return self._has_tags or bool(self._last_word) or self.in_comment

    def takes_tags(self, line: str) -> bool:
        """Whether the tag line is one of this game; otherwise it is the first line of the next."""
        if self._has_text or (self._has_tags and self.after_blank):
            return False
        tag = _TAG_START.match(line)
        return not self._has_event or tag is None or tag[1] != "Event"

    def add_tags(self, line: str) -> None:
        """Take in a tag line: usually one tag; a value without its closing quote is taken as far as the line goes."""
        self.characters += len(line) + 1
        position = 0
        while tag := _TAG.match(line, position):
            self._add_tag(tag[1], _ESCAPED.sub(r"\1", tag[2]))
            position = tag.end()
        if broken := _TAG_START.match(line, position):
            self._add_tag(broken[1], line[broken.end() :].rstrip('" ]'))
        elif rest := line[position:].strip():
            self.add_text(rest)
        self.after_blank = False

    def add_text(self, line: str) -> None:
        """Take in a line that is not one of tags, or any line inside a comment."""
        self.characters += len(line) + 1
        self._has_text = True
        if self.characters <= MAX_GAME_CHARACTERS:
            self._lines.append(line)
        self.after_blank = not line.strip()
        self._follow_comments(line)

    def row(self) -> dict[str, Any]:
        """Return the tags by raw column, the movetext and whether the game ended."""
        columns: dict[str, Any] = {TAGS[tag]: value for tag, value in self._tags.items()}
        return columns | {"movetext": "\n".join(self._lines), "ended": self.ended}

    def _add_tag(self, name: str, value: str) -> None:
        self._has_tags = True
        self._has_event |= name == "Event"
        if name in TAGS and self.characters <= MAX_GAME_CHARACTERS:
            self._tags[name] = value

    def _follow_comments(self, line: str) -> None:
        if not self.in_comment and ";" not in line:
            # Nearly every line: what stands after the last comment decides.
            tail = line[line.rfind("}") + 1 :]
            if "{" not in tail and (words := tail.split()):
                self._last_word = words[-1]
                return
        position = 0
        while position < len(line):
            if self.in_comment:
                end = line.find("}", position)
                self.in_comment = end < 0
                position = end + 1 if end >= 0 else len(line)
            else:
                opening = _OPENING.search(line, position)
                end = opening.start() if opening else len(line)
                if words := line[position:end].replace("}", " ").split():
                    self._last_word = words[-1]
                self.in_comment = opening is not None and opening[0] == "{"
                position = end + 1 if self.in_comment else len(line)


def split_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text that comes in pieces; one longer than `MAX_GAME_CHARACTERS` comes in parts."""
    pending: list[str] = []
    length = 0
    for text in texts:
        first, *rest = text.split("\n")
        pending.append(first)
        length += len(first)
        if rest or length > MAX_GAME_CHARACTERS:
            yield "".join(pending)
            yield from rest[:-1]
            pending = rest[-1:]
            length = sum(map(len, pending))
    if length:
        yield "".join(pending)


def split_games(lines: Iterable[str]) -> Iterator[PgnGame]:
    """Yield the games of a PGN text in order, complete or not."""
    game = PgnGame()
    for line in lines:
        if starts_next(game, line):
            if game.is_game:
                yield game
            game = PgnGame()
        add_line(game, line)
    if game.is_game:
        yield game


def starts_next(game: PgnGame, line: str) -> bool:
    """Whether `line` belongs to the game after `game`."""
    if game.in_comment:
        return game.after_blank and line.startswith('[Event "')
    if not line or line[0] == "%" or line.isspace():
        return False
    if _TAG_START.match(line):
        return not game.takes_tags(line)
    return game.after_blank and game.ended


def add_line(game: PgnGame, line: str) -> None:
    """Take `line` into `game`, to which it belongs."""
    if game.in_comment:
        game.add_text(line)
    elif line.startswith("%"):
        pass
    elif _TAG_START.match(line):
        game.add_tags(line)
    elif line.strip():
        game.add_text(line)
    else:
        game.after_blank = True
