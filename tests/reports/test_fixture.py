"""The parity fixture: what it holds, how strictly its games are read, and how a wrong one is found."""

import json

import pytest
from corpora import bytes_below, pgn_games

from rukh_assets.errors import FixtureGameError, FixtureMismatchError
from rukh_assets.reports.fixture import (
    FIXTURE_PGN,
    build_fixture,
    standing_fixture,
    to_bytes,
    verify_fixture,
    write_fixture,
)
from rukh_assets.reports.strict_pgn import read_strictly
from rukh_loaders.errors import ManifestError, RukhLoadersError
from rukh_loaders.formats import describe_files, read_manifest, write_manifest
from rukh_loaders.tokenizers import SanCharTokenizer, UciTokenizer
from rukh_loaders.tokenizers.bpe import save_bpe, train_bpe

FIELDS = ["id", "white_elo", "black_elo", "result", "uci", "san", "uci_ids", "san_ids", "bpe_ids"]
UCI, SAN = UciTokenizer(), SanCharTokenizer()

TAGS = {"Event": "Rated Blitz game", "Site": "https://lichess.org/aaaaaaaa", "WhiteElo": "1873", "BlackElo": "3300"}


def pgn_of(movetext, result="1-0", **changes):
    tags = TAGS | {"Result": result} | changes
    return "".join(f'[{tag} "{value}"]\n' for tag, value in tags.items() if value is not None) + f"\n{movetext}\n\n"


def write_pgn(path, *games):
    path.write_bytes("".join(games).encode())
    return path


@pytest.fixture
def pgn(tmp_path):
    return write_pgn(
        tmp_path / "games.pgn",
        pgn_of("1. e4 { [%clk 0:03:00] } e5 2. Nf3 1-0"),
        pgn_of("1. d4?! (1. e4 e5) 1... d5 $2 1/2-1/2", "1/2-1/2", Site="https://lichess.org/bbbbbbbb"),
    )


def test_each_game_has_its_fields_in_order_and_the_ids_of_the_tokenizers(pgn, bpe):
    first, second = build_fixture(pgn, UCI, SAN, bpe)
    assert list(first) == list(second) == FIELDS
    assert first == {
        "id": "https://lichess.org/aaaaaaaa",
        "white_elo": 1873,
        "black_elo": 3300,
        "result": "1-0",
        "uci": "e2e4 e7e5 g1f3",
        "san": "1.e4 e5 2.Nf3",
        "uci_ids": [1, 20, 61, 997, 1164, 1455, 5, 2],
        "san_ids": SAN.encode("1.e4 e5 2.Nf3 1-0"),
        "bpe_ids": bpe.encode("e2e4e7e5g1f3").ids,
    }
    assert (second["id"], second["uci"], second["san"]) == ("https://lichess.org/bbbbbbbb", "d2d4 d7d5", "1.d4 d5")


def test_uci_ids_are_cut_at_200_and_the_others_are_whole(tmp_path, bpe):
    shuffle = " ".join(f"{n}. N{'fg'[n % 2]}{'31'[n % 2]} N{'fg'[n % 2]}{'68'[n % 2]}" for n in range(2, 132))
    pgn = write_pgn(tmp_path / "long.pgn", pgn_of(f"{shuffle} 1/2-1/2", "1/2-1/2"))
    (game,) = build_fixture(pgn, UCI, SAN, bpe)
    assert len(game["uci"].split()) == 260
    assert len(game["uci_ids"]) == 200
    assert game["uci_ids"] == UCI.encode_game(game["uci"], 1873, 3300, "1/2-1/2")[:200]
    assert SAN.decode(game["san_ids"]) == f"{game['san']} 1/2-1/2"
    assert "".join(bpe.id_to_token(id_) for id_ in game["bpe_ids"]) == game["uci"].replace(" ", "")


def test_the_file_is_json_with_indent_zero_in_ascii_with_one_line_feed_at_the_end(pgn, bpe):
    fixture = build_fixture(pgn, UCI, SAN, bpe)
    data = to_bytes(fixture)
    assert data == json.dumps(fixture, indent=0, ensure_ascii=True).encode() + b"\n"
    assert to_bytes([{"id": "caf\xe9"}]) == b'[\n{\n"id": "caf\\u00e9"\n}\n]\n'


def test_the_projects_own_fixture_games_are_read_and_are_what_python_chess_reads(bpe):
    games = read_strictly(FIXTURE_PGN)
    assert [game.uci for game in games] == [game["uci"] for game in pgn_games(FIXTURE_PGN)]
    assert len(build_fixture(FIXTURE_PGN, UCI, SAN, bpe)) == len(games)


@pytest.mark.parametrize(
    ("movetext", "result", "message"),
    [
        ("1. e4 e5 2. Ke3 d6 1-0", "1-0", "ply 3: illegal san: 'Ke3'"),
        ("1. e4 e5 2. Nf6 1-0", "1-0", "ply 3: illegal san: 'Nf6'"),
        ("1. f3 e5 2. g4 Qh4# 3. a3 0-1", "0-1", "ply 5: illegal san: 'a3'"),
        ("1. e4 -- 2. d4 1-0", "1-0", "ply 2: null move: '--'"),
        ("1. e4 nonsense e5 1-0", "1-0", "ply 2: invalid san: 'nonsense'"),
        ("1. e4 e5 ~ 1-0", "1-0", "'~ 1-0' at 9 is no part of movetext"),
        ("1. e4 { never closed 1-0", "1-0", "never ends"),
        ("1. e4 e5 (2. d4 1-0", "1-0", "variation opened at 9 never ends"),
        ("1. e4 e5 0-1", "1-0", "Result is '1-0', the movetext ends in '0-1'"),
        ("1. e4 e5 *", "1-0", "Result is '1-0', the movetext ends in '*'"),
        ("1. e4 e5", "1-0", "Result is '1-0', the movetext ends in None"),
        ("1. e4 e5 *", "*", "Result is '*'; allowed are 1-0, 0-1, 1/2-1/2"),
        ("1-0", "1-0", "no move; at least one is needed"),
    ],
)
def test_a_game_whose_moves_leave_a_doubt_fails_the_build_with_its_number_and_id(
    tmp_path, bpe, movetext, result, message
):
    good = pgn_of("1. e4 e5 1-0", Site="https://lichess.org/bbbbbbbb")
    pgn = write_pgn(tmp_path / "games.pgn", good, pgn_of(movetext, result))
    with pytest.raises(FixtureGameError) as refusal:
        build_fixture(pgn, UCI, SAN, bpe)
    text = str(refusal.value)
    assert text.startswith(f"{pgn}: game 1 (Site 'https://lichess.org/aaaaaaaa')")
    assert message in text
    assert text.isascii()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Site": None}, "the Site tag is missing or unknown"),
        ({"Site": "?"}, "the Site tag is missing or unknown"),
        ({"WhiteElo": None}, "WhiteElo is None"),
        ({"BlackElo": "?"}, "BlackElo is '?'"),
        ({"BlackElo": "1500?"}, "BlackElo is '1500?'; allowed are digits, at most 32767"),
        ({"WhiteElo": "\u0661\u0665\u0660\u0660"}, "WhiteElo is '\\u0661"),
        ({"WhiteElo": "99999"}, "WhiteElo is '99999'"),
        ({"Result": None}, "Result is None"),
        ({"Variant": "Atomic"}, "variant is 'Atomic'; allowed is standard chess"),
        ({"SetUp": "1"}, "setup is '1'"),
        ({"FEN": "8/8/8/8/8/8/8/8 w - - 0 1"}, "fen is '8/8"),
    ],
)
def test_a_missing_or_wrong_tag_fails_the_build(tmp_path, bpe, changes, message):
    with pytest.raises(FixtureGameError) as refusal:
        build_fixture(write_pgn(tmp_path / "games.pgn", pgn_of("1. e4 e5 1-0", **changes)), UCI, SAN, bpe)
    assert message in str(refusal.value)


def test_two_games_of_one_site_no_games_and_bytes_that_are_not_utf_8_fail_the_build(tmp_path):
    with pytest.raises(FixtureGameError, match=r"2 games have the Site .*aaaaaaaa'; each has its own"):
        read_strictly(write_pgn(tmp_path / "twice.pgn", pgn_of("1. e4 e5 1-0"), pgn_of("1. d4 d5 1-0")))
    with pytest.raises(FixtureGameError, match="no game; at least one is needed"):
        read_strictly(write_pgn(tmp_path / "empty.pgn"))
    (tmp_path / "latin.pgn").write_bytes(pgn_of("1. e4 e5 1-0", White="Andr\xe9").encode("latin-1"))
    with pytest.raises(FixtureGameError, match="1 bytes are not UTF-8"):
        read_strictly(tmp_path / "latin.pgn")


def test_a_written_fixture_is_whole_and_agrees_with_the_tokenizers(pgn, bpe, bpe_file, tmp_path):
    manifest = write_fixture(pgn, bpe_file, tmp_path / "fixtures")
    assert read_manifest(tmp_path / "fixtures") == manifest
    assert (tmp_path / "fixtures" / "games.json").read_bytes() == to_bytes(build_fixture(pgn, UCI, SAN, bpe))
    assert manifest["n_games"] == 2
    assert verify_fixture(tmp_path / "fixtures", bpe_file) == 2
    write_fixture(pgn, bpe_file, tmp_path / "again")
    assert bytes_below(tmp_path / "again") == bytes_below(tmp_path / "fixtures")


def test_a_build_that_fails_leaves_the_standing_fixture(pgn, bpe_file, tmp_path):
    write_fixture(pgn, bpe_file, tmp_path / "fixtures")
    before = bytes_below(tmp_path / "fixtures")
    bad = write_pgn(tmp_path / "bad.pgn", pgn_of("1. e4 e5 2. Ke3 1-0"))
    with pytest.raises(FixtureGameError):
        write_fixture(bad, bpe_file, tmp_path / "fixtures")
    assert bytes_below(tmp_path / "fixtures") == before


def test_a_fixture_stands_until_its_games_or_the_tokenizer_change(pgn, bpe_file, tmp_path):
    assert standing_fixture(pgn, bpe_file, tmp_path / "fixtures") is None
    manifest = write_fixture(pgn, bpe_file, tmp_path / "fixtures")
    assert standing_fixture(pgn, bpe_file, tmp_path / "fixtures") == manifest
    save_bpe(train_bpe(["e2e4 e7e5 g1f3"], vocab_size=40), tmp_path / "other.json")
    assert standing_fixture(pgn, tmp_path / "other.json", tmp_path / "fixtures") is None
    write_pgn(pgn, pgn_of("1. e4 e5 1-0"))
    assert standing_fixture(pgn, bpe_file, tmp_path / "fixtures") is None


def rewrite(folder, data):
    """Another games.json, with a manifest that fits it."""
    (folder / "games.json").write_bytes(data)
    manifest = read_manifest(folder)
    write_manifest(folder, manifest | {"files": describe_files(folder)})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("uci_ids", [1, 20, 61, 998, 1164, 1455, 5, 2], r"uci_ids\[3\] is 998, expected 997"),
        ("uci_ids", [1, 20, 61, 997, 1164, 1455, 5], r"uci_ids\[7\] is 'nothing', expected 2"),
        ("san_ids", [1, 2], r"san_ids\[1\] is 2, expected"),
        ("bpe_ids", [4], r"bpe_ids\[0\] is 4, expected"),
        ("san", "1.e4 e5 2.Nf3 1-0", "san is '1.e4 e5 2.Nf3 1-0', expected '1.e4 e5 2.Nf3'"),
        ("white_elo", 1973, r"uci_ids\[1\] is 20, expected 21"),
    ],
)
def test_a_changed_value_is_found_with_game_field_and_both_values(pgn, bpe_file, tmp_path, field, value, message):
    write_fixture(pgn, bpe_file, tmp_path / "fixtures")
    fixture = json.loads((tmp_path / "fixtures" / "games.json").read_bytes())
    fixture[0][field] = value
    rewrite(tmp_path / "fixtures", to_bytes(fixture))
    with pytest.raises(FixtureMismatchError, match=rf"game 0 \(id 'https://lichess.org/aaaaaaaa'\): {message}"):
        verify_fixture(tmp_path / "fixtures", bpe_file)


def test_another_spelling_other_fields_or_another_number_of_games_is_found(pgn, bpe_file, tmp_path):
    folder = tmp_path / "fixtures"
    write_fixture(pgn, bpe_file, folder)
    fixture = json.loads((folder / "games.json").read_bytes())
    for data, message in [
        (json.dumps(fixture, indent=2).encode() + b"\n", "is not spelt with indent=0"),
        (to_bytes(fixture).rstrip(), "is not spelt with indent=0"),
        (to_bytes(fixture).replace(b"\n", b"\r\n"), "is not spelt with indent=0"),
        (b"[", "is not JSON"),
        (b"{}\n", "expected a list of objects"),
        (to_bytes(fixture[:1]), "number of games is 1, expected 2"),
        (to_bytes([fixture[0], {"id": "x"}]), "game 1: fields"),
    ]:
        rewrite(folder, data)
        with pytest.raises(FixtureMismatchError, match=message):
            verify_fixture(folder, bpe_file)


def test_a_fixture_of_another_bpe_tokenizer_is_found(pgn, bpe_file, tmp_path):
    write_fixture(pgn, bpe_file, tmp_path / "fixtures")
    save_bpe(train_bpe(["a2a3 a7a6 a3a4"], vocab_size=30), tmp_path / "other.json")
    with pytest.raises(FixtureMismatchError, match="bpe_ids"):
        verify_fixture(tmp_path / "fixtures", tmp_path / "other.json")


def test_a_file_other_than_the_manifest_lists_is_found_before_it_is_read(pgn, bpe_file, tmp_path):
    write_fixture(pgn, bpe_file, tmp_path / "fixtures")
    path = tmp_path / "fixtures" / "games.json"
    path.write_bytes(path.read_bytes().replace(b"1873", b"1874"))
    with pytest.raises(ManifestError, match="has sha256"):
        verify_fixture(tmp_path / "fixtures", bpe_file)
    path.unlink()
    with pytest.raises(RukhLoadersError, match="is missing"):
        verify_fixture(tmp_path / "fixtures", bpe_file)
