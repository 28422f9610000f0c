"""Rounds, medians, growth and peaks."""

import os
import time

import numpy as np
import pytest

from benchmarks.machine import pinned
from benchmarks.measure import Variant, Work, growth_exponent, interleave
from benchmarks.memory import peak_of_process, peak_of_step


def test_variants_take_turns_after_two_calls_that_are_not_timed() -> None:
    calls: list[str] = []

    def calling(name: str) -> Variant:
        return Variant(name, lambda: calls.append(name) or Work(1))

    interleave([calling("a"), calling("b")], rounds=2)
    assert calls == ["a", "a", "b", "b", "a", "b", "a", "b"]


def test_waiting_takes_time_but_no_cpu_time() -> None:
    def wait() -> Work:
        time.sleep(0.05)
        return Work(10, 100)

    timing = interleave([Variant("wait", wait)], rounds=3)["wait"]
    assert timing.elapsed_s >= 0.05
    assert timing.cpu_s < 0.04
    assert timing.games_per_s == pytest.approx(10 / timing.cpu_s)
    assert timing.tokens_per_s == pytest.approx(100 / timing.cpu_s)


def test_a_single_slow_round_does_not_change_the_median() -> None:
    naps = iter([0, 0, 0.01, 0.5, 0.01])

    def nap() -> Work:
        time.sleep(next(naps))
        return Work(1)

    assert interleave([Variant("nap", nap)], rounds=3)["nap"].elapsed_s < 0.4


@pytest.mark.parametrize("power", [0.5, 1.0, 1.1, 2.0])
def test_the_exponent_of_growth_is_found(power: float) -> None:
    sizes = [10_000, 100_000, 1_000_000]
    assert growth_exponent(sizes, [3e-5 * size**power for size in sizes]) == pytest.approx(power)


def test_the_exponent_of_noisy_linear_growth_is_near_one_and_that_of_n_log_n_above() -> None:
    sizes = np.geomspace(1e4, 1e6, 9)
    noise = np.random.default_rng(0).normal(1, 0.05, sizes.size)
    assert growth_exponent(sizes.tolist(), (sizes * noise).tolist()) == pytest.approx(1, abs=0.05)
    assert growth_exponent(sizes.tolist(), (sizes * np.log(sizes)).tolist()) > 1.05


def test_the_peak_of_a_step_is_what_it_held_at_once_though_it_gave_it_back() -> None:
    with peak_of_step() as peak:
        np.ones(50_000_000, np.uint8)
    if peak.mb is None:
        pytest.skip("this system does not let a process start the count of its peak anew")
    assert 49 < peak.mb < 70
    with peak_of_step() as small:
        pass
    assert small.mb is not None
    assert small.mb < 10
    assert peak_of_process() > 49


def test_a_pinned_thread_gets_its_cores_back() -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system has no affinity")
    before = os.sched_getaffinity(0)
    with pinned():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before
