"""How long a process needs before its first kernel has run, once another one has compiled it."""

import json
import statistics
import subprocess
import sys

from benchmarks.plan import Plan
from benchmarks.report import Floor, Result

_FIRST_KERNELS = """
import json, time
began = time.process_time()
import numpy as np
import pyarrow as pa
from rukh_assets import board
imported = time.process_time()
board.{kernel}
print(json.dumps([imported - began, time.process_time() - imported]))
"""
_KERNELS = {
    "uci to san ids": 'uci_to_san_ids(pa.array(["e2e4 e7e5"]), np.zeros(1, np.uint8))',
    "movetext to uci": 'movetext_to_uci(pa.array(["1. e4 e5 1-0"]))',
}


def start(plan: Plan) -> list[Result]:
    """CPU time of the imports, and from there to the first result of each of the two large kernels."""
    results = []
    imports: list[float] = []
    for name, kernel in _KERNELS.items():
        code = _FIRST_KERNELS.format(kernel=kernel)
        _second_process(code)
        timings = [_second_process(code) for _ in range(plan.rounds)]
        imports += [imported for imported, _ in timings]
        first = statistics.median(first for _, first in timings)
        results.append(plan.figure("start", f"first {name}", first, "s", Floor(most=0.5), can_tell=True))
    return [Result("start", "imports", value=statistics.median(imports), unit="s"), *results]


def _second_process(code: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    seconds: list[float] = json.loads(done.stdout)
    return seconds
