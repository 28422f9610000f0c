"""One rank of a training that can be killed at any time: `training_rank.py RANK WORLD_SIZE FOLDER`.

Two epochs of the packs in FOLDER/packs are served. What is trained on is what the ranks' batches hold, gathered over
gloo; the first rank keeps all of it, with the state of its loader, in one checkpoint that it replaces after every step.
"""

import json
import sys
import time
from pathlib import Path

from torch import distributed

from rukh_loaders import Batch, PackedDataset, make_loader, open_packs

COUNT = 150
FIRST_ID = 8
EPOCHS = 2
BATCH_SIZES = {1: 7, 2: 4, 3: 2}


def main(rank: int, world_size: int, folder: Path) -> None:
    meeting = folder / f"meeting-of-{world_size}"
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world_size)
    dataset = PackedDataset(open_packs(folder / "packs"), block=4)
    loader = make_loader(dataset, BATCH_SIZES[world_size], seed=5, drop_last=False)
    trained = []
    if (folder / "checkpoint.json").exists():
        checkpoint = json.loads((folder / "checkpoint.json").read_text())
        trained = checkpoint["trained"]
        loader.load_state_dict(checkpoint["loader"])
    while loader.epoch < EPOCHS:
        for batch in loader:
            parts = [None] * world_size
            distributed.all_gather_object(parts, games_of(batch))
            trained.append([loader.epoch, [item for part in parts for item in part]])
            if rank == 0:
                save(folder, {"trained": trained, "loader": loader.state_dict()})
            time.sleep(0.02)  # a step, so that there is time to be killed in
    distributed.destroy_process_group()


def games_of(batch: Batch) -> list[int]:
    """The games in the rows, by the id behind their `<bos>`; a row that only fills up has none."""
    return [game - FIRST_ID for game in batch.x[:, 1].tolist() if game]


def save(folder: Path, checkpoint: dict) -> None:
    (folder / "checkpoint.part").write_text(json.dumps(checkpoint))
    (folder / "checkpoint.part").replace(folder / "checkpoint.json")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
