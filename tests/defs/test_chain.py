"""The chain in process: what a month leaves, and what a second, a forced, a changed and a damaged one do."""

import json
from pathlib import Path

import dagster as dg
import numpy as np
import pytest
from lakes import lake, lake_tree, run_month, tree, work_of

from rukh_assets.defs.resources import default_workers
from rukh_assets.errors import WorkersError
from rukh_loaders.formats import open_pack

MONTH = "2025-01"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dg.ExecuteInProcessResult]:
    home = tmp_path_factory.mktemp("lake")
    return home, run_month(MONTH, home)


def checks_of(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    evaluations = result.get_asset_check_evaluations()
    return {f"{item.asset_key.to_user_string()}:{item.check_name}": item for item in evaluations}


def test_one_run_makes_the_whole_chain_and_every_check_passes(made: tuple[Path, dg.ExecuteInProcessResult]) -> None:
    home, result = made
    assert result.success
    assert set(work_of(result).values()) == {"built"}
    checks = checks_of(result)
    assert len(checks) == 12
    assert all(check.passed for check in checks.values())
    for scheme in ("uci", "san", "bpe"):
        pack = open_pack(lake(home).pack(scheme, MONTH))
        pack.verify()
        assert pack.info.n_games == len(pack.columns["game_id"])


def test_a_second_run_does_no_work_says_so_and_keeps_every_data_version(
    made: tuple[Path, dg.ExecuteInProcessResult],
) -> None:
    home, first = made
    inodes = {path: path.stat().st_ino for path in home.rglob("*") if path.is_file()}
    again = run_month(MONTH, home)
    assert all(work.startswith("none: ") for work in work_of(again).values())
    assert {path: path.stat().st_ino for path in home.rglob("*") if path.is_file()} == inodes

    def versions(result: dg.ExecuteInProcessResult) -> dict[str, str | None]:
        return {
            event.asset_key.to_user_string(): (event.materialization.tags or {}).get("dagster/data_version")
            for event in result.get_asset_materialization_events()
        }

    assert versions(again) == versions(first)
    assert all(versions(first).values())


def test_a_forced_run_gives_the_same_bytes(made: tuple[Path, dg.ExecuteInProcessResult]) -> None:
    home, _ = made
    before = lake_tree(home)
    names = ["games", *(f"{scheme}__{kind}" for scheme in ("uci", "san", "bpe") for kind in ("shards", "pack"))]
    names += ["tokenizer_stats", "parity_fixture"]
    forced = run_month(MONTH, home, ops={name: {"force": True} for name in names})
    work = work_of(forced)
    assert {name: work[name.replace("__", "/")] for name in names} == dict.fromkeys(names, "built")
    assert lake_tree(home) == before


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_workers_changes_no_byte(
    made: tuple[Path, dg.ExecuteInProcessResult], tmp_path: Path, workers: int
) -> None:
    home, _ = made
    select = ["games", "uci/shards", "uci/pack"]
    run_month(MONTH, tmp_path, select=select, workers=workers)
    found = lake_tree(tmp_path)
    assert len(found) > 10
    assert found == {name: sha256 for name, sha256 in lake_tree(home).items() if name in found}


@pytest.mark.parametrize(("text", "workers"), [("", None), ("1", 1), ("12", 12)])
def test_workers_can_be_set_in_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, workers: int | None) -> None:
    monkeypatch.setenv("RUKH_WORKERS", text)
    assert default_workers() == workers


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", " 2"])
def test_an_environment_without_a_number_of_workers_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RUKH_WORKERS", text)
    with pytest.raises(WorkersError, match="RUKH_WORKERS is "):
        default_workers()


def test_the_packs_hold_the_same_games_in_the_same_order_in_every_scheme(
    made: tuple[Path, dg.ExecuteInProcessResult],
) -> None:
    home, _ = made
    ids = [open_pack(lake(home).pack(scheme, MONTH)).columns["game_id"] for scheme in ("uci", "san", "bpe")]
    assert all(np.array_equal(ids[0], other) for other in ids[1:])


def test_other_filters_build_the_month_again_and_all_that_comes_of_it(tmp_path: Path) -> None:
    run_month(MONTH, tmp_path, select=["games", "uci/shards", "uci/pack"])
    before = open_pack(lake(tmp_path).pack("uci", MONTH)).info.n_games
    changed = run_month(
        MONTH, tmp_path, select=["games", "uci/shards", "uci/pack"], filters={"min_elo": None, "min_base_seconds": None}
    )
    assert set(work_of(changed).values()) == {"built"}
    assert open_pack(lake(tmp_path).pack("uci", MONTH)).info.n_games > before


def test_a_month_that_is_not_published_is_skipped_and_nothing_downstream_runs(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    source = str(tmp_path / "raw" / "{year}-{month}.pgn.zst")
    result = run_month(MONTH, tmp_path / "lake", source=source)
    assert result.success
    made = {event.asset_key.to_user_string() for event in result.get_asset_materialization_events()}
    assert made == {"vocab"}
    observed = [event for event in result.all_events if event.event_type_value == "ASSET_OBSERVATION"]
    assert "not published" in str(observed[0].event_specific_data)
    assert not lake(tmp_path / "lake").games(MONTH).exists()


@pytest.mark.parametrize("name", ["truncated-midframe.pgn.zst", "bitflip.pgn.zst"])
def test_a_damaged_dump_fails_the_month_names_the_file_and_leaves_nothing(
    name: str, shared_data: Path, tmp_path: Path
) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "2021-10.pgn.zst").write_bytes((shared_data / name).read_bytes())
    source = str(raw / "{year}-{month}.pgn.zst")
    result = run_month("2021-10", tmp_path / "lake", source=source, select=["games", "uci/shards"], check=False)
    assert not result.success
    assert "2021-10.pgn.zst" in str(result.failure_data_for_node("games"))
    assert tree(tmp_path / "lake") == {}


def test_a_tampered_pack_fails_its_blocking_check_and_stops_what_is_downstream(tmp_path: Path) -> None:
    run_month(MONTH, tmp_path)
    tokens = lake(tmp_path).pack("uci", MONTH) / "tokens.npy"
    damaged = bytearray(tokens.read_bytes())
    damaged[200] ^= 1
    tokens.write_bytes(damaged)
    result = run_month(MONTH, tmp_path, ops={"tokenizer_stats": {"force": True}}, check=False)
    check = checks_of(result)["uci/pack:stream_is_whole"]
    assert not check.passed
    assert "tokens.npy" in (check.description or "")
    assert "tokenizer_stats" not in work_of(result)


def test_a_raw_file_replaced_under_its_name_builds_the_month_again(shared_data: Path, tmp_path: Path) -> None:
    raw = tmp_path / "2021-10.pgn"
    text = (shared_data / "lichess-2021-10-head.pgn").read_text()
    games = text.split("\n\n[Event ")
    raw.write_text("\n\n[Event ".join(games[:400]) + "\n")
    source = str(tmp_path / "{year}-{month}.pgn")
    month = {"source": source, "select": ["games"]}
    assert work_of(run_month("2021-10", tmp_path / "lake", **month)) == {"games": "built"}
    assert work_of(run_month("2021-10", tmp_path / "lake", **month))["games"].startswith("none: ")
    raw.write_text(text)
    assert work_of(run_month("2021-10", tmp_path / "lake", **month)) == {"games": "built"}
    manifest = json.loads((lake(tmp_path / "lake").games("2021-10") / "manifest.json").read_bytes())
    assert manifest["counts"]["read"] == 999
