"""Folders and files appear whole or not at all, whatever happens to who builds them."""

import mmap
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rukh_loaders.errors import PublishError
from rukh_loaders.formats import publish
from rukh_loaders.formats.npy import open_npy
from rukh_loaders.formats.publish import exclusive, publish_file, publish_folder

BUILD_AND_WAIT = """
import sys, time
from pathlib import Path
from rukh_loaders.formats.publish import publish_folder

with publish_folder(Path(sys.argv[1])) as folder:
    (folder / "half.txt").write_text("half")
    print("building", flush=True)
    time.sleep(600)
"""

PUBLISH_FOR_EVER = """
import itertools, sys
from pathlib import Path
from rukh_loaders.formats.publish import publish_folder

for number in itertools.count():
    with publish_folder(Path(sys.argv[1])) as folder:
        (folder / "a.txt").write_text(str(number))
        (folder / "deeper").mkdir()
        (folder / "deeper" / "b.txt").write_text(str(number))
    print(number, flush=True)
"""


def publish_text(target: Path, text: str) -> None:
    with publish_folder(target) as folder:
        (folder / "a.txt").write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def start(script: str, target: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script, str(target)], stdout=subprocess.PIPE, text=True)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_folder_appears_with_all_it_holds_and_nothing_else_is_left(tmp_path):
    target = tmp_path / "packs" / "uci" / "2025-01"
    with publish_folder(target) as folder:
        (folder / "columns").mkdir()
        (folder / "columns" / "eco.npy").write_bytes(b"eco")
        (folder / "meta.json").write_bytes(b"{}")
        assert not target.exists()
        assert folder.parent == target.parent
        assert folder.name.startswith(".2025-01.building-")
    assert (target / "columns" / "eco.npy").read_bytes() == b"eco"
    assert list(target.parent.iterdir()) == [target]


def test_a_published_folder_has_the_permissions_of_any_other(tmp_path):
    publish_text(tmp_path / "month", "new")
    publish_file(tmp_path / "file.json", b"{}")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain.json").write_bytes(b"{}")
    assert mode(tmp_path / "month") == mode(tmp_path / "plain")
    assert mode(tmp_path / "file.json") == mode(tmp_path / "plain.json")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_standing_folder_is_replaced_whole(tmp_path):
    target = tmp_path / "month"
    with publish_folder(target) as folder:
        (folder / "old.txt").write_text("old")
    publish_text(target, "new")
    assert contents(target) == {"a.txt": "new"}
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_in_the_block_leaves_the_old_folder_and_nothing_else(tmp_path):
    target = tmp_path / "month"
    publish_text(target, "old")
    with pytest.raises(UnicodeEncodeError), publish_folder(target) as folder:
        (folder / "a.txt").write_text("new\N{WHITE CHESS KING}", encoding="ascii")
    assert contents(target) == {"a.txt": "old"}
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_in_the_block_leaves_no_folder_where_none_was(tmp_path):
    with pytest.raises(KeyboardInterrupt), publish_folder(tmp_path / "month"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_who_has_the_old_files_mapped_keeps_reading_them(tmp_path):
    target = tmp_path / "month"
    with publish_folder(target) as folder:
        np.save(folder / "tokens.npy", np.arange(100_000, dtype=np.uint16))
    old = open_npy(target / "tokens.npy", np.uint16)
    with publish_folder(target) as folder:
        np.save(folder / "tokens.npy", np.zeros(7, np.uint16))
    assert open_npy(target / "tokens.npy", np.uint16).size == 7
    assert (old == np.arange(100_000, dtype=np.uint16)).all()


def test_a_folder_is_there_at_every_moment_while_it_is_replaced(tmp_path):
    target = tmp_path / "month"
    publish_text(target, "0")
    done = threading.Event()
    seen: set[bool] = set()

    def look() -> None:
        while not done.is_set():
            seen.add(target.is_dir())

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for number in range(30):
            publish_text(target, str(number))
    finally:
        done.set()
        reader.join()
    assert seen == {True}


def test_a_killed_builder_leaves_none_and_the_next_one_removes_what_it_left(tmp_path):
    target = tmp_path / "month"
    builder = start(BUILD_AND_WAIT, target)
    assert builder.stdout is not None
    assert builder.stdout.readline() == "building\n"
    kill(builder)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".month.building-")
    publish_text(target, "new")
    assert list(tmp_path.iterdir()) == [target]
    assert contents(target) == {"a.txt": "new"}


def test_a_killed_builder_leaves_the_old_folder(tmp_path):
    target = tmp_path / "month"
    publish_text(target, "old")
    builder = start(BUILD_AND_WAIT, target)
    assert builder.stdout is not None
    assert builder.stdout.readline() == "building\n"
    kill(builder)
    assert contents(target) == {"a.txt": "old"}
    publish_text(target, "new")
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_living_builder_builds_is_not_taken_for_a_leftover(tmp_path):
    target = tmp_path / "month"
    builder = start(BUILD_AND_WAIT, target)
    assert builder.stdout is not None
    assert builder.stdout.readline() == "building\n"
    try:
        publish_text(target, "of another process")
        with publish_folder(target) as mine:
            publish_text(target, "of the same process")
            assert mine.is_dir()
            (building,) = (path for path in tmp_path.glob(".month.building-*") if path != mine)
            assert contents(building) == {"half.txt": "half"}
    finally:
        kill(builder)


def test_leftovers_of_other_targets_are_left_alone(tmp_path):
    (tmp_path / ".month-2.building-0123456789abcdef").mkdir()
    publish_text(tmp_path / "month", "new")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("seed", range(4))
def test_a_builder_killed_at_any_moment_leaves_one_whole_folder(tmp_path, seed):
    target = tmp_path / "month"
    publisher = start(PUBLISH_FOR_EVER, target)
    assert publisher.stdout is not None
    assert publisher.stdout.readline() == "0\n"
    time.sleep(random.Random(seed).random() / 10)
    kill(publisher)
    assert (target / "a.txt").read_text() == (target / "deeper" / "b.txt").read_text()
    publish_text(target, "after")
    assert list(tmp_path.iterdir()) == [target]
    assert contents(target) == {"a.txt": "after"}


def test_builders_side_by_side_each_publish_a_whole_folder(tmp_path):
    target = tmp_path / "month"
    failures: list[BaseException] = []

    def build(name: str) -> None:
        try:
            for number in range(15):
                with publish_folder(target) as folder:
                    (folder / "a.txt").write_text(f"{name}{number}")
                    (folder / "b.txt").write_text(f"{name}{number}")
        except BaseException as error:
            failures.append(error)

    builders = [threading.Thread(target=build, args=(name,)) for name in "xyz"]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert failures == []
    assert (target / "a.txt").read_text() == (target / "b.txt").read_text()
    assert list(tmp_path.iterdir()) == [target]


def test_where_folders_cannot_be_exchanged_the_old_one_is_moved_aside(tmp_path):
    target, building = tmp_path / "month", tmp_path / ".month.building-1"
    publish_text(target, "old")
    publish_text(building, "new")
    aside = publish._move_aside(building, target)
    assert contents(target) == {"a.txt": "new"}
    assert contents(aside) == {"a.txt": "old"}
    assert aside.name.startswith(".month.old-")


def test_an_old_folder_whose_mover_was_killed_between_both_renames_is_put_back(tmp_path):
    target = tmp_path / "month"
    publish_text(target, "old")
    target.rename(tmp_path / ".month.old-0123456789abcdef")
    with pytest.raises(ZeroDivisionError), publish_folder(target):
        _ = 1 / 0
    assert contents(target) == {"a.txt": "old"}
    assert list(tmp_path.iterdir()) == [target]


def test_an_old_folder_that_was_replaced_already_is_removed(tmp_path):
    target = tmp_path / "month"
    publish_text(tmp_path / ".month.old-0123456789abcdef", "old")
    publish_text(target, "new")
    publish_text(target, "newer")
    assert list(tmp_path.iterdir()) == [target]


def test_a_target_may_be_relative_and_the_current_folder_may_change_meanwhile(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with publish_folder(Path("month")) as folder:
        (folder / "a.txt").write_text("new")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
    assert contents(tmp_path / "month") == {"a.txt": "new"}


def test_a_folder_is_not_put_in_place_of_a_file_or_a_link(tmp_path):
    (tmp_path / "file").write_text("stays")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("file", "link"):
        with pytest.raises(PublishError, match=f"{name}: is a file or a link"), publish_folder(tmp_path / name):
            pytest.fail("the block ran")
    assert (tmp_path / "file").read_text() == "stays"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("target", [".", "/", ".."])
def test_a_target_without_a_name_is_refused(target):
    with pytest.raises(PublishError, match="has no name of its own"):
        publish_file(Path(target), b"")
    with pytest.raises(PublishError, match="has no name of its own"), publish_folder(Path(target)):
        pytest.fail("the block ran")


def test_a_target_whose_parent_cannot_be_made_is_refused_by_its_name(tmp_path):
    (tmp_path / "file").touch()
    target = tmp_path / "file" / "deep" / "target"
    with (
        pytest.raises(PublishError, match="target: nothing can be made there: Not a directory"),
        publish_folder(target),
    ):
        pass
    with pytest.raises(PublishError, match="target: nothing can be made there: Not a directory"):
        publish_file(target, b"")


def test_a_file_is_replaced_whole_and_old_maps_stay_readable(tmp_path):
    target = tmp_path / "tokenizer" / "vocab.json"
    publish_file(target, b"old" * 10_000)
    with target.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as old:
        publish_file(target, b"new")
        assert target.read_bytes() == b"new"
        assert old[:] == b"old" * 10_000
    assert list(target.parent.iterdir()) == [target]


def test_a_file_that_a_killed_process_left_is_removed_by_the_next(tmp_path):
    (tmp_path / ".vocab.json.building-0123456789abcdef").write_bytes(b"half")
    publish_file(tmp_path / "vocab.json", b"whole")
    assert list(tmp_path.iterdir()) == [tmp_path / "vocab.json"]


def test_a_file_is_not_put_in_place_of_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(PublishError, match="folder: is a folder"):
        publish_file(tmp_path / "folder", b"")


def test_exclusive_lets_one_in_at_a_time(tmp_path):
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(10):
            with exclusive(tmp_path / "bpe"):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert most == [1] * 30


def test_a_process_forked_inside_does_not_keep_the_lock(tmp_path):
    script = """
import os, sys, time
from pathlib import Path
from rukh_loaders.formats.publish import exclusive

with exclusive(Path(sys.argv[1])):
    child = os.fork()
    if child == 0:
        time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""
    holder = start(script, tmp_path / "bpe")
    assert holder.stdout is not None
    child = int(holder.stdout.readline())
    try:
        with exclusive(tmp_path / "bpe"):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        kill(holder)


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    script = """
import sys, time
from pathlib import Path
from rukh_loaders.formats.publish import exclusive

with exclusive(Path(sys.argv[1])):
    print("inside", flush=True)
    time.sleep(600)
"""
    holder = start(script, tmp_path / "bpe")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "inside\n"
    kill(holder)
    with exclusive(tmp_path / "bpe"):
        pass
