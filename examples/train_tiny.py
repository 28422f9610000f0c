"""Trains a tiny decoder on packs, on one process or several, and goes on after any interruption as if there was none.

    python examples/train_tiny.py data/packs/uci --steps 300 --checkpoint tiny.pt
    torchrun --nproc-per-node 2 examples/train_tiny.py data/packs/uci --steps 300 --checkpoint tiny.pt

Killed and called again with the same arguments, it goes on from the last checkpoint: no game is skipped or seen twice,
and on processors the losses are those of a run that was never interrupted, to the last bit. A checkpoint also goes on
with another number of processes: they share each batch of `--batch` windows, so the batches stay the same ones.

A share of the games, chosen by a hash of their ids, is never trained on and judges the model in the end.
"""

import argparse
import itertools
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).parent))  # where it is imported rather than run
from tiny_decoder import TinyDecoder, Trainer, epochs, summed_loss

from rukh_loaders import PackedDataset, make_loader, open_packs
from rukh_loaders.errors import RukhLoadersError

OF_THE_TRAINING = ("months", "min_elo", "val", "steps", "block", "seed")
"""Arguments without which a checkpoint is of another training."""


class Run:
    """A model, its trainer and its loader: what a checkpoint is of."""

    def __init__(self, chosen: argparse.Namespace, device: torch.device) -> None:
        packs = open_packs(chosen.packs, chosen.months)
        if chosen.min_elo is not None:
            packs = packs.where(white_elo=(chosen.min_elo, None), black_elo=(chosen.min_elo, None))
        parts = packs.split(salt="train_tiny", val=chosen.val)
        for use, part in (("train on", parts["train"]), ("judge by", parts["val"])):
            if not part.n_games:
                sys.exit(f"--val {chosen.val} leaves none of {packs.n_games} games to {use}; take another share")
        rows = chosen.batch // world_size()
        self.model = TinyDecoder(packs.vocab_size, chosen.block, seed=chosen.seed).to(device)
        wrapped = DistributedDataParallel(self.model) if world_size() > 1 else self.model
        self.trainer = Trainer(wrapped, chosen.steps, mean=mean_of_processes)
        self.loader = make_loader(PackedDataset(parts["train"], chosen.block), rows, seed=chosen.seed, device=device)
        self.judge = make_loader(PackedDataset(parts["val"], chosen.block), rows, evaluate=True, device=device)
        self.arguments = {name: getattr(chosen, name) for name in OF_THE_TRAINING}
        self.losses: list[float] = []

    def train(self, until: int, every: int, checkpoint: Path | None) -> None:
        """Steps until `until` of them are done, and a checkpoint each `every` and at the end."""
        for x, y in itertools.islice(epochs(self.loader), until - self.trainer.done):
            self.losses.append(self.trainer.step(x, y))
            done = self.trainer.done
            if done % every == 0 or done == until:
                say(f"step {done:5d}  loss {self.losses[-1]:.4f}  epoch {self.loader.epoch}")
                if checkpoint is not None and rank() == 0:
                    self.save(checkpoint)

    def save(self, path: Path) -> None:
        """Whole or not at all: a kill meanwhile leaves the checkpoint before."""
        state = {
            "model": self.model.state_dict(),
            "trainer": self.trainer.state_dict(),
            "loader": self.loader.state_dict(),
            "losses": self.losses,
            "arguments": self.arguments,
        }
        building = path.with_name(f"{path.name}.building")
        torch.save(state, building)
        building.replace(path)

    def load(self, path: Path) -> None:
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except (RuntimeError, EOFError, OSError, pickle.UnpicklingError) as error:
            reason = str(error).partition("\n")[0] or "it ends too early"
            sys.exit(f"{path}: cannot be read as a checkpoint: {reason}; to begin anew, remove it")
        try:
            self.model.load_state_dict(state["model"])
            self.trainer.load_state_dict(state["trainer"])
            self.loader.load_state_dict(state["loader"])
        except (RuntimeError, ValueError):
            before = state.get("arguments", {})
            changed = [
                f"{option(name)} was {then} and is {self.arguments[name]}"
                for name, then in before.items()
                if then != self.arguments[name]
            ]
            if not changed:
                raise
            sys.exit(f"{path}: is of a training with other arguments: {', '.join(changed)}; to begin anew, remove it")
        self.losses = state["losses"]

    def judged(self) -> float:
        """The mean loss over all targets of the games that were put aside, each process judging its share."""
        loss, targets = map(mean_of_processes, summed_loss(self.model, self.judge))
        return loss / targets


def main(arguments: list[str]) -> Run:
    chosen = parse(arguments)
    with processes() as device:
        if chosen.batch % world_size():
            sys.exit(f"--batch {chosen.batch} cannot be shared by {world_size()} processes; take a multiple of them")
        run = Run(chosen, device)
        if chosen.checkpoint is not None and chosen.checkpoint.exists():
            run.load(chosen.checkpoint)
            say(f"going on after step {run.trainer.done}")
        run.train(min(chosen.steps, chosen.pause_at or chosen.steps), chosen.every, chosen.checkpoint)
        if run.trainer.done == chosen.steps:
            say(f"loss on the games put aside: {run.judged():.4f}")
        run.loader.close()
    return run


def option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("packs", type=Path, help="a folder of packs, such as data/packs/uci, or one pack")
    add("--months", help="such as 2024-01:2024-12 (default: all there are)")
    add("--min-elo", type=int, help="only games whose players are both rated so high")
    add("--val", type=float, default=0.01, help="share of the games that is put aside (default: %(default)s)")
    add("--steps", type=int, default=300, help="of the whole training (default: %(default)s)")
    add("--pause-at", type=int, metavar="STEP", help="stop there for now, with a checkpoint")
    add("--batch", type=int, default=32, help="windows of a step, over all processes (default: %(default)s)")
    add("--block", type=int, default=128, help="tokens of a window (default: %(default)s)")
    add("--seed", type=int, default=0, help="of the weights and of the games' order (default: %(default)s)")
    add("--checkpoint", type=Path, help="written as the training goes, and gone on from where it is there")
    add("--every", type=int, default=50, help="steps from one checkpoint to the next (default: %(default)s)")
    return parser.parse_args(arguments)


@contextmanager
def processes() -> Iterator[torch.device]:
    """The device to use; under torchrun also the process group, which `make_loader` finds by itself."""
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if on_gpu else torch.device("cpu")
    if "RANK" not in os.environ:
        yield device
        return
    if on_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpu else "gloo")
    try:
        yield device
    finally:
        dist.destroy_process_group()


def rank() -> int:
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def mean_of_processes(number: float) -> float:
    if world_size() == 1:
        return number
    total = torch.tensor(number, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item() / world_size()


def say(text: str) -> None:
    if rank() == 0:
        print(text, flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except RukhLoadersError as error:
        sys.exit(f"{error}")
