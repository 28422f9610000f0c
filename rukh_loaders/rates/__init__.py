"""How fast this machine serves a pack: what `python -m rukh_loaders bench` does.

    rates = measure(pack, block=200, batch_size=256, seconds=5)     # a `Rate` for each way, by name
    resident_share(pack.path / "tokens.npy")                        # how much of the file lies in memory

| module | holds |
|---|---|
| `measuring.py` | the ways to serve windows, timed side by side |
| `baselines.py` | the plain ways, and what caps them all |
| `residency.py` | which part of a file lies in memory |
| `report.py` | the figures as text |
"""

from rukh_loaders.rates.measuring import measure
from rukh_loaders.rates.report import bench_report
from rukh_loaders.rates.residency import resident_share

__all__ = ["bench_report", "measure", "resident_share"]
