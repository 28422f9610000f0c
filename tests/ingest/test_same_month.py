"""A month has the same bytes however it is read: with kernels or without, by any number of workers."""

import random
import secrets
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import bytes_below
from months import EVERYTHING, MONTH, NO_KERNELS, pgn

from rukh_assets.ingest import pgn as reader
from rukh_assets.ingest import pgn_splitter as splitter
from rukh_assets.ingest import tables, writer
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.find import find_files
from rukh_assets.ingest.month import read_month
from rukh_assets.ingest.pgn import PgnReader
from rukh_assets.ingest.raw import TAGS
from rukh_assets.ingest.replay import KERNELS
from rukh_assets.ingest.sources import FileSource, Source, open_source

WORKERS = (1, 2, 5)
EVERY_GAME = EVERYTHING.model_copy(update={"exclude_bots": False, "exclude_same_player": False, "min_plies": None})
HEAD = "2021-10"
FORMS = {
    "pgn": "lichess-{year}-{month}-head.pgn",
    "pgn.zst": "lichess-{year}-{month}-head.pgn.zst",
    "parquet": "hf/data/year={year}/month={month}/*.parquet",
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many batches of a few games, many row groups."""
    monkeypatch.setattr(splitter, "CHUNK_BYTES", 20_000)
    monkeypatch.setattr(tables, "BATCH_GAMES", 60)
    monkeypatch.setattr(reader, "BATCH_GAMES", 500)
    monkeypatch.setattr(writer, "ROW_GROUP_GAMES", 70)


def readable_month(month: str, source: Source, filters: Filters, folder: Path) -> dict[Path, bytes]:
    """The files of the month as the readable path alone makes them."""
    read_month(month, source, filters, folder, workers=1, kernels=NO_KERNELS)
    return bytes_below(folder)


def check(month: str, source: Source, readable: Source, filters: Filters, folder: Path) -> None:
    expected = readable_month(month, readable, filters, folder / "readable")
    assert set(map(str, expected)) == {"games.parquet", "rejects.jsonl", "manifest.json"}
    for workers in WORKERS:
        read_month(month, source, filters, folder / "fast", workers=workers, kernels=KERNELS)
        assert bytes_below(folder / "fast") == expected


def files(setting: str, form: str, month: str = MONTH) -> dict[str, FileSource]:
    paths = find_files(setting, month)
    return {"source": FileSource(form, paths), "readable": FileSource(form, paths, PgnReader)}


@pytest.mark.parametrize("form", FORMS)
def test_the_real_head(shared_data: Path, tmp_path: Path, form: str) -> None:
    sources = files(str(shared_data / FORMS[form]), form, HEAD)
    filters = {"pgn": Filters(), "pgn.zst": EVERYTHING, "parquet": Filters(min_plies=50)}[form]
    check(HEAD, **sources, filters=filters, folder=tmp_path)


def test_a_sample(tmp_path: Path) -> None:
    source = open_source("sample", MONTH, sample_games=80, seed=3)
    check(MONTH, source, source, Filters(), tmp_path)


def many_games(rng: random.Random) -> str:
    """Games of all kinds, with repeated ids, kinds of comments beyond the first hundred, and what no kernel takes."""
    movetexts = [
        "1. e4 { [%clk 0:03:00] } e5 { [%clk 0:03:00] } 2. Nf3 1-0",
        "1. e4 { [%eval 0.1] [%clk 0:03:00] } 1... e5 (1... c5) 1-0",
        "1. d4 d5 ; to the end\n2. c4 1-0",
        "1. e4 e5 2. Ke3 1-0",
        "1. e4 {never closed 1-0",
        "1. e4 e5 0-1",
        "1. e4 e5",
        "1. f3 e5 2. g4 Qh4# 3. a3 1-0",
        "1-0",
    ]
    tags: list[dict[str, Any]] = [{}] * 5 + [{"White": r"a \"b\""}, {"Variant": "Horde"}, {"WhiteElo": "?"}]
    games = []
    for _ in range(400):
        text = rng.choice(movetexts).replace("2.", f"{{ kind {chr(97 + rng.randrange(26)) * rng.randrange(9)} }} 2.", 1)
        games.append(pgn(text, Site=f"s{rng.randrange(500)}", ECO=rng.choice(["C20", None, ""]), **rng.choice(tags)))
    return rng.choice(["\n", ""]).join(games)


@pytest.mark.parametrize("seed", [1, 2])
def test_games_of_all_kinds(tmp_path: Path, seed: int) -> None:
    (tmp_path / f"{MONTH}.pgn").write_text(many_games(random.Random(seed)))
    check(MONTH, **files(f"{tmp_path}/{{year}}-{{month}}.pgn", "pgn"), filters=EVERYTHING, folder=tmp_path)


@pytest.mark.long
def test_damaged_months(shared_data: Path, tmp_path: Path) -> None:
    seed = secrets.randbits(64)
    print(f"seed {seed}")
    head = (shared_data / "lichess-2021-10-head.pgn").read_bytes()[:400_000]
    for number in range(20):
        rng = random.Random(f"{seed} {number}")
        data = bytearray(head + many_games(rng).encode())
        for _ in range(rng.choice([1, 100, 2000])):
            data[rng.randrange(len(data))] = rng.choice(b'\n\r[]{}"\\;%() e1-0*\xc3\xff')
        (tmp_path / f"{MONTH}.pgn").write_bytes(data)
        check(MONTH, **files(f"{tmp_path}/{{year}}-{{month}}.pgn", "pgn"), filters=EVERY_GAME, folder=tmp_path)


@pytest.mark.parametrize("group_games", [7, 100])
@pytest.mark.parametrize("batch_bytes", [5_000, 1 << 24])
def test_parquet_of_any_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_games: int, batch_bytes: int
) -> None:
    (batch,) = PgnReader([many_games(random.Random(0)).encode()], "x").batches()
    columns = [*(column for column in TAGS.values() if column not in ("fen", "setup")), "movetext"]
    names = [*(tag for tag in TAGS if tag not in ("FEN", "SetUp")), "movetext"]
    table = pa.Table.from_batches([batch.select(columns)]).rename_columns(names)
    path, setting = tmp_path / f"{MONTH}.parquet", f"{tmp_path}/{{year}}-{{month}}.parquet"
    pq.write_table(table, path)
    expected = readable_month(MONTH, open_source(setting, MONTH), EVERYTHING, tmp_path / "month")
    pq.write_table(table, path, row_group_size=group_games)
    monkeypatch.setattr(tables, "BATCH_GAMES", 30)
    monkeypatch.setattr(tables, "BATCH_BYTES", batch_bytes)
    for workers in WORKERS:
        read_month(MONTH, open_source(setting, MONTH), EVERYTHING, tmp_path / "month", workers=workers)
        for name in ("games.parquet", "rejects.jsonl"):
            assert (tmp_path / "month" / name).read_bytes() == expected[Path(name)]


def test_the_games_form(tmp_path: Path) -> None:
    (tmp_path / f"{MONTH}.pgn").write_text(many_games(random.Random(5)))
    first = files(f"{tmp_path}/{{year}}-{{month}}.pgn", "pgn")["source"]
    read_month(MONTH, first, EVERYTHING, tmp_path / "month")
    table: pa.Table = pq.read_table(tmp_path / "month" / "games.parquet", partitioning=None)
    illegal = table["uci"].to_pylist()
    illegal[3:6] = ["e2e4 e7e6 e4e6", None, "e2e4  e7e5"]
    table = table.set_column(table.schema.get_field_index("uci"), "uci", pa.array(illegal, pa.string()))
    pq.write_table(table, tmp_path / f"{MONTH}.parquet", row_group_size=30)
    source = open_source(f"{tmp_path}/{{year}}-{{month}}.parquet", MONTH)
    check(MONTH, source, source, EVERYTHING, tmp_path)
