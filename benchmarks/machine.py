"""The cores of the machine: keeping to one, and seeing whether a second one is free. And whether it has a GPU."""

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Environment that keeps libraries from starting threads of their own."""

_STAT = Path("/proc/stat")
_GPUS = tuple(map(Path, ("/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/dxg", "/dev/kfd")))
"""Devices of Nvidia's drivers, of Windows's under Linux, and of AMD's."""


@contextmanager
def pinned() -> Iterator[None]:
    """Keep this thread, and the processes that it starts meanwhile, on the core that is least busy now.

    Linux alone has the means; elsewhere nothing changes.
    """
    if not hasattr(os, "sched_setaffinity") or not _STAT.exists():
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {_idlest(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def gpu_may_be_present() -> bool:
    """Whether it is worth the seconds to ask torch: False only where there is no driver of a GPU that it could use."""
    return any(device.exists() for device in _GPUS) or shutil.which("nvidia-smi") is not None


def cores_free() -> float:
    """How many cores two threads get now, about 1 to 2: what two hashes side by side gain over one after the other."""
    block = bytes(1 << 26)
    with ThreadPoolExecutor(2) as pool:
        began = time.perf_counter()
        for _ in range(2):
            _hash(block)
        between = time.perf_counter()
        list(pool.map(_hash, (block, block)))
        ended = time.perf_counter()
    return (between - began) / (ended - between)


def _hash(block: bytes) -> bytes:
    return hashlib.sha256(block).digest()


def _idlest(cores: set[int]) -> int:
    before = _idle_ticks()
    time.sleep(0.3)
    after = _idle_ticks()
    return max(sorted(cores), key=lambda core: after[core] - before[core])


def _idle_ticks() -> dict[int, int]:
    """Per core, how long it has been idle since the system started."""
    lines = (line.split() for line in _STAT.read_text().splitlines())
    return {int(name[3:]): int(idle) for name, *ticks in lines if name[:3] == "cpu" and name[3:] for idle in ticks[3:4]}
