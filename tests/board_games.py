"""Games and movetexts for the tests of the kernels, real, random and damaged, and what the readable code reads."""

import random
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import chess

from rukh_assets.errors import MovetextError, NotLegalError
from rukh_assets.ingest.comments import comment_kinds
from rukh_assets.ingest.movetext import moves_to_uci, parse_movetext
from rukh_assets.ingest.pgn import PgnReader

RESULTS = ("1-0", "0-1", "1/2-1/2")
CHARACTERS = "abcdefgh12345678NBRQKOPnbrqkZx+#=-0.!?$(){};/*@,%[] \t\n9\x1c\xa0\u00e9"
PIECES = (
    *(
        "e4",
        "Nf3",
        "exd5",
        "O-O",
        "O-O-O",
        "0-0",
        "0-0-0",
        "O-0",
        "e1g1",
        "e1h1",
        "Kg1",
        "Ke2",
        "a8=Q",
        "a8q",
        "axb8=N+",
    ),
    *(
        "Qh5#",
        "Nbd7",
        "N1f3",
        "Ng1f3",
        "g1f3",
        "g1-f3",
        "Pe4",
        "e2e4",
        "e7e8",
        "--",
        "Z0",
        "0000",
        "@@@@",
        "N@f3",
        "??",
    ),
    *(
        "$1",
        "$",
        "$12e5",
        "!?",
        "1.",
        "1...",
        "1",
        "12.e4",
        "1 .",
        "01.",
        "1/.....",
        "1/2",
        "1-0",
        "0-1",
        "1/2-1/2",
        "*",
    ),
    *("{", "}", "{ [%clk 0:01:00] }", "{[%clk 1]", "{[%clk 0:00:01", "{[%eval #-3]}", "{[%clkx 1]}", "{{}", "(1. d4)"),
    *("{ White offers draw }", "{ [%clk 1] \u00e9 }", "; rest", "\r\n", "\u00bd-\u00bd", "1-0 *", "\ufeff"),
)


class FreshRandom(random.Random):
    """Random with another seed each run, which an assertion that fails on it shows."""

    def __init__(self) -> None:
        self.first_seed = random.SystemRandom().getrandbits(32)
        super().__init__(self.first_seed)

    def __repr__(self) -> str:
        return f"Random({self.first_seed})"


class Line(NamedTuple):
    """The moves of one game in UCI and in SAN."""

    uci: list[str]
    san: list[str]


class Read(NamedTuple):
    """What the readable code makes of a movetext that it takes."""

    uci: str
    result: str
    comments: Counter[str]


def movetexts(pgn: Path) -> list[str]:
    """The movetext of every game of a PGN file."""
    batches = PgnReader([pgn.read_bytes()], pgn.name).batches()
    return [text for batch in batches for text in batch["movetext"].to_pylist()]


def random_line(source: random.Random, plies: int) -> Line:
    """A game of random legal moves, one in four of them a promotion, a capture or castling where there is one."""
    board = chess.Board()
    line = Line([], [])
    while len(line.uci) < plies and (legal := list(board.legal_moves)):
        sharp = [move for move in legal if move.promotion or board.is_castling(move) or board.is_capture(move)]
        move = source.choice(sharp if sharp and source.random() < 0.25 else legal)
        line.uci.append(move.uci())
        line.san.append(board.san_and_push(move))
    return line


def random_movetext(source: random.Random, line: Line) -> str:
    """The game as movetext, in one of the ways in which people and programs write it."""
    numbers, glyphs, comments = source.choice(["all", "white", "none", "glued"]), source.random(), source.random()
    words = []
    for ply, san in enumerate(line.san):
        number = f"{ply // 2 + 1}{'...' if ply % 2 else '.'}"
        if numbers == "all" or (numbers in ("white", "glued") and ply % 2 == 0):
            san = number + ("" if numbers == "glued" else " ") + san
        words.append(san + (source.choice(("?", "!?", " $4")) if glyphs < 0.3 and source.random() < 0.2 else ""))
        if comments < 0.5:
            words.append("{ [%eval 0.17] [%clk 0:01:00] }" if comments < 0.1 else f"{{ [%clk 0:00:{ply % 60:02}] }}")
    return " ".join([*words, source.choice((*RESULTS, "*", ""))])


def damaged(source: random.Random, text: str) -> str:
    """The text after one to three edits: characters or words put in, taken out, replaced, doubled or exchanged."""
    for _ in range(source.randint(1, 3)):
        words = text.split(" ")
        at, word = source.randrange(len(text) + 1), source.randrange(len(words))
        edit = source.randrange(7)
        if edit == 0:
            text = text[:at] + source.choice(CHARACTERS) + text[at:]
        elif edit == 1:
            text = text[:at] + text[at + 1 :]
        elif edit == 2:
            text = text[:at] + source.choice(CHARACTERS) + text[at + 1 :]
        elif edit == 3:
            text = text[:at] + source.choice(PIECES) + text[at:]
        else:
            other = source.randrange(len(words))
            words[word] = (source.choice(PIECES), words[word] * 2, words[other])[edit - 4]
            text = " ".join(words)
    return text


def read_by_oracle(text: str) -> Read | None:
    """What the readable code makes of a movetext, None where it refuses it."""
    try:
        movetext = parse_movetext(text)
        uci = " ".join(moves_to_uci(movetext.sans))
    except (MovetextError, NotLegalError):
        return None
    kinds = Counter(kind for comment in movetext.comments for kind in comment_kinds(comment))
    return Read(uci, movetext.result or "", kinds)
