"""Results as JSON and as a table, and floors."""

import json
from pathlib import Path

import pytest

from benchmarks.corpora import Corpora
from benchmarks.measure import Timing, Work
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result, from_json, not_run, to_json, to_table, verdict

RESULTS = [
    Result("uci", "plain Python", games=20_000, games_per_s=67_600.0, tokens_per_s=5.4e6, ratio=1.0, peak_mb=12.0),
    Result("uci", "rukh", games=200_000, games_per_s=1.33e6, ratio=19.7, peak_mb=40.0, floor=">= 15x", met=True),
    Result("dagster", "its share", value=31.0, unit="%", floor="<= 20 %", met=False),
    Result("cores", "uci, 2 workers over 1", value=1.1, unit="x", floor=">= 1.6x", note="no second core was free"),
    not_run("movetext_head", "no real games"),
]


def plan(games: int) -> Plan:
    return Plan(Corpora(Path("nowhere")), games=games, rounds=1)


def test_json_is_a_list_of_objects_with_every_field_and_reads_back() -> None:
    objects = json.loads(to_json(RESULTS))
    assert all(
        {"stage", "variant", "games_per_s", "ratio", "peak_mb", "floor", "met"} <= item.keys() for item in objects
    )
    assert from_json(to_json(RESULTS)) == RESULTS


def test_the_table_has_a_line_a_result_and_stages_stand_apart() -> None:
    lines = to_table(RESULTS).splitlines()
    assert lines[0].split() == [
        "stage",
        "variant",
        "games/s",
        "tokens/s",
        "ratio",
        "peak",
        "MB",
        "figure",
        "floor",
        "met",
        "note",
    ]
    assert [line for line in lines if not line] == [""] * 4
    assert lines[3].split() == ["uci", "rukh", "1.33M", "19.7x", "40", ">=", "15x", "yes"]
    assert lines[5].split()[-4:] == ["<=", "20", "%", "NO"]
    assert lines[7].endswith("?  no second core was free")
    assert lines[-1].split()[:3] == ["movetext_head", "not", "run"]


def test_the_verdict_names_what_is_missed_and_what_is_not_judged() -> None:
    assert verdict(RESULTS) == "Floors: 1 of 3 met; missed: dagster; not judged: cores"


@pytest.mark.parametrize(
    ("floor", "figure", "met", "text"),
    [
        (Floor(least=15), 15.0, True, ">= 15x"),
        (Floor(least=15), 14.9, False, ">= 15x"),
        (Floor(most=1.2), 1.2, True, "<= 1.2x"),
        (Floor(most=1.2), 1.3, False, "<= 1.2x"),
    ],
)
def test_a_floor_is_met_at_its_very_value(floor: Floor, figure: float, met: bool, text: str) -> None:
    assert floor.met(figure) is met
    assert floor.text("x") == text


def test_ratios_are_over_the_first_variant_and_floors_are_judged_in_large_corpora_alone() -> None:
    timings = {
        "plain Python": Timing("plain Python", Work(100, 1_000), cpu_s=1.0, elapsed_s=1.0, peak_mb=None),
        "rukh": Timing("rukh", Work(4_000, 40_000), cpu_s=2.0, elapsed_s=2.0, peak_mb=None),
    }
    for games, met in ((200_000, True), (400, None)):
        plain, rukh = plan(games).compare("uci", timings, {"rukh": Floor(least=15)})
        assert (plain.ratio, plain.floor) == (1.0, None)
        assert (rukh.ratio, rukh.games_per_s, rukh.tokens_per_s) == (20.0, 2_000.0, 20_000.0)
        assert (rukh.floor, rukh.met) == (">= 15x", met)


def test_a_figure_is_judged_in_large_corpora_or_where_its_stage_says_that_it_can_tell() -> None:
    for games, can_tell, met in ((200_000, None, False), (200_000, False, None), (400, None, None), (400, True, False)):
        result = plan(games).figure("cores", "uci", 1.2, "x", Floor(least=1.6), can_tell=can_tell)
        assert (result.value, result.floor, result.met) == (1.2, ">= 1.6x", met)


def test_units_stand_apart_from_their_numbers_but_for_times_over() -> None:
    assert Floor(most=600).text("MB") == "<= 600 MB"
    assert Floor(least=200_000).text("") == ">= 200,000"
    assert Floor(least=1.5).text("x") == ">= 1.5x"
