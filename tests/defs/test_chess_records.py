"""The assets of chess records: what a run leaves of each, and when one is skipped, kept or refused."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from lakes import lake, resource_config, work_of, write_pgn
from months import MONTH, pgn

from rukh_assets.definitions import defs
from rukh_assets.errors import EmptyCorpusError

CHAIN = ["games", *(f"records/chess/{kind}" for kind in ("seq", "sft", "grpo", "dpo"))]
ANALYSED = "1. e4 { [%%eval 0.3] } 1... %s { [%%eval %s] } 2. Nf3 { [%%eval 0.2] } 1-0"


def run(home: Path, *, select: list[str] = CHAIN, ops: dict[str, Any] | None = None, **settings: Any) -> Any:
    return defs.resolve_job_def("records").execute_in_process(
        partition_key=MONTH,
        asset_selection=[dg.AssetKey.from_user_string(key) for key in select],
        run_config={"resources": resource_config(home, **settings), "ops": ops or {}},
    )


def outcomes_of(result: Any) -> dict[str, str]:
    """What skipped assets said."""
    return {
        event.asset_key.to_user_string(): str(event.event_specific_data.asset_observation.metadata["outcome"].value)
        for event in result.all_events
        if event.event_type_value == "ASSET_OBSERVATION"
    }


def write_month(home: Path, *movetexts: str) -> str:
    games = [pgn(text, Site=f"https://lichess.org/game{number:04d}") for number, text in enumerate(movetexts)]
    (home / f"{MONTH}.pgn").write_text("\n".join(games))
    return str(home / "{year}-{month}.pgn")


def short_games(home: Path, *movetexts: str) -> dict[str, Any]:
    return {"source": write_month(home, *movetexts), "filters": {"min_plies": 2}}


def test_a_month_with_evaluations_gives_groups_and_pairs_and_a_second_run_does_no_work(tmp_path: Path) -> None:
    settings = short_games(tmp_path, ANALYSED % ("e5", "0.3"), ANALYSED % ("f6", "1.3"))
    first, second = run(tmp_path, **settings), run(tmp_path, **settings)
    assert work_of(first) == dict.fromkeys(CHAIN, "built")
    assert all(work.startswith("unchanged") for work in work_of(second).values())
    [shown] = [
        event.materialization.metadata
        for event in first.get_asset_materialization_events()
        if event.asset_key.to_user_string() == "records/chess/dpo"
    ]
    assert (shown["groups"].value, shown["dagster/partition_row_count"].value) == (1, 1)
    assert shown["evaluation"].value == "%eval"
    assert '"rejected": [{"role": "user", "content": "<w1900> <b2000> e2e4"}' in shown["first record"].value


def test_without_evaluations_groups_and_pairs_are_skipped_and_say_why(tmp_path: Path) -> None:
    write_pgn(tmp_path / f"{MONTH}.pgn", MONTH, games=12)
    result = run(tmp_path, source=str(tmp_path / "{year}-{month}.pgn"))
    assert set(work_of(result)) == {"games", "records/chess/seq", "records/chess/sft"}
    assert "evaluated_games 0" in outcomes_of(result)["records/chess/grpo"]
    alone = run(tmp_path, select=["records/chess/dpo"])
    assert "there are no groups in" in outcomes_of(alone)["records/chess/dpo"]


def test_groups_of_a_raw_month_that_is_gone_are_skipped(tmp_path: Path) -> None:
    settings = short_games(tmp_path, ANALYSED % ("e5", "0.3"), ANALYSED % ("f6", "1.3"))
    run(tmp_path, **settings)
    (tmp_path / f"{MONTH}.pgn").unlink()
    said = outcomes_of(run(tmp_path, select=["records/chess/grpo"], **settings))
    assert "the raw month is not there" in said["records/chess/grpo"]


def test_records_of_other_games_are_not_left_in_silence(tmp_path: Path) -> None:
    run(tmp_path, **short_games(tmp_path, ANALYSED % ("e5", "0.3"), ANALYSED % ("f6", "1.3")))
    with pytest.raises(EmptyCorpusError, match="chess_grpo 2024-01: no record can be made"):
        run(tmp_path, **short_games(tmp_path, "1. e4 e5 1-0"))


def test_settings_of_the_launchpad_reach_the_records(tmp_path: Path) -> None:
    ops = {"records__chess__sft": {"config": {"side": "black"}}}
    run(tmp_path, **short_games(tmp_path, "1. e4 e5 1-0"), ops=ops)
    lines = (lake(tmp_path).raw_corpus_month("chess_sft", MONTH) / "part_0000.jsonl").read_text()
    assert '{"role": "assistant", "content": "e7e5"}' in lines
