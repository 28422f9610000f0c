"""Which reason each game that is not kept gets, and that its neighbours are unharmed."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from months import EVERYTHING, MONTH, judged, pgn, read, read_source, write_hf
from pydantic import ValidationError

from rukh_assets.errors import EmptyMonthError
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.game_ids import game_id
from rukh_assets.ingest.rejects import DETAIL_LENGTH

PLIES = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6"


def test_an_aborted_game_is_unfinished_and_never_illegal(tmp_path: Path) -> None:  # row 1
    game = pgn("*", Result="*", ECO="?", TimeControl="-", Termination="Abandoned")
    assert judged(tmp_path, game)["reason"] == "unfinished"


@pytest.mark.parametrize("result", ["*", None, "", "1/2", "0-1 ", "1\u20130"])
def test_a_result_that_is_none_of_the_three_is_unfinished(tmp_path: Path, result: str | None) -> None:  # row 1
    assert judged(tmp_path, pgn(f"{PLIES} *", Result=result))["reason"] == "unfinished"


@pytest.mark.parametrize("result", ["*", "1-0"])
def test_a_correspondence_game_that_stops_half_way_is_unfinished(tmp_path: Path, result: str) -> None:  # row 2
    game = pgn(f"{PLIES} {result}", Result=result, TimeControl="-", Termination="Unterminated")
    reject = judged(tmp_path, game)
    assert (reject["reason"], reject["detail"]) == ("unfinished", f"result {result!r}, termination 'Unterminated'")


@pytest.mark.parametrize("token", ["0-1", "1/2-1/2", "*"])
def test_a_result_that_the_movetext_contradicts_is_a_conflict(tmp_path: Path, token: str) -> None:  # row 3
    reject = judged(tmp_path, pgn(f"{PLIES} {token}", Result="1-0"))
    assert (reject["reason"], token in reject["detail"], "1-0" in reject["detail"]) == ("result_conflict", True, True)


def test_glyphs_and_numbers_do_not_change_the_bytes_of_the_month(tmp_path: Path) -> None:  # rows 4 and 5
    spellings = [
        "1. e4?? { [%clk 0:03:00] } e5 2. Nf3+?! Nf6 3. Be2 Be7 4. O-O!? 1-0",
        "1. e4 { [%clk 0:03:00] } 1... e5 2. Nf3 2... Nf6 3. Be2 3... Be7 4. O-O 1-0",
        "1.e4 e5 2.Nf3 Nf6 3.Be2 Be7 4.0-0 1-0",
    ]
    records = [read(tmp_path, pgn(spelling)).manifest["files"]["games.parquet"] for spelling in spellings]
    assert records[0] == records[1] == records[2]


def test_castling_after_a_king_move_is_reported_with_ply_and_site(tmp_path: Path) -> None:  # row 6
    game = pgn("1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. Kf1 O-O 5. Ke1 d6 6. O-O 1-0", Site="https://lichess.org/castles0")
    reject = judged(tmp_path, game)
    assert (reject["reason"], reject["ply"], reject["site"]) == ("illegal", 11, "https://lichess.org/castles0")
    assert (reject["number"], reject["file"], reject["game_id"]) == (1, f"{MONTH}.pgn", game_id(reject["site"]))
    assert reject["detail"].startswith("illegal san: 'O-O' in ")


@pytest.mark.parametrize(
    ("movetext", "ply"),
    [
        ("1. f3 e5 2. g4 Qh4# 3. a3 1-0", 5),  # row 7
        ("1. e4 e5 2. Ke3 d6 1-0", 3),  # row 8
        ("1. e4 -- 1-0", 2),  # row 9
        ("1. e4 Z0 1-0", 2),  # row 9
        ("1. e4 0000 1-0", 2),  # row 9
        ("1. e4 @@@@ 1-0", 2),  # row 9
        ("1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. Kg1 1-0", 7),  # row 10
    ],
)
def test_an_illegal_game_is_rejected_whole(tmp_path: Path, movetext: str, ply: int) -> None:
    reject = judged(tmp_path, pgn(movetext))
    assert (reject["reason"], reject["ply"]) == ("illegal", ply)


def test_a_shortened_unfinished_game_is_not_kept_either(tmp_path: Path) -> None:  # row 8
    assert judged(tmp_path, pgn("1. e4 e5 2. Ke3 d6 *", Result="*"))["reason"] == "unfinished"


@pytest.mark.parametrize(("castles", "uci"), [("0-0", "e1g1"), ("O-O", "e1g1")])
def test_zeros_castle(tmp_path: Path, castles: str, uci: str) -> None:  # row 10
    assert judged(tmp_path, pgn(f"1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. {castles} 1-0"))["uci"].endswith(uci)


@pytest.mark.parametrize(
    "tags",
    [
        {"Variant": "Crazyhouse"},
        {"Variant": "Chess960"},
        {"Variant": "From Position"},
        {"Event": "Rated Chess960 game"},
        {"FEN": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"},
        {"FEN": "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"},
        {"SetUp": "1"},
    ],
)
def test_another_variant_or_position_is_not_standard(tmp_path: Path, tags: dict[str, str]) -> None:  # row 11
    reject = judged(tmp_path, pgn("1. e4 e5 2. Ke3 1-0", **tags))
    assert (reject["reason"], reject["ply"]) == ("not_standard", None)


def test_a_drop_is_not_standard_even_after_an_illegal_move(tmp_path: Path) -> None:  # row 11
    reject = judged(tmp_path, pgn("1. e4 e5 2. Ke3 N@f3 1-0"))
    assert (reject["reason"], reject["ply"], reject["detail"]) == ("not_standard", 4, "drop 'N@f3'")


@pytest.mark.parametrize("variant", ["Standard", "standard", "", None])
def test_standard_chess_said_or_not_is_kept(tmp_path: Path, variant: str | None) -> None:  # row 11
    assert judged(tmp_path, pgn("1. e4 e5 1-0", Variant=variant))["uci"] == "e2e4 e7e5"


def test_variants_that_no_tag_tells_of_are_each_rejected_by_id_and_the_batch_goes_on(tmp_path: Path) -> None:  # row 12
    variants = range(3, 3 + 11 * 129, 11)
    atomic = "1. Nf3 f6 2. Nd4 e5 3. Nxd8 1-0"
    texts = [pgn(atomic if n in variants else "1. e4 e5 1-0", Site=f"https://lichess.org/{n:08}") for n in range(1464)]
    month = read(tmp_path, "\n".join(texts))
    assert month.rejected == {"illegal": 129}
    assert month.manifest["counts"]["kept"] == 1464 - 129
    assert [(reject["number"], reject["ply"]) for reject in month.rejects] == [(3 + 11 * n, 5) for n in range(20)]
    assert month.rejects[1]["game_id"] == game_id("https://lichess.org/00000014")


def test_movetext_of_a_result_only_is_rejected_for_length(tmp_path: Path) -> None:  # row 14
    reject = judged(tmp_path, pgn(" 0-1", Result="0-1"))
    assert (reject["reason"], reject["detail"]) == ("length", "0 plies")


def test_a_variation_before_the_game_gives_the_main_line(tmp_path: Path) -> None:  # row 15
    assert judged(tmp_path, pgn("(1. d4 d5) 1. e4 e5 1-0"))["uci"] == "e2e4 e7e5"


def test_leftovers_of_nested_braces_make_the_game_malformed(tmp_path: Path) -> None:  # row 16
    reject = judged(tmp_path, pgn("1. e4 {a {b} c} e5 1-0"))
    assert (reject["reason"], "at 14" in reject["detail"]) == ("malformed", True)


def test_semicolons_in_braces_and_comments_after_the_last_move_are_skipped(tmp_path: Path) -> None:  # row 16
    game = pgn("1. e4 {a ; b} (1. d4 (1. c4 c5) d5) e5 {one} {two} ; three\n(1... c5) 1-0")
    assert judged(tmp_path, game)["uci"] == "e2e4 e7e5"


@pytest.mark.parametrize("side", ["WhiteElo", "BlackElo"])
@pytest.mark.parametrize(
    "elo", ["?", "", None, "1500?", "unknown", "-1", "+1500", "1 500", "15e2", "99999", "\u0661500"]
)
def test_a_rating_that_is_no_plain_number_is_no_rating(tmp_path: Path, side: str, elo: str | None) -> None:  # row 21
    tags: dict[str, str | None] = {side: elo}
    assert judged(tmp_path, pgn("1. e4 e5 1-0", **tags))["reason"] == "no_rating"


def test_a_null_rating_of_a_parquet_file_is_no_rating(tmp_path: Path) -> None:  # row 21
    rows = [hf_row(number, WhiteElo=elo) for number, elo in enumerate([None, 1900, -5, 0])]
    write_hf(tmp_path / f"{MONTH}.parquet", rows)
    month = read_source(tmp_path, str(tmp_path / "{year}-{month}.parquet"))
    assert month.rejected == {"no_rating": 2}
    assert [game["white_elo"] for game in month.games] == [1900, 0]


@pytest.mark.parametrize("title", ["BOT", "bot", "Bot"])
@pytest.mark.parametrize("side", ["WhiteTitle", "BlackTitle"])
def test_bots_go_by_their_title_in_any_case(tmp_path: Path, side: str, title: str) -> None:  # row 22
    assert judged(tmp_path, pgn("1. e4 e5 1-0", **{side: title}))["reason"] == "bot"
    everyone = EVERYTHING.model_copy(update={"exclude_bots": False})
    assert judged(tmp_path, pgn("1. e4 e5 1-0", **{side: title}), everyone)["uci"] == "e2e4 e7e5"


def test_a_title_that_is_not_bot_and_a_name_that_is_are_human(tmp_path: Path) -> None:  # row 22
    assert "uci" in judged(tmp_path, pgn("1. e4 e5 1-0", WhiteTitle="GM", BlackTitle=None, White="BOT"))


def test_the_same_site_is_kept_once_and_the_first_one_stands(tmp_path: Path) -> None:  # row 23
    texts = [pgn(f"1. {move} e5 1-0", Site="https://lichess.org/same0000") for move in ("Ke2", "e4", "d4", "c4")]
    month = read(tmp_path, "\n".join([*texts, pgn("1. f4 1-0")]))
    assert month.moves == ["e2e4 e7e5", "f2f4"]
    assert month.rejected == {"illegal": 1, "duplicate": 2}
    assert [reject["number"] for reject in month.rejects] == [0, 2, 3]


def test_the_same_site_in_two_files_is_kept_once_from_the_first_by_natural_order(tmp_path: Path) -> None:  # row 23
    for number in (10, 9):
        rows = [hf_row(0, movetext=f"1. {'e4' if number == 9 else 'd4'} e5"), hf_row(number)]
        write_hf(tmp_path / "2024" / "01" / f"part-{number}.parquet", rows)
    month = read_source(tmp_path, str(tmp_path / "{year}" / "{month}" / "part-*.parquet"))
    assert month.moves == ["e2e4 e7e5", "e2e4 e7e5", "e2e4 e7e5"]
    assert [(reject["file"], reject["reason"]) for reject in month.rejects] == [("part-10.parquet", "duplicate")]


def test_equal_short_games_of_other_ids_are_no_duplicates(tmp_path: Path) -> None:  # row 24
    texts = [pgn(movetext, Site=str(n)) for n, movetext in enumerate(["1-0", "1-0", "1. e4 1-0", "1. e4 1-0"])]
    month = read(tmp_path, "\n".join(texts))
    assert (month.rejected, month.moves) == ({"length": 2}, ["e2e4", "e2e4"])


def test_a_word_of_a_megabyte_is_reported_short(tmp_path: Path) -> None:
    reject = judged(tmp_path, pgn(f"1. {'e4' * 2**19} 1-0"))
    assert (reject["reason"], reject["ply"], len(reject["detail"])) == ("illegal", 1, DETAIL_LENGTH)


@pytest.mark.parametrize("site", [None, "", "?"])
def test_a_game_without_a_site_has_no_id_and_is_not_kept(tmp_path: Path, site: str | None) -> None:
    assert judged(tmp_path, pgn("1. e4 e5 1-0", Site=site))["reason"] == "no_site"


@pytest.mark.parametrize(
    ("filters", "tags", "reason"),
    [
        ({"min_elo": 1901}, {}, "rating"),
        ({"min_elo": 1900}, {}, None),
        ({"max_elo": 1999}, {}, "rating"),
        ({"max_elo": 2000}, {}, None),
        ({"min_base_seconds": 301}, {}, "time_control"),
        ({"min_base_seconds": 300}, {}, None),
        ({"min_base_seconds": 0}, {"TimeControl": "-"}, "time_control"),
        ({"min_base_seconds": None}, {"TimeControl": "-"}, None),
        ({"min_base_seconds": None}, {"TimeControl": "?"}, "time_control"),
        ({"min_base_seconds": None}, {"TimeControl": ""}, "time_control"),
        ({"min_base_seconds": None}, {"TimeControl": None}, "time_control"),
        ({"min_base_seconds": None}, {"TimeControl": "300"}, "time_control"),
        ({"min_base_seconds": None}, {"TimeControl": "300+99999"}, "time_control"),
        ({"terminations": ("Time forfeit",)}, {}, "termination"),
        ({"terminations": ("Time forfeit", "Normal")}, {}, None),
        ({"terminations": ("Normal",)}, {"Termination": None}, "termination"),
        ({"terminations": None}, {"Termination": None}, None),
        ({"min_plies": 3}, {}, "length"),
        ({"max_plies": 1}, {}, "length"),
        ({"min_plies": 2, "max_plies": 2}, {}, None),
        ({}, {"White": "Same", "Black": "same"}, "same_player"),
        ({}, {"White": "?", "Black": "?"}, None),
        ({"exclude_same_player": False}, {"White": "Same", "Black": "same"}, None),
        ({"rated": "casual"}, {}, "rated"),
        ({"rated": "rated"}, {}, None),
        ({"rated": "rated"}, {"Event": "Casual Blitz game"}, "rated"),
        ({"rated": "casual"}, {"Event": "Casual Blitz game"}, None),
        ({"rated": "rated"}, {"Event": "?"}, "rated"),
    ],
)
def test_each_filter_takes_what_it_says_and_is_counted(
    tmp_path: Path, filters: dict[str, Any], tags: dict[str, str | None], reason: str | None
) -> None:
    text = pgn("1. e4 e5 1-0", **tags)
    settings = EVERYTHING.model_copy(update=filters)
    if reason is None:
        assert read(tmp_path, text, settings).moves == ["e2e4 e7e5"]
        return
    with pytest.raises(EmptyMonthError) as error:
        read(tmp_path, text, settings)
    assert {name: count for name, count in error.value.rejected.items() if count} == {reason: 1}
    assert f"{reason} 1" in str(error.value)


def test_the_default_filters_are_those_of_a_strong_and_slow_month() -> None:
    assert Filters().model_dump() == {
        "min_elo": 1800,
        "max_elo": None,
        "min_base_seconds": 180,
        "terminations": ("Normal", "Time forfeit"),
        "min_plies": 20,
        "max_plies": 300,
        "exclude_bots": True,
        "exclude_same_player": True,
        "rated": "any",
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"min_elo": 2000, "max_elo": 1999},
        {"min_plies": 21, "max_plies": 20},
        {"min_plies": 0},
        {"min_elo": -1},
        {"min_elo": "1800"},
        {"min_elo": 1800.0},
        {"max_plies": 40_000},
        {"terminations": ()},
        {"terminations": "Normal"},
        {"rated": True},
        {"exclude_bots": 1},
        {"minimum_elo": 1800},
    ],
)
def test_filters_that_cannot_be_meant_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Filters(**settings)


def test_the_first_reason_in_their_order_is_the_reason(tmp_path: Path) -> None:
    faults: list[tuple[str, dict[str, str]]] = [
        ("not_standard", {"Variant": "Atomic"}),
        ("unfinished", {"Result": "*"}),
        ("no_rating", {"WhiteElo": "?"}),
        ("no_site", {"Site": "?"}),
        ("rating", {"BlackElo": "900"}),
        ("time_control", {"TimeControl": "60+0"}),
        ("termination", {"Termination": "Abandoned"}),
        ("bot", {"WhiteTitle": "BOT"}),
        ("same_player", {"White": "black"}),
        ("rated", {"Event": "Casual game"}),
    ]
    filters = Filters(min_plies=1, rated="rated")
    for (reason, tags), (_, later) in itertools.combinations(faults, 2):
        assert judged(tmp_path, pgn("1. e4 Ke7 e4", **(later | tags)), filters)["reason"] == reason


def hf_row(number: int, **columns: Any) -> dict[str, Any]:
    row = {
        "Event": "Rated Blitz game",
        "Site": f"https://lichess.org/{number:08}",
        "White": "white",
        "Black": "black",
        "Result": "1-0",
        "WhiteElo": 1900,
        "BlackElo": 2000,
        "Termination": "Normal",
        "TimeControl": "300+3",
        "movetext": "1. e4 e5",
    }
    return row | columns
