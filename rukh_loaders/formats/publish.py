"""Folders and files that appear whole or not at all: the only place that knows how to be atomic.

What is built lies beside its target under a hidden name, `.<name>.building-<random>`, is synced to the disk, and is put
in place in one step. The builder holds a lock (flock) on it, which the system drops when the process dies, however it
dies: so the next builder of the same target can tell what was left behind, and removes it.

Where there is no flock (Windows, some network file systems) leftovers stay until somebody removes them. Where locks are
not shared between the machines that mount a file system, only one machine at a time may publish to one target.
"""

import ctypes
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rukh_loaders.errors import PublishError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

AT_FDCWD = -100  # <fcntl.h>: paths are taken from the current folder
RENAME_EXCHANGE = 2  # <linux/fs.h>


@contextmanager
def publish_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; when the block ends it stands at `target`, whole.

    A folder that stands at `target` already is replaced in one step, and whoever has its files mapped keeps reading
    them. When the block raises, the new folder is removed, `target` is as it was, and the error goes on. When the
    process is killed, `target` is as it was or new, never between; the next publish to it removes what was left.
    Missing parents are made. Two builders at once do not harm each other: the one that ends last stands.

    A `target` that is a file or a link, or that cannot be made, raises `PublishError`, and so does a disk that is full.
    """
    target = _checked_target(target)
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise PublishError(f"{target}: is a file or a link, only a folder can be replaced by a folder")
    with _building_of(target, Path.mkdir) as building:
        yield building
        _sync_tree(building)
        retired = _put_in_place(building, target)
        _sync(target.parent)
    if retired is not None:
        _remove(retired)


def publish_file(target: Path, data: bytes) -> None:
    """Put a file of `data` at `target` in one step, in place of the file that stands there, with the same promise.

    A `target` that is a folder, or that cannot be made, raises `PublishError`, and so does a disk that is full.
    """
    target = _checked_target(target)
    if target.is_dir():
        raise PublishError(f"{target}: is a folder, only a file can be replaced by a file")
    with _building_of(target, _touch_new) as building:
        building.write_bytes(data)
        _sync(building)
        building.replace(target)
        _sync(target.parent)


@contextmanager
def _building_of(target: Path, create: Callable[[Path], None]) -> Iterator[Path]:
    """A hidden sibling of `target`, locked while the block runs, and removed when the block raises."""
    try:
        _make_parents(target.parent)
        _clear_leftovers(target)
        building, lock = _claim(target, create)
    except OSError as error:
        raise PublishError(f"{target}: nothing can be made there: {error.strerror or error}") from error
    try:
        yield building
    except BaseException as error:
        # Once it was put in place, what lies under this name is the old folder or nothing.
        _remove(building)
        _name_target(error, target)
        raise
    finally:
        _unlock(lock)


@contextmanager
def exclusive(target: Path) -> Iterator[None]:
    """Hold the lock of `target` during the block, waiting for whoever holds it, in this process or another.

    For work that two must not do at once, such as looking whether `target` stands and making it. The lock is a hidden
    file `.<name>.lock` beside it, gone with the block; the system drops it when the process dies. Not to be nested for
    one target.
    """
    target = _checked_target(target)
    _make_parents(target.parent)
    path = target.with_name(f".{target.name}.lock")
    while True:
        with path.open("ab") as file:
            if fcntl is not None:
                with suppress(OSError):  # no locks on this file system
                    fcntl.flock(file, fcntl.LOCK_EX)
            if not _lies_at(file.fileno(), path):
                continue  # whoever held it has removed it: this is the lock of nobody
            try:
                yield
            finally:
                _remove(path)
            return


def clear_leftovers(target: Path) -> None:
    """Remove what killed builders of `target` left beside it; publishing does so too."""
    target = _checked_target(target)
    if target.parent.is_dir():
        _clear_leftovers(target)


def _name_target(error: BaseException, target: Path) -> None:
    """Say what could not be written where the system does not: a write to a full disk names no file."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        raise PublishError(f"{target}: cannot be written: {os.strerror(error.errno)}") from error


def _checked_target(target: Path) -> Path:
    if target.name in ("", ".."):
        raise PublishError(f"{str(target)!r}: has no name of its own to publish under")
    return target.absolute()  # the current folder may change while the block runs


def _make_parents(folder: Path) -> None:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for parent in reversed(missing):
        _sync(parent.parent)


# The building folder, its lock, and what killed builders left


def _prefixes(target: Path) -> tuple[str, str]:
    return f".{target.name}.building-", f".{target.name}.old-"


def _claim(target: Path, create: Callable[[Path], None]) -> tuple[Path, int | None]:
    """A new hidden sibling of `target`, and the descriptor that holds its lock."""
    while True:
        building = target.with_name(_prefixes(target)[0] + secrets.token_hex(8))
        create(building)
        if fcntl is None:
            return building, None
        # Until the lock is held another builder may take this for a leftover and remove it: then once more.
        with suppress(FileNotFoundError):
            lock = os.open(building, os.O_RDONLY)
            with suppress(OSError):  # no locks on this file system: nobody can tell leftovers there
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _lies_at(lock, building):
                return building, lock
            os.close(lock)


def _touch_new(path: Path) -> None:
    path.touch(exist_ok=False)


def _try_lock(path: Path) -> int | None:
    """The descriptor that holds the lock of `path`; None when another one holds it, or when that cannot be told."""
    if fcntl is None:
        return None
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _lies_at(lock, path):
            return lock
    os.close(lock)
    return None


def _lies_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _clear_leftovers(target: Path) -> None:
    building, old = _prefixes(target)
    for path in sorted(target.parent.iterdir()):
        if not path.name.startswith((building, old)):
            continue
        lock = _try_lock(path)
        if lock is None:
            continue
        try:
            if path.name.startswith(old) and not target.exists():
                # Its mover died between the two renames of `_move_aside`: the old folder is all there is.
                with suppress(OSError):
                    path.rename(target)
            else:
                _remove(path)
        finally:
            os.close(lock)


def _remove(path: Path) -> None:
    """Remove a hidden file or folder; what resists stays, for the next publish to try again."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


# Putting it in place


def _put_in_place(building: Path, target: Path) -> Path | None:
    """Make `building` stand at `target`; where the folder that stood there lies now, None when there was none."""
    while True:
        try:
            building.rename(target)
            return None
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES) or not target.is_dir():
                raise
        with suppress(FileNotFoundError):  # `target` was moved away by another builder in between: once more
            if _exchange(building, target):
                return building
            return _move_aside(building, target)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step (Linux); False where the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # a C library without it
        return False
    if renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))


def _move_aside(building: Path, target: Path) -> Path:
    """Replace `target` by two renames; in between there is no `target`, and readers try once more."""
    aside = target.with_name(_prefixes(target)[1] + secrets.token_hex(8))
    lock = _try_lock(target)  # goes along with the folder: nobody takes it for a leftover meanwhile
    try:
        target.rename(aside)
        try:
            building.rename(target)
        except BaseException:
            aside.rename(target)
            raise
    finally:
        _unlock(lock)
    return aside


# Syncing


def _sync_tree(folder: Path) -> None:
    for parent, _, files in os.walk(folder, topdown=False):
        for name in files:
            _sync(Path(parent, name))
        _sync(Path(parent))


def _sync(path: Path) -> None:
    """Have the system write the file, or the folder's list of names, to the disk before it goes on."""
    if os.name == "nt" or path.is_symlink():  # Windows opens no folders
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
