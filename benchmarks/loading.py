"""What the loader needs in a process of its own: the time to its first batch, and the memory of a whole epoch.

    python -m benchmarks.loading PACK BATCH     prints a JSON object

| key | what it is |
|---|---|
| `resident` | the share of the pack's ids that lay in memory before anything was opened; null where it is not told |
| `first_s` | seconds from the pack's path to the first batch, as the pack lay there; imports apart |
| `most_mb` | the most anonymous memory above that of torch alone in the epoch, the package's import included |
| `growth_mb` | how much of it came after the first batch |
| `first_warm_s` | from the path to the first batch once more, with the pack in memory |
| `state_bytes`, `pickle_bytes` | the loader's state as JSON, and the dataset as a worker process is sent it |

Windows are of 200 ids, shuffled; MB are 10^6 bytes. Mapped files are no anonymous memory: the system drops their pages
when it needs the room.
"""

import gc
import json
import pickle
import sys
import time
from pathlib import Path

import torch

from benchmarks.residency import read_whole

_ARRAYS = ("tokens.npy", "starts.npy")
_STATUS = Path("/proc/self/status")
_STEPS_A_LOOK = 200


def measure(pack: Path, batch: int) -> dict[str, float | None]:
    """See above. What the package is for is imported here, after a look at the memory of torch alone."""
    torch.zeros(batch, 200, dtype=torch.int64)
    gc.collect()
    alone = anonymous_bytes()
    from rukh_loaders import PackedDataset, make_loader

    imports = anonymous_bytes() - alone
    from rukh_loaders.rates.residency import resident_share

    resident = resident_share(pack / _ARRAYS[0])
    before = anonymous_bytes() - imports  # what looking at residency has left is not the loader's
    began = time.perf_counter()
    dataset = PackedDataset(pack)
    loader = make_loader(dataset, batch)
    batches = iter(loader)
    next(batches)
    first_s = time.perf_counter() - began
    looks = [anonymous_bytes()]
    for step, _ in enumerate(batches):
        if step % _STEPS_A_LOOK == 0:
            looks.append(anonymous_bytes())
    for name in _ARRAYS:
        read_whole(pack / name)
    began = time.perf_counter()
    next(iter(make_loader(PackedDataset(pack), batch)))
    return {
        "resident": resident,
        "first_s": first_s,
        "first_warm_s": time.perf_counter() - began,
        "most_mb": (max(looks) - before) / 1e6,
        "growth_mb": (looks[-1] - looks[0]) / 1e6,
        "state_bytes": len(json.dumps(loader.state_dict())),
        "pickle_bytes": len(pickle.dumps(dataset)),
    }


def anonymous_bytes() -> int:
    """What this process holds that no file backs; 0 on systems that do not tell, which is all but Linux."""
    lines = _STATUS.read_text("ascii").splitlines() if _STATUS.exists() else []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def main(arguments: list[str]) -> None:
    pack, batch = arguments
    print(json.dumps(measure(Path(pack), int(batch))))


if __name__ == "__main__":
    main(sys.argv[1:])
