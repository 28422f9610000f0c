"""Whole batches through the kernels give what the readable way gives game by game: the same ids, the same errors."""

import os
import random
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpora import RESULTS, batch_of, game_of, random_game, random_games
from readable_encoding import encoded_games, outcome, readable_ids

from rukh_assets.board.batches import text_of
from rukh_assets.encode import bpe_writing, make_encoder, uci_writing
from rukh_assets.encode.arrays import elo_bins
from rukh_assets.encode.encoder import encode_left
from rukh_assets.encode.games import MOVES
from rukh_loaders.tokenizers.uci import elo_bin

WHITE_SPACE = [" ", "  ", "\t", "\n", "\x0b", "\x0c", "\r", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u2028"]
ODD_MOVES = ["0000", "E2E4", "e7e8Q", "e7e8k", "e7e8", "e1h1", "e8a8", "a1b4", "i1a1", "a0a1", "a9a1", "e2e4e5", "--"]
ODD_CHARACTERS = [*map(chr, range(0x100)), "\u0435", "\u2028", "\U0001f600"]
LARGE = {pa.string(): pa.large_string(), pa.int16(): pa.int64()}
ODD_RESULTS = ["*", "", "1/2", "1-0 ", " 1-0", "0-0", "1-0\x00", "\xbd-\xbd", None]


def damaged(source, uci):
    """The moves with one to three random edits."""
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        at = source.randrange(len(uci) + 1)
        moves = uci.split(" ")
        ply = source.randrange(len(moves))
        uci = source.choice(
            [
                uci[:at] + uci[at + 1 :],
                uci[:at] + source.choice(ODD_CHARACTERS) + uci[at:],
                uci[:at] + source.choice(ODD_CHARACTERS) + uci[at + 1 :],
                uci[:at] + source.choice("12345678abcdefghqrbn ") + uci[at + 1 :],
                uci[:at] + source.choice(WHITE_SPACE) + uci[at:],
                uci[:at],
                uci[at:],
                uci[:at] + uci[at:].upper(),
                uci[:at] + uci[max(0, at - 5) :],
                " ".join([*moves[:ply], source.choice(ODD_MOVES), *moves[ply + 1 :]]),
                " ".join([*moves[:ply], source.choice(sorted(MOVES)), *moves[ply:]]),
                " ".join([*moves[:ply], moves[ply] + source.choice("qrbnkQ"), *moves[ply + 1 :]]),
            ]
        )
    return uci


def damaged_games(source, count):
    """Games of which half have damaged moves, and a few another result, or a null."""
    games = []
    for _ in range(count):
        game = dict(random_game(source.randrange(500), 80))
        if source.random() < 0.5:
            game["uci"] = damaged(source, game["uci"])
        if source.random() < 0.05:
            game["result"] = source.choice(ODD_RESULTS)
        if source.random() < 0.05:
            game[source.choice(("game_id", "uci", "white_elo", "black_elo"))] = None
        games.append(game)
    return games


def check_damaged_games(encoder, count):
    seed = secrets.randbits(64)
    print(f"seed {seed}")
    batch = batch_of(damaged_games(random.Random(seed), count))
    for row in range(count):
        single = batch.slice(row, 1)
        assert outcome(encoded_games, encoder, single) == outcome(readable_ids, encoder, single)
    for row in range(0, count, 8):
        several = batch.slice(row, 8)
        assert outcome(encoded_games, encoder, several) == outcome(readable_ids, encoder, several)


def test_damaged_games_have_the_ids_or_the_error_of_the_readable_way(encoder):
    check_damaged_games(encoder, 300)


@pytest.mark.long
def test_many_damaged_games_have_the_ids_or_the_error_of_the_readable_way(encoder):
    for _ in range(20):
        check_damaged_games(encoder, 1000)


@pytest.mark.parametrize("place", ["first", "middle", "last"])
@pytest.mark.parametrize("odd", [*WHITE_SPACE, *ODD_MOVES, "\x00", "\x7f", "\x80", "\xff", "é2e4", "e7e8q", "e1g1"])
def test_an_odd_word_among_the_moves_has_the_answer_of_the_readable_way(encoder, odd, place):
    start, end = {"first": ("", "d2d4 d7d5"), "middle": ("d2d4", "d7d5"), "last": ("d2d4 d7d5", "")}[place]
    for uci in (f"{start}{odd}{end}", f"{start} {odd} {end}", f"{start} {odd} {end}".strip(" ")):
        batch = batch_of([game_of("e2e4"), game_of(uci), game_of("d2d4")]).slice(1)
        assert outcome(encoded_games, encoder, batch) == outcome(readable_ids, encoder, batch)


def test_the_moves_of_the_table_and_no_other_four_or_five_characters_are_a_move():
    files, ranks = "`abcdefghi", "/0123456789"
    words = [a + b + c + d for a in files for b in ranks for c in files for d in ranks]
    words += [word + letter for word in words if word[1] + word[3] in ("78", "21") for letter in "qrbnkpQRBN1a-"]
    text, offsets, _ = text_of(pa.array(words))
    found = np.ones(len(words), np.bool_)
    uci_writing.find_games(text, offsets, uci_writing.move_tables(), found, np.empty(8, np.uint16))
    assert {word for word, is_move in zip(words, found, strict=True) if is_move} == MOVES


@pytest.mark.parametrize("text", [b"\xff\xfe", b"e2e4 \xc3", b"\x80e2e4", b"e2e4 e7\xede5"])
@pytest.mark.parametrize("name", ["uci", "result"])
def test_bytes_that_are_no_utf8_are_refused_as_the_readable_way_does(encoder, name, text):
    """Parquet files may hold them: Arrow does not look when it reads one."""
    batch = batch_of([game_of("e2e4 e7e5")])
    column = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, len(text)], np.int32)), pa.py_buffer(text))
    batch = batch.set_column(batch.schema.get_field_index(name), name, column)
    kind, message = outcome(encoder.encode_batch, batch)
    assert (kind, message) == outcome(readable_ids, encoder, batch)
    assert message.isascii()
    assert "'\\ud" in message or "\\udc" in message


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_a_rating_of_any_integer_type_has_the_bin_of_the_single_game_tokenizer(dtype):
    limits = np.iinfo(dtype)
    ratings = [limits.min, 0, limits.max, *range(max(limits.min, 500), min(limits.max, 3400))]
    column = pa.array([*ratings, None], pa.from_numpy_dtype(dtype))
    expected = [(elo_bin(rating) - 600) // 100 for rating in ratings]
    assert elo_bins(column)[: len(ratings)].tolist() == expected
    assert elo_bins(column.slice(2))[: len(ratings) - 2].tolist() == expected[2:]


@pytest.mark.parametrize(("kind", "first"), [(pa.string(), 2**31 - 1), (pa.large_string(), 2**31 + 5)])
def test_texts_at_the_end_of_what_offsets_of_32_bits_reach_and_beyond_are_read(encoder, kind, first):
    games = random_games(3)
    text = "".join(game["uci"] for game in games).encode()
    first -= len(text)
    data = np.zeros(first + len(text), np.uint8)  # pages that are never touched take no memory
    data[first:] = np.frombuffer(text, np.uint8)
    ends = np.cumsum([first, *(len(game["uci"]) for game in games)])
    offsets = pa.py_buffer(ends.astype(np.int32 if kind == pa.string() else np.int64))
    column = pa.Array.from_buffers(kind, len(games), [None, offsets, pa.py_buffer(data)])
    batch = batch_of(games)
    far = batch.set_column(batch.schema.get_field_index("uci"), "uci", column)
    assert encoded_games(encoder, far) == encoded_games(encoder, batch)


def test_a_kernel_is_compiled_once_whatever_the_columns_are(encoder):
    batch = batch_of(random_games(4))
    large = batch.cast(
        pa.schema(
            [(name, LARGE.get(kind, kind)) for name, kind in zip(batch.schema.names, batch.schema.types, strict=True)]
        )
    )
    for columns in (batch, batch.slice(1), batch.slice(4), batch_of([]), large, large.slice(2)):
        encoder.encode_batch(columns)
    for kernel in (uci_writing.write_games, uci_writing.find_games, bpe_writing.write_games, bpe_writing.add_pairs):
        assert len(kernel.signatures) <= 1


def test_threads_that_share_an_encoder_get_the_ids_of_their_own_batches(encoder):
    batches = [batch_of([random_game(seed, 80) for seed in range(first, first + 40)]) for first in range(0, 320, 40)]
    expected = [encoded_games(encoder, batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert list(pool.map(partial(encoded_games, encoder), batches)) == expected


def test_games_that_were_left_come_back_in_their_places():
    batch = batch_of(random_games(5))
    ids, lengths = np.array([1, 7, 2, 1, 8, 9, 2], np.uint16), np.array([0, 3, 0, 4, 0])
    whole = encode_left(batch, (ids, lengths), lengths == 0, lambda game: [100 + game.row] * (game.row + 1))
    assert whole[0].tolist() == [100, 1, 7, 2, 102, 102, 102, 1, 8, 9, 2, 104, 104, 104, 104, 104]
    assert whole[0].dtype == np.uint16
    assert whole[1].tolist() == [1, 3, 3, 4, 5]


def test_a_game_that_is_too_long_for_the_board_kernels_is_spelt_by_python_chess():
    shuffle = "g1f3 g8f6 f3g1 f6g8"
    batch = batch_of([game_of("e2e4"), game_of(" ".join([shuffle] * 8192), n_plies=0), game_of("d2d4")])
    encoder = make_encoder("san")
    games = encoded_games(encoder, batch)
    assert games == readable_ids(encoder, batch)
    assert len(games[1]) > 200_000


def test_null_rows_of_a_text_that_is_not_empty_are_refused(encoder):
    """A null may have characters behind it, which are of no meaning."""
    games = random_games(3)
    batch = batch_of(games)
    uci = batch.column("uci")
    valid = pa.py_buffer(np.packbits([1, 0, 1], bitorder="little"))
    hidden = pa.Array.from_buffers(pa.string(), 3, [valid, *uci.buffers()[1:]])
    batch = batch.set_column(batch.schema.get_field_index("uci"), "uci", hidden)
    assert encoded_games(encoder, batch.slice(2)) == encoded_games(encoder, batch_of(games[2:]))
    kind, message = outcome(encoder.encode_batch, batch)
    assert (kind, message) == outcome(readable_ids, encoder, batch)
    assert "row 1" in message
    assert "uci is null" in message


def test_results_and_ratings_are_those_of_their_rows(encoder):
    games = [
        game_of("e2e4", white_elo=white, black_elo=black, result=result)
        for white in (-5, 599, 600, 699, 700, 3199, 3200, 3299, 3300)
        for black in (0, 1500, 32767)
        for result in RESULTS
    ]
    batch = batch_of(games)
    assert encoded_games(encoder, batch) == readable_ids(encoder, batch)


@pytest.mark.skipif(sys.platform == "win32", reason="guards pages by mprotect")
def test_no_kernel_reads_a_byte_behind_its_text():
    """A kernel that did would kill the process: a page that none may read lies behind."""
    script = Path(__file__).parent / "read_up_to_a_guarded_page.py"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout) == (0, "read to the end\n"), run.stderr
