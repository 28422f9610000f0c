"""Games dealt into parts by a hash of their id: without a game in common, for good, and in their shares."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest
from month_packs import write_month, write_short_games

from rukh_loaders import open_packs
from rukh_loaders.errors import NoColumnError, SplitError
from rukh_loaders.packs.splits import split_hash

COUNT = 30_000


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Three months; in the first and the last the ids are random, in the second they follow one another."""
    root = tmp_path_factory.mktemp("months")
    rng = np.random.default_rng(11)
    for month in ("2024-01", "2024-02", "2024-03"):
        ids = rng.integers(-(2**63), 2**63, COUNT)
        write_short_games(root / month, {"game_id": np.arange(COUNT) if month == "2024-02" else ids})
    return root


def ids_of(packs):
    return set(packs.column("game_id").tolist())


def test_every_game_is_in_one_part_and_train_has_what_is_left(months):
    packs = open_packs(months)
    parts = packs.split(salt="a", val=0.01, test=0.02)
    assert list(parts) == ["train", "val", "test"]
    games = [part.select(np.arange(part.n_games)) for part in parts.values()]
    assert np.sort(np.concatenate(games)).tolist() == list(range(3 * COUNT))


@pytest.mark.parametrize("month", ["2024-01", "2024-02", "2024-03"])
@pytest.mark.parametrize("salt", ["", "a", "b"])
def test_shares_are_met_also_where_ids_follow_one_another(months, month, salt):
    """Within five standard deviations of the binomial distribution, so one run in a million would fail by chance.

    The ids are fixed, so this is the same in every run.
    """
    parts = open_packs(months, month).split(salt=salt, val=0.01, test=0.2)
    for name, share in (("val", 0.01), ("test", 0.2), ("train", 0.79)):
        spread = (COUNT * share * (1 - share)) ** 0.5
        assert abs(parts[name].n_games - COUNT * share) < 5 * spread


def test_a_game_never_changes_sides_when_months_are_added_or_games_left_out(months):
    alone = open_packs(months, "2024-02").split(salt="a", val=0.1)
    together = open_packs(months).split(salt="a", val=0.1)
    fewer = open_packs(months).games(slice(None, None, 3)).split(salt="a", val=0.1)
    for name in ("train", "val"):
        assert ids_of(alone[name]) <= ids_of(together[name])
        assert ids_of(fewer[name]) <= ids_of(together[name])
    assert not ids_of(alone["val"]) & ids_of(together["train"])


def test_a_subset_never_leaks_outside_itself(months):
    packs = open_packs(months)
    test = packs.split(salt="a", test=0.1)["test"]
    again = test.where(lambda columns: columns["game_id"] % 2 == 0).split(salt="b", val=0.5)
    assert ids_of(again["train"]) | ids_of(again["val"]) < ids_of(test)


def test_another_salt_deals_anew(months):
    packs = open_packs(months)
    one, other = (ids_of(packs.split(salt=salt, val=0.1)["val"]) for salt in ("a", "b"))
    assert abs(len(one & other) - COUNT * 3 * 0.01) < 5 * (COUNT * 3 * 0.01) ** 0.5


def test_a_share_that_is_put_last_and_one_for_train_leave_the_others_as_they_were(months):
    packs = open_packs(months)
    first = packs.split(salt="a", val=0.05)
    then = packs.split(salt="a", val=0.05, test=0.05, train=0.5)
    assert ids_of(first["val"]) == ids_of(then["val"])
    assert ids_of(then["train"]) < ids_of(first["train"])
    assert abs(then["train"].n_games - COUNT * 1.5) < 5 * (COUNT * 3 * 0.25) ** 0.5


def test_shares_are_taken_as_they_are_written(months):
    packs = open_packs(months, "2024-01")
    parts = packs.split(a=0.1, b=0.2, c=0.7)
    assert parts["train"].n_games == 0
    assert sum(part.n_games for part in parts.values()) == COUNT
    assert packs.split(val=0)["val"].n_games == 0
    assert packs.split(val=1)["val"].n_games == COUNT
    thirds = packs.split(a=Fraction(1, 3), b=Fraction(1, 3), c=Fraction(1, 3))
    assert thirds["train"].n_games == 0
    assert packs.split()["train"].fingerprint == packs.fingerprint


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"val": 0.6, "test": 0.5}, r"shares val=0\.6, test=0\.5: add up to 1\.1; allowed is at most 1"),
        ({"val": 0.2, "train": 0.9}, "add up to"),
        ({"val": -0.1}, r"share val=-0\.1: allowed are numbers from 0 to 1"),
        ({"val": 1.5}, "from 0 to 1"),
        ({"val": float("nan")}, "from 0 to 1"),
        ({"val": True}, "from 0 to 1"),
        ({"val": "many"}, "share val='many'"),
    ],
)
def test_shares_that_are_no_fractions_of_a_whole_are_refused(months, shares, message):
    with pytest.raises(SplitError, match=message):
        open_packs(months).split(salt="a", **shares)


def test_packs_without_ids_of_games_are_refused(tmp_path):
    with pytest.raises(NoColumnError, match="has no column game_id"):
        open_packs(write_month(tmp_path / "2024-01", [[1, 9, 2]])).split(val=0.1)


def mixed_slowly(value):
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = (value ^ value >> shift) * factor % 2**64
    return value ^ value >> 31


def test_the_hash_is_the_one_that_the_docstring_writes_down():
    ids = np.array([0, 1, -1, 2**63 - 1, -(2**63), 123456789])
    digest = hashlib.blake2b(b"salt", digest_size=16).digest()
    keys = [int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")]
    expected = [mixed_slowly(mixed_slowly(number % 2**64 ^ keys[0]) ^ keys[1]) for number in ids.tolist()]
    assert split_hash(ids, "salt").tolist() == expected


def test_the_hash_stays_what_it_was_so_that_splits_made_before_hold():
    assert split_hash(np.array([1, 2]), "").tolist() == [6301541727126862468, 10335346840858620231]


def test_ids_that_are_hashed_stay_as_they_are():
    ids = np.arange(5)
    split_hash(ids, "a")
    assert ids.tolist() == [0, 1, 2, 3, 4]


def test_hashes_of_ids_that_follow_one_another_spread_evenly():
    """Chi-square of 256 cells by the highest 8 bits: 255 degrees of freedom, so 398 is passed once in 10**7."""
    for salt in ("", "a", "b"):
        cells = np.bincount((split_hash(np.arange(1 << 16), salt) >> np.uint64(56)).astype(np.int64), minlength=256)
        assert ((cells - 256) ** 2 / 256).sum() < 398
