"""The chain in process: what a month leaves, and what a second, a forced, a changed and a damaged one do."""

import json
from pathlib import Path

import dagster as dg
import numpy as np
import pytest
from lakes import HEAD_FORMS, lake, lake_tree, run_month, tree, work_of

from rukh_assets.defs.resources import default_filters, default_workers
from rukh_assets.errors import SettingError, WorkersError
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats import open_pack, read_manifest

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
    assert all(work.startswith("unchanged: ") for work in work_of(again).values())
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
    assert work_of(run_month("2021-10", tmp_path / "lake", **month))["games"].startswith("unchanged: ")
    raw.write_text(text)
    assert work_of(run_month("2021-10", tmp_path / "lake", **month)) == {"games": "built"}
    manifest = json.loads((lake(tmp_path / "lake").games("2021-10") / "manifest.json").read_bytes())
    assert manifest["counts"]["read"] == 999


def test_starts_damaged_in_a_standing_pack_are_named_and_not_counted(tmp_path: Path) -> None:
    run_month(MONTH, tmp_path)
    starts = lake(tmp_path).pack("uci", MONTH) / "starts.npy"
    values = np.load(starts)
    values[1:-1] = -5
    np.save(starts, values)
    result = run_month(MONTH, tmp_path, select=["uci/pack"], check=False)
    assert not result.success
    assert "starts.npy: game 0 starts at 0 and the next at -5" in str(result.failure_data_for_node("uci__pack"))


@pytest.mark.parametrize("part", ["games", "shards", "pack", "report"])
def test_a_manifest_edited_by_hand_is_never_believed(part: str, tmp_path: Path) -> None:
    run_month(MONTH, tmp_path)
    here = lake(tmp_path)
    folders = {"games": here.games(MONTH), "shards": here.shards("uci", MONTH)}
    folders |= {"pack": here.pack("uci", MONTH), "report": here.report(MONTH)}
    path = folders[part] / "manifest.json"
    manifest = json.loads(path.read_bytes())
    path.write_text(json.dumps(manifest | {"files": {}}))
    with pytest.raises(ManifestError, match=r"manifest.json: was changed: it says of itself"):
        read_manifest(path.parent)
    assert (
        work_of(run_month(MONTH, tmp_path))[{"games": "games", "report": "tokenizer_stats"}.get(part, f"uci/{part}")]
        == "built"
    )
    assert json.loads(path.read_bytes()) == manifest


def test_what_a_killed_rebuild_left_is_removed_by_the_next_run_though_it_has_no_work(tmp_path: Path) -> None:
    run_month(MONTH, tmp_path)
    left = lake(tmp_path).pack("uci", MONTH).with_name(f".{MONTH}.building-dead")
    left.mkdir()
    (left / "tokens.npy").write_bytes(b"half")
    assert work_of(run_month(MONTH, tmp_path))["uci/pack"].startswith("unchanged: ")
    assert not left.exists()


def test_sample_games_never_replace_a_real_month(shared_data: Path, tmp_path: Path) -> None:
    real = str(shared_data / HEAD_FORMS["hf"])
    run_month("2021-10", tmp_path, source=real, select=["games"])
    before = lake_tree(tmp_path)
    result = run_month("2021-10", tmp_path, select=["games"], ops={"games": {"force": True}}, check=False)
    assert not result.success
    assert "holds real games of 2021-10, and sample games never replace them" in str(
        result.failure_data_for_node("games")
    )
    assert lake_tree(tmp_path) == before


def test_an_asset_without_what_it_reads_says_which_to_materialise(tmp_path: Path) -> None:
    shards = run_month(MONTH, tmp_path, select=["uci/shards"], check=False)
    assert "games.parquet: is not there; make the month's games first" in str(
        shards.failure_data_for_node("uci__shards")
    )
    run_month(MONTH, tmp_path, select=["games"])
    bpe = run_month(MONTH, tmp_path, select=["bpe/shards"], check=False)
    assert "no tokenizer stands there; materialise bpe/tokenizer first" in str(bpe.failure_data_for_node("bpe__shards"))


def test_filters_of_the_environment_are_those_of_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUKH_FILTERS", '{"min_elo": 1500, "terminations": ["Normal"]}')
    filters = default_filters()
    assert (filters.min_elo, filters.terminations, filters.min_plies) == (1500, ["Normal"], 20)
    for text in ("{min_elo: 1500}", "[]", '{"min_elo": 1500, "max_elo": 1400}', '{"elo": 1500}'):
        monkeypatch.setenv("RUKH_FILTERS", text)
        with pytest.raises(SettingError, match="RUKH_FILTERS is"):
            default_filters()
