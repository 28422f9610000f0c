"""The chain by its plain functions does what Dagster does, so that the difference is Dagster's share."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lakes import lake_tree

from benchmarks.chain import check_plainly, lake_with_tokenizer, run_by_dagster, run_plainly
from benchmarks.corpora import Corpora


def test_both_ways_leave_the_same_files_and_the_same_checks_pass(corpora: Corpora) -> None:
    hf, bpe = corpora.hf(24), corpora.bpe()
    with lake_with_tokenizer(bpe) as by_hand, lake_with_tokenizer(bpe) as by_dagster:
        run_plainly(by_hand, hf)
        check_plainly(by_hand)
        result = run_by_dagster(by_dagster, hf)
        assert lake_tree(by_hand.root) == lake_tree(by_dagster.root)
    checks = result.get_asset_check_evaluations()
    assert len(checks) == 12
    assert all(check.passed for check in checks)


@pytest.mark.long
def test_a_month_in_a_process_of_its_own_tells_its_time_and_peak(project: Path, corpora: Corpora) -> None:
    def month(*arguments: Path) -> dict[str, float]:
        command = [sys.executable, "-m", "benchmarks.chain", *arguments]
        done = subprocess.run(command, cwd=project, check=True, stdout=subprocess.PIPE, text=True)
        measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return measured

    imports, small = month(), month(corpora.hf(24), corpora.bpe(), corpora.hf(10))
    assert imports["cpu_s"] == 0 < small["cpu_s"]
    assert small["peak_mb"] > imports["peak_mb"] > 20
