"""`python -m rukh_loaders check`: a pack that is not what it promises, and packs that should not stand together."""

import io
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packed_months import GAMES, write_pack
from permissions import as_any_user

from rukh_loaders.__main__ import main
from rukh_loaders.checking.columns import check_columns
from rukh_loaders.checking.progress import Progress
from rukh_loaders.checking.repeated_games import reading_bytes, repeated_games
from rukh_loaders.errors import PackError
from rukh_loaders.formats import COLUMNS, PackInfo, PackWriter, describe_files, open_pack, read_manifest, write_manifest

FIRST, SECOND = GAMES[:30], GAMES[30:]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two months in uci, one of them in san too."""
    home = tmp_path_factory.mktemp("lake")
    write_pack(home, "uci", "2021-10", FIRST)
    write_pack(home, "uci", "2021-11", SECOND)
    write_pack(home, "san", "2021-10", FIRST)
    write_pack(home, "bpe", "2021-10", FIRST)
    return home / "data" / "packs"


@pytest.fixture
def packs(built, tmp_path):
    """A copy to be damaged."""
    return shutil.copytree(built, tmp_path / "packs")


@pytest.fixture
def run(capsys):
    def run(*arguments):
        status = main(["check", *map(str, arguments)])
        printed = capsys.readouterr()
        assert printed.err == ""
        return status, printed.out

    return run


def rewrite_column(pack, name, values):
    np.save(pack / "columns" / f"{name}.npy", values)
    write_manifest(pack, read_manifest(pack) | {"files": describe_files(pack)})


def test_sound_packs_of_three_schemes_have_no_fault(built, run):
    status, text = run(built)
    assert status == 0
    assert len(re.findall(r"games, [0-9,]+ tokens: ok", text)) == 4
    assert "uci vocabulary    527c5dda224c in all 2 packs" in text
    assert "uci games         60 in all 2 packs, none of them twice" in text
    assert text.endswith("4 packs checked, no fault\n")


def test_a_pack_that_is_named_twice_is_checked_once(built, run):
    status, text = run(built / "uci", built / "uci" / "2021-10", built / "uci" / ".." / "uci" / "2021-11")
    assert status == 0
    assert "2 packs checked, no fault" in text


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda pack: (pack / "meta.json").unlink(), "meta.json: cannot be read, so this is no pack"),
        (lambda pack: (pack / "starts.npy").unlink(), "starts.npy: cannot be opened"),
        (lambda pack: (pack / "tokens.npy").write_bytes((pack / "tokens.npy").read_bytes()[:-2]), "its header says"),
        (lambda pack: flip_last_bit(pack / "columns" / "eco.npy"), "columns/eco.npy: has sha256"),
        (lambda pack: flip_last_bit(pack / "manifest.json"), "manifest.json: "),
    ],
)
def test_each_damage_is_named_and_the_other_packs_are_checked_all_the_same(packs, run, damage, message):
    damage(packs / "uci" / "2021-10")
    status, text = run(packs / "uci")
    assert status == 1
    assert re.search(rf"uci/2021-10 +FAULT: .*{re.escape(message)}", text)
    assert re.search(r"uci/2021-11 +30 games, .* ok\n", text)
    assert text.endswith("2 packs checked, 1 fault\n")


@pytest.mark.parametrize(
    ("closed", "message"),
    [
        ("", "2021-10/meta.json: cannot be read"),
        ("meta.json", "meta.json: cannot be read"),
        ("tokens.npy", "tokens.npy: cannot be opened: Permission denied"),
        ("columns", "cannot be read: Permission denied"),
        ("columns/eco.npy", "columns/eco.npy: cannot be opened: Permission denied"),
        ("manifest.json", "manifest.json: cannot be read"),
        ("notes.txt", "notes.txt: cannot be read: Permission denied"),
    ],
)
def test_a_pack_that_may_not_be_read_is_a_fault_and_the_others_are_checked_all_the_same(packs, run, closed, message):
    pack = packs / "uci" / "2021-10"
    (pack / "notes.txt").write_text("of the pack")
    write_manifest(pack, read_manifest(pack) | {"files": describe_files(pack)})
    mode = (pack / closed).stat().st_mode
    (pack / closed).chmod(0)
    with as_any_user():
        status, text = run(packs / "uci")
    (pack / closed).chmod(mode)
    assert status == 1
    assert re.search(rf"uci/2021-10 +FAULT: .*{re.escape(message)}", text)
    assert re.search(r"uci/2021-11 +30 games, .* ok\n", text)


@pytest.mark.parametrize("command", ["check", "inspect"])
def test_a_folder_that_may_not_be_listed_or_entered_is_one_line(packs, capsys, command):
    for mode in (0o300, 0):
        (packs / "uci").chmod(mode)
        with as_any_user():
            statuses = [main([command, str(path)]) for path in (packs / "uci", packs / "uci" / "2021-10" / "columns")]
        (packs / "uci").chmod(0o700)
        assert all(status in (1, 2) for status in statuses)
        printed = capsys.readouterr()
        assert "Permission denied" in printed.out + printed.err
        assert "Traceback" not in printed.out + printed.err


def flip_last_bit(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("command", "redirection", "status", "message"),
    [
        ("check", "2>&-", 0, ""),
        ("check", ">&- 2>error", 2, "rukh_loaders: there is no stdout to write to\n"),
        ("inspect", ">&- 2>error", 2, "rukh_loaders: there is no stdout to write to\n"),
        ("inspect", ">/dev/full 2>error", 2, "rukh_loaders: [Errno 28] No space left on device\n"),
        ("check", ">/dev/full 2>error", 2, "rukh_loaders: [Errno 28] No space left on device\n"),
    ],
)
def test_output_that_goes_nowhere_is_one_line_and_no_fault_of_a_pack(
    built, project, tmp_path, command, redirection, status, message
):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    line = f'"{sys.executable}" -m rukh_loaders {command} "{built / "uci" / "2021-10"}" {redirection}'
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(project)})
    assert done.returncode == status
    if message:
        assert (tmp_path / "error").read_text() == message


def test_an_interrupt_while_the_program_is_imported_is_one_line(project, tmp_path):
    (tmp_path / "numpy.py").write_text("raise KeyboardInterrupt")
    done = subprocess.run(
        [sys.executable, "-m", "rukh_loaders", "check", "nowhere"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{project}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "rukh_loaders: stopped\n")


def test_ids_that_no_vocabulary_holds_are_found_where_there_is_no_manifest(packs, run):
    pack = packs / "uci" / "2021-10"
    (pack / "manifest.json").unlink()
    tokens = np.load(pack / "tokens.npy")
    assert "ok, but has no manifest to compare hashes with" in run(pack)[1]
    tokens[7] = 2030
    np.save(pack / "tokens.npy", tokens)
    status, text = run(pack)
    assert status == 1
    assert "game 0 has id 2030 at position 7, allowed: 0 to 2029" in text


@pytest.mark.parametrize("name", ["n_plies", "white_elo", "black_elo", "result"])
def test_columns_of_other_games_are_found_in_uci(packs, run, name):
    pack = packs / "uci" / "2021-10"
    column = np.load(pack / "columns" / f"{name}.npy")
    rewrite_column(pack, name, np.roll(column, 1))
    status, text = run(pack)
    assert status == 1
    assert re.search(rf"columns/{name}.npy: game [0-9]+ has -?[0-9]+, its ids say ", text)


def test_results_of_other_games_are_found_in_bpe(packs, run):
    pack = packs / "bpe" / "2021-10"
    rewrite_column(pack, "result", -np.load(pack / "columns" / "result.npy"))
    status, text = run(pack)
    assert status == 1
    assert "columns/result.npy: game " in text


def test_a_game_too_short_for_its_frame_is_found(tmp_path):
    info = PackInfo(n_games=1, n_tokens=4, scheme="uci", vocab_size=2030, vocab_hash="0" * 64, source="by hand")
    with PackWriter(tmp_path / "pack", info) as writer:
        writer.append(np.array([1, 8, 35, 2], np.uint16), np.array([4]))
        writer.append_columns({name: np.zeros(1, dtype) for name, dtype in COLUMNS.items()})
        writer.finish({})
    with pytest.raises(PackError, match="game 0 has 4 tokens, expected 5 or more"):
        check_columns(open_pack(tmp_path / "pack"))


def test_games_of_two_packs_of_one_vocabulary_are_a_leak_with_three_ids_and_their_places(packs, run):
    write_pack(packs.parent, "uci", "2021-12", [*SECOND[5:10], GAMES[0]])
    (packs.parent / "data" / "packs" / "uci" / "2021-12").rename(packs / "uci" / "2021-12")
    status, text = run(packs)
    assert status == 1
    assert "uci games         FAULT: 6 are there more than once" in text
    places = re.findall(r"id (-?\d+): game (\d+) of (\S+) and game (\d+) of (\S+)\n", text)
    assert len(places) == 3
    for game_id, first, first_pack, second, second_pack in places:
        for name, number in ((first_pack, first), (second_pack, second)):
            assert np.load(packs / name / "columns" / "game_id.npy")[int(number)] == int(game_id)
        assert second_pack == "uci/2021-12"
    assert text.endswith("5 packs checked, 1 fault\n")


def test_a_game_twice_in_one_pack_is_found(packs, run):
    pack = packs / "uci" / "2021-10"
    ids = np.load(pack / "columns" / "game_id.npy")
    ids[29] = ids[3]
    rewrite_column(pack, "game_id", ids)
    status, text = run(pack)
    assert status == 1
    assert f"id {ids[3]}: game 3 of uci/2021-10 and game 29 of uci/2021-10\n" in text


def test_packs_of_one_scheme_with_different_vocabularies_are_a_fault_and_their_games_are_not_compared(packs, run):
    folder = packs / "bpe" / "2021-11"
    shutil.copytree(packs / "bpe" / "2021-10", folder)
    meta = (folder / "meta.json").read_text()
    (folder / "meta.json").write_text(re.sub(r'"vocab_hash": "[0-9a-f]+"', f'"vocab_hash": "{"5" * 64}"', meta))
    write_manifest(folder, read_manifest(folder) | {"files": describe_files(folder)})
    status, text = run(packs / "bpe")
    assert status == 1
    assert re.search(
        r"bpe vocabulary    FAULT: 2 different ones: [0-9a-f]{12} in bpe/2021-10; 5{12} in bpe/2021-11", text
    )
    assert text.count("30 in 1 pack, none of them twice") == 2


def test_packs_without_columns_are_named_as_not_compared(packs, run, twenty_games):
    status, text = run(twenty_games)
    assert status == 0
    assert "tiny games        not compared, since there is no column game_id: " in text


def test_what_is_no_pack_is_a_usage_error(tmp_path, capsys):
    assert main(["check", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: is no folder" in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == 2
    assert "holds no pack" in capsys.readouterr().err
    with pytest.raises(SystemExit) as usage:
        main(["check"])
    assert usage.value.code == 2


@pytest.fixture(scope="module")
def pack_of_ids(tmp_path_factory):
    """Writes and opens a pack whose games have these ids and nothing else."""
    root, numbers = tmp_path_factory.mktemp("ids"), itertools.count()

    def write(ids):
        info = PackInfo(
            n_games=len(ids), n_tokens=2 * len(ids), scheme="tiny", vocab_size=3, vocab_hash="0" * 64, source="ids"
        )
        columns = {name: np.zeros(len(ids), dtype) for name, dtype in COLUMNS.items()}
        folder = root / str(next(numbers))
        with PackWriter(folder, info) as writer:
            writer.append(np.array([1, 2] * len(ids), np.uint16), np.full(len(ids), 2, np.int64))
            writer.append_columns(columns | {"game_id": np.array(ids, np.int64)})
            writer.finish({})
        return open_pack(folder)

    return write


@given(
    ids=st.lists(
        st.lists(st.integers(-20, 20) | st.integers(-(2**63), 2**63 - 1), max_size=20), min_size=1, max_size=4
    ),
    at_once=st.integers(1, 50),
)
@settings(max_examples=40, deadline=None)
def test_repeated_ids_are_found_whatever_fits_into_memory_at_once(pack_of_ids, ids, at_once):
    packs = [pack_of_ids(of_pack) for of_pack in ids]
    read = []
    found = repeated_games(packs, at_once, read.append)
    everywhere = [game_id for of_pack in ids for game_id in of_pack]
    repeated = {game_id for game_id in everywhere if everywhere.count(game_id) > 1}
    assert found.count == len(repeated)
    assert len(found.examples) == min(3, len(repeated))
    assert sum(read) == reading_bytes(packs, at_once)
    for game_id, places in found.examples.items():
        assert places == [
            (number, game) for number, of_pack in enumerate(ids) for game, id_ in enumerate(of_pack) if id_ == game_id
        ]


def test_no_part_of_the_ids_is_much_larger_than_asked_even_where_ids_are_consecutive(pack_of_ids):
    from rukh_loaders.checking import repeated_games as module

    pack = pack_of_ids(list(range(100_000)))
    sizes = [module._ids_of_part([pack], part, 4, lambda size: None).size for part in range(16)]
    assert sum(sizes) == 100_000
    assert max(sizes) < 1.1 * 100_000 / 16


def test_progress_is_drawn_on_a_terminal_alone_and_leaves_nothing_behind():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, drawn in ((Terminal(), True), (io.StringIO(), False)):
        with Progress("reading", 200, stream) as progress:
            progress.advance(50)
        assert ("reading 25%" in stream.getvalue()) == drawn
        assert stream.getvalue().endswith("\r\x1b[K" if drawn else "")
        assert bool(stream.getvalue()) == drawn


def test_verify_says_how_much_it_reads(built):
    pack = open_pack(built / "uci" / "2021-10")
    read = []
    pack.verify(read.append)
    assert sum(read) == pack.verify_bytes
