"""Batches are made ahead by one thread, which ends whenever it should, and whose errors are seen."""

import contextlib
import gc
import itertools
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import pytest
from integer_source import IntegerSource, served

from rukh_loaders import make_loader
from rukh_loaders.errors import IterationClosedError, LoaderArgumentError
from rukh_loaders.serving.prefetch import Prefetcher


def threads():
    """The threads that make batches now."""
    return [thread for thread in threading.enumerate() if thread.name == "rukh-prefetch"]


@dataclass(frozen=True)
class SlowSource(IntegerSource):
    """Takes its time for each batch."""

    seconds: float = 0.01

    def gather(self, indices):
        time.sleep(self.seconds)
        return super().gather(indices)


@dataclass(frozen=True)
class BrokenSource(IntegerSource):
    """Cannot gather one of its items."""

    broken: int = 40

    def gather(self, indices):
        if self.broken in indices:
            raise OSError(f"item {self.broken} cannot be read")
        return super().gather(indices)


class CountedItems:
    """0, 1, 2, ...; counts how many were made."""

    def __init__(self):
        self.made = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.made += 1
        return self.made - 1


def wait_until(true, seconds=5):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("ahead", [1, 2, 7])
def test_the_items_come_in_order_and_then_end(ahead):
    items = Prefetcher(iter(range(50)), ahead)
    assert list(items) == list(range(50))
    assert list(items) == []


@pytest.mark.parametrize("ahead", [1, 3])
def test_no_more_is_made_ahead_than_asked_for(ahead):
    items = CountedItems()
    prefetcher = Prefetcher(items, ahead)
    for taken in range(4):
        wait_until(lambda taken=taken: items.made == taken + ahead)
        time.sleep(0.02)
        assert items.made == taken + ahead
        next(prefetcher)
    prefetcher.close()


@pytest.mark.parametrize("prefetch", [0, 2])
def test_threads_that_share_an_iteration_all_meet_its_end(prefetch):
    loader = make_loader(SlowSource(seconds=0.002), 8, prefetch=prefetch)
    batches = iter(loader)
    taken = [[] for _ in range(4)]
    sharers = [threading.Thread(target=own.extend, args=(batches,), daemon=True) for own in taken]
    for thread in sharers:
        thread.start()
    for thread in sharers:
        thread.join(5)
    assert not any(thread.is_alive() for thread in sharers)
    assert sorted(served(itertools.chain(*taken))) == list(range(64))
    assert (loader.epoch, loader.position) == (1, 0)


def test_threads_that_wait_for_a_prefetcher_all_meet_its_end():
    release = threading.Event()
    prefetcher = Prefetcher(iter(release.wait, True), 2)
    ended = []
    waiting = [threading.Thread(target=lambda: ended.append(list(prefetcher)), daemon=True) for _ in range(3)]
    for thread in waiting:
        thread.start()
    release.set()
    wait_until(lambda: len(ended) == 3)
    assert ended == [[], [], []]


def test_threads_that_wait_while_a_prefetcher_is_closed_all_meet_its_end():
    prefetcher = Prefetcher(map(time.sleep, itertools.repeat(0.1)), 2)
    ended = []
    waiting = [threading.Thread(target=lambda: ended.append(list(prefetcher)), daemon=True) for _ in range(3)]
    for thread in waiting:
        thread.start()
    prefetcher.close()
    wait_until(lambda: len(ended) == 3)


def test_an_interrupt_while_the_thread_starts_ends_without_another_error(monkeypatch):
    def interrupted(thread):
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        Prefetcher(iter(range(5)), 2)
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    monkeypatch.setattr(sys, "excepthook", lambda *error: unraisable.append(error))
    del caught
    gc.collect()
    assert unraisable == []


@pytest.mark.parametrize("prefetch", [0, 1, 2, 9])
def test_the_batches_are_the_same_however_many_are_made_ahead(prefetch):
    expected = served(make_loader(IntegerSource(), 8, prefetch=0))
    assert served(make_loader(IntegerSource(), 8, prefetch=prefetch)) == expected


@pytest.mark.parametrize("prefetch", [-1, None, "2", 1.5])
def test_a_number_of_batches_ahead_that_is_none_is_refused(prefetch):
    with pytest.raises(LoaderArgumentError, match=f"prefetch is {prefetch!r}; it must be 0 or more"):
        make_loader(IntegerSource(), 8, prefetch=prefetch)


def test_without_prefetch_there_is_no_thread():
    iteration = iter(make_loader(IntegerSource(), 8, prefetch=0))
    next(iteration)
    assert threads() == []


@pytest.mark.parametrize("prefetch", [0, 2])
def test_the_error_of_a_batch_is_raised_in_its_place(prefetch):
    loader = make_loader(BrokenSource(), 8, shuffle=False, prefetch=prefetch)
    iteration = iter(loader)
    assert served(itertools.islice(iteration, 5)) == list(range(40))
    with pytest.raises(OSError, match="item 40 cannot be read"):
        next(iteration)
    assert (loader.epoch, loader.position) == (0, 40)
    with pytest.raises(IterationClosedError, match="since it met OSError: item 40 cannot be read"):
        next(iteration)
    assert threads() == []


@pytest.mark.parametrize("prefetch", [0, 2])
def test_after_an_error_a_loader_goes_on_where_it_was(prefetch):
    loader = make_loader(BrokenSource(), 8, shuffle=False, prefetch=prefetch)
    with pytest.raises(OSError, match="item 40"):
        list(loader)
    with pytest.raises(OSError, match="item 40"):
        next(iter(loader))
    loader.dataset.__dict__["broken"] = None
    assert served(loader) == list(range(40, 64))


def leave_by_break(loader):
    for _ in loader:
        break


def leave_by_error(loader):
    with contextlib.suppress(ZeroDivisionError):
        for batch in loader:
            len(batch) / 0


def leave_by_closing(loader):
    with loader:
        iteration = iter(loader)
        next(iteration)


@pytest.mark.parametrize("leave", [leave_by_break, leave_by_error, leave_by_closing])
def test_leaving_a_loop_half_way_ends_the_thread_in_under_a_second(leave):
    loader = make_loader(SlowSource(seconds=0.05), 4, prefetch=3)
    began = time.monotonic()
    leave(loader)
    assert time.monotonic() - began < 1
    assert threads() == []


def test_closing_does_not_wait_for_a_batch_that_takes_long():
    loader = make_loader(SlowSource(seconds=2.5), 4)
    iteration = iter(loader)
    began = time.monotonic()
    loader.close()
    assert time.monotonic() - began < 1
    wait_until(lambda: threads() == [])
    with pytest.raises(IterationClosedError):
        next(iteration)


def test_a_new_iteration_ends_the_thread_of_the_one_before():
    loader = make_loader(IntegerSource(), 8)
    iterations = [iter(loader) for _ in range(5)]
    next(iterations[-1])
    assert len(threads()) == 1
    loader.close()
    assert threads() == []


def test_a_loader_that_is_forgotten_ends_its_thread_even_in_a_cycle():
    loader = make_loader(IntegerSource(), 8)
    cycle = [iter(loader)]
    cycle.append(cycle)
    del loader, cycle
    gc.collect()
    assert threads() == []


def test_a_closed_loader_goes_on_when_it_is_iterated_again():
    loader = make_loader(IntegerSource(), 8, shuffle=False)
    with loader:
        items = served(itertools.islice(loader, 3))
    assert items + served(loader) == list(range(64))


def run(code, project):
    env = {"PYTHONPATH": f"{project}:{project}/tests", "PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=30, env=env
    )


def test_a_program_that_ends_in_the_midst_of_an_epoch_just_ends(project):
    code = """
from integer_source import IntegerSource
from rukh_loaders import make_loader
iteration = iter(make_loader(IntegerSource(), 2, prefetch=4))
print(next(iteration).index.shape)
"""
    done = run(code, project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "torch.Size([2])\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_is_told_that_the_thread_is_not_its_own(project):
    code = """
import os, time
from integer_source import IntegerSource
from rukh_loaders import make_loader
from rukh_loaders.errors import IterationClosedError
loader = make_loader(IntegerSource(), 2)
iteration = iter(loader)
next(iteration)
time.sleep(0.2)
if (child := os.fork()) == 0:
    try:
        list(iteration)
    except IterationClosedError as error:
        print(error, flush=True)
    print(len(list(loader)) > 20, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(len(list(iteration)), flush=True)
"""
    done = run(code.replace("import os, time", "import os, time, warnings; warnings.simplefilter('ignore')"), project)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the thread that makes the batches is not in this process; iterate anew here\nTrue\n31\n"
