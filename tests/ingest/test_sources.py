"""From a setting to the files of a month, and from damaged ones to an error that names them."""

import hashlib
import os
import shutil
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from months import MONTH, pgn, read, read_source, write_hf
from peaks import peak_above_imports

from rukh_assets.errors import DamagedSourceError, MonthError, SourceChangedError, SourceError, SourceMissingError
from rukh_assets.ingest import tables
from rukh_assets.ingest.expectation import Expectation
from rukh_assets.ingest.find import find_files
from rukh_assets.ingest.sources import open_source
from rukh_assets.ingest.zst import read_zst

HEAD = "2021-10"
ROW = {"Site": "a", "Result": "1-0", "WhiteElo": 1, "BlackElo": 2, "TimeControl": "-", "movetext": "1. e4 e5 1-0"}


def hf(number: int, **columns: Any) -> dict[str, Any]:
    return ROW | {"Site": str(number)} | columns


def put(folder: Path, *names: str, content: bytes = b"") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def found(folder: Path, pattern: str, month: str = MONTH) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in find_files(f"{folder}/{pattern}", month)]


def test_a_month_is_found_by_year_and_month_in_natural_order(tmp_path: Path) -> None:
    put(tmp_path, *(f"year=2024/month=01/part-{number}.parquet" for number in (10, 9, 100)))
    put(tmp_path, "year=2024/month=02/part-1.parquet", "year=2024/month=1/part-0.parquet")
    names = found(tmp_path, "year={year}/month={month}/*.parquet")
    assert names == [f"year=2024/month=01/part-{number}.parquet" for number in (9, 10, 100)]


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    put(tmp_path, "dumps/2024-01.pgn")
    assert find_files("~/dumps/{year}-{month}.pgn", MONTH) == [tmp_path / "dumps" / "2024-01.pgn"]


def test_digests_and_hidden_files_beside_the_games_are_no_source(tmp_path: Path) -> None:
    put(tmp_path, "2024-01.pgn", "2024-01.pgn.sha256", ".2024-01.pgn", "sha256sums.txt")
    assert found(tmp_path, "{year}-{month}*") == ["2024-01.pgn"]


@pytest.mark.parametrize("month", ["2024-1", "2024-13", "2024-00", "24-01", "2024-01/..", "..", "2024-01\n", ""])
def test_only_a_month_becomes_part_of_a_path(tmp_path: Path, month: str) -> None:
    with pytest.raises(MonthError, match="must be YYYY-MM"):
        open_source(f"{tmp_path}/{{year}}-{{month}}.pgn", month)
    with pytest.raises(MonthError):
        open_source("sample", month)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("games.pgn", "has none"),
        ("{year}.pgn", "has {year}"),
        ("{month}.pgn", "has {month}"),
        ("{year}-{month}-{day}.pgn", "has {day}, {month}, {year}"),
        ("{year}-{month}.pgn.zstd", "ending is not supported"),
        ("{year}-{month}.txt", ".parquet, .pgn.zst, .pgn"),
        ("nowhere/{year}-{month}.pgn", "nowhere"),
        ("nowhere/*/{year}-{month}.pgn", "nowhere"),
        ("files/{year}-{month}.pgn*", "more than one form"),
        ("files/**/{year}-{month}.pgn", "same name"),
        ("files/{year}-{month}*", "2024-01.txt"),
        ("files/*{year}{month}*", "is no file"),
    ],
)
def test_a_setting_that_no_month_can_satisfy_says_what_is_wrong(tmp_path: Path, pattern: str, words: str) -> None:
    put(tmp_path, "files/2024-01.pgn", "files/2024-01.pgn.zst", "files/deeper/2024-01.pgn", "files/x202401.pgn/file")
    if words == "2024-01.txt":
        put(tmp_path, "files/2024-01.txt")
    with pytest.raises(SourceError) as error:
        open_source(f"{tmp_path}/{pattern}", MONTH)
    assert words in str(error.value)


def test_a_month_that_is_not_published_is_neither_a_failure_nor_empty(tmp_path: Path) -> None:  # row 25
    put(tmp_path, "2024-01.pgn")
    with pytest.raises(SourceMissingError, match="2024-02: no file matches"):
        open_source(f"{tmp_path}/{{year}}-{{month}}.pgn", "2024-02")
    assert not issubclass(SourceMissingError, SourceError)


def test_the_month_is_the_files_under_any_time_zone(tmp_path: Path) -> None:  # row 26
    dates = [("2021.10.31", date(2021, 10, 31), "23:59:59"), ("2021.11.01", date(2021, 11, 1), "00:00:00")]
    texts = [pgn("1. e4 e5 1-0", Site=text, UTCDate=text, UTCTime=clock) for text, _, clock in dates]
    put(tmp_path, "2021-10.pgn", content="\n".join(texts).encode())
    write_hf(tmp_path / "2021-10.parquet", [hf(number, UTCDate=day) for number, (_, day, _) in enumerate(dates)])
    try:
        for zone in ("Pacific/Auckland", "America/Los_Angeles", "UTC"):
            os.environ["TZ"] = zone
            time.tzset()
            for ending in ("pgn", "parquet"):
                games = read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.{ending}", month=HEAD).games
                assert [(game["month"], game["utc_date"]) for game in games] == [(HEAD, day) for _, day, _ in dates]
    finally:
        del os.environ["TZ"]
        time.tzset()


@pytest.mark.parametrize("utc_date", ["????.??.??", "2024.02.30", "", None, "2024-01-02", "2024.W1.1", "24.01.02"])
def test_a_date_that_is_none_is_null_and_the_game_is_kept(tmp_path: Path, utc_date: str | None) -> None:
    (game,) = read(tmp_path, pgn("1. e4 e5 1-0", UTCDate=utc_date, ECO=None)).games
    assert (game["utc_date"], game["eco"]) == (None, "?")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("truncated-midframe", "ends at byte 222760, inside the zstandard frame that starts at byte 190538"),  # row 27
        ("bitflip", "doesn't match checksum, in the frame that starts at byte 126800"),  # row 28
    ],
)
def test_a_damaged_dump_fails_names_the_file_and_publishes_nothing(
    shared_data: Path, tmp_path: Path, name: str, words: str
) -> None:
    shutil.copy(shared_data / f"{name}.pgn.zst", tmp_path / f"{HEAD}.pgn.zst")
    with pytest.raises(DamagedSourceError) as error:
        read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.pgn.zst", month=HEAD)
    assert words in str(error.value)
    assert f"{HEAD}.pgn.zst" in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == [f"{HEAD}.pgn.zst"]


def test_a_dump_cut_between_two_frames_is_caught_by_what_is_known_of_it(  # row 29
    shared_data: Path, tmp_path: Path
) -> None:
    whole = shared_data / "lichess-2021-10-head.pgn.zst"
    name = f"{HEAD}.pgn.zst"
    shutil.copy(shared_data / "truncated-at-frame-boundary.pgn.zst", tmp_path / name)
    sha256, size = hashlib.sha256(whole.read_bytes()).hexdigest(), whole.stat().st_size
    cut = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    for expect, both in [
        (Expectation(sha256=sha256), (sha256, cut)),
        (Expectation(sha256={name: sha256.upper()}), (sha256, cut)),
        (Expectation(bytes=size), (str(size), "190526")),
        (Expectation(games=999), ("999", "514 games")),
        (Expectation(sha256={"2021-10-part2.pgn.zst": sha256}), ("2021-10-part2.pgn.zst", sha256)),
    ]:
        with pytest.raises(DamagedSourceError) as error:
            read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.pgn.zst", month=HEAD, expect=expect)
        assert all(value in str(error.value) for value in (*both, ".pgn.zst"))
        assert not (tmp_path / "month").exists()


def test_the_whole_dump_is_what_is_known_of_it(shared_data: Path, tmp_path: Path) -> None:  # row 29
    shutil.copy(shared_data / "lichess-2021-10-head.pgn.zst", tmp_path / f"{HEAD}.pgn.zst")
    record = hashlib.sha256((tmp_path / f"{HEAD}.pgn.zst").read_bytes()).hexdigest()
    expect = Expectation(sha256=record, bytes=371268, games=999)
    read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.pgn.zst", month=HEAD, expect=expect)


@pytest.mark.parametrize(
    ("sidecar", "text"),
    [
        ("2024-01.pgn.sha256", "{sha256}\n"),
        ("2024-01.pgn.sha256", "{sha256}  2024-01.pgn\n"),
        ("2024-01.pgn.sha256", "{sha256} *standard/2024-01.pgn\r\n"),
        ("sha256sums.txt", "{other}  2023-12.pgn\n{sha256}  2024-01.pgn\n"),
        ("sha256sums.txt", "\ufeff{sha256}  2024-01.pgn\n"),
    ],
)
def test_a_digest_beside_the_file_must_be_that_of_the_file(tmp_path: Path, sidecar: str, text: str) -> None:  # row 29
    put(tmp_path, f"{MONTH}.pgn", content=pgn("1. e4 e5 1-0").encode())
    sha256 = hashlib.sha256((tmp_path / f"{MONTH}.pgn").read_bytes()).hexdigest()
    setting = f"{tmp_path}/{{year}}-{{month}}.pgn"
    put(tmp_path, sidecar, content=text.format(sha256=sha256.upper(), other="0" * 64).encode())
    assert open_source(setting, MONTH).files[0].sha256 == sha256
    put(tmp_path, sidecar, content=text.format(sha256="f" * 64, other="0" * 64).encode())
    with pytest.raises(DamagedSourceError) as error:
        open_source(setting, MONTH)
    assert all(word in str(error.value) for word in (f"{MONTH}.pgn", sha256, "f" * 64))


def test_a_digest_file_without_a_digest_is_no_consent(tmp_path: Path) -> None:  # row 29
    put(tmp_path, f"{MONTH}.pgn", content=pgn("1. e4 e5 1-0").encode())
    put(tmp_path, f"{MONTH}.pgn.sha256", content=b"<html>not found</html>")
    with pytest.raises(SourceError, match=f"has no sha256 of {MONTH}.pgn"):
        open_source(f"{tmp_path}/{{year}}-{{month}}.pgn", MONTH)


def test_one_expected_value_for_two_files_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "2024-01-a.pgn", "2024-01-b.pgn")
    with pytest.raises(SourceError, match="for 2 files"):
        read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}-*.pgn", expect=Expectation(sha256="f" * 64))


def test_expected_bytes_are_those_of_all_files_together(tmp_path: Path) -> None:
    texts = [pgn("1. e4 e5 1-0", Site=f"https://lichess.org/{name}").encode() for name in ("a", "b")]
    for name, text in zip(("2024-01-a.pgn", "2024-01-b.pgn"), texts, strict=True):
        put(tmp_path, name, content=text)
    size = sum(map(len, texts))
    setting = f"{tmp_path}/{{year}}-{{month}}-*.pgn"
    read_source(tmp_path, setting, expect=Expectation(bytes=size))
    with pytest.raises(DamagedSourceError, match=f"2024-01-a.pgn, 2024-01-b.pgn: {size} bytes, expected {size - 1}"):
        read_source(tmp_path, setting, expect=Expectation(bytes=size - 1))


@pytest.mark.parametrize(
    "sums",
    [b"SHA256 (2024-01.pgn) = " + b"f" * 64, ("f" * 64 + "  2024-01.pgn").encode("utf-16")],
    ids=["as BSD writes it", "utf-16"],
)
def test_sums_that_name_the_file_in_another_spelling_are_not_passed_over(tmp_path: Path, sums: bytes) -> None:
    put(tmp_path, f"{MONTH}.pgn", content=pgn("1. e4 e5 1-0").encode())
    put(tmp_path, "sha256sums.txt", content=sums)
    with pytest.raises(SourceError, match=r"sha256sums.txt: names 2024-01.pgn, but not after 64 hex digits"):
        open_source(f"{tmp_path}/{{year}}-{{month}}.pgn", MONTH)


def frame(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


SKIPPABLE = bytes.fromhex("502a4d18 04000000 00000000")


@pytest.mark.parametrize("cut", [0, 1, 7, 100])
def test_frames_are_joined_wherever_they_were_cut_and_skippable_ones_left_out(tmp_path: Path, cut: int) -> None:
    text = pgn("1. e4 e5 1-0").encode()
    put(tmp_path, "x.zst", content=SKIPPABLE + frame(text[:cut]) + SKIPPABLE * 2 + frame(text[cut:]) + SKIPPABLE)
    assert b"".join(read_zst(tmp_path / "x.zst")) == text


@pytest.mark.parametrize("tail", [b"\0", b"(\xb5", b"\x1f\x8b\x08\x00 gzip", b"\n" * 9, SKIPPABLE[:6], SKIPPABLE[:-1]])
def test_bytes_after_the_last_frame_that_are_no_frame_fail(tmp_path: Path, tail: bytes) -> None:
    whole = SKIPPABLE + frame(b"games")
    put(tmp_path, "x.zst", content=whole + tail)
    with pytest.raises(DamagedSourceError, match=f"starts at byte {len(whole)}") as error:
        list(read_zst(tmp_path / "x.zst"))
    assert "x.zst" in str(error.value)


def test_every_cut_but_those_between_frames_fails(tmp_path: Path) -> None:
    parts = [SKIPPABLE, frame(b"one" * 50), SKIPPABLE, frame(b"two" * 50)]
    borders = {sum(map(len, parts[:count])) for count in range(1, 5)}
    whole = b"".join(parts)
    for end in range(len(whole) + 1):
        put(tmp_path, "x.zst", content=whole[:end])
        if end in borders:
            list(read_zst(tmp_path / "x.zst"))
        else:
            with pytest.raises(DamagedSourceError):
                list(read_zst(tmp_path / "x.zst"))


def test_a_column_that_is_null_in_one_file_and_text_in_another_is_read_from_both(tmp_path: Path) -> None:  # row 30
    titled = [hf(0, WhiteTitle="BOT", UTCDate=date(2024, 1, 2)), hf(1, WhiteTitle=None, UTCDate=None)]
    untitled = [hf(2, WhiteTitle=None, ECO=None, UTCDate=None), hf(3, WhiteTitle=None, ECO=None, UTCDate=None)]
    schema = pa.Table.from_pylist(untitled).schema
    assert schema.field("WhiteTitle").type == schema.field("UTCDate").type == pa.null()
    write_hf(tmp_path / "2024-01-0.parquet", titled)
    write_hf(tmp_path / "2024-01-1.parquet", untitled, schema)
    month = read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}-*.parquet")
    assert month.rejected == {"bot": 1}
    schema = pq.read_schema(month.folder / "games.parquet")
    assert schema.field("utc_date").type == pa.date32()
    assert len(month.games) == 3


def test_columns_of_any_type_that_has_a_text_are_read(tmp_path: Path) -> None:  # row 30
    table = pa.table(
        {
            "Site": pa.array(["a", "b"], pa.large_string()),
            "Result": pa.array(["1-0", "0-1"]).dictionary_encode(),
            "WhiteElo": pa.array([1500, 1600], pa.int64()),
            "BlackElo": pa.array(["1500", "1600"]),
            "UTCDate": pa.array(["2024.01.02", "2024.01.03"]),
            "TimeControl": pa.array([b"60+0", b"-"], pa.binary()),
            "movetext": pa.array(["1. e4 e5 1-0", "1. d4 d5"], pa.large_string()),
        }
    )
    pq.write_table(table, tmp_path / "2024-01.parquet")
    games = read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.parquet").games
    assert [(game["white_elo"], game["result"], game["time_control"]) for game in games] == [
        (1500, "1-0", "60+0"),
        (1600, "0-1", "-"),
    ]
    assert games[1]["utc_date"] == date(2024, 1, 3)


def test_large_games_come_in_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # row 31
    rows = [hf(number, movetext=f"1. e4 {{ {number} {'x' * 1000} }} e5 1-0") for number in range(95)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "2024-01.parquet", use_dictionary=False, row_group_size=40)
    monkeypatch.setattr(tables, "BATCH_BYTES", 10_000)
    sizes = [batch.num_rows for batch in tables.read_hf(tmp_path / "2024-01.parquet")]
    assert (sum(sizes), max(sizes) <= 10) == (95, True)


@pytest.mark.long
def test_more_than_two_gigabytes_of_movetext_are_read_in_a_small_part_of_that_memory(tmp_path: Path) -> None:  # row 31
    n_games = 2300
    group = [f"1. e4 {{ {'x' * 2**20} }} e5 1-0"] * 100
    schema = pa.schema([(name, pa.string()) for name in ROW])
    with pq.ParquetWriter(tmp_path / f"{MONTH}.parquet", schema, compression="zstd", use_dictionary=False) as writer:
        rest = {name: [str(value)] * n_games for name, value in ROW.items()}
        sites = [str(number) for number in range(n_games)]
        movetext = pa.chunked_array([pa.array(group)] * (n_games // 100))
        table = pa.table(rest | {"Site": sites, "movetext": movetext}, schema)
        writer.write_table(table, row_group_size=n_games)
    assert pq.read_metadata(tmp_path / f"{MONTH}.parquet").row_group(0).total_byte_size > 2**31
    before = "from months import read_source"
    code = """
setting = sys.argv[1] + "/{year}-{month}.parquet"
assert read_source(Path(sys.argv[1]), setting).manifest["counts"]["kept"] == int(sys.argv[2])
"""
    assert peak_above_imports(before, code, tmp_path, n_games) < 600


@pytest.mark.parametrize("damage", ["footer", "page", "empty"])
def test_a_damaged_parquet_file_fails_names_the_file_and_publishes_nothing(tmp_path: Path, damage: str) -> None:
    path = tmp_path / f"{MONTH}.parquet"
    # The game in the middle is neither the least nor the largest text, which statistics repeat.
    table = pa.Table.from_pylist([hf(0), hf(1, movetext="1. f4 f5 1-0"), hf(2, movetext="1. h4 h5 1-0")])
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    if damage == "page":
        data[data.index(b"f4 f5")] ^= 1
    path.write_bytes({"footer": data[:-9], "page": data, "empty": b""}[damage])
    with pytest.raises(DamagedSourceError, match=f"{MONTH}.parquet"):
        read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.parquet")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_parquet_files_without_games_or_of_two_forms_are_refused(tmp_path: Path) -> None:
    write_hf(tmp_path / "2024-01-a.parquet", [{"moves": "e4"}])
    with pytest.raises(SourceError, match="columns moves; a parquet source needs 'movetext' or 'uci'"):
        open_source(f"{tmp_path}/{{year}}-{{month}}-*.parquet", MONTH)
    write_hf(tmp_path / "2024-01-a.parquet", [{"movetext": "e4"}])
    write_hf(tmp_path / "2024-01-b.parquet", [{"uci": "e2e4"}])
    with pytest.raises(SourceError, match="more than one form"):
        open_source(f"{tmp_path}/{{year}}-{{month}}-*.parquet", MONTH)


def test_other_bytes_under_the_same_name_have_another_sha256(tmp_path: Path) -> None:  # row 35
    first = read(tmp_path, pgn("1. e4 e5 1-0"))
    second = read(tmp_path, pgn("1. d4 d5 1-0"))
    records = [month.manifest["source"]["files"][0] for month in (first, second)]
    assert records[0]["name"] == records[1]["name"]
    assert records[0]["bytes"] == records[1]["bytes"]
    assert records[0]["sha256"] != records[1]["sha256"]
    assert first.manifest["inputs"] != second.manifest["inputs"]


@pytest.mark.parametrize("change", ["longer", "touched", "replaced"])
def test_a_file_that_changes_while_it_is_read_fails_and_publishes_nothing(tmp_path: Path, change: str) -> None:
    path = tmp_path / f"{MONTH}.pgn"
    put(tmp_path, path.name, content=pgn("1. e4 e5 1-0").encode())

    def meddle(games_read: int, games_kept: int) -> None:
        if change == "longer":
            path.write_bytes(path.read_bytes() + b"\n")
        elif change == "touched":
            os.utime(path, ns=(1, 1))
        else:
            put(tmp_path, "new", content=pgn("1. d4 d5 1-0").encode())
            (tmp_path / "new").replace(path)

    with pytest.raises(SourceChangedError, match=f"{MONTH}.pgn: changed while it was read"):
        read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.pgn", progress=meddle)
    assert not (tmp_path / "month").exists()


def test_a_home_folder_of_nobody_and_a_name_that_is_not_utf8_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no home folder of that name"):
        open_source("~nobody-of-this-name/{year}-{month}.pgn", MONTH)
    (tmp_path / os.fsdecode(b"2024-01-\xff.pgn")).write_text(pgn("1. e4 e5 1-0"))
    with pytest.raises(SourceError, match="the name is not UTF-8"):
        open_source(f"{tmp_path}/{{year}}-{{month}}*.pgn", MONTH)


def test_text_that_is_not_utf8_in_parquet_is_named_by_file_and_column(tmp_path: Path) -> None:
    for name in ("Site", "movetext", "Result"):
        table = pa.Table.from_pylist([hf(0), hf(1)])
        texts = pa.array([b"ok", b"\xff\xfe"]).view(pa.string())
        pq.write_table(table.set_column(table.schema.get_field_index(name), name, texts), tmp_path / f"{MONTH}.parquet")
        with pytest.raises(DamagedSourceError, match=rf"{MONTH}.parquet: column {name}: Invalid UTF8"):
            read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.parquet")


def test_a_column_that_is_there_twice_is_named(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([hf(0)])
    pq.write_table(table.append_column("movetext", pa.array(["1. d4 1-0"])), tmp_path / f"{MONTH}.parquet")
    with pytest.raises(SourceError, match="columns movetext are there more than once"):
        open_source(f"{tmp_path}/{{year}}-{{month}}.parquet", MONTH)


def test_a_date_with_a_zone_is_the_day_in_utc(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([hf(0)])
    moment = pa.array([datetime(2024, 1, 2, 2, tzinfo=UTC)], pa.timestamp("s", "America/New_York"))
    table = table.drop_columns([name for name in ("UTCDate",) if name in table.schema.names])
    pq.write_table(table.append_column("UTCDate", moment), tmp_path / f"{MONTH}.parquet")
    month = read_source(tmp_path, f"{tmp_path}/{{year}}-{{month}}.parquet")
    assert [game["utc_date"] for game in month.games] == [date(2024, 1, 2)]
