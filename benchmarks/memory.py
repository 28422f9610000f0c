"""How much memory a step needs, as the system counts it."""

import ctypes
import gc
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


@dataclass
class Peak:
    """The most that a step needed at once; None where the system does not tell."""

    mb: float | None = None
    """Megabytes (10^6 bytes) above what the process held before."""


@contextmanager
def peak_of_step() -> Iterator[Peak]:
    """Measure the statements inside: resident memory at its highest, mapped files included, less that before them.

    Linux alone can start the count anew (`/proc/self/clear_refs`); elsewhere the peak stays None.
    """
    _give_back()
    peak = Peak()
    if not _CLEAR.exists():
        yield peak
        return
    _CLEAR.write_text(_RESET_PEAK)
    before = _status("VmRSS")
    yield peak
    peak.mb = (_status("VmHWM") - before) / 1e6


def peak_of_process() -> float:
    """Megabytes that this process held at its highest since it started."""
    if _STATUS.exists():  # ru_maxrss is that of the parent where the parent was larger when it forked
        return _status("VmHWM") / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _status(key: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024


def _give_back() -> None:
    """Let the allocators return what is free, so that a step does not live on memory that another one has freed."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)
