"""`python -m rukh_loaders bench`: what this machine serves, beside what it is measured against."""

import itertools
import os
import re
import threading

import numpy as np
import pytest
import torch
from packed_months import GAMES, write_pack

from rukh_loaders import PackedDataset, open_pack
from rukh_loaders.__main__ import main
from rukh_loaders.errors import BenchmarkError
from rukh_loaders.rates import measure, resident_share
from rukh_loaders.rates.baselines import CarefulWindows, NaiveWindows, batches_by_item, gather_alone
from rukh_loaders.rates.measuring import CAREFUL, LIMIT, LOADER, NAIVE, NO_THREAD, Rate
from rukh_loaders.rates.report import conclusions, describe_residency, rate_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pack(tmp_path_factory.mktemp("lake"), "uci", "2021-10", GAMES)


def test_the_table_has_a_rate_for_each_way_and_batch_size_and_says_where_the_file_lies(folder, capsys):
    threads = threading.active_count()
    assert main(["bench", str(folder), "--block", "20", "--batch", "4", "16", "--seconds", "0.5"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{folder}: 60 games, ")
    assert re.search(r"tokens.npy has 0.0 MB[,;]", text)
    assert "batch 4" in text
    assert "batch 16" in text
    rows = {
        name: [float(cell) for cell in cells.split()]
        for name, cells in re.findall(r"^([a-z_ ,=:0]+?)((?: +[0-9.]+){4})$", text, re.MULTILINE)
    }
    assert list(rows) == [
        "naive, item by item",
        "careful, item by item",
        "make_loader, prefetch=0",
        "make_loader",
        "gather alone: the limit",
    ]
    assert all(cells[0] > 0 and cells[2] > 0 for cells in rows.values())
    assert rows["naive, item by item"][1::2] == [1.0, 1.0]
    assert re.search(r"make_loader reaches \d+% at batch 4, \d+% at batch 16 of what a gather alone does\.", text)
    assert threading.active_count() == threads


def test_measuring_leaves_torchs_global_random_numbers_alone(folder):
    before = torch.random.get_rng_state()
    rates = measure(open_pack(folder), block=20, batch_size=4, seconds=0.2)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(rate.tokens_per_s > 0 for rate in rates.values())


def test_all_ways_serve_windows_of_the_dataset(folder):
    pack = open_pack(folder)
    dataset = PackedDataset(pack, block=20)
    items = [dataset[index] for index in range(60)]
    windows = {tuple(x.tolist()): tuple(y.tolist()) for x, y in items}
    for index in range(60):
        x, y = NaiveWindows(pack, 20)[index]
        assert (x.tolist(), y.tolist()) == tuple(ids.tolist() for ids in items[index])
        x, y = CarefulWindows(pack, 20)[index]
        assert x.tolist() == items[index][0].tolist()
        assert y[:-1].tolist() == items[index][1][:-1].tolist()
    ways = [batches_by_item(NaiveWindows(pack, 20), 8), gather_alone(pack, 20, 8)]
    for batches in ways:
        for x, y in itertools.islice(batches, 20):
            assert x.shape == y.shape == (8, 20)
            for row, targets in zip(x.tolist(), y.tolist(), strict=True):
                assert windows[tuple(row)] == tuple(targets)


def test_a_pack_too_small_for_a_batch_of_whole_windows_is_refused_with_both_numbers(folder, capsys, tmp_path):
    with pytest.raises(BenchmarkError, match=r"begins at \d+ of its games, a batch of 64 needs as many"):
        next(gather_alone(open_pack(folder), 20, 64))
    assert main(["bench", str(folder), "--block", "20", "--batch", "64", "--seconds", "0.1"]) == 2
    assert "a batch of 64 needs as many" in capsys.readouterr().err
    assert main(["bench", str(folder), "--block", "100000", "--batch", "4", "--seconds", "0.1"]) == 2
    assert "begins at 0 of its games" in capsys.readouterr().err


OPTIONS = [("--seconds", "0"), ("--seconds", "inf"), ("--seconds", "x"), ("--batch", "0"), ("--block", "x")]


@pytest.mark.parametrize("option", OPTIONS)
def test_settings_that_measure_nothing_are_usage_errors_that_say_what_is_expected(folder, option, capsys):
    with pytest.raises(SystemExit) as usage:
        main(["bench", str(folder), *option])
    assert usage.value.code == 2
    name, value = option
    assert f"argument {name}: {value!r}: expected a " in capsys.readouterr().err


def test_a_file_that_was_just_written_lies_in_memory_and_of_a_foreign_one_nothing_is_known(tmp_path):
    file = tmp_path / "tokens.npy"
    np.save(file, np.zeros(100_000, np.uint16))
    assert resident_share(file) in (1.0, None)
    assert describe_residency(file, 1.0) == "tokens.npy has 0.2 MB, all of it in memory"
    assert "12% of it in memory: the rates are partly the disk's" in describe_residency(file, 0.12)
    assert "does not tell" in describe_residency(file, None)
    if os.geteuid() != 0:
        file.chmod(0o444)
        assert resident_share(file) is None


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="the system cannot be asked to drop a file")
def test_a_sparse_file_that_nobody_read_does_not_lie_in_memory(tmp_path):
    file = tmp_path / "tokens.npy"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 24)
    assert resident_share(file) == 0.0


def test_a_machine_that_was_busy_is_said_to_have_been():
    names = ("naive, item by item", "careful, item by item", "make_loader, prefetch=0", "make_loader")
    rates = {64: {name: Rate(2e6, 1.0) for name in names} | {LIMIT: Rate(8e6, 0.5)}}
    assert conclusions(rates) == [
        "make_loader reaches 25% at batch 64 of what a gather alone does.",
        "The gather ran 50% of the time and waited else: for other programs or the disk.",
    ]
    undisturbed = {64: rates[64] | {LIMIT: Rate(8e6, 0.99)}}
    assert len(conclusions(undisturbed)) == 1


def test_the_table_gives_each_rate_in_millions_and_as_a_multiple_of_the_naive_one():
    ways = (NAIVE, CAREFUL, NO_THREAD, LOADER, LIMIT)
    rates = {
        64: {name: Rate(2e6 * (place + 1), 1.0) for place, name in enumerate(ways)},
        256: {name: Rate(1e7 * (place + 1), 1.0) for place, name in enumerate(ways)},
    }
    assert [line.split()[-4:] for line in rate_table(rates)[2:]] == [
        ["2.0", "1.0", "10.0", "1.0"],
        ["4.0", "2.0", "20.0", "2.0"],
        ["6.0", "3.0", "30.0", "3.0"],
        ["8.0", "4.0", "40.0", "4.0"],
        ["10.0", "5.0", "50.0", "5.0"],
    ]
