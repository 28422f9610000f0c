"""Texts to bpe ids without merging: pieces are looked up from left to right, and each border between two is checked.

The oracle, the `tokenizers` library, merges: of all neighbours that are a pair of the vocabulary those of the lowest
rank, the leftmost of them first, until none are left. Two facts spare that.

Pieces are the encoding of a text exactly when each is its own encoding and any two neighbours are the encoding of their
joined text. For until there is a merge across a border, the pieces beside it are merged as if they were alone; so the
first such merge of the text is made in the joined text of its two pieces as well, and one that is made there, in it.

In a vocabulary as training makes it (`bpe_pieces.is_as_trained`), one merge makes a piece, and its rank is above those
of its halves: ranks are points in time. So `stay_apart` looks at all neighbours that two pieces had at their border,
from the last to the first, undoing the later of the two merges beside it each time.

A text has one encoding, and so has each beginning of it. So the search, which tries the longest piece first and goes
one piece back where none fits, need not go on again from where it found no way on: its time is linear in the text.
It is the search of the `bpe` crate (github.com/github/rust-gems), for pairs that have ranks of their own.
"""

from typing import NamedTuple

from rukh_assets.board.characters import SPACE
from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel, rule
from rukh_loaders.tokenizers.bpe import ALPHABET
from rukh_loaders.tokenizers.vocabulary import BOS, EOS

FRAME_IDS = 3
"""`<bos>`, the result, `<eos>`."""

END = len(ALPHABET)
"""Stands for the end of a text, and for any character that is no piece."""

STATE_WIDTH = END + 1
NO_PIECE = 0

LENGTH, SHORTER, MADE, LEFT, RIGHT = range(5)
PIECE_WIDTH = 5
"""The slots of a piece."""

NO_TIME, NEVER = 0, 1 << 16
"""Time is the rank of a merge, from 1; characters are there before."""

HASH_BITS = 19
HINT_BYTES, PAIR_SLOTS = 1 << HASH_BITS - 3, 1 << HASH_BITS - 2
FREE = 0


class Tables(NamedTuple):
    """A vocabulary of v ids, whose pieces have s beginnings, as kernels see it."""

    characters: Numbers
    """[256]: the index in `ALPHABET` of a character, `END` for one that is no piece."""
    beginnings: Numbers
    """[s * STATE_WIDTH]: the beginning that another one and one more character are, 0 where no piece begins so; the
    empty one is 0."""
    longest: Numbers
    """[s]: the longest piece that a beginning begins with, or `NO_PIECE`."""
    pieces: Numbers
    """[v * PIECE_WIDTH]: of a piece its length; the longest shorter piece that it begins with, or `NO_PIECE`; the time
    at which it is made and the halves that are merged then, or `NO_TIME` for a character."""
    hints: Numbers
    """[HINT_BYTES]: a bit for each hash, set for those of pairs. Most neighbours are no pair, and one look tells so."""
    pairs: Numbers
    """[PAIR_SLOTS]: `left << 32 | right << 16 | time` of each pair, in the first `FREE` slot from its hash on."""


@kernel
def add_pairs(lefts: Numbers, rights: Numbers, hints: Numbers, pairs: Numbers) -> None:
    """Enter pairs, in the order of their times, into `hints` and `pairs`, which are 0."""
    for index in range(len(lefts)):
        number = hash_of(lefts[index], rights[index])
        hints[number >> 3] |= 1 << (number & 7)
        slot = number >> 2
        while pairs[slot] != FREE:
            slot = (slot + 1) % PAIR_SLOTS
        pairs[slot] = lefts[index] << 32 | rights[index] << 16 | (index + 1)


@kernel
def write_games(
    text: Numbers,
    offsets: Numbers,
    readable: Numbers,
    result_ids: Numbers,
    tables: Tables,
    ids: Numbers,
    lengths: Numbers,
    characters: Numbers,
    is_open: Numbers,
) -> int:
    """Write the ids of games one after the other and return their number, or -1 where `ids` is too short.

    Game i is `text[offsets[i]:offsets[i + 1]]` without its spaces. One that is not `readable`, is empty or has a
    character that is no piece is left out: its length is 0. `characters` and `is_open` are scratch for the longest text
    and one character more. Oracle: `rukh_loaders.tokenizers.bpe.encode`.
    """
    written = 0
    for game in range(len(lengths)):
        start, end = offsets[game], offsets[game + 1]
        if written + end - start + FRAME_IDS > len(ids):
            return -1
        pieces = 0
        if readable[game]:
            count = read_characters(memory(text), start, end, tables, memory(characters), memory(is_open))
            ids[written] = BOS
            pieces = write_pieces(memory(characters), count, memory(is_open), tables, memory(ids), written + 1)
        lengths[game] = 0
        if pieces > 0:
            lengths[game] = pieces + FRAME_IDS
            ids[written + 1 + pieces] = result_ids[game]
            ids[written + 2 + pieces] = EOS
            written += pieces + FRAME_IDS
    return written


@rule
def read_characters(text: Numbers, start: int, end: int, tables: Tables, characters: Numbers, is_open: Numbers) -> int:
    """Write the characters of a text but for its spaces, and `END`; return how many there are before it.

    All positions among them are made open.
    """
    count = 0
    for place in range(start, end):
        characters[count] = memory(tables.characters)[text[place]]
        is_open[count] = 1
        count += text[place] != SPACE
    characters[count] = END
    is_open[count] = 1
    return count


@rule
def write_pieces(characters: Numbers, count: int, is_open: Numbers, tables: Tables, ids: Numbers, first: int) -> int:
    """Write the pieces of a text from `ids[first]` on; return their number, 0 where it is empty or has no encoding.

    Before them lies `BOS`. The search goes on from a position as long as it `is_open`.
    """
    position = 0
    cursor = first
    piece = longest_piece(characters, position, tables)
    while position < count:
        while piece != NO_PIECE and not fits(piece, ids[cursor - 1], position, is_open, tables):
            piece = memory(tables.pieces)[piece * PIECE_WIDTH + SHORTER]
        if piece != NO_PIECE:
            ids[cursor] = piece
            cursor += 1
            position += memory(tables.pieces)[piece * PIECE_WIDTH + LENGTH]
            piece = longest_piece(characters, position, tables)
        elif cursor > first:
            is_open[position] = 0
            cursor -= 1
            piece = ids[cursor]
            position -= memory(tables.pieces)[piece * PIECE_WIDTH + LENGTH]
        else:
            return 0
    return cursor - first


@rule
def longest_piece(characters: Numbers, position: int, tables: Tables) -> int:
    """The longest piece that begins at a position, `NO_PIECE` where none does."""
    beginning = 0
    longer = memory(tables.beginnings)[characters[position]]
    while longer:
        beginning = longer
        position += 1
        longer = memory(tables.beginnings)[beginning * STATE_WIDTH + characters[position]]
    return memory(tables.longest)[beginning]


@rule
def fits(piece: int, before: int, position: int, is_open: Numbers, tables: Tables) -> bool:
    """Whether a piece that begins at a position, behind another one or `BOS`, may be part of the encoding."""
    if not is_open[position + memory(tables.pieces)[piece * PIECE_WIDTH + LENGTH]]:
        return False
    return before == BOS or stay_apart(before, piece, tables)


@rule
def stay_apart(left: int, right: int, tables: Tables) -> bool:
    """Whether the joined text of two pieces has these two as its encoding.

    A merge across the border has to come before `end`, the time at which one of the two pieces beside it is merged on
    its own side. At the same rank the leftmost is first: a left piece's before one across, that before a right piece's.
    """
    pieces = memory(tables.pieces)
    end = NEVER
    while True:
        time = time_of(left, right, tables)
        if time != NO_TIME and time < end:
            return False
        left_made, right_made = pieces[left * PIECE_WIDTH + MADE], pieces[right * PIECE_WIDTH + MADE]
        if left_made > right_made:
            end = left_made
            left = pieces[left * PIECE_WIDTH + RIGHT]
        elif right_made != NO_TIME:
            end = right_made + 1
            right = pieces[right * PIECE_WIDTH + LEFT]
        else:
            return True


@rule
def time_of(left: int, right: int, tables: Tables) -> int:
    """The time at which two neighbours are merged, `NO_TIME` where they are not."""
    number = hash_of(left, right)
    if not memory(tables.hints)[number >> 3] >> (number & 7) & 1:
        return NO_TIME
    slot = number >> 2
    while memory(tables.pairs)[slot] >> 16 != left << 16 | right:
        if memory(tables.pairs)[slot] == FREE:
            return NO_TIME
        slot = (slot + 1) % PAIR_SLOTS
    return memory(tables.pairs)[slot] & 0xFFFF


@rule
def hash_of(left: int, right: int) -> int:
    """`HASH_BITS` bits of a pair: the highest of 32, after multiplication (Fibonacci hashing, Knuth, volume 3, 6.4)."""
    return ((left << 16 | right) * 0x9E3779B1 & 0xFFFFFFFF) >> 32 - HASH_BITS
