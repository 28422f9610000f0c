"""Batches on a GPU: widened before they are moved, after it, and by torch's own loader."""

import time
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from benchmarks.plan import Plan
from benchmarks.report import Result, not_run
from benchmarks.residency import read_whole
from benchmarks.stages.loader import BLOCK
from benchmarks.window_loaders import Pair, without_end
from rukh_loaders import PackedDataset, make_loader, open_pack
from rukh_loaders.formats import Pack
from rukh_loaders.rates.baselines import NaiveWindows

_BATCH = 256
_BATCHES, _BATCHES_NAIVE = 2_000, 100


def loader_gpu(plan: Plan) -> list[Result]:
    """Tokens a second, of elapsed time, that arrive on the device in batches of 256."""
    if not torch.cuda.is_available():
        return [not_run("loader_gpu", "torch finds no GPU on this machine")]
    return arriving(plan, torch.device("cuda"))


def arriving(plan: Plan, device: torch.device) -> list[Result]:
    pack = open_pack(plan.corpora.pack(plan.games))
    read_whole(pack.path / "tokens.npy")
    loaders = {
        "naive, pinned": (_naive(pack, device), _BATCHES_NAIVE),
        "rukh": (_ours(PackedDataset(pack, BLOCK), device), _BATCHES),
        "rukh, widened there": (_ours(PackedDataset(pack, BLOCK, widen_on_device=True), device), _BATCHES),
    }
    best: dict[str, float] = {}
    for _ in range(plan.rounds):
        for name, (batches, count) in loaders.items():
            rate = count * _BATCH / _elapsed_s(batches, count, device)
            best[name] = max(rate, best.get(name, 0.0))
    base = best["naive, pinned"]
    return [
        Result("loader_gpu", name, games_per_s=rate, tokens_per_s=rate * BLOCK, ratio=rate / base, note="elapsed")
        for name, rate in best.items()
    ]


def _naive(pack: Pack, device: torch.device) -> Iterator[Any]:
    loader: DataLoader[Pair] = DataLoader(
        NaiveWindows(pack, BLOCK), _BATCH, shuffle=True, drop_last=True, pin_memory=device.type == "cuda"
    )
    for x, y in without_end(loader):
        yield x.to(device, non_blocking=True), y.to(device, non_blocking=True)


def _ours(dataset: PackedDataset, device: torch.device) -> Iterator[Any]:
    return without_end(make_loader(dataset, _BATCH, device=device))


def _elapsed_s(batches: Iterator[Any], count: int, device: torch.device) -> float:
    began = time.perf_counter()
    for _ in range(count):
        x, _ = next(batches)
    x.sum().item()  # waits for the last copy
    return time.perf_counter() - began
