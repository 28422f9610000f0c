"""Memory of the pipeline and killed runs, in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from corpora import bytes_below
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.records import Pipeline
from rukh_loaders.records import PipelineConfig

CHILD = """
    import json, os, sys, time
    from rukh_assets.records import Pipeline
    from rukh_loaders.records import PipelineConfig
    lines, out, tokenizer, config = sys.argv[1:]
    pipeline = Pipeline(PipelineConfig.from_dict(json.loads(config)), [lines], out, tokenizer, buffer_tokens=1 << 16)
"""
WIDE = dict.fromkeys(("sequence", "loss_mask", "position_ids"), "int64")
PACKED = {"min_chars": 0, "packing_strategy": "bfd"}


def config_of(**output: Any) -> dict[str, Any]:
    sections = [{"field": "p", "action": "mask"}, {"field": "r", "action": "train"}]
    return {"input": {"sections": sections}, "preprocessing": PACKED, "output": output}


def run_child(script: str, *arguments: Any) -> "subprocess.Popen[str]":
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD) + textwrap.dedent(script), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak memory from /proc")
def test_b31_memory_does_not_grow_with_the_shard(tmp_path: Path) -> None:
    tokenizer = write_toy_tokenizer(tmp_path / "tokenizer")
    script = """
        pipeline.run()
        print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
    """
    peaks = []
    for n_records in (500, 16_000):
        record = json.dumps({"p": "a b c d e f g h " * 10, "r": "i j k l m n o p " * 20}) + "\n"
        lines = tmp_path / f"{n_records}.jsonl"
        lines.write_text(record * n_records)
        child = run_child(script, lines, tmp_path / f"out-{n_records}", tokenizer, json.dumps(config_of(dtype=WIDE)))
        output, _ = child.communicate(timeout=120)
        assert child.returncode == 0
        peaks.append(int(output) / 1024)
    one_shard = [path.stat().st_size for path in (tmp_path / "out-16000").rglob("*.bin")]
    assert sum(one_shard) > 80_000_000
    assert peaks[1] < peaks[0] + 12, f"peak memory in MB, of shards of 3 and 90 MB: {peaks}"


@pytest.mark.parametrize("standing", [False, True])
def test_b10_a_killed_run_leaves_the_old_corpus_or_none_and_the_next_run_cleans_up(
    tmp_path: Path, standing: bool
) -> None:
    tokenizer = write_toy_tokenizer(tmp_path / "tokenizer")
    lines, out = tmp_path / "in.jsonl", tmp_path / "corpora" / "mine"
    lines.write_text("".join(json.dumps({"p": "a", "r": "b c"}) + "\n" for _ in range(40)))
    config = config_of(max_tokens_per_shard=12)

    def run(folder: Path) -> dict[Path, bytes]:
        Pipeline(PipelineConfig.from_dict(config), [lines], folder, tokenizer).run()
        return bytes_below(folder)

    before = run(out) if standing else None
    script = """
        def wait(n_read, n_tokens):
            if n_read == 30:
                print("in the middle", flush=True)
                time.sleep(60)
        pipeline.run(wait)
    """
    child = run_child(script, lines, out, tokenizer, json.dumps(config))
    assert child.stdout is not None
    assert child.stdout.readline() == "in the middle\n"
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=10)
    assert (bytes_below(out) if out.exists() else None) == before
    [left] = [path for path in out.parent.iterdir() if path != out]
    assert list(left.rglob("shard_0000")), "the killed run was in the middle of its work"
    assert run(out) == run(tmp_path / "fresh")
    assert list(out.parent.iterdir()) == [out]
