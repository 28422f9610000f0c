"""Work over several workers: the results of one worker, in the same order."""

import doctest
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import count, islice

import pytest

import rukh_assets.workers
from rukh_assets.errors import WorkersError
from rukh_assets.workers import Workers

COUNTS = (1, 2, 5)


def slow_first(number: int) -> int:
    """The earlier the item, the longer it takes."""
    time.sleep(max(0.02 - number / 1000, 0))
    return number * number


def noted(items: Iterable[int], taken: list[int]) -> Iterator[int]:
    """The items, each written down when it is taken."""
    for item in items:
        taken.append(item)
        yield item


def test_the_example_of_the_module_runs() -> None:
    failed, tried = doctest.testmod(rukh_assets.workers)
    assert tried > 1
    assert failed == 0


@pytest.mark.parametrize("workers", COUNTS)
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    with Workers(workers) as crew:
        assert list(crew.map(slow_first, range(20))) == [number * number for number in range(20)]


@pytest.mark.parametrize("workers", COUNTS)
def test_no_more_items_are_taken_than_one_a_worker_and_one(workers: int) -> None:
    taken: list[int] = []
    with Workers(workers) as crew:
        for done, _ in enumerate(islice(crew.map(slow_first, noted(count(), taken)), 30)):
            assert len(taken) - done <= workers + 1


def test_two_workers_work_side_by_side() -> None:
    together = threading.Barrier(2, timeout=30)
    with Workers(2) as crew:
        assert sorted(crew.map(lambda _: together.wait(), range(2))) == [0, 1]


def test_one_worker_is_the_calling_thread() -> None:
    with Workers(1) as crew:
        names = list(crew.map(lambda _: threading.current_thread(), crew.ahead(range(3))))
    assert names == [threading.current_thread()] * 3


def test_all_cores_are_the_default() -> None:
    with Workers() as crew:
        assert crew.count >= 1


@pytest.mark.parametrize("workers", [0, -1])
def test_fewer_than_one_worker_is_refused(workers: int) -> None:
    with pytest.raises(WorkersError, match=f"{workers} workers; allowed are 1 and more"):
        Workers(workers)


@pytest.mark.parametrize("workers", COUNTS)
def test_an_error_of_the_work_is_raised_after_the_results_before_it(workers: int) -> None:
    with Workers(workers) as crew:
        results = crew.map(lambda number: 12 // (3 - number), range(9))
        assert list(islice(results, 3)) == [4, 6, 12]
        with pytest.raises(ZeroDivisionError):
            next(results)


@pytest.mark.parametrize("workers", COUNTS)
def test_an_error_of_the_items_is_raised(workers: int) -> None:
    def items() -> Iterator[int]:
        yield from range(3)
        raise WorkersError("no more")

    with Workers(workers) as crew:
        with pytest.raises(WorkersError, match="no more"):
            list(crew.map(slow_first, items()))
        with pytest.raises(WorkersError, match="no more"):
            list(crew.ahead(items()))


@pytest.mark.parametrize("workers", COUNTS)
def test_work_that_nobody_waits_for_ends(workers: int) -> None:
    with Workers(workers) as crew:
        assert list(islice(crew.map(slow_first, crew.ahead(count())), 3)) == [0, 1, 4]


@pytest.mark.parametrize("workers", COUNTS)
def test_items_are_made_one_ahead_at_most(workers: int) -> None:
    made: list[int] = []
    with Workers(workers) as crew:
        for item in crew.ahead(noted(range(1, 10), made)):
            time.sleep(0.001)
            assert len(made) - item <= (workers > 1)
