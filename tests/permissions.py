"""Reading as a user whom files can be closed to, which root's are not."""

import ctypes
import os
from contextlib import contextmanager

import pytest

_VERSION_3 = 0x20080522
_MAY_READ_ALL = 0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, see linux/capability.h


@contextmanager
def as_any_user():
    """While it lasts, this thread reads only what permissions let it; skips where a root cannot be kept from more."""
    if os.geteuid() != 0:
        yield
        return
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        head, sets = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
        failed = libc.capget(head, sets)
    except (OSError, AttributeError):
        failed = -1
    before = sets[0] if failed == 0 else 0
    if failed == 0:
        sets[0] = before & ~_MAY_READ_ALL
        failed = libc.capset(head, sets)
    if failed != 0:
        pytest.skip("root can read everything here")
    try:
        yield
    finally:
        sets[0] = before
        libc.capset(head, sets)
