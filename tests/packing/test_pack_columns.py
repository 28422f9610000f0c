"""The games file's columns to numbers."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from corpora import batch_of, game_of

from rukh_assets.errors import NullValueError, TimeControlError, UnknownResultError
from rukh_assets.packing.columns import pack_columns
from rukh_loaders.formats import COLUMNS


def columns_of(*games, **kwargs):
    return pack_columns(pa.Table.from_batches([batch_of(games)]), **kwargs)


def test_every_column_has_its_dtype_and_one_value_a_game():
    columns = columns_of(game_of("e2e4"), game_of("e2e4 e7e5", "https://lichess.org/bbbbbbbb"))
    assert {name: values.dtype for name, values in columns.items()} == COLUMNS
    assert {values.shape for values in columns.values()} == {(2,)}
    assert columns["game_id"].tolist() == [
        game_of("", "https://lichess.org/aaaaaaaa")["game_id"],
        game_of("", "https://lichess.org/bbbbbbbb")["game_id"],
    ]
    assert columns["n_plies"].tolist() == [1, 2]


def test_a_table_without_games_gives_empty_columns_of_the_same_dtypes():
    assert {name: values.dtype for name, values in columns_of().items()} == COLUMNS


@pytest.mark.parametrize(("result", "code"), [("1-0", 1), ("1/2-1/2", 0), ("0-1", -1)])
def test_a_result_is_one_zero_or_minus_one(result, code):
    assert columns_of(game_of("e2e4", result=result))["result"].tolist() == [code]


@pytest.mark.parametrize(
    ("time_control", "base", "increment"),
    [("180+2", 180, 2), ("0+1", 0, 1), ("2147483647+32767", 2147483647, 32767), ("0060+007", 60, 7), ("-", -1, -1)],
)
def test_a_time_control_is_its_seconds_and_correspondence_is_minus_one(time_control, base, increment):
    columns = columns_of(game_of("e2e4", time_control=time_control))
    assert (columns["base_seconds"].tolist(), columns["increment_seconds"].tolist()) == ([base], [increment])


@pytest.mark.parametrize(
    "time_control",
    [
        "",
        "?",
        "180",
        "180+",
        "+2",
        "-1+2",
        "180+-2",
        "180 + 2",
        "180+2\n",
        "3m+2",
        "1/86400",
        "\u0661\u0668\u0660+\u0662",
    ],
)
def test_a_time_control_that_is_neither_is_refused_with_its_row(time_control):
    with pytest.raises(TimeControlError, match=r"games\.parquet, row 71: time_control"):
        columns_of(game_of("e2e4"), game_of("e2e4", time_control=time_control), file="games.parquet", first_row=70)


def test_the_first_row_with_a_text_that_is_refused_is_named_though_others_have_it_too():
    games = [game_of("e2e4", time_control=text) for text in ("60+0", "180+2", "60+0", "x", "180+2", "y", "x")]
    with pytest.raises(TimeControlError, match=r"games, row 3: time_control 'x'"):
        columns_of(*games)


def test_values_are_those_of_their_rows_where_texts_repeat():
    texts = ["60+0", "180+2", "-", "180+2", "60+0"]
    columns = columns_of(*(game_of("e2e4", time_control=text) for text in texts))
    assert columns["base_seconds"].tolist() == [60, 180, -1, 180, 60]
    assert columns["increment_seconds"].tolist() == [0, 2, -1, 2, 0]


@pytest.mark.parametrize("time_control", ["2147483648+0", "180+32768"])
def test_a_time_control_that_does_not_fit_its_dtype_is_refused(time_control):
    with pytest.raises(TimeControlError, match=r"at most 2147483647\+32767"):
        columns_of(game_of("e2e4", time_control=time_control))


@pytest.mark.parametrize(
    ("eco", "code"),
    [("A00", 0), ("A99", 99), ("B20", 120), ("E99", 499)]
    + [(unknown, -1) for unknown in ("?", "", "-", "F00", "a00", "A0", "A000", "A00/01", "A\u0660\u0660")],
)
def test_an_eco_counts_from_a00_and_any_other_text_is_unknown(eco, code):
    assert columns_of(game_of("e2e4", eco=eco))["eco"].tolist() == [code]


@pytest.mark.parametrize(
    ("date", "days"), [(datetime.date(1970, 1, 1), 0), (datetime.date(2021, 10, 31), 18931), (None, -1)]
)
def test_a_date_is_days_since_1970_and_an_unknown_one_minus_one(date, days):
    assert columns_of(game_of("e2e4", utc_date=date))["utc_date"].tolist() == [days]


@pytest.mark.parametrize("name", ["game_id", "white_elo", "black_elo", "n_plies", "result", "time_control", "eco"])
def test_a_null_elsewhere_is_refused_with_its_row(name):
    with pytest.raises(NullValueError, match=f"games, row 2: {name} is null"):
        columns_of(game_of("e2e4"), game_of("e2e4"), game_of("e2e4", **{name: None}))


def test_another_result_is_refused():
    with pytest.raises(UnknownResultError, match=r"games, row 0: result '\*'; allowed are 1-0, 1/2-1/2, 0-1"):
        columns_of(game_of("e2e4", result="*"))


def test_extreme_ratings_and_ids_keep_their_values():
    columns = columns_of(game_of("e2e4", game_id=-(2**63), white_elo=32767, black_elo=-1))
    assert [columns[name].tolist() for name in ("game_id", "white_elo", "black_elo")] == [[-(2**63)], [32767], [-1]]
    assert columns["game_id"].dtype == np.int64
