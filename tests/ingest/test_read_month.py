"""A month from its source to its folder: whole or not at all, the same bytes every time."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from months import EVERYTHING, MONTH, Month, pgn, read, read_source

from rukh_assets.errors import DamagedSourceError, EmptyMonthError, GameColumnsError, SourceError
from rukh_assets.ingest import writer
from rukh_assets.ingest.expectation import Expectation
from rukh_assets.ingest.filters import CHECKS, Filters
from rukh_assets.ingest.game_ids import game_id
from rukh_assets.ingest.month import GAMES_SCHEMA, inputs_digest, open_games, read_month, standing_month
from rukh_assets.ingest.rejects import SAMPLES
from rukh_assets.ingest.seen import SeenIds
from rukh_assets.ingest.sources import open_source
from rukh_assets.ingest.verdicts import REASONS
from rukh_assets.ingest.writer import GamesWriter
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats.manifest import check_files, read_manifest, verify_files

HEAD = "2021-10"
FORMS = {
    "pgn": "lichess-{year}-{month}-head.pgn",
    "pgn.zst": "lichess-{year}-{month}-head.pgn.zst",
    "parquet": "hf/data/year={year}/month={month}/*.parquet",
}


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def heads(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Month]:
    """The real head, every game of at least one ply kept, from each form."""
    everything = EVERYTHING.model_copy(update={"exclude_bots": False, "exclude_same_player": False})
    months = {}
    for form, pattern in FORMS.items():
        folder = tmp_path_factory.mktemp("head")
        months[form] = read_source(folder, str(shared_data / pattern), everything, month=HEAD)
    return months


@pytest.mark.parametrize("form", FORMS)
def test_the_real_head_is_the_same_month_in_every_form(heads: dict[str, Month], form: str) -> None:
    manifest = heads[form].manifest
    assert manifest["source"]["form"] == form
    assert manifest["counts"] == heads["pgn"].manifest["counts"]
    assert manifest["files"]["games.parquet"] == heads["pgn"].manifest["files"]["games.parquet"]


def test_the_real_head_has_no_illegal_game_and_loses_the_empty_ones_for_length(heads: dict[str, Month]) -> None:
    # row 24
    counts = heads["pgn"].manifest["counts"]
    assert (counts["read"], counts["kept"], heads["pgn"].rejected) == (999, 986, {"length": 13})
    assert counts["comments"] == {"%clk": 66292, "%eval": 5796}
    assert max(game["n_plies"] for game in heads["pgn"].games) == 302
    assert heads["pgn"].moves.count("e2e4") > 4


def test_python_chess_replays_every_game_of_the_real_head(heads: dict[str, Month]) -> None:
    for game in heads["pgn"].games:
        board = chess.Board()
        moves = game["uci"].split(" ")
        for uci in moves:
            move = board.parse_uci(uci)
            assert move.uci() == uci
            board.push(move)
        assert len(moves) == game["n_plies"]


@pytest.mark.parametrize("form", FORMS)
def test_the_real_head_under_the_default_filters(shared_data: Path, tmp_path: Path, form: str) -> None:
    month = read_source(tmp_path, str(shared_data / FORMS[form]), Filters(), month=HEAD)
    assert month.rejected == {"rating": 655, "time_control": 100, "termination": 2, "bot": 1, "length": 8}
    assert month.manifest["counts"]["kept"] == 233


def test_games_are_as_the_format_says(tmp_path: Path) -> None:
    month = read(tmp_path, "\n".join(pgn("1. e4 e5 1-0", Site=f"https://lichess.org/{n}") for n in range(3)))
    file = pq.ParquetFile(month.folder / "games.parquet")
    assert file.schema_arrow.equals(GAMES_SCHEMA)
    columns = {
        file.metadata.row_group(0).column(index).path_in_schema: file.metadata.row_group(0).column(index)
        for index in range(len(GAMES_SCHEMA))
    }
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    with_dictionary = {name for name, column in columns.items() if column.has_dictionary_page}
    assert with_dictionary == {"result", "eco", "time_control", "month"}
    assert month.games[1] == {
        "game_id": game_id("https://lichess.org/1"),
        "uci": "e2e4 e7e5",
        "n_plies": 2,
        "white_elo": 1900,
        "black_elo": 2000,
        "result": "1-0",
        "time_control": "300+3",
        "utc_date": month.games[0]["utc_date"],
        "eco": "C20",
        "month": MONTH,
    }
    assert month.games[0]["utc_date"].isoformat() == "2024-01-02"


def test_the_game_id_is_the_first_eight_bytes_of_the_sites_sha256() -> None:
    # printf https://lichess.org/abcdefgh | sha256sum
    assert game_id("https://lichess.org/abcdefgh").to_bytes(8, "little", signed=True).hex() == "952b8ad8a7b6b892"


def test_the_manifest_says_what_the_month_was_made_from(tmp_path: Path) -> None:
    month = read(tmp_path, pgn("1. e4 {x} e5 1-0"))
    assert read_manifest(month.folder) == json.loads(json.dumps(month.manifest))
    verify_files(month.folder, month.manifest)
    assert set(month.manifest) == {
        *("format_version", "code_version", "inputs", "month", "source", "filters", "counts", "files", "libraries")
    }
    assert set(month.manifest["counts"]["rejected"]) == set(REASONS)
    assert REASONS[: len(CHECKS)] == tuple(CHECKS)
    assert set(month.manifest["libraries"]) == {"chess", "pyarrow", "zstandard"}
    assert str(tmp_path) not in (month.folder / "manifest.json").read_text()


def test_the_first_rejects_of_each_reason_are_written_down_in_order(tmp_path: Path) -> None:
    texts = [pgn(f"1. e4 {'Ke3' if n % 2 else '{'} 1-0", Site=str(n)) + "\n" for n in range(60)]
    month = read(tmp_path, "\n".join([*texts, pgn("1. e4 e5 1-0")]))
    assert month.rejected == {"truncated": 30, "illegal": 30}
    assert [reject["number"] for reject in month.rejects] == list(range(2 * SAMPLES))
    assert set(month.rejects[0]) == {"reason", "file", "number", "game_id", "site", "ply", "detail"}


def test_a_month_of_rejects_is_an_error_that_counts_them_and_publishes_nothing(tmp_path: Path) -> None:
    with pytest.raises(EmptyMonthError, match="of 1 read; rejected: unfinished 1") as error:
        read(tmp_path, pgn("*", Result="*"))
    assert error.value.rejected["unfinished"] == 1
    with pytest.raises(EmptyMonthError, match="of 0 read; rejected: none"):
        read(tmp_path, "")
    assert not (tmp_path / "month").exists()


def test_progress_tells_games_read_and_kept(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    read(tmp_path, pgn("1. e4 e5 1-0") + pgn("*", Result="*"), progress=lambda *counts: told.append(counts))
    assert told == [(2, 1)]


def test_a_new_kind_of_comment_is_ignored_and_counted(tmp_path: Path) -> None:  # row 32
    plain = read(tmp_path, pgn("1. e4 e5 2. d4 1-0")).manifest
    comments = pgn("1. e4 { [%clk 0:01:00] } e5 { White offers draw } 2. d4 { White offers draw } 1-0")
    told = read(tmp_path, comments).manifest
    assert told["counts"]["comments"] == {"%clk": 1, "White offers draw": 2}
    assert told["files"]["games.parquet"] == plain["files"]["games.parquet"]


KILLED = """
import sys, time
from pathlib import Path
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.month import read_month
from rukh_assets.ingest.sources import open_source
home, phase = Path(sys.argv[1]), sys.argv[2]
source = open_source(f"{home}/{{year}}-{{month}}.pgn", "2024-01")
if phase == "writing":
    def wait(games_read, games_kept):
        print("here", flush=True)
        time.sleep(60)
else:
    import rukh_assets.ingest.month as month
    write = month.write_manifest
    def write_manifest(folder, manifest):
        write(folder, manifest)
        print("here", flush=True)
        time.sleep(60)
    month.write_manifest, wait = write_manifest, None
read_month("2024-01", source, Filters(min_elo=None, min_plies=None), home / "month", progress=wait)
"""


@pytest.mark.parametrize("phase", ["writing", "manifest written"])
@pytest.mark.parametrize("standing", [True, False])
def test_a_killed_process_leaves_the_old_month_or_none(tmp_path: Path, phase: str, standing: bool) -> None:  # row 33
    old = tree(read(tmp_path, pgn("1. e4 e5 1-0")).folder) if standing else None
    (tmp_path / f"{MONTH}.pgn").write_text(pgn("1. d4 d5 1-0"))
    command = [sys.executable, "-c", KILLED, str(tmp_path), phase]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".month.building-")]
    if old is None:
        assert not (tmp_path / "month").exists()
    else:
        assert tree(tmp_path / "month") == old
    month = read(tmp_path, pgn("1. d4 d5 1-0"))
    assert month.moves == ["d2d4 d7d5"]
    check_files(month.folder, month.manifest)
    assert {path.name for path in tmp_path.iterdir()} == {f"{MONTH}.pgn", "month"}


@pytest.mark.long
def test_a_month_killed_at_any_moment_is_never_half(tmp_path: Path) -> None:  # row 33
    texts = ["\n".join(pgn(f"1. {move} e5 1-0", Site=str(n)) for n in range(300)) for move in ("e4", "d4")]
    whole = []
    for text in texts:
        whole.append(tree(read(tmp_path, text).folder))
    # It says "here" as it opens its source; reading and publishing take some tens of milliseconds from then on.
    code = KILLED.replace("time.sleep(60)", "pass").replace("source = ", 'print("here", flush=True)\nsource = ')
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", code, tmp_path, "writing"], check=True, stdout=subprocess.DEVNULL)
    longest = min(time.monotonic() - began, 0.5)
    for attempt in range(40):
        (tmp_path / f"{MONTH}.pgn").write_text(texts[attempt % 2])
        with subprocess.Popen([sys.executable, "-c", code, tmp_path, "writing"], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(attempt / 40 * longest)
            process.kill()
        assert tree(tmp_path / "month")["games.parquet"] in [month["games.parquet"] for month in whole]
        assert {len(tree(tmp_path / "month"))} == {3}
        verify_files(tmp_path / "month", read_manifest(tmp_path / "month"))


def test_a_month_run_twice_has_the_same_bytes(tmp_path: Path) -> None:  # row 34
    text = pgn("1. e4 {x} e5 1-0", Site="a") + pgn("*", Result="*") + pgn("1. d4 Ke7 1-0", Site="b")
    first = tree(read(tmp_path, text).folder)
    (tmp_path / "elsewhere").mkdir()
    assert tree(read(tmp_path, text).folder) == tree(read(tmp_path / "elsewhere", text).folder) == first


def test_a_month_that_stands_for_the_same_inputs_is_known_without_reading(tmp_path: Path) -> None:  # row 34
    month = read(tmp_path, pgn("1. e4 e5 1-0"))
    setting = f"{tmp_path}/{{year}}-{{month}}.pgn"
    source = open_source(setting, MONTH)
    assert standing_month(MONTH, source, EVERYTHING, month.folder) == month.manifest
    assert inputs_digest(MONTH, source, EVERYTHING) == month.manifest["inputs"]
    assert standing_month(MONTH, source, Filters(), month.folder) is None
    assert standing_month(MONTH, source, EVERYTHING, tmp_path / "nothing") is None
    with pytest.raises(DamagedSourceError, match="1 games, expected 2"):
        standing_month(MONTH, source, EVERYTHING, month.folder, expect=Expectation(games=2))
    with pytest.raises(DamagedSourceError, match="bytes"):
        standing_month(MONTH, source, EVERYTHING, month.folder, expect=Expectation(bytes=2))


def test_other_bytes_of_the_same_file_do_not_stand(tmp_path: Path) -> None:  # row 35
    month = read(tmp_path, pgn("1. e4 e5 1-0"))
    setting = f"{tmp_path}/{{year}}-{{month}}.pgn"
    (tmp_path / f"{MONTH}.pgn").write_text(pgn("1. d4 d5 1-0"))
    assert standing_month(MONTH, open_source(setting, MONTH), EVERYTHING, month.folder) is None


def test_a_standing_month_with_a_file_cut_off_does_not_stand(tmp_path: Path) -> None:
    month = read(tmp_path, pgn("1. e4 e5 1-0"))
    source = open_source(f"{tmp_path}/{{year}}-{{month}}.pgn", MONTH)
    os.truncate(month.folder / "games.parquet", 100)
    assert standing_month(MONTH, source, EVERYTHING, month.folder) is None
    with pytest.raises(ManifestError, match=r"games\.parquet"):
        open_games(month.folder)


def test_a_months_games_are_opened_with_their_manifest(tmp_path: Path) -> None:
    month = read(tmp_path, pgn("1. e4 e5 1-0"))
    manifest, file = open_games(month.folder)
    with file:
        assert (manifest, file.metadata.num_rows) == (month.manifest, 1)
    path = month.folder / "games.parquet"
    size = path.stat().st_size
    path.write_bytes(b"\0" * size)
    with pytest.raises(DamagedSourceError, match=r"games\.parquet"):
        open_games(month.folder)


def test_games_of_other_columns_are_not_opened(tmp_path: Path) -> None:
    month = read(tmp_path, pgn("1. e4 e5 1-0"))
    path = month.folder / "games.parquet"
    pq.write_table(pa.table({"uci": ["e2e4"]}), path)
    manifest = read_manifest(month.folder)
    manifest["files"]["games.parquet"]["bytes"] = path.stat().st_size
    (month.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(GameColumnsError, match=r"games\.parquet"):
        open_games(month.folder)


def test_row_groups_and_bytes_do_not_depend_on_the_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "ROW_GROUP_GAMES", 40)
    month = read(tmp_path, "\n".join(pgn("1. e4 e5 1-0", Site=str(n)) for n in range(100)))
    table = pq.read_table(month.folder / "games.parquet", partitioning=None)
    nothing = pa.RecordBatch.from_pylist([], table.schema)
    for name, sizes in {"a": [100], "b": [1] * 100, "c": [0, 39, 2, 40, 19], "d": [90, 10]}.items():
        with GamesWriter(tmp_path / name) as games:
            start = 0
            for size in sizes:
                games.append(table.slice(start, size).combine_chunks().to_batches()[0] if size else nothing)
                start += size
        assert (tmp_path / name).read_bytes() == (month.folder / "games.parquet").read_bytes()
    metadata = pq.read_metadata(tmp_path / "a")
    assert [metadata.row_group(number).num_rows for number in range(3)] == [40, 40, 20]


@pytest.mark.parametrize("sizes", [[3000], [1, 1023, 1024, 952], [1500] * 2, [7] * 428 + [4]])
def test_pages_do_not_depend_on_the_batches_either(tmp_path: Path, sizes: list[int]) -> None:
    """Of several pages a column, those of one chunk: what pyarrow makes of the whole table."""
    rows = [
        {
            "game_id": n,
            "uci": f"{n * n % 9973:04d} " * 200,
            "n_plies": n % 300,
            "white_elo": n % 3000,
            "black_elo": n % 7,
        }
        | {"result": "1-0", "time_control": f"{n}+0", "utc_date": None if n % 3 else n, "eco": "A00", "month": MONTH}
        for n in range(3000)
    ]
    table = pa.Table.from_pylist(rows, GAMES_SCHEMA)
    dictionaries = ["result", "eco", "time_control", "month"]
    pq.write_table(table, tmp_path / "whole", compression="zstd", use_dictionary=dictionaries)
    with GamesWriter(tmp_path / "batches") as games:
        start = 0
        for size in sizes:
            games.append(table.slice(start, size).to_batches()[0])
            start += size
    assert start == len(rows)
    assert (tmp_path / "batches").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_sample_month_is_read_like_any_other(tmp_path: Path) -> None:
    sources = [open_source("sample", MONTH, sample_games=30, seed=seed) for seed in (1, 1, 2)]
    manifests = [read_month(MONTH, source, Filters(), tmp_path / "month") for source in sources]
    assert manifests[0] == manifests[1]
    assert manifests[0]["inputs"] != manifests[2]["inputs"]
    assert manifests[0]["counts"]["kept"] == 30
    assert manifests[0]["source"] == {"form": "sample", "games": 30, "seed": 1, "files": []}


def games_form(source: Month, folder: Path, *, number: int = 0, **changes: Any) -> str:
    """A source in the games form: the games of a month, those values changed in one of them."""
    rows = source.games
    rows[number] |= changes
    folder.mkdir(exist_ok=True)
    large = {field.name: pa.large_string() for field in GAMES_SCHEMA if field.type == pa.string()}
    schema = pa.schema([(field.name, large.get(field.name, field.type)) for field in GAMES_SCHEMA])
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / f"{MONTH}.parquet")
    return f"{folder}/{{year}}-{{month}}.parquet"


def test_the_games_form_is_read_back_to_the_same_bytes(tmp_path: Path) -> None:
    month = read(tmp_path, "\n".join(pgn("1. e4 e5 1-0", Site=str(n)) for n in range(5)))
    again = read_source(tmp_path / "again", games_form(month, tmp_path / "again"))
    assert again.manifest["source"]["form"] == "games"
    assert again.manifest["files"]["games.parquet"] == month.manifest["files"]["games.parquet"]


CASTLES = "e2e4 e7e5 g1f3 g8f6 f1e2 f8e7"


@pytest.mark.parametrize(
    ("changes", "reason", "ply"),
    [
        ({"result": "*"}, "unfinished", None),
        ({"result": None}, "unfinished", None),
        ({"white_elo": None}, "no_rating", None),
        ({"black_elo": -1}, "no_rating", None),
        ({"white_elo": 900}, "rating", None),
        ({"time_control": "60"}, "time_control", None),
        ({"game_id": None}, "malformed", None),
        ({"uci": None}, "malformed", None),
        ({"uci": "e2e4  e7e5"}, "malformed", None),
        ({"uci": " e2e4"}, "illegal", 1),
        ({"n_plies": 3}, "malformed", None),
        ({"n_plies": None}, "malformed", None),
        ({"month": "2024-02"}, "malformed", None),
        ({"month": None}, "malformed", None),
        ({"uci": "", "n_plies": 0}, "length", None),
        ({"uci": "e2e4 e7e6 e4e6"}, "malformed", None),
        ({"uci": "e2e4 e4e5"}, "illegal", 2),
        ({"uci": "e2e4 0000"}, "illegal", 2),
        ({"uci": "E2E4 e7e5"}, "illegal", 1),
        ({"uci": f"{CASTLES} e1h1", "n_plies": 7}, "illegal", 7),
        ({"game_id": game_id("0")}, "duplicate", None),
    ],
)
def test_every_game_of_the_games_form_is_checked(
    tmp_path: Path, changes: dict[str, Any], reason: str, ply: int | None
) -> None:
    month = read(tmp_path, "\n".join(pgn("1. e4 e5 1-0", Site=str(n)) for n in range(3)))
    setting = games_form(month, tmp_path / "again", number=1, **changes)
    again = read_source(tmp_path / "again", setting, EVERYTHING.model_copy(update={"min_elo": 1000}))
    assert again.rejected == {reason: 1}
    (reject,) = again.rejects
    assert (reject["number"], reject["ply"], reject["site"]) == (1, ply, None)
    assert [game["game_id"] for game in again.games] == [game_id("0"), game_id("2")]


def test_castling_in_the_games_form_is_the_kings_move(tmp_path: Path) -> None:
    month = read(tmp_path, pgn("1. e4 e5 1-0"))
    setting = games_form(month, tmp_path / "again", uci=f"{CASTLES} e1g1", n_plies=7, eco=None, utc_date=None)
    (game,) = read_source(tmp_path / "again", setting).games
    assert (game["uci"], game["eco"], game["utc_date"]) == (f"{CASTLES} e1g1", "?", None)


def test_the_games_form_without_a_column_or_with_values_that_do_not_fit_is_refused(tmp_path: Path) -> None:
    table = pq.read_table(read(tmp_path, pgn("1. e4 e5 1-0")).folder / "games.parquet", partitioning=None)
    path = tmp_path / f"{MONTH}.parquet"
    pq.write_table(table.drop_columns(["eco", "game_id"]), path)
    with pytest.raises(SourceError, match="eco, game_id"):
        read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.parquet")
    elo = table.schema.get_field_index("white_elo")
    pq.write_table(table.set_column(elo, "white_elo", pa.array([70_000], pa.int32())), path)
    with pytest.raises(DamagedSourceError, match=f"{MONTH}.parquet"):
        read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.parquet")


@given(st.lists(st.lists(st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1), max_size=30), max_size=12))
def test_seen_ids_are_those_of_a_set(batches: list[list[int]]) -> None:
    seen, known = SeenIds(), set[int]()
    for batch in batches:
        expected = []
        for value in batch:
            expected.append(value not in known)
            known.add(value)
        assert seen.add(np.array(batch, np.int64)).tolist() == expected
    assert len(seen) == len(known)


def test_many_ids_are_in_few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rukh_assets.ingest.seen._MERGE_IDS", 1000)
    ids = np.random.default_rng(0).permutation(200_000).astype(np.int64)
    seen = SeenIds()
    assert all(seen.add(batch).all() for batch in np.split(ids, 100))
    assert not seen.add(ids[::7]).any()
    assert len(seen) == 200_000
    assert len(seen._runs) < 10
    assert all(np.all(np.diff(run) > 0) for run in seen._runs)
