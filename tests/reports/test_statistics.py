"""The table of one month: how long games are in each scheme."""

import json

import numpy as np
import pytest
from corpora import random_games

from rukh_assets.encode import SCHEMES
from rukh_assets.encode.san_text import uci_to_san
from rukh_assets.errors import StatisticsError
from rukh_assets.reports.statistics import month_statistics, to_bytes
from rukh_loaders.formats import open_pack
from rukh_loaders.tokenizers.bpe import encode, train_bpe


@pytest.fixture(scope="module")
def opened(packs):
    return {scheme: open_pack(path) for scheme, path in packs.items()}


def naive_lengths(bpe, games):
    return {
        "uci": [len(game["uci"].split()) + 5 for game in games],
        "san": [len(f"{uci_to_san(game['uci'])} {game['result']}") + 2 for game in games],
        "bpe": [len(encode(bpe, game["uci"], game["result"])) for game in games],
    }


@pytest.mark.parametrize("first", [None, 1, 17, 40, 20_000])
def test_the_table_is_that_of_the_lengths_of_the_encoded_games(opened, bpe, first):
    games = random_games(40)[:first]
    table = month_statistics(opened, bpe, max_len=80, first=first)
    assert table["source"] == {"games": "games.parquet", "n_games": len(games), "max_len": 80}
    for scheme, lengths in naive_lengths(bpe, games).items():
        assert table["schemes"][scheme] == {
            "vocab_size": {"uci": 2030, "san": 35, "bpe": 300}[scheme],
            "mean": round(float(np.mean(lengths)), 2),
            "p50": round(float(np.percentile(lengths, 50)), 2),
            "p95": round(float(np.percentile(lengths, 95)), 2),
            "pct_le_max_len": round(100 * sum(length <= 80 for length in lengths) / len(lengths), 2),
        }


def test_keys_come_in_the_published_order(opened, bpe):
    table = month_statistics(opened, bpe)
    assert list(table) == ["source", "schemes", "bpe_longest_tokens"]
    assert list(table["source"]) == ["games", "n_games", "max_len"]
    assert list(table["schemes"]) == ["uci", "san", "bpe"]
    assert {tuple(row) for row in table["schemes"].values()} == {("vocab_size", "mean", "p50", "p95", "pct_le_max_len")}
    assert {tuple(token) for token in table["bpe_longest_tokens"]} == {("token", "id", "length", "moves")}


def test_the_default_longest_length_is_200(opened, bpe):
    assert month_statistics(opened, bpe)["source"]["max_len"] == 200


def test_ten_longest_tokens_are_listed_by_length_then_id(opened, bpe):
    tokens = month_statistics(opened, bpe)["bpe_longest_tokens"]
    assert len(tokens) == 10
    assert tokens == sorted(tokens, key=lambda token: (-token["length"], token["id"]))
    for token in tokens:
        assert bpe.token_to_id(token["token"]) == token["id"]
        assert (token["length"], token["moves"]) == (len(token["token"]), len(token["token"]) // 4)


def test_the_file_is_json_with_indent_two_and_one_line_feed_at_the_end(opened, bpe):
    table = month_statistics(opened, bpe)
    data = to_bytes(table)
    assert data == json.dumps(table, indent=2).encode() + b"\n"
    assert b"\r" not in data
    assert json.loads(data) == table


def test_packs_of_different_numbers_of_games_are_refused_with_the_counts(opened, make_packs, bpe):
    other = open_pack(make_packs(random_games(3))["san"])
    with pytest.raises(StatisticsError, match=r"'uci': 40, 'san': 3, 'bpe': 40"):
        month_statistics(opened | {"san": other}, bpe)


def test_a_missing_scheme_is_refused(opened, bpe):
    with pytest.raises(StatisticsError, match=r"those of \['bpe'\] are missing"):
        month_statistics({scheme: opened[scheme] for scheme in SCHEMES if scheme != "bpe"}, bpe)


def test_a_tokenizer_other_than_the_packs_is_refused_with_both_hashes(opened):
    other = train_bpe(["e2e4 e7e5 g1f3"], vocab_size=40)
    with pytest.raises(StatisticsError, match=opened["bpe"].info.vocab_hash):
        month_statistics(opened, other)


def test_no_games_have_no_statistics(make_packs, opened, bpe):
    empty = {scheme: open_pack(path) for scheme, path in make_packs([]).items()}
    with pytest.raises(StatisticsError, match="over 0 games"):
        month_statistics(empty, bpe)
    with pytest.raises(StatisticsError, match="over 0 games"):
        month_statistics(opened, bpe, first=0)
