"""Months opened together: one stream with 64-bit positions, which months, how they pickle, and what opening costs."""

import itertools
import pickle
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from month_packs import write_month, write_sparse_archive

from rukh_loaders import PackedDataset, make_loader, open_pack, open_packs
from rukh_loaders.errors import (
    GameIndexError,
    MonthsError,
    NoColumnError,
    NoPacksError,
    PackError,
    PackReplacedError,
    VocabularyMismatchError,
)
from rukh_loaders.formats import publish_folder

JANUARY = [[1, 7, 8, 9, 2], [1, 5, 2]]
MARCH = [[1, 6, 6, 2], [1, 2], [1, 3, 2]]
STREAM = [token for game in JANUARY + MARCH for token in game]


@pytest.fixture
def months(tmp_path):
    """January and March have games, February none; written in another order than theirs."""
    root = tmp_path / "tiny"
    for month, games in (("2024-03", MARCH), ("2024-01", JANUARY), ("2024-02", [])):
        numbers = np.arange(len(games)) + 10 * int(month[-1])
        write_month(root / month, games, {"white_elo": numbers, "game_id": -numbers})
    return root


def names(packs):
    return [pack.path.name for pack in packs.packs]


def all_games(packs):
    return packs.select(np.arange(packs.n_games))


def served(packs):
    """The chosen games, read token by token out of the packs."""
    games = all_games(packs)
    stream = np.concatenate([pack.tokens for pack in packs.packs])
    bounds = zip(packs.starts_of(games), packs.ends_of(games), strict=True)
    return [stream[begin:end].tolist() for begin, end in bounds]


def test_the_months_of_a_folder_are_one_stream_in_their_order(months):
    packs = open_packs(months)
    assert names(packs) == ["2024-01", "2024-02", "2024-03"]
    assert (packs.n_games, packs.n_tokens, packs.token_range) == (5, 17, (0, 17))
    assert (packs.game_offsets.tolist(), packs.token_offsets.tolist()) == ([0, 2, 2, 5], [0, 8, 8, 17])
    assert (packs.scheme, packs.vocab_size, packs.vocab_hash) == ("tiny", 100, "0" * 64)
    assert all_games(packs).tolist() == [0, 1, 2, 3, 4]
    assert packs.starts_of(np.array([4, 0, 2])).tolist() == [14, 0, 8]
    assert packs.ends_of(np.array([1, 4, 0])).tolist() == [8, 17, 5]
    assert packs.games_at(np.arange(17)).tolist() == [0] * 5 + [1] * 3 + [2] * 4 + [3] * 2 + [4] * 3
    assert served(packs) == JANUARY + MARCH


def test_columns_are_read_across_the_months(months):
    packs = open_packs(months)
    assert packs.column("white_elo").tolist() == [10, 11, 30, 31, 32]
    assert packs.column("white_elo").dtype == np.int16
    columns = packs.columns_of(np.array([4, 1]))
    assert len(columns) == 9
    assert columns["white_elo"].tolist() == [32, 11]
    assert columns["game_id"].tolist() == [-32, -11]


def test_a_column_that_is_none_and_a_pack_without_columns_are_named(months, tmp_path):
    with pytest.raises(NoColumnError, match="no column 'rating'; packs have game_id, white_elo"):
        open_packs(months).column("rating")
    packs = open_packs(write_month(tmp_path / "bare", JANUARY))
    with pytest.raises(NoColumnError, match=r"bare: has no column eco, only ids"):
        packs.column("eco")
    assert packs.columns_of(np.array([0])) == {}


def test_one_pack_is_opened_by_its_folder_its_text_or_itself(months):
    for root in (months / "2024-03", str(months / "2024-03"), open_pack(months / "2024-03")):
        assert served(open_packs(root)) == MARCH


def test_several_packs_are_put_in_the_order_of_their_months(months):
    march, january = open_pack(months / "2024-03"), str(months / "2024-01")
    assert names(open_packs([march, january])) == ["2024-01", "2024-03"]


def test_packs_that_are_not_named_like_months_stay_in_the_given_order(tmp_path):
    folders = [write_month(tmp_path / name, JANUARY) for name in ("pack-9", "2024-01", "pack-10")]
    assert names(open_packs(folders)) == ["pack-9", "2024-01", "pack-10"]


@pytest.mark.parametrize(
    ("months_asked", "expected"),
    [
        ("2024-02", ["2024-02"]),
        ("2024-01:2024-03", ["2024-01", "2024-02", "2024-03"]),
        ("2024-02:2024-03", ["2024-02", "2024-03"]),
        (["2024-03", "2024-01"], ["2024-01", "2024-03"]),
        (["2024-01:2024-02", "2024-02"], ["2024-01", "2024-02"]),
    ],
)
def test_months_are_taken_one_by_one_and_from_the_first_to_the_last(months, months_asked, expected):
    assert names(open_packs(months, months_asked)) == expected


@pytest.mark.parametrize(
    ("months_asked", "missing"),
    [
        ("2023-11:2024-02", "2023-11, 2023-12"),
        ("2024-04", "2024-04"),
        (["2024-01", "2025-01:2025-07"], "2025-01, 2025-02, 2025-03, 2025-04, 2025-05, 2025-06 and 1 more"),
        ([], "an empty list of months"),
    ],
)
def test_each_month_that_is_missing_is_named_also_amid_a_range(months, months_asked, missing):
    with pytest.raises(MonthsError, match=rf"no pack of {missing}; it has 3 months, 2024-01 to 2024-03"):
        open_packs(months, months_asked)


@pytest.mark.parametrize(
    "text", ["2024", "2024-13", "2024-1", "2024-03:2024-01", "2024-01:2024-02:2024-03", "", 202401]
)
def test_what_is_no_month_is_refused(months, text):
    with pytest.raises(MonthsError, match=r"allowed are YYYY-MM, and YYYY-MM:YYYY-MM"):
        open_packs(months, [text])


def test_hidden_folders_and_files_beside_the_packs_are_no_packs(months):
    shutil.copytree(months / "2024-01", months / ".2024-04.building-x")
    (months / "notes").mkdir()
    (months / "2024-05").write_text("a file")
    assert names(open_packs(months)) == ["2024-01", "2024-02", "2024-03"]


def test_a_folder_named_like_a_month_that_is_no_pack_is_refused_not_left_out(months):
    (months / "2024-04").mkdir()
    with pytest.raises(PackError, match=r"2024-04/meta\.json: cannot be read, so this is no pack"):
        open_packs(months)


def test_where_there_is_no_pack_the_folder_and_what_is_in_it_are_named(tmp_path):
    (tmp_path / "uci").mkdir()
    with pytest.raises(NoPacksError, match=rf"{tmp_path}: holds no pack: .*the folders in it: uci"):
        open_packs(tmp_path)
    with pytest.raises(PackError, match="absent"):
        open_packs(tmp_path / "absent")
    with pytest.raises(NoPacksError, match="the list is empty"):
        open_packs([])


def test_packs_of_other_schemes_or_vocabularies_are_refused_with_both(months):
    write_month(months / "2024-04", [[1, 9, 2]], scheme="other")
    with pytest.raises(VocabularyMismatchError, match=r"2024-04: .*'other', 100, '0+'.*2024-01 has .*'tiny', 100"):
        open_packs(months)
    shutil.rmtree(months / "2024-04")
    write_month(months / "2024-04", [[1, 9, 2]], vocab_hash="1" * 64)
    with pytest.raises(VocabularyMismatchError, match=r"'1{64}'\), .*'0{64}'"):
        open_packs(months)


@pytest.mark.parametrize("opened", [False, True])
def test_packs_of_another_vocabulary_than_asked_for_are_refused(months, opened):
    root = open_pack(months / "2024-01") if opened else months
    assert open_packs(root, vocab_hash="0" * 64).n_games
    with pytest.raises(VocabularyMismatchError, match=r"0{64}, expected 1{64}"):
        open_packs(root, vocab_hash="1" * 64)


def test_the_same_pack_twice_is_refused(months):
    with pytest.raises(PackError, match="2024-01: was given twice"):
        open_packs([months / "2024-01", months / "2024-03", months / "2024-01"])


@pytest.mark.parametrize("spelling", ["2024-01/../2024-01", "../tiny/2024-01", "2024-09"])
def test_the_same_pack_twice_is_refused_however_it_is_spelled_or_linked_to(months, spelling):
    (months / "2024-09").symlink_to(months / "2024-01")
    with pytest.raises(PackError, match="was given twice"):
        open_packs([months / "2024-01", months / spelling])


def test_packs_that_are_open_already_are_not_opened_again(months):
    with pytest.raises(TypeError, match=r"<Packs tiny .*> is open already"):
        open_packs(open_packs(months), "2024-01")


@pytest.mark.parametrize("k", [[-1], [5], [0, 5], [2**62]])
def test_a_number_outside_the_chosen_games_is_an_index_error(months, k):
    with pytest.raises(GameIndexError, match=rf"no game {k[-1]} in <Packs tiny .*: allowed are 0 to 4"):
        open_packs(months).select(np.array(k))


def test_numbers_of_games_are_integers(months):
    with pytest.raises(TypeError, match="float64"):
        open_packs(months).select([0.5])


def test_packs_pickle_as_their_folders_and_open_again_from_any_folder(months, monkeypatch):
    monkeypatch.chdir(months.parent)
    packs = open_packs(months.name, "2024-01:2024-03").games(slice(1, 4))
    pickled = pickle.dumps(packs)
    monkeypatch.chdir("/")
    again = pickle.loads(pickled)
    assert served(again) == served(packs) == [JANUARY[1], *MARCH[:2]]
    assert again.fingerprint == packs.fingerprint


def test_other_packs_in_the_folders_are_refused_with_both_fingerprints(months):
    pickled = pickle.dumps(open_packs(months))
    shutil.rmtree(months / "2024-03")
    write_month(months / "2024-03", [MARCH[1], MARCH[0], MARCH[2]])
    with pytest.raises(PackReplacedError, match=r"the fingerprint was [0-9a-f]{64} and is [0-9a-f]{64}"):
        pickle.loads(pickled)


def test_the_fingerprint_is_that_of_the_packs_and_of_the_choice_wherever_they_lie(months, tmp_path):
    packs = open_packs(months)
    copied = open_packs(shutil.copytree(months, tmp_path / "copy"))
    assert packs.fingerprint == copied.fingerprint
    others = [
        open_packs(months, "2024-01"),
        open_packs(months, "2024-01:2024-02"),
        packs.games(slice(0, 4)),
        packs.games(slice(1, 5)),
        packs.games(slice(0, 5, 2)),
        packs.games(slice(0, 5, 4)),
        packs.games(slice(0, 0)),
    ]
    assert len({p.fingerprint for p in [packs, *others]}) == 8


def test_verify_finds_a_changed_byte_in_any_month(months):
    packs = open_packs(months)
    packs.verify()
    data = bytearray((months / "2024-03" / "columns" / "eco.npy").read_bytes())
    data[-1] ^= 1
    (months / "2024-03" / "columns" / "eco.npy").write_bytes(data)
    with pytest.raises(PackError, match=r"2024-03/columns/eco\.npy: has sha256"):
        packs.verify()


def test_opened_months_are_read_on_with_their_columns_while_one_is_replaced(tmp_path):
    target = tmp_path / "2024-01"
    with publish_folder(target) as folder:
        write_month(folder, JANUARY, {"white_elo": [1500, 1600]})
    packs = open_packs(tmp_path)
    with publish_folder(target) as folder:
        write_month(folder, MARCH, {"white_elo": [1, 2, 3]})
    assert served(packs) == JANUARY
    assert packs.column("white_elo").tolist() == [1500, 1600]
    assert served(open_packs(tmp_path)) == MARCH


def test_all_of_lichess_opens_within_a_second_and_keeps_no_file_open(tmp_path):
    write_sparse_archive(tmp_path / "uci", months=160, n_games=42_500_000, n_tokens=3_375_000_000)
    files = len(list(Path("/dev/fd").iterdir()))
    begin = time.perf_counter()
    packs = open_packs(tmp_path / "uci")
    took = time.perf_counter() - begin
    assert took < 1
    assert len(list(Path("/dev/fd").iterdir())) == files
    assert (packs.n_games, packs.n_tokens) == (6_800_000_000, 540_000_000_000)
    assert len(pickle.dumps(packs)) < 4096

    last = packs.select([6_799_999_999, 42_499_999, 6_757_500_000])
    assert last.tolist() == [6_799_999_999, 42_499_999, 6_757_500_000]
    assert packs.ends_of(last)[:2].tolist() == [540_000_000_000, 3_375_000_000]
    assert packs.starts_of(last).tolist() == [539_999_999_920, 3_374_999_920, 159 * 3_375_000_000]
    assert packs.games_at(np.array([539_999_999_999])).tolist() == [6_799_999_999]
    assert packs.games(slice(-2, None)).token_range[1] == 540_000_000_000
    assert packs.columns_of(last)["game_id"].tolist() == [1, 1, 0]


@pytest.mark.parametrize("shuffle", [True, "blocks"])
def test_the_whole_archive_orders_an_epoch_at_once_and_serves_its_first_and_last_windows(tmp_path, shuffle):
    write_sparse_archive(tmp_path / "uci", months=160, n_games=42_500_000, n_tokens=3_375_000_000)
    begin = time.perf_counter()
    dataset = PackedDataset(open_packs(tmp_path / "uci"), block=60, last_target=True)
    batch = next(iter(make_loader(dataset, 64, shuffle=shuffle, prefetch=0)))
    assert time.perf_counter() - begin < 1
    assert batch.x.shape == (64, 60)
    ends = dataset.gather(np.array([0, 6_799_999_999]))
    assert ends.x.tolist() == [[0] * 60, [0] * 60]  # holes; the last game of 80 tokens ends with <eos>, further on
    last = PackedDataset(open_packs(tmp_path / "uci"), block=100).gather(np.array([6_799_999_999]))
    assert last.x[0].tolist() == [0] * 79 + [2] + [0] * 20


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not say what its maps are told")
def test_without_readahead_holds_for_tokens_and_starts_while_it_lasts(months):
    packs = open_packs(months)

    def told():
        maps = Path("/proc/self/smaps").read_text().split("VmFlags:")
        return {
            f"{month}/{name}": " rr" in flags.split("\n")[0]
            for entry, flags in itertools.pairwise(maps)
            for month in ("2024-01", "2024-03")
            for name in ("tokens.npy", "starts.npy", "columns/eco.npy")
            if f"{months}/{month}/{name}" in entry
        }

    assert set(told().values()) == {False}
    with packs.without_readahead():
        assert {name for name, alone in told().items() if alone} == {
            f"{month}/{name}" for month in ("2024-01", "2024-03") for name in ("tokens.npy", "starts.npy")
        }
        assert served(packs) == JANUARY + MARCH
    assert set(told().values()) == {False}


games = st.lists(st.integers(3, 99), max_size=4).map(lambda moves: [1, *moves, 2])


@settings(max_examples=50, deadline=None)
@given(months_of_games=st.lists(st.lists(games, max_size=4), min_size=1, max_size=5), data=st.data())
def test_the_stream_is_the_games_of_the_packs_one_after_the_other(tmp_path_factory, months_of_games, data):
    root = tmp_path_factory.mktemp("months")
    for number, month in enumerate(months_of_games):
        write_month(root / f"2024-{number + 1:02}", month)
    packs = open_packs(root)
    whole = [game for month in months_of_games for game in month]
    owners = [number for number, game in enumerate(whole) for _ in game]
    ends = np.cumsum([0, *map(len, whole)]).tolist()
    assert served(packs) == whole
    assert packs.games_at(np.arange(packs.n_tokens)).tolist() == owners
    some = np.array(data.draw(st.lists(st.sampled_from(range(len(whole))), max_size=9)) if whole else [], np.int64)
    assert packs.starts_of(some).tolist() == [ends[game] for game in some]
    assert packs.ends_of(some).tolist() == [ends[game + 1] for game in some]
