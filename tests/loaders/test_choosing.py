"""Games chosen by what their columns say, by answers, functions and places: the right ones, and at what cost."""

import datetime
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from month_packs import write_month, write_short_games, write_sparse_archive

from rukh_loaders import open_packs
from rukh_loaders.errors import ChoiceError, NoColumnError
from rukh_loaders.packs import choosing
from rukh_loaders.packs.chosen import ChoiceBuilder, GameBitmap, GameRange

RATINGS = [1500, 1600, 2000, 2100, 900]


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """Five games in two months; game 1 is by correspondence, game 3 has neither opening nor date."""
    root = tmp_path_factory.mktemp("months")
    columns = {
        "game_id": [7, 8, 9, 10, 11],
        "white_elo": RATINGS,
        "black_elo": [1400, 1700, 2000, 2200, 800],
        "n_plies": [0, 80, 30, 31, 300],
        "result": [1, 0, -1, 1, 1],
        "base_seconds": [180, -1, 300, 300, 600],
        "increment_seconds": [2, -1, 3, 0, 0],
        "utc_date": [19723, 19724, 19754, -1, 19755],
        "eco": [120, 199, 200, -1, 25],
    }
    for month, part in (("2024-01", slice(0, 3)), ("2024-02", slice(3, 5))):
        write_short_games(root / month, {name: values[part] for name, values in columns.items()})
    return open_packs(root)


def chosen(packs):
    return packs.select(np.arange(packs.n_games)).tolist()


@pytest.mark.parametrize(
    ("asked", "games"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"white_elo": (1500, 2000)}, [0, 1, 2]),
        ({"white_elo": (1501, 1999)}, [1]),
        ({"white_elo": (2000, None)}, [2, 3]),
        ({"white_elo": (None, 1500)}, [0, 4]),
        ({"white_elo": (None, None)}, [0, 1, 2, 3, 4]),
        ({"white_elo": 2000}, [2]),
        ({"white_elo": np.int64(2000)}, [2]),
        ({"white_elo": 100_000}, []),
        ({"white_elo": (2000, 100_000)}, [2, 3]),
        ({"white_elo": {1500, 900}}, [0, 4]),
        ({"white_elo": [1500, (2000, 2050)]}, [0, 2]),
        ({"white_elo": []}, []),
        ({"black_elo": (1700, None), "white_elo": (None, 2000)}, [1, 2]),
        ({"n_plies": (0, 30)}, [0, 2]),
        ({"base_seconds": (None, 300)}, [0, 2, 3]),
        ({"increment_seconds": 0}, [3, 4]),
        ({"increment_seconds": (None, None)}, [0, 2, 3, 4]),
        ({"time_control": "300+3"}, [2]),
        ({"time_control": ["300+0", "180+2", "1+1"]}, [0, 3]),
        ({"time_control": "-"}, [1]),
        ({"result": "1-0"}, [0, 3, 4]),
        ({"result": ("0-1", "1/2-1/2")}, [1, 2]),
        ({"eco": "B20"}, [0]),
        ({"eco": "B2"}, [0]),
        ({"eco": "B"}, [0, 1]),
        ({"eco": ("B20", "B99")}, [0, 1]),
        ({"eco": ("B", "C")}, [0, 1, 2]),
        ({"eco": (None, "B20")}, [0, 4]),
        ({"eco": (None, None)}, [0, 1, 2, 4]),
        ({"eco": ["A25", ("C00", "E99")]}, [2, 4]),
        ({"date": "2024-01-01"}, [0]),
        ({"date": datetime.date(2024, 1, 2)}, [1]),
        ({"date": ("2024-01-02", datetime.date(2024, 2, 1))}, [1, 2]),
        ({"date": (None, "2024-12-31")}, [0, 1, 2, 4]),
        ({"date": {"2024-01-01", "2024-02-02"}}, [0, 4]),
        ({"result": "1-0", "eco": (None, None), "white_elo": (1000, None)}, [0]),
    ],
)
def test_games_are_chosen_by_values_ranges_and_lists_of_them(packs, asked, games):
    assert chosen(packs.where(**asked)) == games


@pytest.mark.parametrize(
    "asked",
    [
        {"white_elo": "1500"},
        {"white_elo": 1500.0},
        {"white_elo": True},
        {"white_elo": (1500, 1600, 1700)},
        {"white_elo": (1600, 1500)},
        {"white_elo": [1500, None]},
        {"base_seconds": -1},
        {"eco": "F00"},
        {"eco": "b20"},
        {"eco": "B200"},
        {"eco": 120},
        {"eco": ("C", "B")},
        {"result": "2-0"},
        {"result": 1},
        {"time_control": "300"},
        {"time_control": "300 + 3"},
        {"time_control": ("300+3", 5)},
        {"date": "2024-02-30"},
        {"date": "yesterday"},
        {"date": 19723},
        {"date": "1969-12-31"},
        {"date": ("2024-02-01", "2024-01-01")},
    ],
)
def test_a_value_that_no_game_can_have_is_refused_with_its_name(packs, asked):
    with pytest.raises(ChoiceError, match=rf"^{next(iter(asked))} .*(allowed|lowest|from)"):
        packs.where(**asked)


def test_a_column_that_there_is_not_is_refused(packs, tmp_path):
    with pytest.raises(TypeError, match=r"no keyword rating; allowed are white_elo, .*, date$"):
        packs.where(rating=1500)
    with pytest.raises(TypeError, match=r"no keyword utc_date; .*, date; the column utc_date is asked for by date"):
        packs.where(utc_date="2024-01-01")
    bare = open_packs(write_month(tmp_path / "2024-01", [[1, 9, 2]]))
    with pytest.raises(NoColumnError, match=r"2024-01: has no column eco, only ids"):
        bare.where(eco="B")
    with pytest.raises(NoColumnError, match=r"has no column white_elo"):
        bare.where(lambda columns: columns["white_elo"] > 0)
    with pytest.raises(NoColumnError, match=r"2024-01: have no column in common"):
        bare.where(lambda columns: next(iter(columns.values())) > 0)
    with pytest.raises(NoColumnError, match=r"2024-01: have no column in common"):
        bare.where(lambda columns: columns[list(columns)[0]] > 0)  # noqa: RUF015


def test_games_are_chosen_by_one_bool_for_each_chosen_game(packs):
    some = packs.where(np.array([True, False, True, True, True]))
    assert chosen(some) == [0, 2, 3, 4]
    assert chosen(some.where([False, True, True, False])) == [2, 3]
    assert chosen(some.where(some.column("white_elo") >= 2000)) == [2, 3]
    assert chosen(some.where([True, True, False, True], eco=(None, None))) == [0, 2, 4]


@pytest.mark.parametrize("answers", [[True] * 4, [1, 0, 1, 0, 1], [0, 2], True, [[True] * 5]])
def test_answers_that_are_not_one_bool_a_chosen_game_are_refused(packs, answers):
    with pytest.raises(ChoiceError, match=r"allowed is one bool for each of the 5 chosen games"):
        packs.where(np.array(answers))
    with pytest.raises(ChoiceError, match=r"allowed is one bool for each of the 5 chosen games"):
        packs.where(lambda columns: np.array(answers))


def test_a_function_is_asked_about_the_columns_of_the_chosen_games(packs):
    even = packs.where(lambda columns: abs(columns["white_elo"] - columns["black_elo"]) <= 100)
    assert chosen(even) == [0, 1, 2, 3, 4]
    seen = []

    def keep(columns):
        seen.append({name: columns[name].tolist() for name in columns})
        assert len(columns) == 9
        assert "eco" in columns
        assert "rating" not in columns
        return columns["n_plies"] > 30

    assert chosen(packs.where(result=["1-0", "0-1"]).where(keep)) == [3, 4]
    assert [part["white_elo"] for part in seen] == [[1500, 2000, 2100, 900]]


def test_places_among_the_chosen_games_are_taken_as_by_a_slice(packs):
    scattered = packs.where(result=["1-0", "0-1"])
    for whole in (packs, scattered, packs.games(slice(1, 4))):
        games = chosen(whole)
        for begin in (None, 0, 1, 2, 5, 9, -1, -3):
            for end in (None, 0, 1, 3, 5, 9, -1):
                for step in (None, 1, 2, 3):
                    taken = whole.games(slice(begin, end, step))
                    assert chosen(taken) == games[begin:end:step]
                    assert taken.n_games == len(games[begin:end:step])
    with pytest.raises(ChoiceError, match="the step is -1"):
        packs.games(slice(None, None, -1))


def test_consecutive_games_are_a_range_whichever_way_they_were_chosen(packs):
    middle = [
        packs.games(slice(1, 4)),
        packs.where(white_elo=(1600, None)),
        packs.where([False, True, True, True, False]),
    ]
    assert {part.token_range for part in middle} == {(3, 12)}
    assert {part.n_tokens for part in middle} == {9}
    assert len({part.fingerprint for part in middle}) == 1
    assert all(isinstance(part.choice, GameRange) for part in middle)
    scattered = packs.where(result="1-0")
    assert scattered.token_range is None
    assert scattered.n_tokens == 9
    nothing = packs.where(white_elo=3000)
    assert (nothing.n_games, nothing.n_tokens, nothing.token_range, chosen(nothing)) == (0, 0, (0, 0), [])
    assert nothing.where(result="1-0").n_games == nothing.games(slice(None)).n_games == 0
    assert nothing.column("eco").size == 0


def test_the_same_scattered_games_have_one_fingerprint_and_others_another(packs):
    one = packs.where(result="1-0")
    other = packs.games(slice(0, None)).where(np.array([True, False, False, True, True]))
    assert one.fingerprint == other.fingerprint
    assert one.fingerprint != packs.where(result=["1-0", "0-1"]).fingerprint


def test_a_choice_changes_neither_what_it_was_chosen_from_nor_the_stream(packs):
    before = packs.fingerprint
    some = packs.where(result="1-0")
    assert packs.fingerprint == before
    assert chosen(packs) == [0, 1, 2, 3, 4]
    assert some.starts_of(some.select([0, 1, 2])).tolist() == [0, 9, 12]
    assert some.column("white_elo").tolist() == [1500, 2100, 900]


def test_scattered_games_pickle_as_one_bit_a_game(packs):
    some = packs.where(result="1-0")
    pickled = pickle.dumps(some)
    again = pickle.loads(pickled)
    assert len(pickled) < 1000
    assert (chosen(again), again.fingerprint) == (chosen(some), some.fingerprint)


def bitmap(answers, begin=0, piece=1 << 20):
    builder = ChoiceBuilder(begin, begin + len(answers))
    low = begin
    while low < begin + len(answers):
        high = min(low // piece * piece + piece, begin + len(answers))
        builder.append(answers[low - begin : high - begin])
        low = high
    return builder.finish()


@settings(max_examples=80, deadline=None)
@given(
    begin=st.integers(0, 3000),
    count=st.integers(1, 4000),
    share=st.sampled_from([0.001, 0.02, 0.5, 0.99, 1.0]),
    seed=st.integers(0, 999),
    piece=st.sampled_from([8, 512, 1024, 1 << 20]),
)
def test_the_kth_chosen_game_and_whether_a_game_is_chosen_are_what_the_answers_say(begin, count, share, seed, piece):
    answers = np.random.default_rng(seed).random(count) < share
    games = np.flatnonzero(answers) + begin
    choice = bitmap(answers, begin, piece)
    assert choice.count == games.size
    assert choice.select(np.arange(games.size)).tolist() == games.tolist()
    backwards = np.arange(games.size)[::-1]
    assert choice.select(backwards).tolist() == games[::-1].tolist()
    if games.size:
        assert (choice.begin, choice.end) == (games[0], games[-1] + 1)
    for low, high in ((begin, begin + count), (0, begin + count + 700), (begin + count // 3, begin + count // 2)):
        assert (np.flatnonzero(choice.mask(low, high)) + low).tolist() == games[
            (games >= low) & (games < high)
        ].tolist()


@pytest.mark.parametrize("begin", [0, 2**31, 2**32, 2**40 + 5])
def test_scattered_games_far_up_the_stream_are_found(begin):
    answers = np.zeros(5000, np.bool_)
    answers[[0, 1, 63, 64, 511, 512, 3000, 4999]] = True
    choice = bitmap(answers, begin)
    assert isinstance(choice, GameBitmap)
    assert choice.select(np.arange(8)).tolist() == [begin + at for at in (0, 1, 63, 64, 511, 512, 3000, 4999)]


def test_a_bitmap_keeps_one_bit_a_game_and_three_eighths_for_its_index():
    answers = np.random.default_rng(0).random(1_000_000) < 0.3
    choice = bitmap(answers)
    kept = sum(value.nbytes for value in vars(choice).values() if isinstance(value, np.ndarray) and value.base is None)
    assert kept <= 1_000_000 / 8 * 1.375 + 500


def test_choosing_goes_through_the_months_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "CHUNK", 1024)
    rng = np.random.default_rng(3)
    ratings = [rng.integers(600, 3200, count) for count in (700, 2500, 0, 3000)]
    for month, values in enumerate(ratings):
        write_short_games(tmp_path / f"2024-{month + 1:02}", {"white_elo": values})
    whole = np.concatenate(ratings)
    packs = open_packs(tmp_path)
    sizes = []

    def odd(columns):
        sizes.append(columns["white_elo"].size)
        return columns["white_elo"] % 2 == 1

    strong = packs.where(white_elo=(1800, None))
    assert chosen(strong) == np.flatnonzero(whole >= 1800).tolist()
    assert strong.column("white_elo").tolist() == whole[whole >= 1800].tolist()
    assert strong.n_tokens == 3 * strong.n_games
    assert chosen(strong.where(odd)) == np.flatnonzero((whole >= 1800) & (whole % 2 == 1)).tolist()
    assert sum(sizes) == strong.n_games
    assert max(sizes) <= 1024
    every_third = strong.where(np.arange(strong.n_games) % 3 == 0)
    assert chosen(every_third) == chosen(strong)[::3] == chosen(strong.games(slice(None, None, 3)))
    assert chosen(packs.games(slice(501, None)).where(odd)) == (np.flatnonzero(whole[501:] % 2 == 1) + 501).tolist()


def test_choosing_from_the_last_month_of_all_of_lichess_looks_at_that_month_alone(tmp_path):
    write_sparse_archive(tmp_path / "uci", months=160, n_games=42_500_000, n_tokens=3_375_000_000)
    packs = open_packs(tmp_path / "uci").games(slice(6_799_000_000, None))
    last = packs.where(white_elo=1)
    assert chosen(last) == [6_799_999_999]
    assert last.token_range == (539_999_999_920, 540_000_000_000)


@pytest.fixture(scope="module")
def headers(shared_data):
    """The tags of real games, one dictionary a game."""
    text = (shared_data / "lichess-2021-10-head.pgn").read_text("utf-8")
    return [dict(re.findall(r'^\[(\w+) "(.*)"\]$', game, re.MULTILINE)) for game in text.split("[Event ")[1:]]


def columns_of(headers):
    def seconds(number):
        return [-1 if tags["TimeControl"] == "-" else int(tags["TimeControl"].split("+")[number]) for tags in headers]

    return {
        "white_elo": [int(tags["WhiteElo"]) for tags in headers],
        "black_elo": [int(tags["BlackElo"]) for tags in headers],
        "result": [{"1-0": 1, "0-1": -1}.get(tags["Result"], 0) for tags in headers],
        "base_seconds": seconds(0),
        "increment_seconds": seconds(1),
        "utc_date": [
            (datetime.date.fromisoformat(tags["UTCDate"].replace(".", "-")) - datetime.date(1970, 1, 1)).days
            for tags in headers
        ],
        "eco": [
            -1 if tags["ECO"] == "?" else "ABCDE".index(tags["ECO"][0]) * 100 + int(tags["ECO"][1:]) for tags in headers
        ],
    }


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ({"eco": "B"}, lambda tags: tags["ECO"].startswith("B")),
        ({"eco": ("C20", "D05")}, lambda tags: "C20" <= tags["ECO"] <= "D05"),
        ({"time_control": ["180+0", "300+3"]}, lambda tags: tags["TimeControl"] in ("180+0", "300+3")),
        (
            {"base_seconds": (None, 60)},
            lambda tags: tags["TimeControl"][:3] in ("60+", "30+", "15+", "0+1", "0+2", "45+"),
        ),
        ({"result": "0-1"}, lambda tags: tags["Result"] == "0-1"),
        (
            {"white_elo": (1800, 2199), "black_elo": (1800, 2199)},
            lambda tags: all(1800 <= int(tags[name]) <= 2199 for name in ("WhiteElo", "BlackElo")),
        ),
        ({"date": "2021-10-01"}, lambda tags: tags["UTCDate"] == "2021.10.01"),
    ],
)
def test_real_games_are_chosen_as_their_tags_say(headers, tmp_path, asked, holds):
    packs = open_packs(write_short_games(tmp_path / "2021-10", columns_of(headers)))
    expected = [number for number, tags in enumerate(headers) if holds(tags)]
    assert chosen(packs.where(**asked)) == expected
    assert len(expected) > 0
