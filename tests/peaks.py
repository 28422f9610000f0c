"""The most memory that a piece of code needs, measured in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

# Not ru_maxrss: that is the parent's where the parent was larger when it forked.
_MEASURED = """
import sys
from pathlib import Path

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024

{before}
begin = peak()
{code}
print(begin, peak())
"""


def peak_above_imports(before: str, code: str, *arguments: object) -> float:
    """Megabytes that the process grew by in `code`, above its peak after `before`; both see `sys.argv` and `Path`."""
    if not Path("/proc/self/status").exists():
        pytest.skip("reads the peak memory from /proc")
    paths = [str(PROJECT), str(PROJECT / "tests"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED.format(before=before, code=code), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    begin, end = map(int, done.stdout.split()[-2:])
    return (end - begin) / 1e6
