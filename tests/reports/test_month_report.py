"""A month's report, and the table of the newest month that is published."""

import itertools
import json
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from corpora import bytes_below, random_games

from rukh_assets.errors import ReportMissingError, StatisticsError
from rukh_assets.reports.month import publish_newest, standing_report, write_report
from rukh_assets.reports.statistics import month_statistics, to_bytes
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats import open_pack, read_manifest, verify_files
from rukh_loaders.tokenizers.bpe import save_bpe, train_bpe

MONTHS = ("2019-12", "2020-02", "2021-10")


@pytest.fixture(scope="module")
def packs_of_months(make_packs):
    return {month: make_packs(random_games(5 + i)) for i, month in enumerate(MONTHS)}


def write_and_publish(packs, bpe_file, home, month):
    write_report(packs, bpe_file, home / "reports" / month)
    return publish_newest(home / "reports", home / "web" / "tokenizer-stats.json")


def published_games(home):
    return json.loads((home / "web" / "tokenizer-stats.json").read_bytes())["source"]["n_games"]


def test_a_report_has_the_table_of_the_month_that_of_its_first_games_and_a_picture(packs, bpe, bpe_file, tmp_path):
    manifest = write_report(packs, bpe_file, tmp_path / "2021-10")
    opened = {scheme: open_pack(path) for scheme, path in packs.items()}
    whole = month_statistics(opened, bpe)
    assert (tmp_path / "2021-10" / "tokenizer-stats.json").read_bytes() == to_bytes(whole)
    assert (tmp_path / "2021-10" / "tokenizer-stats-20000.json").read_bytes() == to_bytes(
        month_statistics(opened, bpe, first=20_000)
    )
    assert manifest["statistics"] == whole
    assert read_manifest(tmp_path / "2021-10") == manifest
    assert set(manifest["files"]) == {"tokenizer-stats.json", "tokenizer-stats-20000.json", "lengths.svg"}
    verify_files(tmp_path / "2021-10", manifest)


def test_the_published_table_counts_the_first_20000_games_only(make_packs, bpe_file, tmp_path):
    games = (random_games(3, max_plies=4) * 6_667)[:20_000] + random_games(40)
    write_and_publish(make_packs(games), bpe_file, tmp_path, "2021-10")
    table = json.loads((tmp_path / "web" / "tokenizer-stats.json").read_bytes())
    assert table["source"]["n_games"] == 20_000
    assert table["schemes"]["uci"]["p95"] <= 9
    whole = json.loads((tmp_path / "reports" / "2021-10" / "tokenizer-stats.json").read_bytes())
    assert whole["source"]["n_games"] == 20_040


def test_the_same_packs_give_the_same_bytes(packs, bpe_file, tmp_path):
    for name in ("one", "other"):
        write_report(packs, bpe_file, tmp_path / name)
    assert bytes_below(tmp_path / "one") == bytes_below(tmp_path / "other")


def test_a_report_stands_until_packs_tokenizer_or_files_change(packs, packs_of_months, bpe_file, tmp_path):
    assert standing_report(packs, bpe_file, tmp_path / "2021-10") is None
    manifest = write_report(packs, bpe_file, tmp_path / "2021-10")
    assert standing_report(packs, bpe_file, tmp_path / "2021-10") == manifest
    assert standing_report(packs_of_months["2019-12"], bpe_file, tmp_path / "2021-10") is None
    save_bpe(train_bpe(["e2e4 e7e5 g1f3"], vocab_size=40), tmp_path / "other.json")
    assert standing_report(packs, tmp_path / "other.json", tmp_path / "2021-10") is None
    (tmp_path / "2021-10" / "lengths.svg").unlink()
    assert standing_report(packs, bpe_file, tmp_path / "2021-10") is None


def test_packs_of_another_program_without_manifests_have_a_report_too(make_packs, bpe_file, tmp_path):
    packs = make_packs(random_games(4))
    write_report(packs, bpe_file, tmp_path / "with")
    for path in packs.values():
        (path / "manifest.json").unlink()
    write_report(packs, bpe_file, tmp_path / "without")
    assert bytes_below(tmp_path / "with") == bytes_below(tmp_path / "without")


def test_a_report_that_fails_leaves_the_standing_one(packs, packs_of_months, bpe_file, tmp_path):
    write_report(packs, bpe_file, tmp_path / "2021-10")
    before = bytes_below(tmp_path)
    with pytest.raises(StatisticsError):
        write_report(packs | {"uci": packs_of_months["2019-12"]["uci"]}, bpe_file, tmp_path / "2021-10")
    assert bytes_below(tmp_path) == before


@pytest.mark.parametrize("order", itertools.permutations(MONTHS))
def test_the_newest_month_is_published_whatever_the_order(packs_of_months, bpe_file, tmp_path, order):
    for done, month in enumerate(order, 1):
        assert write_and_publish(packs_of_months[month], bpe_file, tmp_path, month) == max(order[:done])
    assert published_games(tmp_path) == 7


def test_months_that_are_done_at_once_publish_the_newest(packs_of_months, bpe_file, tmp_path):
    months = list(MONTHS) * 4
    random.Random(7).shuffle(months)
    with ThreadPoolExecutor(4) as threads:
        jobs = [
            threads.submit(write_and_publish, packs_of_months[month], bpe_file, tmp_path, month) for month in months
        ]
        assert {job.result() for job in jobs} <= set(MONTHS)
    assert published_games(tmp_path) == 7


def test_a_folder_that_is_no_month_or_has_no_manifest_is_no_report(packs_of_months, bpe_file, tmp_path):
    write_and_publish(packs_of_months["2019-12"], bpe_file, tmp_path, "2019-12")
    for name in ("notes", "2021-13", "9999-99", ".2021-10.building-00"):
        write_report(packs_of_months["2021-10"], bpe_file, tmp_path / "reports" / name)
    (tmp_path / "reports" / "2021-11").mkdir()
    assert publish_newest(tmp_path / "reports", tmp_path / "web" / "tokenizer-stats.json") == "2019-12"


def test_nothing_is_published_where_no_month_has_a_report(tmp_path):
    with pytest.raises(ReportMissingError, match="no month has a report"):
        publish_newest(tmp_path / "reports", tmp_path / "web" / "tokenizer-stats.json")
    assert not (tmp_path / "web" / "tokenizer-stats.json").exists()


def test_a_changed_report_is_not_published(packs_of_months, bpe_file, tmp_path):
    write_and_publish(packs_of_months["2019-12"], bpe_file, tmp_path, "2019-12")
    table = tmp_path / "reports" / "2019-12" / "tokenizer-stats-20000.json"
    table.write_bytes(table.read_bytes().replace(b'"n_games": 5', b'"n_games": 6'))
    with pytest.raises(ManifestError, match="has sha256"):
        publish_newest(tmp_path / "reports", tmp_path / "web" / "tokenizer-stats.json")
    assert published_games(tmp_path) == 5
