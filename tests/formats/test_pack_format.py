"""Packs: what another program reads from docs/formats.md alone, and what is refused, with the file and both values."""

import hashlib
import json
import pickle
import threading
from itertools import pairwise

import numpy as np
import pytest
from pydantic import ValidationError

from rukh_loaders.errors import NpyError, PackError, VocabularyMismatchError, VocabularyTooLargeError
from rukh_loaders.formats import pack as pack_module
from rukh_loaders.formats.manifest import read_manifest, verify_files, write_manifest
from rukh_loaders.formats.pack import COLUMNS, Pack, PackInfo, PackWriter, open_pack
from rukh_loaders.formats.publish import publish_folder
from rukh_loaders.tokenizers import UciTokenizer

UCI = UciTokenizer()
FOOLS_MATE = UCI.encode_game("f2f3 e7e5 g2g4 d8h4", 1210, 1345, "0-1")
OPENING = UCI.encode_game("e2e4 e7e5 g1f3", 1873, 1902, "1/2-1/2")
EMPTY = UCI.encode_game("", 2000, 2000, "1-0")
GAMES = [FOOLS_MATE, OPENING, EMPTY]


def info_of(games, **changes):
    values = {
        "n_games": len(games),
        "n_tokens": sum(map(len, games)),
        "scheme": "uci",
        "vocab_size": 2030,
        "vocab_hash": UCI.vocabulary.vocab_hash,
        "source": "games.parquet",
    }
    return PackInfo(**(values | changes))


def columns_of(count):
    return {name: np.arange(count).astype(dtype) for name, dtype in COLUMNS.items()}


def append(writer, games):
    ids = np.array([token for game in games for token in game], np.uint16)
    writer.append(ids, np.array([len(game) for game in games], np.int64))


def write_pack(folder, games=GAMES, columns=None, manifest=None, **changes):
    with PackWriter(folder, info_of(games, **changes)) as writer:
        append(writer, games)
        writer.append_columns(columns or columns_of(len(games)))
        writer.finish(manifest or {"months": ["2025-01"]})
    return folder


@pytest.fixture
def pack(tmp_path):
    return write_pack(tmp_path / "pack")


def minimal_reader(path):
    """What a stranger writes from the page of formats: json and numpy, nothing of this project."""
    meta = json.loads((path / "meta.json").read_text())
    known = {"n_games", "n_tokens", "scheme", "vocab_size", "vocab_hash", "source"}
    if set(meta) != known:
        raise ValueError(f"keys {sorted(set(meta) ^ known)}")
    tokens = np.load(path / "tokens.npy", mmap_mode="r", allow_pickle=False)
    starts = np.load(path / "starts.npy", allow_pickle=False)
    if tokens.dtype != np.uint16 or tokens.shape != (meta["n_tokens"],):
        raise ValueError(f"tokens {tokens.dtype} {tokens.shape}")
    if starts.dtype != np.int64 or starts.shape != (meta["n_games"],):
        raise ValueError(f"starts {starts.dtype} {starts.shape}")
    ends = np.append(starts[1:], meta["n_tokens"])
    games = [tokens[start:end].tolist() for start, end in zip(starts, ends, strict=True)]
    for i, game in enumerate(games):
        if game[0] != 1 or game[-1] != 2 or max(game) >= meta["vocab_size"]:
            raise ValueError(f"game {i}")
    return meta, games


def test_a_twenty_line_reader_written_from_the_page_opens_a_pack(pack):
    meta, games = minimal_reader(pack)
    assert games == GAMES
    assert meta["scheme"] == "uci"
    assert meta["vocab_hash"] == "527c5dda224cab570cb84da8f7dcda0f43fe53edaf86822f899568f5dd824b46"


def test_the_twenty_line_reader_and_this_one_refuse_unknown_keys_in_meta(pack):
    meta = json.loads((pack / "meta.json").read_text())
    (pack / "meta.json").write_text(json.dumps(meta | {"version": 2}))
    with pytest.raises(ValueError, match="keys"):
        minimal_reader(pack)
    with pytest.raises(PackError, match=r"meta\.json: version: Extra inputs are not permitted \(allowed keys: n_games"):
        open_pack(pack)


def test_the_arrays_are_the_bytes_of_np_save(pack, tmp_path):
    stream = [token for game in GAMES for token in game]
    starts = np.cumsum([0, *map(len, GAMES[:-1])])
    np.save(tmp_path / "tokens.npy", np.array(stream, np.uint16))
    np.save(tmp_path / "starts.npy", starts.astype(np.int64))
    for name in ("tokens.npy", "starts.npy"):
        assert (pack / name).read_bytes() == (tmp_path / name).read_bytes()


def test_meta_is_exactly_six_keys_in_order(pack):
    expected = f"""{{
  "n_games": 3,
  "n_tokens": 22,
  "scheme": "uci",
  "vocab_size": 2030,
  "vocab_hash": "{UCI.vocabulary.vocab_hash}",
  "source": "games.parquet"
}}
"""
    assert (pack / "meta.json").read_bytes() == expected.encode()


def test_games_may_come_in_any_number_of_pieces(pack, tmp_path):
    with PackWriter(tmp_path / "other", info_of(GAMES)) as writer:
        for piece in ([], GAMES[:1], [], GAMES[1:]):
            append(writer, piece)
        writer.finish({"months": ["2025-01"]})
    for name in ("tokens.npy", "starts.npy", "meta.json"):
        assert (tmp_path / "other" / name).read_bytes() == (pack / name).read_bytes()


def test_the_manifest_lists_every_file_with_its_size_and_hash(pack):
    manifest = json.loads((pack / "manifest.json").read_bytes())
    assert manifest["format_version"] == 1
    assert manifest["months"] == ["2025-01"]
    assert (manifest["n_games"], manifest["n_tokens"]) == (3, 22)
    names = {path.relative_to(pack).as_posix() for path in pack.rglob("*") if path.is_file()}
    assert set(manifest["files"]) == names - {"manifest.json"}
    for name, record in manifest["files"].items():
        data = (pack / name).read_bytes()
        assert record == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_an_opened_pack_gives_games_columns_and_manifest(pack):
    opened = open_pack(pack, vocab_hash=UCI.vocabulary.vocab_hash)
    assert len(opened) == 3
    assert [opened.game(i).tolist() for i in range(3)] == GAMES
    assert opened.info == info_of(GAMES)
    assert {name: (column.dtype, column.tolist()) for name, column in opened.columns.items()} == {
        name: (dtype, [0, 1, 2]) for name, dtype in COLUMNS.items()
    }
    assert opened.manifest is not None
    assert opened.manifest["months"] == ["2025-01"]
    assert UCI.decode(opened.game(2)) == ["<bos>", "<w2000>", "<b2000>", "<1-0>", "<eos>"]
    opened.verify()


def test_the_columns_have_the_dtypes_of_the_page():
    assert {name: dtype.name for name, dtype in COLUMNS.items()} == {
        "game_id": "int64",
        "white_elo": "int16",
        "black_elo": "int16",
        "n_plies": "int16",
        "result": "int8",
        "base_seconds": "int32",
        "increment_seconds": "int16",
        "utc_date": "int32",
        "eco": "int16",
    }


def test_a_pack_of_another_program_needs_no_manifest_and_no_columns(tmp_path):
    np.save(tmp_path / "tokens.npy", np.array([1, 9, 2, 1, 2], np.uint16))
    np.save(tmp_path / "starts.npy", np.array([0, 3], np.int64))
    meta = {"n_games": 2, "n_tokens": 5, "scheme": "theirs", "vocab_size": 10, "vocab_hash": "x", "source": "theirs"}
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    opened = open_pack(str(tmp_path))
    opened.verify()
    assert opened.columns == {}
    assert opened.manifest is None
    assert opened.game(1).tolist() == [1, 2]


def test_an_empty_pack_opens_and_verifies(tmp_path):
    opened = open_pack(write_pack(tmp_path / "pack", games=[]))
    opened.verify()
    assert (len(opened), opened.tokens.size, opened.starts.size) == (0, 0, 0)
    assert all(column.size == 0 for column in opened.columns.values())


@pytest.mark.parametrize("index", [-1, 3])
def test_a_game_outside_is_an_index_error(pack, index):
    with pytest.raises(IndexError, match=f"no game {index}, allowed: 0 to 2"):
        open_pack(pack).game(index)


def test_a_pack_of_another_vocabulary_is_refused_with_both_hashes(pack):
    with pytest.raises(VocabularyMismatchError, match=f"{UCI.vocabulary.vocab_hash}, expected {'0' * 64}"):
        open_pack(pack, vocab_hash="0" * 64)


def test_a_vocabulary_of_65536_ids_fits(tmp_path):
    folder = write_pack(tmp_path / "pack", games=[[1, 65_535, 2]], scheme="big", vocab_size=65_536)
    opened = open_pack(folder)
    opened.verify()
    assert opened.game(0).tolist() == [1, 65_535, 2]


def test_a_vocabulary_of_65537_ids_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(VocabularyTooLargeError, match="65537 ids does not fit uint16, allowed: at most 65536"):
        PackWriter(tmp_path / "pack", info_of(GAMES, vocab_size=65_537))
    assert list(tmp_path.iterdir()) == []


def test_a_pickled_pack_is_its_path(pack):
    opened = open_pack(pack)
    assert len(pickle.dumps(opened)) < 1_000
    assert pickle.loads(pickle.dumps(opened)).game(1).tolist() == OPENING


def test_an_opened_pack_is_read_on_while_the_month_is_replaced(tmp_path):
    target = tmp_path / "2025-01"
    with publish_folder(target) as folder:
        write_pack(folder)
    old = open_pack(target)
    with publish_folder(target) as folder:
        write_pack(folder, games=[EMPTY])
    assert [old.game(i).tolist() for i in range(3)] == GAMES
    assert [open_pack(target).game(0).tolist()] == [EMPTY]


def test_a_pack_opened_while_the_month_is_replaced_is_of_one_piece(tmp_path):
    target = tmp_path / "2025-01"
    with publish_folder(target) as folder:
        write_pack(folder)
    done = threading.Event()

    def replace():
        games = [EMPTY]
        while not done.wait(0.005):
            with publish_folder(target) as folder:
                write_pack(folder, games)
            games = GAMES if games == [EMPTY] else [EMPTY]

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for _ in range(50):
            opened = open_pack(target)
            assert [game.tolist() for game in map(opened.game, range(len(opened)))] in (GAMES, [EMPTY])
            assert {column.size for column in opened.columns.values()} == {len(opened)}
    finally:
        done.set()
        writer.join()


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"n_games": "3"},
        {"n_games": 3.0},
        {"n_tokens": True},
        {"n_games": -1},
        {"scheme": None},
    ],
)
def test_missing_and_mistyped_keys_in_meta_are_refused_by_name(pack, meta):
    whole = json.loads((pack / "meta.json").read_text())
    (pack / "meta.json").write_text(json.dumps(whole | meta if meta else {}))
    with pytest.raises(PackError, match=rf"meta\.json: {next(iter(meta), 'n_games')}: "):
        open_pack(pack)
    if meta:
        with pytest.raises(ValidationError):
            PackInfo(**(whole | meta))


def test_what_is_no_pack_is_named(tmp_path):
    with pytest.raises(PackError, match=r"absent/meta\.json: cannot be read, so this is no pack: No such file"):
        open_pack(tmp_path / "absent")
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(PackError, match=r"meta\.json: the file: Invalid JSON"):
        open_pack(tmp_path)


@pytest.mark.parametrize("name", ["tokens.npy", "starts.npy", "columns/eco.npy"])
@pytest.mark.parametrize("change", ["cut", "longer", "missing"])
def test_a_cut_longer_or_missing_file_is_refused_at_open(pack, name, change):
    data = (pack / name).read_bytes()
    if change == "missing":
        (pack / name).unlink()
    else:
        (pack / name).write_bytes(data[:-1] if change == "cut" else data + b"\0")
    with pytest.raises(PackError, match=name):
        open_pack(pack)


@pytest.mark.parametrize("name", ["tokens.npy", "starts.npy", "columns/white_elo.npy", "meta.json"])
def test_a_byte_changed_anywhere_is_found_by_verify_with_both_hashes(pack, name):
    data = bytearray((pack / name).read_bytes())
    at = data.index(b"parquet") if name == "meta.json" else -1
    data[at] ^= 1
    (pack / name).write_bytes(data)
    said = json.loads((pack / "manifest.json").read_bytes())["files"][name]["sha256"]
    got = hashlib.sha256(data).hexdigest()
    try:
        opened = open_pack(pack)
    except PackError:
        assert name == "starts.npy"  # a start past the end is seen at once
        return
    with pytest.raises(PackError, match=f"{name}: has sha256 {got}, its manifest says {said}"):
        opened.verify()


def test_other_counts_than_meta_says_are_refused_with_both(pack):
    whole = json.loads((pack / "meta.json").read_text())
    for key, file, got in (("n_tokens", "tokens", 22), ("n_games", "starts", 3)):
        (pack / "meta.json").write_text(json.dumps(whole | {key: 7}))
        with pytest.raises(PackError, match=rf"{file}\.npy: holds {got} values, meta\.json says 7"):
            open_pack(pack)


def test_another_format_version_is_refused_with_both(pack):
    write_manifest(pack, read_manifest(pack) | {"format_version": 2})
    with pytest.raises(PackError, match="has format_version 2, this reader knows 1"):
        open_pack(pack)


def foreign_pack(folder, tokens, starts, scheme="uci", vocab_size=2030):
    np.save(folder / "tokens.npy", np.array(tokens, np.uint16))
    np.save(folder / "starts.npy", np.array(starts, np.int64))
    info = info_of([], n_games=len(starts), n_tokens=len(tokens), scheme=scheme, vocab_size=vocab_size)
    (folder / "meta.json").write_bytes(info.to_bytes())
    return folder


@pytest.mark.parametrize(
    ("tokens", "starts", "message"),
    [
        ([1, 9, 2, 1, 2], [1, 3], r"starts\.npy: the first start is 1, expected 0"),
        ([1, 9, 2, 1, 2], [0, 5], r"starts\.npy: the last start is 5, expected below 5"),
        ([1, 9, 2, 1, 2], [], "has 5 ids and 0 games"),
    ],
)
def test_starts_that_cannot_be_are_refused_at_open(tmp_path, tokens, starts, message):
    with pytest.raises(PackError, match=message):
        open_pack(foreign_pack(tmp_path, tokens, starts))


@pytest.mark.parametrize(
    ("tokens", "starts", "message"),
    [
        ([1, 9, 2, 1, 2, 1, 2], [0, 5, 3], r"starts\.npy: start 3 of game 2 follows 5, expected starts that rise"),
        ([1, 9, 2, 1, 2], [0, 0], "start 0 of game 1 follows 0"),
        ([1, 9, 2, 1, 2], [0, 2], r"tokens\.npy: game 1 begins with id 2, expected <bos> 1"),
        ([1, 9, 2, 1, 9], [0, 3], r"tokens\.npy: the last id is 9, expected <eos> 2"),
        ([1, 2, 1, 2030, 2], [0, 2], "game 1 has id 2030 at position 1, allowed: 0 to 2029"),
        ([1, 2, 1, 4, 2], [0, 2], "game 1 has id 4 at position 1, allowed: none of <unk> 4"),
    ],
)
@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_ids_and_starts_that_cannot_be_are_found_by_verify(tmp_path, monkeypatch, tokens, starts, message, at_once):
    monkeypatch.setattr(pack_module, "_VERIFY_TOKENS", at_once)
    opened = open_pack(foreign_pack(tmp_path, tokens, starts))
    with pytest.raises(PackError, match=message):
        opened.verify()


def test_id_4_is_a_character_of_san_and_no_unk(tmp_path):
    open_pack(foreign_pack(tmp_path, [1, 4, 2], [0], scheme="san", vocab_size=35)).verify()
    with pytest.raises(PackError, match="none of <unk> 4"):
        Pack(foreign_pack(tmp_path, [1, 4, 2], [0], scheme="bpe", vocab_size=4096)).verify()


@pytest.mark.parametrize(
    ("ids", "lengths", "message"),
    [
        ([1, 2, 1, 2], [2, 3], "got 4 ids, but lengths that add up to 5"),
        ([1, 2, 1, 2], [4, 0], "game 1 has length 0, a framed game has 2 or more"),
        ([1, 2, 9, 2], [2, 2], "game 1 begins with id 9 and ends with 2, expected <bos> 1 and <eos> 2"),
        ([1, 2, 1, 0], [2, 2], "game 1 begins with id 1 and ends with 0"),
        ([1, 2, 1, 2030, 2], [2, 3], "game 1 has id 2030, allowed: 0 to 2029"),
    ],
)
def test_the_writer_refuses_games_that_are_not_framed_or_not_in_the_vocabulary(tmp_path, ids, lengths, message):
    with pytest.raises(PackError, match=message), PackWriter(tmp_path / "pack", info_of(GAMES)) as writer:
        writer.append(np.array(ids, np.uint16), np.array(lengths, np.int64))
    assert not (tmp_path / "pack" / "meta.json").exists()


def test_the_writer_refuses_ids_that_are_not_uint16(tmp_path):
    with pytest.raises(PackError, match="ids of int64, 1-d"), PackWriter(tmp_path / "pack", info_of(GAMES)) as writer:
        writer.append(np.array([1, -100, 2]), np.array([3]))


def test_the_writer_refuses_to_finish_with_other_counts_than_it_was_told(tmp_path):
    with pytest.raises(NpyError, match=r"tokens\.npy: got 22 elements, expected 23"):
        write_pack(tmp_path / "pack", n_tokens=23)
    assert not (tmp_path / "pack" / "manifest.json").exists()


def test_a_pack_that_was_left_before_finish_is_refused(tmp_path):
    with pytest.raises(PackError, match=r"left before finish\(\)"), PackWriter(tmp_path / "pack", info_of([])):
        pass


def test_the_writer_wants_every_column_in_its_dtype_and_one_value_a_game(tmp_path):
    some = {name: column for name, column in columns_of(3).items() if name != "eco"}
    with pytest.raises(PackError, match="got columns"):
        write_pack(tmp_path / "a", columns=some)
    with pytest.raises(NpyError, match=r"eco\.npy: got a piece of int64"):
        write_pack(tmp_path / "b", columns=columns_of(3) | {"eco": np.zeros(3, np.int64)})
    with pytest.raises(NpyError, match="got 2 elements, expected 3"):
        write_pack(tmp_path / "c", columns=columns_of(2))


def test_columns_come_at_once_or_piece_by_piece_to_the_same_bytes(tmp_path):
    for name, borders in {"at once": [0, 3], "pieces": [0, 0, 1, 3]}.items():
        with PackWriter(tmp_path / name, info_of(GAMES)) as writer:
            append(writer, GAMES)
            for begin, end in pairwise(borders):
                writer.append_columns({column: values[begin:end] for column, values in columns_of(3).items()})
            writer.finish({})
    assert read_manifest(tmp_path / "at once") == read_manifest(tmp_path / "pieces")
    verify_files(tmp_path / "pieces", read_manifest(tmp_path / "pieces"))
    assert open_pack(tmp_path / "pieces").columns.keys() == COLUMNS.keys()


def test_what_the_writer_says_of_itself_cannot_be_overruled(tmp_path):
    with pytest.raises(PackError, match="got n_games 4 for its manifest, not 3"):
        write_pack(tmp_path / "pack", manifest={"n_games": 4})


def test_a_pack_is_not_written_over_another(pack):
    with pytest.raises(PackError, match="is not empty"):
        PackWriter(pack, info_of(GAMES))
