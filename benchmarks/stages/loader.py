"""Batches a second: the package's loader beside loaders of one item at a time, other projects' and what caps it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import DataLoader

from benchmarks.measure import Timing, Variant, Work, interleave
from benchmarks.peers import BY_HAND, INSTALL, PEERS
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from benchmarks.residency import read_whole
from benchmarks.window_loaders import nanogpt_batches, without_end, written_windows
from rukh_loaders import PackedDataset, make_loader, open_pack, open_packs
from rukh_loaders.formats import Pack, PackWriter
from rukh_loaders.rates import resident_share
from rukh_loaders.rates.baselines import CarefulWindows, NaiveWindows, batches_by_item, gather_alone
from rukh_loaders.sampler import ResumableSampler

BLOCK = 200
_SLOW_WINDOWS, _FAST_WINDOWS = 12_800, 256_000
"""Most windows of one call of the slow variants and of the fast ones: about a tenth of a second each."""
_QUICK = 4
"""How many times fewer where floors are not judged."""
_PEERS_WINDOWS = 200_000
_OTHERS_BATCH = 256
_FILES = {"ids in memory": "tokens", "starts in memory": "starts"}

_NAIVE, _CAREFUL, _OURS, _STOCK, _LIMIT = "naive", "careful", "rukh", "rukh, stock DataLoader", "gather alone"


@dataclass(frozen=True)
class _Floors:
    """Of one size of batch."""

    over_naive: Floor
    stock_over_naive: Floor
    over_careful: Floor
    over_peers: Floor


_FLOORS = {
    64: _Floors(Floor(least=20), Floor(least=12), Floor(least=10), Floor(least=10)),
    256: _Floors(Floor(least=28), Floor(least=20), Floor(least=14), Floor(least=15)),
}
_OF_LIMIT = Floor(least=50)


def loader(plan: Plan) -> list[Result]:
    """Shuffled windows of 200 from the games' starts, in batches of 64 and of 256, all variants in turns."""
    pack = open_pack(plan.corpora.pack(plan.games))
    for file in _FILES.values():
        read_whole(pack.path / f"{file}.npy")
    with tempfile.TemporaryDirectory() as folder:
        peers = _written_for(pack, Path(folder))
        variants = [
            variant for batch in _FLOORS for variant in (*_variants(plan, pack, batch), *_peers(plan, peers, batch))
        ]
        variants += _others(plan, pack, in_months(pack, Path(folder, "months")))
        timings = interleave(variants, plan.rounds)
    results = [
        *(result for batch in _FLOORS for result in _compared(plan, batch, timings)),
        *(
            Result("loader", name, note=f"not run, to install: {INSTALL}")
            for name, peer in PEERS.items()
            if not peer.is_installed
        ),
    ]
    return judged_in_memory(results, {name: resident_share(pack.path / f"{file}.npy") for name, file in _FILES.items()})


def _variants(plan: Plan, pack: Pack, batch: int) -> list[Variant]:
    dataset = PackedDataset(pack, BLOCK)
    sampler = ResumableSampler(len(dataset))
    stock = DataLoader(dataset, batch, sampler=sampler, drop_last=True)
    slow, fast = _a_call(plan, len(dataset), _SLOW_WINDOWS), _a_call(plan, len(dataset), _FAST_WINDOWS)
    return [
        _serving(_NAIVE, batches_by_item(NaiveWindows(pack, BLOCK), batch), batch, slow),
        _serving(_CAREFUL, batches_by_item(CarefulWindows(pack, BLOCK), batch), batch, slow),
        _serving("nanoGPT get_batch", nanogpt_batches(pack, BLOCK, batch), batch, slow),
        _serving(_OURS, without_end(make_loader(dataset, batch, prefetch=0)), batch, fast),
        _serving("rukh, prefetching", without_end(make_loader(dataset, batch)), batch, fast),
        _serving(_STOCK, without_end(stock), batch, fast),
        _serving(_LIMIT, gather_alone(pack, BLOCK, batch), batch, fast),
    ]


def _others(plan: Plan, pack: Pack, months: Path) -> list[Variant]:
    """What other choices and rows than windows at all games of one pack cost: no floors."""
    one = open_packs(pack)
    datasets = {
        "rukh, 12 months": PackedDataset(months, BLOCK),
        "rukh, 1 game in 5": PackedDataset(one.where(np.arange(one.n_games) % 5 == 0), BLOCK),
        "rukh, best_fit": PackedDataset(one, BLOCK, windows="best_fit"),
        "rukh, with masks": PackedDataset(one, BLOCK, position_ids=True, cu_seqlens=True, loss_mask="moves"),
    }
    return [
        _serving(
            name,
            without_end(make_loader(dataset, _OTHERS_BATCH, prefetch=0, drop_last=False)),
            _OTHERS_BATCH,
            _a_call(plan, len(dataset), _SLOW_WINDOWS),
        )
        for name, dataset in datasets.items()
    ]


def in_months(pack: Pack, folder: Path) -> Path:
    """The games of `pack`, in twelve packs without columns."""
    bounds = np.linspace(0, len(pack), 13).astype(int).tolist()
    starts = np.append(pack.starts, np.int64(pack.info.n_tokens))
    for month, (first, end) in enumerate(pairwise(bounds), start=1):
        ids = pack.tokens[starts[first] : starts[end]]
        info = pack.info.model_copy(update={"n_games": end - first, "n_tokens": ids.size})
        with PackWriter(folder / f"2024-{month:02}", info) as writer:
            writer.append(ids, np.diff(starts[first : end + 1]))
            writer.finish({})
    return folder


def _written_for(pack: Pack, folder: Path) -> dict[str, Path]:
    """Each installed peer's own copy of the windows."""
    installed = {name: peer for name, peer in (PEERS | BY_HAND).items() if peer.is_installed}
    windows = written_windows(pack, BLOCK, _PEERS_WINDOWS) if installed else None
    folders = {}
    for name, peer in installed.items():
        assert windows is not None
        folders[name] = folder / name
        folders[name].mkdir()
        peer.write(windows, folders[name])
    return folders


def _peers(plan: Plan, folders: Mapping[str, Path], batch: int) -> list[Variant]:
    slow = _a_call(plan, _PEERS_WINDOWS, _SLOW_WINDOWS)
    return [
        _serving(name, (PEERS | BY_HAND)[name].pairs(folder, BLOCK, batch), batch, slow)
        for name, folder in folders.items()
    ]


def _a_call(plan: Plan, windows: int, most: int) -> int:
    return min(windows, most if plan.judged else most // _QUICK)


def _serving(name: str, batches: Iterator[Any], batch: int, windows: int) -> Variant:
    """A call takes the next batches, `windows` windows of them; epochs begin within a call where one ends."""
    count = max(1, windows // batch)

    def run() -> Work:
        for _ in range(count):
            next(batches)
        return Work(count * batch, count * batch * BLOCK)

    return Variant(_of(batch, name), run)


def _of(batch: int, name: str) -> str:
    return f"{batch}: {name}"


def _compared(plan: Plan, batch: int, timings: Mapping[str, Timing]) -> list[Result]:
    """The variants of one size of batch, over its naive one, and the package's over others."""
    own = {name: timing for name, timing in timings.items() if name.startswith(_of(batch, ""))}
    floors = _FLOORS[batch]
    ours = own[_of(batch, _OURS)].games_per_s

    def over(name: str) -> float:
        return ours / own[_of(batch, name)].games_per_s

    def figure(name: str, value: float, unit: str, floor: Floor, note: str | None = None) -> Result:
        return plan.figure("loader", _of(batch, name), value, unit, floor, note=note)

    results = [
        *plan.compare(
            "loader", own, {_of(batch, _OURS): floors.over_naive, _of(batch, _STOCK): floors.stock_over_naive}
        ),
        figure("over careful", over(_CAREFUL), "x", floors.over_careful),
        figure(f"share of {_LIMIT}", 100 * over(_LIMIT), "%", _OF_LIMIT),
    ]
    if peers := [name for name in PEERS if _of(batch, name) in own]:
        best = min(peers, key=over)
        results.append(figure("over the best peer", over(best), "x", floors.over_peers, note=f"over {best}"))
    return results


def judged_in_memory(results: Sequence[Result], shares: Mapping[str, float | None]) -> list[Result]:
    """The results, and which share of the pack's files the system held to the end, None where it does not tell.

    Speeds of a pack that was not wholly in memory are the disk's: then no floor is judged.
    """
    if any(share is not None and share < 1 for share in shares.values()):
        results = [result if result.floor is None else _not_judged(result) for result in results]
    return [*results, *(_residency(name, share) for name, share in shares.items())]


def _not_judged(result: Result) -> Result:
    note = "not judged: the pack was not all in memory"
    return replace(result, met=None, note=note if result.note is None else f"{result.note}; {note}")


def _residency(name: str, share: float | None) -> Result:
    if share is None:
        return Result("loader", name, note="this system does not tell")
    return Result("loader", name, value=100 * share, unit="%", note="at the end of the stage")
