"""The loader's stages with few games, and the means that they measure by."""

import itertools
import mmap
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import loading, peers
from benchmarks.corpora import Corpora
from benchmarks.plan import Plan
from benchmarks.report import Result
from benchmarks.residency import drop, read_whole
from benchmarks.stages.loader import in_months, judged_in_memory, loader
from benchmarks.stages.loader_gpu import arriving, loader_gpu
from benchmarks.stages.loader_start import loader_figures, order_figures
from benchmarks.stages.loader_wait import waits_us
from rukh_loaders import open_pack, open_packs
from rukh_loaders.rates import resident_share


@pytest.fixture(scope="module")
def plan(corpora: Corpora) -> Plan:
    return Plan(corpora, games=24, rounds=1)


def by_variant(results: list[Result]) -> dict[str, Result]:
    return {result.variant: result for result in results}


def test_batches_are_compared_with_the_naive_loader_and_judged_only_in_large_packs(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = peers.Peer("no_such_loader", lambda windows, folder: None, lambda folder, width, batch: iter([]))
    monkeypatch.setitem(peers.PEERS, "absent", absent)
    results = by_variant(loader(plan))
    for batch, floor in ((64, ">= 20x"), (256, ">= 28x")):
        ours = results[f"{batch}: rukh"]
        assert results[f"{batch}: naive"].ratio == 1
        assert ours.floor == floor
        assert ours.tokens_per_s == pytest.approx(200 * (ours.games_per_s or 0))
        assert results[f"{batch}: share of gather alone"].floor == ">= 50 %"
        limit = results[f"{batch}: gather alone"].games_per_s or 0
        assert results[f"{batch}: share of gather alone"].value == pytest.approx(100 * (ours.games_per_s or 0) / limit)
    assert {result.met for result in results.values()} == {None}
    for other in ("12 months", "1 game in 5", "best_fit", "with masks", "prefetching"):
        assert (results[f"256: rukh, {other}"].games_per_s or 0) > 0
        assert results[f"256: rukh, {other}"].floor is None
    assert results["absent"].games_per_s is None
    assert "pip install" in (results["absent"].note or "")


def test_the_months_of_a_pack_are_its_games(plan: Plan, tmp_path: Path) -> None:
    pack = open_pack(plan.corpora.pack(24))
    months = open_packs(in_months(pack, tmp_path / "months"))
    assert len(months.packs) == 12
    assert np.array_equal(np.concatenate([month.tokens for month in months.packs]), pack.tokens)
    assert np.array_equal(months.starts_of(np.arange(len(pack))), pack.starts)


def test_floors_of_a_pack_of_which_only_the_starts_left_memory_are_not_judged() -> None:
    results = [
        Result("loader", "rukh", ratio=1.0, floor=">= 20x", met=False),
        Result("loader", "over the best peer", value=99.0, unit="x", floor=">= 10x", met=True, note="over grain"),
        Result("loader", "naive", ratio=1.0),
    ]
    files = {"ids in memory": 1.0, "starts in memory": 0.98}
    cold = judged_in_memory(results, files)
    assert [result.met for result in cold] == [None] * 5
    assert cold[0].note == "not judged: the pack was not all in memory"
    assert cold[1].note == "over grain; not judged: the pack was not all in memory"
    assert cold[4].value == pytest.approx(98)
    for share in (1.0, None):
        assert [result.met for result in judged_in_memory(results, files | {"starts in memory": share})][:2] == [
            False,
            True,
        ]


def test_what_a_process_measured_is_judged_where_it_can_be(plan: Plan) -> None:
    measured = loading.measure(plan.corpora.pack(24), 8)
    small = by_variant(loader_figures(plan, [measured]))
    assert {name for name, result in small.items() if result.met is not None} == {"state", "dataset, pickled"}
    large = Plan(plan.corpora, games=200_000, rounds=1)
    for resident, met in ((0.0, False), (0.5, None), (None, None)):
        cold = measured | {"resident": resident, "first_s": 0.2}
        assert by_variant(loader_figures(large, [cold]))["first batch, cold"].met is met


def test_the_order_of_a_large_epoch_is_judged_whatever_the_pack(plan: Plan) -> None:
    results = by_variant(order_figures(plan))
    assert results["order of 1e9, memory"].met is True
    assert results["order of 1e9, set-up"].met is not None


def test_a_wait_is_the_time_from_a_step_to_its_batch() -> None:
    def slow() -> Iterator[int]:
        while True:
            time.sleep(0.003)
            yield 0

    assert min(waits_us(slow(), 3)) > 3_000
    waits = waits_us(itertools.count(), 5)
    assert len(waits) == 5
    assert sorted(waits)[2] < 1_000


def test_batches_arrive_on_a_device_by_all_three_ways(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.stages.loader_gpu._BATCHES", 3)
    monkeypatch.setattr("benchmarks.stages.loader_gpu._BATCHES_NAIVE", 3)
    results = arriving(plan, torch.device("cpu"))
    assert [result.variant for result in results] == ["naive, pinned", "rukh", "rukh, widened there"]
    assert all((result.ratio or 0) > 0 for result in results)


def test_without_a_gpu_its_stage_is_marked_not_run(plan: Plan) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has one")
    (result,) = loader_gpu(plan)
    assert result.variant == "not run"


def test_a_file_that_was_read_is_in_memory_and_one_that_was_dropped_is_not(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(1 << 22))
    read_whole(file)
    share = resident_share(file)
    if share is None:
        pytest.skip("this system does not tell")
    assert share == 1
    drop(file)
    if resident_share(file) == 1:
        pytest.skip("the temporary folder lies in memory, or the system drops nothing when asked")
    assert resident_share(file) == 0


def test_a_process_measures_the_first_batch_memory_and_sizes(plan: Plan) -> None:
    measured = loading.measure(plan.corpora.pack(24), 8)
    assert 0 < (measured["first_warm_s"] or 0) < 10
    assert 0 < (measured["first_s"] or 0) < 10
    assert 100 < (measured["state_bytes"] or 0) < 1_000
    assert 100 < (measured["pickle_bytes"] or 0) < 4_000
    if sys.platform.startswith("linux"):
        assert (measured["growth_mb"] or 0) < 5


def test_anonymous_memory_counts_what_is_held_and_no_mapped_file(tmp_path: Path) -> None:
    if not (before := loading.anonymous_bytes()):
        pytest.skip("this system does not tell")
    # Not from the allocator, which may have as much to give back.
    held = mmap.mmap(-1, 20_000_000, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    np.frombuffer(held, np.uint8)[:] = 1
    assert loading.anonymous_bytes() - before > 19_000_000
    (tmp_path / "file").write_bytes(bytes(20_000_000))
    before = loading.anonymous_bytes()
    mapped = np.memmap(tmp_path / "file", mode="r")
    assert mapped.sum() == 0
    assert loading.anonymous_bytes() - before < 5_000_000
